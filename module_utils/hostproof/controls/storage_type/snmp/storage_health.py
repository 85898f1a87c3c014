# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Space, CPU load and discarded packets of a storage system, from its SNMP agent.

storage_rules.py lists the objects. Discards are counted since the agent started, so only the
difference of two readings shows the current state.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ....collect.answer import Answer, attempt, known
from ....collect.host import Host
from ....errors import Absent, HostproofError, Unanswered
from ....snmp import tools as snmp
from ....snmp.snmp_output import Value
from ....snmp.tools import Target, Values, printable
from . import storage_rules as rules
from .storage_definitions import Part

#: Counter32 wraps to 0 at this value (RFC 2578).
_COUNTER32 = 2**32


class Volume(NamedTuple):
    """``percent`` is the use in percent. ``size`` is in bytes, None if the agent does not report
    it.

    ``kind`` is one of storage_rules.VOLUME_KINDS.
    """

    name: str
    percent: float
    size: Optional[int]
    kind: str


class Volumes(NamedTuple):
    """``generic``: all file systems of the server, including those of its operating system.

    ``untold`` are the names of volumes whose use the agent does not report.
    """

    found: List[Volume]
    source: str
    generic: bool
    evidence: Tuple[str, ...]
    untold: Tuple[str, ...]


class Counters(NamedTuple):
    """Discards per interface (in, out), and the agent's uptime in hundredths of a second."""

    discards: Dict[str, Tuple[int, int]]
    uptime: int
    evidence: Tuple[str, ...]


class Loss(NamedTuple):
    """Packets that an interface discarded between two readings."""

    interface: str
    received: int
    sent: int


class Ports(NamedTuple):
    """Flow control by "node:port": a word of storage_rules.FLOW_CONTROL, "" if unknown."""

    found: Dict[str, str]
    evidence: Tuple[str, ...]


class Load(NamedTuple):
    """CPU load in percent."""

    percent: int
    evidence: Tuple[str, ...]


def read_volumes(host: Host, target: Target, product: str) -> Volumes:
    """The volumes of the first table that the agent has. Absent if it has none."""
    key = snmp.key_of(target, "volumes")
    for number, table in rules.VOLUMES_IN_TURN:
        if table.product not in ("", product):
            continue
        volumes = _read_table(host, target, f"volumes {number}", table)
        if volumes is not None:
            return volumes
    raise Absent(key, f"{target.name} does not report its volumes")


def _read_table(
    host: Host, target: Target, question: str, table: rules.Volumes
) -> Optional[Volumes]:
    """None where the agent does not have the table, or has no volume in it."""
    names = snmp.walk(host, target, question + " name", table.name)
    if not names:
        return None
    rows = [oid[len(table.name) :] for oid in names]
    parts = {oid: "{0} {1}".format(question, oid.rpartition(".")[2]) for oid in _columns(table)}
    values: Values = dict(names)
    for oid, part in parts.items():
        values.update(snmp.walk(host, target, part, oid, rows))
    if table.units and all(_is_text(values.get(table.units + row)) for row in rows):
        # Another MIB uses the same OID: TRUENAS-MIB has the health of pools there.
        return None
    volumes = [volume for volume in (_volume(table, name, values) for name in names) if volume]
    untold = tuple(_text(values[name]) for name in names if _is_untold(table, name, values))
    if not volumes and not untold:
        return None
    evidence = tuple(snmp.key_of(target, part) for part in (question + " name", *parts.values()))
    return Volumes(volumes, table.source, not table.product, evidence, untold)


def _columns(table: rules.Volumes) -> List[str]:
    amount = table.used or table.free
    columns = [table.size, amount, table.units, table.percent, table.kind, table.form]
    return [oid for oid in dict.fromkeys(columns) if oid and oid != table.name]


def _volume(table: rules.Volumes, oid: str, values: Values) -> Optional[Volume]:
    row = oid[len(table.name) :]
    name = _text(values.get(oid))
    if not _is_meant(table, row, values):
        return None
    kind = _kind(table, name, _number(values.get(table.form + row)))
    if table.percent:
        percent = _number(values.get(table.percent + row))
        return None if percent is None or percent < 0 else Volume(name, percent, None, kind)
    return _by_sizes(table, name, kind, row, values)


def _by_sizes(
    table: rules.Volumes, name: str, kind: str, row: str, values: Values
) -> Optional[Volume]:
    size = _number(values.get(table.size + row))
    amount = _number(values.get((table.used or table.free) + row))
    unit = _number(values.get(table.units + row)) if table.units else table.unit
    if not size or amount is None or not unit:
        return None
    if table.units:
        # A 32-bit agent shows a size of more than 2^31 units as a negative number (RFC 2790).
        size, amount = (number % _COUNTER32 if number < 0 else number for number in (size, amount))
    used = amount if table.used else size - amount
    if min(size, amount, used) < 0:
        return None
    return Volume(name, 100.0 * used / size, size * unit, kind)


def _is_meant(table: rules.Volumes, row: str, values: Values) -> bool:
    return not table.kind or bool(re.search(table.kinds, _text(values.get(table.kind + row))))


