"""The control interconnect: every check in every status, from stories of a node."""

import re

import pytest
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.registry import CONTROLS, planner
from ansible.module_utils.hostproof.errors import BadEntry
from ansible.module_utils.hostproof.evaluate import audit
from cases import cases
from interconnect_packs import CLASS, GETIF, GRID, NETWORKS, PEER, Node, policy
from oracle_packs import spfile_text
from packs import HOME, RECORDED_AT, Machine, Output

PEERS = [{"address": PEER}]
LACP = "IEEE 802.3ad Dynamic link aggregation"
BACKUP = "fault-tolerance (active-backup)"


def judged(machine, **changes):
    findings = audit.judge_host(machine, {"interconnect": policy(**changes)})
    assert {finding.check for finding in findings} == {
        check.id for check in CONTROLS["interconnect"].checks
    }
    return findings


def one_of(machine, name, **changes):
    (finding,) = [one for one in judged(machine, **changes) if one.check == f"interconnect.{name}"]
    return finding


class TestWhichDevices:
    def test_clusterware_says_which(self):
        finding = one_of(Node(), "mtu")
        assert (finding.status, finding.values) == ("skip", {"mtu": 9000})
        assert finding.title.startswith("eth1: ")

    def test_where_nobody_says_nothing_is_judged(self):
        alone = Node()
        alone.running.clear()
        findings = judged(alone)
        assert {finding.status for finding in findings} == {"skip"}
        assert all("interconnect_interfaces is not set" in finding.why for finding in findings)

    def test_another_system_is_no_host_for_it(self):
        assert {finding.status for finding in judged(Machine(), interfaces=["eth1"])} == {"skip"}

    def test_an_interface_that_is_not_there_is_an_error_of_all(self):
        findings = judged(Node(), interfaces=["eth7"])
        assert {finding.status for finding in findings} == {"error"}
        assert "interconnect_interfaces names eth7" in findings[0].why

    def test_clusterware_that_does_not_answer_is_an_error(self):
        silent = Node().command(GETIF, "PRIF-10: failed to initialize the cluster registry\n", 1)
        assert {finding.status for finding in judged(silent)} == {"error"}

    def test_an_interface_of_clusterware_that_is_not_there_is_an_error_of_all(self):
        findings = judged(Node().command(GETIF, NETWORKS.replace("eth1", "eth9")))
        assert {finding.status for finding in findings} == {"error"}
        assert "this host has no eth9" in findings[0].why

    def test_a_network_names_the_devices_in_it(self):
        node = Node()
        node.command("ip -o addr show", "3: eth1    inet 192.168.10.1/24 scope global eth1\n")
        assert one_of(node, "mtu", interfaces=["192.168.10.0/24"]).title.startswith("eth1: ")


class TestMtu:
    @cases("wanted status", (9000, "pass"), (1500, "fail"), (8999, "fail"))
    def test_it_is_that_of_the_policy(self, wanted, status):
        finding = one_of(Node(), "mtu", mtu=wanted)
        assert finding.status == status
        # A node with another MTU than its peers loses their frames.
        assert ("down on all nodes" in (finding.fix or "")) == (status == "fail")

    @cases("other status", (9000, "pass"), (1500, "warn"))
    def test_without_one_all_devices_agree(self, other, status):
        findings = judged(Node().device("eth2", other), interfaces=["eth1", "eth2"])
        statuses = {finding.status for finding in findings if finding.check == "interconnect.mtu"}
        assert statuses == {status}

    def test_what_cannot_be_read_is_an_error(self):
        assert one_of(Node().deny(f"{CLASS}/eth1/mtu"), "mtu", mtu=9000).status == "error"


def addressed(*pairs):
    """Each (name, address) beside what Clusterware and the kernel give by themselves."""
    node = Node().device("eth2", 9000)
    lines = [f"3: {name}    inet {address} scope global {name}" for name, address in pairs]
    for name in ("eth1", "eth2"):
        lines.append(f"3: {name}    inet 169.254.7.9/16 scope global {name}:1")
        lines.append(f"3: {name}    inet6 fe80::1/64 scope link")
    return node.command("ip -o addr show", "\n".join(lines) + "\n")


class TestJumboFrames:
    @cases("mtu status", (1500, "warn"), (1501, "pass"), (9000, "pass"))
    def test_frames_are_larger_than_the_standard(self, mtu, status):
        assert one_of(Node().device("eth1", mtu), "jumbo_frames").status == status

    def test_an_mtu_of_the_policy_is_the_decision(self):
        assert one_of(Node().device("eth1", 1500), "jumbo_frames", mtu=1500).status == "skip"

    def test_an_unknown_mtu_is_an_error(self):
        assert one_of(Node().deny(f"{CLASS}/eth1/mtu"), "jumbo_frames").status == "error"


class TestArp:
    def test_a_usual_interface(self):
        finding = one_of(Node(), "arp")
        assert finding.status == "pass"
        assert finding.running == "ARP, BROADCAST, MULTICAST; arp_ignore 0"

    @cases(
        "flags problem command",
        (0x10C3, "NOARP is set", "ip link set dev eth1 arp on"),
        (0x43, "MULTICAST is not set", "ip link set dev eth1 multicast on"),
        (0x1041, "BROADCAST is not set", None),
    )
    def test_a_flag_that_stops_the_search_for_nodes(self, flags, problem, command):
        finding = one_of(Node().flags("eth1", flags), "arp")
        assert (finding.status, finding.why) == ("fail", f"{problem}.")
        assert list(finding.commands) == ([command] if command else [])

    @cases("device status", ("all", "fail"), ("eth1", "fail"))
    def test_arp_ignore_is_the_larger_of_both_values(self, device, status):
        node = Node().arp_ignore("all", 1).arp_ignore("eth1", 2)
        assert one_of(node, "arp").status == "pass"
        node.evidence.clear()
        assert one_of(node.arp_ignore(device, 8), "arp").status == status

    @cases("text", "", "up\n", "0x\n")
    def test_flags_that_are_no_number_are_an_error(self, text):
        assert one_of(Node().file(f"{CLASS}/eth1/flags", text), "arp").status == "error"


