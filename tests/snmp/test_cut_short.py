"""Real agents that stop in the middle of each walk that we make: nothing that rests on it passes.

net-snmp's agent serves the tables and net-snmp's tools ask it. Between them stands a relay that
makes every bulk request one of a single row, so that every walk has a middle, and that stops one
walk after its first row: by silence, by the error genErr, or by the end of the tree.
"""

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import agents
import pytest
from ansible.module_utils.hostproof.collect.answer import attempt
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.controls.flow_control.snmp import filer_port, switch_port
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN, Finding
from ansible.module_utils.hostproof.snmp import tools as snmp
from test_paths import served

sys.path.append(str(Path(__file__).resolve().parents[1] / "unit"))

import path_facts  # noqa: E402
from path_facts import ADDRESS  # noqa: E402
from snmp_agents import storage_policy  # noqa: E402
from switch_agents import (  # noqa: E402
    CISCO,
    FILER,
    HOST,
    Rows,
    above,
    bridge_ports,
    bundle,
    group,
    learned,
    lif,
    neighbour,
    netif,
    netport,
    port,
    system,
    unit,
    vlans,
)

E = "1.3.6.1.4.1."
SILENCE, ERROR_IN_IT, END, AT_ONCE = "silence", "genErr", "end of the tree", "silence at once"
HOWS = (SILENCE, ERROR_IN_IT, END, AT_ONCE)


# -- the relay -------------------------------------------------------------------------------------

GETNEXT, RESPONSE, GETBULK = 0xA1, 0xA2, 0xA5
GEN_ERR, NO_SUCH_NAME = 5, 2


def content(message: bytes, at: int) -> tuple[int, int]:
    """Where the content of the value at this place begins and ends (BER)."""
    length = message[at + 1]
    if length < 128:
        return at + 2, at + 2 + length
    count = length & 0x7F
    begins = at + 2 + count
    return begins, begins + int.from_bytes(message[at + 2 : begins], "big")


class Request:
    """What the relay needs to know of a request of version 1 or 2c, and where it stands."""

    def __init__(self, message: bytes) -> None:
        self.message = message
        at, _end = content(message, 0)
        version, at = content(message, at)
        self.version = message[version]
        _community, at = content(message, at)
        self.pdu = at
        at, _end = content(message, at)
        _number, at = content(message, at)
        # error-status and error-index or, of a bulk request, non-repeaters and max-repetitions.
        self.first, at = content(message, at)
        self.second, at = content(message, at)
        at, _end = content(message, at)
        at, _end = content(message, at)
        begins, self.value = content(message, at)
        self.oid = message[begins : self.value]

    @property
    def kind(self) -> int:
        return self.message[self.pdu]

    def changed(self, kind: int, first: int, second: int, value: int) -> bytes:
        message = bytearray(self.message)
        message[self.pdu], message[self.first], message[self.second] = kind, first, second
        message[self.value] = value
        return bytes(message)


def encoded(oid: str) -> bytes:
    arcs = [int(arc) for arc in oid.split(".")]
    data = bytearray([arcs[0] * 40 + arcs[1]])
    for arc in arcs[2:]:
        groups = [arc & 0x7F]
        while arc := arc >> 7:
            groups.append(arc & 0x7F | 0x80)
        data += bytes(reversed(groups))
    return bytes(data)


class Cutter(agents.Relay):
    """Stops the walk of ``column`` in one of HOWS: after its first row or, AT_ONCE, before it."""

    def __init__(self, agent: int) -> None:
        super().__init__(agent, bytes, 0.0)
        self.column, self.how = "", ""

    def _reply(self, request: bytes, asker: tuple[str, int]) -> None:
        message = Request(request)
        own = encoded(self.column) if self.column else b""
        inside = (
            bool(own)
            and message.oid.startswith(own)
            and (message.oid != own or self.how == AT_ONCE)
        )
        if inside and message.kind in (GETNEXT, GETBULK):
            if self.how in (ERROR_IN_IT, END):
                error = (GEN_ERR, 1) if self.how == ERROR_IN_IT else (0, 0)
                value = 0x05
                if self.how == END and message.version == 0:
                    error = (NO_SUCH_NAME, 1)
                elif self.how == END:
                    value = 0x82
                with contextlib.suppress(OSError):
                    self._socket.sendto(message.changed(RESPONSE, *error, value), asker)
            return
        if message.kind == GETBULK:
            request = message.changed(GETBULK, 0, 1, 0x05)
        super()._reply(request, asker)


