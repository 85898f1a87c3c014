"""flow_control, the host's own end: every check in every status."""

from collections.abc import Callable
from typing import Any

import nic_packs
import pytest
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.flow_control.control import CONTROL as flow_control
from ansible.module_utils.hostproof.controls.flow_control.probes import large_frames
from ansible.module_utils.hostproof.errors import PolicyError
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from cases import cases
from nic_packs import (
    FILER,
    SCRIPTS,
    Host,
    bonded_host,
    fixture,
    lacp,
    pause_text,
    policy,
    settings_text,
    storage_host,
)
from packs import Machine

OFF = [{"role": "storage", "rx": True, "tx": False, "autoneg": False}]
Judge = Callable[..., dict[str, list[Finding]]]


@pytest.fixture
def judge(findings_of) -> Judge:
    def judge_host(host: RecordedHost, **changes: Any) -> dict[str, list[Finding]]:
        results = findings_of("flow_control", host, policy(**changes))
        assert set(results) == {check.id.split(".")[1] for check in flow_control.checks}
        return results

    return judge_host


def statuses(found: dict[str, list[Finding]], check: str) -> list[str]:
    return [finding.status for finding in found[check]]


# -- which interfaces -----------------------------------------------------------------------------


def test_a_host_without_storage_is_left_alone(judge):
    results = judge(Host().nic("ens4"))
    assert {finding.status for findings in results.values() for finding in findings} == {"skip"}


def test_what_carries_storage_is_judged(judge):
    results = judge(storage_host())
    assert results["supported"][0].title.startswith("ens4: ")
    assert statuses(results, "supported") == ["pass"]


def test_below_a_vlan_on_a_bond_both_members_are_judged(judge):
    host = bonded_host().nic("bond0.7", driver=None).folder("/sys/class/net/bond0.7/lower_bond0")
    host.route(FILER, "bond0.7")
    results = judge(host)
    assert [finding.title.split(":")[0] for finding in results["supported"]] == ["ens10", "ens8"]


def test_a_mount_that_only_a_boot_makes_counts(judge):
    host = Host().nic("ens4").route("192.0.2.60", "ens4")
    host.file("/etc/fstab", "filer2:/export /u03 nfs rw,hard 0 0\n")
    host.command("getent ahosts filer2", "192.0.2.60      STREAM filer2\n192.0.2.60      DGRAM\n")
    assert statuses(judge(host), "supported") == ["pass"]


def test_a_server_without_an_address_is_unknown(judge):
    results = judge(Host().nic("ens4").file("/etc/fstab", "filer2:/export /u03 nfs rw,hard 0 0\n"))
    assert statuses(results, "supported") == ["error"] and "filer2" in results["supported"][0].why


def test_iscsi_targets_count(judge):
    host = Host().nic("ens4").route("192.0.2.70", "ens4")
    host.file("/sys/class/iscsi_connection/connection1:0/address", "192.0.2.70\n")
    assert statuses(judge(host), "supported") == ["pass"]


def test_a_bound_iscsi_session_goes_its_own_way(judge):
    """Two sessions to one portal, as multipathing has them: the kernel's route knows but one."""
    host = Host().nic("ens4").nic("ens5", mac="52:54:00:0a:00:05").nic("ens6")
    host.route("192.0.2.70", "ens6")
    for number, device, folder in ((1, "ens4", "/var/lib"), (2, "ens5", "/etc")):
        host.file(f"/sys/class/iscsi_connection/connection{number}:0/address", "192.0.2.70\n")
        host.file(f"/sys/class/iscsi_session/session{number}/ifacename", f"path{number}\n")
        iface = f"# BEGIN RECORD\niface.iscsi_ifacename = path{number}\n"
        iface += f"iface.net_ifacename = {device}\n"
        host.file(f"{folder}/iscsi/ifaces/path{number}", iface)
        host.command(
            f"ip -o route get 192.0.2.70 oif {device}",
            f"192.0.2.70 dev {device} src 192.0.2.{number} uid 0 \\    cache \n",
        )
    results = judge(host)
    assert [finding.title.split(":")[0] for finding in results["supported"]] == ["ens4", "ens5"]
    found = [finding.title.split(":")[0] for finding in results["path_mtu"]]
    assert found == ["192.0.2.70 over ens4", "192.0.2.70 over ens5"]
    host.remove("/etc/iscsi/ifaces/path2")
    host.evidence.clear()
    results = judge(host)
    assert statuses(results, "supported") == ["pass", "error"]
    assert "session2 is bound to path2" in results["supported"][-1].why


def test_the_interconnect_of_the_policy_and_of_clusterware(judge):
    host = Host().nic("ens5")
    assert statuses(judge(host, interconnect=["ens5"]), "supported") == ["pass"]
    assert statuses(judge(Host().nic("ens5"), interconnect=["ens9"]), "supported") == ["error"]
    host = Host().nic("ens5")
    host.running.append(
        {
            "pid": 50,
            "uid": 54331,
            "gid": 1,
            "started": 1.0,
            "argv0": "/u01/app/19.0.0/grid/bin/ocssd.bin",
        }
    )
    host.command("getent passwd", "grid:x:54331:54321::/home/grid:/bin/bash\n")
    host.command(
        "list the networks of Clusterware (oifcfg getif)",
        "ens4  10.0.0.0  global  public\nens5  192.168.1.0  global  cluster_interconnect,asm\n",
    )
    assert judge(host)["supported"][0].running == "driver e1000e, interconnect"


def test_oifcfg_is_never_run_as_root(judge):
    host = Host().nic("ens5")
    host.running.append(
        {"pid": 50, "uid": 0, "gid": 0, "started": 1.0, "argv0": "/u01/grid/bin/ocssd.bin"}
    )
    host.command("getent passwd", "root:x:0:0::/root:/bin/bash\n")
    assert statuses(judge(host), "supported") == ["error"]