class TestPublicRedundancy:
    def test_one_card(self):
        finding = one_of(Node(), "public_redundancy")
        assert (finding.status, finding.why) == ("warn", "eth0 uses eth0 only.")

    def test_a_bond_of_two_cards(self):
        node = Node().device("eth2", 1500)
        node.folder(f"{CLASS}/bond1", f"{CLASS}/bond1/lower_eth0", f"{CLASS}/bond1/lower_eth2")
        node.command(GETIF, NETWORKS.replace("eth0", "bond1"))
        finding = one_of(node, "public_redundancy")
        assert (finding.status, finding.running) == ("pass", "bond1 on eth0 and eth2")

    @cases(
        "down status says",
        ([], "pass", ""),
        (["eth2"], "warn", "bond1 uses eth0 only."),
        (["eth0", "eth2"], "warn", "bond1 uses no card that is up."),
    )
    def test_a_bond_with_a_card_that_is_down(self, down, status, says):
        node = Node().device("eth2", 1500)
        node.folder(f"{CLASS}/bond1", f"{CLASS}/bond1/lower_eth0", f"{CLASS}/bond1/lower_eth2")
        node.command(GETIF, NETWORKS.replace("eth0", "bond1"))
        for card in ("eth0", "eth2"):
            node.file(f"{CLASS}/{card}/operstate", "down\n" if card in down else "up\n")
        finding = one_of(node, "public_redundancy")
        assert finding.status == status
        assert status == "pass" or finding.why == says

    def test_no_public_network_is_known(self):
        node = Node().command(GETIF, NETWORKS.splitlines(keepends=True)[1])
        assert one_of(node, "public_redundancy").status == "skip"

    def test_a_name_that_no_interface_can_have_is_an_error(self):
        node = Node().command(GETIF, NETWORKS.replace("eth0", "../eth0"))
        assert one_of(node, "public_redundancy").status == "error"


class TestSubnets:
    @cases(
        "first second status",
        ("192.168.10.1/24", "192.168.11.1/24", "pass"),
        ("192.168.10.1/24", "192.168.10.2/24", "fail"),
        ("192.168.10.1/24", "192.168.11.1/16", "fail"),
        ("2001:db8:1::1/64", "2001:db8:1::2/64", "fail"),
        ("192.168.10.1/24", "2001:db8:1::2/64", "pass"),
    )
    def test_each_has_a_network_of_its_own(self, first, second, status):
        node = addressed(("eth1", first), ("eth2", second))
        assert one_of(node, "subnets", interfaces=["eth1", "eth2"]).status == status

    def test_two_addresses_of_one_interface_are_no_matter(self):
        pairs = [("eth1", "192.168.10.1/24"), ("eth1", "192.168.10.5/24")]
        node = addressed(*pairs, ("eth2", "192.168.11.1/24"))
        assert one_of(node, "subnets", interfaces=["eth1", "eth2"]).status == "pass"

    def test_one_without_an_address(self):
        finding = one_of(
            addressed(("eth1", "192.168.10.1/24")), "subnets", interfaces=["eth1", "eth2"]
        )
        assert (finding.status, finding.why) == ("warn", "eth2 has no address.")

    def test_one_alone_needs_none(self):
        assert one_of(Node(), "subnets").status == "skip"

    def test_addresses_that_cannot_be_read_are_an_error(self):
        node = Node().device("eth2", 9000).command("ip -o addr show", "", 1)
        assert one_of(node, "subnets", interfaces=["eth1", "eth2"]).status == "error"


class TestRedundancy:
    def test_one_card(self):
        finding = one_of(Node(), "redundancy")
        assert (finding.status, finding.why) == ("warn", "All of its packets use eth1.")

    def test_two_private_interfaces(self):
        finding = one_of(Node().device("eth2", 9000), "redundancy", interfaces=["eth1", "eth2"])
        assert (finding.status, finding.running) == ("pass", "eth1, eth2")

    @cases("state status", ("up", "pass"), ("unknown", "pass"), ("down", "warn"))
    def test_one_of_two_private_interfaces_is_down(self, state, status):
        node = Node().device("eth2", 9000).file(f"{CLASS}/eth2/operstate", f"{state}\n")
        finding = one_of(node, "redundancy", interfaces=["eth1", "eth2"])
        assert finding.status == status and ("Down: eth2." in finding.why) == (status == "warn")
        readings = {key: node.evidence[key] for key in node.evidence if "operstate" not in key}
        before = one_of(RecordedHost(readings), "redundancy", interfaces=["eth1", "eth2"])
        assert before.status == "pass"

    def test_a_state_that_may_not_be_read_is_an_error(self):
        node = Node().device("eth2", 9000).deny(f"{CLASS}/eth2/operstate")
        assert one_of(node, "redundancy", interfaces=["eth1", "eth2"]).status == "error"

    def test_a_bond(self):
        node = Node().bonded("active-backup", BACKUP, 100)
        assert one_of(node, "redundancy").status == "warn"
        node.device("eth2", 9000).folder(f"{CLASS}/bond0/lower_eth2")
        node.evidence.clear()
        finding = one_of(node, "redundancy")
        assert (finding.status, finding.running) == ("pass", "bond0 on eth1 and eth2")

    @cases("state status", ("up", "pass"), ("down", "warn"))
    @cases("is_vlan", False, True)
    def test_a_bond_with_a_member_that_is_down(self, state, status, is_vlan):
        node = Node().bonded("active-backup", BACKUP, 100).device("eth2", 9000)
        node.folder(f"{CLASS}/bond0/lower_eth2").link(f"{CLASS}/eth2/master", f"{CLASS}/bond0")
        shown = node.files["/proc/net/bonding/bond0"]
        shown += f"\nSlave Interface: eth2\nMII Status: {state}\nSpeed: Unknown\n"
        node.file("/proc/net/bonding/bond0", shown)
        if is_vlan:
            node.folder(f"{CLASS}/bond0.7", f"{CLASS}/bond0.7/lower_bond0")
        finding = one_of(node, "redundancy", interfaces=["bond0.7" if is_vlan else "bond0"])
        assert finding.status == status
        assert (finding.why == "All of its packets use eth1. Down: eth2.") == (status == "warn")
        node.deny("/proc/net/bonding/bond0").evidence.clear()
        assert one_of(node, "redundancy", interfaces=["bond0"]).status == "error"

    def test_two_vlans_of_one_card(self):
        node = Node()
        for name in ("eth1.7", "eth1.8"):
            node.folder(f"{CLASS}/{name}", f"{CLASS}/{name}/lower_eth1")
            node.file(f"{CLASS}/{name}/mtu", "9000\n").value(name, 0)
        finding = one_of(node, "redundancy", interfaces=["eth1.7", "eth1.8"])
        assert (finding.status, finding.why) == ("warn", "All of its packets use eth1.")

    def test_a_bridge_without_a_card(self):
        node = Node().folder(f"{CLASS}/br1", f"{CLASS}/br1/lower_veth1", f"{CLASS}/veth1")
        node.file(f"{CLASS}/br1/mtu", "9000\n").value("br1", 0)
        assert one_of(node, "redundancy", interfaces=["br1"]).status == "skip"

    def test_a_device_that_cannot_be_read_is_an_error(self):
        assert one_of(Node().deny(f"{CLASS}/eth1"), "redundancy").status == "error"


