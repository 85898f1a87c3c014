# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges round trips: the network, what this host adds, and what transactions have left."""

from typing import Any, Dict, List, Optional, Sequence, Tuple

from ...errors import HostproofError, Unanswered
from ...finding import FAIL, PASS, SKIP, WARN, Check, Finding, found
from ...latency import budget
from ...latency.probe_list import (
    ELSEWHERE,
    ENDED_AFTER,
    NOT_COUNTED,
    REQUEST_RESPONSE,
    TCP,
    Probe,
)
from ...latency.window import Measured, Window
from . import checks, figures
from .facts import EVIDENCE, Facts
from .grading import Graded, around, finding_of, grade_window, status_of, unknown
from .policy import Budget, Policy
from .thresholds import Subject

#: The network without this host comes first; ``user`` stands for it where nothing better is told.
_NETWORK = ("net", "kernel")

#: Of lost answers, more than this share fails.
_MOST_LOST = 0.05
_WANTED = "an answer to each, more than 5 % without one fails"

_WORDS = {
    "net": "handshake",
    "kernel": "network",
    "user": "user",
    "server": "listener",
    "host": "host",
}


def judge_tcp(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    """A finding for each target: the network, and the listener's answer where one was asked."""
    check = checks.TCP
    reason = _not_asked(check, policy)
    if reason is not None:
        return [reason]
    findings = []
    for probe in _probes(policy):
        measured = facts.active[probe.name]
        key = EVIDENCE + probe.name
        target = _target(probe)
        if isinstance(measured, HostproofError):
            findings.append(unknown(check, measured, target, (key,)))
            continue
        windows = [window for window in measured.windows if window.layer in _NETWORK + ("server",)]
        if not [window for window in windows if window.layer in _NETWORK]:
            windows += [window for window in measured.windows if window.layer == "user"]
        if not windows:
            why = "; ".join(measured.remarks) or "there was no answer"
            findings.append(unknown(check, Unanswered(key, why), target, (key,)))
            continue
        graded = []  # type: List[Graded]
        for window in windows:
            subject = Subject(TCP, "any", window.layer, window.size)
            graded += grade_window(window, subject, policy.thresholds, _WORDS[window.layer])
        lost = _lost_answers(measured.windows)
        graded += lost
        remarks = [
            remark
            for remark in measured.remarks
            if remark.startswith(TCP) and NOT_COUNTED not in remark and ENDED_AFTER not in remark
        ]
        remarks += [one.told for one in lost if one.status != status_of(graded)]
        finding = finding_of(
            check,
            graded,
            target,
            "measure from another host of the same network, and look at retransmissions "
            "(nstat -az TcpRetransSegs) and the path; latency.scheduling_delay tells this host",
            (key,),
            remarks + _sent_again(windows) + around(windows),
        )
        if lost:
            wanted = [finding.desired] if finding.desired else []
            finding = finding._replace(desired="; ".join(wanted + [_WANTED]))
        findings.append(finding)
    return findings


def _lost_answers(windows):
    # type: (Sequence[Window]) -> List[Graded]
    """What the figures do not hold, for it never came: each kind once for each measurement.

    The layers of a measurement have their conditions in common.
    """
    measurements = {}  # type: Dict[Any, List[Window]]
    for window in windows:
        measurements.setdefault((window.started, window.size), []).append(window)
    found = []  # type: List[Graded]
    for layers in measurements.values():
        known = layers[0].conditions
        # Of requests, there may be no layer that has them all.
        count = _count_of(known, "answered") or max(window.n for window in layers)
        for one in (_failed(known, count), _second_syn(known, count), _ended(known, count)):
            if one is not None:
                found.append(one)
    return found


def _failed(known, count):
    # type: (Dict[str, Any], int) -> Optional[Graded]
    failures = known.get("failures")
    if not isinstance(failures, dict) or not failures:
        return None
    several = sum(failures.values())
    asked = _count_of(known, "asked") or count + several
    lost = several - failures.get(ELSEWHERE, 0)
    told = "{0} of {1} {2}: {3}".format(
        several,
        asked,
        NOT_COUNTED,
        ", ".join("{1} ({0})".format(number, why) for why, number in sorted(failures.items())),
    )
    return Graded(FAIL if lost > _MOST_LOST * asked else WARN, "", told, None)


def _second_syn(known, count):
    # type: (Dict[str, Any], int) -> Optional[Graded]
    again = _count_of(known, "retrans")
    if known.get("mode") == REQUEST_RESPONSE or not again:
        # What is sent again on a connection is part of its times.
        return None
    told = "{0} of {1} handshakes needed a second SYN, and are not in the figure of the network"
    return Graded(WARN, "", told.format(again, count), None)


def _ended(known, count):
    # type: (Dict[str, Any], int) -> Optional[Graded]
    if known.get("ended") is None:
        return None
    asked = _count_of(known, "asked")
    told = "{0} {1}{2} requests: {3}".format(
        ENDED_AFTER, count, " of {0}".format(asked) if asked else "", known["ended"]
    )
    return Graded(WARN, "", told, None)


def _count_of(known, name):
    # type: (Dict[str, Any], str) -> int
    """A count among the conditions; 0 where it is not told."""
    value = known.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _sent_again(windows):
    # type: (List[Window]) -> List[str]
    # Of handshakes, _second_syn() tells it.
    counts = [
        window.conditions.get("retrans")
        for window in windows
        if window.conditions.get("mode") == REQUEST_RESPONSE
    ]
    lost = max((count for count in counts if isinstance(count, int)), default=0)
    return ["{0} segments were sent again".format(lost)] if lost else []


def judge_scheduling_delay(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    """A finding for each target of request_response: what this host adds to a round trip."""
    check = checks.SCHEDULING_DELAY
    reason = _not_asked(check, policy)
    if reason is not None:
        return [reason]
    findings = []
    for probe in _probes(policy):
        key = EVIDENCE + probe.name
        target = _target(probe)
        if probe.options["mode"] != REQUEST_RESPONSE:
            findings.append(
                found(
                    check,
                    SKIP,
                    why="The mode {0} does not tell it: only request_response does.".format(
                        probe.options["mode"]
                    ),
                    title="{0}: {1}".format(target, check.title),
                )
            )
            continue
        measured = facts.active[probe.name]
        if isinstance(measured, HostproofError):
            findings.append(unknown(check, measured, target, (key,)))
            continue
        windows = [window for window in measured.windows if window.layer == "host"]
        if not windows:
            why = "; ".join(measured.remarks) or "there was no answer"
            findings.append(unknown(check, Unanswered(key, why), target, (key,)))
            continue
        graded = []  # type: List[Graded]
        for window in windows:
            subject = Subject(TCP, "any", "host", window.size)
            graded += grade_window(window, subject, policy.thresholds, "")
        findings.append(
            finding_of(
                check,
                graded,
                target,
                "look for CPUs that are busy, stolen or deeply asleep (load, steal, governor, "
                "C-states), and for processes with real-time priority",
                (key,),
                around(windows),
            )
        )
    return findings


def judge_budget(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    """What the measured round trip allows a session; a finding for each target."""
    check = checks.BUDGET
    if policy.budget is None:
        return [found(check, SKIP, why="latency_budget is not given.")]
    reason = _not_asked(check, policy)
    if reason is not None:
        return [reason]
    findings = []
    for probe in _probes(policy):
        key = EVIDENCE + probe.name
        target = _target(probe)
        measured = facts.active[probe.name]
        if isinstance(measured, HostproofError):
            findings.append(unknown(check, measured, target, (key,)))
            continue
        told = _round_trip(measured)
        if told is None:
            why = "; ".join(measured.remarks) or "there was no answer"
            findings.append(unknown(check, Unanswered(key, why), target, (key,)))
            continue
        findings.append(_judge_room(policy, target, key, told))
    return findings


def _round_trip(measured):
    # type: (Measured) -> Optional[Tuple[Window, float]]
    """What a session feels: the time until its process has the answer, else the network's."""
    for layer in ("user", "kernel", "net"):
        for window in measured.windows:
            # The user's time of a handshake holds more than a round trip.
            is_exchange = window.conditions.get("mode") == REQUEST_RESPONSE
            if (
                window.layer == layer
                and window.p50 is not None
                and (layer != "user" or is_exchange)
            ):
                return window, window.p50
    return None


def _judge_room(policy, target, key, told):
    # type: (Policy, str, str, Tuple[Window, float]) -> Finding
    check = checks.BUDGET
    given = policy.budget
    assert given is not None
    window, microseconds = told
    round_trip = microseconds / 1000.0
    try:
        elsewhere, source = _elsewhere(given, round_trip)
    except ValueError as problem:
        return unknown(check, Unanswered(key, str(problem)), target, (key,))
    room = budget.budget(round_trip, given.round_trips, elsewhere)
    wanted = given.per_second
    enough = wanted is None or room.per_second >= wanted
    allowed = (
        "a round trip of {0} ({1}): at most {2} transactions a second of one session, {3:.0f} % of "
        "their time on the way".format(
            figures.milliseconds(microseconds),
            _WORDS[window.layer],
            _rate(room.per_second),
            room.network_share * 100,
        )
    )
    validation = budget.validation_cost(
        round_trip, given.validation_round_trips, given.validation_ms
    )
    return found(
        check,
        PASS if enough else WARN,
        why="{0}: {1}; {2} are wanted.".format(target, allowed, _rate(wanted or 0.0)),
        fix="fewer round trips (array fetches and binds, statements in one block, no validation of "
        "a connection at each request), or a shorter way; more sessions do not make one faster",
        title="{0}: {1}".format(target, check.title),
        desired="{0:g} round trips and {1:.3g} ms elsewhere{2} for each{3}".format(
            given.round_trips,
            elsewhere,
            source,
            "" if wanted is None else ", {0} a second".format(_rate(wanted)),
        ),
        running="a pool that validates at each request adds {0} to each: {1} instead of {2}".format(
            *[
                figures.milliseconds(one * 1000.0)
                for one in (validation, room.transaction + validation, room.transaction)
            ]
        ),
        in_use=allowed,
        evidence=(key,),
    )


def _elsewhere(given, round_trip):
    # type: (Budget, float) -> Tuple[float, str]
    """Milliseconds of a transaction that are not on the way, and where they are from in words.

    ValueError where one session cannot have the rate that was measured.
    """
    rate = given.measured
    if rate is None:
        return given.think_time_ms or 0.0, ""
    at = round_trip if rate.round_trip_ms is None else rate.round_trip_ms
    left = budget.think_time(rate.per_second, at, given.round_trips)
    return left, " (what {0} a second at {1} leave)".format(
        _rate(rate.per_second), figures.milliseconds(at * 1000.0)
    )


def _rate(value):
    # type: (float) -> str
    return "{0:.0f}".format(value) if value >= 100 else "{0:.3g}".format(value)


def _probes(policy):
    # type: (Policy) -> List[Probe]
    return [probe for probe in policy.probes if probe.kind == TCP]


def _target(probe):
    # type: (Probe) -> str
    return probe.name.split(" ", 1)[1]


def _not_asked(check, policy):
    # type: (Check, Policy) -> Optional[Finding]
    if not _probes(policy):
        why = "latency_probes names no tcp: nothing is sent unless it is asked for."
        return found(check, SKIP, why=why)
    if not policy.seconds:
        return found(check, SKIP, why="latency_seconds is 0: nothing is measured.")
    return None
