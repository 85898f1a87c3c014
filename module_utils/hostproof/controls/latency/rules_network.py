# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Round trips: the network, and what this host adds to them."""

from typing import Any, Dict, List, Optional, Sequence, Union

from ...collect.answer import known
from ...collect.measured import Measured, Window
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, SKIP, WARN
from ...latency.probe_list import (
    AUTO,
    ELSEWHERE,
    ENDED_AFTER,
    NOT_COUNTED,
    REQUEST_RESPONSE,
    SQLNET,
    TCP,
    Probe,
)
from .facts import Facts
from .grading import Graded, around, grade_window, status_of, values_of, verdict_of
from .measurement.work import TRAFFIC
from .policy import NAME, Policy
from .subjects import (
    TARGETS,
    WITH_SIZES,
    WORDS,
    Probed,
    need_linux,
    need_window,
    no_answer,
    recorded_figures,
)
from .thresholds import Subject

rules: Rules[Facts, Policy] = Rules(NAME)

#: The network without this host comes first; ``user`` represents it where nothing better is told.
_NETWORK = ("net", "kernel")

#: Of lost answers, more than this share fails.
_MOST_LOST = 0.05
#: The share of segments that a healthy network may lose.
_MOST_SENT_AGAIN = 0.001
_WANTED = "an answer to each, more than 5% without one fails"


@rules.check(
    "latency.tcp",
    "Network round-trip time is within the limits",
    "Network round-trip time exceeds the limits, or replies are lost",
    severity="medium",
    takes_effect="now",
    why="Each call of a session and each synchronous redo transport waits for a round trip.",
    reference="tcp(7), TCP_INFO; kernel Documentation/networking/timestamping.rst; Oracle Data "
    "Guard Concepts and Administration, Redo Transport Services",
    each=TARGETS,
)
def tcp(subject: Probed, _facts: Facts, policy: Policy) -> Verdict:
    """The network, and the listener's answer where one was queried."""
    measured = known(subject.answer)
    windows = _of_network(measured)
    if not windows:
        raise no_answer(subject, measured)
    graded: List[Graded] = []
    for window in windows:
        limited = Subject(TCP, "any", window.layer, window.size)
        graded += grade_window(window, limited, policy.thresholds, WORDS[window.layer])
    lost = _lost_answers(measured.windows)
    graded += lost
    remarks = [
        remark
        for remark in measured.remarks
        if remark.startswith(TCP) and NOT_COUNTED not in remark and ENDED_AFTER not in remark
    ]
    remarks += [item.figure_text for item in lost if item.status != status_of(graded)]
    verdict = verdict_of(
        tcp.check,
        graded,
        subject.target,
        "measure from another host of the same network, and check retransmissions (nstat -az "
        "TcpRetransSegs) and the path; see latency.scheduling_delay for this host",
        (subject.key,),
        remarks + _sent_again(windows) + around(windows),
    )._replace(values=values_of(subject.target, windows) or None)
    if not lost:
        return verdict
    limits = [verdict.desired] if verdict.desired else []
    return verdict._replace(desired="; ".join(limits + [_WANTED]))


def _of_network(measured: Measured) -> List[Window]:
    windows = [window for window in measured.windows if window.layer in _NETWORK + ("server",)]
    if any(window.layer in _NETWORK for window in windows):
        return windows
    return windows + [window for window in measured.windows if window.layer == "user"]


def _lost_answers(windows: Sequence[Window]) -> List[Graded]:
    """Lost responses, which the figures do not include: one entry for each kind and measurement.

    All layers of a measurement have the same conditions.
    """
    measurements: Dict[object, List[Window]] = {}
    for window in windows:
        measurements.setdefault((window.started, window.size), []).append(window)
    losses: List[Graded] = []
    for layers in measurements.values():
        known = layers[0].conditions
        # With request_response, no layer may have all requests.
        count = _count_of(known, "answered") or max(window.n for window in layers)
        for item in (_failed(known, count), _second_syn(known, count), _ended(known, count)):
            if item is not None:
                losses.append(item)
    return losses


def _failed(known: Dict[str, Any], count: int) -> Optional[Graded]:
    failures = known.get("failures")
    if not isinstance(failures, dict) or not failures:
        return None
    several = sum(failures.values())
    requests = _count_of(known, "asked") or count + several
    lost = several - failures.get(ELSEWHERE, 0)
    text = "{0} of {1} {2}: {3}".format(
        several,
        requests,
        NOT_COUNTED,
        ", ".join(f"{why} ({number})" for why, number in sorted(failures.items())),
    )
    return Graded(FAIL if lost > _MOST_LOST * requests else WARN, "", text, None)


def _second_syn(known: Dict[str, Any], count: int) -> Optional[Graded]:
    again = _count_of(known, "retrans")
    if known.get("mode") == REQUEST_RESPONSE or not again:
        # The times of a connection include its retransmissions.
        return None
    if again < _MOST_SENT_AGAIN * (count + again):
        return None
    text = "{0} of {1} handshakes needed a second SYN, and are not in the figure of the network"
    return Graded(WARN, "", text.format(again, count), None)


def _ended(known: Dict[str, Any], count: int) -> Optional[Graded]:
    if known.get("ended") is None:
        return None
    requests = _count_of(known, "asked")
    text = "{0} {1}{2} requests: {3}".format(
        ENDED_AFTER, count, f" of {requests}" if requests else "", known["ended"]
    )
    return Graded(WARN, "", text, None)