def test_a_rule_may_name_an_interface_that_no_path_needs(judge):
    rule = [{"name": "ens9", "rx": False, "tx": False, "autoneg": False}]
    results = judge(Host().nic("ens4").nic("ens9"), rules=rule)
    assert [finding.title.split(":")[0] for finding in results["configured"]] == ["ens9"]
    assert statuses(results, "configured") == ["fail"]


# -- what is set ----------------------------------------------------------------------------------


def test_a_virtual_interface_is_skipped(judge):
    host = Host().nic("ens3", driver="virtio_net", pause=None, speed=-1, duplex="unknown")
    results = judge(host.mounts("ens3"))
    for check in (
        "supported",
        "configured",
        "negotiated",
        "persisted",
        "full_duplex",
        "speed_duplex",
    ):
        assert statuses(results, check) == ["skip"], check


def test_without_ethtool_a_real_interface_is_unknown_and_a_virtual_one_is_not(judge):
    host = storage_host()
    del host.commands["ethtool -a ens4"]
    assert statuses(judge(host), "configured") == ["error"]
    host = Host().nic("ens3", driver="virtio_net").mounts("ens3")
    del host.commands["ethtool -a ens3"]
    assert statuses(judge(host), "configured") == ["skip"]


def test_by_default_tx_on_storage_is_a_warning_and_rx_is_not(judge):
    results = judge(storage_host(pause=(False, True, True)))
    assert statuses(results, "configured") == ["warn"] and "stalls" in results["configured"][0].why
    assert statuses(judge(storage_host(pause=(False, True, False))), "configured") == ["pass"]
    assert statuses(judge(storage_host(pause=(False, False, False))), "configured") == ["pass"]


def test_what_a_rule_wants_fails(judge):
    found = statuses(judge(storage_host(pause=(False, True, True)), rules=OFF), "configured")
    assert found == ["fail"]
    seen = statuses(judge(storage_host(pause=(False, True, False)), rules=OFF), "configured")
    assert seen == ["pass"]
    assert statuses(judge(storage_host(pause=(True, True, False)), rules=OFF), "configured") == [
        "fail"
    ]


def test_without_a_link_nothing_that_is_shown_counts(judge):
    results = judge(storage_host(pause=(False, True, True), carrier=0), rules=OFF)
    for check in ("configured", "full_duplex", "speed_duplex"):
        assert statuses(results, check) == ["skip"], check


def test_an_interface_that_was_taken_down_has_no_link(judge):
    host = storage_host(pause=(False, True, True), speed=-1, duplex="unknown")
    results = judge(host.take_down("ens4"), rules=OFF)
    for check in ("configured", "full_duplex", "speed_duplex"):
        assert statuses(results, check) == ["skip"], check
    host = storage_host(pause=(False, True, True)).remove("/sys/class/net/ens4/carrier")
    results = judge(host, rules=OFF)
    for check in ("configured", "full_duplex", "speed_duplex"):
        assert statuses(results, check) == ["error"], check


def test_negotiated_is_what_the_driver_or_ethtool_tells(judge):
    both = [{"role": "storage", "rx": True, "tx": True}]
    results = judge(storage_host(pause=(True, True, False)), rules=both)
    assert statuses(results, "negotiated") == ["fail"]
    assert results["negotiated"][0].in_use == "rx on, tx off negotiated"
    lines = ("RX negotiated: on", "TX negotiated: on")
    host = storage_host(driver="tg3", pause=(True, False, False), more=lines)
    assert statuses(judge(host, rules=both), "negotiated") == ["pass"]
    assert statuses(judge(host, rules=both), "configured") == ["pass"]


def test_negotiated_is_unknown_where_nobody_tells(judge):
    results = judge(storage_host(driver="tg3", pause=(True, True, True)), rules=OFF)
    assert statuses(results, "negotiated") == ["error"]


def test_negotiated_from_what_both_ends_offer(judge):
    lines = (
        "Advertised pause frame use: Symmetric Receive-only",
        "Link partner advertised pause frame use: Transmit-only",
    )
    host = storage_host(
        driver="tg3",
        pause=(True, True, False),
        settings=settings_text("ens4", "1000Mb/s", "Full", *lines),
    )
    keep = [{"role": "storage", "rx": True, "tx": False}]
    assert statuses(judge(host, rules=keep), "negotiated") == ["pass"]


# -- the next boot --------------------------------------------------------------------------------

OURS = "[Match]\nMACAddress=52:54:00:0a:00:01\n[Link]\nNamePolicy=path\n"
LINK = "/etc/systemd/network/10-storage.link"


def test_nothing_persisted_is_a_warning_where_it_is_right_now(judge):
    results = judge(storage_host(pause=(False, True, False)), rules=OFF)
    assert statuses(results, "persisted") == ["warn"]
    assert statuses(judge(storage_host(), rules=OFF), "persisted") == ["fail"]


@cases(
    "lines status",
    ("RxFlowControl=yes\nTxFlowControl=no\nAutoNegotiationFlowControl=no\n", "pass"),
    # An e1000e offers both while it negotiates, whatever is asked for (seen in the lab).
    ("RxFlowControl=yes\nTxFlowControl=no\n", "fail"),
    ("RxFlowControl=no\nTxFlowControl=yes\nAutoNegotiationFlowControl=no\n", "fail"),
    ("TxFlowControl=no\nAutoNegotiationFlowControl=no\n", "warn"),
)
def test_the_link_file_that_counts(judge, lines, status):
    host = storage_host(pause=(False, True, False)).link_file(LINK, OURS + lines)
    assert statuses(judge(host, rules=OFF), "persisted") == [status]


