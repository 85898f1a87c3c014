# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Percentiles and means of a window, with their confidence bounds."""

import math
from typing import NamedTuple, Optional, Tuple

from ...collect.histogram import Histogram
from ...collect.measured import Window

#: Minimum number of intervals of a passive window for which minimum and maximum are bounds.
ENOUGH_INTERVALS = 3
#: Probability below and above a 95% interval, on each side.
_OUTSIDE = 0.025
#: With fewer samples, no rank bounds a median with 95% confidence.
FEWEST_SAMPLES = 6
_SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
_Z = 1.959964


class Figure(NamedTuple):
    """Microseconds. ``low`` and ``high`` are the bounds of the value, None if unknown.

    ``of`` names the method of the bounds.
    """

    name: str
    value: float
    low: Optional[float]
    high: Optional[float]
    of: str


def tick_of(window: Window) -> Optional[float]:
    """The kernel's tick in microseconds. None if the kernel counts in nanoseconds."""
    tick = window.conditions.get("resolution_us")
    in_ticks = window.conditions.get("counted_in") == "ticks"
    return float(tick) if in_ticks and isinstance(tick, (int, float)) else None


def figure_of(window: Window, name: str) -> Optional[Figure]:
    """The figure ("p50", "mean") of a window. None if the window does not have it.

    Bounds of percentiles of samples are the 95% interval of the rank. Bounds of kernel counters
    are the lowest and the highest interval. Bounds of a report are its rounding error."""
    value = getattr(window, name)
    if value is None:
        return None
    if window.conditions.get("mode") == "passive":
        intervals = window.conditions.get("intervals_told")
        if name == "p50" and isinstance(intervals, int) and intervals >= ENOUGH_INTERVALS:
            low, high, tick = window.minimum, window.maximum, tick_of(window)
            if tick is not None and low is not None and high is not None:
                # Requests in step with the tick all have the same error.
                return Figure(name, value, max(0.0, low - tick), high + tick, "intervals and ticks")
            return Figure(name, value, low, high, "intervals")
        return Figure(name, value, None, None, "too few intervals for bounds")
    if name == "mean":
        left_open = window.conditions.get("uncertainty_us")
        if window.layer == "database" and isinstance(left_open, (int, float)):
            low = max(0.0, value - left_open)
            return Figure(name, value, low, value + left_open, "digits of the report")
        return Figure(name, value, None, None, "a mean, without bounds")
    low, high = _bounds(window, _SHARES[name])
    return Figure(name, value, low, high, "95% interval")


def _bounds(window: Window, share: float) -> Tuple[Optional[float], Optional[float]]:
    """Order statistics that bound a quantile with 95% confidence (normal approximation)."""
    if window.bins is None or "log2" in window.bins:
        return None, None
    histogram = Histogram.from_json(window.bins)
    count = histogram.count
    half = _Z * math.sqrt(count * share * (1.0 - share))
    lower, upper = math.floor(count * share - half), math.ceil(count * share + half) + 1
    low = histogram.quantile(float(lower) / count) if lower >= 1 else None
    high = histogram.quantile(float(upper) / count) if upper <= count else None
    return low, high


def certain_share(window: Window, limit_us: float) -> float:
    """The minimum share (0 to 1) of round trips or reads that take longer than the limit.

    It is the lower end of the 95% interval by Clopper and Pearson, from the histogram of the
    window. 0 if the window has no histogram of single samples, or too few samples."""
    if window.bins is None or "layout" not in window.bins or window.n < FEWEST_SAMPLES:
        return 0.0
    histogram = Histogram.from_json(window.bins)
    return least_share(histogram.above(limit_us), histogram.count)


def least_share(above: int, count: int) -> float:
    """The share for which ``above`` or more of ``count`` have a probability of 2.5%."""
    if not above:
        return 0.0
    low, high = 0.0, float(above) / count
    for _ in range(40):
        middle = (low + high) / 2.0
        if _tail(above, count, middle) > _OUTSIDE:
            high = middle
        else:
            low = middle
    return low


def _tail(least: int, count: int, share: float) -> float:
    """The probability of ``least`` or more of ``count``, if each has the probability ``share``."""
    if least <= count // 2:
        return 1.0 - sum(_probable(number, count, share) for number in range(least))
    return sum(_probable(number, count, share) for number in range(least, count + 1))


def _probable(number: int, count: int, share: float) -> float:
    """The binomial probability, with logarithms because its factors overflow a float."""
    ways = math.lgamma(count + 1) - math.lgamma(number + 1) - math.lgamma(count - number + 1)
    return math.exp(ways + number * math.log(share) + (count - number) * math.log1p(-share))


def milliseconds(microseconds: float) -> str:
    """Microseconds as milliseconds with three digits: "0.412 ms", "18.3 ms", "1240 ms"."""
    value = microseconds / 1000.0
    return f"{value:.0f} ms" if value >= 100 else f"{value:.3g} ms"


def text(figure: Figure) -> str:
    """ "p50 0.412 ms (0.4 ms to 0.43 ms)"."""
    phrase = f"{figure.name} {milliseconds(figure.value)}"
    if figure.low is None or figure.high is None:
        return phrase
    return f"{phrase} ({milliseconds(figure.low)} to {milliseconds(figure.high)})"


def count(window: Window) -> str:
    """The number of samples of a figure. Some reports do not contain it."""
    if not window.n and window.conditions.get("n_from") == "not told":
        intervals = window.conditions.get("intervals")
        if isinstance(intervals, int):
            return f"{intervals} interval{'' if intervals == 1 else 's'}"
        return "an unknown number"
    return str(window.n)
