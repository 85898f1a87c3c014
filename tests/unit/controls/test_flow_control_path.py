"""Switch port, filer port and every cable of a path, as findings with the chain in one line."""

from typing import Any

import pytest
from ansible.module_utils.hostproof.controls.flow_control import facts as control_facts
from ansible.module_utils.hostproof.controls.flow_control.facts import Facts
from ansible.module_utils.hostproof.controls.flow_control.policy import Policy, Rule
from ansible.module_utils.hostproof.controls.flow_control.ports import ports_of
from ansible.module_utils.hostproof.controls.flow_control.probes.large_frames import LargeFrames
from ansible.module_utils.hostproof.controls.flow_control.snmp.ethernet_port import Pause
from ansible.module_utils.hostproof.errors import Absent, Unanswered
from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN, Finding
from ansible.module_utils.hostproof.snmp import tools as snmp
from cases import cases
from packs import Machine
from path_facts import (
    ADDRESS,
    OFF,
    ON,
    RX,
    SECOND,
    TX,
    bond,
    counted,
    facts,
    filer,
    judged,
    member,
    nic,
    policy,
    port,
    switch,
    switch_port,
    way,
)
from switch_agents import FILER, HOST

SILENT = snmp.NoAnswer("snmp:sw1 network opening", snmp.SILENT, "sw1 does not answer")


@pytest.fixture
def judge(validate_finding):
    def judge_facts(seen: Facts, wanted: Policy | None = None) -> list[Finding]:
        findings = judged(seen, wanted)
        found = {finding.check for finding in findings}
        assert found == {"flow_control.switch_port", "flow_control.filer_port", "flow_control.link"}
        for finding in findings:
            validate_finding(finding.as_dict())
        return findings

    return judge_facts


def of(findings: list[Finding], check: str) -> list[Finding]:
    return [finding for finding in findings if finding.check == f"flow_control.{check}"]


def path(host: Any = OFF, near: Any = OFF, far: Any = OFF, end: Any = OFF, **changes: Any) -> Facts:
    """eth1 <-> Gi1 ... Gi24 <-> n1:e0a, each with its mode; host_port={…} changes a side."""
    interface = nic("eth1", host, traffic=counted(), **changes.get("host_side", {}))
    return facts(
        interface,
        switches={
            "sw1": switch(
                host=[switch_port(port("Gi1", near, **changes.get("host_port", {})))],
                filer=[switch_port(port("Gi24", far, **changes.get("filer_port", {})))],
            )
        },
        filers={ADDRESS: filer(port("n1:e0a", end, **changes.get("filer_side", {})))},
    )


def test_a_filer_of_the_policy_has_the_mac_of_its_own_path():
    listed = {"address": ADDRESS, "ports": [{"name": "e0a", "rx": False, "tx": False}]}
    host_policy = policy(filers=[listed])
    ways = [way("eth2", address="192.0.2.77", mac=SECOND), way("eth1", mac=""), way("eth1")]
    seen = facts(nic("eth1"), paths=ways)
    result = control_facts._read_filer(
        Machine(),
        control_facts._Asked(host_policy),
        host_policy.filers[0],
        seen.interfaces,
        ADDRESS,
    )
    assert [filer_port.mac for filer_port in result.ports] == [FILER]


