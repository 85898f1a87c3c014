"""Behind which port of a switch an address is: made-up switches, and recordings of real ones."""

import json
import random
from typing import Any

import pytest
import switch_truth
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.flow_control.snmp import ethernet_port, switch_port
from ansible.module_utils.hostproof.controls.flow_control.snmp.ethernet_port import Delta, Pause
from ansible.module_utils.hostproof.controls.storage_type.snmp import storage_agent
from ansible.module_utils.hostproof.snmp import tools as snmp
from cases import cases
from snmp_agents import Agent, Filers
from switch_agents import (
    CISCO,
    FILER,
    HOST,
    Contexts,
    Rows,
    above,
    agent,
    bridge_ports,
    bundle,
    learned,
    learned_in_bridge,
    neighbour,
    port,
    system,
    unit,
    vlans,
    write_record,
)

SECRET = "s3cret community"
OTHER = "00:1b:21:ff:ff:ff"


def target(**changes: Any) -> snmp.Target:
    return snmp.Target("10.0.0.9", 161, snmp.Credentials("2c", SECRET)._replace(**changes), 1, 0)


def read(*parts: Rows, macs: tuple[str, ...] = (HOST,)) -> switch_port.Switch:
    host = Filers().agent("10.0.0.9", agent(system("core"), *parts))
    return switch_port.read_switch(host, target(), macs)


def only(switch: switch_port.Switch, mac: str = HOST) -> switch_port.SwitchPort:
    (entry,) = switch.ports[mac]
    return entry


def numbers(switch: switch_port.Switch, mac: str = HOST) -> list[int]:
    return [entry.port.number for entry in switch.ports.get(mac, ())]


class TestForwardingTable:
    def test_a_bridge_port_is_no_interface(self):
        switch = read(
            learned(HOST, 29), bridge_ports(p29=34), port(29, "wrong", oper=1), port(34, "right")
        )
        entry = only(switch)
        assert (entry.name, entry.how, entry.port.number) == ("core right", "Q-BRIDGE", 34)

    @cases("base", {}, {"p29": 0})
    def test_and_where_nobody_says_which_it_is_it_is_unknown(self, base):
        switch = read(learned(HOST, 29), bridge_ports(**base), port(29, "Gi29"))
        assert switch.ports == {}
        assert "bridge port 29 and does not say which interface" in switch.missing[HOST]

    def test_every_table_is_asked(self):
        rows = [learned(OTHER, 1, table) for table in (1, 7, 300)]
        switch = read(*rows, learned(HOST, 5, 4094), bridge_ports(p5=105), port(105, "Gi5"))
        assert numbers(switch) == [105]

    def test_tables_that_are_not_in_order(self):
        class Stack(Agent):
            """Shows the first chassis' tables when it is walked, and every row when it is asked."""

            def _next(self, oid: str) -> tuple[str, str]:
                answer = super()._next(oid)
                return (
                    super()._next("1.3.6.1.2.1.17.7.1.2.2.2")
                    if ".2.2.1.2.54." in answer[0]
                    else answer
                )

        counts = {f"1.3.6.1.2.1.17.7.1.2.1.1.2.{number}": ("65", "1") for number in (1, 54)}
        parts = (learned(OTHER, 1, 1), learned(HOST, 5, 54), bridge_ports(p5=105), port(105, "Gi5"))
        device = agent(system("core"), counts, *parts)
        device.__class__ = Stack
        host = Filers().agent("10.0.0.9", device)
        assert numbers(switch_port.read_switch(host, target(), [HOST])) == [105]

    def test_one_port_in_two_tables_is_one(self):
        rows = (learned(HOST, 5, 10), learned(HOST, 5, 20))
        assert numbers(read(*rows, bridge_ports(p5=105), port(105, "Gi5"))) == [105]

    def test_two_ports_are_none(self):
        rows = (learned(HOST, 5, 10), learned(HOST, 6, 20))
        switch = read(*rows, bridge_ports(p5=105, p6=106), port(105, "Gi5"), port(106, "Gi6"))
        assert switch.ports == {}
        assert "several bridge ports (5, 6)" in switch.missing[HOST]

    def test_port_0_is_no_port(self):
        switch = read(learned(HOST, 0), bridge_ports(p0=7), port(7, "Gi7"))
        assert switch.missing == {HOST: f"the switch has learned {HOST} on no port"}

    def test_bridge_mib_where_there_is_no_other(self):
        switch = read(learned_in_bridge(HOST, 5), bridge_ports(p5=105), port(105, "Gi5"))
        assert only(switch).how == "BRIDGE"

    def test_an_address_in_capitals(self):
        host = Filers().agent(
            "10.0.0.9",
            agent(system("core"), learned(HOST, 5), bridge_ports(p5=105), port(105, "Gi5")),
        )
        assert list(switch_port.read_switch(host, target(), [HOST.upper()]).ports) == [HOST]

    def test_what_is_no_address_is_said(self):
        assert read(macs=("bond0",)).missing == {"bond0": "bond0 is not a MAC address"}

    def test_some_of_many(self):
        switch = read(
            learned(HOST, 5), learned(FILER, 6), bridge_ports(p5=105, p6=106),
            port(105, "Gi5"), port(106, "Gi6", oper=4), macs=(HOST, FILER, OTHER),
        )  # fmt: skip
        assert (numbers(switch), numbers(switch, FILER)) == ([105], [106])
        assert only(switch, FILER).port.oper == Pause(True, True)
        assert list(switch.missing) == [OTHER]


