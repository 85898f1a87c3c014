# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A series: the windows of one probe on one subject, layer and size; and the figures they tell."""

from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from .probe_list import TCP, TICKS
from .window import Window

#: Fewer windows than this on a side bound no interval at all, whatever they say.
FEWEST_WINDOWS = 4

#: Figures of a distribution, and of a series that has nothing but means.
_FIGURES = ("p50", "p99")
_MEAN = "mean"

#: As few windows of a series below the unit of its source leave the middle of all as it is.
_FEW = 0.2

#: Half of the microsecond in which latencies are told, where a window does not tell its unit.
_HALF_A_UNIT = 0.5


class Series(NamedTuple):
    """``size`` is bytes of a request, ``mode`` how a tcp probe asks; None where a probe has no such
    thing."""

    probe: str
    subject: str
    layer: str
    size: Optional[int]
    mode: Optional[str] = None

    @property
    def name(self):
        # type: () -> str
        return "{0} {1} {2}".format(self.probe, self.subject, self.kind)

    @property
    def kind(self):
        # type: () -> str
        """The name without probe and subject. The size tells a request from a mere connection."""
        mode = "{0} ".format(self.mode) if self.mode and self.size is None else ""
        size = "" if self.size is None else " {0} B".format(self.size)
        return mode + self.layer + size


def series_of(windows):
    # type: (Iterable[Window]) -> Dict[Series, List[Window]]
    """The windows by what they are of, each list in order of time."""
    found = {}  # type: Dict[Series, List[Window]]
    for window in windows:
        mode = window.conditions.get("mode") if window.probe == TCP else None
        key = Series(
            window.probe,
            window.subject,
            window.layer,
            window.size,
            None if mode is None else str(mode),
        )
        found.setdefault(key, []).append(window)
    return found


def values_of(windows):
    # type: (Sequence[Window]) -> List[Tuple[str, List[float]]]
    """Figure to its values (microseconds) in order of time, of the windows that tell it.

    Every value is above 0: what took no whole unit of the source took something, and windows that
    were left out for being quick would leave the slow ones to speak for all.
    """
    told = [window for window in windows if not is_cached(window)]
    has_middle = any(window.p50 is not None for window in told)
    names = _FIGURES if has_middle else (_MEAN,)
    found = []
    for name in names:
        pairs = [(getattr(window, name), window) for window in told]
        found.append(
            (name, [value or _below_unit(window) for value, window in pairs if value is not None])
        )
    return found


def told_windows(windows):
    # type: (Sequence[Window]) -> int
    """In how many windows there is any figure."""
    return max(len(values) for _, values in values_of(windows))


def is_cached(window):
    # type: (Window) -> bool
    """Whether a cache answered in the place of the disk that was to be measured."""
    return bool(window.conditions.get("cached"))


def is_coarse(windows):
    # type: (Sequence[Window]) -> bool
    """Whether in many windows all that was counted was over within one unit of the source (a tick):
    they show what is slow, and never that something is as quick as it was."""
    values = [one.mean if one.p50 is None else one.p50 for one in windows if not is_cached(one)]
    told = [value for value in values if value is not None]
    return told.count(0.0) > _FEW * len(told)


def _below_unit(window):
    # type: (Window) -> float
    """Half of the least that a window of so many requests could have told."""
    unit = window.conditions.get("resolution_us")
    if not isinstance(unit, (int, float)) or unit <= 0:
        return _HALF_A_UNIT
    # Of a device that is counted in ticks it is the tick, of others what one request more changes.
    ticks = window.conditions.get("counted_in") == TICKS
    return float(unit) / (2.0 * (max(1, window.n) if ticks else 1))
