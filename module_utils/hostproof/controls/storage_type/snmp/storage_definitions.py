# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The format of a definition of a storage family, and its validation.

docs/storage_definitions.schema.json describes the same format.

A definition is JSON data: the values of an agent that identify the family, the objects with its
model, version and serial number, and the document that describes them. storage_families.py has the
built-in definitions. Definitions of the user are validated here too: their size is limited, and so
is the run time of their patterns (``_checked_pattern``).
"""

import re
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Sequence, Tuple

from .storage_rules import (
    CERTAIN,
    DESCRIPTION,
    ENTERPRISES,
    LIKELY,
    NOT_STORAGE,
    PLACES,
    STORAGE_ROLES,
    SURE,
)

OBJECT_ID, TEXT, OTHER_TEXT, ANSWERS, NOTHING, ENGINE = (
    "object_id",
    "matches",
    "matches_not",
    "answers",
    "nothing",
    "engine",
)

#: Use of the rows of a column: all rows must be equal, each row is a separate part ("A, B"), or
#: only the first row that matches the pattern counts.
ALIKE, EACH, ANY = ROWS = ("alike", "each", "any")

#: Parts of a storage system with health objects, states of a part, and parts with counters.
SYSTEM, DISKS, CONTROLLERS, PATHS, BATTERY, REBUILD = PARTS = (
    "system",
    "disks",
    "controllers",
    "paths",
    "battery",
    "rebuild",
)
GOOD, WORN, BAD, MISSING = STATES = ("good", "warn", "bad", "none")
COUNTED = (SYSTEM, DISKS, REBUILD)


class Clue(NamedTuple):
    """A condition on the values of an agent.

    ``kind`` OBJECT_ID: sysObjectID is ``oid`` or below it. TEXT: the value matches ``pattern``;
    OTHER_TEXT: it does not. ANSWERS: there is a value. NOTHING: there is none, or an empty one.
    ENGINE: the engine ID has the enterprise number ``pattern``. An ``oid`` that ends with a dot is
    a column or a subtree. sysDescr has "-" in place of the hostname (OWN_NAMES).
    """

    kind: str
    oid: str
    pattern: str


class ValueSource(NamedTuple):
    """Clues that must all be true, and the resulting confidence."""

    sure: str
    clues: Tuple[Clue, ...]


class Place(NamedTuple):
    """The source of a detail: the groups of ``pattern`` in the value, inserted into ``form``.

    An ``oid`` that ends with a dot is a column; ``rows`` is the use of its rows. Several objects
    (``more``) are joined by dots. ``names`` maps the value to a name.
    """

    oid: str
    pattern: str
    form: str
    names: Tuple[Tuple[str, str], ...]
    rows: str
    more: Tuple[str, ...]


class Part(NamedTuple):
    """An object or a column with the state of one of PARTS.

    ``means`` maps each value (as text) to one of STATES and to the word of the MIB. If the value is
    a number of failed parts, ``counts`` names them, and the policy sets the limit. ``unless`` is an
    object, or a column with the same rows, and its values (none: any value) that exclude a row,
    for example if no partner is configured. ("", ()) excludes no row.
    """

    part: str
    oid: str
    means: Dict[str, Tuple[str, str]]
    counts: str
    source: str
    unless: Tuple[str, Tuple[str, ...]] = ("", ())


class Rule(NamedTuple):
    vendor: str
    product: str
    role: str
    by: Tuple[ValueSource, ...]
    model: Tuple[Place, ...]
    version: Tuple[Place, ...]
    serial: Tuple[Place, ...]
    source: str
    health: Tuple[Part, ...] = ()


#: Number of characters of a value that are matched, the maximum of sysDescr (RFC 3418).
LOOKED_AT = 255
#: Limits of definitions, lists and texts.
MOST_DEFINITIONS, MOST_WAYS, MOST_PLACES, MOST_NAMES = 100, 16, 6, 64
MOST_MORE, MOST_PARTS = 4, 32
_LONGEST_TEXT, _LONGEST_PATTERN, _LONGEST_OID = 300, 160, 160

_ROLES = STORAGE_ROLES + (NOT_STORAGE,)
_OID = re.compile(r"1\.3(?:\.(?:0|[1-9][0-9]{0,9})){2,40}\.?\Z")
_SHORT = "e."

_NEEDED = ("vendor", "product", "role", "known_by", "source")
_DETAILS = ("model", "version", "serial")
_OF_WAY = ("object_id", "engine", "answers", "nothing", "description", "description_not", "value")
_OF_PLACE = ("at", "pattern", "form", "names", "rows", "more")


def read_definitions(values: object) -> Tuple[Rule, ...]:
    """Rules from definitions, in their order. ValueError names the definition and its defect."""
    rules = []
    for number, value in enumerate(_list(values, MOST_DEFINITIONS, "definitions"), 1):
        with_name = f"definition {number}"
        if isinstance(value, dict) and isinstance(value.get("product"), str):
            with_name += f" ({value['product'][:40]})"
        try:
            rules.append(_rule(value))
        except ValueError as problem:
            raise ValueError(f"{with_name}: {problem}") from problem
    return tuple(rules)


def _rule(value: object) -> Rule:
    fields = _fields(value, _NEEDED, (*_DETAILS, "health"))
    role = fields["role"]
    if role not in _ROLES:
        raise ValueError("role must be one of {0}".format(", ".join(_ROLES)))
    ways = _list(fields["known_by"], MOST_WAYS, "known_by")
    if not ways:
        raise ValueError("known_by must not be empty")
    model, version, serial = (
        tuple(_each(fields.get(name, []), MOST_PLACES, name, _place)) for name in _DETAILS
    )
    return Rule(
        _text(fields["vendor"], "vendor"),
        _text(fields["product"], "product"),
        role,
        tuple(_each(ways, MOST_WAYS, "known_by", _way)),
        model,
        version,
        serial,
        _text(fields["source"], "source"),
        tuple(_each(fields.get("health", []), MOST_PARTS, "health", _part)),
    )


# -- clues ----------------------------------------------------------------------------------------


def _way(value: object) -> ValueSource:
    fields = _fields(value, (), _OF_WAY + ("sure",))
    clues = [_clue(name, fields[name]) for name in _OF_WAY if name in fields]
    if not clues:
        raise ValueError("must have one of {0}".format(", ".join(_OF_WAY)))
    own = any(clue.kind in (OBJECT_ID, ANSWERS) or _is_own_text(clue) for clue in clues)
    sure = fields.get("sure", CERTAIN if own else LIKELY)
    if sure not in SURE:
        raise ValueError("sure must be one of {0}".format(", ".join(SURE)))
    return ValueSource(sure, tuple(clues))


def _is_own_text(clue: Clue) -> bool:
    return clue.kind == TEXT and clue.oid != DESCRIPTION


def _clue(name: str, value: object) -> Clue:
    if name == "engine":
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**31:
            raise ValueError("engine must be an enterprise number")
        return Clue(ENGINE, "", str(value))
    if name == "value":
        inner = _fields(value, ("at", "matches"), ())
        return Clue(TEXT, _oid(inner["at"], "value: at"), _checked_pattern(inner["matches"]))
    if name in ("description", "description_not"):
        kind = TEXT if name == "description" else OTHER_TEXT
        return Clue(kind, DESCRIPTION, _checked_pattern(value))
    return Clue(name, _oid(value, name), "")


# -- details --------------------------------------------------------------------------------------


def _place(value: object) -> Place:
    fields = _fields({"at": value} if isinstance(value, str) else value, ("at",), _OF_PLACE[1:])
    pattern = fields.get("pattern", "(.+)")
    compiled = re.compile(_checked_pattern(pattern, starts=False))
    form = _text(fields.get("form", "{0}"), "form")
    if re.sub(r"\{[0-9]\}", "", form).strip("{}") != re.sub(r"\{[0-9]\}", "", form):
        raise ValueError("form may contain text and {0}, {1} and so on")
    numbers = [int(number) for number in re.findall(r"\{([0-9])\}", form)]
    if not numbers or max(numbers) >= compiled.groups:
        raise ValueError("pattern must have a group for each placeholder of form")
    names = fields.get("names", {})
    if not isinstance(names, dict) or len(names) > MOST_NAMES:
        raise ValueError(f"names must be a dictionary of {MOST_NAMES} at most")
    rows = fields.get("rows", ALIKE)
    if rows not in ROWS:
        raise ValueError("rows must be one of {0}".format(", ".join(ROWS)))
    more = _each(fields.get("more", []), MOST_MORE, "more", lambda oid: _oid(oid, "more"))
    return Place(
        _oid(fields["at"], "at"),
        pattern,
        form,
        tuple((_text(key, "names"), _text(name, "names")) for key, name in names.items()),
        rows,
        tuple(more),
    )


# -- health ---------------------------------------------------------------------------------------


def _part(value: object) -> Part:
    fields = _fields(value, ("part", "at", "source"), ("counts", "unless", *STATES))
    part = fields["part"]
    if part not in PARTS:
        raise ValueError("part must be one of {0}".format(", ".join(PARTS)))
    means = _means(fields)
    if "counts" in fields and (means or part not in COUNTED):
        raise ValueError("counts is for {0}, without good or bad".format(" or ".join(COUNTED)))
    states = {state for state, _word in means.values()}
    if "counts" not in fields and not (GOOD in states and states & {WORN, BAD}):
        raise ValueError("must have good values and bad or warn values, or counts")
    oid = _numeric_oid(fields["at"], "at")
    counts = _text(fields["counts"], "counts") if "counts" in fields else ""
    unless = _unless(fields["unless"], oid) if "unless" in fields else ("", ())
    return Part(part, oid, means, counts, _text(fields["source"], "source"), unless)


def _means(fields: Dict[str, Any]) -> Dict[str, Tuple[str, str]]:
    """The state and the word of each value."""
    means: Dict[str, Tuple[str, str]] = {}
    for state in STATES:
        words = fields.get(state, {})
        if not isinstance(words, dict) or len(words) > MOST_NAMES:
            raise ValueError(f"{state} must be a dictionary of {MOST_NAMES} at most")
        for key, word in words.items():
            if _text(key, state) in means:
                raise ValueError(f"{state} has {key!r}, which another state has already")
            means[key] = (state, _text(word, state))
    return means


def _unless(value: object, oid: str) -> Tuple[str, Tuple[str, ...]]:
    fields = _fields(value, ("at",), ("is",))
    other = _numeric_oid(fields["at"], "unless: at")
    if other.endswith(".") and not oid.endswith("."):
        raise ValueError("unless: at must be an object where at is one")
    values = _each(fields.get("is", []), MOST_NAMES, "unless: is", lambda item: _text(item, "is"))
    if not values and "is" in fields:
        raise ValueError("unless: is must not be empty")
    return other, tuple(values)


def _numeric_oid(value: object, name: str) -> str:
    oid = _oid(value, name)
    if not oid[0].isdigit():
        raise ValueError(f"{name} must be an OID (1.3.6..., e.789...)")
    return oid


def _oid(value: object, name: str) -> str:
    """The OID of "1.3....", "e.789..." (below enterprises), or a name of PLACES.

    A column or a subtree ends with a dot.
    """
    if isinstance(value, str) and len(value) <= _LONGEST_OID:
        if value in PLACES:
            return PLACES[value]
        whole = ENTERPRISES + "." + value[2:] if value.startswith(_SHORT) else value
        if _OID.match(whole):
            return whole
    names = ", ".join(sorted(PLACES))
    raise ValueError(f"{name} must be an OID (1.3.6..., e.789...), or one of {names}")


# -- patterns -------------------------------------------------------------------------------------

#: Limit of the backtracking of a pattern, as a power of 2. On a value of LOOKED_AT characters, this
#: allows three repetitions with 2^8 positions each, and one choice.
_MOST_BITS = 8 * 3 + 1
_ESCAPES = "dDwWsSb"
#: A character class without unescaped brackets in it.
_CLASS = re.compile(r"\[\^?(?:[^\[\]\\]|\\[^A-Za-z0-9]|\\[dDwWsS])+\]")


def _checked_pattern(pattern: object, starts: bool = True) -> str:
    """A pattern with a bounded run time for every value. ValueError for any other pattern.

    Repeated groups are rejected, because they can need exponential time. Counted repetitions,
    references and lookarounds are also rejected. The run time of the remaining patterns is the
    product of their repetitions and choices.
    """
    if not isinstance(pattern, str) or not 0 < len(pattern) <= _LONGEST_PATTERN:
        raise ValueError(f"a pattern must be a text of 1 to {_LONGEST_PATTERN} characters")
    if starts and not pattern.startswith("^"):
        raise ValueError(f"the pattern {pattern!r} must begin with ^")
    bits = 0 if pattern.startswith("^") else 8
    bits += sum(_bits_of(pattern))
    if bits > _MOST_BITS:
        raise ValueError(f"the pattern {pattern!r} has too many repetitions and choices")
    try:
        re.compile(pattern)
    except re.error as problem:
        raise ValueError(f"the pattern {pattern!r} is not valid: {problem}") from problem
    return pattern


def _bits_of(pattern: str) -> List[int]:
    """The backtracking of each part of the pattern, as a power of 2."""
    bits: List[int] = []
    before, depth = "", 0
    for sign in _signs(pattern):
        if sign in ("*", "+", "{"):
            if before == ")" or sign == "{":
                raise ValueError(f"the pattern {pattern!r} may not repeat a group or use {{}}")
            bits.append(8)
        elif sign == "|" and not depth:
            raise ValueError(f"the pattern {pattern!r} must have its choices in (?:...)")
        elif sign == "|" or (sign == "?" and before not in ("*", "+")):
            bits.append(1)
        depth += {"(": 1, ")": -1}.get(sign, 0)
        before = sign
    return bits


def _signs(pattern: str) -> Iterator[str]:
    """The characters of a pattern; "(" also for "(?:", and "" for an escape or a class."""
    at = 0
    while at < len(pattern):
        sign, end = pattern[at], at + 1
        if sign == "\\":
            follows = pattern[at + 1 : at + 2]
            if not follows or (follows.isalnum() and follows not in _ESCAPES):
                raise ValueError(f"the pattern {pattern!r} may not use \\{follows}")
            sign, end = "", at + 2
        elif sign == "[":
            # A character class matches one character.
            match = _CLASS.match(pattern, at)
            if match is None:
                raise ValueError(f"the pattern {pattern!r} has unclosed brackets, or [ in brackets")
            sign, end = "", match.end()
        elif sign == "(" and pattern[at + 1 : at + 2] == "?":
            if pattern[at + 2 : at + 3] != ":":
                raise ValueError(f"the pattern {pattern!r} may use only (?: of the (? groups")
            end = at + 3
        yield sign
        at = end


# -- bounded values -------------------------------------------------------------------------------


def _fields(value: object, needed: Sequence[str], may: Sequence[str]) -> Dict[str, Any]:
    """The dictionary, if it has the required keys and no unknown ones."""
    if not isinstance(value, dict):
        raise ValueError("must be a dictionary with {0}".format(", ".join(needed or may)))
    missing = [name for name in needed if name not in value]
    unknown = sorted(str(name)[:40] for name in value if name not in needed and name not in may)
    if missing or unknown:
        word, names = ("lacks", missing) if missing else ("has unknown", unknown)
        raise ValueError("{0} {1}".format(word, ", ".join(names[:5])))
    return value


def _list(value: object, most: int, name: str) -> List[Any]:
    if not isinstance(value, (list, tuple)) or len(value) > most:
        raise ValueError(f"{name} must be a list of at most {most} items")
    return list(value)


def _each(value: object, most: int, name: str, read: Callable[[object], object]) -> List[Any]:
    results = []
    for number, item in enumerate(_list(value, most, name), 1):
        try:
            results.append(read(item))
        except ValueError as problem:
            raise ValueError(f"{name} {number}: {problem}") from problem
    return results


def _text(value: object, name: str) -> str:
    good = isinstance(value, str) and 0 < len(value) <= _LONGEST_TEXT and value.isprintable()
    if not good:
        raise ValueError(f"{name} must be a text of 1 to {_LONGEST_TEXT} printable characters")
    return str(value)
