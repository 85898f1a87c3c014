# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Latencies as HTML tables: figures and a heat map of the distribution; before and after.

A colour never carries a meaning alone: each cell of the heat map holds its count, and a bar for a
range its middle.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from .latency_series import (
    Series,
    cells_of,
    change_text,
    count_text,
    duration,
    grouped,
    is_open,
    middle,
    octave_with,
    span_text,
    summary,
)
from .templating import latency_parts

#: Shares of a row, in percent, below which a cell has the 1st, 2nd ... colour; the last has 6.
SHADES = (1, 3, 10, 25, 50)

_COLUMNS = (
    ("min", "minimum"),
    ("p50", "p50"),
    ("p90", "p90"),
    ("p99", "p99"),
    ("max", "maximum"),
    ("mean", "mean"),
)
_SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}


class Pair(NamedTuple):
    """The same before and after; None on the side where it was not measured."""

    before: Series | None
    after: Series | None

    @property
    def name(self) -> str:
        series = self.before or self.after
        if series is None:
            raise ValueError("a pair needs a series before or after")
        return f"{series.probe}: {series.name}"


class _Cell(NamedTuple):
    """A cell over this number of octaves: a count with its shade, the bar of a range, or
    nothing."""

    columns: int
    kind: str = ""
    caption: str = ""
    text: str = ""


class _Row(NamedTuple):
    """A series as a line of a table: its figures, and its cells by octave."""

    name: str
    windows: int
    total: str
    figures: list[str]
    cells: list[_Cell]


def figures_table(key: str, several: Sequence[Series]) -> Any:
    """A line for each series: its figures, and the distribution of its I/Os, round trips or waits.

    The number in a cell is a count, and the colour is its share of the line. If the source has no
    distribution, a bar covers the range from the lowest to the highest latency.
    """
    figures = [_figures(series) for series in several]
    columns = _filled_columns(figures)
    spans = [_spans(series) for series in several]
    first = min((low for row in spans for low, _, _ in row), default=0)
    last = max((high for row in spans for _, high, _ in row), default=-1)
    heads = [span_text(n, n, n == last and is_open(several, n)) for n in range(first, last + 1)]
    rows = [
        _row(name, series, texts, columns, _cells(series, row, first, last))
        for name, series, texts, row in zip(_names(several), several, figures, spans, strict=True)
    ]
    table = latency_parts().figures(["What", "Windows", "Count", *columns, *heads], rows)
    words = _shade_words() if any(count for row in spans for _, _, count in row) else []
    return latency_parts().scrolled(key, table) + latency_parts().shades(words)


def pairs_table(pairs: Sequence[Pair]) -> Any:
    """The figures before and after, and how each changed."""
    both = [[{} if series is None else _figures(series) for series in pair] for pair in pairs]
    columns = _filled_columns([texts for sides in both for texts in sides])
    rows = []
    for pair, sides in zip(pairs, both, strict=True):
        early, late = (None if series is None else summary(series) for series in pair)
        before, after = (
            None if series is None else _row(word, series, texts, columns, [])
            for word, series, texts in zip(("before", "after"), pair, sides, strict=True)
        )
        changes = [
            change_text(getattr(early, name, None), getattr(late, name, None))
            for head, name in _COLUMNS
            if head in columns
        ]
        rows.append({"name": pair.name, "before": before, "after": after, "changes": changes})
    heads = ["What", "When", "Windows", "Count", *columns]
    return latency_parts().scrolled("before and after", latency_parts().pairs(heads, rows))


def _row(
    name: str,
    series: Series,
    texts: dict[str, str | None],
    columns: Sequence[str],
    cells: list[_Cell],
) -> _Row:
    count = sum(window.n for window in series.windows)
    figures = [texts[head] or "–" for head in columns]
    return _Row(
        name, len(series.windows), grouped(count) if count else "not available", figures, cells
    )


def _filled_columns(figures: Sequence[dict[str, str | None]]) -> list[str]:
    return [head for head, _ in _COLUMNS if any(texts.get(head) for texts in figures)]


def _figures(series: Series) -> dict[str, str | None]:
    """The figures of a series as words, by the heads of their columns."""
    stats = summary(series)
    figures: dict[str, str | None] = {}
    for head, name in _COLUMNS:
        value = getattr(stats, name)
        if value is not None:
            figures[head] = duration(value)
        else:
            figures[head] = octave_with(series, _SHARES[head]) if head in _SHARES else None
    return figures


def _names(several: Sequence[Series]) -> list[str]:
    """With the probe in front where there is more than one."""
    if len({series.probe for series in several}) == 1:
        return [series.name for series in several]
    return [f"{series.probe}: {series.name}" for series in several]


def _spans(series: Series) -> list[tuple[int, int, int]]:
    """Lowest and highest octave and count of each cell; count 0 is the range of all."""
    values = [value for value in summary(series)[2:] if value is not None]
    spans = cells_of([series])
    if spans or not values:
        return spans
    # An octave ends below a power of two microseconds (Window.log2_bins).
    return [(int(min(values)).bit_length(), int(max(values)).bit_length(), 0)]


def _cells(
    series: Series, spans: Sequence[tuple[int, int, int]], first: int, last: int
) -> list[_Cell]:
    total = sum(count for _, _, count in spans)
    cells = []
    column = first
    for low, high, count in spans:
        # Reports that divide the octaves differently overlap: the finer one keeps its columns.
        start = max(low, column)
        if start > column:
            cells.append(_Cell(start - column))
        span = span_text(low, high, is_open([series], high))
        if count:
            share = 100.0 * count / total
            kind = f"q{1 + sum(share >= limit for limit in SHADES)}"
            tooltip = f"{span}: {grouped(count)} of {grouped(total)}, {share:.3g}%"
            cells.append(_Cell(high - start + 1, kind, tooltip, count_text(count)))
        else:
            cells.append(_Cell(high - start + 1, "rg", span, _middle_text(series)))
        column = high + 1
    return [*cells, _Cell(last + 1 - column)] if column <= last else cells


def _middle_text(series: Series) -> str:
    stats = summary(series)
    value = middle(stats)
    if value is None:
        return ""
    return "{0} {1}".format("mean" if stats.p50 is None else "p50", duration(value))


def _shade_words() -> list[str]:
    """Legend of the colours."""
    words = [f"under {SHADES[0]}%"]
    words += [f"{low}–{high}%" for low, high in zip(SHADES, SHADES[1:], strict=False)]
    return [*words, f"{SHADES[-1]}% and more"]
