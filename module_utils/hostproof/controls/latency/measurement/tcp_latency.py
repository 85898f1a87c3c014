# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Duration of a TCP round trip, in layers that separate the network from the host.

- ``handshake``: connect(), and what the kernel measured between SYN and SYN/ACK (TCP_INFO). No
  process of either side affects the latter.
- ``tns_ping``: the same with a ping of the listener, which answers the connection as it is meant.
- ``request_response``: requests on one connection to our own responder. ``kernel`` is between the
  time stamps of sending and receiving, ``user`` from when the request was to begin until this
  process had the answer, ``host`` the difference: what this host's scheduler and Python took.
  Short round trips are told to the user by requests without stamps, for stamps take a part of them.

No read of a host: each sends traffic to another machine, bounded by samples, bytes and seconds.
"""

import errno
import socket
import struct
import sys
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from ....collect.measured import Window, window_from_samples
from ....errors import HostproofError, ParseError
from ....latency import hello as latency_hello
from ....latency.probe_list import ELSEWHERE, ENDED_AFTER, NOT_COUNTED
from ....probes.oracle import tns_ping
from ..parsers import tcp_info
from ..probes import tcp_path
from . import conditions, pacing
from .tcp_exchange import Exchange
from .traffic import LEAST_CONNECT_INTERVAL, LEAST_WARM_UP, requests_a_sample, warm_up_requests

#: The longest time that the requests before the first that counts may take.
WARM_UP_SECONDS = 1.0

#: A request can only begin on time if the one before has been answered by then.
_ROUND_TRIPS_PER_INTERVAL = 2

#: Fewer pairs of stamps than this share of the samples, or than this, are not a layer.
_LEAST_STAMPED = 0.5
_FEWEST = 30

#: A stamped time that is longer than the user's is a set clock; less than this is rounding.
_ROUNDING_NS = 2000

#: Round trips shorter than this (seconds) are told to the user without the time that stamps take,
#: some 3 microseconds: of longer ones that is less than a percent.
_SHORT = 0.0003

#: So many requests without stamps, then this number of with them: the first after a change is not
#: a typical
#: one, and must not be the p90. The kernel keeps the stamps of a turn until its end, and has room
#: for some 150.
_TURN = 16

#: Longer than any warm-up (nanoseconds).
_NEVER = 1 << 60

#: User's and kernel's time of one request with stamps, nanoseconds; None where a stamp is missing.
_Stamped = Tuple[int, Optional[int]]


class CannotMeasure(HostproofError):
    """There is no sample at all; the message says why."""


class NoTime(CannotMeasure):
    """The deadline came before the first sample."""


class Target(NamedTuple):
    """The other side. ``name`` is what the user called it, ``address`` what it resolved to."""

    name: str
    family: int
    address: Tuple[Any, ...]


class Series(NamedTuple):
    """Samples of one window: ``layers`` hold nanoseconds by layer.

    ``started`` is seconds since 1970. ``remarks`` are sentences about what is missing, and why.
    """

    size: Optional[int]
    started: float
    seconds: float
    layers: Dict[str, List[int]]
    conditions: Dict[str, Any]
    remarks: List[str]


class Pace(NamedTuple):
    """Number of samples of each layer, their interval, and the time limits.

    ``interval`` is the time in seconds from one request or connection to the next; 0 is back to
    back. A sample may need two requests (traffic.requests_a_sample).

    ``timeout`` is the time limit of one answer. No request starts after ``deadline``
    (time.monotonic()).
    """

    samples: int
    interval: float
    timeout: float
    deadline: float


def resolve(host: str, port: int) -> Target:
    """The first address of a host, so that no sample contains a lookup."""
    name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        addresses = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        raise CannotMeasure(f"{host} has no address: {problem}") from problem
    return Target(name, addresses[0][0], tuple(addresses[0][4]))


def windows(target: Target, series: Series) -> List[Window]:
    """A window for each layer that has samples."""
    return [
        window_from_samples(
            "tcp",
            target.name,
            layer,
            series.size,
            series.started,
            series.seconds,
            samples,
            series.conditions,
        )
        for layer, samples in series.layers.items()
        if samples
    ]


# -- connecting -----------------------------------------------------------------------------------


def handshake(
    target: Target, pace: Pace, cpu: Optional[int] = None, clock: Callable[[], int] = pacing.now_ns
) -> Series:
    """Connect and close, ``net`` by the kernel and ``user`` around connect()."""
    net: List[int] = []
    user: List[int] = []
    failures: Dict[str, int] = {}
    path: Dict[str, Any] = {}
    unmeasured = 0

    def once(begin: int) -> None:
        nonlocal unmeasured
        try:
            with _connected(target, pace.timeout) as stream:
                end = clock()
                rtt = _handshake_rtt(stream)
                if not path:
                    path.update(tcp_path.of(stream))
        except OSError as problem:
            _count(failures, _reason(problem, pace.timeout))
            return
        user.append(end - begin)
        if rtt is None:
            unmeasured += 1
        else:
            net.append(rtt)

    others = {"user": user}
    return _one_by_one(target, pace, cpu, clock, once, net, others, failures, path, "handshake")


def tns_pings(
    target: Target, pace: Pace, cpu: Optional[int] = None, clock: Callable[[], int] = pacing.now_ns
) -> Series:
    """Ping a listener: ``net`` by the kernel, ``server`` from the CONNECT packet to the answer.

    Pings that were sent elsewhere or had to be sent again measure something else, and do not count.
    """
    net: List[int] = []
    server: List[int] = []
    failures: Dict[str, int] = {}
    path: Dict[str, Any] = {}

    def observe(stream: socket.socket) -> None:
        rtt = _handshake_rtt(stream)
        if rtt is not None:
            net.append(rtt)
        if not path:
            path.update(tcp_path.of(stream))

    def once(_begin: int) -> None:
        host, port = target.address[:2]
        reply = tns_ping.ping(host, port, pace.timeout, 0.0, observe=observe)
        if reply.outcome != tns_ping.ANSWERED or reply.connected is None:
            _count(failures, f"{reply.outcome} ({reply.said[:80]})")
        elif reply.resends or reply.redirects:
            _count(failures, ELSEWHERE)
        else:
            server.append(int((reply.seconds - reply.connected) * 1e9))

    others = {"server": server}
    return _one_by_one(target, pace, cpu, clock, once, net, others, failures, path, "tns_ping")


def _why_no_net(net: List[int]) -> Optional[str]:
    """Why there is no figure for the network alone, in nanoseconds that the kernel showed."""
    if not net:
        return (
            "the kernel does not tell the round trip of a handshake (TCP_INFO), so there is no "
            "figure for the network alone"
        )
    if len(net) >= _FEWEST and all(rtt % 1000000 == 0 for rtt in net):
        return (
            "this kernel reports round trips in whole milliseconds only (before Linux "
            "3.15), so the "
            "figure for the network alone is left out"
        )
    return None


def _one_by_one(
    target: Target,
    pace: Pace,
    cpu: Optional[int],
    clock: Callable[[], int],
    once: Callable[[int], None],
    net: List[int],
    others: Dict[str, List[int]],
    failures: Dict[str, int],
    path: Dict[str, Any],
    mode: str,
) -> Series:
    """Call ``once`` at the times of the schedule, and sum up what it collected.

    ``path``: what tcp_path told of the first connection.
    """
    interval = max(pace.interval, LEAST_CONNECT_INTERVAL)
    schedule = pacing.Schedule(interval, clock)
    before, started, began = conditions.start(), time.time(), time.monotonic()
    tried = 0
    with pacing.steady(cpu):
        while tried < pace.samples and time.monotonic() + interval < pace.deadline:
            once(schedule.wait())
            tried += 1
    seconds = time.monotonic() - began
    if not any(others.values()):
        if not failures:
            raise NoTime(f"no answer from {target.name}: there was no time for one")
        raise CannotMeasure(f"no answer from {target.name}: {_listed(failures)}")
    remarks: List[str] = []
    if failures:
        remarks.append(
            f"{target.name}: {sum(failures.values())} of {tried} {NOT_COUNTED}: {_listed(failures)}"
        )
    if tried < pace.samples:
        remarks.append(_short_of(target, tried, pace.samples, "connections"))
    answered = max(len(samples) for samples in others.values())
    why = _why_no_net(net)
    if why is not None:
        remarks.append(f"{target.name}: {why}")
        del net[:]
    context = conditions.since(before, cpu)
    context.update(
        mode=mode,
        interval_us=int(interval * 1e6),
        asked=tried,
        failures=dict(failures),
        retrans=max(0, answered - len(net)) if net else None,
        peer=str(target.address[0]),
        **path,
    )
    layers = {"net": net}
    layers.update(others)
    return Series(None, started, seconds, layers, context, remarks)


def _connected(target: Target, timeout: float) -> socket.socket:
    """A blocking connection on which every wait is bounded by the kernel.

    A timeout of Python's would cost a poll() for each call.
    """
    stream = socket.socket(target.family, socket.SOCK_STREAM)
    try:
        if sys.platform.startswith("linux"):
            bound = struct.pack("@ll", int(timeout), int(timeout % 1 * 1e6))
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, bound)
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, bound)
        else:
            stream.settimeout(timeout)
        stream.connect(target.address)
    except BaseException:
        stream.close()
        raise
    return stream


def _handshake_rtt(stream: socket.socket) -> Optional[int]:
    """Nanoseconds from SYN to SYN/ACK; None where the kernel does not tell, or sent a SYN again."""
    info = _tcp_info(stream)
    if info is None or info.rtt == 0 or info.retransmissions:
        return None
    return info.rtt * 1000


def _tcp_info(stream: socket.socket) -> Optional[tcp_info.TcpInfo]:
    option = getattr(socket, "TCP_INFO", None)
    if option is None:
        return None
    try:
        return tcp_info.parse(stream.getsockopt(socket.IPPROTO_TCP, option, tcp_info.ROOM))
    except (OSError, ParseError):
        return None


# -- requests and answers -------------------------------------------------------------------------


def request_response(
    target: Target,
    request_size: int,
    reply_size: int,
    pace: Pace,
    cpu: Optional[int] = None,
    clock: Callable[[], int] = pacing.now_ns,
) -> Series:
    """Requests to our responder, one at a time on one separate connection.

    The interval is extended if a round trip takes more than half of it.
    """
    with pacing.steady(cpu):
        try:
            stream = _connected(target, pace.timeout)
        except OSError as problem:
            raise CannotMeasure(
                f"no connection to {target.name}: {_reason(problem, pace.timeout)}; is the "
                "responder running, and is this client among those it was told to answer?"
            ) from problem
        with stream:
            handshake_rtt = _handshake_rtt(stream)
            path = tcp_path.of(stream)
            exchange = Exchange(stream, request_size, reply_size, clock)
            _greet(target, exchange, pace.timeout)
            return _measure(target, exchange, pace, cpu, handshake_rtt, path)


def _greet(target: Target, exchange: Exchange, timeout: float) -> None:
    """CannotMeasure where something else listens there."""
    try:
        greeting = exchange.greet()
    except OSError as problem:
        raise CannotMeasure(
            f"{target.name} does not answer: {_reason(problem, timeout)}"
        ) from problem
    if greeting != latency_hello.WELCOME:
        raise CannotMeasure(
            f"{target.name} is not a responder of Hostproof, or does not answer this client, or "
            f"has sent all the bytes that it may (it sent {len(greeting)} bytes that are not "
            "a greeting)"
        )


def _measure(
    target: Target,
    exchange: Exchange,
    pace: Pace,
    cpu: Optional[int],
    handshake_rtt: Optional[int],
    path: Dict[str, Any],
) -> Series:
    """Warm up, then take the samples of a window."""
    remarks: List[str] = []
    plan = _warm_up(target, exchange, pace, remarks)
    info = _tcp_info(exchange.stream)
    before, started, began = conditions.start(), time.time(), time.monotonic()
    plain, stamped, ended = _requests(exchange, pace, plan)
    seconds = time.monotonic() - began
    total = plan.plain + plan.stamped
    answered = len(plain) + len(stamped)
    remarks += _unanswered(target, answered, total, ended)
    kernel, host, missing, steps = _apart(stamped)
    user = plain if plan.plain else [user for user, _ in stamped]
    layers = {"kernel": kernel, "user": user, "host": host}
    if len(kernel) < max(1, _LEAST_STAMPED * len(stamped)):
        layers = {"user": user}
        if stamped or not plan.stamped:
            remarks.append(
                f"{target.name}: the kernel or the driver of the network card took stamps of only "
                f"{len(kernel)} of {len(stamped) or answered} requests, so there are user times "
                "alone (ethtool -T shows what it can)"
            )
    after = _tcp_info(exchange.stream)
    context = conditions.since(before, cpu)
    context.update(
        mode="request_response",
        interval_us=int(round(plan.interval * 1e6)),
        asked=total,
        answered=answered,
        reply_size=exchange.reply_size,
        handshake_us=None if handshake_rtt is None else handshake_rtt / 1000.0,
        min_rtt_us=None if after is None else after.min_rtt,
        retrans=None
        if after is None or info is None
        else after.retransmissions - info.retransmissions,
        stamps_missing=missing,
        clock_steps=steps,
        ended=ended,
        peer=str(target.address[0]),
        **path,
    )
    return Series(exchange.request_size, started, seconds, layers, context, remarks)


def _unanswered(target: Target, answered: int, total: int, ended: Optional[str]) -> List[str]:
    """Remarks about requests without an answer. NoTime or CannotMeasure if none has one."""
    if not answered:
        if ended is None:
            raise NoTime(f"no answer from {target.name}: no time left")
        raise CannotMeasure(f"no answer from {target.name}: {ended}")
    if ended is not None:
        return [f"{target.name}: {ENDED_AFTER} {answered} of {total} requests: {ended}"]
    return [_short_of(target, answered, total, "requests")] if answered < total else []


def _requests(
    exchange: Exchange, pace: Pace, plan: "_Plan"
) -> Tuple[List[int], List[_Stamped], Optional[str]]:
    """Requests without stamps and with them, and why no more answers came.

    In turn, so that both are of the same time.
    """
    plain: List[int] = []
    stamped: List[_Stamped] = []
    # Back to back, a request is to begin when the clock is checked.
    schedule = pacing.Schedule(plan.interval, exchange.clock)
    wait = schedule.wait if plan.interval else exchange.clock
    # In the clock of the samples, which costs nothing more to compare.
    last = exchange.clock() + int((pace.deadline - time.monotonic()) * 1e9)
    total = max(plan.plain, plan.stamped)
    kinds: List[Tuple[Callable[..., None], List[Any]]] = []
    if plan.plain:
        kinds.append((exchange.without_stamps, plain))
    if plan.stamped:
        kinds.append((exchange.with_stamps, stamped))
    try:
        for begun in range(0, total, _TURN):
            until = min(begun + _TURN, total)
            for take, took in kinds:
                take(until - begun, wait, last, took)
                if len(took) < until:
                    # The time is over.
                    return plain, stamped, None
    except OSError as problem:
        return plain, stamped, _reason(problem, pace.timeout)
    return plain, stamped, None


def _apart(stamped: List[_Stamped]) -> Tuple[List[int], List[int], int, int]:
    """Times of the kernel and of the host, number of missing time stamps, number of clock steps."""
    kernel: List[int] = []
    host: List[int] = []
    missing = steps = 0
    for user, between in stamped:
        if between is None:
            missing += 1
        elif between <= 0 or between > user + _ROUNDING_NS:
            # The time stamps are from the wall clock, which was set meanwhile.
            steps += 1
        else:
            kernel.append(between)
            host.append(max(0, user - between))
    return kernel, host, missing, steps


class _Plan(NamedTuple):
    """The number of requests of each kind a window takes, and ``interval`` seconds apart.

    With both kinds, they are as many. ``plain`` are without time stamps.
    """

    interval: float
    plain: int
    stamped: int


def _warm_up(target: Target, exchange: Exchange, pace: Pace, remarks: List[str]) -> _Plan:
    """Wake up caches, windows and stamps, and see how the window can be measured."""
    sizes = (exchange.request_size, exchange.reply_size)
    try:
        plain, stamped = _first_requests(exchange, pace, warm_up_requests(*sizes))
    except OSError as problem:
        raise CannotMeasure(
            f"no answer from {target.name}: {_reason(problem, pace.timeout)}"
        ) from problem
    times = sorted(plain + [user for user, _ in stamped])
    typical = times[len(times) * 9 // 10] / 1e9
    least = _ROUND_TRIPS_PER_INTERVAL * typical
    interval = max(pace.interval, least) if pace.interval else 0.0
    each = requests_a_sample(*sizes)
    if interval > each * pace.interval:
        # The samples take longer than they were to; up to there, they have only fewer requests.
        remarks.append(
            f"{target.name}: a round trip takes {typical * 1e3:.3f} ms, so a request began every "
            f"{interval * 1e3:.3f} ms instead of every {each * pace.interval * 1e3:.3f} ms"
        )
    # Asking for stamps costs time for each request, and it may be that none will come.
    if any(kernel is not None for _, kernel in stamped):
        if each == 2 and times[len(times) // 2] < _SHORT * 1e9:
            return _Plan(interval, pace.samples, pace.samples)
        return _Plan(interval, 0, _in_the_same_time(pace, each, interval))
    return _Plan(interval, _in_the_same_time(pace, each, interval), 0)


def _first_requests(exchange: Exchange, pace: Pace, most: int) -> Tuple[List[int], List[_Stamped]]:
    """Times without stamps, and times with stamps."""
    plain: List[int] = []
    stamped: List[_Stamped] = []
    limit = min(time.monotonic() + WARM_UP_SECONDS, pace.deadline)
    never = exchange.clock() + _NEVER
    count = 0
    while count < most and (count < LEAST_WARM_UP or time.monotonic() < limit):
        if exchange.stamps and count % 2:
            exchange.with_stamps(1, exchange.clock, never, stamped)
        else:
            exchange.without_stamps(1, exchange.clock, never, plain)
        count += 1
    return plain, stamped


def _in_the_same_time(pace: Pace, each: int, interval: float) -> int:
    """As many requests of one kind as leave a window as long as both kinds make it, but no fewer
    than there shall be samples: the interval must not hang on the kinds, for a host that sleeps
    longer wakes up later."""
    if not interval:
        return pace.samples
    return max(pace.samples, int(each * pace.samples * pace.interval / interval))


# -- telling it -----------------------------------------------------------------------------------


def _short_of(target: Target, count: int, total: int, what: str) -> str:
    return f"{target.name}: the time that was given allowed {count} of {total} {what}"


def _reason(problem: OSError, timeout: float) -> str:
    late = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EINPROGRESS)
    if isinstance(problem, socket.timeout) or problem.errno in late:
        return f"nothing within {timeout:g} s"
    return problem.strerror or str(problem)


def _count(counts: Dict[str, int], key: str) -> None:
    counts[key] = counts.get(key, 0) + 1


def _listed(failures: Dict[str, int]) -> str:
    return ", ".join(f"{n} {what}" for what, n in sorted(failures.items()))
