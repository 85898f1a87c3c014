# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the NFS mounts of a Linux host did in the seconds between two readings.

Only differences are told: a counter since the mount was made says nothing about now.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known
from ...collect.host import Host, Sample
from ...errors import Unanswered
from ...parsers.net import proc_net_snmp, socket_info
from ...parsers.nfs import mountstats, proc_net_rpc_nfs
from ...parsers.number import clipped
from . import nfs_mounted

SAMPLE = "nfs_traffic"
EVIDENCE = "sample:" + SAMPLE
MOUNTSTATS = "/proc/self/mountstats"
RPC = "/proc/net/rpc/nfs"
SNMP = "/proc/net/snmp"
NETSTAT = "/proc/net/netstat"

_PORT = 2049
_MIB = 1048576.0


class OpRates(NamedTuple):
    """Statistics of one operation, or of all, in the window.

    The averages per request (milliseconds) are None if there was no request. ``queue_ms`` is the
    time before the last transmission, so it includes the wait before a retransmission.
    ``errors`` is None on kernels that do not count them. ``mib_per_second`` is both directions.
    ``untold`` lists fields that are None because their counter went backwards or fell below 0.
    """

    ops: int
    per_second: float
    retransmissions: int
    errors: Optional[int]
    queue_ms: Optional[float]
    rtt_ms: Optional[float]
    execute_ms: Optional[float]
    mib_per_second: Optional[float]
    untold: Tuple[str, ...] = ()


class MountTraffic(NamedTuple):
    """Statistics of one mount. If ``remounted``, only path, source and age are known.

    ``server`` is the address that the kernel uses. ``transports`` are the client ports of its
    connections ("tcp:877"). Mounts with the same ports share these connections, and the counters of
    the transport (sends, receives, bad_xids, reconnects, backlog) are then those of all of them.
    ``ops`` contains READ and WRITE; ``all_ops``, ``all_retransmissions`` and ``all_timeouts`` are
    sums over every operation. ``backlog`` is the average number of requests that waited for a slot
    at a send, None if its counter fell below 0. ``max_slots`` is the maximum that one connection
    used. ``untold`` are operations whose requests, transmissions or timeouts are unknown: they are
    missing from the sums.
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
    backlog: Optional[float]
    max_slots: Optional[int]
    age: int
    remounted: bool
    lease_time: Optional[int]
    lease_expired: Optional[int]
    untold: Tuple[str, ...] = ()


class RpcCalls(NamedTuple):
    """Counters of /proc/net/rpc/nfs for the whole host, including unfinished calls."""

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
    """The TCP connections to one server: round trip (ms) and segments.

    ``data_received`` are those with data, of which some arrived ``out_of_order``.
    ``connecting`` are those that the server had not accepted at the end.
    ``rtt_ms`` is the average of the slowest connection, ``least_rtt_ms`` the least of all.
    Only those of the kernel's own NFS client: Direct NFS connects to the same servers. None
    where ss or the kernel does not tell.
    """

    connections: int
    rtt_ms: Optional[float]
    least_rtt_ms: Optional[float]
    segments_sent: Optional[int]
    segments_retransmitted: int
    data_received: Optional[int]
    out_of_order: Optional[int]
    connecting: int = 0


class Traffic(NamedTuple):
    """Everything, over ``seconds``. ``connections`` are by the address of the server."""

    seconds: float
    mounts: Dict[str, MountTraffic]
    calls: Answer[RpcCalls]
    tcp: Answer[TcpDelta]
    connections: Answer[Dict[str, ConnectionDelta]]
    evidence: Tuple[str, ...]


def read_traffic(host: Host, seconds: float) -> Traffic:
    """Read everything twice, ``seconds`` apart; raises if the mounts' own counters are missing."""
    mounts = nfs_mounted.read_mounted(host, nfs_mounted.LINUX)
    command = _ss(mounts)
    sample = host.sample(SAMPLE, [MOUNTSTATS, RPC, SNMP, NETSTAT], [command], seconds)
    first, second = [mountstats.parse(text) for text in _both(sample, "file:" + MOUNTSTATS)]
    servers = {mount.path: _option(mount.options, "addr") for mount in mounts}
    return Traffic(
        seconds=sample.seconds,
        mounts=between(first, second, sample.seconds, servers),
        calls=attempt(_calls, sample),
        tcp=attempt(_tcp, sample),
        connections=attempt(_connections, sample, "command:" + " ".join(command)),
        evidence=(EVIDENCE,),
    )


