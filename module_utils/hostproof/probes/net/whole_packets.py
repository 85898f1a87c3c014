# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether packets of a full MTU reach another machine, and whether its answers arrive here. Echo
requests that may not be fragmented are sent from sockets of this process.

Only an answer proves that a packet arrived: a switch with a smaller MTU drops a frame silently. The
kernel reports which machine on the path rejected a packet, and whether an answer was fragmented: a
peer may fragment its answers. Sources: RFC 792, RFC 4443 (echo), RFC 1191, RFC 8201 (path MTU);
ip(7), IP_MTU_DISCOVER and IP_RECVERR; kernel include/uapi/linux/errqueue.h, net/ipv4/ping.c."""

import errno
import os
import select
import socket
import struct
import time
from typing import Dict, NamedTuple, Optional, Sequence, Tuple, Union

from ...collect.answer import Answer, attempt, known
from ...collect.host import Host
from ...collect.measured import Measured
from ...errors import Unanswered

_NAME = "whole packets"
KEY = "windows:" + _NAME

#: Every IPv4 and IPv6 link carries packets of this size, including headers.
_SMALL = 576
#: Every Ethernet port carries packets of this size.
STANDARD = 1500
#: Number of transmissions of each packet, and time limit of its answer in seconds.
_TIMES, _PATIENCE = 3, 0.5
#: What represents None among figures.
_UNKNOWN = "unknown"
#: The number of peers are queried at a time.
_AT_A_TIME = 16

#: Options that Python's socket does not name (include/uapi/linux/in.h, in6.h).
_PROBE = 3  # DF is set, whatever was learned of the way
_ERRORS, _CONTROL = 0x2000, 512  # MSG_ERRQUEUE
#: Errors that are read at once: a flood of errors must not delay the time check.
_ERRORS_AT_ONCE = 64
#: Where an error came from (SO_EE_ORIGIN_ICMP, _ICMP6): not from this kernel.
_BY_ICMP = (2, 3)
#: Bytes of the longest packet: who claims to take more says nothing.
_LONGEST = 65535


class _Family(NamedTuple):
    """What differs between IPv4 and IPv6. ``headers`` are the bytes of the IP and the ICMP header;
    ``options`` are those of ``level`` that are set: how to discover the MTU, and to be told errors.
    ``place`` is where an address is in a sockaddr; ``too_big`` is the type and code of ICMP."""

    family: int
    protocol: int
    level: int
    headers: int
    request: int
    answer: int
    discover: int
    errors: int
    pieces: int
    place: Tuple[int, int]
    too_big: Tuple[int, int]


_V4 = _Family(socket.AF_INET, 1, 0, 28, 8, 0, 10, 11, 25, (4, 8), (3, 4))
_V6 = _Family(socket.AF_INET6, 58, 41, 48, 128, 129, 23, 25, 77, (8, 24), (2, 0))


class ProbeRoute(NamedTuple):
    """How far packets of ``size`` bytes (with headers) come.

    ``passed``: they came back. ``pieces`` is the largest piece that the answer came in, 0 where it
    came whole. ``hop`` is the machine that rejected them, "" where they were lost silently,
    and ``limit`` what it takes (0: it does not say). ``arrives`` is a size that does come back."""

    size: int
    passed: bool
    pieces: Optional[int]
    hop: str
    limit: int
    arrives: int


def address_of_another(text: str) -> str:
    """An IP address as Python writes it; ValueError for what can be no other machine's."""
    import ipaddress

    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise ValueError(f"{text[:80]!r} must be an IP address") from None
    if address.is_multicast or address.is_unspecified or address.is_loopback:
        raise ValueError(f"{text} must be the address of another machine")
    return str(address)