def _count_of(known: Dict[str, Any], name: str) -> int:
    """A count of the conditions, 0 if it is missing."""
    value = known.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _sent_again(windows: List[Window]) -> List[str]:
    # Of handshakes, _second_syn() tells it.
    counts = [
        window.conditions.get("retrans")
        for window in windows
        if window.conditions.get("mode") == REQUEST_RESPONSE
    ]
    lost = max((count for count in counts if isinstance(count, int)), default=0)
    return [f"{lost} segments were sent again"] if lost else []


@rules.check(
    "latency.scheduling_delay",
    "Scheduling delay on this host is within the limit",
    "Scheduling delay on this host exceeds the limit",
    severity="medium",
    takes_effect="now",
    why="Replies wait in the kernel until the process runs. The network is not the cause.",
    reference="kernel Documentation/networking/timestamping.rst; sched(7)",
    each=TARGETS,
)
def scheduling_delay(subject: Probed, _facts: Facts, policy: Policy) -> Verdict:
    """What this host adds to a round trip."""
    mode = subject.probe.options["mode"]
    if mode != REQUEST_RESPONSE:
        raise Skip(f"The mode {mode} does not measure it: use request_response.")
    measured = known(subject.answer)
    windows = [window for window in measured.windows if window.layer == "host"]
    if not windows:
        raise no_answer(subject, measured)
    graded: List[Graded] = []
    for window in windows:
        limited = Subject(TCP, "any", "host", window.size)
        graded += grade_window(window, limited, policy.thresholds, "")
    return verdict_of(
        scheduling_delay.check,
        graded,
        subject.target,
        "check for busy, stolen or deeply sleeping CPUs (load, steal, governor, C-states), "
        "and for processes with real-time priority",
        (subject.key,),
        around(windows),
    )


@rules.check(
    "latency.payload_sizes",
    "tcp probes use the sizes of real requests and responses",
    "A tcp probe uses other sizes than the real requests and responses",
    severity="low",
    takes_effect="now",
    why="A round trip of other sizes has another duration, and a budget from it is wrong.",
    reference="F. Hoogland, Oracle and network latency; tcpdump(8), tcpstat(1), ss(8)",
    each=WITH_SIZES,
)
def payload_sizes(subject: Probed, facts: Facts, policy: Policy) -> Verdict:
    """The sizes that tcpdump, tcpstat or the counters of connections show, and of the probes."""
    live = subject.probe.kind == SQLNET
    if live:
        need_linux(facts)
        need_window(policy)
    reported = recorded_figures(subject)
    sizes = _sizes(reported)
    if len(sizes) < 2:
        reason = "It is not an output of tcpdump or tcpstat."
        if live:
            reason = "; ".join(known(subject.answer).remarks) or "the port has no traffic"
            reason = f"{reason[:1].upper()}{reason[1:]}."
        raise Skip(reason, (subject.key,))
    text = ", ".join(f"{name}: {value:.0f}" for name, value in sizes.items())
    probes = [probe for probe in policy.probes if _sends_requests(probe)]
    wrong = [_sizes_text(probe, sizes) for probe in probes if _has_other_sizes(probe, sizes)]
    verdict = Verdict(
        WARN if wrong else PASS,
        why="{0}; the traffic has {1}.".format("; ".join(wrong), text) if wrong else None,
        advice=Advice([Ask(f"set {text} in the tcp probe of latency_probes")]),
        desired=f"{text} bytes, at most a factor of 2 apart",
        in_use=f"{text}; {_traffic(reported)}" if live else text,
        values={f"{name} bytes": round(value, 1) for name, value in sizes.items()},
        evidence=(subject.key,),
    )
    if not probes:
        why = "latency_probes has no tcp probe in mode request_response."
        return verdict._replace(status=SKIP, why=why)
    return verdict


def _sizes(reported: Dict[str, Union[str, float]]) -> Dict[str, float]:
    """The sizes that the figures of a report show, by the options of a tcp probe."""
    whole = reported.get(TRAFFIC + "packet_bytes")
    seen = {
        "request_size": reported.get(TRAFFIC + "request_bytes", whole),
        "reply_size": reported.get(TRAFFIC + "response_bytes", whole),
    }
    return {name: float(value) for name, value in seen.items() if isinstance(value, (int, float))}


def _sends_requests(probe: Probe) -> bool:
    return probe.kind == TCP and probe.options["mode"] == REQUEST_RESPONSE


def _has_other_sizes(probe: Probe, sizes: Dict[str, float]) -> bool:
    return probe.options["payload"] != AUTO and any(
        not 0.5 <= (probe.options[name] or 0) / max(size, 1.0) <= 2.0
        for name, size in sizes.items()
    )


def _sizes_text(probe: Probe, sizes: Dict[str, float]) -> str:
    shown = ", ".join(f"{name}: {probe.options[name]}" for name in sizes)
    return f"{probe.name} has {shown}"


def _traffic(reported: Dict[str, Union[str, float]]) -> str:
    """The work of live connections, from the figures of a sqlnet probe."""

    def number(name: str) -> float:
        value = reported.get(TRAFFIC + name, 0)
        return float(value) if isinstance(value, (int, float)) else 0.0

    rate = number("requests") / max(number("seconds"), 0.001)
    text = f"{rate:.0f} round trips per second on {number('connections'):.0f} connections"
    if number("rtt_ms"):
        text += f", rtt {number('rtt_ms'):.3g} ms, minimum {number('least_rtt_ms'):.3g} ms"
    text += f", {number('retransmitted'):.0f} segments retransmitted"
    for name, why in (
        ("changed", "began or ended meanwhile"),
        ("large", "have requests and responses of several segments"),
    ):
        if number(name):
            text += f"; {number(name):.0f} connections do not count: they {why}"
    return text
