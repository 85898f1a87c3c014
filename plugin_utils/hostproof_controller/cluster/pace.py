# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nodes were measured to do under the same load: which of them is slower than its peers.

No two measurements are equal, and of a few nodes none is three deviations from their mean: with n
of them the furthest is (n-1)/sqrt(n) away. So each is held against the middle of the others.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

#: Of the same request: this number of times as long as the others, and this number of milliseconds
#: more. Our own; medians of the same host were measured to differ by less than a fifth.
_SLOWER, _SLOWER_MS = 1.5, 0.05
#: Of the same work a second: so much less. Runs of the same differ by 2 to 3%.
_LESS = 0.95

_TIME = " p50_ms"
_WORK = ("logical_reads", "read_requests", "logical_reads_a_core", "read_requests_a_core")


def is_pace(name: str) -> bool:
    """Whether a trait of this name is such a measurement."""
    return name.endswith(_TIME) or name in _WORK


def slower(name: str, by_host: Mapping[str, Any]) -> list[str]:
    """The nodes that are slower, of those that have a number."""
    known = {host: float(one) for host, one in by_host.items() if _is_number(one)}
    found = []
    for host, value in known.items():
        others = [one for other, one in known.items() if other != host]
        if others and _is_slower(name, value, statistics.median(others)):
            found.append(host)
    return found


def _is_slower(name: str, value: float, middle: float) -> bool:
    if name.endswith(_TIME):
        return value > _SLOWER * middle and value > middle + _SLOWER_MS
    return value < _LESS * middle


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