def probe_routes(host: Host, sizes: Dict[str, int]) -> Dict[str, Answer[ProbeRoute]]:
    """The way to each address, for packets of this number of bytes. Denied where no echo may be
    sent.

    A peer that answers nothing at all is Unanswered: nothing is known of the way there.
    """
    result = attempt(host.windows, _NAME, lambda: _measure(sizes))
    return {
        address: attempt(lambda each=address: _way(known(result).figures, each))
        for address in sizes
    }


def _way(figures: Optional[Dict[str, Union[str, float]]], address: str) -> ProbeRoute:
    values = figures or {}

    def number(name: str) -> int:
        value = values.get(f"{address} {name}")
        if not isinstance(value, (int, float)) or not 0 <= value < 1 << 31:
            raise Unanswered(KEY, f"{address} was not asked: record it again")
        return int(value)

    way = ProbeRoute(
        size=number("size"),
        passed=bool(number("passed")),
        pieces=None if values.get(f"{address} pieces") == _UNKNOWN else number("pieces"),
        hop=str(values.get(f"{address} hop", "")),
        limit=number("limit"),
        arrives=number("arrives"),
    )
    if not way.arrives:
        raise Unanswered(KEY, f"{address} answers no echo, not even one of {_SMALL} bytes")
    return way


def _measure(sizes: Dict[str, int]) -> Measured:
    # Most policies name no peer, and each import costs an audit time.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=_AT_A_TIME) as several:
        ways = list(several.map(_go, list(sizes), list(sizes.values())))
    figures: Dict[str, Union[str, float]] = {}
    for address, way in zip(sizes, ways):
        for name, value in way._asdict().items():
            figures[f"{address} {name}"] = _figure(value)
    return Measured([], [], figures)


def _figure(value: Union[None, bool, int, str]) -> Union[str, float]:
    if value is None:
        return _UNKNOWN
    return int(value) if isinstance(value, bool) else value


def _go(address: str, size: int) -> ProbeRoute:
    with _Echo(address) as echo:
        if not echo.comes_back(_SMALL):
            return ProbeRoute(size, False, 0, "", 0, 0)
        if echo.comes_back(size):
            return ProbeRoute(size, True, echo.pieces, "", 0, size)
        hop, limit = echo.hop, echo.limit
        # The size in a rejection is known, so it is not sent again.
        arrives = STANDARD if size > STANDARD and echo.comes_back(STANDARD) else _SMALL
        return ProbeRoute(size, False, 0, hop, limit, arrives)


def refusal(value: bytes, is_v6: bool) -> Optional[Tuple[str, int]]:
    """The machine that reported a packet as too big, and its limit (0: not reported); None for any
    other error. ``value`` is a struct sock_extended_err and the address after it."""
    of = _V6 if is_v6 else _V4
    first, last = (16 + place for place in of.place)
    if len(value) < last:
        return None
    _number, origin, kind, code, limit = struct.unpack("=IBBBxI", value[:12])
    if origin not in _BY_ICMP or (kind, code) != of.too_big:
        return None
    return socket.inet_ntop(of.family, value[first:last]), min(limit, _LONGEST)


