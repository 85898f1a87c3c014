# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings as dictionaries (docs/finding.schema.json): which are sound, and why others are not."""

import math
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import chain
from operator import itemgetter
from typing import Any

from ansible.module_utils.hostproof.evaluate.finding import (
    ACTUAL_LAYERS,
    LAYERS,
    SEVERITIES,
    STATUSES,
    TAKES_EFFECT,
    WAIVED,
)

_CHECK_ID = re.compile(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*\Z")

#: Schema of written lines (docs/finding.schema.json); lines of schemas 1 and 2 are read too.
SCHEMA = 3

#: Required texts, texts that may be null, and lists of texts.
_TEXTS = ("control", "check", "title", "why", "reference")
_TEXTS_OR_NULL = (*LAYERS, "fix", "problem")
_LISTS = ("evidence", "commands", "because_of")

#: What schema 2 adds, and what represents it where a line of schema 1 is read.
SINCE_2: dict[str, Any] = {"values": None, "commands": [], "because_of": []}
#: The same for schema 3. Lines of 0.2.0 have no failing_layer.
SINCE_3: dict[str, Any] = {"problem": None, "failing_layer": None}
_OPTIONAL = {"failing_layer"}
_KEYS_1 = {*_TEXTS, *LAYERS, "fix", "status", "severity", "takes_effect", "evidence", "waiver"}
_KEYS_2 = _KEYS_1 | set(SINCE_2)
_KEYS = _KEYS_2 | set(SINCE_3)

_needed = itemgetter(*_TEXTS)
_NAMES = tuple(sorted(_KEYS))
_all_of = itemgetter(*_NAMES)
#: Permitted words of a finding without a waiver.
_WORDS: dict[str, set[Any]] = {
    "status": {*STATUSES} - {WAIVED},
    "severity": {*SEVERITIES},
    "takes_effect": {None, *TAKES_EFFECT},
    "failing_layer": {None, *ACTUAL_LAYERS},
}
_VALUE_KINDS = (str, int, float, bool, type(None))


def are_sound(findings: Sequence[Any], most: int = sys.maxsize) -> bool:
    """Whether all are valid findings without a waiver, with texts of at most ``most`` characters.

    Texts in lists and values may be longer. The check runs field by field, which takes a third of
    the time of a check per finding. If it returns False, problem_of_finding returns the sentence,
    or finds no problem.
    """
    try:
        # With as many keys as names, and each name among them, the keys are the names.
        if not {*map(len, findings)} <= {len(_NAMES)}:
            return False
        rows = [*zip(*map(_all_of, findings), strict=True)] or [()] * len(_NAMES)
        fields = dict(zip(_NAMES, rows, strict=True))
        needed = [fields[name] for name in _TEXTS]
        optional = [[x for x in fields[name] if x is not None] for name in _TEXTS_OR_NULL]
        lists = [item for name in _LISTS for item in fields[name]]
        return (
            all(map(all, needed))
            and all(map(_are_texts, (*needed, *optional)))
            and max(map(len, chain(*needed, *optional)), default=0) <= most
            and all(set(fields[name]) <= known for name, known in _WORDS.items())
            and all(isinstance(item, list) for item in lists)
            and all(chain.from_iterable(lists))
            and _are_texts(chain.from_iterable(lists))
            and all(map(_CHECK_ID.match, chain.from_iterable(fields["because_of"])))
            and all(map(_are_values, fields["values"]))
            and set(map(type, fields["waiver"])) <= {type(None)}
            and all(map(is_check_of, fields["check"], fields["control"]))
        )
    except (AttributeError, KeyError, TypeError):
        # A key is missing, a finding is not a map, or a word is a list.
        return False


def is_check_of(check: str, control: str) -> bool:
    """Whether this is an id of a check, and one of that control's."""
    return check.partition(".")[0] == control and is_check_id(check)


def is_check_id(text: str) -> bool:
    return _CHECK_ID.match(text) is not None


def problem_of_finding(finding: Any, schema: int) -> str | None:
    """Why this is not a finding, or None."""
    if not isinstance(finding, dict):
        return "not a JSON object"
    required = {1: _KEYS_1, 2: _KEYS_2}.get(schema, _KEYS)
    if finding.keys() != required and finding.keys() | (_OPTIONAL & required) != required:
        return key_problem(finding, required)
    needed = _needed(finding)
    if not all(needed) or not _are_texts(needed):
        name = next(
            field for field in _TEXTS if not (finding[field] and isinstance(finding[field], str))
        )
        return f"{name} is not a text"
    control, check = needed[:2]
    if not is_check_id(check):
        return f"{check!r} is not a check id"
    if check.partition(".")[0] != control:
        return f"{check} is not a check of {control}"
    # Schemas 1 and 2 have no problem.
    optional = {name: finding.get(name) for name in _TEXTS_OR_NULL}
    if not _are_texts(value for value in optional.values() if value is not None):
        wrong = (
            name for name, value in optional.items() if not isinstance(value, (str, type(None)))
        )
        return f"{next(wrong)} is not a text"
    return _problem_of_words(finding) or _problem_of_lists(finding) or _problem_of_waiver(finding)


def _are_texts(values: Iterable[Any]) -> bool:
    """ansible-core 2.16 marks the texts of a module's answer by a separate type.

    There are few types, so that this is faster than a check of each value.
    """
    return all(issubclass(kind, str) for kind in {*map(type, values)})


def _problem_of_words(finding: dict[str, Any]) -> str | None:
    for name, known in (
        ("status", STATUSES),
        ("severity", SEVERITIES),
        ("takes_effect", (None, *TAKES_EFFECT)),
        ("failing_layer", (None, *ACTUAL_LAYERS)),
    ):
        if finding.get(name) not in known:
            return f"unknown {name} {finding[name]!r}"
    return None


def _problem_of_lists(finding: dict[str, Any]) -> str | None:
    for name in _LISTS:
        items = finding.get(name, [])
        if not isinstance(items, list) or not all(items) or not _are_texts(items):
            return f"{name} is not a list of texts"
    for check in finding.get("because_of", ()):
        if not is_check_id(check):
            return f"because_of: {check!r} is not a check id"
    if not _are_values(finding.get("values")):
        return "values is neither null nor names to numbers or texts"
    return None


def _are_values(values: Any) -> bool:
    if values is None:
        return True
    return isinstance(values, dict) and all(
        isinstance(value, _VALUE_KINDS) and (not isinstance(value, float) or math.isfinite(value))
        for value in values.values()
    )


def _problem_of_waiver(finding: dict[str, Any]) -> str | None:
    waiver = finding["waiver"]
    if finding["status"] != WAIVED:
        return None if waiver is None else "a waiver on a finding that is not waived"
    if not isinstance(waiver, dict) or set(waiver) != {"owner", "reason", "expires", "was"}:
        return "waiver is not {owner, reason, expires, was}"
    if not all(isinstance(value, str) and value for value in waiver.values()):
        return "waiver holds a value that is not a text"
    if not _is_date(waiver["expires"]):
        return "waiver.expires is not a date, YYYY-MM-DD"
    return None if waiver["was"] in ("warn", "fail") else "waiver.was is neither warn nor fail"


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def key_problem(record: dict[str, Any], required: set[str]) -> str:
    """Which keys a record lacks, and which it is unknown."""
    missing, unknown = sorted(required - set(record)), sorted(set(record) - required)
    return "; ".join(
        "{} {}".format(what, ", ".join(keys))
        for what, keys in (("missing", missing), ("unknown", unknown))
        if keys
    )
