"""Of equal findings one, and nothing that only looks equal."""

import pytest
from hostproof_controller.report.findings import Equals, Shared, made_once, problem_of_finding
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


@pytest.mark.parametrize(
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
    ],
)
def test_what_is_wrong_is_said_however_often_it_comes(changes, says):
    equals = Equals()
    for _ in range(2):
        (found,) = shared(equals, {**finding(), **changes})
        assert says in problem_of_finding(found, 2)
