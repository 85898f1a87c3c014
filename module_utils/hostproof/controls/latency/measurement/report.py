# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The content of a report about latency: windows, figures and remarks.

A report covers the time between two snapshots. Each row is one window, in most cases with only a
mean. A comparison needs the reports of several intervals before and after the change.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ....collect.measured import Window

#: The event that is no I/O latency since 12.2 in a multitenant database.
LOG_WRITE = "log file parallel write"


#: Kinds of reports that have wait events. The others are outputs of tools.
DATABASE_KINDS = ("awr", "awr_global", "statspack")


class Report(NamedTuple):
    """``kind`` is one of reports.KINDS. ``figures``: what else it counts, as JSON."""

    kind: str
    windows: List[Window]
    figures: Dict[str, Any]
    remarks: List[str]


def window(
    probe: str,
    subject: str,
    layer: str,
    n: int,
    mean: Optional[float],
    conditions: Dict[str, Any],
    size: Optional[int] = None,
    seconds: Optional[float] = None,
    bins: Optional[Dict[str, Any]] = None,
    minimum: Optional[float] = None,
    maximum: Optional[float] = None,
    p50: Optional[float] = None,
    p90: Optional[float] = None,
    p99: Optional[float] = None,
) -> Window:
    """A window of which most is not told. Reports have a clock without a zone: no ``started``.

    ``n`` is 0 where the report does not count; ``conditions`` without a value are left out.
    """
    return Window(
        probe=probe,
        subject=subject,
        layer=layer,
        size=size,
        started=None,
        seconds=seconds,
        n=n,
        minimum=minimum,
        mean=mean,
        p50=p50,
        p90=p90,
        p99=p99,
        maximum=maximum,
        bins=bins,
        conditions={name: value for name, value in conditions.items() if value is not None},
    )


def octaves(
    counts: Dict[int, int], wide: Optional[Dict[int, int]] = None, open_at: Optional[int] = None
) -> Optional[Dict[str, Any]]:
    """Bins of a window: k to what took less than 2**k us and not less than half of it.

    ``wide``: for a k that holds more than its octave, the lowest octave it holds (0: all below);
    ``open``: the k whose durations have no upper end.
    """
    if not counts:
        return None
    bins: Dict[str, Any] = {"log2": {str(k): counts[k] for k in sorted(counts)}}
    if wide:
        bins["wide"] = {str(k): wide[k] for k in sorted(wide)}
    if open_at is not None:
        bins["open"] = open_at
    return bins


def octave_of(window: Window, share: float) -> Optional[Tuple[float, Optional[float]]]:
    """Between which microseconds a quantile lies, of a window that counts by octaves alone.

    None for another window. The upper end is None where the durations have none.
    """
    if window.bins is None or "log2" not in window.bins:
        return None
    counts = window.log2_bins()
    rank = share * sum(counts.values())
    seen = 0
    for k, number in counts.items():
        seen += number
        if number and seen >= rank:
            lowest = window.bins.get("wide", {}).get(str(k), k)
            low = 0.0 if lowest == 0 else 2.0 ** (lowest - 1)
            return low, None if window.bins.get("open") == k else 2.0**k
    return None


def octaves_above(window: Window, limit_us: float) -> Tuple[int, int]:
    """The number that certainly took that long and the number that possibly did."""
    bins: Dict[str, Any] = window.bins or {}
    certain = possible = 0
    for k, number in window.log2_bins().items():
        lowest = bins.get("wide", {}).get(str(k), k)
        certain += number if lowest and 2.0 ** (lowest - 1) >= limit_us else 0
        possible += number if bins.get("open") == k or 2.0**k > limit_us else 0
    return certain, possible
