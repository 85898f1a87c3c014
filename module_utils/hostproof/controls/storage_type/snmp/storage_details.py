# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Model, version and serial number, from objects whose meaning is documented.

The first row of a table is not the table: rows that differ tell nothing, unless the definition says
that each tells of a separate part (the nodes of a cluster). Of ENTITY-MIB the row of the chassis
counts, of FCMGMT-MIB that of the storage itself.
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

#: Rows of a column that are required, and how many differing ones are told.
_MOST_ROWS = 16
_LONGEST = 120


class Agent(NamedTuple):
    """One agent, and what it stated so far. ``whole`` are the columns that were read to their
    end."""

    host: Host
    target: Target
    values: Values
    whole: Set[str]
    evidence: List[str]

    def get(self, question: str, oids: Sequence[str]) -> Values:
        self.evidence.append(snmp.key_of(self.target, question))
        found = if_known(attempt(snmp.get, self.host, self.target, question, oids), {})
        self.values.update(found)
        return found

    def following(self, question: str, oids: Sequence[str]) -> Optional[Values]:
        """What comes next behind each; None where not all of it came, so that nothing is absent."""
        self.evidence.append(snmp.key_of(self.target, question))
        answer = attempt(snmp.following, self.host, self.target, question, oids)
        found = snmp.what_came(answer)
        # At its end an agent repeats the OID of the request, without a value.
        self.values.update({oid: one for oid, one in found.items() if one is not None})
        return None if isinstance(answer, HostproofError) else found


# -- rows -----------------------------------------------------------------------------------------


def read_rows(
    agent: Agent, question: str, columns: Sequence[str], enough: Callable[[], bool] = bool
) -> None:
    """Ask for all rows of the columns side by side, _MOST_ROWS at most, until it is ``enough``.

    A column that has more, or that the agent gave up in, is not whole.
    """
    last = {column: before(column) for column in columns}
    for number in range(_MOST_ROWS + 1):
        name = question if not number else f"{question} {number + 1}"
        found = agent.following(name, list(last.values()))
        if found is None:
            return
        for column in list(last):
            rows = [oid for oid, value in found.items() if value and oid.startswith(column)]
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
    """The row of ENTITY-MIB where no row has a class and there is but one: that is the whole."""
    columns = list(rules.OF_CHASSIS.values())
    read_rows(agent, "entities", columns)
    rows = {row for column in columns for row in rows_at(column, agent.values)}
    return rows.pop() if len(rows) == 1 and agent.whole.issuperset(columns) else None


def read_unit(agent: Agent) -> None:
    """The row of FCMGMT-MIB that represents the whole: the storage before its switches and HBAs."""
    if "unit.type" in agent.values:
        return
    read_rows(agent, "unit", [rules.UNIT_TYPE])
    types = {row: value.data for row, value in rows_at(rules.UNIT_TYPE, agent.values).items()}
    known = [row for row in types if types[row] in rules.UNIT_TYPES]
    row = min(known, key=lambda one: rules.UNIT_TYPES.index(types[one]), default=None)
    _name(agent, "unit row", rules.OF_UNIT, row)


def _name(agent: Agent, question: str, columns: Dict[str, str], row: Optional[str]) -> None:
    """Give the values of a row their names (storage_rules.PLACES), None where there is none."""
    found: Values = {}
    if row is not None:
        found = agent.get(question, [column + row for column in columns.values()])
    for name, column in columns.items():
        agent.values[name] = found.get(column + (row or ""))


# -- details --------------------------------------------------------------------------------------


class Details(NamedTuple):
    model: Optional[str]
    version: Optional[str]
    serial: Optional[str]


def read_details(agent: Agent, rule: Rule) -> Details:
    """One GET for all objects, and more only where what it stated is not enough.

    An agent that does not answer these keeps its model, version or serial number to itself; what
    it is stays known.
    """
    objects = [oid for oid in _open(agent, rule) if not oid.endswith(".") and oid[0].isdigit()]
    if objects:
        agent.get("details", objects)
    wanted = _open(agent, rule)
    if any(oid in rules.OF_CHASSIS for oid in wanted):
        read_chassis(agent)
    if any(oid in rules.OF_UNIT for oid in wanted):
        read_unit(agent)
    columns = [oid for oid in _open(agent, rule) if oid.endswith(".")]
    if columns:
        read_rows(agent, "rows", columns, lambda: not _open(agent, rule))
    return Details(
        _first(rule.model, agent), _first(rule.version, agent), _first(rule.serial, agent)
    )


def _open(agent: Agent, rule: Rule) -> List[str]:
    """The OIDs of the details that are not known yet."""
    asked: List[str] = []
    for places in (rule.model, rule.version, rule.serial):
        for place in places:
            if _told(place, agent) is not None:
                break
            asked += [oid for oid in (place.oid, *place.more) if not _was_asked(oid, agent)]
    return list(dict.fromkeys(asked))


def _was_asked(oid: str, agent: Agent) -> bool:
    return oid in (agent.whole if oid.endswith(".") else agent.values)


def _first(places: Sequence[Place], agent: Agent) -> Optional[str]:
    """What the first place says that states something."""
    told = (_told(place, agent) for place in places)
    return next((text for text in told if text is not None), None)


def _told(place: Place, agent: Agent) -> Optional[str]:
    parts = [_parts_of(place, oid, agent) for oid in (place.oid, *place.more)]
    if not all(parts):
        return None
    if len(parts) > 1:
        return ".".join(part[0] for part in parts) if all(len(p) == 1 for p in parts) else None
    if len(parts[0]) > 1 and place.rows != EACH:
        return None
    return ", ".join(parts[0])[:_LONGEST]


def _parts_of(place: Place, oid: str, agent: Agent) -> List[str]:
    """What the object says, or the different things that the rows of a column say."""
    if not oid.endswith("."):
        values = [value_at(oid, agent.values)]
    elif oid in agent.whole or place.rows == ANY:
        values = list(rows_at(oid, agent.values).values())
    else:
        values = []
    told = (_read(place, value) for value in values if value is not None)
    if place.rows == ANY:
        return [text for text in told if text is not None][:1]
    return list(dict.fromkeys(text for text in told if text is not None))


def _read(place: Place, value: Value) -> Optional[str]:
    match = re.search(place.pattern, plain(value)[:LOOKED_AT])
    if match is None:
        return None
    groups = [_normal(group or "") for group in match.groups()]
    if place.names:
        return dict(place.names).get(groups[0])
    asked = [int(number) for number in re.findall(r"\{([0-9])\}", place.form)]
    if all(_EMPTY.match(groups[number]) for number in asked):
        return None
    return place.form.format(*groups)


#: What agents state where they have nothing to say, and what published records are masked with.
_EMPTY = re.compile(
    r"(?:<.*>|unknown|n/?a|none|null|empty|not (?:specified|available|applicable|set)|undefined|"
    r"to be filled.*|default string|0+|[Ff]{4,}|[Xx]+|[-?*. ]+)?$",
    re.IGNORECASE,
)
_DASHES = re.compile("[\u2010-\u2015\u2212]")
#: A number that was filled up to its width.
_PADDED = re.compile(r"^0{4,}(?=[1-9][0-9]*$)")


def plain(value: Value) -> str:
    """One line, without the quotes and the backslash that some agents put around a value."""
    text = printable(value.text)
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1].strip()
    return text.lstrip("\\")


def _normal(text: str) -> str:
    """Without what fills a field up (blanks, "#", zeros before a number) and with plain dashes."""
    return _PADDED.sub("", _DASHES.sub("-", text).strip().strip("#").strip())