@cases(
    "driver partner status",
    ("tg3", None, "warn"),
    ("tg3", "Transmit-only", "pass"),
    ("tg3", "Symmetric", "warn"),
    ("mlx5_core", None, "pass"),
)
def test_what_a_boot_offers_is_negotiated_where_nothing_turns_that_off(
    judge, driver, partner, status
):
    lines = "RxFlowControl=yes\nTxFlowControl=no\n"
    extra = [f"Link partner advertised pause frame use: {partner}"] if partner else []
    host = storage_host(
        driver=driver,
        pause=(False, True, False),
        settings=settings_text("ens4", "1000Mb/s", "Full", *extra),
    )
    assert statuses(judge(host.link_file(LINK, OURS + lines), rules=NO_TX), "persisted") == [status]
    # Where it says that it negotiates there is no doubt.
    host.link_file(LINK, OURS + lines + "AutoNegotiationFlowControl=yes\n")
    host.evidence.clear()
    if partner == "Symmetric":
        assert statuses(judge(host, rules=NO_TX), "persisted") == ["fail"]


NO_TX = [{"role": "storage", "rx": True, "tx": False}]


def test_a_negotiation_that_the_driver_refuses_takes_the_rest_with_it(judge):
    lines = "RxFlowControl=yes\nTxFlowControl=no\nAutoNegotiationFlowControl=no\n"
    negotiated = ("RX negotiated: on", "TX negotiated: off")
    host = storage_host(driver="ice", pause=(True, True, False), more=negotiated)
    results = judge(host.link_file(LINK, OURS + lines), rules=NO_TX)
    assert statuses(results, "persisted") == ["fail"] and "rejects" in results["persisted"][0].why


@cases("negotiates status", (True, "fail"), (False, "pass"))
def test_a_driver_that_negotiates_as_the_link_does(judge, negotiates, status):
    """Without the link's negotiation the driver uses what the file sets; with it, the result."""
    partner = "Link partner advertised pause frame use: Symmetric"
    host = storage_host(
        driver="ice",
        pause=(negotiates, True, False),
        settings=settings_text("ens4", "1000Mb/s", "Full", partner),
    )
    host.link_file(LINK, OURS + "RxFlowControl=yes\nTxFlowControl=no\n")
    assert statuses(judge(host, rules=NO_TX), "persisted") == [status]


def test_a_link_file_that_another_hides_is_ignored(judge):
    lines = "[Link]\nRxFlowControl=no\nTxFlowControl=no\n"
    host = storage_host().link_file(
        "/etc/systemd/network/99-zz.link", "[Match]\nOriginalName=*\n" + lines
    )
    results = judge(host)
    assert statuses(results, "ignored_settings") == ["warn"]
    assert "99-default.link" in results["ignored_settings"][0].why
    assert "nothing sets it" in results["persisted"][0].persisted


def test_a_link_file_of_another_address_is_none_of_a_virtual_interface(judge):
    """It has no permanent address (veth): its own decides."""
    host = Host().nic("san0", driver=None, mac="52:54:00:0a:00:02", own="not set").mounts("san0")
    host.commands["ethtool -a san0"] = nic_packs._refused()
    text = "[Match]\nMACAddress=52:54:00:0a:00:01\n[Link]\nRxFlowControl=no\nTxFlowControl=yes\n"
    assert statuses(judge(host.link_file(LINK, text)), "ignored_settings") == ["skip"]


def test_a_link_file_means_nothing_to_an_old_systemd(judge):
    host = storage_host(pause=(False, True, False)).link_file(
        LINK, OURS + "RxFlowControl=yes\nTxFlowControl=no\n"
    )
    host.command("udevadm --version", "239 (239-58.0.1.el8)\n")
    results = judge(host, rules=OFF)
    assert statuses(results, "ignored_settings") == ["warn"]
    assert statuses(results, "persisted") == ["warn"]


def test_what_only_udev_knows_is_unknown_until_udev_says_it(judge):
    text = "[Match]\nProperty=ID_BUS=usb\n[Link]\nTxFlowControl=no\n"
    host = storage_host().link_file(LINK, text)
    assert statuses(judge(host, rules=OFF), "persisted") == ["error"]
    host = storage_host(pause=(False, True, False)).link_file(LINK, text)
    host.command(
        "udevadm info -q property -p /sys/class/net/ens4",
        "ID_NET_LINK_FILE=/usr/lib/systemd/network/99-default.link\n",
    )
    assert statuses(judge(host, rules=OFF), "persisted") == ["warn"]


def test_inverted_settings_of_a_link_file(judge):
    off = "AutoNegotiationFlowControl=no\n"
    wrong = storage_host().link_file(LINK, OURS + "RxFlowControl=no\nTxFlowControl=yes\n" + off)
    results = judge(wrong, rules=OFF)
    assert statuses(results, "link_file_inverted") == ["fail"]
    assert "ethtool shows rx off, tx on" in results["link_file_inverted"][0].why
    right = storage_host().link_file(LINK, OURS + "RxFlowControl=yes\nTxFlowControl=no\n" + off)
    assert statuses(judge(right, rules=OFF), "link_file_inverted") == ["pass"]
    same = storage_host().link_file(LINK, OURS + "RxFlowControl=no\nTxFlowControl=no\n" + off)
    assert statuses(judge(same, rules=OFF), "link_file_inverted") == ["pass"]
    assert statuses(judge(storage_host(), rules=OFF), "link_file_inverted") == ["skip"]


def test_what_is_not_mixed_up_is_not_to_be_exchanged(judge):
    lines = "RxFlowControl=yes\nTxFlowControl=no\nAutoNegotiationFlowControl=no\n"
    both = [{"role": "storage", "rx": True, "tx": True, "autoneg": False}]
    results = judge(storage_host().link_file(LINK, OURS + lines), rules=both)
    assert statuses(results, "link_file_inverted") == ["warn"]
    assert "exchange" not in results["link_file_inverted"][0].fix
    turned = OURS + "RxFlowControl=no\nTxFlowControl=yes\n"
    results = judge(storage_host().link_file(LINK, turned), rules=OFF)
    assert "exchange" in results["link_file_inverted"][0].fix


PROFILE = "/etc/NetworkManager/system-connections/storage.nmconnection"