@contextlib.contextmanager
def cutter(folder: Path, rows: Iterable[Rows], extra: str = "") -> Iterator[Cutter]:
    with agents.snmpd(folder, served(*rows) + extra) as number:
        relay = Cutter(number)
        try:
            yield relay
        finally:
            relay.stop()


#: Seconds to wait where everything answers, and where something is known not to.
PATIENT, SHORT = 2.0, 0.2

#: Looked through by table, not walked.
Q_BRIDGE = "1.3.6.1.2.1.17.7.1.2.2.1.2"


def walked(evidence: dict[str, Any], version: str) -> list[tuple[str, str]]:
    """The column of every walk, with ways to stop it: one without rows has no middle.

    With version 2c each walk is stopped by silence and in one more way, with version 1 in one.
    """
    columns: dict[str, bool] = {}
    for reading in evidence.values():
        argv = reading.get("argv", [""])
        column = argv[-1]
        if argv[0] == "snmpgetnext" and column.startswith(Q_BRIDGE):
            column = Q_BRIDGE
        elif argv[0] not in ("snmpwalk", "snmpbulkwalk"):
            continue
        columns[column] = columns.get(column, False) or f".{column}." in reading["stdout"]
    stops = []
    for number, (column, rows) in enumerate(columns.items()):
        others = HOWS[1:] if version == "2c" else HOWS
        ways = {others[number % len(others)]: True} | ({SILENCE: True} if version == "2c" else {})
        stops += [(column, how) for how in ways if rows or how == AT_ONCE]
        stops += [(column, AT_ONCE)] if not rows and AT_ONCE not in ways else []
    return stops


# -- storage ---------------------------------------------------------------------------------------


def numbers(column: str, values: Iterable[int], tag: str = "2") -> Rows:
    return {f"{column}.{row}": (tag, str(value)) for row, value in enumerate(values, 1)}


def texts(column: str, values: Iterable[str]) -> Rows:
    return {f"{column}.{row}": ("4", value) for row, value in enumerate(values, 1)}


DF = E + "789.1.5.4.1."
ONTAP = (
    {"1.3.6.1.2.1.1.2.0": ("6", E + "789.2.5"), "1.3.6.1.2.1.1.1.0": ("4", "NetApp Release 9.3")},
    texts(DF + "2", ["a1", "a2", "/vol/v1/", "/vol/v2/"]),
    numbers(DF + "23", [3, 3, 2, 2]),
    numbers(DF + "29", [1000, 1000, 1000, 1000]),
    numbers(DF + "30", [100, 200, 300, 400]),
    netport("e0a"), netport("e0b"), netport("e0c"),
    texts(E + "789.1.22.1.2.1.2", ["n1:e0a", "n1:e0b", "n1:e0c"]),
    # snmpd overrides no Counter64.
    numbers(E + "789.1.22.1.2.1.28", [0, 0, 0], "65"),
    numbers(E + "789.1.22.1.2.1.34", [0, 0, 0], "65"),
    numbers("1.3.6.1.2.1.25.3.3.1.2", [10, 20, 30]),
    numbers(E + "789.1.2.2.36.1.2", [3, 3]),
)  # fmt: skip
DISK, DISKS = "1.3.6.1.2.1.25.2.1.4", "1.3.6.1.2.1.25.2.3.1."
#: A machine that no rule knows, with the tables that any machine may have.
OTHER = (
    {"1.3.6.1.2.1.1.2.0": ("6", E + "99999.1"), "1.3.6.1.2.1.1.1.0": ("4", "Frobnicator")},
    {f"{DISKS}2.{row}": ("6", DISK) for row in (901, 902, 903)},
    {f"{DISKS}3.{row}": ("4", f"/export/{row}") for row in (901, 902, 903)},
    {f"{DISKS}4.{row}": ("2", "65536") for row in (901, 902, 903)},
    {f"{DISKS}5.{row}": ("2", "1000000") for row in (901, 902, 903)},
    {f"{DISKS}6.{row}": ("2", "1000") for row in (901, 902, 903)},
    numbers("1.3.6.1.2.1.25.3.3.1.2", [10, 20, 30]),
)

#: What rests on a column, by how it begins.
DEPENDENTS = {
    DF: "space",
    "1.3.6.1.2.1.25.2.3.1.": "space",
    E + "789.1.22.1.": "discards",
    "1.3.6.1.2.1.2.2.1.": "discards",
    E + "789.1.22.2.": "flow_control",
    E + "789.1.2.2.36.1.": "system_state",
    # Of each node: its state, its partner's, and the interconnect between them.
    E + "789.1.21.2.1.4": "controllers",
    E + "789.1.21.2.1.6": "controllers",
    E + "789.1.21.2.1.10": "controller_interconnect",
    "1.3.6.1.2.1.25.3.3.1.": "cpu_busy",
}


