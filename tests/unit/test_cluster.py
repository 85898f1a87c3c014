"""Nodes of a cluster compared: from findings alone, with the report."""

import datetime
import json

import cluster_packs
import name_packs
from ansible.module_utils.hostproof.collect.host import Output
from ansible.module_utils.hostproof.controls.block_devices.rules_nodes import asm_disks
from ansible.module_utils.hostproof.controls.registry import check_ids
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import make_finding
from cases import cases
from cluster_packs import node, policy
from default_policies import default_policy
from hostproof_controller.cluster.comparison import Same, alike, odd_one_out
from hostproof_controller.report.render import render_folder
from hostproof_controller.report.waivers import parse_waivers
from report.report_samples import make_line

CLUSTER = "(cluster rac1)"
TODAY = datetime.date(2026, 11, 22)


def line(host, machine, **changes):
    policies = {"cluster_nodes": policy(**changes), "hugepages": default_policy("hugepages")}
    return make_line(host, [finding.as_dict() for finding in audit.judge_host(machine, policies)])


def rendered(tmp_path, lines, waivers=None):
    """Exit code and the findings on the cluster: check, title and status of what is no pass."""
    path = tmp_path / "findings.jsonl"
    if lines is not None:
        path.write_text("".join(json.dumps(dict(line)) + "\n" for line in lines))
    answer = render_folder(str(tmp_path), today=TODAY, known_checks=check_ids, waivers=waivers)
    written = [json.loads(text) for text in path.read_text().splitlines()]
    reports = [line["findings"] for line in written if line["host"] == CLUSTER]
    assert len(reports) <= 1
    return answer.exit_code, reports[0] if reports else []


def nodes(**others):
    alike = {name: node(name) for name in cluster_packs.NODES}
    return [line(name, machine) for name, machine in (alike | others).items()]


def differences(findings):
    return {
        (finding["check"].split(".")[1], finding["title"].rpartition(": ")[0]): finding
        for finding in findings
        if finding["status"] not in ("pass", "skip")
    }


def test_nodes_that_are_alike_pass_every_check(tmp_path):
    _, findings = rendered(tmp_path, nodes())
    assert {finding["check"]: finding["status"] for finding in findings} == {
        f"cluster_nodes.{name}": "pass"
        for name in (
            "complete", "software", "hardware", "huge_pages", "network", "clock", "accounts",
            "addresses", "check_results",
        )
    } | {"cluster_nodes.asm_disks": "skip"}  # fmt: skip


def test_the_odd_one_out_is_named_with_both_values(tmp_path):
    _, findings = rendered(tmp_path, nodes(db3=node("db3", mtu=1500)))
    (only,) = differences(findings).values()
    assert (only["check"], only["status"]) == ("cluster_nodes.network", "fail")
    assert only["title"].startswith("mtu eth1: ")
    assert only["running"] == "9000 on db1, db2, db4; 1500 on db3"
    assert only["why"].startswith("db3 is not like the others.")
    assert only["values"] == {"db1": 9000, "db2": 9000, "db3": 1500, "db4": 9000}


def test_the_node_with_another_uid_is_named(tmp_path):
    other = node("db3").account("oracle", 54399, "oinstall", "dba")
    same = {name: node(name).account("oracle", 54321, "oinstall", "dba") for name in ("db1", "db2")}
    _, findings = rendered(tmp_path, nodes(db3=other, **same, db4=node("db4")))
    accounts = {
        finding["title"].partition(":")[0]: finding
        for key, finding in differences(findings).items()
        if key[0] == "accounts"
    }
    assert accounts["uid_gid oracle"]["status"] == "fail"
    assert accounts["uid_gid oracle"]["running"] == (
        "54321:54321 on db1, db2; 54399:54321 on db3; none on db4"
    )


def test_the_node_with_another_uid_and_the_node_without_ssh_are_named(tmp_path):
    """tests/wire/test_ssh_logins.py shows the same with real logins."""
    refused = Output(255, "", "ssh: connect to host db3 port 22: Connection refused\r\n")
    lines = []
    for name, uid in (("db1", 54322), ("db2", 54399)):
        machine = node(name).account("grid", uid, "oinstall")
        for other in cluster_packs.NODES:
            answer = refused if other == "db3" else Output(0, "", "")
            machine.commands[f"log in on {other} as grid with ssh"] = answer
        lines.append(line(name, machine, ssh_accounts=["grid"]))
    _, findings = rendered(tmp_path, lines)
    text = differences(findings)["accounts", "uid_gid grid"]
    assert text["running"] == "54322:54321 on db1; 54399:54321 on db2"
    for entry in lines:
        (ssh,) = [two for two in entry["findings"] if two["check"] == "cluster_nodes.ssh"]
        assert (ssh["status"], ssh["running"]) == ("fail", "2 of 3 logins")
        assert ssh["why"] == "grid on db3: ssh: connect to host db3 port 22: Connection refused."


