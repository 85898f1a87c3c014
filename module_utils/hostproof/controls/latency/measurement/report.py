# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report that people have tells of latency: windows, figures, and what to mind.

A report counts what happened between two snapshots, so each of its rows is one window, mostly
with a mean alone. Comparing needs the reports of several intervals of each side.
"""

from typing import Any, Dict, List, NamedTuple, Optional

from ....collect.measured import Window

#: The event that is no I/O latency from 12.2 on in a multitenant database.
LOG_WRITE = "log file parallel write"


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
