"""The filer's end: ONTAP's tables (made up from NETAPP-MIB), any other agent, and the policy.

An ONTAP agent was not at hand: that these tables look so on a filer rests on the text of the MIB.
"""

import random
from typing import Any

import pytest
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.flow_control.snmp import filer_port
from ansible.module_utils.hostproof.controls.flow_control.snmp.ethernet_port import (
    UNSEEN,
    Delta,
    Pause,
)
from ansible.module_utils.hostproof.errors import Absent
from ansible.module_utils.hostproof.snmp import tools as snmp
from cases import cases
from snmp_agents import Agent, Filers
from switch_agents import FILER, GROUP, VLAN, Rows, agent, group, lif, netif, netport, port, system

SECRET = "s3cret community"
TARGET = snmp.Target("na1", 161, snmp.Credentials("2c", SECRET), 1, 0)
ADDRESS = "192.0.2.20"
OTHER = "02:a0:98:ff:ff:ff"


def read(*parts: Rows, address: str = ADDRESS, mac: str = "") -> filer_port.Filer:
    host = Filers().agent("na1", agent(system("na1"), *parts))
    return filer_port.read_filer(host, TARGET, address, mac)


def names(filer: filer_port.Filer) -> list[str]:
    return [entry.port.name for entry in filer.ports]


class TestOntap:
    @cases(
        "number mode",
        (1, Pause(rx=False, tx=False)),
        (2, Pause(rx=True, tx=False)),
        (3, Pause(rx=False, tx=True)),
        (4, Pause(rx=True, tx=True)),
        (0, None),
        (7, None),
        (None, None),
    )
    def test_mode(self, number, mode):
        """NETAPP-MIB has receive before send, EtherLike-MIB the other way round."""
        (entry,) = read(netport("e0a", oper=number, admin=4), lif(ADDRESS, "e0a")).ports
        assert (entry.port.oper, entry.port.admin) == (mode, Pause(True, True))

    def test_state(self):
        (entry,) = read(netport("e0a"), lif(ADDRESS, "e0a")).ports
        assert (entry.name, entry.how, entry.mac) == ("na1 n1:e0a", "ONTAP", FILER)
        assert (entry.port.speed, entry.port.duplex, entry.port.mtu) == (10000, "full", 9000)
        assert entry.port.up is True

    @cases("number up", (0, None), (1, False), (2, True), (3, False))
    def test_link(self, number, up):
        (entry,) = read(netport("e0a", link=number), lif(ADDRESS, "e0a")).ports
        assert entry.port.up is up

    @cases("number", 0, 1, None)
    def test_duplex_that_is_none(self, number):
        (entry,) = read(netport("e0a", duplex=number), lif(ADDRESS, "e0a")).ports
        assert entry.port.duplex is None

    def test_the_port_that_the_address_is_on(self):
        ports = (netport("e0a", mac=OTHER), netport("e0b"), netport("e0b", node="n2", oper=4))
        filer = read(*ports, lif("192.0.2.21", "e0b", name="nfs2"), lif(ADDRESS, "e0b", "n2"))
        assert names(filer) == ["n2:e0b"]

    def test_the_address_before_the_mac(self):
        ports = (netport("e0a", mac=OTHER), netport("e0b"))
        assert names(read(*ports, lif(ADDRESS, "e0b"), mac=OTHER)) == ["n1:e0b"]

    @cases("shown", FILER, FILER.upper(), FILER.replace(":", "-"))
    def test_by_mac_where_no_address_is_told(self, shown):
        assert names(read(netport("e0a", mac=shown), mac=FILER)) == ["n1:e0a"]

    def test_version_6(self):
        filer = read(netport("e0a"), lif("2001:db8::20", "e0a"), address="2001:db8::20")
        assert names(filer) == ["n1:e0a"]

    def test_an_address_of_an_old_release(self):
        rows = {oid: row for oid, row in lif(ADDRESS, "e0a").items() if ".22.4.1.30." not in oid}
        assert names(read(netport("e0a"), rows)) == ["n1:e0a"]

    def test_a_mac_that_two_have_is_nobody(self):
        with pytest.raises(Absent):
            read(netport("e0a"), netport("e0b"), mac=FILER)

    def test_nobody_has_the_address(self):
        with pytest.raises(Absent, match="does not say which of its ports serves"):
            read(netport("e0a"), lif("192.0.2.99", "e0a"))


