# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Did it get slower? Four answers, from windows before and after a change.

The unit is the window, never the sample: within a window thousands of samples share the same
moment of the machine, so a test on samples calls nearly every pair of windows different. The
estimate is Hodges' and Lehmann's ratio (the median of all after / before), its interval the exact
one of the Mann-Whitney distribution, widened for windows that follow their neighbours (Hodges and
Lehmann 1963; Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 4.2 and 4.3).

"slower" and "faster" require the whole interval beyond a margin, and "unchanged" the whole
interval within it. All other results are inconclusive, with the number of windows required.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

SLOWER = "slower"
FASTER = "faster"
UNCHANGED = "unchanged"
INCONCLUSIVE = "inconclusive"

#: Two-sided: a 95% interval.
ALPHA = 0.05

#: The share that does not matter. The tail of a distribution is less steady than its middle.
MARGINS = {"p50": 0.05, "p90": 0.10, "p99": 0.10, "mean": 0.10}

#: Beyond that many windows a verdict is out of reach, and no number of them is named.
_MOST_WINDOWS = 500

#: Correlation of neighbours beyond this is a drift that no widening repairs.
_MOST_CORRELATION = 0.9


class Interval(NamedTuple):
    """A ratio after / before and its confidence interval; infinite where the data bound nothing."""

    ratio: float
    low: float
    high: float


class Comparison(NamedTuple):
    """``needed`` estimates the windows per side for a decision, None if no number is enough.

    ``suspect``: inconclusive, but the interval excludes "the same" and the ratio is beyond the
    margin. ``stable`` is None if the baseline is too short for two halves.
    """

    verdict: str
    before: float
    after: float
    interval: Interval
    margin: float
    needed: int | None
    suspect: bool
    stable: bool | None


def compare(
    before: Sequence[float], after: Sequence[float], margin: float, comparisons: int = 1
) -> Comparison:
    """One figure of each window before and after, in order of time, all above 0.

    ``margin`` is a share (0.05). ``comparisons`` is the number of verdicts that share the error
    (Bonferroni). ValueError without a window, or for a figure that is not above 0.
    """
    alpha = ALPHA / max(1, comparisons)
    interval = ratio_interval(before, after, alpha)
    stable = is_stable(before, margin)
    decided = _decide(interval, margin)
    verdict = INCONCLUSIVE if stable is False else decided
    undecided = decided == INCONCLUSIVE
    windows = min(len(before), len(after))
    return Comparison(
        verdict=verdict,
        before=median(before),
        after=median(after),
        interval=interval,
        margin=margin,
        needed=_needed(interval, margin, windows, alpha) if undecided else None,
        suspect=verdict == INCONCLUSIVE and _excludes_same(interval, margin),
        stable=stable,
    )


def is_stable(before: Sequence[float], margin: float) -> bool | None:
    """Whether a baseline's second half is as fast as its first; None if it is too short."""
    half = len(before) // 2
    if half < fewest_windows(ALPHA):
        return None
    interval = ratio_interval(before[:half], before[-half:], ALPHA)
    return _decide(interval, margin) not in (SLOWER, FASTER)


def ratio_interval(
    before: Sequence[float], after: Sequence[float], alpha: float, ordered: bool = True
) -> Interval:
    """Hodges' and Lehmann's ratio and its interval, widened for neighbours if there is an order."""
    for figures in (before, after):
        if not figures or min(figures) <= 0:
            raise ValueError("a comparison needs figures above 0 on both sides")
    ratios = sorted(math.log(late / early) for early in before for late in after)
    middle = median(ratios)
    rank = _rank(len(before), len(after), alpha)
    if rank == 0:
        return Interval(math.exp(middle), 0.0, math.inf)
    width = _widening(before, after) if ordered else 1.0
    low = middle + (ratios[rank - 1] - middle) * width
    high = middle + (ratios[-rank] - middle) * width
    return Interval(math.exp(middle), math.exp(low), math.exp(high))


def median(figures: Sequence[float]) -> float:
    """The middle one, or the mean of the two middle ones."""
    ordered = sorted(figures)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2.0


def _decide(interval: Interval, margin: float) -> str:
    upper, lower = 1.0 + margin, 1.0 / (1.0 + margin)
    if interval.low > upper:
        return SLOWER
    if interval.high < lower:
        return FASTER
    if lower < interval.low and interval.high < upper:
        return UNCHANGED
    return INCONCLUSIVE


def _excludes_same(interval: Interval, margin: float) -> bool:
    slower = interval.low > 1.0 and interval.ratio >= 1.0 + margin
    faster = interval.high < 1.0 and interval.ratio <= 1.0 / (1.0 + margin)
    return slower or faster


