"""What the recorded switches have on their ports, read here without the code that is tested.

The records lie beside the checkout (``../shared/data/snmp/switches``) and are not part of this
project; ``truth.json`` there counts rows and values of each column.
"""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.controls.flow_control.snmp.ethernet_port import Port
from storage_truth import DATA

FOLDER = DATA / "switches"

INTERFACE, EXTENDED = "1.3.6.1.2.1.2.2.1", "1.3.6.1.2.1.31.1.1.1"
DUPLEX, PAUSE = "1.3.6.1.2.1.10.7.2.1.19", "1.3.6.1.2.1.10.7.10.1"
COLUMNS = {
    "ifInDiscards": f"{INTERFACE}.13",
    "ifOutDiscards": f"{INTERFACE}.19",
    "duplex": DUPLEX,
    "pauseAdmin": f"{PAUSE}.1",
    "pauseOper": f"{PAUSE}.2",
    "inPause": f"{PAUSE}.3",
    "outPause": f"{PAUSE}.4",
    "inPause64": f"{PAUSE}.5",
    "outPause64": f"{PAUSE}.6",
}
#: RFC 3635: disabled, enabledXmit, enabledRcv, enabledXmitAndRcv; as (rx, tx).
MODES = {"1": (False, False), "2": (False, True), "3": (True, False), "4": (True, True)}
DUPLEXES = {"2": "half", "3": "full"}

Table = dict[str, dict[int, str]]


class Row(NamedTuple):
    """One record: its ports, how many of them have a mode in force, and what is wrong."""

    name: str
    ports: list[Port]
    faults: list[str]
    chain: str

    def text(self) -> str:
        modes = Counter("unknown" if port.oper is None else port.oper.text for port in self.ports)
        counted = sum(port.before.in_pause is not None for port in self.ports)
        seen = sum(bool(port.before.in_pause or port.before.out_pause) for port in self.ports)
        lost = sum(bool(port.before.in_discards or port.before.out_discards) for port in self.ports)
        shown = ", ".join(f"{mode}: {number}" for mode, number in sorted(modes.items()))
        return (
            f"{self.name:<42}{len(self.ports):>5} {shown:<52}"
            f"{counted:>7}{seen:>7}{lost:>6}  {self.chain:<14}{'; '.join(self.faults) or 'ok'}"
        )


HEAD = (
    f"{'record':<42}{'ports':>5} {'PAUSE in force: ports':<52}"
    f"{'counted':>7}{'paused':>7}{'lost':>6}  {'MAC -> port':<14}verdict"
)


def records() -> list[Path]:
    return sorted(FOLDER.glob("*.snmprec"))


def lines_of(path: Path) -> dict[str, str]:
    """OID to value; of two lines with one OID, the last, as snmpsim serves it."""
    rows = {}
    for line in path.read_text(errors="surrogateescape").splitlines():
        if line.count("|") >= 2:
            oid, _tag, value = line.split("|", 2)
            rows[oid] = value
    return rows


def table_of(rows: dict[str, str]) -> Table:
    """Column to ifIndex to value."""
    table: Table = {name: {} for name in COLUMNS}
    for name, column in COLUMNS.items():
        for oid, value in rows.items():
            if oid.startswith(column + "."):
                table[name][int(oid.rpartition(".")[2])] = value
    return table


def numbers_of(table: Table) -> list[int]:
    """Every ifIndex that has any of the columns."""
    return sorted({number for column in table.values() for number in column})


def addresses_of(rows: dict[str, str]) -> dict[str, set[str]]:
    """MAC address to the bridge ports that it is behind, port 0 left out."""
    ports: dict[str, set[str]] = {}
    for prefix, arcs in (("1.3.6.1.2.1.17.7.1.2.2.1.2.", 7), ("1.3.6.1.2.1.17.4.3.1.2.", 6)):
        for oid, port in rows.items():
            rest = oid[len(prefix) :].split(".")
            if oid.startswith(prefix) and len(rest) == arcs and port != "0":
                mac = ":".join(f"{int(arc):02x}" for arc in rest[-6:])
                ports.setdefault(mac, set()).add(port)
    return ports


def compare(path: Path, read: Callable[[int], Port], chain: str = "") -> Row:
    """Every port of a record as it is read, beside its lines and beside truth.json."""
    table = table_of(lines_of(path))
    ports = [read(number) for number in numbers_of(table)]
    faults = [
        f"port {port.number}: {name} is {got!r}, the record has {want!r}"
        for port in ports
        for name, got, want in differences(port, table)
    ]
    return Row(path.stem, ports, faults + miscounted(path, ports), chain)


def differences(port: Port, table: Table) -> list[tuple[str, Any, Any]]:
    def line(name: str) -> str:
        return table[name].get(port.number, "")

    def count(name: str) -> int | None:
        wide, narrow = line(name + "64"), line(name)
        if wide and (int(wide) or not narrow):
            return int(wide)
        return int(narrow) if narrow else None

    def number(name: str) -> int | None:
        return int(line(name)) if line(name) else None

    pairs: list[tuple[str, Any, Any]] = [
        ("pauseAdmin", port.admin and tuple(port.admin), MODES.get(line("pauseAdmin"))),
        ("pauseOper", port.oper and tuple(port.oper), MODES.get(line("pauseOper"))),
        ("duplex", port.duplex, DUPLEXES.get(line("duplex"))),
        ("inPause", port.before.in_pause, count("inPause")),
        ("outPause", port.before.out_pause, count("outPause")),
        ("ifInDiscards", port.before.in_discards, number("ifInDiscards")),
        ("ifOutDiscards", port.before.out_discards, number("ifOutDiscards")),
    ]
    return [(name, got, want) for name, got, want in pairs if got != want]


def miscounted(path: Path, ports: list[Port]) -> list[str]:
    """What differs from truth.json: how many ports have each mode, and how many count at all."""
    truth = json.loads((FOLDER / "truth.json").read_text())[path.name]
    columns, nonzero = truth["columns"], truth["nonzero"]
    modes = {tuple_: number for number, tuple_ in MODES.items()}
    got: dict[str, Any] = {}
    want: dict[str, Any] = {}
    for name, attribute in (("pauseAdmin", "admin"), ("pauseOper", "oper")):
        values = [getattr(port, attribute) for port in ports]
        got[name] = dict(Counter(modes[tuple(value)] for value in values if value is not None))
        want[name] = {k: v for k, v in truth[f"{name}_values"].items() if k in MODES}
    values = [port.duplex for port in ports if port.duplex]
    got["duplex"] = dict(Counter(values))
    want["duplex"] = {DUPLEXES[k]: v for k, v in truth["duplex_values"].items() if k in DUPLEXES}
    for name, attribute in (
        ("inPause", "in_pause"),
        ("outPause", "out_pause"),
        ("ifInDiscards", "in_discards"),
        ("ifOutDiscards", "out_discards"),
    ):
        counted = [getattr(port.before, attribute) for port in ports]
        there = [count for count in counted if count is not None]
        got[name] = (len(there), sum(map(bool, there)))
        want[name] = (columns[name], nonzero[name])
    return [
        f"{name}: {got[name]}, truth.json has {want[name]}"
        for name in got
        if got[name] != want[name]
    ]
