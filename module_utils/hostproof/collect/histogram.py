# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts of durations in bins that are fine enough for percentiles and add up without loss.

Each octave has 64 bins of the same width (as HdrHistogram divides them), so that a percentile is
right within 0.8%. The unit is 1/64 of a microsecond: octaves then end at powers of two of a
microsecond, which are the bins of V$EVENT_HISTOGRAM_MICRO, and ``log2_bins`` is exact.
"""

from typing import Any, Dict, Iterable, List, Optional, Tuple

_SUB_BINS = 64
_SUB_BITS = 6

#: Longer than a century: a bin beyond it was never counted, and would take memory without end.
_MOST_BIN = _SUB_BINS * 52

#: What to_json calls its bins; another layout must not be read as this one.
LAYOUT = "us/64, 64 per octave"


class Histogram:
    """Durations, counted. All that it shows is in microseconds."""

    def __init__(self) -> None:
        self.counts: Dict[int, int] = {}
        self.count = 0
        self._lowest: Optional[int] = None
        self._highest: Optional[int] = None
        self._sum = 0

    def add(self, nanoseconds: int) -> None:
        """Count one duration. A negative one is a mistake of the caller's clock: ValueError."""
        self.add_many((nanoseconds,))

    def add_many(self, durations: Iterable[int]) -> None:
        """Count durations in nanoseconds."""
        counts = self.counts
        for nanoseconds in durations:
            if nanoseconds < 0:
                raise ValueError(f"a duration of {nanoseconds} ns")
            index = _index(nanoseconds * _SUB_BINS // 1000)
            counts[index] = counts.get(index, 0) + 1
            self.count += 1
            self._sum += nanoseconds
            if self._lowest is None or nanoseconds < self._lowest:
                self._lowest = nanoseconds
            if self._highest is None or nanoseconds > self._highest:
                self._highest = nanoseconds

    def merge(self, other: "Histogram") -> None:
        """Add what another histogram counted."""
        for index, number in other.counts.items():
            self.counts[index] = self.counts.get(index, 0) + number
        self.count += other.count
        self._sum += other._sum
        self._lowest = _chosen(min, self._lowest, other._lowest)
        self._highest = _chosen(max, self._highest, other._highest)

    @property
    def minimum(self) -> Optional[float]:
        """The shortest duration, exactly; None where nothing was counted."""
        return None if self._lowest is None else self._lowest / 1000.0

    @property
    def maximum(self) -> Optional[float]:
        """The longest duration, exactly; None where nothing was counted."""
        return None if self._highest is None else self._highest / 1000.0

    @property
    def mean(self) -> Optional[float]:
        """The mean, exactly; None where nothing was counted."""
        return self._sum / 1000.0 / self.count if self.count else None

    def quantile(self, share: float) -> Optional[float]:
        """The duration that ``share`` (0 to 1) of all do not exceed, by nearest rank.

        The middle of its bin, never outside of what was measured; None where nothing was counted.
        """
        if not self.count:
            return None
        if self._lowest is None or self._highest is None:
            raise AssertionError
        rank = max(1, -int(-share * self.count // 1))
        passed = 0
        for index in sorted(self.counts):
            passed += self.counts[index]
            if passed >= rank:
                low, width = _bin(index)
                middle = (low + width / 2.0) / _SUB_BINS
                return min(max(middle, self._lowest / 1000.0), self._highest / 1000.0)
        raise AssertionError("the bins hold fewer than were counted")

    def above(self, microseconds: float) -> int:
        """The number of were certainly not shorter: those of the bins that begin there or later."""
        limit = microseconds * _SUB_BINS
        return sum(number for index, number in self.counts.items() if _bin(index)[0] >= limit)

    def log2_bins(self) -> Dict[int, int]:
        """Exponent k to number of durations from 2**(k-1) to less than 2**k microseconds.

        k = 0 contains all durations below 1 microsecond.
        """
        bins: Dict[int, int] = {}
        for index, number in self.counts.items():
            # 64 bins an octave, and the first 64 are all under 1 microsecond.
            exponent = index >> _SUB_BITS
            bins[exponent] = bins.get(exponent, 0) + number
        return dict(sorted(bins.items()))

    def parts(self, per_octave: int) -> List[Tuple[float, float, int]]:
        """Lower and upper end in microseconds and count of the filled parts, in order.

        ``per_octave`` parts of the same width an octave: a power of two up to 64.
        """
        step = _SUB_BINS // per_octave
        counts: Dict[int, int] = {}
        for index, number in self.counts.items():
            counts[index // step] = counts.get(index // step, 0) + number
        parts = []
        for place in sorted(counts):
            low, width = _bin(place * step)
            parts.append((low / _SUB_BINS, (low + step * width) / _SUB_BINS, counts[place]))
        return parts

    def to_json(self) -> Dict[str, Any]:
        """What from_json takes: lowest, highest and sum in nanoseconds, and the filled bins."""
        return {
            "layout": LAYOUT,
            "lowest_ns": self._lowest,
            "highest_ns": self._highest,
            "sum_ns": self._sum,
            "counts": [[index, self.counts[index]] for index in sorted(self.counts)],
        }

    @classmethod
    def from_json(cls, values: Dict[str, Any]) -> "Histogram":
        """The histogram that to_json gave; ValueError for anything else."""
        if not isinstance(values, dict) or values.get("layout") != LAYOUT:
            raise ValueError(f"not a histogram of Hostproof ({LAYOUT})")
        made = cls()
        try:
            pairs = [(int(index), int(number)) for index, number in values["counts"]]
            made._lowest, made._highest = values["lowest_ns"], values["highest_ns"]
            made._sum = int(values["sum_ns"])
        except (KeyError, TypeError, ValueError) as problem:
            raise ValueError(f"a histogram that is not whole: {problem!r}") from problem
        if any(not 0 <= index <= _MOST_BIN or number < 1 for index, number in pairs):
            raise ValueError("a histogram with a bin that cannot be")
        made.counts = dict(pairs)
        made.count = sum(made.counts.values())
        if made.count and (made._lowest is None or made._highest is None):
            raise ValueError("a histogram without its lowest and highest duration")
        return made


def _index(units: int) -> int:
    """The bin of a duration in units: the first two octaves one by one, then 64 an octave."""
    shift = max(0, units.bit_length() - _SUB_BITS - 1)
    return (shift << _SUB_BITS) + (units >> shift)


def _bin(index: int) -> Tuple[int, int]:
    """Lower end and width of a bin, in units."""
    shift = max(0, (index >> _SUB_BITS) - 1)
    return (index - (shift << _SUB_BITS)) << shift, 1 << shift


def _chosen(choose: Any, mine: Optional[int], others: Optional[int]) -> Optional[int]:
    known: List[int] = [value for value in (mine, others) if value is not None]
    return choose(known) if known else None