class TestCisco:
    """A table for each VLAN, in a context of its own."""

    def switch(self, **changes: Any) -> Contexts:
        main = agent(
            system("core", CISCO), vlans(1, 20, 30, 1002, idle=40), port(105, "Gi5", oper=3)
        )
        vlan = agent(learned_in_bridge(HOST, 5), bridge_ports(p5=105))
        named = {SECRET: main, f"{SECRET}@1": agent(), f"{SECRET}@20": vlan}
        return Contexts(**{**named, **changes})

    def test_by_community(self):
        host = self.switch()
        switch = switch_port.read_switch(host, target(), [HOST])
        assert only(switch).port.oper == Pause(rx=True, tx=False)
        assert only(switch).how == "BRIDGE"

    def test_stops_where_it_is_found_and_asks_no_reserved_vlan(self):
        host = self.switch()
        switch_port.read_switch(host, target(), [HOST])
        secrets = {query.secret.text for query in host.asked}
        assert secrets == {f'defCommunity "{SECRET}{end}"\n' for end in ("", "@1", "@20")}

    def test_no_secret_is_seen(self):
        host = self.switch()
        switch = switch_port.read_switch(host, target(), [HOST, OTHER])
        assert SECRET not in json.dumps([query.argv for query in host.asked])
        assert SECRET not in json.dumps(host.evidence)
        assert SECRET not in repr(switch)

    def test_by_context(self):
        main = agent(system("core", CISCO), vlans(20), port(105, "Gi5"))
        vlan = agent(learned_in_bridge(HOST, 5), bridge_ports(p5=105))
        host = Contexts(**{"": main, "vlan-20": vlan})
        asking = target(version="3", community="", user="monitor", level="noAuthNoPriv")
        assert numbers(switch_port.read_switch(host, asking, [HOST])) == [105]

    def test_silent_vlans_are_given_up(self):
        main = agent(system("core", CISCO), vlans(*range(10, 60)), port(105, "Gi5"))
        host = Contexts(**{SECRET: main})
        switch = switch_port.read_switch(host, target(), [HOST])
        assert "the switch did not answer everything" in switch.missing[HOST]
        assert sum("@" in query.secret.text for query in host.asked) == 2

    def test_reserved_vlans_are_never_asked(self):
        host = self.switch()
        switch_port.read_switch(host, target(), [OTHER])
        assert not any("@1002" in query.secret.text for query in host.asked)

    def test_others_have_no_such_contexts(self):
        host = Contexts(**{SECRET: agent(system("core"), vlans(20), port(105, "Gi5"))})
        switch_port.read_switch(host, target(), [HOST])
        assert not any("@" in query.secret.text for query in host.asked)


