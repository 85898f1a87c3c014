# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""TNS pings of a listener: what tnsping sends, one at a time or many at once.

This is not a read of a host: each ping is a connection, a line in listener.log, and one of the
connections that a rate limit allows. Nothing here runs but for the module listener_probe.
"""

import socket
import threading
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ...errors import ParseError
from ...parsers.oracle import tns_packet

#: What came of a ping.
ANSWERED, REFUSED, CLOSED, NO_ANSWER, NO_CONNECTION, NOT_TNS = (
    "answered",
    "refused",
    "closed",
    "no_answer",
    "no_connection",
    "not_tns",
)
OUTCOMES = (ANSWERED, REFUSED, CLOSED, NO_ANSWER, NO_CONNECTION, NOT_TNS)

#: What a burst shows.
DELAYED, NOT_DELAYED, TOO_SMALL, FAILED = "delayed", "not_delayed", "too_small", "failed"

#: A listener never needs more to answer one ping.
MOST_RESENDS = 2
MOST_REDIRECTS = 2

#: Answers that lie closer together came without a delay that a limit would make.
SHORTEST_DELAY = 0.5


class Ping(NamedTuple):
    """One ping. Times are seconds: ``began`` since the first ping of all, the others since then.

    ``connected`` is None where there was no TCP connection. ``error`` is the listener's number,
    ``said`` what it or the network said. A ping to a listener that accepts the connection is
    answered as well.
    """

    outcome: str
    began: float
    connected: Optional[float]
    seconds: float
    error: Optional[int]
    alias: Optional[str]
    resends: int
    redirects: int
    said: str


class Burst(NamedTuple):
    """Summary of pings that were sent at the same time.

    ``drain_rate`` is in answers per second, None if nothing was delayed. ``span`` is from the first
    to the last answer, ``longest`` the longest wait.
    """

    verdict: str
    outcomes: Dict[str, int]
    span: Optional[float]
    longest: Optional[float]
    drain_rate: Optional[float]
    why: str


class _State:
    """How far a ping got."""

    def __init__(self, observe: Optional[Callable[[socket.socket], None]]) -> None:
        self.observe = observe
        self.observed = 0.0
        self.connected: Optional[float] = None
        self.resends = 0
        self.redirects = 0


def ping(
    host: str,
    port: int,
    timeout: float,
    zero: float,
    clock: Callable[[], float] = time.monotonic,
    observe: Optional[Callable[[socket.socket], None]] = None,
) -> Ping:
    """Send one ping and wait at most ``timeout`` seconds. ``zero``: when the first ping began.

    ``observe`` is called with the first connection as soon as there is one; the time that it takes
    counts for nothing but the timeout.
    """
    began = clock()
    state = _State(observe)
    try:
        answer = _ask(host, port, began, began + timeout, state, clock)
    except socket.timeout:
        outcome = NO_ANSWER if state.connected is not None else NO_CONNECTION
        result: _Result = (outcome, None, None, f"nothing within {timeout:g} s")
    except ParseError as problem:
        result = (NOT_TNS, None, None, str(problem))
    except OSError as problem:
        outcome = CLOSED if state.connected is not None else NO_CONNECTION
        result = (outcome, None, None, problem.strerror or str(problem))
    else:
        result = _judge(answer)
    outcome, error, alias, detail = result
    return Ping(
        outcome=outcome,
        began=began - zero,
        connected=state.connected,
        seconds=clock() - began - state.observed,
        error=error,
        alias=alias,
        resends=state.resends,
        redirects=state.redirects,
        said=detail,
    )


_Result = Tuple[str, Optional[int], Optional[str], str]


def _judge(answer: Optional[tns_packet.Answer]) -> _Result:
    if answer is None:
        return CLOSED, None, None, "the connection was closed without an answer"
    if isinstance(answer, tns_packet.Accept):
        return ANSWERED, None, None, f"ACCEPT, protocol {answer.version}"
    if isinstance(answer, tns_packet.Refuse):
        outcome = ANSWERED if answer.error == 0 else REFUSED
        return outcome, answer.error, answer.alias, answer.text
    kind = "RESEND" if isinstance(answer, tns_packet.Resend) else "REDIRECT"
    return REFUSED, None, None, f"{kind} again and again"


def _ask(
    host: str, port: int, began: float, deadline: float, state: _State, clock: Callable[[], float]
) -> Optional[tns_packet.Answer]:
    """The last answer, after RESEND and REDIRECT were followed; None: closed without one."""
    request = tns_packet.connect()
    while True:
        with socket.create_connection((host, port), _left(deadline, clock)) as stream:
            if state.connected is None:
                state.connected = clock() - began
                if state.observe is not None:
                    state.observe(stream)
                    state.observed = clock() - began - state.connected
            while True:
                stream.settimeout(_left(deadline, clock))
                stream.sendall(request)
                answer = _hear(stream, deadline, clock)
                if not isinstance(answer, tns_packet.Resend) or state.resends >= MOST_RESENDS:
                    break
                state.resends += 1
        if not isinstance(answer, tns_packet.Redirect) or state.redirects >= MOST_REDIRECTS:
            return answer
        state.redirects += 1
        host, port = answer.host, answer.port
        request = tns_packet.connect(answer.connect_data, tns_packet.AFTER_REDIRECT)


def _left(deadline: float, clock: Callable[[], float]) -> float:
    left = deadline - clock()
    if left <= 0:
        raise socket.timeout()
    return left


def _hear(
    stream: socket.socket, deadline: float, clock: Callable[[], float]
) -> Optional[tns_packet.Answer]:
    data = b""
    while True:
        answer = tns_packet.answer(tns_packet.split(data)[0])
        if answer is not None:
            return answer
        stream.settimeout(_left(deadline, clock))
        piece = stream.recv(4096)
        if not piece:
            return None
        data += piece


def one_by_one(
    host: str,
    port: int,
    count: int,
    timeout: float,
    interval: float,
    deadline: float,
    clock: Callable[[], float] = time.monotonic,
) -> List[Ping]:
    """Pings that begin ``interval`` seconds apart; none begins after ``deadline``."""
    zero = clock()
    pings: List[Ping] = []
    for number in range(count):
        wait = zero + number * interval - clock()
        if clock() + max(wait, 0.0) >= deadline:
            break
        time.sleep(max(wait, 0.0))
        pings.append(ping(host, port, min(timeout, deadline - clock()), zero))
    return pings


def at_once(
    host: str,
    port: int,
    count: int,
    timeout: float,
    deadline: float,
    clock: Callable[[], float] = time.monotonic,
) -> List[Ping]:
    """Pings that begin together, in the order in which they ended."""
    pings: List[Ping] = []
    together = threading.Barrier(count + 1)
    zero: List[float] = []

    def send() -> None:
        together.wait()
        pings.append(ping(host, port, min(timeout, max(0.0, deadline - clock())), zero[0]))

    threads = [threading.Thread(target=send) for _ in range(count)]
    for thread in threads:
        thread.daemon = True
        thread.start()
    zero.append(clock())
    together.wait()
    for thread in threads:
        thread.join()
    return sorted(pings, key=lambda sample: sample.began + sample.seconds)


def _why_failed(outcomes: Dict[str, int], sent: int) -> str:
    bad = [f"{n} {name}" for name, n in outcomes.items() if n and name != ANSWERED]
    return "of {0} pings {1}".format(sent, ", ".join(bad)) if bad else "nothing was sent"


def summarize(pings: Sequence[Ping], rate: Optional[float] = None) -> Burst:
    """What a burst shows. ``rate``: the limit that is expected, if any."""
    outcomes = {name: sum(1 for sample in pings if sample.outcome == name) for name in OUTCOMES}
    times = sorted(sample.began + sample.seconds for sample in pings if sample.outcome == ANSWERED)
    if outcomes[ANSWERED] < len(pings) or not pings:
        return _burst(FAILED, outcomes, pings, times, _why_failed(outcomes, len(pings)))
    span = times[-1] - times[0]
    if span >= SHORTEST_DELAY:
        why = (
            f"{len(pings)} pings were answered within {span:.1f} s, about "
            f"{drain_rate(times) or 0.0:.1f} a second"
        )
        return _burst(DELAYED, outcomes, pings, times, why)
    if rate and len(pings) <= rate:
        why = f"a limit of {rate:g} a second does not delay {len(pings)} pings"
        return _burst(TOO_SMALL, outcomes, pings, times, why)
    why = f"{len(pings)} pings were answered within {span:.3f} s"
    return _burst(NOT_DELAYED, outcomes, pings, times, why)


def _burst(
    verdict: str, outcomes: Dict[str, int], pings: Sequence[Ping], times: List[float], why: str
) -> Burst:
    answered = [sample.seconds for sample in pings if sample.outcome == ANSWERED]
    return Burst(
        verdict,
        outcomes,
        span=times[-1] - times[0] if times else None,
        longest=max(answered) if answered else None,
        drain_rate=drain_rate(times),
        why=why,
    )


def drain_rate(times: Sequence[float]) -> Optional[float]:
    """Answers a second, of their sorted times; None where they came without a delay.

    A limit may let as many as it allows through at the begin of each second, so the last answers
    come together, with up to a second's worth too many: counted are those before the first of a
    group, where the number for the time is the least.
    """
    if len(times) < 2 or times[-1] - times[0] < SHORTEST_DELAY:
        return None
    span = times[-1] - times[0]
    passed = [(number, time - times[0]) for number, time in enumerate(times)]
    return min(number / seconds for number, seconds in passed if seconds >= span / 2)


def as_result(sample: Ping) -> Dict[str, Any]:
    """A ping as the module returns it: milliseconds, rounded."""
    return {
        "outcome": sample.outcome,
        "began_ms": _milliseconds(sample.began),
        "connected_ms": _milliseconds(sample.connected),
        "ended_ms": _milliseconds(sample.seconds),
        "error": sample.error,
        "alias": sample.alias,
        "resends": sample.resends,
        "redirects": sample.redirects,
        "said": sample.said,
    }


def _milliseconds(seconds: Optional[float]) -> Optional[float]:
    return None if seconds is None else round(seconds * 1000, 3)
