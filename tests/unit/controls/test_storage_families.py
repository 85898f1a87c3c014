"""Every definition of a family can match: an agent made from the definition is read back from it.

The values are generated from the patterns of the definition, and the agent is read with the limits
of the real reading (rows, columns, characters).
"""

from __future__ import annotations

import re
from pathlib import Path
from re import _constants as kinds
from re import _parser as parser
from typing import Any

import pytest
from ansible.module_utils.hostproof.controls.storage_type.snmp import (
    storage_agent,
    storage_definitions,
    storage_health,
    storage_rules,
)
from ansible.module_utils.hostproof.controls.storage_type.snmp.storage_definitions import (
    Place,
    Rule,
    ValueSource,
)
from ansible.module_utils.hostproof.controls.storage_type.snmp.storage_families import FAMILIES
from ansible.module_utils.hostproof.snmp.tools import Credentials, Target
from snmp_agents import Agent, Filers

ROOT = Path(__file__).resolve().parents[3]
ADDRESS = "10.0.0.5"
ROW = "7"
RULES = storage_definitions.read_definitions(FAMILIES)
TARGET = Target(ADDRESS, 161, Credentials("2c", "public"), 1.0, 0)
#: No pattern excludes this text, and it is no empty value for the reader of details.
FREE = "a1B2"


def text_of(pattern: str) -> str:
    """The shortest text that the pattern takes, with a few characters where any may stand."""
    text = "".join(map(_generated, parser.parse(pattern)))
    assert re.search(pattern, text), (pattern, text)
    return text


def _generated(node: tuple[Any, Any]) -> str:
    kind, value = node
    if kind == kinds.LITERAL:
        return chr(value)
    if kind == kinds.AT:
        return ""
    if kind == kinds.ANY:
        return "a"
    if kind == kinds.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if kind == kinds.IN:
        return _one_of(value)
    if kind == kinds.BRANCH:
        return "".join(map(_generated, value[1][0]))
    if kind == kinds.SUBPATTERN:
        return "".join(map(_generated, value[3]))
    assert kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT), kind
    least, most, inner = value
    times = least if most == 1 else max(least, min(most, 2))
    if inner[0][0] == kinds.ANY and len(inner) == 1 and times:
        return FREE + " "
    # What may be left out is left out, so that the text stays unambiguous.
    return "".join(map(_generated, inner)) * (times if least else 0)


def _one_of(choices: list[tuple[Any, Any]]) -> str:
    for character in "5aA- ./":
        if re.match(_class_of(choices), character):
            return character
    kind, value = choices[0]
    return chr(value[0] if kind == kinds.RANGE else value)


def _class_of(choices: list[tuple[Any, Any]]) -> str:
    names = {
        kinds.CATEGORY_DIGIT: r"\d",
        kinds.CATEGORY_NOT_DIGIT: r"\D",
        kinds.CATEGORY_SPACE: r"\s",
        kinds.CATEGORY_NOT_SPACE: r"\S",
        kinds.CATEGORY_WORD: r"\w",
        kinds.CATEGORY_NOT_WORD: r"\W",
    }
    text = ""
    for kind, value in choices:
        if kind == kinds.NEGATE:
            text += "^"
        elif kind == kinds.LITERAL:
            text += re.escape(chr(value))
        elif kind == kinds.RANGE:
            text += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        else:
            text += names[value]
    return f"[{text}]"


Rows = dict[str, tuple[str, str]]


def put(rows: Rows, oid: str, text: str) -> None:
    """Put a value where the reader finds it: a column gets a row, a name gets its own row."""
    if oid in storage_rules.OF_CHASSIS:
        rows[storage_rules.ENTITY_CLASS + ROW] = ("2", str(storage_rules.CHASSIS))
        oid = storage_rules.OF_CHASSIS[oid]
    elif oid in storage_rules.OF_UNIT:
        rows.setdefault(storage_rules.UNIT_TYPE + ROW, ("2", str(storage_rules.UNIT_TYPES[0])))
        oid = storage_rules.OF_UNIT[oid]
    tag = "6" if oid == storage_rules.OBJECT and re.match(r"[\d.]+\Z", text) else "4"
    tag = "2" if oid == storage_rules.UNIT_TYPE else tag
    rows[oid + ROW if oid.endswith(".") else oid] = (tag, text)


def agent_of(way: ValueSource) -> Rows:
    rows: Rows = {}
    for clue in way.clues:
        if clue.kind == storage_definitions.OBJECT_ID:
            rows[storage_rules.OBJECT] = ("6", clue.oid)
        elif clue.kind == storage_definitions.ENGINE:
            number = int(clue.pattern).to_bytes(4, "big")
            engine = bytes([number[0] | 0x80]) + number[1:] + bytes.fromhex("030102030405060708")
            rows[storage_rules.ENGINE_ID] = ("4x", engine[:11].hex())
        elif clue.kind == storage_definitions.TEXT:
            put(rows, clue.oid, text_of(clue.pattern))
        elif clue.kind in (storage_definitions.ANSWERS, storage_definitions.OTHER_TEXT):
            put(rows, clue.oid, FREE)
    rows.setdefault(storage_rules.DESCRIPTION, ("4", ""))
    return rows


