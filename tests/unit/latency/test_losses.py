"""Answers that never came are in no figure of those that did: they are counted, and held."""

from typing import Any

from ansible.module_utils.hostproof.collect.measured import Window
from ansible.module_utils.hostproof.latency import probe_list
from cases import cases
from hostproof_controller.gate import gating
from hostproof_controller.latency import change_findings, comparing
from hostproof_controller.latency.baseline import Baseline

HANDSHAKE = {"probe": "tcp", "host": "192.0.2.1", "port": 1521}
REQUESTS = dict(HANDSHAKE, mode="request_response")
READS = {"probe": "disk_read", "path": "/u02/x.dbf", "sizes": [8192]}
LATE = "nothing within 5 s"


def window(layer: str, number: int, n: int, **others: Any) -> Window:
    conditions = others.pop("conditions", {})
    # Not all the same, so that an interval has a width.
    level = 400.0 + number
    made = Window(
        "tcp",
        "192.0.2.1:1521",
        layer,
        None,
        1000.0 + number,
        3.0,
        n,
        level,
        level,
        level,
        level,
        None,
        level,
        None,
        conditions,
    )
    return made._replace(**others)


def handshakes(lost: int, windows: int = 10, of: int = 15) -> list[Window]:
    """``lost`` of all connections get no answer, as many in each window as there are to lose."""
    result = []
    for number in range(windows):
        failed = min(of - 1, lost)
        lost -= failed
        conditions = {"mode": "handshake", "failures": {LATE: failed} if failed else {}}
        result += [
            window(layer, number, of - failed, conditions=conditions) for layer in ("net", "user")
        ]
    return result


def requests(n: int = 1500, windows: int = 10, cut: int = 0) -> list[Window]:
    """In the last ``cut`` windows the connection ended."""
    result = []
    for number in range(windows):
        ended = "Connection reset by peer" if number >= windows - cut else None
        conditions = {"mode": "request_response", "ended": ended}
        result += [
            window(layer, number, n, size=12, p99=800.0 + number, conditions=conditions)
            for layer in ("kernel", "user")
        ]
    return result


def reads(windows: int = 10) -> list[Window]:
    made = [window("user", number, 1500, size=8192) for number in range(windows)]
    return [read._replace(probe="disk", subject="/u02/x.dbf") for read in made]


def taken(probe: dict[str, Any], windows: list[Window]) -> Baseline:
    return Baseline("db01", "2026-11-21T18:00:00Z", [probe], 10, 3.0, 20.0, windows, [])


def judged(probe: dict[str, Any], before: list[Window], after: list[Window]) -> Any:
    """The gate's decision, and the findings on what was lost."""
    pair = (taken(probe, before), taken(probe, after))
    verdicts = comparing.compare_hosts({"db01": pair})
    decision = gating.decide(["db01"], {"db01": "ok"}, verdicts, [], gating.Limits("keep", 1.0))
    findings = change_findings.judge_host(verdicts["db01"], None, None).findings
    return decision, [
        finding for finding in findings if finding.desired == "no more lost than before"
    ]


@cases(
    "probe before after said",
    (
        HANDSHAKE,
        handshakes(0),
        handshakes(90),
        f"90 of 150 answers were lost after, none of 150 before ({LATE}: 90)",
    ),
    # Each window that is missing had as many as the others.
    (
        HANDSHAKE,
        handshakes(0),
        handshakes(0, windows=4),
        "90 of 150 answers were lost after, none of 150 before",
    ),
    (
        REQUESTS,
        requests(),
        requests(windows=9),
        "1 of 10 windows were cut off or are missing after, none of 10 before",
    ),
    (
        REQUESTS,
        requests(),
        requests(cut=3),
        "3 of 10 windows were cut off or are missing after, none of 10 before "
        "(Connection reset by peer: 3)",
    ),
    (
        READS,
        reads(),
        reads(8),
        "2 of 10 windows were cut off or are missing after, none of 10 before",
    ),
)
def test_what_is_not_answered_any_more_fails_and_is_held(probe, before, after, said):
    decision, (finding,) = judged(probe, before, after)
    assert (finding.status, finding.running) == ("fail", said)
    assert not decision.keep
    assert any(said in reason for _, reason in decision.reasons)


