# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""TNS pings of a listener: what tnsping sends, one at a time or many at once.

This is no read of a host: each ping is a connection, a line in listener.log, and one of the
connections that a rate limit allows. Nothing here runs but for the module listener_probe.
"""

import socket
import threading
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ..errors import ParseError
from ..parsers import tns_packet

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
    """What pings that were sent at once show together.

    ``drain_rate`` is answers a second, None where nothing was delayed. ``span`` is from the
    first answer to the last, ``longest`` the longest that one waited.
    """

    verdict: str
    outcomes: Dict[str, int]
    span: Optional[float]
    longest: Optional[float]
    drain_rate: Optional[float]
    why: str


class _State:
    """How far a ping got."""

    def __init__(self, observe):
        # type: (Optional[Callable[[socket.socket], None]]) -> None
        self.observe = observe
        self.observed = 0.0
        self.connected = None  # type: Optional[float]
        self.resends = 0
        self.redirects = 0


def ping(
    host,  # type: str
    port,  # type: int
    timeout,  # type: float
    zero,  # type: float
    clock=time.monotonic,  # type: Callable[[], float]
    observe=None,  # type: Optional[Callable[[socket.socket], None]]
):
    # type: (...) -> Ping
    """Send one ping and wait at most ``timeout`` seconds. ``zero``: when the first ping began.

    ``observe`` is called with the first connection as soon as there is one; the time that it takes
    counts for nothing but the timeout.
    """
    began = clock()
    state = _State(observe)
    try:
        found = _ask(host, port, began, began + timeout, state, clock)
    except socket.timeout:
        outcome = NO_ANSWER if state.connected is not None else NO_CONNECTION
        result = (outcome, None, None, "nothing within {0:g} s".format(timeout))  # type: _Result
    except ParseError as problem:
        result = (NOT_TNS, None, None, str(problem))
    except OSError as problem:
        outcome = CLOSED if state.connected is not None else NO_CONNECTION
        result = (outcome, None, None, problem.strerror or str(problem))
    else:
        result = _judge(found)
    outcome, error, alias, said = result
    return Ping(
        outcome=outcome,
        began=began - zero,
        connected=state.connected,
        seconds=clock() - began - state.observed,
        error=error,
        alias=alias,
        resends=state.resends,
        redirects=state.redirects,
        said=said,
    )


_Result = Tuple[str, Optional[int], Optional[str], str]


def _judge(found):
    # type: (Optional[tns_packet.Answer]) -> _Result
    if found is None:
        return CLOSED, None, None, "the connection was closed without an answer"
    if isinstance(found, tns_packet.Accept):
        return ANSWERED, None, None, "ACCEPT, protocol {0}".format(found.version)
    if isinstance(found, tns_packet.Refuse):
        outcome = ANSWERED if found.error == 0 else REFUSED
        return outcome, found.error, found.alias, found.text
    kind = "RESEND" if isinstance(found, tns_packet.Resend) else "REDIRECT"
    return REFUSED, None, None, "{0} again and again".format(kind)


def _ask(host, port, began, deadline, state, clock):
    # type: (str, int, float, float, _State, Callable[[], float]) -> Optional[tns_packet.Answer]
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
                found = _hear(stream, deadline, clock)
                if not isinstance(found, tns_packet.Resend) or state.resends >= MOST_RESENDS:
                    break
                state.resends += 1
        if not isinstance(found, tns_packet.Redirect) or state.redirects >= MOST_REDIRECTS:
            return found
        state.redirects += 1
        host, port = found.host, found.port
        request = tns_packet.connect(found.connect_data, tns_packet.AFTER_REDIRECT)


def _left(deadline, clock):
    # type: (float, Callable[[], float]) -> float
    left = deadline - clock()
    if left <= 0:
        raise socket.timeout()
    return left


def _hear(stream, deadline, clock):
    # type: (socket.socket, float, Callable[[], float]) -> Optional[tns_packet.Answer]
    data = b""
    while True:
        found = tns_packet.answer(tns_packet.split(data)[0])
        if found is not None:
            return found
        stream.settimeout(_left(deadline, clock))
        piece = stream.recv(4096)
        if not piece:
            return None
        data += piece


def one_by_one(host, port, count, timeout, interval, deadline, clock=time.monotonic):
    # type: (str, int, int, float, float, float, Callable[[], float]) -> List[Ping]
    """Pings that begin ``interval`` seconds apart; none begins after ``deadline``."""
    zero = clock()
    pings = []  # type: List[Ping]
    for number in range(count):
        wait = zero + number * interval - clock()
        if clock() + max(wait, 0.0) >= deadline:
            break
        time.sleep(max(wait, 0.0))
        pings.append(ping(host, port, min(timeout, deadline - clock()), zero))
    return pings


def at_once(host, port, count, timeout, deadline, clock=time.monotonic):
    # type: (str, int, int, float, float, Callable[[], float]) -> List[Ping]
    """Pings that begin together, in the order in which they ended."""
    pings = []  # type: List[Ping]
    together = threading.Barrier(count + 1)
    zero = []  # type: List[float]

    def send():
        # type: () -> None
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
    return sorted(pings, key=lambda one: one.began + one.seconds)


def summarize(pings, rate=None):
    # type: (Sequence[Ping], Optional[float]) -> Burst
    """What a burst shows. ``rate``: the limit that is expected, if any."""
    outcomes = {name: sum(1 for one in pings if one.outcome == name) for name in OUTCOMES}
    times = sorted(one.began + one.seconds for one in pings if one.outcome == ANSWERED)
    if outcomes[ANSWERED] < len(pings) or not pings:
        bad = ["{0} {1}".format(n, name) for name, n in outcomes.items() if n and name != ANSWERED]
        why = "of {0} pings {1}".format(len(pings), ", ".join(bad)) if bad else "nothing was sent"
        return _burst(FAILED, outcomes, pings, times, why)
    span = times[-1] - times[0]
    if span >= SHORTEST_DELAY:
        why = "{0} pings were answered within {1:.1f} s, about {2:.1f} a second".format(
            len(pings), span, drain_rate(times) or 0.0
        )
        return _burst(DELAYED, outcomes, pings, times, why)
    if rate and len(pings) <= rate:
        why = "a limit of {0:g} a second does not delay {1} pings".format(rate, len(pings))
        return _burst(TOO_SMALL, outcomes, pings, times, why)
    why = "{0} pings were answered within {1:.3f} s".format(len(pings), span)
    return _burst(NOT_DELAYED, outcomes, pings, times, why)


def _burst(verdict, outcomes, pings, times, why):
    # type: (str, Dict[str, int], Sequence[Ping], List[float], str) -> Burst
    answered = [one.seconds for one in pings if one.outcome == ANSWERED]
    return Burst(
        verdict,
        outcomes,
        span=times[-1] - times[0] if times else None,
        longest=max(answered) if answered else None,
        drain_rate=drain_rate(times),
        why=why,
    )


def drain_rate(times):
    # type: (Sequence[float]) -> Optional[float]
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


def as_result(one):
    # type: (Ping) -> Dict[str, Any]
    """A ping as the module returns it: milliseconds, rounded."""
    return {
        "outcome": one.outcome,
        "began_ms": _milliseconds(one.began),
        "connected_ms": _milliseconds(one.connected),
        "ended_ms": _milliseconds(one.seconds),
        "error": one.error,
        "alias": one.alias,
        "resends": one.resends,
        "redirects": one.redirects,
        "said": one.said,
    }


def _milliseconds(seconds):
    # type: (Optional[float]) -> Optional[float]
    return None if seconds is None else round(seconds * 1000, 3)
