# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The latencies that a finding rests on, in the report.

A finding that cites a reading of kind "windows" gets a table with a heat map of its distribution.
One that cites both ``windows:before:X`` and ``windows:after:X`` gets both drawn over one axis.
"""

import math
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.collect.evidence import decode
from ansible.module_utils.hostproof.errors import HostproofError
from markupsafe import Markup

from .host_state import HostState
from .latency_series import Series, read_windows, summary
from .latency_svg import overlay
from .latency_tables import Pair, figures_table, pairs_table
from .templating import latency_parts
from .text import one_line

#: More than these are left to the table, and those to findings.jsonl.
DRAWINGS = 12
TABLE_ROWS = 120

_WINDOWS = "windows:"
_BEFORE = "windows:before:"
_AFTER = "windows:after:"

_HOW_TO_READ = (
    "Areas: latency distribution (outline: before, filled: after), without the lowest and highest "
    "0.1%. Lines: p50 (or mean) and p99 (dashed). Marks: one for each window, first on top."
)
_PASSIVE = (
    "From kernel counters: p50 is the median, min and max are the extremes of interval means, not "
    "of single requests."
)
_MEDIANS = "With several windows, p50, p90, p99 and mean are medians over the windows."


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


def figures_of(state: HostState, findings: list[dict[str, Any]]) -> dict[int, Figure]:
    """The figures of some findings of a host, by the id() of the finding that shows them."""
    readings = _window_readings(state)
    figures: dict[int, Figure] = {}
    shown: dict[tuple[str, ...], int] = {}
    if not readings:
        return figures
    for finding in findings:
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
    """Short title of a figure."""
    probes = dict.fromkeys(one_line(series.probe) for series in _all_series(figure))
    words = ", ".join(probes) or "nothing that can be shown"
    return "Latency{0}: {1}".format(" before and after" if figure.pairs else "", words)


def content(figure: Figure) -> Any:
    """Drawings, tables of figures, and what was no window, as markup."""
    pieces = _drawings(figure)
    if figure.pairs:
        rows = figure.pairs[: max(1, TABLE_ROWS // 3)]
        pieces.append(pairs_table(rows))
        pieces.append(_rest(len(figure.pairs) - len(rows)))
    for group in figure.groups:
        several = group.series[: max(1, TABLE_ROWS // len(figure.groups))]
        if len(figure.groups) > 1:
            pieces.append(latency_parts().remark(group.key))
        pieces.append(figures_table(group.key, several))
        pieces.append(_rest(len(group.series) - len(several)))
    if any(len(series.windows) > 1 for series in _all_series(figure)):
        pieces.append(latency_parts().remark(_MEDIANS))
    if any(_is_passive(series) for series in _all_series(figure)):
        pieces.append(latency_parts().remark(_PASSIVE))
    pieces += [latency_parts().problem(problem) for problem in figure.problems]
    return Markup("").join(pieces)


def _rest(number: int) -> Any:
    if number <= 0:
        return Markup("")
    return latency_parts().remark(f"… and {number} more: findings.jsonl.")


def _all_series(figure: Figure) -> list[Series]:
    all_series = [series for group in figure.groups for series in group.series]
    return all_series + [series for pair in figure.pairs for series in pair if series is not None]


# From evidence to series


def _window_readings(state: HostState) -> dict[str, dict[str, Any]]:
    """The readings of kind "windows" that the findings of a host cite."""
    readings: dict[str, dict[str, Any]] = {}
    for part in state.parts:
        keys = {key for finding in part.findings for key in finding["evidence"]}
        keys = {key for key in keys if key.startswith(_WINDOWS)}
        if not keys or part.line["evidence"] is None:
            continue
        try:
            evidence = decode(part.line["evidence"])
        except HostproofError:
            # The evidence of the finding states so itself.
            continue
        for key in keys:
            reading = evidence.get(key)
            if not isinstance(reading, dict) or "error" in reading:
                continue
            if reading.get("kind") == "windows":
                readings[key] = reading
    return readings


def _figure(number: int, keys: tuple[str, ...], readings: dict[str, dict[str, Any]]) -> Figure:
    groups: list[Group] = []
    pairs: list[Pair] = []
    problems: list[str] = []

    def read_series(key: str) -> list[Series]:
        result = read_windows(readings[key])
        problems.extend(f"{key}: {problem}" for problem in result.problems)
        return result.series

    for key in keys:
        other = _other_side(key)
        if other not in keys:
            series = read_series(key)
            groups += [Group(key, series)] if series else []
        elif key.startswith(_BEFORE):
            pairs += _paired(read_series(key), read_series(other))
    return Figure(number, keys, groups, pairs, problems, None)


def _other_side(key: str) -> str:
    for mine, others in ((_BEFORE, _AFTER), (_AFTER, _BEFORE)):
        if key.startswith(mine):
            return others + key[len(mine) :]
    return ""


def _paired(before: list[Series], after: list[Series]) -> list[Pair]:
    late = {series.key: series for series in after}
    pairs = [Pair(series, late.pop(series.key, None)) for series in before]
    return pairs + [Pair(None, series) for series in late.values()]


# Drawings


def _drawings(figure: Figure) -> list[Any]:
    whole = [pair for pair in figure.pairs if pair.before and pair.after]
    most = {id(pair) for pair in sorted(whole, key=_change, reverse=True)[:DRAWINGS]}
    drawn = [pair for pair in whole if id(pair) in most]
    pieces = [latency_parts().framed(pair.name, _overlay(pair)) for pair in drawn]
    if pieces:
        pieces.append(latency_parts().remark(_HOW_TO_READ))
    if len(drawn) < len(whole):
        note = f"Shown: the {len(drawn)} of {len(whole)} with the largest change."
        pieces.append(latency_parts().remark(note))
    return pieces


def _overlay(pair: Pair) -> Any:
    if pair.before is None or pair.after is None:
        raise AssertionError
    # The drawing escapes what it names itself.
    return Markup(overlay(pair.name, pair.before, pair.after))


def _is_passive(series: Series) -> bool:
    return any(window.conditions.get("mode") == "passive" for window in series.windows)


def _change(pair: Pair) -> float:
    if pair.before is None or pair.after is None:
        raise AssertionError
    before, after = summary(pair.before), summary(pair.after)
    ratios = [
        abs(math.log(late / early))
        for early, late in ((before.p50, after.p50), (before.p99, after.p99))
        if early and late
    ]
    if not ratios and before.mean and after.mean:
        ratios = [abs(math.log(after.mean / before.mean))]
    return max(ratios, default=0.0)