BOTH = NETWORKS + "eth2  192.168.20.0  global  cluster_interconnect,asm\n"
TWO = """\
2: eth0    inet 192.0.2.10/24 brd 192.0.2.255 scope global eth0
3: eth1    inet 192.168.10.1/24 brd 192.168.10.255 scope global eth1
4: eth2    inet 192.168.20.1/24 brd 192.168.20.255 scope global eth2
"""


def two_networks(running="", stored=""):
    """Two private interfaces, and an instance with its cluster_interconnects."""
    node = Node().device("eth2", 9000).command(GETIF, BOTH).command("ip -o addr show", TWO)
    node.account("oracle", 54321, "oinstall")
    node.instance("RAC1").file("/etc/oratab", f"RAC1:{HOME}:N\n")
    entries = [("*", "cluster_interconnects", stored)] if stored else []
    return node.parameters("RAC1", {"cluster_interconnects": running}, *entries)


class TestInstances:
    """cluster_interconnects replaces what Clusterware gives (Database Reference)."""

    @cases(
        "running stored status layer",
        ("", "", "pass", None),
        ("192.168.10.1", "192.168.10.1", "warn", "running"),
        ("192.168.20.1", "192.168.20.1", "warn", "running"),
        # Several share the load, and none takes over.
        ("192.168.10.1:192.168.20.1", "192.168.10.1:192.168.20.1", "warn", "running"),
        ("", "192.168.10.1", "warn", "persisted"),
        ("192.168.10.1", "", "warn", "running"),
    )
    def test_an_address_without_another_card(self, running, stored, status, layer):
        finding = one_of(two_networks(running, stored), "redundancy")
        assert (finding.status, finding.failing_layer) == (status, layer)
        if status == "warn":
            assert "RAC1 uses " in finding.why
            reset = "ALTER SYSTEM RESET cluster_interconnects SCOPE=SPFILE SID='*'"
            assert (reset in finding.fix) == bool(stored)
            assert ("restart RAC1" in finding.fix) == bool(running)

    @cases(
        "running stored status layer",
        # Clusterware moves an address of HAIP to another card, and assigns it at each start.
        ("169.254.12.7", "", "pass", None),
        ("169.254.12.7:169.254.40.7", "", "pass", None),
        ("169.254.12.7", "169.254.12.7", "warn", "persisted"),
        ("", "169.254.12.7", "warn", "persisted"),
        ("169.254.12.7:192.168.10.1", "", "warn", "running"),
        # The next start does not find the address.
        ("", "192.168.99.1", "fail", "persisted"),
        ("", "192.168.10.1:192.168.99.1", "fail", "persisted"),
    )
    def test_an_address_that_clusterware_assigns_or_that_is_gone(
        self, running, stored, status, layer
    ):
        """My Oracle Support 1210883.1; Database Reference, CLUSTER_INTERCONNECTS."""
        node = two_networks(running, stored)
        node.command("ip -o addr show", TWO + "3: eth1    inet 169.254.12.7/19 scope global eth1:1")
        finding = one_of(node, "redundancy")
        assert (finding.status, finding.failing_layer) == (status, layer)

    def test_addresses_that_are_not_known_decide_nothing(self):
        node = two_networks("192.168.10.1", "192.168.10.1").command("ip -o addr show", "", rc=1)
        assert one_of(node, "redundancy").status == "error"
        finding = one_of(two_networks().command("ip -o addr show", "", rc=1), "redundancy")
        assert finding.status == "pass"

    def test_an_address_on_a_bond_of_two_cards(self):
        node = two_networks("192.168.10.1", "192.168.10.1")
        node.folder(f"{CLASS}/bond0", f"{CLASS}/bond0/lower_eth1", f"{CLASS}/bond0/lower_eth2")
        node.device("bond0", 9000).folders.discard(f"{CLASS}/bond0/device")
        node.command(GETIF, NETWORKS.replace("eth1", "bond0"))
        node.command("ip -o addr show", TWO.replace("eth1", "bond0").replace("4: eth2", "4: lo"))
        assert one_of(node, "redundancy").status == "pass"

    def test_an_instance_that_does_not_answer(self):
        node = two_networks()
        node.command("sqlplus RAC1: release and parameters", "ORA-01034: not available\n", 1)
        assert one_of(node, "redundancy").status == "error"

    @cases(
        "entries statuses",
        # A database that is down, by its text file; None: it may not be read.
        (None, ("error", "error")),
        ("", ("pass", "pass")),
        ("*.cluster_interconnects='192.168.10.1'", ("warn", "pass")),
        ("RAC9.cluster_interconnects='192.168.10.1:192.168.20.1'", ("warn", "pass")),
        ("RAC8.cluster_interconnects='192.168.10.1'", ("pass", "pass")),
        ("RAC9.CLUSTER_INTERCONNECTS=192.168.20.1", ("warn", "pass")),
        ("cluster_interconnects='192.0.2.10'", ("warn", "fail")),
        ("*.cluster_interconnects=192.0.2.10\nRAC9.cluster_interconnects=''", ("pass",) * 2),
    )
    def test_a_database_that_is_down(self, entries, statuses):
        node = two_networks().file("/etc/oratab", f"RAC1:{HOME}:N\nRAC9:{HOME}:N\n")
        path = f"{HOME}/dbs/initRAC9.ora"
        node.folder(HOME, f"{HOME}/dbs").command(f"stat -L -c %U {HOME}/bin/sqlplus", "oracle\n")
        node.command(f"sqlplus -V of {HOME}", "SQL*Plus: Release 19.0.0.0.0 - Production\n")
        node.command(
            f"ls -Lin {HOME}/dbs/", "1 -rw-r----- 1 54321 54321 9 Nov 20 10:00 initRAC9.ora\n"
        )
        node.file(path, "*.db_name='RAC'\n" + (entries or "") + "\n")
        if entries is None:
            node.deny(path)
        found = [one_of(node, check) for check in ("redundancy", "separate")]
        assert tuple(one.status for one in found) == statuses, [one.why for one in found]

    @cases(
        "name stored statuses",
        ("spfileRAC9.ora", ("*", "192.168.10.1"), ("warn", "pass")),
        ("spfileRAC9.ora", ("RAC9", "192.0.2.10"), ("warn", "fail")),
        ("spfileRAC9.ora", ("RAC8", "192.0.2.10"), ("pass", "pass")),
        # Clusterware lists the database, and the file is that of its instance here.
        ("spfileDB1.ora", ("DB1", "192.168.10.1"), ("warn", "pass")),
        ("initDB1.ora", ("DB1", "192.168.10.1"), ("warn", "pass")),
        # Files of two instances: which one starts here is not known.
        ("spfileDB1.ora spfileDB2.ora", ("*", "192.168.10.1"), ("error", "error")),
        ("initDB1.ora spfileDB2.ora", ("*", "192.168.10.1"), ("error", "error")),
    )
    def test_the_file_of_one_instance_of_a_database_that_is_down(self, name, stored, statuses):
        node = two_networks()
        listed = "DB" if "DB" in name else "RAC9"
        node.file("/etc/oratab", f"RAC1:{HOME}:N\n{listed}:{HOME}:N\n").folder(HOME, f"{HOME}/dbs")
        node.command(f"stat -L -c %U {HOME}/bin/sqlplus", "oracle\n")
        node.command(f"sqlplus -V of {HOME}", "SQL*Plus: Release 19.0.0.0.0 - Production\n")
        rows = "".join(
            f"1 -rw-r----- 1 54321 54321 9 Nov 20 10:00 {each}\n" for each in name.split()
        )
        node.command(f"ls -Lin {HOME}/dbs/", rows)
        sid, value = stored
        for each in name.split():
            text = f"{sid}.cluster_interconnects='{value}'\n"
            if each.startswith("spfile"):
                text = spfile_text(((sid, "cluster_interconnects", f"'{value}'"),))
            node.file(f"{HOME}/dbs/{each}", text)
        found = [one_of(node, check) for check in ("redundancy", "separate")]
        assert tuple(one.status for one in found) == statuses, [one.why for one in found]

    @cases(
        "address running stored status layer fix",
        ("192.0.2.10", True, True, "fail", "running", "then restart RAC1"),
        ("192.0.2.10", False, True, "fail", "persisted", "SID='*'"),
        ("192.0.2.10", True, False, "fail", "running", "restart RAC1"),
        # Neither public nor private.
        ("10.5.5.1", True, True, "warn", "running", "then restart RAC1"),
        ("10.5.5.1:192.0.2.10", True, True, "fail", "running", "then restart RAC1"),
    )
    def test_an_address_of_another_interface(self, address, running, stored, status, layer, fix):
        node = two_networks(address if running else "", address if stored else "")
        node.command("ip -o addr show", TWO + "5: eth3    inet 10.5.5.1/24 scope global eth3\n")
        finding = one_of(node, "separate")
        assert (finding.status, finding.failing_layer) == (status, layer)
        assert "cluster_interconnects of RAC1 is " in finding.why and finding.fix.endswith(fix)


