# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Model, version and serial number, from documented objects.

The first row of a table is not representative. Rows with different values are ignored, unless the
definition states that each row is a separate part (the nodes of a cluster). In ENTITY-MIB, the row
of the chassis counts; in FCMGMT-MIB, the row of the storage.
"""

import re
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Set

from ....collect.answer import attempt, if_known
from ....collect.host import Host
from ....errors import HostproofError
from ....snmp import tools as snmp
from ....snmp.snmp_output import Value
from ....snmp.tools import Target, Values, printable
from . import storage_rules as rules
from .storage_definitions import ANY, EACH, LOOKED_AT, Place, Rule
from .storage_match import before, rows_at, value_at

#: Limit of the rows that are read from a column.
_MOST_ROWS = 16
_LONGEST = 120


class Agent(NamedTuple):
    """One agent, and its values so far. ``whole`` are the columns that were read completely."""

    host: Host
    target: Target
    values: Values
    whole: Set[str]
    evidence: List[str]

    def get(self, question: str, oids: Sequence[str]) -> Values:
        self.evidence.append(snmp.key_of(self.target, question))
        values = if_known(attempt(snmp.get, self.host, self.target, question, oids), {})
        self.values.update(values)
        return values

    def following(self, question: str, oids: Sequence[str]) -> Optional[Values]:
        """The next value after each OID. None if an answer is missing, so absence is unknown."""
        self.evidence.append(snmp.key_of(self.target, question))
        answer = attempt(snmp.following, self.host, self.target, question, oids)
        values = snmp.what_came(answer)
        # At the end of its tree, an agent repeats the OID of the request without a value.
        self.values.update({oid: value for oid, value in values.items() if value is not None})
        return None if isinstance(answer, HostproofError) else values


# -- rows -----------------------------------------------------------------------------------------


def read_rows(
    agent: Agent, question: str, columns: Sequence[str], enough: Callable[[], bool] = bool
) -> None:
    """Read the rows of all columns in parallel, at most _MOST_ROWS, until ``enough`` is true.

    A column with more rows, or with a missing answer, is not whole.
    """
    last = {column: before(column) for column in columns}
    for number in range(_MOST_ROWS + 1):
        name = question if not number else f"{question} {number + 1}"
        answer = agent.following(name, list(last.values()))
        if answer is None:
            return
        for column in list(last):
            rows = [oid for oid, value in answer.items() if value and oid.startswith(column)]
            if rows and rows[0] != last[column]:
                last[column] = rows[0]
            else:
                agent.whole.add(column)
                del last[column]
        if not last or enough():
            return


# -- the chassis and the unit ---------------------------------------------------------------------


def read_chassis(agent: Agent) -> None:
    """The row of ENTITY-MIB whose class is chassis, if the agent has one."""
    if "chassis.model" in agent.values:
        return
    read_rows(agent, "chassis", [rules.ENTITY_CLASS])
    classes = rows_at(rules.ENTITY_CLASS, agent.values)
    row = next((row for row, value in classes.items() if value.data == rules.CHASSIS), None)
    if not classes:
        row = _only_row(agent)
    _name(agent, "chassis row", rules.OF_CHASSIS, row)


def _only_row(agent: Agent) -> Optional[str]:
    """The only row of ENTITY-MIB, if the table has exactly one row: it is the whole device."""
    columns = list(rules.OF_CHASSIS.values())
    read_rows(agent, "entities", columns)
    rows = {row for column in columns for row in rows_at(column, agent.values)}
    return rows.pop() if len(rows) == 1 and agent.whole.issuperset(columns) else None


def read_unit(agent: Agent) -> None:
    """The row of FCMGMT-MIB for the whole device: storage is preferred to switches and HBAs."""
    if "unit.type" in agent.values:
        return
    read_rows(agent, "unit", [rules.UNIT_TYPE])
    types = {row: value.data for row, value in rows_at(rules.UNIT_TYPE, agent.values).items()}
    known = [row for row in types if types[row] in rules.UNIT_TYPES]
    row = min(known, key=lambda entry: rules.UNIT_TYPES.index(types[entry]), default=None)
    _name(agent, "unit row", rules.OF_UNIT, row)


def _name(agent: Agent, question: str, columns: Dict[str, str], row: Optional[str]) -> None:
    """Store the values of a row under their names (storage_rules.PLACES), None if missing."""
    values: Values = {}
    if row is not None:
        values = agent.get(question, [column + row for column in columns.values()])
    for name, column in columns.items():
        agent.values[name] = values.get(column + (row or ""))


# -- details --------------------------------------------------------------------------------------


class Details(NamedTuple):
    model: Optional[str]
    version: Optional[str]
    serial: Optional[str]


def read_details(agent: Agent, rule: Rule) -> Details:
    """Read all objects with one GET, and more objects only if a detail is still missing.

    Without an answer, the model, version or serial number is unknown. The product remains known.
    """
    objects = [oid for oid in _open(agent, rule) if not oid.endswith(".") and oid[0].isdigit()]
    if objects:
        agent.get("details", objects)
    missing = _open(agent, rule)
    if any(oid in rules.OF_CHASSIS for oid in missing):
        read_chassis(agent)
    if any(oid in rules.OF_UNIT for oid in missing):
        read_unit(agent)
    columns = [oid for oid in _open(agent, rule) if oid.endswith(".")]
    if columns:
        read_rows(agent, "rows", columns, lambda: not _open(agent, rule))
    return Details(
        _first(rule.model, agent), _first(rule.version, agent), _first(rule.serial, agent)
    )


def _open(agent: Agent, rule: Rule) -> List[str]:
    """The OIDs of the details that are still missing."""
    oids: List[str] = []
    for places in (rule.model, rule.version, rule.serial):
        for place in places:
            if _value_of_place(place, agent) is not None:
                break
            oids += [oid for oid in (place.oid, *place.more) if not _was_asked(oid, agent)]
    return list(dict.fromkeys(oids))


def _was_asked(oid: str, agent: Agent) -> bool:
    return oid in (agent.whole if oid.endswith(".") else agent.values)


def _first(places: Sequence[Place], agent: Agent) -> Optional[str]:
    """The detail from the first place that has a value."""
    texts = (_value_of_place(place, agent) for place in places)
    return next((text for text in texts if text is not None), None)


def _value_of_place(place: Place, agent: Agent) -> Optional[str]:
    parts = [_parts_of(place, oid, agent) for oid in (place.oid, *place.more)]
    if not all(parts):
        return None
    if len(parts) > 1:
        return ".".join(part[0] for part in parts) if all(len(p) == 1 for p in parts) else None
    if len(parts[0]) > 1 and place.rows != EACH:
        return None
    return ", ".join(parts[0])[:_LONGEST]


def _parts_of(place: Place, oid: str, agent: Agent) -> List[str]:
    """The text of the object, or the different texts in the rows of the column."""
    if not oid.endswith("."):
        values = [value_at(oid, agent.values)]
    elif oid in agent.whole or place.rows == ANY:
        values = list(rows_at(oid, agent.values).values())
    else:
        values = []
    texts = (_read(place, value) for value in values if value is not None)
    if place.rows == ANY:
        return [text for text in texts if text is not None][:1]
    return list(dict.fromkeys(text for text in texts if text is not None))


def _read(place: Place, value: Value) -> Optional[str]:
    match = re.search(place.pattern, plain(value)[:LOOKED_AT])
    if match is None:
        return None
    groups = [_normal(group or "") for group in match.groups()]
    if place.names:
        return dict(place.names).get(groups[0])
    numbers = [int(number) for number in re.findall(r"\{([0-9])\}", place.form)]
    if all(_EMPTY.match(groups[number]) for number in numbers):
        return None
    return place.form.format(*groups)


#: Placeholders of agents for a missing value, and masks in published records.
_EMPTY = re.compile(
    r"(?:<.*>|unknown|n/?a|none|null|empty|not (?:specified|available|applicable|set)|undefined|"
    r"to be filled.*|default string|0+|[Ff]{4,}|[Xx]+|[-?*. ]+)?$",
    re.IGNORECASE,
)
_DASHES = re.compile("[\u2010-\u2015\u2212]")
#: A number that is padded with zeros.
_PADDED = re.compile(r"^0{4,}(?=[1-9][0-9]*$)")


def plain(value: Value) -> str:
    """The value in one line, without the quotes and the backslash that some agents add."""
    text = printable(value.text)
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1].strip()
    return text.lstrip("\\")


def _normal(text: str) -> str:
    """The text without padding (blanks, "#", leading zeros) and with ASCII dashes."""
    return _PADDED.sub("", _DASHES.sub("-", text).strip().strip("#").strip())
