# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the NFS mounts of a Linux host did in the seconds between two readings.

Only differences are told: a counter since the mount was made says nothing about now.
"""

from typing import Dict, NamedTuple, Optional, Tuple

from ..answer import Answer


class OpRates(NamedTuple):
    """What happened to one operation, or to all, in the window.

    The averages per request (milliseconds) are None where there was none. ``queue_ms`` is the
    time before the last transmission, and so holds the wait before a retransmission too.
    ``errors`` is None on kernels that do not count them. ``mib_per_second`` is both ways.
    """

    ops: int
    per_second: float
    retransmissions: int
    timeouts: int
    errors: Optional[int]
    queue_ms: Optional[float]
    rtt_ms: Optional[float]
    execute_ms: Optional[float]
    mib_per_second: float


class MountTraffic(NamedTuple):
    """What one mount did. Where ``remounted``, nothing but path, source and age can be told.

    ``server`` is the address that the kernel uses. ``transports`` name the client's ends of its
    connections ("tcp:877"): mounts with the same ones share them, and the counts of the
    transport (sends, receives, bad_xids, reconnects, backlog) are then those of all of them.
    ``ops`` holds READ and WRITE; ``all_ops``, ``all_retransmissions`` and ``all_timeouts`` are
    sums over every operation. ``backlog`` is how many requests waited for a slot, on average
    over the sends; ``max_slots`` the most that one connection ever used.
    """

    path: str
    source: str
    server: Optional[str]
    version: str
    protos: Tuple[str, ...]
    transports: Tuple[str, ...]
    connections: int
    ops: Dict[str, OpRates]
    all_ops: int
    all_retransmissions: int
    all_timeouts: int
    sends: int
    receives: int
    bad_xids: int
    reconnects: int
    backlog: float
    max_slots: Optional[int]
    age: int
    remounted: bool
    lease_time: Optional[int]
    lease_expired: Optional[int]


class RpcCalls(NamedTuple):
    """What /proc/net/rpc/nfs counted for the whole host, finished or not."""

    calls: int
    retransmissions: int


class TcpDelta(NamedTuple):
    """What the whole host's TCP and IP counted. None where the kernel does not tell."""

    segments_sent: int
    segments_retransmitted: int
    segments_received: int
    segments_out_of_order: Optional[int]
    reassembly_failures: Optional[int]


class ConnectionDelta(NamedTuple):
    """The TCP connections to one server: round trip (ms, the slowest) and segments.

    ``out_of_order`` is None where ss or the kernel does not tell.
    """

    connections: int
    rtt_ms: float
    segments_sent: int
    segments_retransmitted: int
    segments_received: int
    out_of_order: Optional[int]


class Traffic(NamedTuple):
    """Everything, over ``seconds``. ``connections`` are by the address of the server."""

    seconds: float
    mounts: Dict[str, MountTraffic]
    calls: Answer[RpcCalls]
    tcp: Answer[TcpDelta]
    connections: Answer[Dict[str, ConnectionDelta]]
    evidence: Tuple[str, ...]
