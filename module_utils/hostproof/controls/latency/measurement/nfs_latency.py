# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Latency of reads and writes of NFS mounts, from the kernel's counters, without any request.

``server`` is the time from sending a request to its reply (RTT). ``user`` is the time from the
start of a request to its end (execute). ``host`` is the difference: the wait for a slot or for
memory, and retransmissions. The kernel counts only means, in whole milliseconds per request.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ....collect.measured import Window
from ....probes.nfs.nfs_traffic import MountTraffic, OpRates
from .disk_counters import FEWEST
from .median import spread


class Interval(NamedTuple):
    """The counters of the mounts in ``seconds``, by path."""

    seconds: float
    mounts: Dict[str, MountTraffic]


def windows(
    paths: Sequence[str], intervals: Sequence[Interval], started: Optional[float]
) -> Tuple[List[Window], List[str]]:
    """Windows of each mount, operation and layer, and what is unknown.

    The subject is "/u02 READ". ``p50`` is the median of the intervals' means, ``minimum`` and
    ``maximum`` the least and the largest; they are None where no interval had enough requests.
    """
    result: List[Window] = []
    remarks: List[str] = []
    for path in paths:
        seen = [
            interval
            for interval in intervals
            if path in interval.mounts and not interval.mounts[path].remounted
        ]
        if not seen:
            remarks.append(f"{path}: is not mounted, or was mounted again meanwhile")
            continue
        for operation in ("READ", "WRITE"):
            rates = [
                (interval.seconds, interval.mounts[path].ops[operation])
                for interval in seen
                if operation in interval.mounts[path].ops
            ]
            if rates:
                result += _windows(path, operation, rates, seen[-1].mounts[path], started)
    return result, remarks


def _windows(
    path: str,
    operation: str,
    rates: List[Tuple[float, OpRates]],
    mount: MountTraffic,
    started: Optional[float],
) -> List[Window]:
    conditions = _conditions(operation, rates, mount)
    seconds = sum(length for length, _ in rates)
    subject = f"{path} {operation}"
    return [
        _window(subject, layer, [rate for _, rate in rates], seconds, started, conditions)
        for layer in ("server", "user", "host")
    ]


def _conditions(
    operation: str, rates: List[Tuple[float, OpRates]], mount: MountTraffic
) -> Dict[str, Any]:
    seconds = sum(length for length, _ in rates)
    total = sum(rate.ops for _, rate in rates)
    moved = [(length, rate.mib_per_second, rate.ops) for length, rate in rates]
    told_bytes = sum((speed or 0.0) * length for length, speed, _ in moved)
    told_requests = sum(ops for _, speed, ops in moved if speed is not None)
    return {
        "mode": "passive",
        "operation": operation,
        "source": mount.source,
        "version": mount.version,
        "proto": "/".join(mount.protos) or None,
        "connections": mount.connections,
        "intervals": len(rates),
        "interval_s": round(seconds / len(rates), 3),
        "per_second": round(total / seconds, 2),
        "request_bytes": int(told_bytes * 1048576 / told_requests) if told_requests else None,
        "retransmissions": sum(rate.retransmissions for _, rate in rates),
        # How exact the mean of the median interval can be.
        "resolution_us": round(1000.0 * len(rates) / total, 1) if total else None,
    }


def _window(
    subject: str,
    layer: str,
    rates: List[OpRates],
    seconds: float,
    started: Optional[float],
    conditions: Dict[str, Any],
) -> Window:
    means_told = [(rate.ops, _microseconds(rate, layer)) for rate in rates if rate.ops >= FEWEST]
    pairs = [(ops, mean) for ops, mean in means_told if mean is not None]
    weights = sum(ops for ops, _ in pairs)
    of_means = spread(sorted(mean for _, mean in pairs))
    return Window(
        probe="nfs",
        subject=subject,
        layer=layer,
        size=None,
        started=started,
        seconds=seconds,
        n=sum(rate.ops for rate in rates),
        minimum=of_means.minimum,
        mean=sum(ops * mean for ops, mean in pairs) / weights if pairs else None,
        p50=of_means.median,
        p90=None,
        p99=None,
        maximum=of_means.maximum,
        bins=None,
        conditions=dict(conditions, intervals_told=len(pairs)),
    )


def _microseconds(rates: OpRates, layer: str) -> Optional[float]:
    """None where the counters ran over: the kernel does not tell."""
    server, user = rates.rtt_ms, rates.execute_ms
    if layer == "server":
        return None if server is None else 1000.0 * server
    if user is None:
        return None
    if layer == "user":
        return 1000.0 * user
    return None if server is None else 1000.0 * max(0.0, user - server)