class TestSixCases:
    """The verdict of a whole path, as it is shown."""

    def links(self, judge: Any, seen: Facts) -> list[tuple[str, str]]:
        findings = of(judge(seen), "link")
        assert len({finding.running for finding in findings}) == 1
        return [(finding.title.partition(": ")[0], finding.status) for finding in findings]

    def test_all_off(self, judge):
        found = self.links(judge, path())
        assert found == [("eth1 <-> core Gi1", PASS), ("core Gi24 <-> na1 n1:e0a", PASS)]

    def test_all_on(self, judge):
        seen = path(ON, ON, ON, ON)
        assert [status for _name, status in self.links(judge, seen)] == [PASS, PASS]
        first = of(judge(seen), "link")[0]
        assert first.in_use == "core Gi1 obeys what eth1 sends. eth1 obeys what core Gi1 sends."

    def test_one_sided(self, judge):
        seen = path(OFF, ON, ON, ON)
        found = self.links(judge, seen)
        assert found == [("eth1 <-> core Gi1", FAIL), ("core Gi24 <-> na1 n1:e0a", PASS)]
        assert "core Gi1 sends PAUSE that eth1 does not obey" in of(judge(seen), "link")[0].why

    def test_half_duplex(self, judge):
        seen = path(ON, ON, host_port={"duplex": "half"})
        assert self.links(judge, seen)[0] == ("eth1 <-> core Gi1", FAIL)
        assert "core Gi1 is half duplex and eth1 is full" in of(judge(seen), "link")[0].why

    def test_speed_mismatch_with_discards_rising(self, judge):
        seen = path(
            OFF, OFF, OFF, RX, host_side={"speed": 100}, host_port={"speed": 100, "lost": (0, 1532)}
        )
        first, second = of(judge(seen), "link")
        assert (first.status, second.status) == (FAIL, PASS)
        assert first.why == (
            "core Gi1 discarded 1532 frames toward eth1 within 5.0 s (Out-Discards): traffic "
            "pushed from the 1000 Mb/s end of the connection (na1 n1:e0a) is overrunning the port "
            "buffers at the 100 Mb/s end, and no PAUSE slows it down."
        )
        assert "snmp:na1 network opening" in first.evidence

    def test_mode_unknown_counters_only(self, judge):
        first = of(judge(path(RX, None, host_port={"paused": (3, 0)})), "link")[0]
        assert first.status == ERROR
        assert first.why == (
            "The PAUSE mode of core Gi1 is unknown; counted: 3 frames received and 0 sent within "
            "5.0 s, 100 received and 200 sent since it counts. eth1 has rx on tx off."
        )

    def test_the_chain_is_one_line(self, judge):
        finding = of(judge(path(RX, TX, OFF, RX)), "link")[0]
        assert finding.running == (
            "eth1 [rx on tx off, 1000 Mb/s full] <-> core Gi1 [rx off tx on, 1000 Mb/s full] ... "
            "core Gi24 [rx off tx off, 1000 Mb/s full] <-> "
            "na1 n1:e0a [rx on tx off, 1000 Mb/s full]"
        )


class TestLink:
    def test_without_switches_it_is_skipped(self, judge):
        for finding in of(judge(path()._replace(switches={}), policy(switches=[])), "link"):
            assert finding.status == SKIP
            assert finding.why == "flow_control_switches is empty: no switch was queried."
            assert finding.running.startswith("eth1 [rx off tx off, 1000 Mb/s full] ... na1 n1:e0a")

    def test_a_silent_switch_is_unknown(self, judge):
        findings = judge(path()._replace(switches={"sw1": SILENT}))
        assert [finding.status for finding in of(findings, "link")] == [ERROR, ERROR]
        assert "sw1 does not answer" in of(findings, "link")[0].why
        assert "switch port unknown" in of(findings, "link")[0].running

    def test_an_address_that_no_switch_has(self, judge):
        why = "the switch has learned it on no port"
        first = of(judge(path()._replace(switches={"sw1": switch({HOST: why})})), "link")[0]
        assert first.status == ERROR and f"sw1: {why}" in first.why

    def test_without_a_filer_to_ask_its_cable_is_left_out(self, judge):
        seen = path()._replace(filers={}, switches={"sw1": switch(host=[switch_port(port("Gi1"))])})
        (finding,) = of(judge(seen, policy(filers=[])), "link")
        assert finding.status == PASS
        assert finding.running.endswith("switch port unknown <-> filer unknown")

    def test_a_filer_that_is_silent_is_unknown(self, judge):
        second = of(judge(path()._replace(filers={ADDRESS: SILENT})), "link")[1]
        assert second.status == ERROR
        assert "The filer's port is unknown: sw1 does not answer." in second.why

    def test_no_carrier(self, judge):
        findings = judge(path(host_side={"carrier": False}))
        assert of(findings, "link")[0].status == SKIP
        assert of(findings, "switch_port")[0].status == SKIP

    def test_a_virtual_interface_is_skipped(self, judge):
        seen = path()
        virtual = seen.nics["eth1"]._replace(pause=Absent("k", "the driver has no flow control"))
        finding = of(judge(seen._replace(nics={"eth1": virtual})), "link")[0]
        assert (finding.status, finding.why) == (SKIP, "eth1: the driver has no flow control.")

    def test_but_what_the_switch_loses_before_it_is_not(self, judge):
        """The case study's card had no flow control at all."""
        seen = path(host_side={"speed": 100}, host_port={"speed": 100, "lost": (0, 9)})
        virtual = seen.nics["eth1"]._replace(
            pause=Absent("k", "the driver has no flow control"),
            in_force=Absent("k", "the driver has no flow control"),
        )
        finding = of(judge(seen._replace(nics={"eth1": virtual})), "link")[0]
        assert finding.status == FAIL and "discarded 9 frames" in finding.why

    def test_priority_flow_control_is_left_alone(self, judge):
        seen = path(ON, OFF)
        dcb = seen.nics["eth1"]._replace(priorities=[3])
        finding = of(judge(seen._replace(nics={"eth1": dcb})), "link")[0]
        assert finding.status == SKIP
        assert finding.why == "Priority flow control is in use (priority 3): hands off."

    def test_unknown_priority_flow_control_is_unknown(self, judge):
        seen = path()
        dcb = seen.nics["eth1"]._replace(priorities=Unanswered("k", "dcb ends with 1"))
        assert of(judge(seen._replace(nics={"eth1": dcb})), "link")[0].status == ERROR

    def test_the_limit_is_the_policys(self, judge):
        seen = path(host_port={"lost": (0, 9)})
        assert of(judge(seen), "link")[0].status == WARN
        assert of(judge(seen, policy(drops_limit=9)), "link")[0].status == PASS

    def test_discards_before_the_filer(self, judge):
        seen = path(filer_port={"speed": 100, "lost": (0, 9)}, filer_side={"speed": 100})
        first, second = of(judge(seen), "link")
        assert (first.status, second.status) == (PASS, FAIL)
        assert "from the 1000 Mb/s end of the connection (eth1)" in second.why

    def test_an_interconnect_has_no_filer(self, judge):
        interface = nic("eth2")
        ways = [way("eth2", role="interconnect", address="10.0.0.0/24", mac="")]
        (only,) = of(judge(facts(interface, switches=path().switches, paths=ways)), "link")
        assert only.status == PASS
        assert only.running.count("<->") == 1

    def test_no_interface_at_all(self, judge):
        assert {finding.status for finding in judge(facts())} == {SKIP}

    def test_no_linux(self, judge):
        seen = facts()._replace(interfaces=Absent("command:uname -s", "AIX is not checked"))
        assert {finding.status for finding in judge(seen)} == {SKIP}

    def test_unknown_interfaces(self, judge):
        seen = facts()._replace(interfaces=Unanswered("dir:/sys/class/net", "it failed"))
        assert {finding.status for finding in judge(seen)} == {ERROR}