def _needed(interval: Interval, margin: float, windows: int, alpha: float) -> int | None:
    """The interval shrinks with the root of the windows; until it leaves the nearest bound out."""
    if interval.low <= 0.0 or math.isinf(interval.high):
        return fewest_windows(alpha)
    bound, ratio = math.log(1.0 + margin), math.log(interval.ratio)
    distance = abs(abs(ratio) - bound)
    if distance == 0.0:
        return None
    half = max(ratio - math.log(interval.low), math.log(interval.high) - ratio)
    needed = math.ceil(windows * (half / distance) ** 2)
    return max(windows + 1, needed) if needed <= _MOST_WINDOWS else None


def fewest_windows(alpha: float) -> int:
    """Windows a side below which no interval of that error is bounded."""
    windows = 1
    while _rank(windows, windows, alpha) == 0:
        windows += 1
    return windows


def fewest_beside(others: int, alpha: float) -> int:
    """As fewest_windows, for one side alone where the other one has this number of."""
    number = 1
    while _rank(number, others, alpha) == 0:
        number += 1
    return number


def _widening(before: Sequence[float], after: Sequence[float]) -> float:
    """sqrt((1 + r) / (1 - r)) of the neighbours' correlation r.

    A series of n windows shows it too low by about (1 + 4 r) / n, for its own mean moves with it
    (Marriott and Pope, Kendall 1954). A negative one narrows nothing.
    """
    correlations = [_correlation(figures) for figures in (before, after) if len(figures) > 2]
    mean = sum(correlations) / len(correlations) if correlations else 0.0
    mean += (1.0 + 4.0 * max(mean, 0.0)) / min(len(before), len(after)) if correlations else 0.0
    rho = min(max(mean, 0.0), _MOST_CORRELATION)
    return math.sqrt((1.0 + rho) / (1.0 - rho))


def _correlation(figures: Sequence[float]) -> float:
    logs = [math.log(figure) for figure in figures]
    mean = sum(logs) / len(logs)
    spread = sum((value - mean) ** 2 for value in logs)
    if spread == 0.0:
        return 0.0
    pairs = zip(logs, logs[1:], strict=False)
    return sum((first - mean) * (second - mean) for first, second in pairs) / spread


_RANKS: dict[tuple[int, int, float], int] = {}


def _rank(first: int, second: int, alpha: float) -> int:
    """Which smallest (and largest) of the sorted ratios bounds the interval; 0 where none does.

    The largest k with P(U < k) <= alpha / 2 for the Mann-Whitney statistic U of samples of that
    many windows.
    """
    key = (min(first, second), max(first, second), alpha)
    if key not in _RANKS:
        counts = _mann_whitney(key[0], key[1])
        _RANKS[key] = tail_rank(counts, alpha)
    return _RANKS[key]


def tail_rank(counts: list[int], alpha: float) -> int:
    """Number of smallest values of a statistic that together have at most alpha / 2 of all ways."""
    allowed = sum(counts) * alpha / 2.0
    rank = passed = 0
    while passed + counts[rank] <= allowed:
        passed += counts[rank]
        rank += 1
    return rank


def _mann_whitney(first: int, second: int) -> list[int]:
    """Number of ways for each value of U, 0 to first * second: Gaussian binomial coefficients."""
    counts = [1] + [0] * (first * second)
    for step in range(1, first + 1):
        up, down = second + step, step
        for value in range(len(counts) - 1, up - 1, -1):
            counts[value] -= counts[value - up]
        for value in range(down, len(counts)):
            counts[value] += counts[value - down]
    return counts


def sentence(comparison: Comparison) -> str:
    """The comparison in one line, as a person reads it."""
    interval = comparison.interval
    text = f"{_figure(comparison.before)} -> {_figure(comparison.after)} us"
    if math.isinf(interval.high):
        text += ", too few windows for an interval"
    else:
        text += (
            f", {percent(interval.ratio)} (95% interval {percent(interval.low)} to "
            f"{percent(interval.high)})"
        )
    return text + _margin_and_verdict(comparison)


def _margin_and_verdict(comparison: Comparison) -> str:
    text = f", margin {comparison.margin * 100:g}%: {comparison.verdict}"
    if comparison.stable is False:
        text += ", the baseline itself was not stable"
    elif comparison.suspect:
        text += ", but suspect"
    if comparison.verdict == INCONCLUSIVE and comparison.needed is not None:
        text += f", needs about {comparison.needed} windows per side"
    elif comparison.verdict == INCONCLUSIVE and comparison.stable is not False:
        text += f", and even {_MOST_WINDOWS} windows would not be enough"
    return text


def _figure(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def percent(ratio: float) -> str:
    """A ratio after / before as people read it: +4.6%."""
    return f"{(ratio - 1.0) * 100:+.1f}%"
