# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes of SQL*Net requests and responses, from the kernel's counters of live connections.

No packet is captured. ss prints for each connection its bytes and its segments with data. A client
sends its next request after the response, so a round trip has one segment in the direction that
needs one. Source: ss(8); kernel include/uapi/linux/tcp.h, tcp_info.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ....collect.host import Host
from ....errors import Unanswered
from ....latency.hello import LONGEST
from ....parsers.net import socket_info
from ....parsers.net.socket_info import Connection
from .work import TRAFFIC, Figures

#: Fewer round trips tell no mean: each connection may be read within one.
FEWEST = 20

#: Above this part of the largest segment, a mean segment may be part of a longer message.
_PART_OF_MSS = 0.5

_End = Tuple[str, int, str, int]


class Sizes(NamedTuple):
    """Means of bytes over ``requests`` round trips of ``connections``, in ``seconds``.

    ``rtt_ms`` is the kernel's average, weighted by round trips, ``least_rtt_ms`` the least.
    ``retransmitted`` are segments of this host. ``changed`` connections began or ended meanwhile,
    ``large`` ones need several segments in both directions: neither is in the means.
    """

    seconds: float
    connections: int
    requests: int
    request_bytes: float
    response_bytes: float
    rtt_ms: Optional[float]
    least_rtt_ms: Optional[float]
    retransmitted: int
    changed: int
    large: int


class TooFew(ValueError):
    """There is not enough traffic."""


class _Work(NamedTuple):
    """What one connection did between two readings."""

    requests: int
    request_bytes: int
    response_bytes: int
    is_large: bool
    retransmitted: int
    rtt_ms: Optional[float]
    least_rtt_ms: Optional[float]


def argv(port: int) -> List[str]:
    """The command that shows the connections of a port, at either end."""
    return ["ss", "-tin", "sport", "=", f":{port}", "or", "dport", "=", f":{port}"]


def measure(host: Host, port: int, seconds: float) -> Sizes:
    """Read the counters twice. TooFew, or Unanswered where they do not tell sizes."""
    key = f"sqlnet_{port}"
    sample = host.sample(key, [], [argv(port)], seconds)
    source = "command:" + " ".join(argv(port))
    if source in sample.errors:
        raise Unanswered("sample:" + key, sample.errors[source])
    first, second = [
        socket_info.parse(reading[source]) for reading in (sample.first, sample.second)
    ]
    try:
        return between(first, second, port, sample.seconds)
    except TooFew:
        raise
    except ValueError as problem:
        raise Unanswered("sample:" + key, str(problem)) from problem


def payload(host: Host, port: int, seconds: float) -> Tuple[int, int]:
    """The sizes of a request and a response in whole bytes. Unanswered where none are known, or
    where a responder does not exchange them."""
    try:
        sizes = measure(host, port, seconds)
    except TooFew as problem:
        raise Unanswered(f"sample:sqlnet_{port}", str(problem)) from problem
    whole = tuple(max(1, round(size)) for size in (sizes.request_bytes, sizes.response_bytes))
    if max(whole) > LONGEST:
        raise Unanswered(
            f"sample:sqlnet_{port}",
            f"port {port} has requests of {whole[0]} and responses of {whole[1]} bytes, and a "
            f"responder exchanges at most {LONGEST}",
        )
    return whole[0], whole[1]


def between(first: List[Connection], second: List[Connection], port: int, seconds: float) -> Sizes:
    """The sizes of two readings; ValueError says why there are none, TooFew of little traffic."""
    before, after = _by_ends(first, port), _by_ends(second, port)
    if not before and not after:
        raise TooFew(f"no connection uses port {port}")
    if after and not any(map(_has_counters, after.values())):
        raise ValueError("ss does not show segments with data (kernel 4.6, iproute2 4.6)")
    works, changed = _works(before, after, port)
    counted = [entry for entry in works if not entry.is_large]
    requests = sum(entry.requests for entry in counted)
    if requests < FEWEST:
        raise _no_sizes(port, seconds, requests, len(works) - len(counted), changed)
    least = [entry.least_rtt_ms for entry in counted if entry.least_rtt_ms is not None]
    return Sizes(
        seconds,
        len(counted),
        requests,
        sum(entry.request_bytes for entry in counted) / requests,
        sum(entry.response_bytes for entry in counted) / requests,
        _mean_rtt(counted),
        min(least, default=None),
        sum(entry.retransmitted for entry in counted),
        changed,
        len(works) - len(counted),
    )


