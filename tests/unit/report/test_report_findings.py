"""Which findings are sound, and what is wrong with others."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
from cases import cases
from hostproof_controller.remote import host_findings
from hostproof_controller.report.findings import are_sound, problem_of_finding
from report_samples import finding

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/finding.schema.json").read_text())
WAIVER = {"owner": "a", "reason": "b", "expires": "2026-12-31", "was": "fail"}

#: Replacements of a field: right in some fields, wrong in others.
VALUES = [
    *(None, True, 0, 1.5, "", "x", "no check", "a.B", "hugepages.x", "pass", "waived", "running"),
    *("critical", "reboot", [], [""], ["x"], ["a.b"], [1], [None], [[]]),
    *({}, {"a": 1}, {"a": None}, {"a": []}, {"a": {}}),
    *(WAIVER, WAIVER | {"more": "x"}, {name: "x" for name in WAIVER if name != "was"}),
    *(WAIVER | {name: text} for name in WAIVER for text in ("", 1, "soon", "2026-W01-1")),
]

WRONG = cases(
    "changes says",
    ({"why": ""}, "why is not a text"),
    ({"title": 3}, "title is not a text"),
    ({"running": ["x"]}, "running is not a text"),
    ({"status": ["fail"]}, "unknown status"),
    ({"takes_effect": 0}, "unknown takes_effect"),
    ({"commands": [None]}, "commands is not a list of texts"),
    ({"evidence": {}}, "evidence is not a list of texts"),
    ({"values": {"a": [1]}}, "values is neither"),
    ({"values": {"a": float("nan")}}, "values is neither"),
    ({"check": "other.check"}, "is not a check of"),
    ({"check": "No Check"}, "is not a check id"),
    ({"waiver": {}}, "a waiver on a finding that is not waived"),
    ({"extra": 1}, "unknown extra"),
    ({"fix": False}, "fix is not a text"),
    ({"status": "waived"}, "waiver is not {"),
    ({"evidence": [""]}, "evidence is not a list of texts"),
    ({"because_of": ["x"]}, "because_of: 'x' is not a check id"),
)


@WRONG
def test_what_is_wrong_is_said(changes, says):
    assert says in problem_of_finding({**finding(), **changes}, 3)


@WRONG
def test_what_is_wrong_is_seen_among_others(changes, says):
    assert are_sound([finding(), finding(fix=None)], 1000)
    assert not are_sound([finding(), {**finding(), **changes}], 1000)


@cases("one", None, 3, "x", [], {})
def test_what_is_no_finding_is_seen_among_others(one):
    assert not are_sound([finding(), one], 1000)


def test_an_unknown_key_in_place_of_one_that_is_missing_is_seen_among_others():
    entry = {**finding(), "extra": 1}
    del entry["because_of"]
    assert len(entry) == len(finding())
    assert not are_sound([finding(), entry], 1000)


def test_a_text_that_is_too_long_and_a_waiver_are_seen_among_others():
    entry = finding(why="x" * 500, fix="y" * 501)
    assert are_sound([entry, finding()], 501)
    assert not are_sound([entry, finding()], 500)
    waived = finding(status="waived", waiver=WAIVER)
    assert problem_of_finding(waived, 3) is None
    assert not are_sound([waived], 1000)
    assert are_sound([], 0)


def mutations() -> Iterator[dict[str, Any]]:
    for base in (finding(), finding(status="waived", waiver=WAIVER)):
        yield base
        for name in (*base, "extra"):
            yield {key: value for key, value in base.items() if key != name}
            yield from (base | {name: value} for value in VALUES)


def test_what_is_refused_is_what_the_schema_refuses():
    """But that a check is one of its control, which a schema cannot say."""
    valid = jsonschema.Draft202012Validator(
        {"$defs": SCHEMA["$defs"], "$ref": "#/$defs/finding"},
        format_checker=jsonschema.FormatChecker(),
    ).is_valid
    accepted = 0
    for entry in mutations():
        problem = problem_of_finding(entry, 3)
        if problem is None or "is not a check of" not in problem:
            assert (problem is None) == valid(entry), (problem, entry)
            accepted += problem is None
        # The faster check of several takes no waiver.
        if entry.get("status") != "waived" and "failing_layer" in entry:
            assert are_sound([entry]) == (problem is None), (problem, entry)
    assert accepted > 100


@cases("is_plain", True, False)
def test_a_report_can_be_read_whatever_a_host_sent(is_plain):
    for entry in mutations():
        (taken,) = host_findings.accepted_findings([entry], is_plain=is_plain)
        assert problem_of_finding(taken, 3) is None, entry