class Quick(LiveHost):
    """What discards are counted in may be as short as the agents' clocks tell."""

    def wait_for_window(self, name: str, seconds: float) -> None:
        time.sleep(0.05)


def judge_storage(
    number: int, version: str = "2c", wait: float = PATIENT
) -> tuple[LiveHost, dict[str, Finding]]:
    policy = storage_policy(
        query_nfs_servers=False, addresses=[f"127.0.0.1:{number}"], window_seconds=1,
        snmp_timeout=wait, snmp_retries=0,
        snmp_credentials={"default": {"version": version, "community": "public"}},
        media={f"127.0.0.1:{number}": "hdd"},
    )  # fmt: skip
    host = Quick()
    findings = audit.judge_host(host, {"storage_type": policy})
    return host, {finding.check.removeprefix("storage_type."): finding for finding in findings}


@pytest.mark.long
@pytest.mark.parametrize("version", ["1", "2c"])
@pytest.mark.parametrize("rows", [ONTAP, OTHER], ids=["ONTAP", "any machine"])
def test_every_walk_of_storage(tmp_path, rows, version):
    with cutter(tmp_path / "agent", rows) as wire:
        host, whole = judge_storage(wire.port, version)
        statuses = {name: whole[name].status for name in ("space", "discards", "cpu_busy")}
        assert statuses == dict.fromkeys(statuses, PASS)
        for column, how in walked(host.evidence, version):
            (rests,) = [what for begin, what in DEPENDENTS.items() if column.startswith(begin)]
            wire.column, wire.how = column, how
            _host, findings = judge_storage(wire.port, version, SHORT)
            if findings[rests].status != ERROR:
                # On a busy machine the agent may be late with its first answer already.
                _host, findings = judge_storage(wire.port, version)
            print(f"{column} {how}: {rests} {findings[rests].status}: {findings[rests].why}")
            assert findings[rests].status == ERROR, (column, how, findings[rests])


# -- the path --------------------------------------------------------------------------------------

NEIGHBOURS = (
    neighbour(7, "Gi7", "00:00:5e:00:53:01", "other"),
    neighbour(8, "Gi8", "00:00:5e:00:53:02", "third"),
)
OTHERS = tuple(learned(f"00:00:5e:00:53:{number:02x}", 29, 20) for number in range(3))
PLAIN = (
    system("core"), *NEIGHBOURS, *OTHERS,
    learned(HOST, 29, 20), bridge_ports(p29=34), port(34, "Gi1"),
)  # fmt: skip
AGGREGATE = (
    system("core"), *NEIGHBOURS, *OTHERS,
    learned(HOST, 29, 20), bridge_ports(p29=7), unit(7, "Po7", 161), bundle(7, g34=1),
    bundle(8, g35=1), port(34, "Gi1"), port(35, "Gi2"),
)  # fmt: skip
STACKED = (
    system("core"), *NEIGHBOURS, *OTHERS, learned(HOST, 29, 20), bridge_ports(p29=50),
    unit(50, "ge-0/0/1.0"), above(50, 34), port(34, "ge-0/0/1"),
)  # fmt: skip
BY_NEIGHBOUR = (
    system("core"), *NEIGHBOURS, neighbour(9, "Gi1", HOST, "db1"),
    port(34, "Gi1"), port(35, "Gi2"),
)  # fmt: skip
NOWHERE = (system("core", CISCO), *NEIGHBOURS, *OTHERS, vlans(10, 20), port(34, "Gi1"))


def target(number: int, version: str, wait: float) -> snmp.Target:
    return snmp.Target("127.0.0.1", number, snmp.Credentials(version, "public"), wait, 0)


def judge_switch(
    number: int, version: str, wait: float = PATIENT
) -> tuple[LiveHost, list[Finding]]:
    host = LiveHost()
    switch = attempt(switch_port.read_switch, host, target(number, version, wait), [HOST])
    nic = path_facts.nic("eth1", path_facts.OFF, traffic=path_facts.counted())
    seen = path_facts.facts(nic, switches={"sw1": switch}, filers={}, paths=[])
    findings = path_facts.judged(seen)
    return host, [
        finding for finding in findings if finding.check.endswith((".switch_port", ".link"))
    ]