def seen(rows: Rows) -> storage_agent.Storage:
    return storage_agent.identify_agent(Filers().agent(ADDRESS, Agent(rows)), TARGET)


def named(rule: Rule) -> str:
    return f"{rule.vendor} {rule.product}"


WAYS = [
    pytest.param(rule, way, id=f"{named(rule)} {number}")
    for rule in RULES
    for number, way in enumerate(rule.by)
]
PLACES = [
    pytest.param(rule, detail, place, id=f"{named(rule)} {detail} {number}")
    for rule in RULES
    for detail in ("model", "version", "serial")
    for number, place in enumerate(getattr(rule, detail))
]
PARTS = [
    pytest.param(part, key, id=f"{named(rule)} {part.part} {part.oid} {key}")
    for rule in RULES
    for part in rule.health
    for key in (list(part.means)[:1] or ["1"])
]


@pytest.mark.parametrize(("rule", "way"), WAYS)
def test_the_family_is_recognised(rule: Rule, way: ValueSource):
    storage = seen(agent_of(way))
    assert (storage.vendor, storage.product, storage.role) == (rule.vendor, rule.product, rule.role)


@pytest.mark.parametrize(("rule", "detail", "place"), PLACES)
def test_the_detail_is_read(rule: Rule, detail: str, place: Place):
    assert any(getattr(seen(rows), detail) for rows in agents_with(rule, place)), place


def agents_with(rule: Rule, place: Place) -> list[Rows]:
    """Agents of each way that have this detail, and that are still known as the family."""
    agents = []
    for way in rule.by:
        for form in ("{text}", "{before} {text}", "x{text}x"):
            rows = agent_of(way)
            for oid in (place.oid, *place.more):
                before = rows.get(oid, ("4", ""))[1]
                put(rows, oid, form.format(before=before, text=value_of(place)))
            storage = seen(rows)
            if (storage.vendor, storage.product) == (rule.vendor, rule.product):
                agents.append(rows)
    return agents


def value_of(place: Place) -> str:
    """A value that the place takes; a name is looked up by the first of its keys."""
    pattern = place.pattern
    if place.names:
        key = place.names[0][0]
        pattern = re.escape(key) if pattern == "(.+)" else pattern.replace(r"(\d+)", key)
    text = text_of(pattern)
    in_oid = place.oid == storage_rules.OBJECT and text[:1].isdigit()
    return storage_rules.E + text if in_oid else text


@pytest.mark.parametrize(("part", "key"), PARTS)
def test_the_health_is_read(part: storage_definitions.Part, key: str):
    oid = part.oid + ROW if part.oid.endswith(".") else part.oid
    rows = {oid: ("2" if re.match(r"-?\d+\Z", key) else "4", key)}
    (health,) = storage_health.read_parts(Filers().agent(ADDRESS, Agent(rows)), TARGET, [part])
    assert key in str(health), health


def test_my_cloud_reads_the_software_version_behind_the_agent_version():
    # Order of the objects: MYCLOUDEX2ULTRA-MIB; the text of the version: Western Digital firmware.
    own = storage_rules.E + "5127.1.1.1.8.1."
    rows = {
        storage_rules.OBJECT: ("6", storage_rules.E + "5127.1.1.1.8"),
        own + "1.0": ("4", "1.00.01"),
        own + "2.0": ("4", "5.08.115 (5.08.115.1216.2020)"),
        own + "3.0": ("4", "filer"),
    }
    rows |= {f"{own}10.1.{number}.1": ("4", FREE) for number in range(1, 40)}
    assert (seen(rows).model, seen(rows).version) == ("EX2 Ultra", "5.08.115")


#: Families of no maker, and what is told from storage: the list of products does not have them.
LISTED = [rule for rule in RULES if rule.vendor != storage_rules.ANY_VENDOR]
LISTED = [rule for rule in LISTED if rule.role in storage_rules.STORAGE_ROLES]


@pytest.mark.parametrize("rule", LISTED, ids=named)
def test_the_document_lists_the_family(rule: Rule):
    text = (ROOT / "docs/controls/storage_type.md").read_text()
    listed = text.partition("### Products\n")[2].partition("\n\nModel, version")[0]
    names = [rule.vendor, rule.vendor.partition(" ")[0], *re.split(r"[ /]", rule.product)]
    assert any(re.search(rf"\b{re.escape(name)}\b", listed) for name in names)