def managed(host: Host, version: str, lines: str) -> Host:
    from ansible.module_utils.hostproof.controls.flow_control.parsers import nm_keyfile

    host.file(PROFILE, "[connection]\nid=x\n[wifi-security]\npsk=correct horse\n")
    host.command("nmcli -t -f RUNNING,VERSION general", f"running:{version}\n")
    host.command("nmcli -t -f UUID,DEVICE connection show --active", "1-2:ens4\n")
    kept = ["[connection]", "id=storage", "uuid=1-2", "interface-name=ens4", *lines.splitlines()]
    return host.command(
        f"grep -s -H -E -e {nm_keyfile.LINES} -- {PROFILE}",
        "".join(f"{PROFILE}:{line}\n" for line in kept),
    )


def test_the_profile_of_networkmanager_comes_last(judge):
    right = OURS + "RxFlowControl=yes\nTxFlowControl=no\nAutoNegotiationFlowControl=no\n"
    host = storage_host(pause=(False, True, False)).link_file(LINK, right)
    managed(host, "1.46.0", "[ethtool]\npause-tx=true\n")
    assert statuses(judge(host, rules=OFF), "persisted") == ["fail"]
    assert "correct horse" not in str(host.evidence)


def test_a_profile_that_sets_no_pause_is_no_setting(judge):
    host = managed(storage_host(), "1.46.0", "[ethtool]\n")
    assert statuses(judge(host), "ignored_settings") == ["skip"]


def test_an_old_networkmanager_ignores_its_profile(judge):
    right = OURS + "RxFlowControl=yes\nTxFlowControl=no\nAutoNegotiationFlowControl=no\n"
    host = storage_host(pause=(False, True, False)).link_file(LINK, right)
    managed(host, "1.30.0", "[ethtool]\npause-tx=true\n")
    results = judge(host, rules=OFF)
    assert statuses(results, "persisted") == ["pass"]
    assert statuses(results, "ignored_settings") == ["warn"]


IFCFG = "/etc/sysconfig/network-scripts/ifcfg-ens4"


def scripted(host: Host, manager: str, sides: str, *more: str, active: str = "1-2") -> Host:
    """ETHTOOL_OPTS with -A for ens4."""
    from ansible.module_utils.hostproof.controls.flow_control.parsers import ifcfg

    host.file(IFCFG, "x").command("nmcli -t -f RUNNING,VERSION general", manager + "\n")
    host.command("nmcli -t -f UUID,DEVICE connection show --active", f"{active}:ens4\n")
    lines = ["DEVICE=ens4", "UUID=1-2", f'ETHTOOL_OPTS="-A ${{DEVICE}} {sides}"', *more]
    return host.command(
        f"grep -s -H -E -e {ifcfg.LINES} -- {IFCFG}", "".join(f"{IFCFG}:{line}\n" for line in lines)
    )


@cases(
    "manager active ignored persisted",
    # Before 1.32 NetworkManager takes no -A; from then on it does, where it reads the file.
    ("running:1.30.0", "1-2", "warn", "warn"),
    ("running:1.40.0", "1-2", "pass", "pass"),
    ("running:1.40.0", "3-4", "pass", "warn"),
    ("stopped:", "", "pass", "pass"),
)
def test_ethtool_opts_of_ifcfg(judge, manager, active, ignored, persisted):
    host = storage_host(pause=(False, False, False))
    results = judge(scripted(host, manager, "autoneg off rx off tx off", active=active))
    assert statuses(results, "ignored_settings") == [ignored]
    assert statuses(results, "persisted") == [persisted]


def test_ethtool_opts_come_after_a_link_file(judge):
    right = OURS + "RxFlowControl=yes\nTxFlowControl=no\nAutoNegotiationFlowControl=no\n"
    host = storage_host(pause=(False, True, False)).link_file(LINK, right)
    results = judge(scripted(host, "running:1.40.0", "tx on"), rules=OFF)
    assert statuses(results, "persisted") == ["fail"]
    host = storage_host(pause=(False, True, False)).link_file(LINK, right)
    results = judge(scripted(host, "running:1.40.0", "tx on", active="3-4"), rules=OFF)
    assert statuses(results, "persisted") == ["warn"]
    assert "seems to set something else" in results["persisted"][0].why


def test_what_the_boot_does_not_bring_up_proves_nothing(judge):
    host = storage_host(pause=(False, False, False))
    results = judge(scripted(host, "stopped:", "autoneg off rx off tx off", "ONBOOT=no"))
    assert statuses(results, "persisted") == ["warn"]
    host = managed(storage_host(pause=(False, True, False)), "1.46.0", "autoconnect=false\n" + NM)
    results = judge(host, rules=OFF)
    assert statuses(results, "persisted") == ["warn"]
    assert "only a reboot proves it" in results["persisted"][0].why
    host = managed(storage_host(pause=(False, True, False)), "1.46.0", NM)
    assert statuses(judge(host, rules=OFF), "persisted") == ["pass"]


NM = "[ethtool]\npause-autoneg=false\npause-rx=true\npause-tx=false\n"


@cases("name", "ifcfg-ens4.bak", "ifcfg-ens4.rpmsave", "ifcfg-ens4~")
def test_what_an_editor_left_behind_is_no_setting(judge, name):
    from ansible.module_utils.hostproof.controls.flow_control.parsers import ifcfg

    path = "/etc/sysconfig/network-scripts/" + name
    host = storage_host(pause=(False, False, False)).file(path, "x")
    host.command(
        f"grep -s -H -E -e {ifcfg.LINES} -- {path}",
        f'{path}:DEVICE=ens4\n{path}:ETHTOOL_OPTS="-A ens4 autoneg off rx off tx off"\n',
    )
    assert "nothing sets it" in judge(host)["persisted"][0].persisted


