# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Matches an agent's answers to a product family, and lists the objects to read for this."""

import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple

from ....parsers.number import clipped
from ....snmp import snmp_message
from ....snmp.snmp_output import Value
from ....snmp.tools import Values
from . import enterprises
from . import storage_definitions as definitions
from . import storage_rules as rules
from .storage_definitions import Clue, Part, Rule, ValueSource
from .storage_families import FAMILIES

#: The objects of the first query to every agent.
PROBE = (rules.DESCRIPTION, rules.OBJECT, rules.ENGINE_ID, rules.ORACLE_PRODUCT)


class Catalogue(NamedTuple):
    """Product families, in the order in which they are tried.

    ``ways`` has every way of every family with its first clue. ``columns`` are the columns and
    subtrees among these clues. ``further`` are the OIDs for a GETNEXT to an agent that is not
    identified yet: each precedes an object that a clue needs.
    """

    ways: Tuple[Tuple[Rule, ValueSource, Clue], ...]
    columns: Tuple[str, ...]
    further: Tuple[str, ...]
    of_user: Tuple[Rule, ...]


def catalogue_of(rules_of_user: Sequence[Rule]) -> Catalogue:
    """The user's own families, then the built-in ones."""
    if not _HOUSE:
        _HOUSE.extend(definitions.read_definitions(FAMILIES))
    ways = tuple((rule, way, way.clues[0]) for rule in (*rules_of_user, *_HOUSE) for way in rule.by)
    first = {clue.oid for _rule, _way, clue in ways if clue.oid.endswith(".")}
    further = _further(way for _rule, way, _clue in ways)
    return Catalogue(ways, tuple(sorted(first)), further, tuple(rules_of_user))


#: The built-in families. They are loaded once, and only if an agent is queried.
_HOUSE: List[Rule] = []


def health_of(
    catalogue: Catalogue, vendor: Optional[str], product: Optional[str]
) -> Tuple[Part, ...]:
    """The health objects of a product family, () if none is known."""
    rules_of = (rule for rule, _way, _clue in catalogue.ways if rule.vendor == vendor)
    return next((rule.health for rule in rules_of if rule.product == product), ())


def _further(ways: Iterable[ValueSource]) -> Tuple[str, ...]:
    columns = [rules.OF_CHASSIS[name] for name in rules.SHOW_A_CHASSIS] + [rules.UNIT_TYPE]
    oids = [before(column) for column in columns]
    for way in ways:
        for clue in way.clues:
            is_needed = clue.kind in (definitions.TEXT, definitions.ANSWERS)
            if is_needed and clue.oid not in PROBE and clue.oid not in rules.PLACES:
                oids.append(before(clue.oid))
    oids += map(before, rules.SAID_BY_ANY)
    return tuple(dict.fromkeys(oids)) + rules.BEFORE_NFS


def before(oid: str) -> str:
    """An OID whose successor is this object or the first row of this column."""
    if oid.endswith("."):
        return oid[:-1]
    above, _, last = oid.rpartition(".")
    return above if last == "0" else f"{above}.{clipped(last) - 1}"


# -- recognition ----------------------------------------------------------------------------------


class _Seen(NamedTuple):
    """The values of an agent, with the derived values that many rules need.

    ``roots`` are its sysObjectID and all OIDs above it. ``description`` is sysDescr without the
    hostname.
    """

    roots: Set[str]
    enterprise: str
    description: str
    values: Values


def recognise(values: Values, catalogue: Catalogue) -> Optional[Tuple[Rule, ValueSource]]:
    """The first matching rule, and its matching way with the highest confidence."""
    best: Optional[Tuple[Rule, ValueSource]] = None
    for rule, way in _holding(values, catalogue):
        if best is not None and best[0] is not rule:
            break
        if best is None or rules.SURE.index(way.sure) < rules.SURE.index(best[1].sure):
            best = rule, way
    return best


def _roots(values: Values) -> Set[str]:
    """sysObjectID and each OID above it, up to _MOST_ARCS arcs."""
    claimed = values.get(rules.OBJECT)
    arcs = ("" if claimed is None else claimed.text.lstrip(".")).split(".")
    return {".".join(arcs[:count]) for count in range(1, min(len(arcs), _MOST_ARCS) + 1)}


def _holding(values: Values, catalogue: Catalogue) -> Iterable[Tuple[Rule, ValueSource]]:
    """The matching ways, in their order.

    This runs for every agent of a fleet. A set lookup therefore skips each way whose first clue has
    no value. If sysObjectID is not an OID, the match is only a guess.
    """
    roots = _roots(values)
    is_oid = bool(object_id(values))
    there = {oid for oid, value in values.items() if value is not None}
    there.update(column for column in catalogue.columns if value_at(column, values) is not None)
    seen = _Seen(roots, str(enterprise_of(values)), described(values), values)
    for rule, way, first in catalogue.ways:
        if first.kind == definitions.OBJECT_ID:
            possible = first.oid in roots
        else:
            possible = first.kind in _WITHOUT_VALUE or first.oid in there
        if possible and all(_holds(clue, seen) for clue in way.clues):
            by_object = any(clue.kind == definitions.OBJECT_ID for clue in way.clues)
            yield rule, way._replace(sure=rules.WEAK) if by_object and not is_oid else way


#: The highest number of arcs of an OID (RFC 2578, section 3.5).
_MOST_ARCS = 128


# -- contradictions -------------------------------------------------------------------------------


