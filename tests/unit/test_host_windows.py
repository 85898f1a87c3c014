"""Windows as evidence: measured once on a live host, and the same from a recording."""

import json
from typing import Any

import pytest
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.collect.measured import Measured, window_from_samples
from ansible.module_utils.hostproof.errors import Absent, HostproofError, Unanswered
from cases import cases

WINDOW = window_from_samples("disk", "sda", "user", 8192, 1.5, 3.0, [1000, 2000], {"load": 0.5})
MEASURED = Measured([WINDOW], ["sdb: is gone"])


def never() -> Measured:
    raise AssertionError("a recording is never measured again")


def test_it_is_measured_once_and_kept():
    live, calls = LiveHost(), []

    def measure() -> Measured:
        calls.append(1)
        return MEASURED

    assert live.windows("x", measure) == MEASURED == live.windows("x", measure)
    assert len(calls) == 1
    assert live.evidence["windows:x"]["kind"] == "windows"
    assert live.evidence["windows:x"]["windows"] == [WINDOW.to_json()]


def test_a_recording_says_the_same_after_its_way_to_the_controller():
    live = LiveHost()
    live.windows("x", lambda: MEASURED)
    kept = json.loads(json.dumps(evidence.decode(evidence.encode(live.evidence))))
    assert RecordedHost(kept).windows("x", never) == MEASURED


@cases(
    "problem kind error",
    (HostproofError("nobody answers"), "unanswered", Unanswered),
    (ValueError("no plain file"), "unanswered", Unanswered),
    (FileNotFoundError(2, "No such file"), "absent", Absent),
)
def test_what_could_not_be_measured_is_kept_as_its_reason(problem, kind, error):
    def measure() -> Measured:
        raise problem

    live = LiveHost()
    with pytest.raises(error) as caught:
        live.windows("x", measure)
    assert live.evidence["windows:x"]["error"] == kind
    with pytest.raises(error) as again:
        RecordedHost(live.evidence).windows("x", never)
    assert str(again.value) == str(caught.value)


def test_what_was_not_recorded_is_unknown():
    with pytest.raises(Unanswered, match="record it again"):
        RecordedHost({}).windows("x", never)


GOOD = WINDOW.to_json()


@cases(
    "change",
    {"windows": None},
    {"windows": {}},
    {"windows": "[]"},
    {"windows": ["x"]},
    {"windows": [{}]},
    {"windows": [{**GOOD, "more": 1}]},
    {"windows": [{**GOOD, "n": None}]},
    {"windows": [{**GOOD, "n": -1}]},
    {"windows": [{**GOOD, "n": 1.5}]},
    {"windows": [{**GOOD, "p50": "3"}]},
    {"windows": [{**GOOD, "p50": float("nan")}]},
    {"windows": [{**GOOD, "p50": float("inf")}]},
    {"windows": [{**GOOD, "p99": True}]},
    {"windows": [{**GOOD, "subject": None}]},
    {"windows": [{**GOOD, "size": 1.5}]},
    {"windows": [{**GOOD, "conditions": []}]},
    {"windows": [{**GOOD, "bins": {"layout": "other"}}]},
    {"windows": [{**GOOD, "bins": []}]},
    {"windows": [{**GOOD, "bins": {"log2": {"x": 1}}}]},
    {"windows": [GOOD, {}]},
    {"remarks": None},
    {"remarks": [1]},
    {"remarks": "text"},
)
def test_a_broken_record_is_no_answer(change: dict[str, Any]) -> None:
    reading = {"kind": "windows", "windows": [GOOD], "remarks": [], **change}
    assert RecordedHost({"windows:x": {**reading, **{"windows": [GOOD], "remarks": []}}}).windows(
        "x", never
    )
    with pytest.raises(Unanswered, match="holds no answer"):
        RecordedHost({"windows:x": reading}).windows("x", never)