def test_exactly_what_differs_and_the_node_that_did_not_answer(tmp_path):
    lost = make_line("db4", [], outcome="unreachable", message="ssh: No route to host")
    kernel = "5.15.0-100.96.32.el9uek.x86_64"
    lines = [
        line("db1", node("db1")),
        line("db2", node("db2", pages=0)),
        line("db3", node("db3", mtu=1500, kernel=kernel)),
        lost,
    ]
    _, findings = rendered(tmp_path, lines)
    deviations = differences(findings)
    assert [key for key in deviations if key[0] != "check_results"] == [
        *(("complete", ""), ("software", "kernel"), ("hardware", ""), ("huge_pages", "huge_pages")),
        *(("huge_pages", "huge_pages_by_numa_node"), ("network", "mtu eth1"), ("clock", "")),
        *(("accounts", ""), ("addresses", "")),
    ]
    # What is equal on those that answered is no pass: nobody knows of the fourth.
    for unknown in ("complete", "hardware", "clock", "addresses"):
        assert deviations[unknown, ""]["status"] == "error"
    assert "db4 has no result" in deviations["complete", ""]["why"]
    # What other checks say of the node is one finding a control, and names them.
    (verdicts,) = [finding for key, finding in deviations.items() if key[0] == "check_results"]
    assert verdicts["title"].startswith("hugepages: ")
    assert verdicts["why"].startswith("db2 is not like the others.")
    assert (
        "hugepages.pool_not_wasted (status): error on db1, db3; pass on db2" in verdicts["running"]
    )
    assert "hugepages.pool_not_wasted" in verdicts["because_of"]


@cases(
    "changed check title",
    ({"patches": ("35642822",)}, "software", f"patches {cluster_packs.HOME}"),
    ({"firmware": "0x80000777"}, "network", "firmware eth0"),
    ({"memory_kib": 32 << 20}, "hardware", "memory_mib"),
    ({"core_pattern": "core"}, "software", "core_pattern"),
    ({"prefix": 25}, "network", "subnets eth1"),
)
def test_each_kind_of_difference(tmp_path, changed, check, title):
    _, findings = rendered(tmp_path, nodes(db2=node("db2", **changed)))
    assert (check, title) in differences(findings)


def test_patches_of_the_grid_home_that_oratab_does_not_name(tmp_path):
    """The home is that of olr.loc: oratab has no line +ASM."""
    changed = node("db2")
    for patch in ("35642822", "35643107"):
        changed.folders.discard(f"{cluster_packs.GRID}/inventory/oneoffs/{patch}")
    changed.folder(f"{cluster_packs.GRID}/inventory/oneoffs/35642822")
    _, findings = rendered(tmp_path, nodes(db2=changed))
    finding = differences(findings)["software", "patches of Grid Infrastructure"]
    assert finding["status"] == "fail"
    assert finding["fix"].startswith(
        "complete the patching of the Grid home with opatchauto, one node after the other: "
        "missing 35643107 on db2."
    )


def grid_node(name, *homes, used, patches):
    """``homes`` of Grid Infrastructure are in the inventory; the patches are those of ``used``."""
    machine = node(name)
    machine.file("/etc/oracle/olr.loc", f"crs_home={used}\n")
    machine.file(f"{used}/crs/install/crsconfig_params", GRID_PARAMS)
    machine.file("/etc/oraInst.loc", "inventory_loc=/u01/oraInventory\n")
    rows = "".join(f'<HOME NAME="h{i}" LOC="{home}" IDX="{i}"/>' for i, home in enumerate(homes))
    inventory = f"<INVENTORY><HOME_LIST>{rows}</HOME_LIST></INVENTORY>"
    machine.file("/u01/oraInventory/ContentsXML/inventory.xml", inventory)
    for home in homes:
        machine.folder(f"{home}/inventory/oneoffs")
    return machine.folder(*(f"{used}/inventory/oneoffs/{patch}" for patch in patches))


GRID_PARAMS = cluster_packs.PARAMS.format(",".join(cluster_packs.NODES))
OLD, NEW = "/u01/app/19.21/grid", "/u01/app/19.22/grid"