@cases(
    "probe before after",
    (HANDSHAKE, handshakes(0), handshakes(0)),
    (HANDSHAKE, handshakes(12), handshakes(12)),
    (HANDSHAKE, handshakes(90), handshakes(0)),
    (REQUESTS, requests(cut=3), requests(cut=3)),
    (READS, reads(9), reads(10)),
)
def test_what_was_lost_before_as_well_is_not_the_changes_doing(probe, before, after):
    decision, findings = judged(probe, before, after)
    assert findings == []
    assert decision.keep


@cases(
    "before after kept", (0, 75, False), (75, 75, True), (0, 3, True), (0, 7, True), (75, 0, True)
)
def test_what_is_sent_again_is_in_no_percentile(before, after, kept):
    """Half a per cent of lost packets: 1 ms more in the mean, nothing in p50 and p99."""
    sides = []
    for again in (before, after):
        share = [again // 10 + (number < again % 10) for number in range(10)]
        windows = requests()
        sides.append(
            [
                request._replace(conditions={**request.conditions, "retrans": share[number // 2]})
                for number, request in enumerate(windows)
            ]
        )
    decision, findings = judged(REQUESTS, *sides)
    assert decision.keep == kept
    # From about four on they are to be known.
    assert [finding.status for finding in findings] == {7: ["warn"], 75: ["fail"]}.get(
        after if after > before else 0, []
    )
    if not kept:
        text = "75 of 15000 requests were sent again after, none of 15000 before"
        assert findings[0].running == text


def test_what_is_sent_again_is_counted_among_all_answers():
    """The window of the user's layer has half of them: the others had time stamps."""
    before = [
        request._replace(conditions={**request.conditions, "retrans": 0, "answered": 3000})
        for request in requests()
    ]
    after = [
        request._replace(conditions={**request.conditions, "retrans": 15}) for request in before
    ]
    _, findings = judged(REQUESTS, before, after)
    assert "150 of 30000 requests were sent again after, none of 30000 before" in [
        finding.running for finding in findings
    ]


def test_an_answer_from_elsewhere_is_no_lost_one():
    elsewhere = [
        handshake._replace(
            conditions={**handshake.conditions, "failures": {probe_list.ELSEWHERE: 5}}
        )
        for handshake in handshakes(0)
    ]
    decision, findings = judged(HANDSHAKE, handshakes(0), elsewhere)
    assert findings == []
    assert decision.keep


def test_few_more_are_to_be_known_and_may_be_chance():
    decision, (finding,) = judged(HANDSHAKE, handshakes(1), handshakes(3))
    assert finding.status == "warn"
    assert "3 of 150 answers were lost after, 1 of 150 before" in finding.running
    assert decision.keep


def test_a_host_that_was_left_unchanged_fails_nobodys_change():
    pair = (taken(HANDSHAKE, handshakes(0)), taken(HANDSHAKE, handshakes(90)))
    verdict = comparing.compare_hosts({"db01": pair})["db01"]
    findings = change_findings.judge_host(verdict, None, None, unchanged=True).findings
    assert "fail" not in {finding.status for finding in findings}
    assert "warn" in {finding.status for finding in findings}


def test_a_tail_that_is_told_no_more_is_not_known():
    """A window that was cut short has no p99, just where the tail matters most."""
    after = [request._replace(n=800, p99=None) for request in requests()]
    pair = (taken(REQUESTS, requests()), taken(REQUESTS, after))
    verdicts = comparing.compare_hosts({"db01": pair})
    decision = gating.decide(["db01"], {"db01": "ok"}, verdicts, [], gating.Limits("keep", 1.0))
    text = (
        "p99 exists in 10 windows before and in 0 after; other windows have too few samples for it "
        "(800 at most)"
    )
    assert [reason for _, reason in decision.reasons] == [f"tcp 192.0.2.1:1521 user 12 B: {text}"]
    statuses = {
        (finding.title.split(":")[1], finding.status)
        for finding in change_findings.judge_host(verdicts["db01"], None, None).findings
    }
    assert ("1521 user 12 B", "error") in statuses


def test_a_tail_that_comes_and_goes_is_no_reason():
    """A disk of 2 ms has room for a thousand reads in some windows, and in others not."""
    sides = [
        [
            request if number // 2 < limit else request._replace(n=990, p99=None)
            for number, request in enumerate(requests())
        ]
        for limit in (5, 3)
    ]
    pair = tuple(taken(REQUESTS, side) for side in sides)
    verdicts = comparing.compare_hosts({"db01": pair})
    decision = gating.decide(["db01"], {"db01": "ok"}, verdicts, [], gating.Limits("keep", 1.0))
    assert decision.keep
