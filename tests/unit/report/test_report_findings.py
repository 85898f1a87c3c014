"""Which findings are sound, and what is wrong with others."""

import pytest
from hostproof_controller.report.findings import are_sound, problem_of_finding
from report_samples import finding

WRONG = pytest.mark.parametrize(
    ("changes", "says"),
    [
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
    ],
)


@WRONG
def test_what_is_wrong_is_said(changes, says):
    assert says in problem_of_finding({**finding(), **changes}, 3)


@WRONG
def test_what_is_wrong_is_seen_among_others(changes, says):
    assert are_sound([finding(), finding(fix=None)], 1000)
    assert not are_sound([finding(), {**finding(), **changes}], 1000)


@pytest.mark.parametrize("one", [None, 3, "x", [], {}])
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
    waiver = {"owner": "a", "reason": "b", "expires": "2026-12-31", "was": "fail"}
    waived = finding(status="waived", waiver=waiver)
    assert problem_of_finding(waived, 3) is None
    assert not are_sound([waived], 1000)
    assert are_sound([], 0)