@cases(
    "line mode status words",
    # The first two are comments, the last is a file that nobody runs.
    ("#ethtool -A ens4 autoneg off rx on tx off", 0o755, "warn", "nothing sets it"),
    ("cd / # ethtool -A ens4 autoneg off rx on tx off", 0o755, "warn", "nothing sets it"),
    ("ethtool -A ens4 autoneg off rx on tx off", 0o755, "warn", "(perhaps)"),
    ("ethtool -A ens4 autoneg off rx on tx off", 0o644, "warn", "nothing sets it"),
)
def test_a_script_is_no_proof(judge, line, mode, status, words):
    host = storage_host(pause=(False, True, False)).file("/etc/rc.local", "", mode)
    grep = "grep -s -H -E -e ethtool.*[[:space:]](-A|--pause)[[:space:]] -- "
    host.command(grep + SCRIPTS, f"/etc/rc.local:{line}\n")
    results = judge(host, rules=OFF)
    assert statuses(results, "persisted") == [status] and words in results["persisted"][0].persisted
    assert ("only a reboot proves it" in results["persisted"][0].why) == (words == "(perhaps)")


@cases(
    "more status",
    ("", "pass"),
    ('ATTR{device/vendor}=="0x14e4", ', "warn"),
    ('ENV{ID_PATH}=="pci-0000:99:00.0", ', "warn"),
    ('DRIVERS=="igb", ', "warn"),
)
def test_a_rule_that_asks_for_another_card_is_no_proof(judge, more, status):
    host = storage_host(pause=(False, True, False))
    rule = (
        f'ACTION=="add", SUBSYSTEM=="net", {more}'
        'RUN+="/usr/sbin/ethtool -A $name autoneg off rx on tx off"\n'
    )
    path = "/etc/udev/rules.d/70-pause.rules"
    host.file(path, rule).command(f"grep -s -H -E -e ethtool -- {path}", f"{path}:{rule}")
    assert statuses(judge(host, rules=OFF), "persisted") == [status]


def test_an_udev_rule_counts(judge):
    host = storage_host(pause=(False, True, False))
    rule = (
        'ACTION=="add", SUBSYSTEM=="net", ATTR{address}=="52:54:00:0a:00:01", '
        'RUN+="/usr/sbin/ethtool -A $name autoneg off rx on tx off"\n'
    )
    path = "/etc/udev/rules.d/70-pause.rules"
    host.file(path, rule).command(f"grep -s -H -E -e ethtool -- {path}", f"{path}:{rule}")
    assert statuses(judge(host, rules=OFF), "persisted") == ["pass"]


IF_UP = "/etc/network/if-up.d/ethtool"


def ifupdown_host(lines: str, place: str = "/etc/network/interfaces") -> Host:
    from ansible.module_utils.hostproof.controls.flow_control.parsers import ifupdown

    host = storage_host(pause=(False, True, False))
    main = "/etc/network/interfaces"
    texts = {main: lines}
    if place != main:
        texts = {main: "source /etc/network/interfaces.d/*\n", place: lines}
    host.file(IF_UP, "#!/bin/sh\n")
    for path, text in texts.items():
        host.file(path, text + "wpa-psk correct-horse\n")
        kept = "".join(f"{path}:{line}\n" for line in text.splitlines())
        host.command(f"grep -s -H -E -e {ifupdown.LINES} -- {path}", kept)
    for order in ([IF_UP], [IF_UP, place], [place, IF_UP]):
        host.command(f"grep -s -H -E -e {ETHTOOL} -- {' '.join(order)} {SCRIPTS}", "", 1)
    return host


ETHTOOL = "ethtool.*[[:space:]](-A|--pause)[[:space:]]"
PAUSE_LINES = (
    "iface ens4 inet dhcp\n"
    "  ethernet-pause-autoneg off\n  ethernet-pause-rx on\n  ethernet-pause-tx off\n"
)


@cases("place", "/etc/network/interfaces", "/etc/network/interfaces.d/ens4")
def test_interfaces_of_debian_count(judge, place):
    host = ifupdown_host("auto ens4\n" + PAUSE_LINES, place)
    results = judge(host, rules=OFF)
    assert statuses(results, "persisted") == ["pass"]
    assert (
        f"ifupdown {place}: autonegotiation off, rx on, tx off" in results["persisted"][0].persisted
    )
    assert "correct-horse" not in str(host.evidence)


def test_interfaces_that_a_boot_does_not_bring_up_count_for_nothing(judge):
    results = judge(ifupdown_host(PAUSE_LINES), rules=OFF)
    assert statuses(results, "ignored_settings") == ["warn"]
    assert "allow-hotplug" in results["ignored_settings"][0].why
    host = ifupdown_host("allow-hotplug ens4\n" + PAUSE_LINES).remove(IF_UP)
    host.command(f"grep -s -H -E -e {ETHTOOL} -- {SCRIPTS}", "", 1)
    results = judge(host, rules=OFF)
    assert "there is no " + IF_UP in results["ignored_settings"][0].why


def test_a_pause_of_interfaces_that_is_no_word_is_an_error(judge):
    host = ifupdown_host("auto ens4\niface ens4 inet dhcp\n  ethernet-pause-tx maybe\n")
    assert statuses(judge(host, rules=OFF), "persisted") == ["error"]


def tuned_host(section: str) -> Host:
    host = storage_host(pause=(False, True, False)).file("/etc/tuned/active_profile", "storage\n")
    host.command("systemctl is-enabled tuned.service", "enabled\n")
    host.file("/etc/tuned/storage/tuned.conf", "[main]\ninclude=base\n" + section)
    host.file("/usr/lib/tuned/base/tuned.conf", "[net]\npause=rx off tx on\n")
    return host


def test_the_active_profile_of_tuned_comes_last(judge):
    results = judge(tuned_host("[net]\npause=autoneg off rx on tx off\n"), rules=OFF)
    assert statuses(results, "persisted") == ["pass"]
    assert "TuneD /etc/tuned/storage/tuned.conf [net]" in results["persisted"][0].persisted
    results = judge(tuned_host(""), rules=OFF)
    assert statuses(results, "persisted") == ["fail"]
    host = tuned_host("[net]\npause=rx off tx on\n")
    host.link_file(LINK, OURS + "RxFlowControl=yes\nTxFlowControl=no\n")
    assert statuses(judge(host, rules=OFF), "persisted") == ["fail"]