class _Echo:
    """A socket for echoes to one address. ``pieces``, ``hop`` and ``limit`` are of the last one."""

    def __init__(self, address: str) -> None:
        self._of = _V6 if ":" in address else _V4
        self._mark = os.urandom(16)
        self._number = 0
        self.pieces: Optional[int] = None
        self.hop, self.limit = "", 0
        self._socket, self._is_raw = _open(self._of)
        try:
            self._socket.setsockopt(self._of.level, self._of.discover, _PROBE)
            self._socket.setsockopt(self._of.level, self._of.errors, 1)
            self._tells_pieces = self._ask_for_pieces()
            self._socket.connect((address, 0))
        except OSError:
            self._socket.close()
            raise

    def __enter__(self) -> "_Echo":
        return self

    def __exit__(self, *_problem: object) -> None:
        self._socket.close()

    def _ask_for_pieces(self) -> bool:
        try:
            self._socket.setsockopt(self._of.level, self._of.pieces, 1)
        except OSError as problem:
            if problem.errno != errno.ENOPROTOOPT:
                raise
            return False
        return True

    def comes_back(self, size: int) -> bool:
        """Whether the answer to one of these bytes comes; a rejection from the way ends it."""
        self.hop, self.limit = "", 0
        for _ in range(_TIMES):
            self._number += 1
            message = _message(self._of.request, self._number, self._mark, size - self._of.headers)
            try:
                self._socket.send(message)
            except OSError as problem:
                if problem.errno not in _LOST:
                    raise
            if self._wait(message):
                return True
            if self.hop:
                return False
        return False

    def _wait(self, message: bytes) -> bool:
        until = time.monotonic() + _PATIENCE
        while not self.hop:
            left = until - time.monotonic()
            waiting = select.poll()
            waiting.register(self._socket, select.POLLIN)
            if left <= 0 or not waiting.poll(left * 1000.0):
                return False
            self._read_errors()
            if self._is_answered(message):
                return True
        return False

    def _is_answered(self, message: bytes) -> bool:
        """Whether what came is the answer to this one, byte for byte."""
        try:
            data, control, _flags, _from = self._socket.recvmsg(
                len(message) + 64, _CONTROL, socket.MSG_DONTWAIT
            )
        except OSError:
            return False
        if self._is_raw and self._of is _V4:
            data = data[(data[0] & 15) * 4 :] if data else data
        if data[:1] != bytes([self._of.answer]) or data[6:] != message[6:]:
            return False
        self.pieces = 0 if self._tells_pieces else None
        for level, kind, value in control:
            if (level, kind) == (self._of.level, self._of.pieces) and len(value) >= 4:
                self.pieces = struct.unpack("=i", value[:4])[0]
        return True

    def _read_errors(self) -> None:
        """What machines on the way said of packets to this address."""
        for _ in range(_ERRORS_AT_ONCE):
            try:
                control = self._socket.recvmsg(_SMALL, _CONTROL, _ERRORS | socket.MSG_DONTWAIT)[1]
            except OSError:
                return
            for level, kind, value in control:
                if (level, kind) != (self._of.level, self._of.errors):
                    continue
                report = refusal(value, self._of is _V6)
                if report is not None:
                    self.hop, self.limit = report


#: Errors of a send that are ignored: the packet was lost on this host (ENOBUFS), is too big for the
#: device, or an earlier packet did not arrive. The missing answer already shows that.
_LOST = (
    errno.ENOBUFS,
    errno.EMSGSIZE,
    errno.EHOSTUNREACH,
    errno.ENETUNREACH,
    errno.ECONNREFUSED,
    errno.EPROTO,
)


def _open(of: _Family) -> Tuple[socket.socket, bool]:
    """A socket that sends echo requests, and whether it is a raw one. An account may have
    permission for only one kind (net.ipv4.ping_group_range, CAP_NET_RAW)."""
    try:
        return socket.socket(of.family, socket.SOCK_DGRAM, of.protocol), False
    except PermissionError:
        return socket.socket(of.family, socket.SOCK_RAW, of.protocol), True


def _message(kind: int, number: int, mark: bytes, size: int) -> bytes:
    """An echo request of this number of bytes behind its header (RFC 792); IPv6 has the same,
    and the kernel writes its checksum, as it writes that of a separate socket for echoes."""
    data = (mark * (size // len(mark) + 1))[:size]
    head = struct.pack("!BBHHH", kind, 0, 0, os.getpid() & 0xFFFF, number)
    return head[:2] + struct.pack("!H", _checksum(head + data)) + head[4:] + data


def _checksum(message: bytes) -> int:
    """RFC 1071."""
    words: Sequence[int] = struct.unpack(
        f"!{(len(message) + 1) // 2}H", message + b"\0" * (len(message) % 2)
    )
    total = sum(words)
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