def _mean_rtt(works: List[_Work]) -> Optional[float]:
    """Weighted by round trips."""
    timed = [(entry.rtt_ms, entry.requests) for entry in works if entry.rtt_ms is not None]
    weight = sum(count for _rtt, count in timed)
    return sum(rtt * count for rtt, count in timed) / weight if timed else None


def _has_counters(connection: Connection) -> bool:
    return connection.data_sent is not None or connection.bytes_acked is not None


def _works(
    before: Dict[_End, Connection], after: Dict[_End, Connection], port: int
) -> Tuple[List[_Work], int]:
    """The work of the connections with requests, and the number of those that began or ended."""
    works: List[_Work] = []
    changed = len(set(before) ^ set(after))
    for ends in set(before) & set(after):
        work = _work(before[ends], after[ends], port)
        if work is None:
            # Another connection with the same ports.
            changed += 1
        elif work.requests:
            works.append(work)
    return works, changed


def _no_sizes(port: int, seconds: float, requests: int, large: int, changed: int) -> ValueError:
    text = f"port {port} had {requests} round trips in {seconds:.0f} s, {FEWEST} are needed"
    if changed:
        text += f"; {changed} connections began or ended meanwhile"
    if large:
        # There is traffic, and the counters do not show where a request ends.
        return ValueError(
            f"{text}; {large} connections have requests and responses of several segments: capture "
            "packets with tcpdump instead"
        )
    return TooFew(text)


def _by_ends(connections: List[Connection], port: int) -> Dict[_End, Connection]:
    """Connections by their ends. A connection within this host is listed once: its server end."""
    by_ends = {
        (connection.local, connection.local_port, connection.peer, connection.peer_port): connection
        for connection in connections
    }
    return {
        ends: connection
        for ends, connection in by_ends.items()
        if connection.local_port == port
        or (connection.peer_port == port and ends[2:] + ends[:2] not in by_ends)
    }


def _work(before: Connection, after: Connection, port: int) -> Optional[_Work]:
    """None where the counters are of two connections, the second made later."""
    counted = {
        name: (getattr(after, name) or 0) - (getattr(before, name) or 0)
        for name in ("bytes_acked", "bytes_received", "data_sent", "data_received", "retransmitted")
    }
    if min(counted.values()) < 0:
        return None
    # A segment that was sent again has no new payload.
    out = max(0, counted["data_sent"] - counted["retransmitted"])
    requests = min(out, counted["data_received"])
    # A message of several segments has a mean above half of the largest. Where one direction is
    # below, each of its segments is a whole message.
    limit = _PART_OF_MSS * (after.mss or 0)
    asked, answered = counted["bytes_acked"], counted["bytes_received"]
    if after.local_port == port:
        asked, answered = answered, asked
    return _Work(
        requests=requests,
        request_bytes=asked,
        response_bytes=answered,
        is_large=bool(limit)
        and counted["bytes_acked"] > limit * out
        and counted["bytes_received"] > limit * counted["data_received"],
        retransmitted=counted["retransmitted"],
        rtt_ms=after.rtt_ms,
        least_rtt_ms=after.least_rtt_ms,
    )


def figures(sizes: Sizes) -> Figures:
    """The sizes as a measurement keeps them: those of a captured traffic have the same names."""
    values: Dict[str, Any] = dict(sizes._asdict())
    return {TRAFFIC + name: value for name, value in values.items() if value is not None}