def _is_untold(table: rules.Volumes, oid: str, values: Values) -> bool:
    """Whether a number of the row is missing or invalid. A size of 0 is valid."""
    row = oid[len(table.name) :]
    if not _is_meant(table, row, values):
        return False
    parts = [table.size, table.used, table.free, table.units]
    needed = [table.percent] if table.percent else parts
    if any(_number(values.get(column + row)) is None for column in needed if column):
        return True
    return _number(values.get(table.size + row)) != 0 and _volume(table, oid, values) is None


def _kind(table: rules.Volumes, name: str, form: Optional[int]) -> str:
    if not table.form:
        return rules.POOL
    if form in rules.VOLUME_FORMS:
        return rules.VOLUME_FORMS[form]
    return rules.FLEXIBLE if name.startswith("/vol/") else rules.AGGREGATE


def read_counters(host: Host, target: Target, product: str, question: str) -> Counters:
    """The discards of every interface. Absent if the agent does not count them."""
    clock = snmp.get(host, target, question + " clock", [rules.UPTIME])
    uptime = _number(clock.get(rules.UPTIME))
    tables = rules.INTERFACES if product in rules.INTERFACE_PRODUCTS else rules.INTERFACES[1:]
    for number, columns in enumerate(tables):
        keys = [f"{question} {number} {part}" for part in ("name", "received", "sent")]
        names = snmp.walk(host, target, keys[0], columns[0])
        rows = [oid[len(columns[0]) :] for oid in names]
        received = snmp.walk(host, target, keys[1], columns[1], rows) if names else {}
        sent = snmp.walk(host, target, keys[2], columns[2], rows) if received else {}
        discards = _discards(columns, names, received, sent)
        if not discards:
            continue
        if uptime is None:
            raise Unanswered(
                snmp.key_of(target, question + " clock"),
                f"{target.name} has no sysUpTime, so the rate of its counters is unknown",
            )
        return Counters(discards, uptime, tuple(snmp.key_of(target, key) for key in keys[1:]))
    raise Absent(
        snmp.key_of(target, question + " clock"),
        f"{target.name} does not report discarded packets",
    )


def _discards(
    columns: Tuple[str, str, str], names: Values, received: Values, sent: Values
) -> Dict[str, Tuple[int, int]]:
    """By the name of the interface, with its row where several have the name."""
    discards: Dict[str, Tuple[int, int]] = {}
    for oid, name in names.items():
        row = oid[len(columns[0]) :]
        both = _number(received.get(columns[1] + row)), _number(sent.get(columns[2] + row))
        if both[0] is not None and both[1] is not None:
            shown = _text(name) or row.lstrip(".")
            if shown in discards:
                shown = "{0} ({1})".format(shown, row.lstrip("."))
            discards[shown] = (both[0], both[1])
    return discards


def losses(before: Counters, after: Counters) -> List[Loss]:
    """The discards between two readings. Unanswered if they are unknown.

    A lower uptime of the agent means that it was restarted. With an unchanged uptime, it is unknown
    whether the agent updated its counters."""
    if after.uptime < before.uptime:
        raise Unanswered(after.evidence[0], "the agent was restarted between the two readings")
    if after.uptime == before.uptime:
        raise Unanswered(
            after.evidence[0],
            "the agent's clock (sysUpTime) did not advance between the two readings",
        )
    missing = sorted(set(before.discards) - set(after.discards))
    if missing:
        raise Unanswered(
            after.evidence[0],
            "the second reading does not contain {0}".format(", ".join(missing[:5])),
        )
    result = []
    for name, (received, sent) in sorted(after.discards.items()):
        if name in before.discards:
            was = before.discards[name]
            loss = Loss(name, _difference(was[0], received), _difference(was[1], sent))
            if loss.received or loss.sent:
                result.append(loss)
    return result


def seconds_between(before: Counters, after: Counters) -> float:
    return (after.uptime - before.uptime) / 100.0


def _difference(before: int, after: int) -> int:
    return after - before if after >= before else (after - before) % _COUNTER32


def read_load(host: Host, target: Target) -> Load:
    """The CPU load. Absent if the agent does not report it."""
    values = snmp.get(host, target, "load", [rules.CPU_BUSY, rules.CPU_IDLE])
    evidence = (snmp.key_of(target, "load"),)
    busy, idle = _number(values.get(rules.CPU_BUSY)), _number(values.get(rules.CPU_IDLE))
    if busy is None and idle is not None:
        busy = 100 - idle
    if busy is None:
        rows = snmp.walk(host, target, "loads", rules.CPU_LOADS)
        evidence = (snmp.key_of(target, "loads"),)
        loads = [load for load in map(_number, rows.values()) if load is not None]
        busy = sum(loads) // len(loads) if loads else None
    if busy is None or not 0 <= busy <= 100:
        raise Absent(evidence[0], f"{target.name} does not report its CPU load")
    return Load(busy, evidence)