def test_a_section_of_tuned_for_other_devices_does_not_count(judge):
    results = judge(tuned_host("[net]\ndevices=!ens4\n"), rules=OFF)
    assert "nothing sets it" in results["persisted"][0].persisted
    results = judge(tuned_host("[net]\nenabled=0\n"), rules=OFF)
    assert "nothing sets it" in results["persisted"][0].persisted
    # For TuneD only 1, true and True are a yes (profiles/unit.py).
    results = judge(tuned_host("[net]\nenabled=yes\n"), rules=OFF)
    assert "TuneD" not in results["persisted"][0].persisted


def test_what_of_tuned_is_not_worked_out_is_an_error(judge):
    for line in ("devices_udev_regex=ID_BUS=pci", "pause=tx ${tx}"):
        assert statuses(judge(tuned_host(f"[net]\n{line}\n"), rules=OFF), "persisted") == ["error"]


def test_tuned_that_is_not_started_counts_for_nothing(judge):
    host = tuned_host("[net]\npause=tx on\n")
    host.command("systemctl is-enabled tuned.service", "disabled\n", 1)
    assert "nothing sets it" in judge(host, rules=OFF)["persisted"][0].persisted


# -- the cable ------------------------------------------------------------------------------------


def test_half_duplex(judge):
    assert statuses(judge(storage_host(speed=100, duplex="half")), "full_duplex") == ["fail"]
    assert statuses(judge(storage_host()), "full_duplex") == ["pass"]


def test_a_real_interface_that_tells_no_duplex_is_unknown(judge):
    results = judge(storage_host(duplex="unknown"))
    assert statuses(results, "full_duplex") == ["error"]
    assert statuses(results, "speed_duplex") == ["error"]


def test_one_end_forced(judge):
    forced = settings_text("ens4").replace("negotiation: on", "negotiation: off")
    assert statuses(judge(storage_host(settings=forced)), "speed_duplex") == ["warn"]
    silent = settings_text(
        "ens4", "1000Mb/s", "Full", "Link partner advertised link modes:  Not reported"
    )
    assert statuses(judge(storage_host(settings=silent)), "speed_duplex") == ["warn"]
    both = fixture("settings-partner.txt")
    assert statuses(judge(storage_host(settings=both)), "speed_duplex") == ["pass"]
    assert statuses(judge(storage_host()), "speed_duplex") == ["skip"]


def test_members_of_a_bond(judge):
    assert statuses(judge(bonded_host()), "bond_members_alike") == ["pass"]
    results = judge(bonded_host(first={"pause": (False, True, False)}))
    assert statuses(results, "bond_members_alike") == ["fail"]
    assert "rx on, tx off" in results["bond_members_alike"][0].why
    assert statuses(judge(bonded_host(second={"mtu": 9000})), "bond_members_alike") == ["fail"]
    assert statuses(judge(bonded_host(up=(True, False))), "bond_members_alike") == ["warn"]
    assert statuses(judge(storage_host()), "bond_members_alike") == ["skip"]


def test_a_rule_for_one_member_reads_them_all(judge):
    host = Host().nic("ens8").nic("ens10", driver="e1000", own="52:54:00:0a:00:02")
    host.bond("bond0", lacp(("ens8", True), ("ens10", True)), "ens8", "ens10")
    rule = [{"name": "ens8", "rx": True, "tx": True}]
    results = judge(host, rules=rule)
    assert statuses(results, "bond_members_alike") == ["pass"]
    assert "ens10: rx on, tx on" in results["bond_members_alike"][0].running
    results = judge(Host().nic("ens8").bond("bond0", lacp(("ens8", True)), "ens8"), rules=rule)
    assert "It has only one member" in results["bond_members_alike"][0].why


def given(**port: Any) -> list[dict[str, Any]]:
    return [{"address": FILER, "ports": [{"name": "e0a", "rx": True, "tx": True, **port}]}]


def test_a_slower_host_than_its_filer(judge):
    results = judge(storage_host(speed=100), filers=given(speed=1000))
    assert statuses(results, "path_speed") == ["warn"]
    assert results["path_speed"][0].why.startswith("Host 100 Mb/s, filer 1000 Mb/s: what the filer")
    assert statuses(judge(storage_host(), filers=given(speed=1000)), "path_speed") == ["pass"]
    assert statuses(judge(storage_host()), "path_speed") == ["skip"]
    assert statuses(judge(storage_host(), filers=given()), "path_speed") == ["skip"]


def test_a_filer_is_known_by_its_name_too(judge):
    host = storage_host(speed=100).command("getent ahosts filer1", f"{FILER}      STREAM filer1\n")
    named = [{"address": "filer1", "ports": [{"name": "e0a", "rx": True, "tx": True}]}]
    named[0]["ports"][0]["speed"] = 1000  # type: ignore[index]
    results = judge(host, filers=named)
    assert statuses(results, "path_speed") == ["warn"]
    assert statuses(results, "filer_port") == ["warn"]
    del host.commands["getent ahosts filer1"]
    host.evidence.clear()
    results = judge(host, filers=named)
    assert statuses(results, "filer_port") == ["error"]
    assert "filer1 has no address" in results["filer_port"][0].why


def test_an_address_may_be_written_in_many_ways(judge):
    host = Host().nic("ens4").mounts("ens4", address="2001:db8::50")
    port = {"name": "e0a", "rx": True, "tx": True, "speed": 1000}
    results = judge(host, filers=[{"address": "2001:DB8:0:0::50", "ports": [port]}])
    assert statuses(results, "path_speed") == ["pass"]


def test_a_filer_that_no_path_leads_to_is_not_asked(judge):
    host = storage_host()
    results = judge(host, filers=[{"address": "192.0.2.99"}, *given(speed=1000)])
    assert statuses(results, "filer_port") == ["warn", "skip"]
    assert "No path to it is known" in results["filer_port"][1].why
    assert not any("192.0.2.99" in key for key in host.evidence)


