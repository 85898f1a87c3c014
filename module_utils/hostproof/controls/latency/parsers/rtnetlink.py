# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking the kernel for a route, and its answer: RTM_GETROUTE and RTM_NEWROUTE of rtnetlink.

Sources: kernel include/uapi/linux/netlink.h, rtnetlink.h; net/ipv4/route.c, inet_rtm_getroute();
net/ipv6/route.c, inet6_rtm_getroute(). This is what ``ip route get`` asks. Numbers are the host's,
but for ports and addresses, which are the network's.
"""

import socket
import struct
from typing import Iterator, NamedTuple, Optional, Tuple

from ....errors import ParseError

_WHAT = "route of rtnetlink"

#: nlmsghdr: length, type, flags, sequence, port. rtmsg: family, lengths of destination and source,
#: TOS, table, protocol, scope, type, flags. rtattr: length, type.
_HEAD = struct.Struct("=IHHII")
_ROUTE = struct.Struct("=BBBBBBBBI")
_ATTRIBUTE = struct.Struct("=HH")

_ERROR, _NEWROUTE, _GETROUTE = 2, 24, 26
_REQUEST = 1
#: Flag of rtmsg: the entry of the table as it stands, with all its ways, not the one way that was
#: chosen. Since Linux 4.13.
_FIB_MATCH = 0x2000
_TYPE_BITS = 0x3FFF

_DST, _SRC, _OIF, _GATEWAY, _MULTIPATH, _MARK = 1, 2, 4, 5, 9, 16
_VIA, _UID, _IP_PROTO, _SPORT, _DPORT = 18, 25, 27, 28, 29

UNICAST, LOCAL = 1, 2


class Flow(NamedTuple):
    """The attributes of a packet that select a route. Addresses are in the form of inet_ntop.

    ``family`` is AF_INET or AF_INET6; ``uid`` owns the socket, ``mark`` is the socket's.
    """

    family: int
    source: str
    destination: str
    source_port: int
    destination_port: int
    uid: int
    mark: int


class Route(NamedTuple):
    """``kind`` is UNICAST, LOCAL or another of rtmsg's. ``interface`` is an index, None where there
    is none, ``gateway`` an address, None on link. ``several``: it has more ways than one."""

    kind: int
    interface: Optional[int]
    gateway: Optional[str]
    several: bool


def request(flow: Flow, sequence: int, as_it_stands: bool) -> bytes:
    """The message that requests the route of a flow. ``as_it_stands``: the entry of the table with
    all its next hops, not only the next hop of this flow."""
    whole = 128 if flow.family == socket.AF_INET6 else 32
    flags = _FIB_MATCH if as_it_stands else 0
    parts = [
        _ROUTE.pack(flow.family, whole, whole, 0, 0, 0, 0, 0, flags),
        _attribute(_DST, socket.inet_pton(flow.family, flow.destination)),
        _attribute(_SRC, socket.inet_pton(flow.family, flow.source)),
        _attribute(_UID, struct.pack("=I", flow.uid)),
        _attribute(_IP_PROTO, struct.pack("=B", socket.IPPROTO_TCP)),
        _attribute(_SPORT, struct.pack("!H", flow.source_port)),
        _attribute(_DPORT, struct.pack("!H", flow.destination_port)),
    ]
    if flow.mark:
        parts.append(_attribute(_MARK, struct.pack("=I", flow.mark)))
    body = b"".join(parts)
    return _HEAD.pack(_HEAD.size + len(body), _GETROUTE, _REQUEST, sequence, 0) + body


def parse(data: bytes, sequence: int) -> Optional[Route]:
    """The route in the answer to ``request``; None where the kernel has none."""
    body = _body(data, sequence)
    if body is None:
        return None
    family, _, _, _, _, _, _, route, _ = _ROUTE.unpack_from(body)
    interface = gateway = None
    several = False
    for number, value in _attributes(body[_ROUTE.size :]):
        if number == _OIF:
            interface = _u32(value)
        elif number == _GATEWAY:
            gateway = _address(family, value)
        elif number == _VIA and len(value) > 2:
            # A gateway of the other family, which is in front of it.
            gateway = _address(struct.unpack_from("=H", value)[0], value[2:])
        elif number == _MULTIPATH:
            several = True
    return Route(route, interface, gateway, several)


def _body(data: bytes, sequence: int) -> Optional[bytes]:
    """The message of a route behind its head; None where the kernel answers with an error."""
    if len(data) < _HEAD.size:
        raise ParseError(_WHAT, f"{len(data)} bytes are not a message")
    length, kind, _, answered, _ = _HEAD.unpack_from(data)
    if not _HEAD.size <= length <= len(data):
        raise ParseError(_WHAT, f"{len(data)} bytes of a message of {length}")
    if answered != sequence:
        raise ParseError(_WHAT, f"answers question {answered}, not {sequence}")
    if kind == _ERROR:
        return None
    if kind != _NEWROUTE or length < _HEAD.size + _ROUTE.size:
        raise ParseError(_WHAT, f"is a message of type {kind}")
    return data[_HEAD.size : length]


def _attribute(number: int, value: bytes) -> bytes:
    length = _ATTRIBUTE.size + len(value)
    return _ATTRIBUTE.pack(length, number) + value + b"\0" * (-length % 4)


def _attributes(data: bytes) -> Iterator[Tuple[int, bytes]]:
    at = 0
    while at + _ATTRIBUTE.size <= len(data):
        length, number = _ATTRIBUTE.unpack_from(data, at)
        if not _ATTRIBUTE.size <= length <= len(data) - at:
            raise ParseError(_WHAT, f"an attribute of {length} bytes at {at}")
        yield number & _TYPE_BITS, data[at + _ATTRIBUTE.size : at + length]
        at += length + -length % 4


def _u32(value: bytes) -> int:
    if len(value) != 4:
        raise ParseError(_WHAT, f"a number of {len(value)} bytes")
    return int(struct.unpack("=I", value)[0])


def _address(family: int, value: bytes) -> str:
    if family not in (socket.AF_INET, socket.AF_INET6):
        raise ParseError(_WHAT, f"an address of family {family}")
    try:
        return socket.inet_ntop(family, value)
    except ValueError:
        raise ParseError(_WHAT, f"an address of {len(value)} bytes") from None