class TestLayers:
    MEMBERS = (
        netport("e0c", within="a0a", oper=2),
        netport("e0d", within="a0a", oper=2),
        netport("e0e", mac=OTHER),
        netport("e0c", node="n2", within="a0a"),
    )

    def test_a_group_stands_for_its_members(self):
        filer = read(*self.MEMBERS, netport("a0a", kind=GROUP, oper=0), lif(ADDRESS, "a0a"))
        assert names(filer) == ["n1:e0c", "n1:e0d"]
        assert {entry.port.oper for entry in filer.ports} == {Pause(rx=True, tx=False)}

    def test_by_its_own_list(self):
        ports = (netport("e0c"), netport("e0d"), netport("a0a", kind=GROUP, oper=0))
        filer = read(*ports, group("a0a", "e0c, e0d"), lif(ADDRESS, "a0a"))
        assert names(filer) == ["n1:e0c", "n1:e0d"]

    def test_a_vlan_of_a_group(self):
        above = netport("a0a-20", kind=VLAN, above="a0a", oper=0)
        filer = read(
            *self.MEMBERS, netport("a0a", kind=GROUP, oper=0), above, lif(ADDRESS, "a0a-20")
        )
        assert names(filer) == ["n1:e0c", "n1:e0d"]

    def test_a_vlan_by_its_name(self):
        ports = (netport("e0a"), netport("e0a-20", kind=VLAN, oper=0))
        assert names(read(*ports, lif(ADDRESS, "e0a-20"))) == ["n1:e0a"]

    def test_the_mac_of_a_group(self):
        ports = (*self.MEMBERS, netport("a0a", kind=GROUP, oper=0))
        assert names(read(*ports, mac=FILER)) == ["n1:e0c", "n1:e0d"]

    def test_a_group_without_members_is_unknown(self):
        (entry,) = read(netport("a0a", kind=GROUP, oper=0), lif(ADDRESS, "a0a")).ports
        assert (entry.port.name, entry.port.oper) == ("n1:a0a", None)


class TestCounters:
    ROWS = (netport("e0a"), lif(ADDRESS, "e0a"))

    def test_two_readings(self):
        first_counts = (netif(1, "n1:e0a", 5, 10), netif(2, "n2:e0a", 900, 900))
        host = Filers().agent("na1", agent(system("na1"), *self.ROWS, *first_counts))
        first = filer_port.read_filer(host, TARGET, ADDRESS)
        later = (netif(1, "n1:e0a", 5, 52), netif(2, "n2:e0a", 999, 999))
        host.agent("na1", agent(system("na1", uptime=100500), *self.ROWS, *later))
        again = filer_port.read_again(host, TARGET, first)
        assert again.ports[0].port.delta == Delta(5.0, None, None, 0, 42)
        assert set(again.evidence) == set(host.evidence)
        assert filer_port.read_again(RecordedHost(host.evidence), TARGET, first) == again

    def test_a_management_port_by_its_longer_name(self):
        rows = (netport("e0M"), lif(ADDRESS, "e0M"), netif(1, "n1:MGMT_PORT_ONLY e0M", 7, 0))
        assert read(*rows).ports[0].port.before.in_discards == 7

    def test_not_counted_is_unknown(self):
        host = Filers().agent("na1", agent(system("na1"), *self.ROWS))
        first = filer_port.read_filer(host, TARGET, ADDRESS)
        assert filer_port.read_again(host, TARGET, first).ports[0].port.delta == UNSEEN


class TestAnyOther:
    """IF-MIB: what most agents have."""

    ADDRESS_ROW = {f"1.3.6.1.2.1.4.20.1.2.{ADDRESS}": ("2", "3")}

    def test_by_address(self):
        (entry,) = read(port(3, "igb0", oper=4), self.ADDRESS_ROW).ports
        assert (entry.how, entry.port.name, entry.port.oper) == (
            "IF-MIB",
            "igb0",
            Pause(True, True),
        )

    def test_by_the_address_of_the_newer_table(self):
        rows = {f"1.3.6.1.2.1.4.34.1.3.1.4.{ADDRESS}": ("2", "3")}
        assert names(read(port(3, "igb0"), rows)) == ["igb0"]

    def test_by_mac(self):
        rows = port(3, "igb0", address=FILER.replace(":", ""))
        assert names(read(rows, port(4, "igb1"), mac=FILER)) == ["igb0"]

    def test_without_etherlike_the_mode_is_unknown(self):
        none = dict.fromkeys(("duplex", "admin", "oper", "in_pause", "out_pause"))
        (entry,) = read(port(3, "igb0", **none), self.ADDRESS_ROW).ports
        assert (entry.port.oper, entry.port.admin, entry.port.speed) == (None, None, 1000)

    def test_two_readings(self):
        host = Filers().agent("na1", agent(system("na1"), port(3, "igb0"), self.ADDRESS_ROW))
        first = filer_port.read_filer(host, TARGET, ADDRESS)
        host.agent("na1", agent(system("na1", uptime=100500), port(3, "igb0", in_pause=6)))
        again = filer_port.read_again(host, TARGET, first)
        assert again.ports[0].port.delta == Delta(5.0, 6, 0, 0, 0)

    def test_neither(self):
        with pytest.raises(Absent):
            read(port(3, "igb0"))