def test_mtu_along_the_path(judge):
    # Two ends agree on the smaller: the MSS of TCP.
    assert statuses(judge(storage_host(mtu=9000), filers=given(mtu=1500)), "path_mtu") == ["warn"]
    # The ports of a switch that nobody asked may take less.
    results = judge(storage_host(mtu=9000), filers=given(mtu=9000))
    assert statuses(results, "path_mtu") == ["skip"]
    assert f"not the switch port of ens4, the switch port of {FILER}" in results["path_mtu"][0].why
    assert statuses(judge(storage_host(mtu=9000)), "path_mtu") == ["skip"]
    assert statuses(judge(storage_host()), "path_mtu") == ["pass"]
    learned = storage_host(mtu=9000)
    learned.command(
        f"ip -o route get {FILER}", f"{FILER} dev ens4 src 192.0.2.1 uid 0 \\    cache mtu 1400 "
    )
    assert statuses(judge(learned, filers=given(mtu=9000)), "path_mtu") == ["warn"]


PING = f"ping -n -q -c 2 -i 0.2 -W 1 -M do -s {{}} {FILER}"
ARRIVED = "2 packets transmitted, 2 received, 0% packet loss, time 201ms\n"
LOST = "2 packets transmitted, 0 received, 100% packet loss, time 201ms\n"
REFUSED = f"From {FILER} icmp_seq=1 Frag needed and DF set (mtu = 1500)\n" + LOST
LOCAL = "ping: local error: message too long, mtu=1500\n" + LOST


@cases(
    "large small status words",
    (ARRIVED, "", "pass", "frames of 9000 arrive"),
    ("2 packets transmitted, 1 received, 50% packet loss\n", "", "pass", "frames of 9000"),
    (LOST, ARRIVED, "fail", "do not arrive"),
    (REFUSED, "", "fail", "1500 is the maximum on the path"),
    (LOCAL, "", "fail", "1500 is the maximum on the path"),
    (LOST, LOST, "skip", "Only this end is known"),
    ("", "", "skip", "Only this end is known"),
)
def test_frames_that_may_not_be_cut_are_the_proof(judge, large, small, status, words):
    host = storage_host(mtu=9000).command(PING.format(8972), large, 0 if large == ARRIVED else 1)
    host.command(PING.format(56), small, 0 if small == ARRIVED else 1)
    (results,) = judge(host)["path_mtu"]
    assert results.status == status and words in f"{results.running} {results.why}"


def test_nobody_pings_for_what_every_port_takes(judge):
    host = storage_host()
    judge(host)
    assert not [key for key in host.evidence if "ping" in key]


def test_ipv6_has_a_longer_header():
    argv = large_frames.argv("fd00::5", 9000 - 48)
    host = Machine().command(" ".join(argv), ARRIVED)
    assert large_frames.ping_full_mtu(host, "fd00::5", 9000).passed


# -- what was counted -----------------------------------------------------------------------------


def test_pause_frames_by_direction(judge):
    quiet = {"rx_flow_control_xoff": 7, "tx_flow_control_xoff": 9, "rx_missed_errors": 3}
    host = storage_host().counted("ens4", quiet, quiet)
    finding = judge(host)
    assert statuses(finding, "pause_frames") == ["pass"] and statuses(finding, "drops") == ["pass"]
    host = storage_host().counted("ens4", quiet, quiet | {"tx_flow_control_xoff": 20})
    why = judge(host)["pause_frames"][0].why
    assert "This host sent 11 PAUSE frames (tx)" in why and "rx" not in why.replace("(tx)", "")
    host = storage_host().counted("ens4", quiet, quiet | {"rx_flow_control_xoff": 8})
    assert "This host received 1 PAUSE frames (rx)" in judge(host)["pause_frames"][0].why


def test_the_limit_of_pause_frames_and_drops(judge):
    before = {"rx_flow_control_xoff": 0, "tx_flow_control_xoff": 0, "rx_missed_errors": 0}
    after = {"rx_flow_control_xoff": 5, "tx_flow_control_xoff": 0, "rx_missed_errors": 5}
    for limit, status in ((5, "pass"), (4, "warn")):
        host = storage_host().counted("ens4", before, after)
        results = judge(host, pause_frames_limit=limit, drops_limit=limit)
        assert statuses(results, "pause_frames") == [status]
        assert statuses(results, "drops") == [status]


@cases(
    "driver counter other",
    ("virtio_net", "rx_queue_1_drops", "rx_queue_1_packets"),
    ("virtio_net", "rx_drops", "rx_queue_0_kicks"),
    ("ena", "bw_in_allowance_exceeded", "queue_0_rx_cnt"),
    ("ena", "pps_allowance_exceeded", "tx_timeout"),
    ("vmxnet3", "pkts rx OOB", "ucast pkts rx"),
)
def test_a_pass_on_a_virtual_interface_needs_a_counter_that_could_fail(
    judge, driver, counter, other
):
    """The counters of the kernel stay at 0 there, whatever the driver or the hypervisor drops."""
    path = "file:/sys/class/net/ens4/statistics/rx_missed_errors"
    for before, after, status in (
        ({counter: 4, other: 1}, {counter: 4, other: 9}, "pass"),
        ({counter: 4, other: 1}, {counter: 5, other: 9}, "warn"),
        ({other: 1}, {other: 9}, "skip"),
    ):
        host = storage_host(driver=driver).counted("ens4", before, after)
        host.sampled("pause", path, "0", "0")
        assert statuses(judge(host), "drops") == [status]
    host = storage_host(driver=driver).counted("ens4", {other: 1}, {other: 9})
    host.sampled("pause", path, "0", "7")
    assert statuses(judge(host), "drops") == ["warn"]


def test_a_virtual_function_that_counts_no_drop(judge):
    host = storage_host(driver="ixgbevf").counted("ens4", {"rx_packets": 1}, {"rx_packets": 9})
    host.sampled("pause", "file:/sys/class/net/ens4/statistics/rx_missed_errors", "0", "0")
    assert statuses(judge(host), "drops") == ["skip"]