@cases(
    "patches expected",
    # All nodes were switched, one of them to a home of other patches.
    (("1", "2"), {"patches of Grid Infrastructure": "fail", "Grid home": "warn"}),
    (("2", "10", "1"), {"Grid home": "warn"}),
    (None, {"patches of Grid Infrastructure": "error", "Grid home": "warn"}),
)
def test_out_of_place_patching_of_grid_homes(tmp_path, patches, expected):
    """Both homes are in the inventory of each node; db2 still runs from the old one."""
    machines = {
        name: grid_node(name, OLD, NEW, used=NEW, patches=("10", "1", "2"))
        for name in ("db1", "db3", "db4")
    }
    db2 = grid_node("db2", OLD, NEW, used=OLD, patches=patches or ())
    if patches is None:
        db2.deny(OLD + "/inventory")
    _, findings = rendered(tmp_path, nodes(**machines, db2=db2))
    software = {key[1]: one for key, one in differences(findings).items() if key[0] == "software"}
    assert {name: one["status"] for name, one in software.items()} == expected


def bonded(name, kind="team", address=None, mtu=9000):
    """eth1 is the port of another device, which has the private address."""
    machine = node(name)
    number = 10 + int(name[-1])
    text = cluster_packs.ADDRESSES.format(number, 24).replace("eth1", f"{kind}0")
    if address:
        text = text.replace(f"10.0.0.{number}", address)
    machine.command("ip -o addr show", text)
    machine.folder(f"/sys/class/net/{kind}0/lower_eth1")
    return machine.file(f"/sys/class/net/{kind}0/mtu", f"{mtu}\n")


def with_card(name, card, mtu=1500, address=""):
    machine = node(name).folder(f"/sys/class/net/{card}/device")
    machine.file(f"/sys/class/net/{card}/mtu", f"{mtu}\n")
    machine.command(f"ethtool -i {card}", cluster_packs.DRIVER.format("1"))
    text = cluster_packs.ADDRESSES.format(10 + int(name[-1]), 24)
    return machine.command("ip -o addr show", text + address)


@cases(
    "others status",
    ({"db2": with_card("db2", "eno3")}, "warn"),
    ({name: with_card(name, "eno3") for name in ("db1", "db2", "db3")}, "warn"),
    # It is used, or the MTU of those that have it differs.
    (
        {"db2": with_card("db2", "eno3", 1500, "4: eno3    inet 10.9.0.2/24 scope global\n")},
        "fail",
    ),
    ({"db1": with_card("db1", "eno3", 9000), "db2": with_card("db2", "eno3")}, "fail"),
    (
        {name: with_card(name, "eno3", 1500 + int(name[-1])) for name in cluster_packs.NODES},
        "fail",
    ),
    # Whether it has an address is unknown.
    (
        {"db2": with_card("db2", "eno3", 1500, "4: eno3    inet 10.9.0.2/99 scope global\n")},
        "fail",
    ),
    ({"db2": with_card("db2", "eno3").deny("/sys/class/net/eno3/mtu")}, "error"),
)
def test_a_card_that_some_nodes_do_not_have(tmp_path, others, status):
    _, findings = rendered(tmp_path, nodes(**others))
    assert differences(findings)["network", "mtu eno3"]["status"] == status


@cases("kind", "team", "br")
def test_devices_that_have_others_below_them(tmp_path, kind):
    alike_ones = {name: bonded(name, kind) for name in cluster_packs.NODES}
    _, findings = rendered(tmp_path, nodes(**alike_ones))
    assert differences(findings) == {}
    _, findings = rendered(tmp_path, nodes(**(alike_ones | {"db2": bonded("db2", kind, mtu=1500)})))
    assert differences(findings)["network", f"mtu {kind}0"]["status"] == "fail"
    shared = alike_ones | {"db2": bonded("db2", kind, "10.0.0.11")}
    _, findings = rendered(tmp_path, nodes(**shared))
    assert "10.0.0.11 on db1, db2" in differences(findings)["addresses", ""]["why"]


def test_bridges_of_containers_alone_are_left_out(tmp_path):
    machines = {name: node(name) for name in cluster_packs.NODES}
    for name, machine in machines.items():
        text = cluster_packs.ADDRESSES.format(10 + int(name[-1]), 24)
        machine.command(
            "ip -o addr show", text + "9: lxcbr0    inet 10.0.3.1/24 scope global lxcbr0\n"
        )
        machine.folder("/sys/class/net/lxcbr0/lower_veth1")
        machine.file("/sys/class/net/lxcbr0/mtu", "1500\n")
    _, findings = rendered(tmp_path, nodes(**machines))
    assert differences(findings) == {}


def with_groups(name, names="oinstall dba", numbers="54321 54322", rc=0):
    machine = node(name).account("oracle", 54321, *names.split())
    return machine.command("id -G oracle", numbers + "\n", rc=rc)