class TestOneUnknownHidesNoOther:
    """A reading that failed leaves what the others show."""

    def test_mtu(self):
        node = two_networks().device("eth3", 9000).device("eth2", 1500)
        node.command(GETIF, BOTH + "eth3  192.168.30.0  global  cluster_interconnect\n")
        node.deny(f"{CLASS}/eth3/mtu")
        statuses = {f.title[:4]: f.status for f in judged(node) if f.check == "interconnect.mtu"}
        assert statuses == {"eth1": "warn", "eth2": "warn", "eth3": "error"}

    @cases(
        "path status",
        ("/proc/sys/net/ipv4/conf/eth1/arp_ignore", "fail"),
        (f"{CLASS}/eth1/flags", "error"),
    )
    def test_flags_beside_arp_ignore(self, path, status):
        assert one_of(Node().flags("eth1", 0x1083).deny(path), "arp").status == status

    def test_arp_ignore_beside_flags(self):
        node = Node().arp_ignore("eth1", 8).deny(f"{CLASS}/eth1/flags")
        assert one_of(node, "arp").status == "fail"

    def test_a_strict_filter_beside_an_unknown_one(self):
        node = two_networks().value("eth1", 1).deny("/proc/sys/net/ipv4/conf/eth2/rp_filter")
        assert one_of(node, "reverse_path").status == "fail"

    def test_the_mtu_of_this_host_beside_an_unknown_path(self):
        node = Node().way()
        node.measured.clear()
        finding = one_of(node, "end_to_end", peers=[{"address": PEER, "mtu": 9500}])
        assert finding.status == "fail"
        assert "first" not in finding.fix and "then on eth1" in finding.fix