def between(
    first: Dict[str, mountstats.MountStats],
    second: Dict[str, mountstats.MountStats],
    seconds: float,
    servers: Dict[str, Optional[str]],
) -> Dict[str, MountTraffic]:
    # noqa: E501
    """Statistics of each mount between two readings, by path; ``servers`` are addresses by path."""
    return {
        path: _mount(first.get(path), after, servers.get(path), seconds)
        for path, after in second.items()
    }


def _ss(mounts: List[nfs_mounted.Mounted]) -> List[str]:
    """The command that shows the connections to the ports that the mounts use, and no others."""
    named = [_option(mount.options, "port") for mount in mounts]
    ports = sorted({_PORT} | {clipped(port) for port in named if port and port.isdecimal()} - {0})
    words = ["ss", "-tine"]
    for port in ports:
        words += ["or"] if len(words) > 2 else []
        words += ["dport", "=", f":{port}"]
    return words


def _option(options: str, name: str) -> Optional[str]:
    for word in options.split(","):
        if word.startswith(name + "="):
            return word[len(name) + 1 :]
    return None


def _both(sample: Sample, source: str) -> Tuple[str, str]:
    if source in sample.errors:
        raise Unanswered(EVIDENCE, sample.errors[source])
    return sample.first[source], sample.second[source]


def _mount(
    before: Optional[mountstats.MountStats],
    after: mountstats.MountStats,
    server: Optional[str],
    seconds: float,
) -> MountTraffic:
    """The difference of two readings of one mount; none where they are not of the same mount."""
    counted = None if before is None else _difference(before, after, seconds)
    transports = after.transports
    empty = MountTraffic(
        path=after.path,
        source=after.source,
        server=server and socket_info.plain_address(server),
        version=_option(after.options, "vers") or after.version,
        protos=tuple(sorted({transport.proto for transport in transports})),
        transports=tuple(f"{transport.proto}:{transport.port}" for transport in transports),
        connections=len(transports),
        ops={},
        all_ops=0,
        all_retransmissions=0,
        all_timeouts=0,
        sends=0,
        receives=0,
        bad_xids=0,
        reconnects=0,
        backlog=0.0,
        max_slots=max(
            (transport.max_slots for transport in transports if transport.max_slots is not None),
            default=None,
        ),
        age=after.age,
        remounted=True,
        lease_time=after.lease_time,
        lease_expired=after.lease_expired,
    )
    return empty if counted is None else empty._replace(remounted=False, **counted)


def _difference(
    before: mountstats.MountStats, after: mountstats.MountStats, seconds: float
) -> Optional[Dict[str, Any]]:
    """Differences between two readings, by field of MountTraffic.

    None if the mount or its connections were replaced, or (on a 32-bit machine) a counter
    overflowed."""
    # Both ages are rounded down to whole seconds.
    if after.age - before.age < int(seconds) - 1:
        return None
    if len(before.transports) != len(after.transports):
        return None
    pairs = list(zip(before.transports, after.transports))
    sums = {
        name: sum(getattr(new, name) - getattr(old, name) for old, new in pairs)
        for name in ("sends", "receives", "bad_xids", "connects")
    }
    counts, untold = _counted_ops(before, after)
    if counts is None or min(sums.values()) < 0:
        return None
    return {
        "ops": {
            name: _op_rates(before.named.get(name), operation, seconds)
            for name, operation in after.named.items()
            if name not in untold
        },
        "all_ops": sum(ops for ops, _, _ in counts),
        # Each on its own: requests that ended before they were sent, as those of a process that
        # was killed, are not reason to believe that another operation sent nothing twice.
        "all_retransmissions": sum(max(0, sent - ops) for ops, sent, _ in counts),
        "all_timeouts": sum(timeouts for _, _, timeouts in counts),
        "sends": sums["sends"],
        "receives": sums["receives"],
        "bad_xids": sums["bad_xids"],
        "reconnects": sums["connects"],
        "backlog": _backlog(pairs, sums["sends"]),
        "untold": untold,
    }