def read_ports(host: Host, target: Target, product: str) -> Ports:
    """The flow control of every data port. Absent if the agent does not report it."""
    questions = ("ports node", "ports name", "ports flow control")
    columns = (rules.PORT_NODE, rules.PORT_NAME, rules.PORT_FLOW_CONTROL)
    ports = {}
    if product in rules.PORT_PRODUCTS:
        names = snmp.walk(host, target, questions[1], columns[1])
        rows = [oid[len(columns[1]) :] for oid in names]
        nodes = snmp.walk(host, target, questions[0], columns[0], rows) if names else {}
        states = snmp.walk(host, target, questions[2], columns[2], rows) if names else {}
        for oid, name in names.items():
            row = oid[len(columns[1]) :]
            if _text(name) not in rules.PORTS_WITHOUT_DATA and states:
                port = f"{_text(nodes.get(columns[0] + row))}:{_text(name)}"
                state = _number(states.get(columns[2] + row))
                ports[port.lstrip(":")] = rules.FLOW_CONTROL.get(-1 if state is None else state, "")
    if not ports:
        raise Absent(
            "snmp:" + target.name,
            f"{target.name} does not report the flow control of its ports",
        )
    return Ports(ports, tuple(snmp.key_of(target, question) for question in questions))


class HealthReading(NamedTuple):
    """The values of a health object by row ("" for an object without rows). Absent: the agent
    reported that it has no such object.
    """

    part: Part
    rows: Answer[Dict[str, str]]
    evidence: str


def read_parts(host: Host, target: Target, parts: Sequence[Part]) -> Tuple[HealthReading, ...]:
    """Read all objects with one GET, and each column with a walk."""
    oids = [oid for part in parts for oid in (part.oid, part.unless[0])]
    objects = list(dict.fromkeys(oid for oid in oids if oid and not oid.endswith(".")))
    answer = attempt(snmp.get, host, target, "health", objects) if objects else {}
    questions = {
        oid: f"health {number}" if oid.endswith(".") else "health"
        for number, oid in enumerate(dict.fromkeys(filter(None, oids)))
    }
    read: Dict[str, Answer[Dict[str, str]]] = {}
    for oid, question in questions.items():
        if oid.endswith("."):
            read[oid] = attempt(_column, host, target, question, oid[:-1])
        else:
            read[oid] = attempt(_object, target, answer, oid)
    return tuple(
        HealthReading(part, _that_count(part, read), snmp.key_of(target, questions[part.oid]))
        for part in parts
    )


def _that_count(part: Part, read: Dict[str, Answer[Dict[str, str]]]) -> Answer[Dict[str, str]]:
    """The rows of the part without those that its ``unless`` excludes."""
    rows, (other, values) = read[part.oid], part.unless
    conditions = read.get(other)
    if not other or isinstance(rows, HostproofError) or not isinstance(conditions, dict):
        return rows
    states = {row: conditions.get(row if other.endswith(".") else "") for row in rows}
    return {
        row: value
        for row, value in rows.items()
        if states[row] is None or (values and states[row] not in values)
    }


def _column(host: Host, target: Target, question: str, column: str) -> Dict[str, str]:
    values = snmp.walk(host, target, question, column)
    if not values:
        raise Absent(snmp.key_of(target, question), f"{target.name} has no row of {column}")
    return {oid[len(column) + 1 :]: _text(value) for oid, value in values.items()}


def _object(target: Target, answer: Answer[Values], oid: str) -> Dict[str, str]:
    values, key = known(answer), snmp.key_of(target, "health")
    if oid not in values:
        raise Unanswered(key, f"{target.name} gave no answer for {oid}")
    if values[oid] is None:
        raise Absent(key, f"{target.name} has no {oid}")
    return {"": _text(values[oid])}


class Health(NamedTuple):
    """The health of a storage system. Each field is a value or the error that replaces it."""

    volumes: Answer[Volumes]
    before: Answer[Counters]
    after: Answer[Counters]
    load: Answer[Load]
    ports: Answer[Ports]
    parts: Tuple[HealthReading, ...]


def read_first(host: Host, target: Target, product: str, parts: Sequence[Part] = ()) -> Health:
    """All facts except the second reading of the counters (``read_again``)."""
    return Health(
        volumes=attempt(read_volumes, host, target, product),
        before=attempt(read_counters, host, target, product, "discards"),
        after=Unanswered("snmp:" + target.name, "the counters were read only once"),
        load=attempt(read_load, host, target),
        ports=attempt(read_ports, host, target, product),
        parts=read_parts(host, target, parts),
    )


def read_again(host: Host, target: Target, product: str, health: Health) -> Health:
    def read_second_time() -> Counters:
        known(health.before)
        return read_counters(host, target, product, "discards read_second_time")

    return health._replace(after=attempt(read_second_time))


def _number(value: Optional[Value]) -> Optional[int]:
    return value.data if value is not None and isinstance(value.data, int) else None


def _is_text(value: Optional[Value]) -> bool:
    return value is not None and isinstance(value.data, bytes)


def _text(value: Optional[Value]) -> str:
    return "" if value is None else printable(value.text)