class TestSeparate:
    @cases(
        "networks addresses status",
        (NETWORKS, TWO, "pass"),
        # Field report ic16.
        ("eth1  192.168.10.0  global  public,cluster_interconnect,asm\n", TWO, "fail"),
        (
            "eth1  192.168.10.0  global  public\neth1  192.168.10.0  global  "
            "cluster_interconnect\n",
            TWO,
            "fail",
        ),
        # A private network inside the public one, and the other way round.
        (NETWORKS, TWO.replace("192.0.2.10/24", "192.168.0.10/16"), "fail"),
        (NETWORKS, TWO.replace("192.0.2.10/24", "192.168.10.129/25"), "fail"),
        (NETWORKS, TWO.replace("192.0.2.10/24", "192.168.10.9/24"), "fail"),
        (NETWORKS, TWO.replace("192.168.20.1/24", "192.168.10.2/24"), "fail"),
        (NETWORKS, "", "pass"),
    )
    def test_networks(self, networks, addresses, status):
        node = Node().device("eth2", 9000)
        node.command(GETIF, networks).command("ip -o addr show", addresses)
        assert one_of(node, "separate").status == status

    def test_the_policy_names_the_public_interface(self):
        node = Node().command("ip -o addr show", TWO)
        assert one_of(node, "separate", interfaces=["eth0"]).status == "fail"

    @cases("says status", (True, "pass"), (False, "error"))
    def test_an_instance_whose_parameters_are_not_known(self, says, status):
        node = two_networks()
        if not says:
            del node.commands["sqlplus RAC1: release and parameters"]
        assert one_of(node, "separate").status == status

    def test_addresses_that_cannot_be_read(self):
        assert one_of(Node().command("ip -o addr show", "", 1), "separate").status == "error"


class TestSpeed:
    @cases(
        "text status",
        ("1000", "pass"),
        ("25000", "pass"),
        ("999", "fail"),
        ("100", "fail"),
        ("-1", "skip"),
        ("4294967295", "skip"),
        ("0", "skip"),
        ("x", "error"),
        ("", "error"),
    )
    def test_of_a_card(self, text, status):
        assert one_of(Node().file(f"{CLASS}/eth1/speed", f"{text}\n"), "speed").status == status

    def test_a_card_whose_driver_does_not_report_it(self):
        finding = one_of(Node(), "speed")
        assert (finding.status, finding.why) == ("skip", "Linux does not report the speed of eth1.")

    @cases("problem status", ("Invalid argument", "skip"), ("Input/output error", "error"))
    def test_a_file_that_cannot_be_read(self, problem, status):
        """Linux answers EINVAL where the link is down (net/core/net-sysfs.c, speed_show)."""
        node = Node().file(f"{CLASS}/eth1/speed", "1000\n")
        assert one_of(node, "speed").status == "pass"
        reading = {"kind": "file", "at": RECORDED_AT, "error": "unanswered", "message": problem}
        host = RecordedHost({**node.evidence, f"file:{CLASS}/eth1/speed": reading})
        assert one_of(host, "speed").status == status

    def test_a_slow_card_beside_one_that_is_unknown(self):
        node = Node().bonded("active-backup", BACKUP, 100).device("eth2", 9000)
        node.folder(f"{CLASS}/bond0/lower_eth2").file(f"{CLASS}/eth1/speed", "100\n")
        node.file(f"{CLASS}/eth2/speed", "1000\n").deny(f"{CLASS}/eth2/speed")
        finding = one_of(node, "speed")
        assert (finding.status, finding.running) == ("fail", "eth1 100, eth2 unknown")
        assert finding.values == {"eth1": 100, "eth2": None}
        node.file(f"{CLASS}/eth1/speed", "1000\n").evidence.clear()
        assert one_of(node, "speed").status == "error"

    def test_members_of_a_bond(self):
        node = Node().bonded("active-backup", BACKUP, 100).device("eth2", 9000)
        node.folder(f"{CLASS}/bond0/lower_eth2").file(f"{CLASS}/bond0/speed", "10000\n")
        node.file(f"{CLASS}/eth1/speed", "10000\n")
        assert one_of(node, "speed").status == "skip"
        node.file(f"{CLASS}/eth2/speed", "100\n").evidence.clear()
        finding = one_of(node, "speed")
        assert (finding.status, finding.why) == ("fail", "eth2 has 100 Mb/s.")
        assert finding.running == "eth1 10000, eth2 100"


class TestPrivateAddresses:
    @cases(
        "address status",
        ("192.168.10.1/24", "pass"),
        ("10.255.0.1/8", "pass"),
        ("172.31.255.254/12", "pass"),
        ("fd00:1::1/64", "pass"),
        ("172.32.0.1/16", "warn"),
        ("11.0.0.1/24", "warn"),
        ("2a02:8d8::1/64", "warn"),
    )
    def test_what_the_internet_routes(self, address, status):
        finding = one_of(addressed(("eth1", address), ("eth0", "8.8.4.4/24")), "private_addresses")
        assert finding.status == status
        assert ((finding.why or "") == f"Routable: {address.partition('/')[0]} (eth1).") == (
            status == "warn"
        )

    def test_link_local_addresses_alone(self):
        assert one_of(addressed(), "private_addresses").status == "skip"

    def test_addresses_that_cannot_be_read_are_an_error(self):
        node = Node().command("ip -o addr show", "", 1)
        assert one_of(node, "private_addresses").status == "error"