def _counted_ops(
    before: mountstats.MountStats, after: mountstats.MountStats
) -> Tuple[Optional[List[Tuple[int, ...]]], Tuple[str, ...]]:
    # noqa: E501
    """(Requests, transmissions, timeouts) of each operation in the window, and the operations whose
    counters are unknown.

    None in place of the list if a counter of requests decreased: the mount was replaced, or (on a
    32-bit machine) the counter overflowed.
    """
    counts: List[Tuple[int, ...]] = []
    untold: List[str] = []
    for name, new in sorted(after.counts.items()):
        old = before.counts.get(name, (0, 0, 0))
        grown = tuple(count - other for count, other in zip(new, old))
        if not all(map(mountstats.is_told, old + new)):
            untold.append(name)
        elif grown[0] < 0:
            return None, ()
        elif min(grown) < 0:
            untold.append(name)
        else:
            counts.append(grown)
    return counts, tuple(untold)


def _backlog(
    pairs: List[Tuple[mountstats.Transport, mountstats.Transport]], sends: int
) -> Optional[float]:
    """The number of requests waited for a slot, on average over the sends."""
    values = [value for pair in pairs for value in (pair[0].backlog, pair[1].backlog)]
    total = sum(new.backlog - old.backlog for old, new in pairs)
    if total < 0 or not all(map(mountstats.is_told, values)):
        return None
    return total / float(sends) if sends else 0.0


#: Counters of an operation that was never used: its line is not recorded.
_UNUSED = mountstats.Operation(0, 0, 0, 0, 0, 0, 0, 0, 0)
_TIMES = ("queue_ms", "rtt_ms", "execute_ms")
_BYTES = ("bytes_sent", "bytes_received")


def _op_rates(
    before: Optional[mountstats.Operation], after: mountstats.Operation, seconds: float
) -> OpRates:
    """The rates of an operation whose requests and transmissions is known."""
    old = before or _UNUSED
    ops = after.ops - old.ops
    grown = {name: _grown(old, after, name) for name in _TIMES + _BYTES}
    errors = None
    if after.errors is not None and old.errors is not None:
        errors = _grown(old, after, "errors")
    moved = [grown[name] for name in _BYTES]
    averages = {name: _average(grown[name], ops) for name in _TIMES}
    return OpRates(
        ops=ops,
        per_second=ops / seconds,
        retransmissions=max(0, after.transmissions - old.transmissions - ops),
        errors=errors,
        queue_ms=averages["queue_ms"],
        rtt_ms=averages["rtt_ms"],
        execute_ms=averages["execute_ms"],
        mib_per_second=None
        if None in moved
        else sum(number or 0 for number in moved) / _MIB / seconds,
        untold=tuple(name for name in _TIMES + _BYTES if grown[name] is None),
    )


def _average(total: Optional[int], ops: int) -> Optional[float]:
    return None if total is None or not ops else total / float(ops)


def _grown(old: mountstats.Operation, new: mountstats.Operation, name: str) -> Optional[int]:
    """The increase of a counter; None if it went backwards or fell below 0."""
    first, second = getattr(old, name), getattr(new, name)
    if not mountstats.is_told(first) or not mountstats.is_told(second) or second < first:
        return None
    return int(second - first)


