# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The path of a TCP connection from this host: interface, route, MTU, source address.

The socket has its address, MTU and segment size. The route is a query to the kernel with all
attributes that rules can select by, without a packet and without privileges. Uncertain routes are
omitted: a route with several next hops, a kernel before 4.13 (which does not report several), a
socket that is bound to a device, and a system other than Linux.
"""

import os
import socket
import struct
import sys
from typing import Any, Dict, Optional

from ....errors import ParseError
from ....parsers.kernel import kernel_release
from ..parsers import rtnetlink

#: From include/uapi/linux/in.h, in6.h and include/uapi/asm-generic/socket.h.
_IP_MTU, _IPV6_MTU, _SO_MARK, _SO_BINDTODEVICE = 14, 24, 36, 25
_LONGEST_NAME = 16

#: The first Linux that shows all ways of a route.
_TELLS_ALL_WAYS = (4, 13)

_ANSWER = 65536
_SECONDS = 1.0

#: An address of IPv4 on a socket of IPv6, of which the tables of IPv4 decide.
_MAPPED = "::ffff:"


def of(stream: socket.socket) -> Dict[str, Any]:
    """The conditions of a connection: ``interface``, ``route`` ("on link", "via ADDRESS", "this
    host"), ``source_address``, ``mtu`` (the path MTU that this host knows) and ``mss``, the
    negotiated segment size (bytes). Unknown conditions are omitted."""
    details: Dict[str, Any] = {}
    if not sys.platform.startswith("linux"):
        return details
    try:
        details["source_address"] = _address(stream.getsockname()[0])
        details["mss"] = stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
        details["mtu"] = _mtu(stream)
        details.update(_route(stream))
    except (OSError, ParseError, ValueError, struct.error):
        # Whatever is in the way, what was told before stays, and the measurement goes on.
        pass
    return {name: value for name, value in details.items() if value}


def _address(text: str) -> str:
    """Without the scope that older Pythons write behind addresses of one link."""
    return text.partition("%")[0]


def _mtu(stream: socket.socket) -> int:
    if stream.family == socket.AF_INET6:
        return stream.getsockopt(socket.IPPROTO_IPV6, _IPV6_MTU)
    return stream.getsockopt(socket.IPPROTO_IP, _IP_MTU)


def _route(stream: socket.socket) -> Dict[str, Any]:
    """Interface and route, or nothing."""
    release = kernel_release.parse(os.uname().release)
    bound = stream.getsockopt(socket.SOL_SOCKET, _SO_BINDTODEVICE, _LONGEST_NAME)
    here, there = stream.getsockname(), stream.getpeername()
    if (release.major, release.minor) < _TELLS_ALL_WAYS or bound.strip(b"\0"):
        return {}
    flow = rtnetlink.Flow(
        family=int(stream.family),
        source=_address(here[0]),
        destination=_address(there[0]),
        source_port=here[1],
        destination_port=there[1],
        uid=os.geteuid(),
        # A number without a sign that Python takes for one with.
        mark=stream.getsockopt(socket.SOL_SOCKET, _SO_MARK) & 0xFFFFFFFF,
    )
    if flow.destination.startswith(_MAPPED):
        return {}
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
        kernel.settimeout(_SECONDS)
        entry = _ask(kernel, flow, 1, True)
        taken = _ask(kernel, flow, 2, False)
    # An entry without an interface is a group of next hops (nexthop object).
    if entry is None or entry.several or entry.interface is None:
        return {}
    if taken is None or taken.interface is None:
        return {}
    way = _in_words(taken)
    if way is None:
        return {}
    return {"interface": socket.if_indextoname(taken.interface), "route": way}


def _ask(
    kernel: socket.socket, flow: rtnetlink.Flow, sequence: int, as_it_stands: bool
) -> Optional[rtnetlink.Route]:
    kernel.send(rtnetlink.request(flow, sequence, as_it_stands))
    return rtnetlink.parse(kernel.recv(_ANSWER), sequence)


def _in_words(route: rtnetlink.Route) -> Optional[str]:
    if route.kind == rtnetlink.LOCAL:
        return "this host"
    if route.kind != rtnetlink.UNICAST:
        return None
    return "on link" if route.gateway is None else f"via {route.gateway}"