class TestLldp:
    def test_finds_who_is_in_no_table(self):
        switch = read(neighbour(5, "Gi5", HOST), port(105, "Gi5"), port(106, "Gi6"))
        assert (only(switch).how, only(switch).port.number) == ("LLDP", 105)

    def test_by_the_description_of_the_port(self):
        rows = neighbour(5, "GigabitEthernet5", HOST)
        switch = read(rows, port(105, "Gi5", description="GigabitEthernet5"))
        assert numbers(switch) == [105]

    def test_a_local_number_is_no_interface(self):
        switch = read(neighbour(105, "5/1", HOST), port(105, "Gi5"))
        assert switch.ports == {}

    def test_a_name_that_two_have_is_none(self):
        switch = read(neighbour(5, "lan", HOST), port(105, "lan"), port(106, "lan"))
        assert switch.ports == {}

    def test_another_switch_behind_the_port_is_said(self):
        rows = (learned(HOST, 5), bridge_ports(p5=105), port(105, "Gi5"))
        switch = read(*rows, neighbour(9, "Gi5", OTHER, "access-3", bridge=True))
        assert only(switch).uplink == "access-3"

    def test_the_host_itself_may_be_a_bridge(self):
        rows = (learned(HOST, 5), bridge_ports(p5=105), port(105, "Gi5"))
        switch = read(*rows, neighbour(9, "Gi5", HOST, "db1", bridge=True))
        assert only(switch).uplink == ""

    def test_a_station_is_no_switch(self):
        rows = (learned(HOST, 5), bridge_ports(p5=105), port(105, "Gi5"))
        assert only(read(*rows, neighbour(9, "Gi5", OTHER, "phone"))).uplink == ""

    def test_a_chassis_by_name(self):
        switch = read(neighbour(5, "Gi5", HOST, "db1", chassis="db1"), port(105, "Gi5"))
        assert numbers(switch) == [105]


class TestCrowd:
    """A port with more addresses behind it than a host has leads to another switch."""

    ROWS = (bridge_ports(p5=105, p6=106), port(105, "Te5"), port(106, "Gi6"))

    def others(self, number: int, at: int = 5, table: int = 1) -> Rows:
        return {
            oid: row
            for last in range(number)
            for oid, row in learned(f"00:50:56:00:00:{last:02x}", at, table).items()
        }

    @cases("number uplink", (8, ""), (9, "9 other addresses"))
    def test_edge(self, number, uplink):
        switch = read(*self.ROWS, learned(HOST, 5), self.others(number))
        assert only(switch).uplink == uplink

    def test_others_on_other_ports_and_in_other_tables_do_not_count(self):
        rows = (self.others(50, 6), self.others(50, 5, table=2))
        assert only(read(*self.ROWS, learned(HOST, 5), *rows)).uplink == ""

    def test_our_own_addresses_do_not_count(self):
        macs = tuple(f"00:50:56:00:00:{last:02x}" for last in range(20))
        switch = read(*self.ROWS, learned(HOST, 5), self.others(20), macs=(HOST, *macs))
        assert only(switch).uplink == ""

    def test_a_hypervisor_that_says_who_it_is_is_no_switch(self):
        rows = (self.others(50), neighbour(9, "Te5", HOST, "kvm1", bridge=True))
        assert only(read(*self.ROWS, learned(HOST, 5), *rows)).uplink == ""

    def test_the_only_table_of_bridge_mib(self):
        rows = [learned_in_bridge(f"00:50:56:00:00:{last:02x}", 5) for last in range(20)]
        switch = read(*self.ROWS, learned_in_bridge(HOST, 5), *rows)
        assert only(switch).uplink == "20 other addresses"

    def test_the_table_of_a_vlan(self):
        many = [learned_in_bridge(f"00:50:56:00:00:{last:02x}", 5) for last in range(20)]
        vlan = agent(learned_in_bridge(HOST, 5), *many, bridge_ports(p5=105))
        main = agent(system("core", CISCO), vlans(20), port(105, "Te5"))
        host = Contexts(**{SECRET: main, f"{SECRET}@20": vlan})
        switch = switch_port.read_switch(host, target(), [HOST])
        assert only(switch).uplink == "20 other addresses"


