# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Latencies as drawings: inline SVG without a script, a style or an id of its own.

Colours are classes of the page's style, so that dark screens and paper have theirs; they never
carry a meaning alone (numbers in the cells, dashes and hollow marks for "before"). Every drawing
has a title and a description for those who do not see it.
"""

import html
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from ansible.module_utils.hostproof.histogram import Histogram
from ansible.module_utils.hostproof.measured import Window

from .latency_series import (
    Series,
    Summary,
    cells_of,
    count_text,
    duration,
    edge,
    grouped,
    is_open,
    span_text,
    summary,
)
from .text import one_line

#: Shares of a row, in per cent, below which a cell has the 1st, 2nd ... colour; the last has 6.
SHADES = (1, 3, 10, 25, 50)

_CELL = 50
_ROW = 24
_LETTER = 7.0
_LABEL = 34
_RANGES = 560
_WIDE = 860
_NAMES = 62
_INNER = 86
_CURVES = 110
_BAND = 34

#: Less than this is no latency that a clock tells; it is where an axis ends.
_LEAST = 0.01

_SUBDIVISIONS = ((1.1, (1, 2, 5)), (3.2, (1, 3)), (math.inf, (1,)))

Part = tuple[float, float, float]


class Row(NamedTuple):
    """A row of a heat map: its name and the series that it adds up."""

    name: str
    series: tuple[Series, ...]


def heat_map(title: str, rows: Sequence[Row]) -> str:
    """Rows by latency: how many I/Os, round trips or waits took how long.

    The colour tells which share of its row a cell holds, the number how many.
    """
    cells = [cells_of(row.series) for row in rows]
    filled = [one for row in cells for one in row]
    first = min(low for low, _, _ in filled)
    last = max(high for _, high, _ in filled)
    left = _label_width([row.name for row in rows])
    right = left + _CELL * (last - first + 1)
    top, bottom = 22, 22 + _ROW * len(rows)
    shades, end = _shades(left, bottom + 10)
    width = max(right + 64, end)
    pieces = []
    for octave in range(first, last + 1):
        x = left + _CELL * (octave - first)
        pieces.append(_text(x, 14, "0" if octave == 0 else edge(octave - 1), "middle", "lb"))
        pieces.append(_line(x, top - 4, x, bottom, "gl"))
    open_end = any(is_open(row.series, last) for row in rows)
    pieces.append(_text(right, 14, "∞" if open_end else edge(last), "middle", "lb"))
    pieces.append(_line(right, top - 4, right, bottom, "gl"))
    pieces.append(_text(right + 58, 14, "all", "end", "lb"))
    told = []
    for number, row in enumerate(rows):
        y = top + _ROW * number
        total = sum(count for _, _, count in cells[number])
        pieces.append(_text(left - 8, y + 16, _short(row.name), "end"))
        for low, high, count in cells[number]:
            x = left + _CELL * (low - first)
            span = span_text(low, high, is_open(row.series, high))
            share = 100.0 * count / total
            pieces.append(
                '<g class="q{0}"><title>{1}</title>{2}{3}</g>'.format(
                    _shade(share),
                    _esc(
                        f"{row.name}, {span}: {grouped(count)} of {grouped(total)}, {share:.3g} %"
                    ),
                    _rect(x + 1, y + 1, _CELL * (high - low + 1) - 2, _ROW - 2),
                    _text(x + _CELL * (high - low + 1) / 2, y + 16, count_text(count), "middle"),
                )
            )
        pieces.append(_text(right + 58, y + 16, count_text(total), "end", "nb"))
        low, high, most = max(cells[number], key=lambda one: one[2])
        told.append(
            f"{row.name}: {grouped(total)} in all, most ({grouped(most)}) took "
            f"{span_text(low, high, is_open(row.series, high))}"
        )
    pieces.append(shades)
    described = "Rows by latency, from {0} to {1}. {2}.".format(
        "0" if first == 0 else edge(first - 1),
        "no upper end" if open_end else edge(last),
        "; ".join(told),
    )
    return _svg(width, bottom + 34, title, described, pieces)


def ranges(title: str, several: Sequence[Series]) -> str:
    """For series without a distribution: shortest to longest, the middle and the 99th of 100."""
    figures = [summary(one) for one in several]
    known = [value for one in figures for value in _values(one)]
    left = _label_width([one.name for one in several])
    right = left + _RANGES
    place, ticks = _axis(known, left + 12, right - 12)
    top, bottom = 6, 6 + _ROW * len(several)
    pieces = _grid_lines(place, ticks, left, right, top, bottom)
    told = []
    for number, one in enumerate(several):
        told_of, middle = figures[number], _middle(figures[number])
        y = top + _ROW * number + _ROW / 2
        pieces.append(_text(left - 8, y + 4, _short(one.name), "end"))
        ends = _values(told_of)
        if not ends or middle is None:
            pieces.append(_text(left + 8, y + 4, "not told", "start", "lb"))
            continue
        word = "p50" if told_of.p50 is not None else "mean"
        pieces.append(_line(place(min(ends)), y, place(max(ends)), y, "rg"))
        if told_of.p99 is not None:
            pieces.append(_line(place(told_of.p99), y - 6, place(told_of.p99), y + 6, "r9"))
        pieces.append(f'<circle class="pt" cx="{_n(place(middle))}" cy="{y}" r="4.5"/>')
        pieces.append(_text(right + 8, y + 4, f"{word} {duration(middle)}", "start", "nb"))
        told.append(f"{one.name}: {word} {duration(middle)}")
    described = "From the shortest to the longest, with a mark for the middle. {0}.".format(
        "; ".join(told)
    )
    return _svg(right + 100, bottom + 24, title, described, pieces)


def overlay(title: str, before: Series, after: Series) -> str:
    """Both distributions over one axis, p50 and p99 of each, and below a mark for each window."""
    sides = (before, after)
    figures = [summary(one) for one in sides]
    shapes = _shapes(before, after)
    points = [[_of_window(window) for window in one.windows] for one in sides]
    known = [value for one in points for value in one if value is not None]
    known += [value for one in figures for value in (one.p50, one.p99) if value is not None]
    for shape in shapes:
        known += [min(low for low, _, _ in shape), max(high for _, high, _ in shape)]
    place, ticks = _axis(known, _NAMES + _INNER, _WIDE - _INNER)
    top = 40
    bands = top + (_CURVES + 8 if shapes else 0)
    bottom = bands + 2 * _BAND + 6
    pieces = _grid_lines(place, ticks, _NAMES, _WIDE, top, bottom)
    tallest = max((_height(part) for shape in shapes for part in shape), default=1.0)
    for letter, shape in zip("AB", shapes, strict=False):
        pieces.append(_curve(letter, shape, partial(_scaled, top, tallest), place, top + _CURVES))
    told: list[str] = []
    labels: list[str] = []
    for number, (letter, word) in enumerate((("A", "before"), ("B", "after"))):
        line, band = 14 + 17 * number, bands + (_BAND + 6) * number
        pieces.append(f'<path class="c{letter}" d="M1 {line}v-8h12v8z"/>')
        pieces.append(_text(18, line, word, "start", "t" + letter))
        pieces.append(_text(18, band + _BAND / 2 + 4, word, "start", "t" + letter))
        marks, words = _percentiles(letter, figures[number], place, line, band + _BAND)
        pieces += marks + _windows(letter, points[number], place, band)
        labels += words
        told.append(f"{word}: {_sentence(figures[number])}")
    return _svg(_WIDE, bottom + 24, title, "; ".join(told) + ".", pieces + labels)


# Heat maps


def drawable(row: Row) -> bool:
    """Whether the row has any count to draw."""
    return bool(cells_of(row.series))


def _shade(share: float) -> int:
    return 1 + sum(share >= limit for limit in SHADES)


def _shades(left: float, y: float) -> tuple[str, float]:
    """What the colours mean, and where that ends."""
    words = [f"under {SHADES[0]} %"]
    words += [f"{low}–{high} %" for low, high in zip(SHADES, SHADES[1:], strict=False)]
    words.append(f"{SHADES[-1]} % and more")
    pieces = [_text(left - 8, y + 12, "share of the row", "end", "lb")]
    x = left + 1.0
    for number, word in enumerate(words, 1):
        pieces.append(f'<g class="q{number}">{_rect(x, y + 2, 14, 12)}</g>')
        pieces.append(_text(x + 19, y + 12, word, "start", "lb"))
        x += 30 + _LETTER * len(word)
    return "".join(pieces), x


# Before and after


def _shapes(before: Series, after: Series) -> list[list[Part]]:
    """Lower end, upper end and share of the parts of both distributions, in the same steps.

    Empty where one side tells none. What lies beyond 999 of 1,000 at either end is left to the
    table: a single stall would press all else into a corner.
    """
    merged = [_merged(one) for one in (before, after)]
    found: Sequence[Sequence[tuple[float, float, float]]] = []
    if all(isinstance(one, Histogram) and one.count for one in merged):
        few = min(one.count for one in merged if one is not None) < 2000
        found = [one.parts(4 if few else 8) for one in merged if one is not None]
    else:
        found = [_octave_parts(one) for one in (before, after)]
    shapes = []
    for parts in found:
        total = sum(count for _, _, count in parts)
        if not total:
            return []
        kept, passed = [], 0.0
        for low, high, count in parts:
            if passed + count > 0.001 * total and passed < 0.999 * total:
                kept.append((max(low, high / 2, _LEAST), high, count / total))
            passed += count
        shapes.append(kept)
    return shapes


def _merged(series: Series) -> Histogram | None:
    """All windows in fine bins; None where one keeps coarse ones only."""
    merged = Histogram()
    for window in series.windows:
        if window.bins is None:
            continue
        if "log2" in window.bins:
            return None
        merged.merge(Histogram.from_json(window.bins))
    return merged


def _octave_parts(series: Series) -> list[tuple[float, float, float]]:
    """What spans several octaves is spread over all of them: where in there it lies is unknown.

    Window by window, for another report may divide the same octaves.
    """
    counts: dict[int, float] = {}
    for window in series.windows:
        for low, high, count in cells_of([series._replace(windows=(window,))]):
            for octave in range(low, high + 1):
                counts[octave] = counts.get(octave, 0.0) + float(count) / (high - low + 1)
    return [(2.0 ** (octave - 1), 2.0**octave, counts[octave]) for octave in sorted(counts)]


def _height(part: Part) -> float:
    """Share per octave: the area under the curve is then the same on both sides."""
    low, high, share = part
    return share / math.log(high / low, 2)


def _scaled(top: float, tallest: float, part: Part) -> float:
    return top + _CURVES - (_CURVES - 4) * _height(part) / tallest


def _curve(
    letter: str,
    shape: list[Part],
    height: Callable[[Part], float],
    place: Callable[[float], float],
    floor: float,
) -> str:
    steps = [f"M{_n(place(shape[0][0]))} {_n(floor)}"]
    end = shape[0][0]
    for part in shape:
        if part[0] > end * 1.0001:
            steps.append(f"V{_n(floor)}H{_n(place(part[0]))}")
        steps.append(f"V{_n(height(part))}H{_n(place(part[1]))}")
        end = part[1]
    steps.append(f"V{_n(floor)}")
    return '<path class="c{0}" d="{1}"/>'.format(letter, "".join(steps))


def _percentiles(
    letter: str, figures: Summary, place: Callable[[float], float], line: float, floor: float
) -> tuple[list[str], list[str]]:
    """Marks, and their labels: p50 (or the mean) to the left, p99 to the right: none collide."""
    marks, labels = [], []
    middle = _middle(figures)
    if middle is not None:
        word = "p50" if figures.p50 is not None else "mean"
        x = place(middle)
        marks.append(_line(x, line - 10, x, floor, "m" + letter))
        label = f"{word} {duration(middle)}"
        labels.append(_text(x - 4, line, label, "end", "t" + letter))
    if figures.p99 is not None:
        x = place(figures.p99)
        marks.append(_line(x, line - 10, x, floor, f"m{letter} ds"))
        label = f"p99 {duration(figures.p99)}"
        labels.append(_text(x + 4, line, label, "start", "t" + letter))
    return marks, labels


def _windows(
    letter: str, points: Sequence[float | None], place: Callable[[float], float], band: float
) -> list[str]:
    """A mark for each window, the first on top: a drift is seen as a slope."""
    known = [(number, value) for number, value in enumerate(points) if value is not None]
    step = (_BAND - 8.0) / max(1, len(points) - 1)
    return [
        f'<circle class="w{letter}" cx="{_n(place(value))}" cy="{_n(band + 4 + step * number)}" '
        'r="3.5"/>'
        for number, value in known
    ]


def _of_window(window: Window) -> float | None:
    return window.mean if window.p50 is None else window.p50


def _sentence(figures: Summary) -> str:
    told = [
        f"{word} {duration(value)}"
        for word, value in (("p50", figures.p50), ("p99", figures.p99), ("mean", figures.mean))
        if value is not None
    ]
    return "{0} windows, {1}".format(figures.windows, ", ".join(told) or "no figure")


# Axes


def _values(figures: Summary) -> list[float]:
    return [value for value in figures[2:] if value is not None]


def _middle(figures: Summary) -> float | None:
    return figures.mean if figures.p50 is None else figures.p50


def _axis(
    known: Sequence[float], left: float, right: float
) -> tuple[Callable[[float], float], list[float]]:
    """Where a latency stands between ``left`` and ``right``, on a scale of ratios, and ticks."""
    values = [max(value, _LEAST) for value in known] or [1.0]
    low, high = min(values), max(values)
    if high < 4 * low:
        # What is within a few per cent shall look so.
        middle = math.sqrt(low * high)
        low, high = middle / 2, middle * 2
    decades = math.log10(high / low)
    steps = next(steps for most, steps in _SUBDIVISIONS if decades <= most)
    # The axis goes on beside the values, where their labels stand.
    per_pixel = decades / (right - left)
    ticks = [
        step * 10.0**power
        for power in range(int(math.log10(_LEAST)) - 1, 12)
        for step in steps
        if low / 10 ** (per_pixel * 60) <= step * 10.0**power <= high * 10 ** (per_pixel * 60)
    ]

    def place(value: float) -> float:
        share = math.log10(max(value, _LEAST) / low) / decades
        return left + share * (right - left)

    return place, ticks


def _grid_lines(
    place: Callable[[float], float],
    ticks: Sequence[float],
    left: float,
    right: float,
    top: float,
    bottom: float,
) -> list[str]:
    pieces = [_line(left, bottom, right, bottom, "ax")]
    for tick in ticks:
        x = place(tick)
        if left + 14 <= x <= right - 14:
            pieces.append(_line(x, top, x, bottom + 4, "gl"))
            pieces.append(_text(x, bottom + 17, duration(tick), "middle", "lb"))
    return pieces


# Pieces of SVG


def _svg(width: float, height: float, title: str, description: str, pieces: Sequence[str]) -> str:
    return (
        '<svg role="img" width="{0}" height="{1}" viewBox="0 0 {0} {1}"><title>{2}</title>'
        "<desc>{3}</desc>{4}</svg>"
    ).format(_n(width), _n(height), _esc(title), _esc(description), "".join(pieces))


def _short(name: str) -> str:
    """Cut in the middle: rows of one file or volume differ at their ends."""
    if len(name) <= _LABEL:
        return name
    return f"{name[: _LABEL // 3]}…{name[-(_LABEL - _LABEL // 3 - 1) :]}"


def _label_width(names: Sequence[str]) -> float:
    longest = max(len(_short(name)) for name in [*names, "share of the row"])
    return round(_LETTER * longest + 14)


def _text(x: float, y: float, text: str, anchor: str, kind: str | None = None) -> str:
    return '<text x="{0}" y="{1}"{2}{3}>{4}</text>'.format(
        _n(x),
        _n(y),
        "" if anchor == "start" else f' text-anchor="{anchor}"',
        f' class="{kind}"' if kind else "",
        _esc(text),
    )


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<path class="{kind}" d="M{_n(x1)} {_n(y1)}L{_n(x2)} {_n(y2)}"/>'


def _rect(x: float, y: float, width: float, height: float) -> str:
    return f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" rx="2"/>'


def _n(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def _esc(text: str) -> str:
    return html.escape(one_line(text))