class TestRegistered:
    PUBLIC = "2: eth0    inet 192.0.2.1/24 scope global eth0\n"

    def found(self, lines, networks=NETWORKS, rc=0):
        node = Node().command("ip -o addr show", self.PUBLIC + lines, rc)
        return one_of(node.command(GETIF, networks), "registered")

    @cases(
        "lines status why",
        ("3: eth1    inet 192.168.10.1/24 scope global eth1", "pass", ""),
        ("3: eth1@if9    inet 192.168.10.1/24 scope global eth1", "pass", ""),
        ("3: eth1    inet 192.168.11.1/24 scope global eth1", "fail", "has 192.168.11.0/24."),
        ("3: eth1    inet 192.168.10.1/16 scope global eth1", "fail", "has 192.168.0.0/16."),
        ("3: eth2    inet 192.168.10.1/24 scope global eth2", "fail", "has no address."),
        ("3: eth1    inet 169.254.1.1/19 scope global eth1:1", "fail", "has no address."),
    )
    def test_subnets(self, lines, status, why):
        finding = self.found(lines + "\n")
        assert (finding.status, (finding.why or "").endswith(why)) == (status, True)
        assert ("eth1 is registered with 192.168.10.0" in (finding.why or "")) == (status == "fail")

    def test_a_network_of_one_node_is_not_judged(self):
        networks = NETWORKS + "eth7  10.1.0.0  rac2  cluster_interconnect\n"
        line = "3: eth1    inet 192.168.10.1/24 scope global eth1\n"
        node = Node().command("ip -o addr show", self.PUBLIC + line).command(GETIF, networks)
        assert one_of(node, "registered", interfaces=["eth1"]).status == "pass"

    @cases("line", "eth1  192.168.10  global  public", "e\x1b[1m  192.168.10.0  global  public")
    def test_what_is_no_network_is_an_error(self, line):
        node = Node().command("ip -o addr show", self.PUBLIC).command(GETIF, line + "\n")
        finding = one_of(node, "registered", interfaces=["eth1"])
        assert (finding.status, "\x1b" in finding.why) == ("error", False)

    def test_a_long_form_of_an_ipv6_subnet(self):
        line = "3: eth1    inet6 2001:db8:1::1/64 scope global\n"
        networks = "eth1  2001:db8:1:0:0:0:0:0  global  cluster_interconnect\n"
        assert self.found(line, networks).status == "pass"

    def test_without_clusterware(self):
        node = Node()
        node.running.clear()
        assert one_of(node, "registered", interfaces=["eth1"]).status == "skip"

    def test_what_is_unknown_is_an_error(self):
        assert self.found("", rc=1).status == "error"
        node = Node().command(GETIF, "", 1)
        assert one_of(node, "registered", interfaces=["eth1"]).status == "error"


class TestBonding:
    def test_a_device_that_stands_on_none(self):
        assert one_of(Node(), "bonding").status == "skip"

    @cases(
        "mode shown miimon status",
        ("active-backup", BACKUP, 100, "pass"),
        ("802.3ad", LACP, 100, "pass"),
        ("balance-rr", "load balancing (round-robin)", 100, "warn"),
        ("active-backup", BACKUP, 0, "fail"),
        ("balance-rr", "load balancing (round-robin)", 0, "fail"),
    )
    def test_mode_and_watch(self, mode, shown, miimon, status):
        finding = one_of(Node().bonded(mode, shown, miimon), "bonding")
        assert (finding.status, finding.values) == (status, {"mode": mode})

    @cases(
        "target status",
        ("ARP IP target/s (n.n.n.n form): 192.168.10.9", "pass"),
        ("NS IPv6 target/s (xx::xx form): fd00::9", "pass"),
        ("ARP IP target/s (n.n.n.n form):", "fail"),
    )
    def test_arp_without_a_target_monitors_nothing(self, target, status):
        node = Node().bonded("active-backup", BACKUP, 0)
        path = "/proc/net/bonding/bond0"
        shown = f"(ms): 0\nARP Polling Interval (ms): 1000\n{target}\n"
        node.file(path, node.files[path].replace("(ms): 0\n", shown))
        assert one_of(node, "bonding").status == status

    def test_the_policy_allows_another_mode(self):
        node = Node().bonded("balance-xor", "load balancing (xor)", 100)
        assert one_of(node, "bonding").status == "warn"
        assert one_of(node, "bonding", bonding_modes=["balance-xor"]).status == "pass"

    def test_a_mode_that_cannot_be_read_is_an_error(self):
        node = Node().bonded("active-backup", BACKUP, 100).deny(f"{CLASS}/bond0/bonding/mode")
        assert one_of(node, "bonding").status == "error"


class TestLoopback:
    @cases("mtu status", (65536, "warn"), (16437, "warn"), (16436, "pass"))
    def test_on_a_node(self, mtu, status):
        finding = one_of(Node().device("lo", mtu), "loopback_mtu")
        assert (finding.status, finding.values) == (status, {"mtu": mtu})

    def test_it_can_be_left_alone(self):
        assert one_of(Node(), "loopback_mtu", loopback_mtu="unmanaged").status == "skip"

    @cases("profile status", ("none", "skip"), ("rac_asm", "warn"))
    def test_without_a_cluster_only_a_profile_asks_for_it(self, profile, status):
        node = Node()
        node.running.clear()
        assert one_of(node, "loopback_mtu", interfaces=["eth1"], profile=profile).status == status


def test_oracle_restart_has_no_interconnect():
    restart = Node().file("/etc/oracle/ocr.loc", "local_only=TRUE\n")
    assert {finding.status for finding in judged(restart)} == {"skip"}
    why = one_of(restart, "loopback_mtu", interfaces=["eth1"]).why
    assert why == "No sign of a cluster was found, and the profile is not one of a node."


