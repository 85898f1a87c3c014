# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How full, how busy and how lossy a filer is, as far as its agent tells.

Where the numbers stand is in storage_rules.py. Discards are counters since the agent started, so
only the difference of two readings says something about now.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ..answer import Answer, attempt, known
from ..errors import Absent, Unanswered
from ..host import Host
from ..parsers.snmp_output import Value
from . import snmp
from . import storage_rules as rules
from .snmp import Target, Values
from .storage_agent import printable

#: Counter32 starts again at 0 behind this (RFC 2578).
_COUNTER32 = 2**32


class Volume(NamedTuple):
    """``percent`` of it is used; ``size`` in bytes, None where the agent tells only the share."""

    name: str
    percent: float
    size: Optional[int]


class Volumes(NamedTuple):
    """``generic``: every file system of the machine, also those that nobody keeps data on."""

    found: List[Volume]
    source: str
    generic: bool
    evidence: Tuple[str, ...]


class Counters(NamedTuple):
    """Discards by interface, in and out, and the agent's clock (hundredths of a second)."""

    discards: Dict[str, Tuple[int, int]]
    uptime: int
    evidence: Tuple[str, ...]


class Loss(NamedTuple):
    """What an interface discarded between two readings."""

    interface: str
    received: int
    sent: int


class Ports(NamedTuple):
    """Flow control by "node:port": a word of storage_rules.FLOW_CONTROL, "" where it is unknown."""

    found: Dict[str, str]
    evidence: Tuple[str, ...]


class Load(NamedTuple):
    """Percent of the time that the processors were busy."""

    percent: int
    evidence: Tuple[str, ...]


def read_volumes(host, target, product):
    # type: (Host, Target, str) -> Volumes
    """The fill of the first table that the agent has; Absent if it has none."""
    key = snmp.key_of(target, "volumes")
    for number, table in enumerate(rules.VOLUMES):
        if table.product not in ("", product):
            continue
        question = "volumes {0}".format(number)
        names = snmp.walk(host, target, question + " name", table.name)
        if not names:
            continue
        columns = [table.size, table.used, table.units, table.percent, table.kind]
        asked = [oid for oid in dict.fromkeys(columns) if oid and oid != table.name]
        values = dict(names)  # type: Values
        for oid in asked:
            values.update(
                snmp.walk(host, target, "{0} {1}".format(question, oid.rpartition(".")[2]), oid)
            )
        found = [one for one in (_volume(table, name, values) for name in names) if one]
        if found:
            parts = ["name"] + [oid.rpartition(".")[2] for oid in asked]
            evidence = tuple(
                snmp.key_of(target, "{0} {1}".format(question, part)) for part in parts
            )
            return Volumes(found, table.source, not table.product, evidence)
    raise Absent(key, "{0} tells nothing about its volumes".format(target.name))


def _volume(table, oid, values):
    # type: (rules.Volumes, str, Values) -> Optional[Volume]
    row = oid[len(table.name) :]
    name = _text(values.get(oid))
    if table.kind and not re.search(table.kinds, _text(values.get(table.kind + row))):
        return None
    if table.percent:
        percent = _number(values.get(table.percent + row))
        return None if percent is None else Volume(name, float(percent), None)
    size, used = _number(values.get(table.size + row)), _number(values.get(table.used + row))
    unit = _number(values.get(table.units + row)) if table.units else table.unit
    if not size or used is None or not unit:
        return None
    # A 32-bit agent shows a size of more than 2^31 units as a negative number (RFC 2790).
    size, used = (number % _COUNTER32 if number < 0 else number for number in (size, used))
    return Volume(name, 100.0 * used / size, size * unit)