class TestLayers:
    def test_a_unit_stands_for_its_port(self):
        rows = (learned(HOST, 5), bridge_ports(p5=500), unit(500, "ge-0/0/5.0"), above(500, 105))
        switch = read(*rows, port(105, "ge-0/0/5", oper=4))
        assert only(switch).port.name == "ge-0/0/5"
        assert only(switch).aggregate == ""

    def test_an_aggregate_stands_for_its_members(self):
        rows = (learned(HOST, 5), bridge_ports(p5=900), unit(900, "Po1", 161))
        switch = read(*rows, bundle(900, g7=1, g8=2), port(7, "Gi7", oper=4), port(8, "Gi8"))
        assert numbers(switch) == [7, 8]
        assert [entry.partner for entry in switch.ports[HOST]] == [1, 2]
        assert {entry.aggregate for entry in switch.ports[HOST]} == {"Po1"}

    def test_also_one_that_has_a_mode_of_its_own(self):
        rows = (learned(HOST, 5), bridge_ports(p5=900), port(900, "Po1", kind=161, oper=1))
        assert numbers(read(*rows, bundle(900, g7=1), port(7, "Gi7", oper=4))) == [7]

    def test_by_the_stack_where_the_switch_has_no_lacp(self):
        rows = (learned(HOST, 5), bridge_ports(p5=900), unit(900, "Po1", 161), above(900, 0, 7, 8))
        switch = read(*rows, port(7, "Gi7"), port(8, "Gi8"))
        assert numbers(switch) == [7, 8]
        assert [entry.partner for entry in switch.ports[HOST]] == [None, None]

    def test_a_unit_of_an_aggregate(self):
        rows = (learned(HOST, 5), bridge_ports(p5=950), unit(950, "ae0.0"), above(950, 900))
        switch = read(*rows, unit(900, "ae0", 161), bundle(900, g7=3), port(7, "xe-0/0/7"))
        assert [(entry.port.name, entry.partner) for entry in switch.ports[HOST]] == [
            ("xe-0/0/7", 3)
        ]

    def test_a_stack_that_goes_in_circles_ends(self):
        rows = (learned(HOST, 5), bridge_ports(p5=900), unit(900, "a"), unit(901, "b"))
        assert read(*rows, above(900, 901), above(901, 900)).ports[HOST][0].port.oper is None

    def test_with_nothing_below_its_mode_is_unknown(self):
        entry = only(read(learned(HOST, 5), bridge_ports(p5=900), unit(900, "Po1", 161)))
        assert (entry.port.name, entry.port.oper) == ("Po1", None)