class TestEndToEnd:
    def test_nothing_is_sent_unless_it_is_asked_for(self):
        node = Node()
        assert one_of(node, "end_to_end").status == "skip"
        assert "windows:whole packets" not in node.evidence

    def test_packets_and_their_answers_arrive(self):
        finding = one_of(Node().way(), "end_to_end", peers=PEERS)
        assert (finding.status, finding.in_use) == ("pass", "9000 bytes and their answer arrive")
        assert finding.values == {"mtu": 9000}

    def test_a_machine_on_the_way_that_refuses_them_is_named(self):
        node = Node().way(passed=0, hop="192.168.10.254", limit=1500, arrives=1500)
        finding = one_of(node, "end_to_end", peers=PEERS)
        assert finding.status == "fail"
        assert "rejected by 192.168.10.254 (MTU 1500); those of 1500 arrive" in finding.why

    def test_packets_that_vanish_are_told(self):
        finding = one_of(Node().way(passed=0, arrives=1500), "end_to_end", peers=PEERS)
        assert finding.status == "fail" and "lost silently, those of 1500 arrive" in finding.why

    def test_an_answer_in_pieces_is_no_proof_of_the_way_back(self):
        finding = one_of(Node().way(pieces=1500), "end_to_end", peers=PEERS)
        assert finding.status == "fail" and "came in fragments of 1500" in finding.why

    def test_a_kernel_that_does_not_tell_pieces_proves_no_way_back(self):
        node = Node().way(pieces="unknown")
        finding = one_of(node, "end_to_end", peers=PEERS)
        assert finding.status == "error" and "test the path back from there" in finding.why
        node.way(pieces="unknown", passed=0, arrives=1500).evidence.clear()
        assert one_of(node, "end_to_end", peers=PEERS).status == "fail"

    def test_a_silent_peer_is_never_a_pass(self):
        finding = one_of(Node().way(passed=0, arrives=0), "end_to_end", peers=PEERS)
        assert finding.status == "error" and "answers no echo" in finding.why

    def test_a_device_that_takes_less_than_is_wanted(self):
        node = Node().device("eth1", 1500).way(size=1500, arrives=1500)
        finding = one_of(node, "end_to_end", peers=PEERS, mtu=9000)
        assert finding.status == "fail"
        assert "th1 of this host has MTU 1500, required is 9000" in finding.why
        # The peer says otherwise, and counts more.
        smaller = [{"address": PEER, "mtu": 1500}]
        assert one_of(node, "end_to_end", peers=smaller, mtu=9000).status == "pass"

    def test_a_way_beside_the_interconnect_that_loses_them_fails(self):
        node = Node().device("eth0", 9000).way(over="eth0", pieces=1500)
        assert one_of(node, "end_to_end", peers=PEERS).status == "fail"

    def test_a_way_beside_the_interconnect(self):
        finding = one_of(Node().device("eth0", 9000).way(over="eth0"), "end_to_end", peers=PEERS)
        assert finding.status == "warn" and "he route uses eth0" in finding.why

    def test_one_list_serves_all_nodes(self):
        node = Node().way("192.168.10.1", over="lo").way()
        findings = judged(node, peers=[{"address": "192.168.10.1"}, *PEERS])
        ways = [one.status for one in findings if one.check == "interconnect.end_to_end"]
        assert ways == ["skip", "pass"]

    def test_one_peer_without_a_route_does_not_hide_the_other(self):
        node = Node().way().command("ip -o route get 192.168.10.3", "", 2)
        findings = judged(node, peers=[{"address": "192.168.10.3"}, *PEERS])
        ways = [one.status for one in findings if one.check == "interconnect.end_to_end"]
        assert ways == ["error", "pass"]

    @cases("value", "many", -1, float("inf"), float("nan"), None)
    def test_a_record_that_does_not_hold_it_is_an_error(self, value):
        assert one_of(Node().way(arrives=value), "end_to_end", peers=PEERS).status == "error"


LOSSES = [
    ("reassembly", "ReasmFails"),
    ("udp_buffers", "RcvbufErrors"),
    ("udp_buffers", "SndbufErrors"),
]


class TestLosses:
    @pytest.mark.parametrize(("check", "counter"), LOSSES)
    @cases("grown status", (0, "pass"), (1, "warn"), (10, "warn"), (11, "fail"))
    def test_rates_in_a_window_of_ten_seconds(self, check, counter, grown, status):
        finding = one_of(Node().lost(**{counter: grown}), check)
        assert (finding.status, finding.values) == (status, {"per_second": grown / 10})

    @pytest.mark.parametrize(("check", "counter"), LOSSES)
    def test_the_limit_is_the_policys(self, check, counter):
        assert one_of(Node().lost(**{counter: 1}), check, max_losses_per_second=0).status == "fail"

    @pytest.mark.parametrize(("check", "counter"), LOSSES)
    def test_a_counter_that_begins_anew_is_an_error(self, check, counter):
        assert one_of(Node().lost(**{counter: -1}), check).status == "error"

    @cases(
        "addresses status",
        (["fd00::1/64"], "error"),
        (["fd00::1/64", "192.168.10.1/24"], "pass"),
        (["fd00::1/64", "169.254.1.1/16"], "error"),
        (["169.254.1.1/16"], "pass"),
        ([], "pass"),
    )
    def test_the_counters_do_not_hold_packets_of_ipv6(self, addresses, status):
        node = addressed(*(("eth1", address) for address in addresses))
        assert one_of(node, "udp_buffers").status == one_of(node, "reassembly").status == status
        assert one_of(node, "reverse_path").status == "pass"

    @cases("check", "reassembly", "udp_buffers", "reverse_path")
    def test_a_counter_that_is_not_there_is_an_error(self, check):
        node = Node()
        for file in ("snmp", "netstat"):
            node.sampled("interconnect", f"file:/proc/net/{file}", "Ip: InReceives\nIp: 1\n")
        assert one_of(node, check).status == "error"

    def test_without_a_window_no_rate_is_judged(self):
        statuses = {finding.check: finding.status for finding in judged(Node(), window_seconds=0)}
        assert statuses["interconnect.reassembly"] == statuses["interconnect.udp_buffers"] == "skip"
        assert statuses["interconnect.reverse_path"] == "pass"


class TestReversePath:
    @cases(
        "everywhere own status",
        (0, 0, "pass"),
        (0, 1, "fail"),
        (1, 0, "fail"),
        (1, 2, "pass"),
        (2, 1, "pass"),
    )
    def test_the_larger_value_counts_for_several_devices(self, everywhere, own, status):
        node = Node().device("eth2", 9000).value("all", everywhere).value("eth1", own)
        node.value("eth2", 2)
        finding = one_of(node, "reverse_path", interfaces=["eth1", "eth2"], window_seconds=0)
        assert finding.status == status

    def test_one_device_may_have_a_strict_one(self):
        assert one_of(Node().value("eth1", 1), "reverse_path").status == "pass"

    @cases("dropped", 1, 1000)
    def test_what_was_dropped_may_be_on_another_interface(self, dropped):
        assert one_of(Node().lost(IPReversePathFilter=dropped), "reverse_path").status == "warn"

    def test_what_a_strict_one_dropped_is_told(self):
        node = Node().device("eth2", 9000).value("eth1", 1).lost(IPReversePathFilter=30)
        finding = one_of(node, "reverse_path", interfaces=["eth1", "eth2"])
        assert finding.status == "fail"
        assert re.search(r"filter of eth1 is strict .* 30 packets were dropped", finding.why)