@pytest.mark.long
@pytest.mark.parametrize("version", ["1", "2c"])
@pytest.mark.parametrize(
    "rows",
    [PLAIN, AGGREGATE, STACKED, BY_NEIGHBOUR, NOWHERE],
    ids=["plain", "aggregate", "stacked", "by its neighbour", "nowhere"],
)
def test_every_walk_of_a_switch(tmp_path, rows, version):
    # The switch serves nothing that this machine has.
    extra = "view all included .1\nview all excluded .1.3.6.1.2.1.25\n"
    with cutter(tmp_path / "switch", rows, extra) as wire:
        host, whole = judge_switch(wire.port, version)
        found_there = rows is not NOWHERE
        assert [finding.status for finding in whole] == [PASS if found_there else ERROR] * len(
            whole
        )
        for column, how in walked(host.evidence, version):
            if rows is BY_NEIGHBOUR and not column.startswith("1.0.8802."):
                continue  # the neighbour itself says where it is
            wire.column, wire.how = column, how
            _host, findings = judge_switch(wire.port, version, SHORT)
            print(f"{column} {how}: {findings[0].status}: {findings[0].why}")
            assert [finding.status for finding in findings] == [ERROR] * len(findings), (
                column,
                how,
            )
            # On a busy machine the agent may be late with its first answer already.
            silent = ("did not answer everything", "does not answer")
            assert found_there or any(phrase in findings[0].why for phrase in silent), (column, how)


FILER_ROWS = (
    system("na1", E + "789.2.5"),
    netport("e0a"), netport("e0b", mac="02:a0:98:12:34:99"),
    netport("a0a", kind=1), netport("e0c", within="a0a"), netport("e0d", within="a0a"),
    lif(ADDRESS, "e0a"), lif("192.0.2.77", "e0b", name="nfs2"),
    group("a0a", "e0c,e0d"), group("a0b", "e0x"),
    netif(1, "n1:e0a"), netif(2, "n1:e0b"),
)  # fmt: skip
IN_GROUP = (
    system("na1", E + "789.2.5"),
    netport("a0a", kind=1), netport("e0c"), netport("e0d"),
    lif(ADDRESS, "a0a"), lif("192.0.2.77", "e0c", name="nfs2"),
    group("a0a", "e0c,e0d"), group("a0b", "e0x"), netif(1, "n1:e0c"), netif(2, "n1:e0d"),
)  # fmt: skip
ANY_FILER = (
    system("nas"), unit(3, "bond0", 161), above(3, 4, 5),
    port(4, "eth0", address=FILER.replace(":", "")), port(5, "eth1"),
    bundle(3, g4=1, g5=2), bundle(8, g9=1),
)  # fmt: skip


def judge_filer(number: int, version: str, wait: float = PATIENT) -> tuple[LiveHost, list[Finding]]:
    host = LiveHost()
    answer = attempt(filer_port.read_filer, host, target(number, version, wait), ADDRESS, FILER)
    nic = path_facts.nic("eth1", path_facts.OFF, traffic=path_facts.counted())
    port_of_filer = path_facts.switch_port(path_facts.port("Gi24"))
    port_of_host = path_facts.switch_port(path_facts.port("Gi1", speed=1000))
    switch = path_facts.switch(host=[port_of_host], filer=[port_of_filer])
    seen = path_facts.facts(nic, switches={"sw1": switch}, filers={ADDRESS: answer})
    findings = path_facts.judged(seen)
    return host, [finding for finding in findings if finding.check.endswith(".filer_port")]


@pytest.mark.long
@pytest.mark.parametrize("version", ["1", "2c"])
@pytest.mark.parametrize(
    "rows",
    [FILER_ROWS, IN_GROUP, ANY_FILER],
    ids=["ONTAP", "interface group of ONTAP", "any filer"],
)
def test_every_walk_of_a_filer(tmp_path, rows, version):
    with cutter(tmp_path / "filer", rows) as wire:
        host, (whole,) = judge_filer(wire.port, version)
        assert whole.status in (PASS, WARN, FAIL), whole
        for column, how in walked(host.evidence, version):
            wire.column, wire.how = column, how
            _host, (finding,) = judge_filer(wire.port, version, SHORT)
            print(f"{column} {how}: {finding.status}: {finding.why}")
            assert finding.status == ERROR, (column, how, finding)


def test_a_table_that_an_agent_does_not_have_is_no_error(tmp_path):
    with cutter(tmp_path / "agent", ONTAP[:1]) as wire:
        _host, findings = judge_storage(wire.port)
    assert findings["flow_control"].status == SKIP