def test_counters_that_began_anew_are_no_drops(judge):
    before = {"rx_flow_control_xoff": 5, "tx_flow_control_xoff": 5, "rx_missed_errors": 5}
    results = judge(storage_host().counted("ens4", before, dict.fromkeys(before, 0)))
    assert statuses(results, "pause_frames") == ["error"]
    assert statuses(results, "drops") == ["error"]


def test_one_counter_that_began_anew_is_no_pass(judge):
    before = {"rx_flow_control_xoff": 5, "tx_flow_control_xoff": 5, "rx_missed_errors": 5}
    before["rx_no_buffer_count"] = 0
    results = judge(storage_host().counted("ens4", before, before | {"tx_flow_control_xoff": 0}))
    assert statuses(results, "pause_frames") == ["error"]
    assert "were reset in the time window (tx_flow_control_xoff)" in results["pause_frames"][0].why
    assert statuses(results, "drops") == ["pass"]
    results = judge(storage_host().counted("ens4", before, before | {"rx_missed_errors": 0}))
    assert statuses(results, "pause_frames") == ["pass"] and statuses(results, "drops") == ["error"]
    # What is too much is told all the same.
    after = before | {"rx_missed_errors": 0, "rx_no_buffer_count": 9, "tx_flow_control_xoff": 9}
    results = judge(storage_host().counted("ens4", before, after | {"rx_flow_control_xoff": 0}))
    assert statuses(results, "drops") == ["warn"] and statuses(results, "pause_frames") == ["warn"]


def test_a_direction_that_is_not_counted_is_no_pass(judge):
    quiet = {"rx_flow_control_xoff": 5, "rx_missed_errors": 5}
    results = judge(storage_host().counted("ens4", quiet, quiet))
    assert statuses(results, "pause_frames") == ["skip"]
    assert "does not count tx; rx 0" in results["pause_frames"][0].why


def test_a_driver_that_counts_no_pause(judge):
    host = storage_host(driver="r8169").counted("ens4", {"rx_missed": 0}, {"rx_missed": 0})
    assert statuses(judge(host), "pause_frames") == ["skip"]


def test_without_a_sample_nothing_is_counted(judge):
    results = judge(storage_host(), window_seconds=0)
    assert statuses(results, "pause_frames") == ["skip"] and statuses(results, "drops") == ["skip"]


def test_priority_flow_control_is_left_alone(judge):
    host = storage_host(driver="mlx5_core")
    host.command("dcb pfc show dev ens4 prio-pfc", fixture("dcb-pfc.txt"))
    results = judge(host, rules=OFF)
    for check in ("priority_flow_control", "configured", "negotiated", "persisted"):
        assert statuses(results, check) == ["skip"], check
    assert "hands off" in results["configured"][0].why
    host = storage_host()
    host.command("dcb pfc show dev ens4 prio-pfc", fixture("dcb-pfc.txt").replace(":on", ":off"))
    assert statuses(judge(host), "priority_flow_control") == ["pass"]
    counters = {"rx_prio3_pause": 0, "tx_prio3_pause": 4, "rx_pause_ctrl_phy": 0}
    host = storage_host(driver="mlx5_core").counted("ens4", counters, counters)
    assert statuses(judge(host, rules=OFF), "configured") == ["skip"]


def test_no_tool_for_priorities_is_no_pass(judge):
    assert statuses(judge(storage_host()), "priority_flow_control") == ["skip"]


# -- the rest -------------------------------------------------------------------------------------


def test_a_record_gives_the_same_findings():
    host = bonded_host()
    first = audit.judge_host(host, {"flow_control": policy()})
    assert first == audit.judge_host(RecordedHost(host.evidence), {"flow_control": policy()})


def test_another_system_is_skipped(judge):
    results = judge(Host().remove("/proc/self/mountinfo").command("uname -s", "HP-UX\n"))
    assert {finding.status for findings in results.values() for finding in findings} == {"skip"}
    assert "HP-UX" in results["configured"][0].why


@cases(
    "changes words",
    ({"rules": "yes"}, "flow_control_rules must be auto or a list"),
    ({"rules": [{"rx": True}]}, "one or more of role, name, driver, bond"),
    ({"rules": [{"role": "backup"}]}, "must be one of storage, interconnect, public"),
    ({"rules": [{"role": "storage", "rx": "yes"}]}, "rx must be one of on, off, keep"),
    ({"rules": [{"role": "storage", "autoneg": "match_peer"}]}, "autoneg must be one of"),
    ({"rules": [{"role": "storage", "speed": 1}]}, "has a rule with role, speed"),
    ({"interconnect": ["10.0.0.0/99"]}, "flow_control_interconnect"),
    ({"switches": [{"port": 161}]}, "flow_control_switches needs address"),
    ({"switches": [{"address": "sw1", "credentials": "x"}]}, "does not have its name"),
    ({"filers": [{"address": "f", "ports": [{"name": "a", "rx": True}]}]}, "rx and tx of a"),
    ({"filers": [{"address": "f", "ports": [{"name": "a", "mtu": "big"}]}]}, "mtu must be"),
    ({"link_wait_seconds": 1}, "flow_control_link_wait_seconds"),
    ({"snmp_credentials": {"default": {"version": 9}}}, "flow_control_snmp_credentials"),
)
def test_a_policy_that_cannot_be_used(changes, words):
    with pytest.raises(PolicyError, match=words):
        flow_control.policy_from(policy(**changes))


def test_yaml_makes_truth_values_of_on_and_off():
    texts = flow_control.policy_from(policy(rules=[{"role": "storage", "rx": "on", "tx": "off"}]))
    values = flow_control.policy_from(policy(rules=[{"role": "storage", "rx": True, "tx": False}]))
    assert texts.rules == values.rules


def test_ethtool_that_says_nothing_sensible_is_an_error(judge):
    host = storage_host().command("ethtool -a ens4", pause_text("ens4", True, True, True)[:40])
    assert statuses(judge(host), "configured") == ["error"]