def read_counters(host, target, product, question):
    # type: (Host, Target, str, str) -> Counters
    """Discards of every interface; Absent if the agent does not count them."""
    clock = snmp.get(host, target, question + " clock", [rules.UPTIME])
    uptime = _number(clock.get(rules.UPTIME))
    tables = rules.INTERFACES if product in rules.INTERFACE_PRODUCTS else rules.INTERFACES[1:]
    for number, columns in enumerate(tables):
        keys = [
            "{0} {1} {2}".format(question, number, part) for part in ("name", "received", "sent")
        ]
        names = snmp.walk(host, target, keys[0], columns[0])
        received = snmp.walk(host, target, keys[1], columns[1]) if names else {}
        sent = snmp.walk(host, target, keys[2], columns[2]) if received else {}
        discards = {}
        for oid, name in names.items():
            row = oid[len(columns[0]) :]
            both = _number(received.get(columns[1] + row)), _number(sent.get(columns[2] + row))
            if both[0] is not None and both[1] is not None:
                shown = _text(name) or row.lstrip(".")
                if shown in discards:
                    shown = "{0} ({1})".format(shown, row.lstrip("."))
                discards[shown] = (both[0], both[1])
        if discards and uptime is not None:
            evidence = tuple(snmp.key_of(target, key) for key in keys[1:])
            return Counters(discards, uptime, evidence)
    raise Absent(
        snmp.key_of(target, question + " clock"),
        "{0} tells nothing about discarded packets".format(target.name),
    )


def losses(before, after):
    # type: (Counters, Counters) -> List[Loss]
    """What was discarded between the two; Unanswered where the agent started again meanwhile."""
    if after.uptime < before.uptime:
        raise Unanswered(after.evidence[0], "the agent was restarted between the two readings")
    found = []
    for name, (received, sent) in sorted(after.discards.items()):
        if name in before.discards:
            was = before.discards[name]
            loss = Loss(name, _difference(was[0], received), _difference(was[1], sent))
            if loss.received or loss.sent:
                found.append(loss)
    return found


def seconds_between(before, after):
    # type: (Counters, Counters) -> float
    return (after.uptime - before.uptime) / 100.0


def _difference(before, after):
    # type: (int, int) -> int
    return after - before if after >= before else (after - before) % _COUNTER32


def read_load(host, target):
    # type: (Host, Target) -> Load
    """How busy the processors are; Absent if the agent does not tell."""
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
        raise Absent(evidence[0], "{0} tells nothing about its processors".format(target.name))
    return Load(busy, evidence)


def read_ports(host, target, product):
    # type: (Host, Target, str) -> Ports
    """The flow control of every data port; Absent if the agent does not tell."""
    questions = ("ports node", "ports name", "ports flow control")
    columns = (rules.PORT_NODE, rules.PORT_NAME, rules.PORT_FLOW_CONTROL)
    found = {}
    if product in rules.PORT_PRODUCTS:
        names = snmp.walk(host, target, questions[1], columns[1])
        nodes = snmp.walk(host, target, questions[0], columns[0]) if names else {}
        states = snmp.walk(host, target, questions[2], columns[2]) if names else {}
        for oid, name in names.items():
            row = oid[len(columns[1]) :]
            if _text(name) not in rules.PORTS_WITHOUT_DATA and states:
                port = "{0}:{1}".format(_text(nodes.get(columns[0] + row)), _text(name))
                state = _number(states.get(columns[2] + row))
                found[port.lstrip(":")] = rules.FLOW_CONTROL.get(-1 if state is None else state, "")
    if not found:
        raise Absent(
            "snmp:" + target.name,
            "{0} tells nothing about the flow control of its ports".format(target.name),
        )
    return Ports(found, tuple(snmp.key_of(target, question) for question in questions))


class Health(NamedTuple):
    """Each an answer, or the error that stands in its place."""

    volumes: Answer[Volumes]
    before: Answer[Counters]
    after: Answer[Counters]
    load: Answer[Load]
    ports: Answer[Ports]


def read_first(host, target, product):
    # type: (Host, Target, str) -> Health
    """Everything but the second reading of the counters (``read_again``)."""
    return Health(
        volumes=attempt(read_volumes, host, target, product),
        before=attempt(read_counters, host, target, product, "discards"),
        after=Unanswered("snmp:" + target.name, "the counters were read only once"),
        load=attempt(read_load, host, target),
        ports=attempt(read_ports, host, target, product),
    )


def read_again(host, target, product, health):
    # type: (Host, Target, str, Health) -> Health
    def again():
        # type: () -> Counters
        known(health.before)
        return read_counters(host, target, product, "discards again")

    return health._replace(after=attempt(again))


def _number(value):
    # type: (Optional[Value]) -> Optional[int]
    return value.data if value is not None and isinstance(value.data, int) else None


def _text(value):
    # type: (Optional[Value]) -> str
    return "" if value is None else printable(value.text)