@cases(
    "names numbers rc trait status",
    ("oinstall dba", "54321 54322", 0, None, None),
    ("dba oinstall", "54322 54321", 0, None, None),
    ("oinstall dba", "54321 54399", 0, "gids oracle", "warn"),
    ("oinstall oper", "54321 54322", 0, "groups oracle", "warn"),
    ("oinstall dba", "", 1, "gids oracle", "error"),
)
def test_groups_by_name_and_number(tmp_path, names, numbers, rc, trait, status):
    machines = {name: with_groups(name) for name in cluster_packs.NODES}
    machines["db3"] = with_groups("db3", names, numbers, rc)
    _, findings = rendered(tmp_path, nodes(**machines))
    found = {key[1]: each["status"] for key, each in differences(findings).items()}
    assert found == ({} if trait is None else {trait: status})


@cases(
    "link differs",
    ("/usr/share/zoneinfo/Etc/UTC", False),
    ("/usr/share/zoneinfo/UTC", False),
    (None, False),
    ("/usr/share/zoneinfo/Etc/GMT+5", True),
    ("/usr/share/zoneinfo/Europe/Berlin", True),
)
def test_names_of_one_time_zone(tmp_path, link, differs):
    machines = {name: node(name) for name in cluster_packs.NODES}
    for name, machine in machines.items():
        target = link if name == "db2" else "/usr/share/zoneinfo/Etc/UTC"
        machine.remove("/etc/localtime")
        if target:
            machine.file(target, "TZif2").link("/etc/localtime", target)
    _, findings = rendered(tmp_path, nodes(**machines))
    assert (("clock", "time_zone") in differences(findings)) == differs


def said(host, text, own=None):
    machine = node(host).command("uname -n", f"{own or host}.example.com\n")
    result = line(host, machine)
    check = {"check": "space.free", "control": "space", "title": "/u01", "persisted": text}
    result["findings"].append({**result["findings"][0], **check, "values": {}, "status": "pass"})
    return result


@cases(
    "template differs",
    ("listens on {host}.example.com", False),
    ("listens on {upper}.EXAMPLE.COM", False),
    ("listens on {host}", False),
    ("listens on 192.0.2.1{number}", False),
    ("listens on 2001:db8::1{number}", False),
    ("listens on 192.0.2.1{number}9", True),
    ("is {number}", True),
)
def test_names_and_addresses_of_a_node_in_texts(tmp_path, template, differs):
    lines = [
        said(name, template.format(host=name, upper=name.upper(), number=name[-1]))
        for name in cluster_packs.NODES
    ]
    _, findings = rendered(tmp_path, lines)
    assert any(key[0] == "check_results" for key in differences(findings)) == differs


@cases(
    "desired differs",
    ("soft at least 60397877, hard at least 60397877 kB", False),
    ("soft at least 59000000, hard at least 60397977 kB", True),
    ("soft at least 60397977, hard at least 60397977, at most 70000000 kB", True),
    ("nofile 65535; soft at least 60397977, hard at least 60397977 kB", True),
    # Not an amount.
    ("soft at least 60397977, hard at least 60397976", True),
    (None, True),
)
def test_a_share_of_memory_that_differs_by_what_the_kernel_reserves(tmp_path, desired, differs):
    lines = [said(name, "60 GiB") for name in cluster_packs.NODES]
    for result in lines:
        result["findings"][-1]["desired"] = "soft at least 60397977, hard at least 60397977 kB"
    lines[1]["findings"][-1]["desired"] = desired
    _, findings = rendered(tmp_path, lines)
    assert any(key[0] == "check_results" for key in differences(findings)) == differs


@cases(
    "host own",
    ("DB4", "db4"),
    ("db4.example.com", "db4"),
    ("db4.other.org", "DB4"),
    ("10.9.9.9", "Db4"),
)
def test_spellings_of_a_node(tmp_path, host, own):
    machines = [line(name, node(name)) for name in cluster_packs.NODES[:3]]
    last = node("db4").command("uname -n", f"{own}.example.com\n")
    _, findings = rendered(tmp_path, [*machines, line(host, last)])
    assert differences(findings) == {}


@cases("kernel differs", (cluster_packs.KERNEL, False), (cluster_packs.KERNEL + "+debug", True))
def test_flavors_of_a_kernel(tmp_path, kernel, differs):
    _, findings = rendered(tmp_path, nodes(db2=node("db2", kernel=kernel)))
    assert (("software", "kernel") in differences(findings)) == differs