class TestUplink:
    def test_a_port_to_another_switch_is_not_the_hosts(self, judge):
        uplink = switch_port(port("Te1", ON), uplink="access-3")
        findings = judge(path()._replace(switches={"sw1": switch(host=[uplink])}))
        assert of(findings, "link")[0].status == ERROR
        assert "core Te1 leads to access-3" in of(findings, "link")[0].why
        assert of(findings, "switch_port")[0].status == ERROR

    def test_the_switch_behind_it_is_taken(self, judge):
        uplink = switch_port(port("Te1", ON), uplink="access-3")
        seen = path()
        both = {"sw0": switch(host=[uplink]), "sw1": seen.switches["sw1"]}
        assert of(judge(seen._replace(switches=both)), "link")[0].status == PASS

    def test_another_speed_is_another_cable(self, judge):
        finding = of(judge(path(ON, ON, host_port={"speed": 10000})), "link")[0]
        assert finding.status == ERROR and "not the two ends of one cable" in finding.why

    def test_and_speed_duplex_says_no_other_thing_of_it(self):
        (finding,) = judged(path(ON, ON, host_port={"speed": 10000}), None, "speed_duplex")
        assert finding.status == ERROR and "not the two ends of one cable" in finding.why
        assert "flow_control_switches" in (finding.fix or "")

    def test_another_duplex_at_the_same_speed_is_one_cable_that_is_wrong(self):
        (finding,) = judged(path(ON, ON, host_port={"duplex": "half"}), None, "speed_duplex")
        assert finding.status == FAIL


