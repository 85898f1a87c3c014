"""A path from host to filer, whose switch and filer are real SNMP agents with made-up tables.

net-snmp's agent serves the tables (its "override"), net-snmp's tools ask it. The host's own end is
given here; the laboratory has one whose network card is real. That ONTAP's tables look so rests on
the text of NETAPP-MIB.
"""

import contextlib
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import agents
import pytest
from agents import AUTH, PRIV
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.controls.flow_control.snmp import filer_port, switch_port
from ansible.module_utils.hostproof.controls.flow_control.snmp.ethernet_port import Pause
from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, PASS, Finding
from ansible.module_utils.hostproof.snmp import tools as snmp
from test_secrets import COMMUNITY, Watch

sys.path.append(str(Path(__file__).resolve().parents[1] / "unit"))

import path_facts  # noqa: E402
from path_facts import ADDRESS, OFF, ON, RX, TX  # noqa: E402
from switch_agents import (  # noqa: E402
    CISCO,
    FILER,
    HOST,
    Rows,
    bridge_ports,
    learned,
    learned_in_bridge,
    lif,
    netif,
    netport,
    port,
    system,
    vlans,
    write_record,
)

#: As snmpd.conf(5), override, names the types of snmpsim's records.
TYPES = {
    "2": "integer", "4": "octet_str", "4x": "octet_str", "6": "object_id", "65": "counter",
    "66": "uinteger", "67": "timeticks", "70": "counter64",
}  # fmt: skip

MODES = {OFF: 1, TX: 2, RX: 3, ON: 4, None: None}
MODES_OF_ONTAP = {OFF: 1, RX: 2, TX: 3, ON: 4, None: 0}


def served(*parts: Rows) -> str:
    """Lines for snmpd.conf."""
    lines = []
    for rows in parts:
        for oid, (tag, value) in rows.items():
            if tag in TYPES and oid != "1.3.6.1.2.1.1.3.0":
                shown = f"0x{value}" if tag == "4x" else f'"{value}"' if tag == "4" else value
                lines.append(f"override .{oid} {TYPES[tag]} {shown}\n")
    return "".join(lines)


def switch_rows(
    near: Pause | None, far: Pause | None, near_changes: dict, far_changes: dict
) -> str:
    return served(
        system("core"),
        learned(HOST, 29, 20), learned(FILER, 30, 20), bridge_ports(p29=34, p30=35),
        port(34, "Gi1/0/1", oper=MODES[near], admin=MODES[near], **near_changes),
        port(35, "Gi1/0/24", oper=MODES[far], admin=MODES[far], **far_changes),
    )  # fmt: skip


def target(number: int, **how: str) -> snmp.Target:
    credentials = snmp.credentials_from(how or {"community": "public"})
    return snmp.Target("127.0.0.1", number, credentials, 2, 1)


class Case:
    """A path: the mode of each end, and what is not usual of it."""

    def __init__(self, *modes: Pause | None, **changes: Any) -> None:
        self.host, self.near, self.far, self.end = modes
        self.host_side: dict[str, Any] = changes.get("host_side", {})
        self.near_port: dict[str, Any] = changes.get("near_port", {})
        self.later: dict[str, Any] = changes.get("later", {})

    @contextlib.contextmanager
    def agents(self, folder: Path) -> Iterator[tuple[agents.Relay, int, int]]:
        """The switch, what it becomes, and the filer."""
        filer = served(
            system("na1"),
            netport("e0a", oper=MODES_OF_ONTAP[self.end], admin=4, speed=1000),
            lif(ADDRESS, "e0a"),
            netif(1, "n1:e0a"),
        )
        now = switch_rows(self.near, self.far, self.near_port, {})
        later = switch_rows(self.near, self.far, {**self.near_port, **self.later}, {})
        # What comes later must have been up for longer, or its counters would count anew.
        with (
            agents.snmpd(folder / "later", later) as second,
            agents.snmpd(folder / "switch", now) as first,
            agents.snmpd(folder / "filer", filer) as third,
            agents.relay(first) as wire,
        ):
            yield wire, second, third

    def judge(self, folder: Path) -> list[Finding]:
        with self.agents(folder) as (wire, second, third):
            host = LiveHost()
            filer = filer_port.read_filer(host, target(third), ADDRESS)
            macs = [HOST, *(interface.mac for interface in filer.ports)]
            switch = switch_port.read_switch(host, target(wire.port), macs)
            wire.agent = second
            filer = filer_port.read_again(host, target(third), filer)
            switch = switch_port.read_again(host, target(wire.port), switch)
        nic = path_facts.nic("eth1", self.host, traffic=path_facts.counted(), **self.host_side)
        seen = path_facts.facts(nic, switches={"sw1": switch}, filers={ADDRESS: filer})
        return path_facts.judged(seen)


