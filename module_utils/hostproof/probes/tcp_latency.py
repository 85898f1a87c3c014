# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a TCP round trip takes, in layers that tell the network from the host.

- ``handshake``: connect(), and what the kernel measured between SYN and SYN/ACK (TCP_INFO). No
  process of either side has a part in the latter.
- ``tns_ping``: the same with a ping of the listener, which answers the connection as it is meant.
- ``request_response``: requests on one connection to our own responder. ``kernel`` is between the
  time stamps of sending and receiving, ``user`` from when the request was to begin until this
  process had the answer, ``host`` the difference: what this host's scheduler and Python took.

No read of a host: each sends traffic to another machine, bounded by samples, bytes and seconds.
"""

import errno
import socket
import struct
import sys
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from ..errors import HostproofError, ParseError
from ..latency.probe_list import ELSEWHERE, ENDED_AFTER, NOT_COUNTED
from ..latency.traffic import LEAST_CONNECT_INTERVAL, LEAST_WARM_UP, warm_up_requests
from ..latency.window import Window, window_from_samples
from ..parsers import tcp_info
from . import conditions, latency_hello, pacing, socket_stamps, tcp_path, tns_ping

#: The longest time that the requests before the first that counts may take.
WARM_UP_SECONDS = 1.0

#: A request can only begin on time if the one before has been answered by then.
_ROUND_TRIPS_PER_INTERVAL = 2

#: Fewer pairs of stamps than this share of the samples, or than this, are not a layer.
_LEAST_STAMPED = 0.5
_FEWEST = 30

#: A stamped time that is longer than the user's is a set clock; less than this is rounding.
_ROUNDING_NS = 2000


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
    """How often and how long. ``interval`` (seconds) 0 is back to back.

    ``timeout`` is how long one answer may take. Nothing begins after ``deadline``
    (time.monotonic()).
    """

    samples: int
    interval: float
    timeout: float
    deadline: float


def resolve(host, port):
    # type: (str, int) -> Target
    """The first address of a host, so that no sample contains a lookup."""
    name = "[{0}]:{1}".format(host, port) if ":" in host else "{0}:{1}".format(host, port)
    try:
        found = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        raise CannotMeasure("{0} has no address: {1}".format(host, problem)) from problem
    return Target(name, found[0][0], tuple(found[0][4]))


def windows(target, series):
    # type: (Target, Series) -> List[Window]
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


def handshake(target, pace, cpu=None, clock=pacing.now_ns):
    # type: (Target, Pace, Optional[int], Callable[[], int]) -> Series
    """Connect and close, ``net`` by the kernel and ``user`` around connect()."""
    net = []  # type: List[int]
    user = []  # type: List[int]
    failures = {}  # type: Dict[str, int]
    path = {}  # type: Dict[str, Any]
    unmeasured = 0

    def once(begin):
        # type: (int) -> None
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


def tns_pings(target, pace, cpu=None, clock=pacing.now_ns):
    # type: (Target, Pace, Optional[int], Callable[[], int]) -> Series
    """Ping a listener: ``net`` by the kernel, ``server`` from the CONNECT packet to the answer.

    Pings that were sent elsewhere or had to be sent again measure something else, and do not count.
    """
    net = []  # type: List[int]
    server = []  # type: List[int]
    failures = {}  # type: Dict[str, int]
    path = {}  # type: Dict[str, Any]

    def observe(stream):
        # type: (socket.socket) -> None
        rtt = _handshake_rtt(stream)
        if rtt is not None:
            net.append(rtt)
        if not path:
            path.update(tcp_path.of(stream))

    def once(_begin):
        # type: (int) -> None
        host, port = target.address[:2]
        one = tns_ping.ping(host, port, pace.timeout, 0.0, observe=observe)
        if one.outcome != tns_ping.ANSWERED or one.connected is None:
            _count(failures, "{0} ({1})".format(one.outcome, one.said[:80]))
        elif one.resends or one.redirects:
            _count(failures, ELSEWHERE)
        else:
            server.append(int((one.seconds - one.connected) * 1e9))

    others = {"server": server}
    return _one_by_one(target, pace, cpu, clock, once, net, others, failures, path, "tns_ping")


def _one_by_one(
    target,  # type: Target
    pace,  # type: Pace
    cpu,  # type: Optional[int]
    clock,  # type: Callable[[], int]
    once,  # type: Callable[[int], None]
    net,  # type: List[int]
    others,  # type: Dict[str, List[int]]
    failures,  # type: Dict[str, int]
    path,  # type: Dict[str, Any]
    mode,  # type: str
):
    # type: (...) -> Series
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
            raise NoTime("no answer from {0}: there was no time for one".format(target.name))
        raise CannotMeasure("no answer from {0}: {1}".format(target.name, _listed(failures)))
    remarks = []  # type: List[str]
    if failures:
        remarks.append(
            "{0}: {1} of {2} {3}: {4}".format(
                target.name, sum(failures.values()), tried, NOT_COUNTED, _listed(failures)
            )
        )
    if tried < pace.samples:
        remarks.append(_short_of(target, tried, pace))
    answered = max(len(samples) for samples in others.values())
    if not net:
        remarks.append(
            "{0}: the kernel does not tell the round trip of a handshake (TCP_INFO), so there is "
            "no figure for the network alone".format(target.name)
        )
    elif len(net) >= _FEWEST and all(rtt % 1000000 == 0 for rtt in net):
        remarks.append(
            "{0}: this kernel tells round trips in whole milliseconds only (before Linux 3.15), so "
            "the figure for the network alone is left out".format(target.name)
        )
        del net[:]
    found = conditions.since(before, cpu)
    found.update(
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
    return Series(None, started, seconds, layers, found, remarks)


def _connected(target, timeout):
    # type: (Target, float) -> socket.socket
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


def _handshake_rtt(stream):
    # type: (socket.socket) -> Optional[int]
    """Nanoseconds from SYN to SYN/ACK; None where the kernel does not tell, or sent a SYN again."""
    info = _tcp_info(stream)
    if info is None or info.rtt == 0 or info.retransmissions:
        return None
    return info.rtt * 1000


def _tcp_info(stream):
    # type: (socket.socket) -> Optional[tcp_info.TcpInfo]
    option = getattr(socket, "TCP_INFO", None)
    if option is None:
        return None
    try:
        return tcp_info.parse(stream.getsockopt(socket.IPPROTO_TCP, option, tcp_info.ROOM))
    except (OSError, ParseError):
        return None


# -- requests and answers -------------------------------------------------------------------------


def request_response(target, request_size, reply_size, pace, cpu=None, clock=pacing.now_ns):
    # type: (Target, int, int, Pace, Optional[int], Callable[[], int]) -> Series
    """Requests to our responder, one at a time on one connection of their own.

    The interval is stretched where a round trip takes more than half of it.
    """
    with pacing.steady(cpu):
        try:
            stream = _connected(target, pace.timeout)
        except OSError as problem:
            raise CannotMeasure(
                "no connection to {0}: {1}; is the responder running, and is this client among "
                "those it was told to answer?".format(target.name, _reason(problem, pace.timeout))
            ) from problem
        with stream:
            handshake_rtt = _handshake_rtt(stream)
            path = tcp_path.of(stream)
            exchange = _Exchange(target, stream, request_size, reply_size, pace.timeout, clock)
            exchange.greet()
            return _measure(target, exchange, pace, cpu, handshake_rtt, path)


class _Exchange:
    """One connection to a responder, and what was sent on it."""

    def __init__(self, target, stream, request_size, reply_size, timeout, clock):
        # type: (Target, socket.socket, int, int, float, Callable[[], int]) -> None
        self.target = target
        self.stream = stream
        self.request = b"\x55" * request_size
        self.reply_size = reply_size
        self.timeout = timeout
        self.clock = clock
        self.stamped = False
        self._sent = 0
        # Looked up once: this is the timed part.
        self._send, self._receive = stream.sendall, stream.recv
        self._receive_stamped = getattr(stream, "recvmsg", None)  # type: Any
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def greet(self):
        # type: () -> None
        """Agree on the sizes; CannotMeasure where something else listens there."""
        said = b""
        try:
            self.stream.sendall(latency_hello.hello(len(self.request), self.reply_size))
            while len(said) < len(latency_hello.WELCOME):
                piece = self.stream.recv(len(latency_hello.WELCOME) - len(said))
                if not piece:
                    break
                said += piece
        except OSError as problem:
            raise CannotMeasure(
                "{0} does not answer: {1}".format(self.target.name, _reason(problem, self.timeout))
            ) from problem
        if said != latency_hello.WELCOME:
            raise CannotMeasure(
                "{0} is not a responder of Hostproof, or does not answer this client, or has sent "
                "all the bytes that it may (it said {1!r})".format(self.target.name, said)
            )
        # The welcome acknowledged all that was sent: stamps count bytes from here.
        self.stamped = socket_stamps.switch_on(self.stream)

    def once(self, begin):
        # type: (int) -> Tuple[int, Optional[int]]
        """User and kernel time of one request; OSError where no answer came."""
        reply_size = self.reply_size
        self._send(self.request)
        if not self.stamped:
            data = self._receive(reply_size)
            end = self.clock()
            missing = reply_size - len(self._received(data))
            while missing:
                missing -= len(self._received(self._receive(missing)))
                end = self.clock()
            return end - begin, None
        data, ancillary, _, _ = self._receive_stamped(reply_size, socket_stamps.ROOM)
        end = self.clock()
        missing = reply_size - len(self._received(data))
        while missing:
            data, ancillary, _, _ = self._receive_stamped(missing, socket_stamps.ROOM)
            end = self.clock()
            missing -= len(self._received(data))
        user = end - begin
        self._sent += len(self.request)
        sent = socket_stamps.sent(self.stream, self._sent - 1)
        received = socket_stamps.received(ancillary)
        return user, None if sent is None or received is None else received - sent

    @staticmethod
    def _received(data):
        # type: (bytes) -> bytes
        if not data:
            raise OSError(errno.ECONNRESET, "the responder closed the connection")
        return data


def _measure(target, exchange, pace, cpu, handshake_rtt, path):
    # type: (Target, _Exchange, Pace, Optional[int], Optional[int], Dict[str, Any]) -> Series
    """Warm up, then take the samples of a window."""
    remarks = []  # type: List[str]
    interval = _warm_up(exchange, pace, remarks)
    schedule = pacing.Schedule(interval, exchange.clock)
    user = []  # type: List[int]
    kernel = []  # type: List[int]
    host = []  # type: List[int]
    missing = steps = 0
    ended = None  # type: Optional[str]
    info = _tcp_info(exchange.stream)
    before, started, began = conditions.start(), time.time(), time.monotonic()
    # In the clock of the samples, which costs nothing more to compare.
    last = exchange.clock() + int((pace.deadline - began) * 1e9)
    while len(user) < pace.samples:
        begin = schedule.wait()
        if begin >= last:
            remarks.append(_short_of(target, len(user), pace))
            break
        try:
            whole, stamped = exchange.once(begin)
        except OSError as problem:
            ended = _reason(problem, pace.timeout)
            break
        user.append(whole)
        if stamped is None:
            missing += 1
        elif stamped <= 0 or stamped > whole + _ROUNDING_NS:
            # The stamps are of the clock that tells the time, and somebody set it meanwhile.
            steps += 1
        else:
            kernel.append(stamped)
            host.append(max(0, whole - stamped))
    seconds = time.monotonic() - began
    if not user:
        if ended is None:
            raise NoTime("no answer from {0}: no time left".format(target.name))
        raise CannotMeasure("no answer from {0}: {1}".format(target.name, ended))
    if ended is not None:
        remarks.append(
            "{0}: {1} {2} of {3} requests: {4}".format(
                target.name, ENDED_AFTER, len(user), pace.samples, ended
            )
        )
    layers = {"user": user}
    if len(kernel) < max(1, _LEAST_STAMPED * len(user)):
        remarks.append(
            "{0}: the kernel or the driver of the network card took stamps of only {1} of {2} "
            "requests, so there are user times alone (ethtool -T shows what it can)".format(
                target.name, len(kernel), len(user)
            )
        )
    else:
        layers = {"kernel": kernel, "user": user, "host": host}
    after = _tcp_info(exchange.stream)
    found = conditions.since(before, cpu)
    found.update(
        mode="request_response",
        interval_us=int(round(interval * 1e6)),
        asked=pace.samples,
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
    return Series(len(exchange.request), started, seconds, layers, found, remarks)


def _warm_up(exchange, pace, remarks):
    # type: (_Exchange, Pace, List[str]) -> float
    """Wake up caches, windows and stamps; the interval at which the window can be measured."""
    times = []  # type: List[int]
    limit = min(time.monotonic() + WARM_UP_SECONDS, pace.deadline)
    most = warm_up_requests(len(exchange.request), exchange.reply_size)
    stamps = 0
    try:
        while len(times) < most and (len(times) < LEAST_WARM_UP or time.monotonic() < limit):
            user, kernel = exchange.once(exchange.clock())
            times.append(user)
            stamps += kernel is not None
    except OSError as problem:
        raise CannotMeasure(
            "no answer from {0}: {1}".format(
                exchange.target.name, _reason(problem, exchange.timeout)
            )
        ) from problem
    if exchange.stamped and not stamps:
        # Asking for them costs time for each request, and none will come.
        exchange.stamped = False
    if not pace.interval:
        return 0.0
    typical = sorted(times)[len(times) * 9 // 10] / 1e9
    least = _ROUND_TRIPS_PER_INTERVAL * typical
    if pace.interval >= least:
        return pace.interval
    remarks.append(
        "{0}: a round trip takes {1:.3f} ms, so a request began every {2:.3f} ms instead of every "
        "{3:.3f} ms".format(exchange.target.name, typical * 1e3, least * 1e3, pace.interval * 1e3)
    )
    return least


# -- telling it -----------------------------------------------------------------------------------


def _short_of(target, count, pace):
    # type: (Target, int, Pace) -> str
    return "{0}: the time that was given allowed {1} of {2} samples".format(
        target.name, count, pace.samples
    )


def _reason(problem, timeout):
    # type: (OSError, float) -> str
    late = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EINPROGRESS)
    if isinstance(problem, socket.timeout) or problem.errno in late:
        return "nothing within {0:g} s".format(timeout)
    return problem.strerror or str(problem)


def _count(counts, key):
    # type: (Dict[str, int], str) -> None
    counts[key] = counts.get(key, 0) + 1


def _listed(failures):
    # type: (Dict[str, int]) -> str
    return ", ".join("{0} {1}".format(n, what) for what, n in sorted(failures.items()))