class TestBond:
    def lacp(self, first: Any = OFF, second: Any = OFF, *, numbers: bool = True) -> Facts:
        """Two members with one address; the switch has it behind an aggregate of two."""
        ports = [
            switch_port(
                port("Gi1", first, number=1), aggregate="Po1", partner=1 if numbers else None
            ),
            switch_port(
                port("Gi2", second, number=2), aggregate="Po1", partner=2 if numbers else None
            ),
        ]
        nics = [nic("eth1", OFF, bond="bond0"), nic("eth2", OFF, bond="bond0", permanent=SECOND)]
        return facts(
            *nics,
            switches={"sw1": switch(host=ports)},
            bonds={"bond0": bond(member("eth1", 1), member("eth2", 2))},
        )

    def test_each_member_with_its_own_port(self, judge):
        findings = of(judge(self.lacp(OFF, TX), policy(filers=[])), "link")
        statuses = [(finding.title.partition(": ")[0], finding.status) for finding in findings]
        assert statuses == [("eth1 <-> core Gi1", PASS), ("eth2 <-> core Gi2", FAIL)]

    def test_where_nobody_can_tell_which_alike_ports_are_judged(self, judge):
        findings = of(judge(self.lacp(TX, TX, numbers=False), policy(filers=[])), "link")
        assert [finding.status for finding in findings] == [FAIL, FAIL]
        assert findings[0].title.startswith("eth1 <-> core Gi1 + core Gi2: ")

    def test_and_different_ones_are_unknown(self, judge):
        findings = of(judge(self.lacp(OFF, TX, numbers=False), policy(filers=[])), "link")
        assert [finding.status for finding in findings] == [ERROR, ERROR]

    def test_of_active_and_backup_only_the_active_member_is_seen(self, judge):
        nics = [nic("eth1", bond="bond0"), nic("eth2", bond="bond0", permanent=SECOND)]
        seen = facts(
            *nics,
            switches={"sw1": switch(host=[switch_port(port("Gi2", OFF))])},
            bonds={"bond0": bond(member("eth1"), member("eth2"), active="eth2")},
        )
        first, second = of(judge(seen, policy(filers=[])), "link")
        assert first.status == ERROR
        assert "only eth2 sends while it is the active member of bond0" in first.why
        assert (second.status, second.title.partition(": ")[0]) == (PASS, "eth2 <-> core Gi2")

    def active_backup(self, mode: Pause = OFF, **changes: Any) -> Facts:
        """eth1 lent the bond its address, and eth2 carries it: the switch has it behind eth2."""
        nics = [nic("eth1", bond="bond0"), nic("eth2", bond="bond0", permanent=SECOND)]
        return facts(
            *nics,
            switches={"sw1": switch(host=[switch_port(port("Gi2", mode, **changes))])},
            bonds={"bond0": bond(member("eth1"), member("eth2"), active="eth2")},
        )

    def test_the_port_of_the_active_member_is_not_that_of_the_one_that_lent_its_address(self):
        seen = self.active_backup()
        assert ports_of(seen.nics["eth1"], seen) == []
        assert [peer.port.name for peer in ports_of(seen.nics["eth2"], seen)] == ["Gi2"]

    def test_an_address_that_the_switch_has_not_forgotten_is_not_the_active_members(self):
        """Behind the permanent address of eth2 stands an old entry: the bond's own counts."""
        seen = self.active_backup()
        answer = seen.switches["sw1"]
        old = {**answer.ports, SECOND: (switch_port(port("Gi7", OFF)),)}
        seen = seen._replace(switches={"sw1": answer._replace(ports=old)})
        assert [peer.port.name for peer in ports_of(seen.nics["eth2"], seen)] == ["Gi2"]

    def test_half_duplex_of_that_port_is_not_the_other_members(self):
        findings = judged(self.active_backup(duplex="half"), None, "full_duplex")
        assert [finding.status for finding in findings] == [PASS, FAIL]
        assert findings[1].why.startswith("Core Gi")

    def test_a_port_whose_partner_is_the_other_member_is_not_this_ones(self):
        """Only one port of the aggregate is left, and LACP tells whose it is."""
        seen = self.lacp()
        ports = {HOST: seen.switches["sw1"].ports[HOST][1:]}
        seen = seen._replace(switches={"sw1": seen.switches["sw1"]._replace(ports=ports)})
        assert ports_of(seen.nics["eth1"], seen) == []
        assert [peer.port.name for peer in ports_of(seen.nics["eth2"], seen)] == ["Gi2"]

    def test_one_cable_of_the_filer_is_one_finding(self, judge):
        seen = self.lacp()
        ports = dict(seen.switches["sw1"].ports)
        ports.update(path().switches["sw1"].ports)
        ports[HOST] = seen.switches["sw1"].ports[HOST]
        whole = seen._replace(
            switches={"sw1": seen.switches["sw1"]._replace(ports=ports)}, filers=path().filers
        )
        titles = [finding.title.partition(": ")[0] for finding in of(judge(whole), "link")]
        assert titles == ["eth1 <-> core Gi1", "core Gi24 <-> na1 n1:e0a", "eth2 <-> core Gi2"]