def contradictions(values: Values, catalogue: Catalogue, rule: Rule) -> Tuple[str, ...]:
    """Values of the agent that contradict the rule, as texts for messages.

    Objects of another family, or the sysObjectID of another vendor. The sysObjectID of an operating
    system is not a contradiction, because most filers run Linux or FreeBSD.
    """
    if rule in catalogue.of_user:
        return ()
    conflicts: Dict[str, None] = {}
    for other, way in _holding(values, catalogue):
        if way.sure != rules.WEAK and not _is_kin(rule, other):
            conflicts[f"{other.vendor} {other.product}"] = None
    number = _enterprise_in(object_id(values))
    makers = {
        candidate.vendor
        for candidate, _way, _clue in catalogue.ways
        if number in _known_numbers(candidate)
    }
    makers.add(enterprises.maker_of(number).name)
    if not conflicts and number and not _may_have(rule, number, object_id(values), makers):
        maker = " or ".join(sorted(makers - {""}))
        named = f"{maker} (enterprise {number})" if maker else f"enterprise {number}"
        conflicts[f"its sysObjectID is of {named}"] = None
    return tuple(conflicts)


def _is_kin(rule: Rule, other: Rule) -> bool:
    """Whether one agent may match both rules: same vendor, or a product that many vendors sell."""
    if rule is other or rules.ANY_VENDOR in (rule.vendor, other.vendor):
        return True
    if rule.role == other.role and rule.role in rules.SOLD_BY_MANY:
        return True
    if any({rule.product, other.product} <= group for group in rules.SAME_INSIDE):
        return True
    mine, theirs = _known_numbers(rule), _known_numbers(other)
    if mine and theirs:
        return bool(mine & theirs)
    return _short(rule.vendor) == _short(other.vendor)


def _may_have(rule: Rule, number: int, oid: str, makers: Set[str]) -> bool:
    """Whether an agent of the rule may have a sysObjectID with this number of these vendors."""
    if rule.vendor == rules.ANY_VENDOR or rule.role in rules.SOLD_BY_MANY:
        return True
    if any(oid == root or oid.startswith(root + ".") for root, _name in rules.OPERATING_SYSTEMS):
        return True
    places = (place.oid for part in (rule.model, rule.version, rule.serial) for place in part)
    objects = [*places, *(part.oid for part in rule.health)]
    numbers = _known_numbers(rule) | {_enterprise_in(item) for item in objects}
    return number in numbers or _short(rule.vendor) in map(_short, makers)


def _known_numbers(rule: Rule) -> Set[int]:
    """The enterprise numbers in the clues of a family."""
    clues = [clue for way in rule.by for clue in way.clues]
    numbers = {clipped(clue.pattern) for clue in clues if clue.kind == definitions.ENGINE}
    return (numbers | {_enterprise_in(clue.oid) for clue in clues}) - {0}


def _enterprise_in(oid: str) -> int:
    """The enterprise number in an OID, 0 if it has none."""
    first = oid[len(rules.E) :].partition(".")[0] if oid.startswith(rules.E) else ""
    return clipped(first) if first.isdecimal() else 0


def _short(vendor: str) -> str:
    """One name per vendor, also for vendors that were renamed or acquired."""
    first = vendor.partition(" ")[0]
    return rules.OTHER_NAMES.get(first, first)


# -- clues ----------------------------------------------------------------------------------------

#: Clues that may match without a value.
_WITHOUT_VALUE = (definitions.ENGINE, definitions.NOTHING, definitions.OTHER_TEXT)


def _holds(clue: Clue, seen: _Seen) -> bool:
    if clue.kind == definitions.OBJECT_ID:
        return clue.oid in seen.roots
    if clue.kind == definitions.ENGINE:
        return seen.enterprise == clue.pattern
    value = value_at(clue.oid, seen.values)
    text = "" if value is None else value.text
    if clue.kind == definitions.NOTHING:
        return not text.strip()
    if clue.kind == definitions.ANSWERS:
        return value is not None
    text = seen.description if clue.oid == rules.DESCRIPTION else text
    is_match = bool(re.search(clue.pattern, text[: definitions.LOOKED_AT]))
    return value is not None and is_match if clue.kind == definitions.TEXT else not is_match


_OWN_NAMES = tuple(re.compile(pattern) for pattern in rules.OWN_NAMES)


def described(values: Values) -> str:
    """sysDescr with "-" in place of the hostname."""
    value = values.get(rules.DESCRIPTION)
    text = "" if value is None else value.text
    for pattern in _OWN_NAMES:
        match = pattern.search(text)
        if match is not None:
            return text[: match.start(1)] + "-" + text[match.end(1) :]
    return text


def value_at(oid: str, values: Values) -> Optional[Value]:
    """The value of an object, or the first value in a column ("….")."""
    if not oid.endswith("."):
        return values.get(oid)
    return next(iter(rows_at(oid, values).values()), None)


def rows_at(column: str, values: Values) -> Dict[str, Value]:
    """Row index and value of each known row of the column."""
    return {
        name[len(column) :]: value
        for name, value in values.items()
        if value is not None and name.startswith(column)
    }


def object_id(values: Values) -> str:
    """sysObjectID, or "" if the agent has none or it is not an OID."""
    value = values.get(rules.OBJECT)
    return value.text.lstrip(".") if value is not None and value.kind == "oid" else ""


def enterprise_of(values: Values) -> Optional[int]:
    """The enterprise number in the agent's engine ID."""
    engine = values.get(rules.ENGINE_ID)
    if engine is None or not isinstance(engine.data, bytes):
        return None
    return snmp_message.enterprise(engine.data)