def test_a_uid_with_another_name(tmp_path):
    machines = {name: with_groups(name) for name in cluster_packs.NODES}
    other = node("db2").account("ora", 54321, "oinstall", "dba")
    other.command("getent passwd oracle", "", rc=2)
    _, findings = rendered(tmp_path, nodes(**(machines | {"db2": other})))
    assert differences(findings)["accounts", "uid_gid oracle"]["status"] == "fail"


def of_addresses(found):
    (result,) = [finding for finding in found if finding["check"] == "cluster_nodes.addresses"]
    return result


def test_an_address_on_two_nodes_is_named_with_both(tmp_path):
    both = node("db1").command("ip -o addr show", cluster_packs.ADDRESSES.format(13, 24))
    _, findings = rendered(tmp_path, nodes(db1=both))
    finding = of_addresses(findings)
    assert finding["status"] == "fail"
    assert "10.0.0.13 on db1, db3; 192.0.2.13 on db1, db3;" in finding["why"]
    # Addresses of the loopback, link-local addresses and those of HAIP are on every node.
    assert finding["running"] == "3 addresses on several nodes"
    assert not [key for key in differences(findings) if key[0] == "network"]


def test_addresses_of_a_node_that_are_not_known(tmp_path):
    lost = node("db2").command("ip -o addr show", "", 1)
    _, findings = rendered(tmp_path, nodes(db2=lost))
    assert (
        of_addresses(findings)["status"],
        "db2 are unknown" in of_addresses(findings)["why"],
    ) == ("error", True)
    both = node("db1").command("ip -o addr show", cluster_packs.ADDRESSES.format(13, 24))
    _, findings = rendered(tmp_path, nodes(db1=both, db2=lost))
    assert of_addresses(findings)["status"] == "fail"


def test_addresses_of_a_node_without_a_result_are_unknown(tmp_path):
    _, findings = rendered(tmp_path, nodes()[:3])
    assert (of_addresses(findings)["status"], "db4" in of_addresses(findings)["why"]) == (
        "error",
        True,
    )


def test_what_a_kernel_keeps_for_itself_is_no_difference_of_memory(tmp_path):
    _, findings = rendered(tmp_path, nodes(db2=node("db2", memory_kib=(64 << 20) - 200_000)))
    assert ("hardware", "memory_mib") not in differences(findings)


@cases("offsets status", ((0.4, -20.0, 79.9, 80.0), "pass"), ((0.4, -20.1, 79.9, 80.0), "warn"))
def test_the_spread_of_the_clocks_and_not_each_difference(tmp_path, offsets, status):
    """By what each node's daemon tells of its own clock (time_sync.offset)."""
    lines = nodes()
    for line, offset in zip(lines, offsets, strict=True):
        template = next(
            finding for finding in line["findings"] if finding["check"] == "cluster_nodes.clock"
        )
        values = {"clock_offset_ms": offset}
        more = {"check": "time_sync.offset", "control": "time_sync", "values": values}
        line["findings"].append({**template, **more, "title": "Clock offset is within the limit"})
    _, findings = rendered(tmp_path, lines)
    (clock,) = [finding for finding in findings if finding["check"] == "cluster_nodes.clock"]
    assert clock["status"] == status
    assert (clock["values"] == {f"db{n}": o for n, o in enumerate(offsets, 1)}) == (
        status == "warn"
    )


def with_finding(told, compared_by, **changes):
    """The node says one thing more, in a finding such as that it has for ``compared_by``."""
    template = next(finding for finding in told["findings"] if finding["check"] == compared_by)
    told["findings"].append({**template, **changes, "control": changes["check"].partition(".")[0]})


@cases(
    "check compared_by name values slow",
    (
        "latency.logical_reads",
        "hardware",
        "logical_reads_a_core",
        (230e3, 231e3, 212e3, 229e3),
        "db3 is",
    ),
    (
        "latency.logical_reads",
        "hardware",
        "logical_reads_a_core",
        (230e3, 231e3, 222e3, 229e3),
        None,
    ),
    ("latency.tcp", "network", "db9:1521 kernel p50_ms", (0.2, 0.21, 0.19, 0.9), "db4 is"),
    ("latency.tcp", "network", "db9:1521 kernel p50_ms", (0.02, 0.02, 0.02, 0.06), None),
    ("latency.disk_read", "hardware", "/u02/f user 8192 p50_ms", (9, 9, 1, 1), "db1, db2 are"),
    # Who was not measured is not slow, and its own finding says why.
    ("latency.disk_read", "hardware", "/u02/f user 8192 p50_ms", (1, None, 1, 3), "db4 is"),
)
def test_who_is_slower_than_its_peers_under_the_same_load(
    tmp_path, check, compared_by, name, values, slow
):
    lines = nodes()
    for line, value in zip(lines, values, strict=True):
        if value is not None:
            more = {"check": check, "values": {name: value, "unit": "so"}, "title": "It is quick"}
            with_finding(line, f"cluster_nodes.{compared_by}", **more)
    _, findings = rendered(tmp_path, lines)
    deviations = differences(findings)
    assert [title for _, title in deviations if title == "unit"] == []
    finding = deviations.get((compared_by, name))
    if slow is None:
        assert finding is None
    else:
        assert (finding["status"], finding["why"]) == (
            "warn",
            f"{slow} slower than the others under the same load.",
        )