class TestSwitchPort:
    def finding(self, judge: Any, **changes: Any) -> Finding:
        (finding,) = of(judge(path(host_port=changes)), "switch_port")
        return finding

    def test_as_it_is_set(self, judge):
        finding = self.finding(judge)
        assert finding.status == PASS
        assert finding.running == (
            "core Gi1 [rx off tx off, 1000 Mb/s full], found by Q-BRIDGE, set to rx off tx off, "
            "PAUSE received 0, PAUSE sent 0, In-Discards 0, Out-Discards 0 within 5.0 s"
        )

    def test_set_and_not_in_force(self, judge):
        finding = self.finding(judge, admin=ON)
        assert finding.status == WARN
        assert "core Gi1 is set to rx on tx on, but rx off tx off is in force" in finding.why

    def test_a_setting_that_is_unknown_is_no_difference(self, judge):
        assert self.finding(judge, admin=None).status == PASS

    def test_unknown_mode(self, judge):
        finding = self.finding(judge, oper=None, admin=ON)
        assert finding.status == ERROR
        assert "core Gi1: PAUSE unknown; set to rx on tx on" in finding.why

    def test_down(self, judge):
        assert self.finding(judge, up=False).status == SKIP


class TestFilerPort:
    def finding(self, judge: Any, seen: Facts, wanted: Policy | None = None) -> Finding:
        (finding,) = of(judge(seen, wanted), "filer_port")
        return finding

    def test_sends_and_obeys_nothing(self, judge):
        assert self.finding(judge, path()).status == PASS

    def test_obeys(self, judge):
        finding = self.finding(judge, path(end=RX))
        assert finding.status == WARN and "na1 n1:e0a obeys PAUSE (rx on)" in finding.why

    def test_as_in_2002(self, judge):
        """Who wants the host to send PAUSE wants the filer to obey it."""
        seen = path(end=ON)
        rule = Rule("storage", None, None, None, "on", "on", "auto")
        nics = {"eth1": seen.nics["eth1"]._replace(rule=rule)}
        assert self.finding(judge, seen._replace(nics=nics)).status == PASS

    def test_to_send_harms_nobody_but_itself(self, judge):
        assert self.finding(judge, path(end=TX)).status == PASS

    def test_unknown(self, judge):
        assert self.finding(judge, path(end=None)).status == ERROR

    def test_silent(self, judge):
        finding = self.finding(judge, path()._replace(filers={ADDRESS: SILENT}))
        assert finding.status == ERROR
        assert finding.title == f"{ADDRESS}: Filer port does not obey PAUSE and uses its settings"

    def test_not_asked(self, judge):
        finding = self.finding(judge, path()._replace(filers={}), policy(filers=[]))
        assert finding.status == SKIP
        assert finding.why == "flow_control_filers is empty: no filer was queried."


