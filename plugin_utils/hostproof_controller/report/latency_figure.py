# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The latencies that a finding rests on, in report.html: drawings and a table of the same.

A finding that cites a reading of kind "windows" gets a heat map of size by latency, or where the
source tells no distribution a line from the shortest to the longest. One that cites both
``windows:before:X`` and ``windows:after:X`` gets both over one axis.
"""

import html
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evidence import decode
from ansible.module_utils.hostproof.finding import STATUSES

from ..latency.size_rows import size_row
from .host_state import HostState
from .latency_series import (
    Series,
    change_text,
    duration,
    grouped,
    octave_with,
    read_windows,
    size_text,
    summary,
)
from .latency_svg import Row, drawable, heat_map, overlay, ranges
from .text import one_line, printable

#: More than these are left to the table, and those to findings.jsonl.
DRAWINGS = 12
ROWS_DRAWN = 24
TABLE_ROWS = 120

_WINDOWS = "windows:"
_BEFORE = "windows:before:"
_AFTER = "windows:after:"

_COLUMNS = (
    ("min", "minimum"),
    ("p50", "p50"),
    ("p90", "p90"),
    ("p99", "p99"),
    ("max", "maximum"),
    ("mean", "mean"),
)

_SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}

_HOW_TO_READ = (
    "Areas: how often each latency came, outline before, filled after; one in a thousand at either "
    "end lies outside. Lines: p50, or the mean where there is none, and p99 in dashes. Marks: one "
    "for each window, the first on top."
)
_PASSIVE = (
    "From the kernel's counters: p50 is the median of the means of intervals of some seconds, min "
    "and max are the least and the largest of those means, not of single requests."
)
_MEDIANS = "Of several windows p50, p90, p99 and mean are the medians of theirs."


class Pair(NamedTuple):
    """The same before and after; None on the side where it was not measured."""

    before: Series | None
    after: Series | None

    @property
    def name(self) -> str:
        one = self.before or self.after
        assert one is not None
        return f"{one.probe}: {one.name}"


class Group(NamedTuple):
    """The series of one reading: two readings may well tell of the same disk."""

    key: str
    series: list[Series]


class Figure(NamedTuple):
    """What one finding shows. ``keys`` is the evidence drawn, ``problems`` are sentences.

    ``seen``: the number of an earlier figure of the host that shows it already.
    """

    number: int
    keys: tuple[str, ...]
    groups: list[Group]
    pairs: list[Pair]
    problems: list[str]
    seen: int | None


def by_urgency(state: HostState) -> list[dict[str, Any]]:
    """The findings of a host as its section shows them, the worst first."""
    return sorted(state.findings, key=lambda finding: STATUSES.index(finding["status"]))


def figures_of(state: HostState) -> dict[int, Figure]:
    """The figures of a host by the id() of the finding that shows them."""
    readings = _window_readings(state)
    figures: dict[int, Figure] = {}
    shown: dict[tuple[str, ...], int] = {}
    if not readings:
        return figures
    for finding in by_urgency(state):
        keys = tuple(key for key in finding["evidence"] if key in readings)
        if not keys:
            continue
        seen = shown.get(keys)
        number = shown.setdefault(keys, len(shown) + 1)
        if seen is not None:
            figures[id(finding)] = Figure(number, keys, [], [], [], seen)
        else:
            figures[id(finding)] = _figure(number, keys, readings)
    return figures


def heading(figure: Figure) -> str:
    """What a figure shows, in a few words."""
    probes = dict.fromkeys(one_line(one.probe) for one in _all_series(figure))
    words = ", ".join(probes) or "nothing that can be shown"
    return "Latency{0}: {1}".format(" before and after" if figure.pairs else "", words)


def content(figure: Figure) -> str:
    """Drawings and the whole table, as HTML."""
    return "".join(_drawings(figure)) + table(figure, TABLE_ROWS)


def table(figure: Figure, most: int) -> str:
    """The figures of at most ``most`` series as an HTML table, and what was no window."""
    pieces = []
    if figure.pairs:
        rows = figure.pairs[: max(1, most // 3)]
        pieces.append(_pairs_table(rows))
        pieces.append(_rest(len(figure.pairs) - len(rows)))
    for group in figure.groups:
        several = group.series[: max(1, most // len(figure.groups))]
        if len(figure.groups) > 1:
            pieces.append(f"<p class=lk>{_esc(group.key)}")
        pieces.append(_series_table(group.key, several))
        pieces.append(_rest(len(group.series) - len(several)))
    if any(len(one.windows) > 1 for one in _all_series(figure)):
        pieces.append(f"<p class=lk>{_MEDIANS}")
    if any(_is_passive(one) for one in _all_series(figure)):
        pieces.append(f"<p class=lk>{_PASSIVE}")
    pieces += [f"<p class=lp>{_esc(problem)}" for problem in figure.problems]
    return "".join(pieces)


def _all_series(figure: Figure) -> list[Series]:
    found = [one for group in figure.groups for one in group.series]
    return found + [one for pair in figure.pairs for one in pair if one is not None]


# From evidence to series


def _window_readings(state: HostState) -> dict[str, dict[str, Any]]:
    """The readings of kind "windows" that the findings of a host cite."""
    found: dict[str, dict[str, Any]] = {}
    for part in state.parts:
        wanted = {key for finding in part.findings for key in finding["evidence"]}
        wanted = {key for key in wanted if key.startswith(_WINDOWS)}
        if not wanted or part.line["evidence"] is None:
            continue
        try:
            evidence = decode(part.line["evidence"])
        except HostproofError:
            # The evidence of the finding says so itself.
            continue
        for key in wanted:
            reading = evidence.get(key)
            if not isinstance(reading, dict) or "error" in reading:
                continue
            if reading.get("kind") == "windows":
                found[key] = reading
    return found


def _figure(number: int, keys: tuple[str, ...], readings: dict[str, dict[str, Any]]) -> Figure:
    groups: list[Group] = []
    pairs: list[Pair] = []
    problems: list[str] = []

    def told(key: str) -> list[Series]:
        found = read_windows(readings[key])
        problems.extend(f"{key}: {problem}" for problem in found.problems)
        return found.series

    for key in keys:
        other = _other_side(key)
        if other not in keys:
            found = told(key)
            groups += [Group(key, found)] if found else []
        elif key.startswith(_BEFORE):
            pairs += _paired(told(key), told(other))
    return Figure(number, keys, groups, pairs, problems, None)


def _other_side(key: str) -> str:
    for mine, others in ((_BEFORE, _AFTER), (_AFTER, _BEFORE)):
        if key.startswith(mine):
            return others + key[len(mine) :]
    return ""


def _paired(before: list[Series], after: list[Series]) -> list[Pair]:
    late = {one.key: one for one in after}
    pairs = [Pair(one, late.pop(one.key, None)) for one in before]
    return pairs + [Pair(None, one) for one in late.values()]


# Drawings


def _drawings(figure: Figure) -> list[str]:
    whole = [pair for pair in figure.pairs if pair.before and pair.after]
    drawn = _first_of(whole, sorted(whole, key=_change, reverse=True), DRAWINGS)
    pieces = [_framed(pair.name, overlay(pair.name, *pair)) for pair in drawn]
    if pieces:
        pieces.append(f"<p class=lk>{_HOW_TO_READ}")
    if len(drawn) < len(whole):
        pieces.append(f"<p class=lk>Drawn are the {len(drawn)} of {len(whole)} that changed most.")
    several = len(figure.groups) > 1
    shown = [one for group in figure.groups for one in _of_group(group, several)]
    pieces += shown[:DRAWINGS]
    if len(shown) > DRAWINGS:
        pieces.append(f"<p class=lk>Drawn are the first {DRAWINGS} of {len(shown)}.")
    return pieces


def _of_group(group: Group, named: bool) -> list[str]:
    """The drawings of one reading, those without a distribution first: they are the fewest."""
    pieces = []
    key = group.key if named else ""
    for name, several in _without_distribution(group.series):
        some = _first_of(several, sorted(several, key=_count, reverse=True), ROWS_DRAWN)
        pieces.append(_framed(name, ranges(name, some), key, len(some), len(several)))
    for name, rows in _heat_maps(group.series):
        chosen = _first_of(rows, sorted(rows, key=_count_of_row, reverse=True), ROWS_DRAWN)
        pieces.append(_framed(name, heat_map(name, chosen), key, len(chosen), len(rows)))
    return pieces


def _heat_maps(several: Sequence[Series]) -> list[tuple[str, list[Row]]]:
    """Name and rows of each map: a thing with several sizes has its own, the others share one."""
    groups: dict[tuple[str, str, str], list[Series]] = {}
    for one in several:
        if drawable(Row(one.name, (one,))):
            groups.setdefault(one[:3], []).append(one)
    maps: dict[str, list[Row]] = {}
    for (probe, subject, layer), found in groups.items():
        if len(found) == 1:
            maps.setdefault(probe, []).append(Row(found[0].name, (found[0],)))
            continue
        by_size: dict[int | None, list[Series]] = {}
        for one in sorted(found, key=lambda one: (one.size is None, one.size or 0)):
            by_size.setdefault(size_row(one.size), []).append(one)
        name = "{0}: {1}".format(probe, ", ".join(filter(None, (subject, layer))))
        maps[name] = [Row(_size_name(ones), tuple(ones)) for ones in by_size.values()]
    return list(maps.items())


def _size_name(several: Sequence[Series]) -> str:
    sizes = [one.size for one in several]
    if sizes[0] is None:
        return "size not told"
    first, last = size_text(sizes[0]), size_text(sizes[-1] or 0)
    return first if first == last else f"{first} to {last}"


def _without_distribution(several: Sequence[Series]) -> list[tuple[str, list[Series]]]:
    by_probe: dict[str, list[Series]] = {}
    for one in several:
        if not drawable(Row(one.name, (one,))) and any(summary(one)[2:]):
            by_probe.setdefault(one.probe, []).append(one)
    return list(by_probe.items())


def _first_of(ordered: Sequence[Any], by_weight: Sequence[Any], most: int) -> list[Any]:
    """The ``most`` weightiest, in the order in which all stand."""
    chosen = {id(one) for one in by_weight[:most]}
    return [one for one in ordered if id(one) in chosen]


def _is_passive(series: Series) -> bool:
    return any(window.conditions.get("mode") == "passive" for window in series.windows)


def _count(series: Series) -> int:
    return sum(window.n for window in series.windows)


def _count_of_row(row: Row) -> int:
    return sum(_count(one) for one in row.series)


def _change(pair: Pair) -> float:
    assert pair.before is not None and pair.after is not None
    before, after = summary(pair.before), summary(pair.after)
    ratios = [
        abs(math.log(late / early))
        for early, late in ((before.p50, after.p50), (before.p99, after.p99))
        if early and late
    ]
    if not ratios and before.mean and after.mean:
        ratios = [abs(math.log(after.mean / before.mean))]
    return max(ratios, default=0.0)


def _framed(name: str, drawing: str, key: str = "", shown: int = 0, of: int = 0) -> str:
    """A drawing with its name; on a narrow screen it scrolls, also by the keys."""
    more = [key] if key else []
    if shown < of:
        more.append(f"the {shown} of {of} that did the most")
    return (
        "<figure><figcaption>{0}{1}</figcaption>"
        '<div class=sx tabindex=0 role=group aria-label="{0}">{2}</div></figure>'
    ).format(
        _esc(name),
        " <small>{0}</small>".format(_esc("; ".join(more))) if more else "",
        drawing,
    )


# Tables


def _series_table(key: str, several: Sequence[Series]) -> str:
    cells = [_cells(one) for one in several]
    columns = [head for head, _ in _COLUMNS if any(told[head] for told in cells)]
    rows = []
    for name, one, told in zip(_names(several), several, cells, strict=False):
        rows.append(f"<tr><th class=ln scope=row>{_esc(name)}{_counts(one)}")
        rows += ["<td>" + (told[head] or "–") for head in columns]
    return _framed_table(key, ["What", "Windows", "Count", *columns], "".join(rows))


def _pairs_table(pairs: Sequence[Pair]) -> str:
    both = [[{} if one is None else _cells(one) for one in pair] for pair in pairs]
    columns = [
        head for head, _ in _COLUMNS if any(told.get(head) for sides in both for told in sides)
    ]
    rows = []
    for pair, sides in zip(pairs, both, strict=False):
        lead = "<tr><th class=ln scope=rowgroup rowspan=3>" + _esc(pair.name)
        for word, one, told in zip(("before", "after"), pair, sides, strict=False):
            rows.append(f"{lead}<th scope=row>{word}")
            lead = "<tr>"
            if one is None:
                rows.append(f"<td colspan={2 + len(columns)}>not measured")
                continue
            rows.append(_counts(one))
            rows += ["<td>" + (told[head] or "–") for head in columns]
        early, late = (None if one is None else summary(one) for one in pair)
        rows.append("<tr class=lc><th scope=row>change<td><td>")
        for head, name in _COLUMNS:
            if head in columns:
                rows.append(
                    "<td>" + change_text(getattr(early, name, None), getattr(late, name, None))
                )
    heads = ["What", "", "Windows", "Count", *columns]
    return _framed_table("before and after", heads, "".join(rows))


def _cells(series: Series) -> dict[str, str | None]:
    """The figures of a series as words, by the heads of their columns."""
    told = summary(series)
    cells: dict[str, str | None] = {}
    for head, name in _COLUMNS:
        value = getattr(told, name)
        if value is not None:
            cells[head] = duration(value)
        else:
            cells[head] = octave_with(series, _SHARES[head]) if head in _SHARES else None
    return cells


def _counts(series: Series) -> str:
    count = _count(series)
    return "<td>{0}<td>{1}".format(len(series.windows), grouped(count) if count else "not told")


def _framed_table(name: str, heads: Sequence[str], rows: str) -> str:
    return (
        '<div class=sx tabindex=0 role=group aria-label="Latencies: {0}"><table class=lt>'
        "<thead><tr>{1}<tbody>{2}</table></div>"
    ).format(
        _esc(name),
        "".join(f"<th scope=col>{head}" if head else "<td>" for head in heads),
        rows,
    )


def _names(several: Sequence[Series]) -> list[str]:
    """With the probe in front where there is more than one."""
    if len({one.probe for one in several}) == 1:
        return [one.name for one in several]
    return [f"{one.probe}: {one.name}" for one in several]


def _rest(number: int) -> str:
    return f"<p class=lk>… and {number} more: findings.jsonl." if number > 0 else ""


def _esc(text: str) -> str:
    return html.escape(printable(text))