@cases("third differs", ("RAC{0}.sga_target=8G", False), ("RAC{0}.sga_target=4G", True))
def test_instances_of_one_database_are_compared_whatever_their_number(tmp_path, third, differs):
    lines = nodes()
    for number, reported in enumerate(lines, 1):
        text = (third if number == 3 else "RAC{0}.sga_target=8G").format(number)
        more = {"check": "pre_page_sga.persisted", "title": f"RAC{number}: It is set"}
        more |= {"persisted": text, "desired": "8G", "status": "pass", "values": None}
        with_finding(reported, "cluster_nodes.software", **more)
    _, findings = rendered(tmp_path, lines)
    reported = [finding for finding in findings if finding["title"].startswith("pre_page_sga: ")]
    assert bool(reported) == differs
    if differs:
        assert reported[0]["why"].startswith("db3 is not like the others")


@cases("desired persisted", (None, "RAC{0}=8G"), ("RAC{0}=8G", None), (None, None))
def test_an_instance_of_which_a_layer_is_not_told(tmp_path, desired, persisted):
    lines = nodes()
    for number, line in enumerate(lines, 1):
        more = {"check": "pre_page_sga.persisted", "title": f"RAC{number}: It is set"}
        more |= {"desired": desired and desired.format(number), "status": "pass", "values": None}
        more |= {"persisted": persisted and persisted.format(number)}
        with_finding(line, "cluster_nodes.software", **more)
    _, findings = rendered(tmp_path, lines)
    assert not [finding for finding in findings if finding["title"].startswith("pre_page_sga: ")]


def test_two_instances_of_a_node_are_two(tmp_path):
    lines = nodes()
    for line in lines:
        for number in (1, 2):
            more = {"check": "pre_page_sga.persisted", "title": f"RAC{number}: It is set"}
            more |= {"persisted": f"{number}G", "desired": "8G", "status": "pass", "values": None}
            with_finding(line, "cluster_nodes.software", **more)
    _, findings = rendered(tmp_path, lines)
    assert not [finding for finding in findings if finding["title"].startswith("pre_page_sga: ")]


def test_what_is_not_known_of_a_node_is_said_and_not_averaged_away(tmp_path):
    secretive = node("db2").deny("/sys/class/net/eth1/mtu")
    _, findings = rendered(tmp_path, nodes(db2=secretive))
    finding = differences(findings)["network", "mtu eth1"]
    assert (finding["status"], finding["running"]) == ("error", None)
    assert "is unknown for db2" in finding["why"]


def test_two_nodes_that_differ_have_no_odd_one(tmp_path):
    lines = [
        line("db1", node("db1"), name="rac1", expected=["db1", "db2"]),
        line("db2", node("db2", mtu=1500), name="rac1", expected=["db1", "db2"]),
    ]
    _, findings = rendered(tmp_path, lines)
    finding = differences(findings)["network", "mtu eth1"]
    assert finding["why"].startswith("The nodes differ, and no value is that of most.")


def test_a_node_that_was_judged_without_the_control_is_missing(tmp_path):
    lines = nodes()
    lines[1]["findings"] = [
        finding for finding in lines[1]["findings"] if finding["control"] != "cluster_nodes"
    ]
    _, findings = rendered(tmp_path, lines)
    assert differences(findings)["complete", ""]["status"] == "error"


def test_a_difference_that_is_meant_is_waived(tmp_path):
    waivers = parse_waivers([
        {"check": "cluster_nodes.network", "hosts": CLUSTER, "owner": "net", "reason": "moving",
         "expires": datetime.date(2027, 3, 1)}
    ])  # fmt: skip
    _, findings = rendered(tmp_path, nodes(db3=node("db3", mtu=1500)), waivers)
    (waived,) = [finding for finding in findings if finding["check"] == "cluster_nodes.network"]
    assert (waived["status"], waived["waiver"]["was"]) == ("waived", "fail")
    assert not [finding for finding in findings if finding["control"] == "waiver"]