class TestAgain:
    def test_both_readings_of_a_port_that_serves_two(self):
        parts = (learned(HOST, 5), learned(FILER, 5), bridge_ports(p5=105))
        host = Filers().agent("10.0.0.9", agent(system("core"), *parts, port(105, "Gi5")))
        first = switch_port.read_switch(host, target(), [HOST, FILER])
        later = agent(system("core", uptime=100500), *parts, port(105, "Gi5", out_discards=8))
        host.agent("10.0.0.9", later)
        again = switch_port.read_again(host, target(), first)
        assert only(again).port.delta == Delta(5.0, 0, 0, 0, 8)
        assert only(again, FILER).port.delta.out_discards == 8
        assert set(again.evidence) == set(host.evidence)
        assert len(again.evidence) == len(set(again.evidence))

    def test_a_second_reading_that_fails_is_unknown(self):
        parts = (learned(HOST, 5), bridge_ports(p5=105), port(105, "Gi5", out_discards=8))
        host = Filers().agent("10.0.0.9", agent(system("core"), *parts))
        first = switch_port.read_switch(host, target(), [HOST])
        host.agents.clear()
        assert only(switch_port.read_again(host, target(), first)).port.delta.out_discards is None

    def test_is_replayed_alike(self):
        parts = (learned(HOST, 5), bridge_ports(p5=105), port(105, "Gi5"))
        host = Filers().agent("10.0.0.9", agent(system("core"), *parts))
        live = switch_port.read_again(
            host, target(), switch_port.read_switch(host, target(), [HOST])
        )
        replay = RecordedHost(host.evidence)
        assert switch_port.read_again(
            replay, target(), switch_port.read_switch(replay, target(), [HOST])
        ) == live  # fmt: skip


def test_another_control_may_ask_the_same_agent():
    """Evidence is kept by the question's name: what storage_type asked is no answer to ours."""
    parts = (learned(HOST, 5), bridge_ports(p5=105), port(105, "Gi5", oper=4))
    host = Filers().agent("10.0.0.9", agent(system("core"), *parts))
    before = storage_agent.identify_agent(host, target())
    switch = switch_port.read_switch(host, target(), [HOST])
    assert (switch.system, only(switch).port.oper) == ("core", Pause(True, True))
    assert storage_agent.identify_agent(RecordedHost(host.evidence), target()) == before


class TestSilence:
    def test_says_why(self):
        with pytest.raises(snmp.NoAnswer) as caught:
            switch_port.read_switch(Filers(), target(), [HOST])
        assert caught.value.reason == snmp.SILENT
        assert SECRET not in str(caught.value)

    def test_is_found_out_once(self):
        host = Filers()
        with pytest.raises(snmp.NoAnswer):
            switch_port.read_switch(host, target(), [HOST])
        assert len(host.asked) == 1

    def test_half_of_an_answer_is_no_absence(self):
        class Tired(Agent):
            def reply(self, argv: list[str]) -> tuple[int, str, str]:
                if argv[0] == "snmpgetnext":
                    return 1, "", "Timeout: No Response from udp:10.0.0.9:161.\n"
                return super().reply(argv)

        device = agent(system("core"), learned(HOST, 5), bridge_ports(p5=105), port(105, "Gi5"))
        device.__class__ = Tired
        switch = switch_port.read_switch(Filers().agent("10.0.0.9", device), target(), [HOST])
        assert "did not answer everything" in switch.missing[HOST]


