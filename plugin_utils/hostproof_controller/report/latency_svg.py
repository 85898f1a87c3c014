# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The latencies before and after a change, drawn over one axis as inline SVG.

The drawing contains no script, no style and no id. Its colours are classes of the page's style, so
that they suit dark screens and print. Colour is never the only distinction: "before" also has
dashes and hollow marks. Screen readers use the title and the description.
"""

import html
import math
from collections.abc import Callable, Sequence
from functools import partial

from ansible.module_utils.hostproof.collect.histogram import Histogram
from ansible.module_utils.hostproof.collect.measured import Window

from .latency_series import (
    Series,
    Summary,
    cells_of,
    duration,
    middle,
    summary,
)
from .text import one_line

_WIDE = 860
_NAMES = 62
_INNER = 86
_CURVES = 110
_BAND = 34

#: Less than this is not a latency that a clock tells; it is where an axis ends.
_LEAST = 0.01

_SUBDIVISIONS = ((1.1, (1, 2, 5)), (3.2, (1, 3)), (math.inf, (1,)))

Part = tuple[float, float, float]


def overlay(title: str, before: Series, after: Series) -> str:
    """Both distributions over one axis, p50 and p99 of each, and below a mark for each window."""
    sides = (before, after)
    figures = [summary(side) for side in sides]
    shapes = _shapes(before, after)
    points = [[_of_window(window) for window in side.windows] for side in sides]
    known = [value for values in points for value in values if value is not None]
    known += [
        value for figure in figures for value in (figure.p50, figure.p99) if value is not None
    ]
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
    sentences: list[str] = []
    labels: list[str] = []
    for number, (letter, word) in enumerate((("A", "before"), ("B", "after"))):
        line, band = 14 + 17 * number, bands + (_BAND + 6) * number
        pieces.append(f'<path class="c{letter}" d="M1 {line}v-8h12v8z"/>')
        pieces.append(_text(18, line, word, "start", "t" + letter))
        pieces.append(_text(18, band + _BAND / 2 + 4, word, "start", "t" + letter))
        marks, words = _percentiles(letter, figures[number], place, line, band + _BAND)
        pieces += marks + _windows(letter, points[number], place, band)
        labels += words
        sentences.append(f"{word}: {_sentence(figures[number])}")
    return _svg(_WIDE, bottom + 24, title, "; ".join(sentences) + ".", pieces + labels)


# Before and after


def _shapes(before: Series, after: Series) -> list[list[Part]]:
    """Lower end, upper end and share of the parts of both distributions, in the same steps.

    Empty where one side tells none. What lies beyond 999 of 1,000 at either end is left to the
    table: a single stall would press all else into a corner.
    """
    merged = [_merged(series) for series in (before, after)]
    all_parts: Sequence[Sequence[tuple[float, float, float]]] = []
    if all(isinstance(histogram, Histogram) and histogram.count for histogram in merged):
        few = min(histogram.count for histogram in merged if histogram is not None) < 2000
        all_parts = [
            histogram.parts(4 if few else 8) for histogram in merged if histogram is not None
        ]
    else:
        all_parts = [_octave_parts(series) for series in (before, after)]
    shapes = []
    for parts in all_parts:
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
    """Counts by octave. A count over several octaves is spread evenly, as its position is unknown.

    Each window is processed separately, because windows may divide the octaves differently.
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
    value = middle(figures)
    if value is not None:
        word = "p50" if figures.p50 is not None else "mean"
        x = place(value)
        marks.append(_line(x, line - 10, x, floor, "m" + letter))
        label = f"{word} {duration(value)}"
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
    texts = [
        f"{word} {duration(value)}"
        for word, value in (("p50", figures.p50), ("p99", figures.p99), ("mean", figures.mean))
        if value is not None
    ]
    return "{0} windows, {1}".format(figures.windows, ", ".join(texts) or "no figure")


# Axes


def _axis(
    known: Sequence[float], left: float, right: float
) -> tuple[Callable[[float], float], list[float]]:
    """Where a latency is between ``left`` and ``right``, on a scale of ratios, and ticks."""
    values = [max(value, _LEAST) for value in known] or [1.0]
    low, high = min(values), max(values)
    if high < 4 * low:
        # What is within a few percent shall look so.
        centre = math.sqrt(low * high)
        low, high = centre / 2, centre * 2
    decades = math.log10(high / low)
    steps = next(steps for most, steps in _SUBDIVISIONS if decades <= most)
    # The axis goes on next to the values, where their labels stand.
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


def _n(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def _esc(text: str) -> str:
    return html.escape(one_line(text))