def test_a_waiver_of_one_node_is_no_difference(tmp_path):
    lines = nodes()
    waiver = {"owner": "dba", "reason": "old", "expires": "2027-03-01", "was": "fail"}
    for number, entry in enumerate(lines):
        (finding,) = [f for f in entry["findings"] if f["check"] == "hugepages.no_overcommit"]
        change = {"status": "waived", "waiver": waiver} if number == 0 else {"status": "fail"}
        finding.update(change)
    _, findings = rendered(tmp_path, lines)
    assert differences(findings) == {}
    lines[0]["findings"] = nodes()[0]["findings"]
    _, findings = rendered(tmp_path, lines)
    assert [check for check, _ in differences(findings)] == ["check_results"]


def test_it_is_compared_anew_when_the_report_is_made_again(tmp_path):
    rendered(tmp_path, nodes(db3=node("db3", mtu=1500)))
    text = (tmp_path / "findings.jsonl").read_text()
    again = rendered(tmp_path, None)[1]
    assert ("network", "mtu eth1") in differences(again)
    assert (tmp_path / "findings.jsonl").read_text() == text
    # A later run of the one node alone, put together with the first.
    later = dict(line("db3", node("db3")), at="2026-11-21T04:15:20Z")
    later["run"] = {"id": "20261121T041500Z-1a2b", "started": "2026-11-21T04:15:00Z", "hosts": 1}
    with (tmp_path / "findings.jsonl").open("a") as stream:
        stream.write(json.dumps(later) + "\n")
    assert not differences(rendered(tmp_path, None)[1])


def test_hosts_of_no_cluster_are_compared_with_nobody(tmp_path):
    lines = [line(name, node(name), name="none") for name in ("db1", "db2")]
    before = "".join(json.dumps(line) + "\n" for line in lines)
    assert rendered(tmp_path, lines)[1] == []
    assert (tmp_path / "findings.jsonl").read_text() == before


def test_a_cluster_counts_as_no_host(tmp_path):
    lines = nodes()
    for line in lines:
        line["run"] = dict(line["run"], hosts=5)
    rendered(tmp_path, lines)
    report = json.loads((tmp_path / "report.json").read_text())
    unfinished = [finding for finding in report["findings"] if finding["check"] == "run.finished"]
    assert unfinished, "a fifth host that never answered must not be hidden by the cluster"


def test_one_node_alone_passes_nothing(tmp_path):
    for expected in ("auto", ["db1"]):
        lines = [line("db1", node("db1"), name="rac1", expected=expected)]
        _, findings = rendered(tmp_path, lines)
        assert "pass" not in {
            finding["status"] for finding in findings if finding["title"] != findings[0]["title"]
        }


@cases(
    "host own_name expected",
    ("db1.a.example", "db1.a.example", "db1.b.example"),
    ("10.0.0.1", "db1", "10.0.0.2"),
)
def test_names_that_only_begin_alike_are_two_hosts(tmp_path, host, own_name, expected):
    machine = node("db1").command("uname -n", own_name + "\n")
    _, findings = rendered(tmp_path, [line(host, machine, name="rac1", expected=[host, expected])])
    assert f"{expected} has no result" in differences(findings)["complete", ""]["why"]


def test_what_may_not_have_been_seen_is_not_missing(tmp_path):
    _, findings = rendered(tmp_path, nodes(db2=node("db2").deny("/sys/class/net")))
    assert differences(findings)["network", "mtu eth1"]["status"] == "error"


def test_the_headline_and_the_summary_say_that_a_cluster_is_not_ready(tmp_path):
    lines = nodes(db3=node("db3", mtu=1500))
    path = tmp_path / "findings.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    answer = render_folder(str(tmp_path), today=TODAY, known_checks=check_ids)
    assert "Clusters: 1 not ready" in answer.summary.splitlines()
    page = (tmp_path / "report.html").read_text()
    assert "; cluster rac1: not ready</" in page
    assert "Cluster rac1</" in page
    assert answer.exit_code == 2


def test_what_a_hostile_node_calls_its_cluster_is_only_a_name(tmp_path):
    evil = "rac1\x1b[2J</td><script>{{ 1 }}" + "x" * 500
    lines = nodes()
    for record in lines:
        for finding in record["findings"]:
            if finding["check"] == "cluster_nodes.complete":
                finding["values"]["cluster"] = evil
    path = tmp_path / "findings.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    render_folder(str(tmp_path), today=TODAY, known_checks=check_ids)
    names = {json.loads(text)["host"] for text in path.read_text().splitlines()}
    (name,) = [host for host in names if host.startswith("(cluster")]
    assert len(name) < 120
    assert name.startswith("(cluster rac1??2J??td??script??? 1 ??xxx")