class TestPolicy:
    def test_as_it_is_given(self):
        entry = filer_port.from_policy(
            ADDRESS, "eth0", Pause(True, False), FILER.upper(), speed=1000
        )
        assert (entry.name, entry.how, entry.mac) == (f"{ADDRESS} eth0", "policy", FILER)
        assert (entry.port.oper, entry.port.speed, entry.port.mtu) == (
            Pause(True, False),
            1000,
            None,
        )

    def test_nobody_is_asked_again(self):
        entry = filer_port.from_policy(ADDRESS, "eth0", None)
        filer = filer_port.Filer(ADDRESS, ADDRESS, (entry,), ())
        host = Filers()
        assert filer_port.read_again(host, TARGET, filer) == filer
        assert host.asked == []


class TestSilence:
    def test_says_why(self):
        with pytest.raises(snmp.NoAnswer) as caught:
            filer_port.read_filer(Filers(), TARGET, ADDRESS)
        assert caught.value.reason == snmp.SILENT

    def test_half_of_an_answer_is_no_absence(self):
        class Tired(Agent):
            def reply(self, argv: list[str]) -> tuple[int, str, str]:
                if argv[0] == "snmpbulkwalk":
                    return 1, "", "Timeout: No Response from udp:na1:161.\n"
                return super().reply(argv)

        device = agent(system("na1"), netport("e0a"), lif(ADDRESS, "e0a"))
        device.__class__ = Tired
        with pytest.raises(snmp.NoAnswer, match="did not answer everything"):
            filer_port.read_filer(Filers().agent("na1", device), TARGET, ADDRESS, FILER)

    def test_no_secret_is_seen(self):
        host = Filers().agent("na1", agent(system("na1"), netport("e0a"), lif(ADDRESS, "e0a")))
        filer = filer_port.read_filer(host, TARGET, ADDRESS)
        assert SECRET not in str([query.argv for query in host.asked]) + str(host.evidence)
        assert SECRET not in repr(filer)


class TestFuzz:
    WHOLE: tuple[Rows, ...] = (
        system("na1"),
        *TestLayers.MEMBERS,
        netport("a0a", kind=GROUP, oper=0),
        netport("a0a-20", kind=VLAN, above="a0a", oper=0),
        group("a0a", "e0c,e0d"),
        lif(ADDRESS, "a0a-20"),
        netif(1, "n1:e0c", 1, 2),
    )

    @pytest.mark.parametrize("seed", range(150))
    def test_values(self, seed):
        chance = random.Random(seed)
        rows = {oid: row for part in self.WHOLE for oid, row in part.items()}
        junk: list[tuple[str, str]] = [
            ("2", "-1"), ("2", "99"), ("4", "x" * 300), ("4", ""), ("4", "a0a-20"),
            ("4x", "ff00ff"), ("70", str(2**64 - 1)), ("64", ADDRESS),
        ]  # fmt: skip
        for oid in list(rows):
            if chance.random() < 0.2:
                rows[oid] = chance.choice(junk)
        values = {row[1] for oid, row in rows.items() if ".22.2.1.24." in oid and row[0] == "2"}
        host = Filers().agent("na1", Agent(rows))
        answer: Any
        try:
            answer = filer_port.read_filer(host, TARGET, ADDRESS, FILER)
        except (Absent, snmp.NoAnswer):
            return
        assert answer.ports
        modes = {
            None,
            *(filer_port._PAUSE_MODES[number] for number in (1, 2, 3, 4) if str(number) in values),
        }
        for entry in filer_port.read_again(host, TARGET, answer).ports:
            assert entry.port.oper in modes
            assert entry.name.isprintable()

    def test_a_vlan_of_itself_ends(self):
        rows = netport("e0a-20", kind=VLAN, above="e0a-20", oper=0)
        assert names(read(rows, lif(ADDRESS, "e0a-20"))) == ["n1:e0a-20"]
