# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that are slower than their peers under the same load, from measurements.

Measurements always differ a little. With few nodes, no node can be three deviations from the mean:
with n nodes, the maximum is (n-1)/sqrt(n). So each node is compared with the median of the others.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

#: Limits for the time of the same request: times as long as on the peers, and milliseconds more. No
#: source defines them; measured medians of the same host differ by less than 20%.
_SLOWER, _SLOWER_MS = 1.5, 0.05
#: Limit for the throughput of the same work, as a share of the peers'. Runs differ by 2 to 3%.
_LESS = 0.95

_TIME = " p50_ms"
_WORK = ("logical_reads", "read_requests", "logical_reads_a_core", "read_requests_a_core")


def is_pace(name: str) -> bool:
    """Whether a trait of this name is such a measurement."""
    return name.endswith(_TIME) or name in _WORK


def slower(name: str, by_host: Mapping[str, Any]) -> list[str]:
    """The nodes that are slower, of those that have a number."""
    known = {host: float(number) for host, number in by_host.items() if _is_number(number)}
    hosts = []
    for host, value in known.items():
        others = [number for other, number in known.items() if other != host]
        if others and _is_slower(name, value, statistics.median(others)):
            hosts.append(host)
    return hosts


def _is_slower(name: str, value: float, middle: float) -> bool:
    if name.endswith(_TIME):
        return value > _SLOWER * middle and value > middle + _SLOWER_MS
    return value < _LESS * middle


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
