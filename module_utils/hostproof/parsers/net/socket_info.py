# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``ss -tine`` prints of TCP connections: addresses, round trip, and what was sent again.

A connection is one line, and a second, indented, of the kernel's tcp_info; counters that are 0
are left out, and so is the user 0. Source: ss(8); iproute2 misc/ss.c, sock_details_print() and
tcp_stats_print().
"""

import re
from typing import List, NamedTuple, Optional, Tuple

from ...errors import ParseError, kind_of
from ..number import decimal, integer

_WHAT = "ss -tine"
_RTT = re.compile(r"(?:^|\s)rtt:(\d+(?:\.\d+)?)/")
_LEAST_RTT = re.compile(r"(?:^|\s)minrtt:(\d+(?:\.\d+)?)")
_RETRANS = re.compile(r"(?:^|\s)retrans:\d+/(\d+)")
_COUNTER = re.compile(
    r"(?:^|\s)(uid|mss|bytes_acked|bytes_received|segs_out|data_segs_out|data_segs_in|rcv_ooopack)"
    r":(\d+)"
)


class Connection(NamedTuple):
    """One connection. Times are milliseconds; counters run since it was made.

    ``uid`` is that of who made it: 0 for the kernel itself.
    ``rtt_ms`` is the average and None before the first answer; ``least_rtt_ms`` is the least of
    the last minutes (sysctl net.ipv4.tcp_min_rtt_wlen) and None on kernels before 4.6.
    ``segments_sent`` is None on kernels before 4.2, ``data_received`` (segments with data) before
    4.6, ``out_of_order`` (of those) where ss does not tell it yet (iproute2 5.18, kernel 5.4).
    ``bytes_acked`` are the payload that the peer has, ``data_sent`` segments with payload, those
    that were sent again included, ``mss`` the payload of the largest segment.
    """

    state: str
    local: str
    local_port: int
    peer: str
    peer_port: int
    uid: int
    rtt_ms: Optional[float]
    least_rtt_ms: Optional[float]
    retransmitted: int
    segments_sent: Optional[int]
    data_received: Optional[int]
    out_of_order: Optional[int]
    bytes_acked: Optional[int] = None
    bytes_received: Optional[int] = None
    data_sent: Optional[int] = None
    mss: Optional[int] = None


def parse(text: str) -> List[Connection]:
    """Every connection; none is an answer too, as ss prints it where its filter finds none."""
    connections: List[Connection] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("State "):
            continue
        if line[0] in " \t":
            if not connections:
                raise ParseError(_WHAT, "details of no connection", number)
            connections[-1] = _with_details(connections[-1], line)
        else:
            connections.append(_connection(line, number))
    return connections


def _connection(line: str, number: int) -> Connection:
    words = line.split(None, 5)
    try:
        local, local_port = _address(words[3])
        peer, peer_port = _address(words[4])
    except (IndexError, ValueError):
        raise ParseError(_WHAT, f"{kind_of(line)} is not a connection", number) from None
    connection = Connection(
        words[0], local, local_port, peer, peer_port, 0, None, None, 0, None, None, None
    )
    return _with_details(connection, words[5]) if len(words) > 5 else connection


def _address(text: str) -> Tuple[str, int]:
    address, _, port = text.rpartition(":")
    if not address or not port.isdecimal():
        raise ValueError(text)
    return plain_address(address), integer(port)


def plain_address(text: str) -> str:
    """An address as all tools may write it, in one form: no brackets, no interface, no ::ffff:."""
    address = text.strip("[]").partition("%")[0].lower()
    return address[7:] if address.startswith("::ffff:") and "." in address else address


def _with_details(connection: Connection, line: str) -> Connection:
    rtt, least, retransmitted = _RTT.search(line), _LEAST_RTT.search(line), _RETRANS.search(line)
    # The release that shows out-of-order segments shows the peer's window too, and no zeros.
    counters = {name: integer(value) for name, value in _COUNTER.findall(line)}
    return connection._replace(
        uid=counters.get("uid", connection.uid),
        rtt_ms=decimal(rtt.group(1)) if rtt else connection.rtt_ms,
        least_rtt_ms=decimal(least.group(1)) if least else connection.least_rtt_ms,
        retransmitted=integer(retransmitted.group(1))
        if retransmitted
        else connection.retransmitted,
        segments_sent=counters.get("segs_out", connection.segments_sent),
        data_received=counters.get("data_segs_in", connection.data_received),
        out_of_order=counters.get(
            "rcv_ooopack", 0 if " snd_wnd:" in line else connection.out_of_order
        ),
        bytes_acked=counters.get("bytes_acked", connection.bytes_acked),
        bytes_received=counters.get("bytes_received", connection.bytes_received),
        data_sent=counters.get("data_segs_out", connection.data_sent),
        mss=counters.get("mss", connection.mss),
    )