CASES = {
    "all off": (Case(OFF, OFF, OFF, OFF), PASS, PASS),
    "all on": (Case(ON, ON, ON, ON), PASS, PASS),
    "one-sided": (Case(OFF, TX, RX, TX), FAIL, PASS),
    "half duplex": (Case(ON, OFF, OFF, OFF, near_port={"duplex": 2}), FAIL, PASS),
    "speed mismatch, discards rising": (
        Case(
            OFF, OFF, OFF, RX, host_side={"speed": 100},
            near_port={"speed": 100, "bits": 100000000, "out_discards": 7},
            later={"out_discards": 1539},
        ),
        FAIL,
        PASS,
    ),
    "mode unknown, counters only": (
        Case(RX, None, OFF, OFF, near_port={"in_pause": 812}, later={"in_pause": 815}),
        ERROR,
        PASS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_path_and_its_two_cables(tmp_path, name):
    case, host_cable, filer_cable = CASES[name]
    findings = [finding for finding in case.judge(tmp_path) if finding.check == "flow_control.link"]
    for finding in findings:
        print(f"{name}: {finding.status}: {finding.running}\n    {finding.why}")
    assert [finding.status for finding in findings] == [host_cable, filer_cable]
    chain = findings[0].running or ""
    assert chain == findings[1].running
    assert "\n" not in chain
    names = [part.partition(" [")[0] for part in chain.replace(" ... ", " <-> ").split(" <-> ")]
    assert names[:3] == ["eth1", "core Gi1/0/1", "core Gi1/0/24"]
    assert names[3].endswith(" n1:e0a")


def test_the_words_of_the_case_study(tmp_path):
    case, _host, _filer = CASES["speed mismatch, discards rising"]
    findings = [finding for finding in case.judge(tmp_path) if finding.check == "flow_control.link"]
    assert "discarded 1532 frames toward eth1" in findings[0].why
    assert "is overrunning the port buffers at the 100 Mb/s end" in findings[0].why


def test_what_is_counted_where_no_mode_is_told(tmp_path):
    case, _host, _filer = CASES["mode unknown, counters only"]
    findings = [finding for finding in case.judge(tmp_path) if finding.check == "flow_control.link"]
    assert "3 frames received and 0 sent" in findings[0].why
    assert "812 received and 0 sent since it counts" in findings[0].why


@pytest.fixture
def sealed_switch(tmp_path) -> Iterator[int]:
    with agents.snmpd(tmp_path / "switch", switch_rows(ON, OFF, {}, {})) as number:
        yield number


def test_version_3(sealed_switch):
    agent = target(
        sealed_switch, version="3", user="sealed", auth_protocol="SHA-512", auth_passphrase=AUTH,
        priv_protocol="AES", priv_passphrase=PRIV,
    )  # fmt: skip
    switch = switch_port.read_switch(LiveHost(), agent, [HOST])
    assert switch.ports[HOST][0].port.oper == ON


def test_version_1_which_has_no_64_bits(sealed_switch):
    switch = switch_port.read_switch(
        LiveHost(), target(sealed_switch, version="1", community="public"), [HOST, FILER]
    )
    assert [switch.ports[mac][0].port.oper for mac in (HOST, FILER)] == [ON, OFF]


def test_wrong_credentials_are_told(sealed_switch):
    agent = target(sealed_switch, community="wrong")._replace(timeout=0.5, retries=0)
    with pytest.raises(snmp.NoAnswer) as caught:
        switch_port.read_switch(LiveHost(), agent, [HOST])
    assert caught.value.reason == snmp.REFUSED


def test_cisco_by_vlan(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    write_record(
        data / "core.snmprec", system("core", CISCO), vlans(10, 20), port(105, "Gi5", oper=4)
    )
    write_record(data / "core@10.snmprec", system("core", CISCO), learned_in_bridge(FILER, 5))
    write_record(
        data / "core@20.snmprec",
        system("core", CISCO),
        learned_in_bridge(HOST, 5),
        bridge_ports(p5=105),
    )
    host = LiveHost()
    with agents.snmpsim(data, tmp_path / "cache") as number:
        agent = target(number, community="core")
        switch = switch_port.read_switch(host, agent, [HOST, FILER])
    assert switch.ports[HOST][0].port.oper == ON
    assert "does not say which interface" in switch.missing[FILER]
    assert switch_port.read_switch(RecordedHost(host.evidence), agent, [HOST, FILER]) == switch


def test_no_secret_is_seen_while_it_is_asked(tmp_path):
    """Not in the arguments or the environment of any process, and in no file."""
    lines = served(system("core", CISCO), vlans(10, 20), port(34, "Gi1/0/1"))
    extra = f"rocommunity {COMMUNITY}\nrocommunity {COMMUNITY}@10\nrocommunity {COMMUNITY}@20\n"
    host = LiveHost()
    (tmp_path / "looked").mkdir()
    with (
        agents.snmpd(tmp_path / "agent", lines + extra) as number,
        agents.relay(number, delay=0.2) as slow,
    ):
        watch = Watch(tmp_path / "looked")
        try:
            agent = target(slow.port, community=COMMUNITY)
            switch = switch_port.read_switch(host, agent, [HOST])
        finally:
            watch.stop()
    assert HOST in switch.missing
    assert watch.tools, "the tool was never seen at work"
    assert watch.seen == set()
    assert COMMUNITY not in str(host.evidence) + repr(switch)
    assert any(f"{COMMUNITY}@20".encode() in request for request in slow.requests)


def test_replies_that_are_cut_off_or_changed(tmp_path):
    chance = random.Random(20240229)

    def spoil(reply: bytes) -> bytes:
        if not reply or chance.random() < 0.7:
            return reply
        if chance.random() < 0.5:
            return reply[: chance.randrange(len(reply) + 1)]
        spoilt = bytearray(reply)
        spoilt[chance.randrange(len(spoilt))] ^= 1 << chance.randrange(8)
        return bytes(spoilt)

    with agents.snmpd(tmp_path / "switch", switch_rows(ON, TX, {}, {})) as number:
        for _ in range(12):
            with agents.relay(number, spoil) as bad:
                agent = target(bad.port)._replace(timeout=0.1, retries=0)
                try:
                    switch = switch_port.read_switch(LiveHost(), agent, [HOST, FILER])
                except snmp.NoAnswer:
                    continue
            assert set(switch.ports) | set(switch.missing) == {HOST, FILER}
