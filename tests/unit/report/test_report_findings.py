"""Of equal findings one, and nothing that only looks equal."""

import json
import random
from typing import Any

import pytest
from hostproof_controller.report.findings import (
    Equals,
    Shared,
    are_sound,
    made_once,
    problem_of_finding,
)
from report_samples import finding


def shared(equals: Equals, *findings):
    return equals.shared([dict(one) for one in findings])


def test_what_two_hosts_say_alike_is_one():
    equals = Equals()
    (one,) = shared(equals, finding())
    (other,) = shared(equals, finding())
    assert one is other == finding()
    assert isinstance(one, Shared)


def test_two_equal_findings_of_one_host_stay_two():
    first, second = shared(Equals(), finding(), finding())
    assert first == second
    assert first is not second


@pytest.mark.parametrize("other", [True, 1.0, "1"])
def test_numbers_that_only_look_equal_are_two(other):
    equals = Equals()
    shared(equals, finding(values={"pool": 1}))
    (found,) = shared(equals, finding(values={"pool": other}))
    assert type(found["values"]["pool"]) is type(other)


def test_what_is_no_finding_is_left_as_it_is(monkeypatch):
    equals = Equals()
    assert equals.shared([None, 3, ["x"]]) == [None, 3, ["x"]]
    deep: list = []
    for _ in range(5000):
        deep = [deep]
    (found,) = equals.shared([{"evidence": deep}])
    assert type(found) is dict


def test_only_so_many_are_remembered_and_none_that_is_long(monkeypatch):
    monkeypatch.setattr(Equals, "MOST", 1)
    equals = Equals()
    found = shared(equals, finding(), finding(why="Another."))
    assert [type(one) for one in found] == [Shared, dict]
    monkeypatch.setattr(Equals, "MOST_BYTES", 100)
    assert type(shared(Equals(), finding())[0]) is dict


def test_what_is_made_of_it_is_made_once_for_each_argument():
    asked = []

    @made_once
    def told(one, number):
        asked.append(number)
        return f"{one['check']} {number}"

    equals = Equals()
    for number in (1, 2, 1):
        (one,) = shared(equals, finding())
        assert told(one, number) == f"{one['check']} {number}"
    assert asked == [1, 2]
    told(finding(), 1)
    told(finding(), 1)
    assert asked == [1, 2, 1, 1]


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
def test_what_is_wrong_is_said_however_often_it_comes(changes, says):
    equals = Equals()
    for _ in range(2):
        (found,) = shared(equals, {**finding(), **changes})
        assert says in problem_of_finding(found, 2)


@WRONG
def test_what_is_wrong_is_seen_among_others(changes, says):
    assert are_sound([finding(), finding(fix=None)], 1000)
    assert not are_sound([finding(), {**finding(), **changes}], 1000)


@pytest.mark.parametrize("one", [None, 3, "x", [], {}])
def test_what_is_no_finding_is_seen_among_others(one):
    assert not are_sound([finding(), one], 1000)


def test_a_text_that_is_too_long_and_a_waiver_are_seen_among_others():
    one = finding(why="x" * 500, fix="y" * 501)
    assert are_sound([one, finding()], 501)
    assert not are_sound([one, finding()], 500)
    waiver = {"owner": "a", "reason": "b", "expires": "2026-12-31", "was": "fail"}
    waived = finding(status="waived", waiver=waiver)
    assert problem_of_finding(waived, 2) is None
    assert not are_sound([waived], 1000)
    assert are_sound([], 0)


def line(*findings: Any, **others: Any) -> bytes:
    """As a run writes it (runs.write_result)."""
    one = {
        "at": "2026-11-21T03:15:20Z",
        "evidence": None,
        "findings": list(findings),
        "host": "db01",
        "message": None,
        "outcome": "judged",
        "recorded_at": None,
        "run": {"hosts": 2, "id": "x", "started": "2026-11-21T03:15:00Z"},
        "schema": 2,
    }
    return json.dumps({**one, **others}, sort_keys=True).encode() + b"\n"