def test_groups_and_the_odd_one():
    groups = alike({"db1": 1, "db2": 2, "db3": 1})
    assert groups == [Same(1, ["db1", "db3"]), Same(2, ["db2"])]
    assert odd_one_out(groups) == "db2 is not like the others"
    assert alike({"db1": 100, "db2": 99.5}, 0.01) == [Same(100, ["db1", "db2"])]


def test_nodes_that_are_told_other_addresses_of_a_name(tmp_path):
    """Each node is like its peers but for its own name and address, which is no difference."""

    def told(host, vip):
        machine = cluster_packs.node(host)
        own = f"192.0.2.{name_packs.MEMBERS[host]}"
        name_packs.node(machine).file("/proc/sys/kernel/hostname", f"{host}\n")
        machine.file("/etc/hostname", f"{host}\n").command("uname -n", f"{host}.example.com\n")
        machine.file("/etc/hosts", f"127.0.0.1 localhost\n{own} {host}.example.com {host}\n")
        machine.command("ip -o addr show", name_packs.ADDRESSES.replace("192.0.2.10", own))
        name_packs.back(machine, own, f"{host}.example.com", host)
        name_packs.named(machine, "rac2-vip", vip)
        policies = {
            "cluster_nodes": policy(name="rac1"),
            "name_resolution": default_policy("name_resolution"),
        }
        return make_line(
            host, [finding.as_dict() for finding in audit.judge_host(machine, policies)]
        )

    _, findings = rendered(tmp_path, [told("rac1", "192.0.2.12"), told("rac2", "192.0.2.12")])
    assert len(findings) > 5
    assert differences(findings) == {}
    _, findings = rendered(tmp_path, [told("rac1", "192.0.2.12"), told("rac2", "192.0.2.13")])
    (only,) = [
        finding for finding in differences(findings).values() if "rac2-vip" in finding["title"]
    ]
    assert (only["check"], only["status"]) == ("cluster_nodes.network", "warn")
    assert only["running"] == "192.0.2.12 on rac1; 192.0.2.13 on rac2"


def with_disks(name, *disks):
    """A node whose block_devices found these ASM disks."""
    policies = {"cluster_nodes": policy(), "hugepages": default_policy("hugepages")}
    findings = [finding.as_dict() for finding in audit.judge_host(node(name), policies)]
    values = {f"disk {serial}": size for serial, size in disks} or None
    status = "pass" if disks else "skip"
    findings.append(make_finding(asm_disks.check, status, values=values).as_dict())
    return make_line(name, findings)


DATA, RECO = ("36001405a", "102400 MiB"), ("36001405b", "51200 MiB")


class TestAsmDisks:
    def on(self, tmp_path, **disks):
        alike = dict.fromkeys(cluster_packs.NODES, (DATA, RECO))
        lines = [with_disks(name, *node_disks) for name, node_disks in (alike | disks).items()]
        findings = rendered(tmp_path, lines)[1]
        return [finding for finding in findings if finding["check"] == "cluster_nodes.asm_disks"]

    def test_all_nodes_have_the_same(self, tmp_path):
        (finding,) = self.on(tmp_path)
        assert (finding["status"], finding["running"]) == ("pass", "2 disks are equal on all nodes")

    def test_the_node_that_lacks_one_is_named(self, tmp_path):
        (finding,) = self.on(tmp_path, db3=(DATA,))
        assert finding["status"] == "fail"
        assert finding["why"].startswith("db3 is not like the others.")
        assert finding["running"] == "51200 MiB on db1, db2, db4; none on db3"

    def test_the_node_with_another_size_is_named(self, tmp_path):
        (finding,) = self.on(tmp_path, db2=(("36001405a", "51200 MiB"), RECO))
        assert finding["status"] == "fail"
        assert finding["running"] == "102400 MiB on db1, db3, db4; 51200 MiB on db2"

    def test_a_disk_without_a_serial_number_may_be_the_one_that_is_missing(self, tmp_path):
        findings = self.on(tmp_path, db2=(DATA, ("/dev/sdc", None)))
        assert [finding["status"] for finding in findings] == ["error", "error"]
        assert "unknown for db2" in findings[0]["why"]

    def test_a_node_without_an_instance_is_unknown(self, tmp_path):
        (finding,) = self.on(tmp_path, db4=())
        assert finding["status"] == "error"
        assert finding["why"] == "The ASM disks of db4 are unknown."