class TestFuzz:
    """Whatever an agent says: a port, or why there is none; never a mode that it did not say."""

    WHOLE = (
        system("core", CISCO), vlans(20), learned(HOST, 5), learned(FILER, 6),
        neighbour(5, "Gi5", OTHER),
        bridge_ports(p5=900, p6=106), unit(900, "Po1", 161), bundle(900, g7=1, g8=2), above(900, 7),
        port(7, "Gi7", oper=4), port(8, "Gi8", oper=3), port(106, "Gi6", oper=2),
    )  # fmt: skip

    def spoilt(self, chance: random.Random) -> Agent:
        rows = {oid: row for part in self.WHOLE for oid, row in part.items()}
        for oid in list(rows):
            if chance.random() < 0.15:
                junk: list[tuple[str, str]] = [
                    ("2", str(chance.choice([-1, 0, 5, 99, 2**31 - 1]))),
                    ("4", chance.choice(["", "x" * 300, "4", "\x1b[2J", "<b>"])),
                    ("4x", chance.randbytes(chance.randrange(12)).hex()),
                    ("6", "1.3.6.1.4.1.9.1"),
                    ("70", str(2**64 - 1)),
                ]
                if chance.random() < 0.3:
                    del rows[oid]
                else:
                    rows[oid] = chance.choice(junk)
        return Agent(rows)

    @pytest.mark.parametrize("seed", range(150))
    def test_values(self, seed):
        device = self.spoilt(random.Random(seed))
        host = Filers().agent("10.0.0.9", device)
        switch = switch_port.read_switch(host, target(), [HOST, FILER])
        assert set(switch.ports) | set(switch.missing) == {HOST, FILER}
        assert not set(switch.ports) & set(switch.missing)
        for ports in switch_port.read_again(host, target(), switch).ports.values():
            for each in ports:
                key = (*map(int, ethernet_port.PAUSE_OPER.split(".")), each.port.number)
                value = device.rows.get(key, ("", ""))
                valid = value[0] == "2" and value[1] in switch_truth.MODES
                assert each.port.oper == (switch_truth.MODES[value[1]] if valid else None)
                assert each.name.isprintable()

    @pytest.mark.parametrize("seed", range(60))
    def test_output_of_the_tool(self, seed):
        chance = random.Random(seed)

        class Noise(Agent):
            def reply(self, argv: list[str]) -> tuple[int, str, str]:
                rc, output, errors = super().reply(argv)
                if chance.random() < 0.4:
                    output = output[: chance.randrange(len(output) + 1)]
                return rc, output, errors

        device = agent(*self.WHOLE)
        device.__class__ = Noise
        host = Filers().agent("10.0.0.9", device)
        try:
            switch = switch_port.read_switch(host, target(), [HOST, FILER])
        except snmp.NoAnswer:
            return
        assert set(switch.ports) | set(switch.missing) == {HOST, FILER}


def recorded() -> list[Any]:
    records = switch_truth.records()
    if not records:
        reason = f"no recorded switches in {switch_truth.FOLDER}"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason))]
    return [pytest.param(path, id=path.stem) for path in records]


class TestRecords:
    """The switches that other projects recorded; tests/snmp/pause.py asks them over the wire."""

    @pytest.mark.parametrize("path", recorded())
    def test_modes_and_counters_of_every_port(self, path):
        host = Filers().agent("10.0.0.9", Agent.recorded(path))
        row = switch_truth.compare(
            path, lambda number: ethernet_port.read_port(host, target(), number)
        )
        assert row.ports
        assert row.faults == []

    @pytest.mark.parametrize("path", recorded()[:1])
    def test_the_whole_chain_of_one(self, path):
        path = switch_truth.FOLDER / "network__router__huawei-s5720.snmprec"
        host = Filers().agent("10.0.0.9", Agent.recorded(path))
        switch = switch_port.read_switch(host, target(), ["00:0b:86:a9:56:c0"])
        entry = only(switch, "00:0b:86:a9:56:c0")
        assert (entry.port.number, entry.port.name, entry.how) == (
            34,
            "XGigabitEthernet0/0/1",
            "BRIDGE",
        )
        assert (entry.port.oper, entry.port.speed) == (Pause(False, False), 10000)

    @pytest.mark.parametrize("path", recorded()[:1])
    def test_an_agent_without_modes_has_none(self, path):
        path = switch_truth.FOLDER / "network__switch__cisco-n5000.snmprec"
        rows = switch_truth.table_of(switch_truth.lines_of(path))
        host = Filers().agent("10.0.0.9", Agent.recorded(path))
        ports = [
            ethernet_port.read_port(host, target(), number) for number in sorted(rows["inPause"])
        ]
        assert len(ports) == 44
        assert {(entry.oper, entry.admin) for entry in ports} == {(None, None)}
        assert all(entry.before.in_pause is not None for entry in ports)


def test_a_record_is_written_in_order(tmp_path):
    write_record(tmp_path / "core.snmprec", port(10, "b"), port(9, "a"))
    lines = (tmp_path / "core.snmprec").read_text().splitlines()
    oids = [tuple(map(int, line.split("|")[0].split("."))) for line in lines]
    assert oids == sorted(oids)
