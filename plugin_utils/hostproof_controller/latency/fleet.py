# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verdict on a fleet: each host is one observation, the ratio of its after to its before.

A few percent that no single host can show are seen over twenty. Hosts that were left unchanged
are the controls: what happened to them (time of day, a neighbour, the storage) is not the change's
doing, so the changed ones are compared with them where there are enough.
Hodges' and Lehmann's estimates with exact intervals: Wilcoxon's signed ranks without controls,
Mann and Whitney's with them (Hollander, Wolfe, Chicken, 3.2, 3.3, 4.2).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from .verdict import (
    ALPHA,
    FASTER,
    INCONCLUSIVE,
    SLOWER,
    UNCHANGED,
    Interval,
    fewest_beside,
    median,
    ratio_interval,
    tail_rank,
)

#: Fewer unchanged hosts than this state nothing for sure, so they are not subtracted.
ENOUGH_CONTROLS = 4


class FleetComparison(NamedTuple):
    """``controls`` is the number of unchanged hosts in the comparison; 0 if there are too few."""

    verdict: str
    interval: Interval
    margin: float
    hosts: int
    controls: int


def compare_fleet(
    changed: Sequence[float], unchanged: Sequence[float], margin: float, figures: int = 1
) -> FleetComparison:
    """Compare the ratios after / before of changed and unchanged hosts; all are above 0.

    Worse or better: the interval excludes "the same" and is not within the margin. With one value
    per host, this is already rare by chance. ``figures`` is the number of figures that share the
    error, so that at most one in twenty batches has a figure that is falsely reported as slower.
    ValueError without a changed host.
    """
    alpha = _error_of(figures)
    controls = list(unchanged) if len(unchanged) >= ENOUGH_CONTROLS else []
    if controls:
        # Hosts have no order in time: nothing to widen for neighbours.
        interval = ratio_interval(controls, changed, alpha, ordered=False)
    else:
        interval = signed_rank_interval(changed, alpha)
    return FleetComparison(_decide(interval, margin), interval, margin, len(changed), len(controls))


def signed_rank_interval(ratios: Sequence[float], alpha: float = ALPHA) -> Interval:
    """The median of all pairs' geometric means, and the interval that Wilcoxon's ranks give."""
    if not ratios or min(ratios) <= 0:
        raise ValueError("a fleet needs at least one ratio, and all above 0")
    logs = [math.log(ratio) for ratio in ratios]
    pairs = sorted(
        (first + second) / 2.0 for number, first in enumerate(logs) for second in logs[number:]
    )
    middle = median(pairs)
    rank = tail_rank(_signed_ranks(len(logs)), alpha)
    if rank == 0:
        return Interval(math.exp(middle), 0.0, math.inf)
    return Interval(math.exp(middle), math.exp(pairs[rank - 1]), math.exp(pairs[-rank]))


def _decide(interval: Interval, margin: float) -> str:
    if 1.0 / (1.0 + margin) < interval.low and interval.high < 1.0 + margin:
        return UNCHANGED
    if interval.low > 1.0:
        return SLOWER
    if interval.high < 1.0:
        return FASTER
    return INCONCLUSIVE


def _signed_ranks(hosts: int) -> list[int]:
    """For each sum, the number of subsets of the ranks 1 to ``hosts`` that have it."""
    counts = [1] + [0] * (hosts * (hosts + 1) // 2)
    for rank in range(1, hosts + 1):
        for total in range(len(counts) - 1, rank - 1, -1):
            counts[total] += counts[total - rank]
    return counts


def _error_of(figures: int) -> float:
    """Share of the error per figure. Only "slower" holds a change, so two figures share one."""
    return ALPHA / max(1.0, figures / 2.0)


def fewest_hosts(controls: int, figures: int) -> int:
    """Minimum number of changed hosts for an interval of each figure, with ``controls`` unchanged
    hosts if these are enough."""
    alpha = _error_of(figures)
    if controls >= ENOUGH_CONTROLS:
        return fewest_beside(controls, alpha)
    hosts = 1
    while tail_rank(_signed_ranks(hosts), alpha) == 0:
        hosts += 1
    return hosts