def _calls(sample: Sample) -> RpcCalls:
    first, second = [proc_net_rpc_nfs.parse(text) for text in _both(sample, "file:" + RPC)]
    return RpcCalls(*proc_net_rpc_nfs.difference(first, second))


def _tcp(sample: Sample) -> TcpDelta:
    snmp = [proc_net_snmp.parse(text) for text in _both(sample, "file:" + SNMP)]
    netstat = attempt(
        lambda: [proc_net_snmp.parse(text) for text in _both(sample, "file:" + NETSTAT)]
    )
    sent, again, received = [
        _counted(snmp, "Tcp", name) for name in ("OutSegs", "RetransSegs", "InSegs")
    ]
    if sent is None or again is None or received is None:
        raise Unanswered(EVIDENCE, f"{SNMP} does not count TCP segments")
    return TcpDelta(
        segments_sent=sent,
        segments_retransmitted=again,
        segments_received=received,
        segments_out_of_order=_counted(if_known(netstat, []), "TcpExt", "TCPOFOQueue"),
        reassembly_failures=_counted(snmp, "Ip", "ReasmFails"),
    )


def _counted(tables: List[Dict[str, Dict[str, int]]], group: str, name: str) -> Optional[int]:
    """The difference of a counter; None where it is not in both, or ran over in between."""
    values = [table.get(group, {}).get(name) for table in tables]
    if len(values) != 2 or values[0] is None or values[1] is None or values[1] < values[0]:
        return None
    return values[1] - values[0]


def _connections(sample: Sample, source: str) -> Dict[str, ConnectionDelta]:
    """The kernel's connections by server; those of Direct NFS belong to the database's user."""
    first, second = [socket_info.parse(text) for text in _both(sample, source)]
    before = {
        (connection.local, connection.local_port, connection.peer, connection.peer_port): connection
        for connection in first
    }
    servers: Dict[str, List[ConnectionDelta]] = {}
    for current in second:
        if current.uid == 0:
            old = before.get((current.local, current.local_port, current.peer, current.peer_port))
            servers.setdefault(current.peer, []).append(_connection(old, current))
    return {server: _together(deltas) for server, deltas in servers.items()}


def _connection(
    before: Optional[socket_info.Connection], after: socket_info.Connection
) -> ConnectionDelta:
    """Counters of one connection. A new connection, also one that reuses the port, starts at 0."""
    counters = ("segments_sent", "retransmitted", "data_received", "out_of_order")
    new = [getattr(after, name) for name in counters]
    old = [getattr(before, name) for name in counters] if before else [0, 0, 0, 0]
    pairs = [(value, other) for value, other in zip(new, old) if value is not None]
    if any(other is not None and value < other for value, other in pairs):
        old = [0, 0, 0, 0]
    sent, again, received, disordered = [
        None if value is None else value - (other or 0) for value, other in zip(new, old)
    ]
    return ConnectionDelta(
        1,
        after.rtt_ms,
        after.least_rtt_ms,
        sent,
        again or 0,
        received,
        disordered,
        int(after.state == "SYN-SENT"),
    )


def _together(deltas: List[ConnectionDelta]) -> ConnectionDelta:
    return ConnectionDelta(
        connections=len(deltas),
        rtt_ms=max((delta.rtt_ms for delta in deltas if delta.rtt_ms is not None), default=None),
        least_rtt_ms=min(
            (delta.least_rtt_ms for delta in deltas if delta.least_rtt_ms is not None), default=None
        ),
        segments_sent=_sum([delta.segments_sent for delta in deltas]),
        segments_retransmitted=sum(delta.segments_retransmitted for delta in deltas),
        data_received=_sum([delta.data_received for delta in deltas]),
        out_of_order=_sum([delta.out_of_order for delta in deltas]),
        connecting=sum(delta.connecting for delta in deltas),
    )


def _sum(values: List[Optional[int]]) -> Optional[int]:
    numbers = [value for value in values if value is not None]
    return sum(numbers) if len(numbers) == len(values) else None
