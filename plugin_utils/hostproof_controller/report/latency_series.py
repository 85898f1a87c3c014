# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Windows of a reading as the report shows them: in series, checked, and as words and numbers.

A reading can come from an edited record, so it is untrusted: invalid windows are omitted and
reported. Durations are in microseconds.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.collect.measured import Window

from ..latency.verdict import median
from .text import one_line, printable

#: Octaves beyond this are longer than a century: no clock gave them.
_MOST_OCTAVES = 50
_MOST_BIN = 64 * _MOST_OCTAVES
_MOST_COUNT = 1 << 62

#: Maximum number of lines for windows and octaves in text form; findings.jsonl contains all.
_LINES = 200

_NUMBERS = ("started", "seconds", "minimum", "mean", "p50", "p90", "p99", "maximum")
_UNITS = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"))
_SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))


class Series(NamedTuple):
    """Windows of one measured object in the order of measurement. ``size`` is in bytes."""

    probe: str
    subject: str
    layer: str
    size: int | None
    windows: tuple[Window, ...]

    @property
    def key(self) -> tuple[str, str, str, int | None]:
        return self[:4]

    @property
    def name(self) -> str:
        """ "sda, read, 8 KiB"; a layer that is named like the probe tells nothing."""
        parts = [one_line(self.subject), one_line(self.layer)]
        if self.layer == self.probe:
            parts.pop()
        if self.size is not None:
            parts.append(size_text(self.size))
        return ", ".join(part for part in parts if part)


class SeriesText(NamedTuple):
    """What a reading of windows tells; ``problems`` are sentences about what is no window."""

    series: list[Series]
    problems: list[str]


class Summary(NamedTuple):
    """A series in figures: the least minimum, the largest maximum, else medians of the windows'.

    The window is the unit of every comparison (latency/verdict.py), and so it is here.
    """

    windows: int
    n: int
    minimum: float | None
    p50: float | None
    p90: float | None
    p99: float | None
    maximum: float | None
    mean: float | None


def read_windows(reading: Any) -> SeriesText:
    """The series of a reading of kind "windows", in the order in which they begin."""
    if not isinstance(reading, dict) or not isinstance(reading.get("windows"), list):
        return SeriesText([], ["the reading holds no windows"])
    by_key: dict[tuple[str, str, str, int | None], list[Window]] = {}
    wrong: list[str] = []
    for number, values in enumerate(reading["windows"], 1):
        try:
            window = _checked(values)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as problem:
            wrong.append(f"window {number}: {problem}")
            continue
        key = (window.probe, window.subject, window.layer, window.size)
        by_key.setdefault(key, []).append(window)
    series = [
        Series(probe, subject, layer, size, _in_time(windows))
        for (probe, subject, layer, size), windows in by_key.items()
    ]
    problems = [printable(text) for text in wrong[:3]]
    if len(wrong) > len(problems):
        problems.append(f"and {len(wrong) - len(problems)} more that are no windows")
    return SeriesText(series, problems)


def summary(series: Series) -> Summary:
    """The figures of a series."""
    windows = series.windows

    def known(name: str) -> list[float]:
        return [getattr(window, name) for window in windows if getattr(window, name) is not None]

    def median_of(name: str) -> float | None:
        return median(known(name)) if known(name) else None

    return Summary(
        windows=len(windows),
        n=sum(window.n for window in windows),
        minimum=min(known("minimum"), default=None),
        p50=median_of("p50"),
        p90=median_of("p90"),
        p99=median_of("p99"),
        maximum=max(known("maximum"), default=None),
        mean=median_of("mean"),
    )


def middle(figures: Summary) -> float | None:
    """What represents a series: p50, or the mean where there is no p50."""
    return figures.mean if figures.p50 is None else figures.p50


def cells_of(several: Sequence[Series]) -> list[tuple[int, int, int]]:
    """Lowest and highest octave and count of each filled cell: some bins span several octaves."""
    wide: dict[int, int] = {}
    for series in several:
        for window in series.windows:
            for octave, low in ((window.bins or {}).get("wide") or {}).items():
                wide[int(octave)] = min(low, int(octave))
    return [(wide.get(high, high), high, n) for high, n in octaves_of(several).items() if n]


def is_open(several: Sequence[Series], octave: int) -> bool:
    """Whether the octave holds all that took longer, too."""
    return any(
        (window.bins or {}).get("open") == octave for series in several for window in series.windows
    )


def octave_with(series: Series, share: float) -> str | None:
    """Where ``share`` of all end, of a series that has coarse bins alone: "8–16 ms".

    None where it has finer figures, or too few to tell: ten beyond the share.
    """
    if not all(window.bins and "log2" in window.bins for window in series.windows):
        return None
    cells = cells_of([series])
    total = sum(count for _, _, count in cells)
    if total * (1 - share) < 10:
        return None
    passed = 0
    for low, high, count in cells:
        passed += count
        if passed >= share * total:
            return span_text(low, high, is_open([series], high))
    return None


def text_of(reading: Any) -> str:
    """The windows of a reading as text: a line a window, then the counts by octave."""
    content = read_windows(reading)
    lines: list[str] = []
    rows = [["what", "n", "min", "p50", "p90", "p99", "max", "mean"]]
    for series in content.series:
        for window in series.windows:
            figures = (getattr(window, name) for name in _NUMBERS[2:] if name != "mean")
            cells = [
                "-" if figure is None else duration(figure) for figure in (*figures, window.mean)
            ]
            rows.append([series.name, str(window.n), *cells])
    lines += _columns(rows)
    octaves = []
    for series in content.series:
        counts = [f"<{edge(k)} {n}" for k, n in octaves_of([series]).items() if n]
        if counts:
            octaves.append("{0}: {1}".format(series.name, ", ".join(counts)))
    if octaves:
        lines += ["", "number of values below each time, and at least half of it:"]
        lines += octaves[:_LINES]
        lines += _rest(len(octaves) - _LINES)
    remarks = reading.get("remarks") if isinstance(reading, dict) else None
    if isinstance(remarks, list) and remarks:
        lines += ["", *(str(remark) for remark in remarks)]
    return "\n".join(lines + content.problems)