class TestMtu:
    """A jumbo path is only as long as its shortest port, and one that nobody asked is unknown."""

    def seen(self, near: Any = None, far: Any = None, **changes: Any) -> Facts:
        jumbo: dict[str, Any] = {"host_side": {"mtu": 9000}, "filer_side": {"mtu": 9000}}
        whole = path(OFF, OFF, OFF, OFF, host_port={"mtu": near}, filer_port={"mtu": far}, **jumbo)
        ways = [way("eth1")._replace(mtu=9000, **changes)]
        return whole._replace(interfaces=whole.interfaces._replace(paths=ways))

    def test_all_take_it(self):
        (finding,) = judged(self.seen(9216, 9216), None, "path_mtu")
        assert finding.status == PASS

    @cases(
        "near far words",
        (None, 9216, "the switch port of eth1"),
        (9216, None, f"the switch port of {ADDRESS}"),
    )
    def test_a_port_that_tells_none(self, near, far, words):
        (finding,) = judged(self.seen(near, far), None, "path_mtu")
        assert (finding.status, words in finding.why) == (SKIP, True)

    def test_a_router(self):
        (finding,) = judged(self.seen(9216, 9216, gateway="192.0.2.1"), None, "path_mtu")
        assert (finding.status, "the router 192.0.2.1" in finding.why) == (SKIP, True)

    def test_the_port_of_the_filer_takes_less(self):
        (finding,) = judged(self.seen(9216, 1500), None, "path_mtu")
        assert (finding.status, "Gi24 has only 1500" in finding.why) == (FAIL, True)

    @cases("near far status", (9000, 9000, PASS), (8999, 9000, FAIL), (9000, 8999, FAIL))
    def test_ports_at_the_edge(self, near, far, status):
        assert self.mtu(self.seen(near, far)).status == status

    @cases("learned status", (9000, PASS), (8999, WARN))
    def test_a_learned_mtu_at_the_edge(self, learned, status):
        finding = self.mtu(self.seen(9216, 9216, learned_mtu=learned))
        assert finding.status == status
        assert ("learned for" in (finding.running or "")) is (status == WARN)

    def test_a_class_with_just_enough(self):
        seen = self.seen(9000, 9000)
        nexus = seen.switches["sw1"]._replace(mtu_by_class=True)
        assert self.mtu(seen._replace(switches={"sw1": nexus})).status == PASS

    def test_one_path_to_an_address_needs_no_device_in_its_name(self):
        assert self.mtu(self.seen(9216, 9216)).title.partition(":")[0] == ADDRESS

    def mtu(self, facts: Facts) -> Finding:
        (finding,) = judged(facts, None, "path_mtu")
        return finding

    def test_an_mtu_by_qos_class_is_no_proof(self):
        seen = self.seen(1500, 1500)
        nexus = seen.switches["sw1"]._replace(mtu_by_class=True)
        finding = self.mtu(seen._replace(switches={"sw1": nexus}))
        assert (finding.status, "no proof" in finding.why) == (WARN, True)

    def test_frames_that_arrive_are_more_than_what_a_port_shows(self):
        frames = {ADDRESS: LargeFrames(True, None, ("command:ping",))}
        assert self.mtu(self.seen(1500, 1500)._replace(large_frames=frames)).status == PASS
        assert self.mtu(self.seen(None, None)._replace(large_frames=frames)).status == PASS

    def test_frames_that_do_not_arrive_fail_whatever_ports_show(self):
        frames = {ADDRESS: LargeFrames(False, 1500, ("command:ping",))}
        finding = self.mtu(self.seen(9216, 9216)._replace(large_frames=frames))
        assert (finding.status, "1500 is the maximum" in finding.why) == (FAIL, True)

    def test_ends_that_differ_are_a_warning(self):
        seen = self.seen(9216, 9216)
        other = seen.filers[ADDRESS].ports[0]
        smaller = other._replace(port=other.port._replace(mtu=1500))
        filer = seen.filers[ADDRESS]._replace(ports=(smaller,))
        assert self.mtu(seen._replace(filers={ADDRESS: filer})).status == WARN
        assert self.mtu(self.seen(9216, 9216, learned_mtu=1400)).status == WARN

    def test_a_switch_or_filer_that_broke_off_is_an_error(self):
        seen = self.seen(9216, 9216)
        broken = snmp.NoAnswer("snmp:sw1", snmp.FAILED, "sw1 was cut short")
        assert self.mtu(seen._replace(switches={"sw1": broken})).status == ERROR
        assert self.mtu(seen._replace(filers={ADDRESS: broken})).status == ERROR
        silent = switch({HOST: "cut"})._replace(unknown=(HOST,))
        assert self.mtu(seen._replace(switches={"sw1": silent})).status == ERROR


class TestUncountedDiscards:
    """The case study's finding is discards: without them nothing says that there is none."""

    def uncounted(self, speed: int) -> Facts:
        seen = path(OFF, OFF, OFF, OFF, host_side={"speed": speed}, host_port={"speed": speed})
        switched = seen.switches["sw1"]
        (peer,) = switched.ports[HOST]
        after = peer.port.after._replace(out_discards=None)
        peer = peer._replace(port=peer.port._replace(after=after))
        ports = {**switched.ports, HOST: (peer,)}
        return seen._replace(switches={"sw1": switched._replace(ports=ports)})

    def test_on_a_speed_mismatch_it_is_no_pass(self, judge):
        first = of(judge(self.uncounted(100)), "link")[0]
        assert first.status == ERROR and "What core Gi1 discards was not counted" in first.why

    def test_else_it_is_said(self, judge):
        first = of(judge(self.uncounted(1000)), "link")[0]
        assert first.status == PASS and "What core Gi1 discards was not counted." in first.in_use

    def test_without_a_sample_nothing_is_expected(self):
        host_policy = policy(window_seconds=0)
        findings = judged(self.uncounted(1000), host_policy)
        first = [finding for finding in findings if finding.check == "flow_control.link"][0]
        assert "not counted" not in (first.in_use or "")