def outcome(load: Any, raw: bytes) -> Any:
    try:
        # Its text too: 1 is not 1.0 there, and keys have their order.
        return json.dumps(load(raw))
    except ValueError as problem:
        return str(problem)


def test_a_line_of_a_run_is_read_with_findings_that_others_have_too():
    equals, whole = Equals(), Equals()
    read: list[bytes] = []

    def loads(raw: bytes) -> Any:
        read.append(raw)
        return json.loads(raw)

    first = equals.load(line(finding(), finding(why="Another.")), loads)
    read.clear()
    again = equals.load(line(finding(why="Another."), finding(), host="db02"), loads)
    assert again["findings"][0] is first["findings"][1]
    assert again["findings"][1] is first["findings"][0]
    assert (again["host"], again["run"]["hosts"]) == ("db02", 2)
    # Only what stands around the findings.
    assert [b"because_of" in one for one in read] == [False]
    # A line with other spaces is read whole, and no finding of it twice.
    spaced = json.dumps(json.loads(line(finding(), finding())), indent=None, separators=(",", ":"))
    one, other = whole.load(spaced.encode(), loads)["findings"]
    assert one == other
    assert one is not other


@pytest.mark.parametrize(
    "raw",
    [
        line(),
        line(3),
        line(3, None, []),
        line(finding(), finding(), finding()),
        line(finding(why='}, {"because_of": []}], "host": "other"')),
        line(finding(values={"a": [{"x": 1}, {"because_of": 1}]})),
        line(finding(values={"findings": [{"because_of": 1}], "host": "x"})),
        line(finding(), evidence={"findings": [{"because_of": 1}]}),
        line(finding(), at={"findings": [{"because_of": []}], "host": 3}),
        line(finding(), message='"findings": [{"because_of": '),
        line(finding(), zzz=[{"a": [{}], "host": 1}]),
        line(finding())[:-2] + b', "findings": 3}',
        line(finding())[:-2] + b', "findings": [{"a": 1}], "host": 5}',
        line(finding())[:200],
        line(finding(), finding())[:-40],
        b'"findings": [',
        b'}], "host": ',
        b'"findings": [}], "host": 3',
        b'{"findings": [1, 2, {"a": 1}, {"because_of": 2}], "host": 3}',
        b'{"findings": [{"a": 1}, 3, {"because_of": 2}], "host": 3}',
        b'{"findings": [{"a": 1}, {"because_of": 2}}], "host": 3}',
        b'{"findings": [{"a": "}, {"because_of": 2}], "host": 3}',
        '{"findings": [{"a": "\u00e9"}], "host": 3}'.encode(),
        b'{"findings": [{"a": "\xe9"}], "host": 3}',
        b'[{"findings": [{"a": 1}], "host": 3}]',
    ],
)
def test_every_line_is_read_as_json_has_it(raw):
    equals = Equals()
    for _ in range(2):
        assert outcome(lambda one: equals.load(one, json.loads), raw) == outcome(json.loads, raw)


def test_lines_that_are_damaged_anywhere_are_read_as_json_has_them():
    chance = random.Random(7)
    equals = Equals()
    whole = line(finding(), finding(values={"a": 1}), finding(commands=["x"]))
    pieces = [b'"', b"{", b"}", b"[", b"]", b", ", b'}, {"because_of": ', b'}], "host": ', b"\\"]
    pieces += [b'"findings": [', b"1", b""]
    for _ in range(4000):
        raw = whole
        for _ in range(chance.randint(1, 3)):
            place = chance.randrange(len(raw))
            cut = place + chance.choice((0, 1, 3, 20))
            raw = raw[:place] + chance.choice(pieces) + raw[cut:]
        assert outcome(lambda one: equals.load(one, json.loads), raw) == outcome(json.loads, raw)