def octaves_of(several: Sequence[Series]) -> dict[int, int]:
    """The counts of all windows of the series by octave (Window.log2_bins), lowest first."""
    counts: dict[int, int] = {}
    for series in several:
        for window in series.windows:
            for octave, number in window.log2_bins().items():
                counts[octave] = counts.get(octave, 0) + number
    return {octave: counts[octave] for octave in sorted(counts)}


# Words and numbers


def duration(microseconds: float) -> str:
    """ "105 µs", "1.02 ms", "30 ms": three digits, in the unit that fits."""
    for factor, unit in _UNITS:
        # 999.7 us is 1 ms in three digits.
        if microseconds >= factor * 0.9995:
            return f"{_three_digits(microseconds / factor)} {unit}"
    return f"{_three_digits(microseconds)} µs"


def edge(octave: int) -> str:
    """The upper end of an octave: "1 µs", "512 µs", "1 ms" (1,024 µs) and so on."""
    step, place = divmod(octave, 10)
    step = min(step, 2)
    return "{0} {1}".format(1 << (octave - 10 * step), ("µs", "ms", "s")[step])


def span_text(low: int, high: int, is_open: bool) -> str:
    """From the lower end of one octave to the upper one of another: "8–16 ms", "512 µs–1 ms"."""
    if low == 0:
        return "from 0" if is_open else f"under {edge(high)}"
    start, end = edge(low - 1), edge(high)
    if is_open:
        return f"from {start} on"
    return f"{start[:-3] if start[-3:] == end[-3:] else start}–{end}"


def size_text(size: int) -> str:
    """ "8 KiB", "1 MiB", "12 B"."""
    for factor, unit in _SIZES:
        if size >= factor:
            return f"{_three_digits(size / factor)} {unit}"
    return "0 B"


def count_text(number: int) -> str:
    """A count that fits into a cell: "9876", "12.3k", "1.24M"."""
    if number < 10000:
        return str(number)
    value = float(number)
    for unit in "kMGTP":
        value /= 1000.0
        if value < 999.5 or unit == "P":
            break
    return _three_digits(value) + unit


def grouped(number: int) -> str:
    """ "212,184"."""
    return f"{number:,}"


def change_text(before: float | None, after: float | None) -> str:
    """ "+4.6%", "5.2 times", or an empty text if one side is unknown."""
    if before is None or after is None or before <= 0:
        return ""
    ratio = after / before
    if ratio >= 3:
        return f"{_three_digits(ratio)} times"
    return f"{(ratio - 1) * 100:+.1f}%".replace("-", "−")


def _three_digits(value: float) -> str:
    if value >= 99.95:
        return f"{value:.0f}"
    text = f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
    return text.rstrip("0").rstrip(".")


def _columns(rows: list[list[str]]) -> list[str]:
    shown = rows[: _LINES + 1]
    widths = [max(len(row[column]) for row in shown) for column in range(len(rows[0]))]
    lines = []
    for row in shown:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=False)]
        lines.append("  ".join(cells).rstrip())
    return lines + _rest(len(rows) - len(shown))


def _rest(number: int) -> list[str]:
    return [f"… and {number} more: findings.jsonl"] if number > 0 else []


# What is a window


def _checked(values: Any) -> Window:
    """The window that a record holds; TypeError or ValueError where a value cannot be one."""
    if isinstance(values, dict):
        _check_bins(values.get("bins"))
    window = Window.from_json(values)
    if window.size is not None and not _is_count(window.size):
        raise ValueError("size is not a number of bytes")
    if not _is_count(window.n):
        raise ValueError("n is not a count")
    for name in _NUMBERS:
        value = getattr(window, name)
        if value is not None and not _is_number(value):
            raise ValueError(f"{name} is not a number from 0 up")
    return window


def _check_bins(bins: Any) -> None:
    if bins is None:
        return
    if not isinstance(bins, dict):
        raise ValueError("bins are not an object")
    if "log2" in bins:
        counts = [(int(octave), number) for octave, number in bins["log2"].items()]
        counts += [(int(octave), low) for octave, low in bins.get("wide", {}).items()]
        most = _MOST_OCTAVES
    else:
        counts = list(bins["counts"])
        most = _MOST_BIN
        ends = (bins["lowest_ns"], bins["highest_ns"], bins["sum_ns"])
        if counts and not all(_is_count(end) for end in ends):
            raise ValueError("bins do not tell where they begin and end")
    for place, number in counts:
        if not _is_count(place) or place > most:
            raise ValueError("bins hold one that no clock gave")
        if not _is_count(number):
            raise ValueError("bins hold what is not a count")
    if bins.get("open") is not None and not _is_count(bins["open"]):
        raise ValueError("bins end nowhere")


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _MOST_COUNT


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and 0 <= value <= _MOST_COUNT


def _in_time(windows: list[Window]) -> tuple[Window, ...]:
    """By when they started where all tell it; else as they stand."""
    if all(window.started is not None for window in windows):
        windows = sorted(windows, key=lambda window: window.started or 0.0)
    return tuple(windows)