@cases("address", "db2", "127.0.0.1", "224.0.0.251", "0.0.0.0", "::1", 7, "192.0.2.1/24")
def test_a_peer_is_the_address_of_another_machine(address):
    with pytest.raises(BadEntry, match="must be"):
        CONTROLS["interconnect"].policy_from(policy(peers=[{"address": address}]))


def test_it_plans_nothing():
    control = CONTROLS["interconnect"]
    host_policy = control.policy_from(policy(mtu=1500))
    assert planner("interconnect")(control.read(Node(), host_policy), host_policy).changes == []


def test_offline_is_live():
    node = Node().bonded("balance-rr", "load balancing (round-robin)", 100).way()
    live = judged(node, peers=PEERS)
    assert judged(RecordedHost(node.evidence), peers=PEERS) == live
    # What oifcfg said is kept.
    assert node.evidence["command:" + GETIF]["stdout"] == NETWORKS.replace("eth1", "bond0")


class TestOtherNodes:
    """interconnect_test_nodes: packets to the nodes that this host knows."""

    def node(self, neighbors="192.168.10.2 dev eth1 lladdr 52:54:00:00:00:02 REACHABLE\n"):
        node = Node().way(PEER).way("192.0.2.12", over="eth0", size=1500, arrives=1500)
        node.command(
            "ip neigh show", neighbors + "192.0.2.1 dev eth0 lladdr 52:54:00:00:00:07 STALE\n"
        )
        node.file("/etc/oracle/olr.loc", f"crs_home={GRID}\n")
        node.file(f"{GRID}/crs/install/crsconfig_params", "CLUSTER_NAME=rac\nNODE_NAME_LIST=db2\n")
        node.command("getent ahosts db2", "192.0.2.12 STREAM db2\n192.0.2.12 DGRAM \n")
        return node

    def found(self, node, **changes):
        findings = [
            one for one in judged(node, **changes) if one.check == "interconnect.end_to_end"
        ]
        return {finding.title.partition(":")[0]: finding for finding in findings}

    def test_nothing_is_sent_unless_the_policy_says_so(self):
        node = self.node()
        assert [finding.status for finding in self.found(node).values()] == ["skip"]
        assert not [key for key in node.evidence if "neigh" in key or key.startswith("windows:")]

    def test_both_networks_each_with_its_mtu(self):
        findings = self.found(self.node(), test_nodes=True, mtu=9000)
        statuses = {name: finding.status for name, finding in findings.items()}
        assert statuses == {PEER: "pass", "192.0.2.12": "pass"}
        assert findings["192.0.2.12"].desired.startswith("1500 bytes")

    def test_a_node_that_answers_nothing_on_the_public_network(self):
        node = self.node().way("192.0.2.12", over="eth0", size=1500, passed=0, arrives=0)
        findings = self.found(node, test_nodes=True)
        assert (findings["192.0.2.12"].status, findings[PEER].status) == ("error", "pass")

    def test_neighbors_that_never_answered_and_haip_are_left_out(self):
        lines = "192.168.10.9 dev eth1 FAILED\n"
        lines += "169.254.3.1 dev eth1 lladdr 52:54:00:00:00:02 STALE\n"
        assert set(self.found(self.node(lines), test_nodes=True)) == {"192.0.2.12"}

    @cases(
        "line",
        "127.0.0.1 dev eth1 lladdr 52:54:00:00:00:02 STALE\n",
        "-f dev eth1 lladdr 52:54:00:00:00:02 STALE\n",
    )
    def test_a_neighbor_that_is_no_address_is_an_error(self, line):
        (finding,) = self.found(self.node(line), test_nodes=True).values()
        assert finding.status == "error"

    def test_a_node_that_does_not_resolve_is_an_error(self):
        node = self.node().command("getent ahosts db2", "", 2)
        (finding,) = self.found(node, test_nodes=True).values()
        assert (finding.status, "db2 does not resolve" in finding.why) == ("error", True)

    @cases("test_nodes", True, False)
    def test_without_any_node(self, test_nodes):
        node = self.node("").file("/etc/oracle/olr.loc", "")
        (finding,) = self.found(node, test_nodes=test_nodes).values()
        expected = ("error", True) if test_nodes else ("skip", False)
        assert (finding.status, "no other node is known" in finding.why) == expected

    @cases("count status", (63, "pass"), (64, "error"))
    def test_more_nodes_than_it_tests(self, count, status):
        """64 with that of the public network."""
        addresses = [f"192.168.10.{number}" for number in range(2, 2 + count)]
        node = self.node(
            "".join(f"{one} dev eth1 lladdr 52:54:00:00:00:02 STALE\n" for one in addresses)
        )
        for address in addresses:
            node.way(address)
        findings = self.found(node, test_nodes=True)
        assert {finding.status for finding in findings.values()} == {status}
        assert status == "pass" or "more than 64 other nodes" in findings.popitem()[1].why

    @cases("neighbors name words", (1, "db2", "made up"), (0, "-db2", "is not the name of a node"))
    def test_what_names_no_nodes(self, neighbors, name, words):
        node = self.node()
        node.commands["ip neigh show"] = Output(neighbors, "", "made up")
        names = f"CLUSTER_NAME=rac\nNODE_NAME_LIST={name}\n"
        node.file(f"{GRID}/crs/install/crsconfig_params", names)
        (finding,) = self.found(node, test_nodes=True).values()
        assert (finding.status, words in finding.why) == ("error", True)


def test_losses_that_cannot_be_read():
    node = Node()
    del node.samples["interconnect"]["file:/proc/net/netstat"]
    finding = one_of(node, "reassembly")
    assert finding.status == "error" and "KeyError" not in finding.why
