# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A series: the windows of one probe on one subject, layer and size; and the figures they show."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ansible.module_utils.hostproof.collect.measured import Window
from ansible.module_utils.hostproof.latency.probe_list import TCP, TICKS

#: Minimum number of windows per side that can bound an interval.
FEWEST_WINDOWS = 4

#: Figures of a distribution, and of a series that has nothing but means.
_FIGURES = ("p50", "p99")
_MEAN = "mean"

#: Share of windows below the resolution of the source that leaves the median unaffected. The two
#: values differ, so that a later comparison does not depend on chance at the limit.
FEW = 0.3
FEWER = 0.1

#: A nanosecond: every duration is above 0, and ratios are taken of them.
LEAST = 0.001

_MILLISECOND = 1000.0


class Series(NamedTuple):
    """``size`` is the bytes of a request, ``mode`` the mode of a tcp probe; None for others."""

    probe: str
    subject: str
    layer: str
    size: int | None
    mode: str | None = None

    @property
    def name(self) -> str:
        return f"{self.probe} {self.subject} {self.kind}"

    @property
    def kind(self) -> str:
        """The name without probe and subject. Only a request has a size; a connection has none."""
        mode = f"{self.mode} " if self.mode and self.size is None else ""
        size = "" if self.size is None else f" {self.size} B"
        return mode + self.layer + size


def series_of(windows: Iterable[Window]) -> dict[Series, list[Window]]:
    """The windows by what they are of, each list in order of time."""
    by_series: dict[Series, list[Window]] = {}
    for window in windows:
        mode = window.conditions.get("mode") if window.probe == TCP else None
        key = Series(
            window.probe,
            window.subject,
            window.layer,
            window.size,
            None if mode is None else str(mode),
        )
        by_series.setdefault(key, []).append(window)
    return by_series


def values_of(windows: Sequence[Window], least: float = LEAST) -> list[tuple[str, list[float]]]:
    """Figure to its values (microseconds) in order of time, of the windows that show it.

    What took no whole unit of the source took something: no value is below ``least``, which is
    above 0. Windows that were left out for being quick would leave the slow ones to speak for all.
    """
    readings = [window for window in windows if not is_cached(window)]
    has_middle = any(window.p50 is not None for window in readings)
    names = _FIGURES if has_middle else (_MEAN,)
    figures = []
    for name in names:
        values = [getattr(window, name) for window in readings]
        figures.append((name, [max(value, least) for value in values if value is not None]))
    return figures


def told_windows(windows: Sequence[Window]) -> int:
    """Number of windows that have at least one figure."""
    return max(len(values) for _, values in values_of(windows))


def is_cached(window: Window) -> bool:
    """Whether a cache answered in the place of the disk that was to be measured."""
    return bool(window.conditions.get("cached"))


def is_coarse(windows: Sequence[Window], few: float = FEW) -> bool:
    """Whether in more than ``few`` of the windows (a share) all that was counted was over within
    one unit of the source (a tick): such show what takes longer than a unit, and nothing else."""
    values = [
        window.mean if window.p50 is None else window.p50
        for window in windows
        if not is_cached(window)
    ]
    figures = [value for value in values if value is not None]
    return figures.count(0.0) > few * len(figures)


def unit_of(windows: Sequence[Window]) -> float:
    """The unit in which the source of coarse windows counts (microseconds): a tick, or the
    millisecond of the kernel's other counters."""
    ticks = [
        float(window.conditions["resolution_us"])
        for window in windows
        if window.conditions.get("counted_in") == TICKS
        and isinstance(window.conditions.get("resolution_us"), (int, float))
    ]
    return max(ticks + [_MILLISECOND])
