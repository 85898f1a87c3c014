# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The wait event histograms of AWR and Statspack reports, in octaves of a microsecond.

A report spreads one histogram over several tables: the first counts all waits and lumps the long
ones together, the "detail" tables divide those. Each table prints shares of all waits in percent,
".0" for fewer than 0.05% and nothing for none. A millisecond here is 1,024 microseconds, as
WAIT_TIME_FORMAT of V$EVENT_HISTOGRAM_MICRO says ("1 millisecond" is the bin below 1,024)."""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ....errors import ParseError, kind_of
from ....parsers.number import integer
from . import dashed_table
from .wait_events import full_name

_LABEL = re.compile(r"^(?:<=?|>=?) ?([0-9]+(?:/[0-9]+)?) ?(us?|ms|s|m|h|)$")
_EXPONENTS = {"u": 0, "us": 0, "ms": 10, "s": 20, "m": 26, "h": 32}
_TITLE = "Wait Event Histogram"
_FOOTER = re.compile(r"^ {4,}-{20,}$")
_NO_DATA = "No data exists for this section of the report."

#: The exponent that represents "and above".
OPEN = 99


class Share(NamedTuple):
    """``percent`` of an event's waits took at least 2**low and less than 2**high microseconds.

    ``low`` is None without a lower end, ``high`` is OPEN without an upper end. A ``percent`` of 0.0
    means more than none and less than 0.05.
    """

    low: Optional[int]
    high: int
    percent: Optional[float]


class EventHistogram(NamedTuple):
    """``waits`` is rounded as printed (35.9K), None where no table of totals has the event.

    ``counts`` are waits by k, each below 2**k microseconds; ``wide`` gives, for those k that hold
    more than their own octave, the lowest octave they hold (0: all below); ``open`` is the k
    whose waits have no upper end. A share printed as .0 counts as one wait.
    """

    name: str
    cut: bool
    waits: Optional[int]
    counts: Dict[int, int]
    wide: Dict[int, int]
    open: Optional[int]
    line: int


class _Found(NamedTuple):
    """What the tables say of an event: its total, and the shares of each table."""

    waits: Optional[int]
    shares: List[Share]
    line: int
    cut: bool


def is_title(line: str) -> bool:
    """Whether a table of histograms begins here."""
    return line.lstrip("\f").startswith(_TITLE)


def parse(what: str, lines: Sequence[str]) -> List[EventHistogram]:
    """Every event that the tables name, in their order. ParseError for scrambled tables."""
    by_name: Dict[str, _Found] = {}
    index = 0
    while index < len(lines):
        if is_title(lines[index]):
            index = _table(what, lines, index, by_name)
        else:
            index += 1
    return [_merged(name, entry) for name, entry in by_name.items()]


def _table(what: str, lines: Sequence[str], start: int, by_name: Dict[str, _Found]) -> int:
    """Reads one table into ``by_name``; the index after it."""
    rule = _rule(what, lines, start)
    if rule is None:
        return start + 1
    spans = dashed_table.columns(lines[rule])
    # "to 32m" is wider than its column.
    words = lines[rule - 1][: spans[1][1]].split()
    labels = dashed_table.cells(" " * spans[1][1] + lines[rule - 1][spans[1][1] :], spans[2:])
    if words[:1] != ["Event"] or labels is None:
        raise ParseError(what, "the histogram has headings that are not known", rule)
    ranges = _ranges(what, labels, rule)
    counts_all = words == ["Event", "Waits"]
    for index in range(rule + 1, len(lines)):
        line = lines[index]
        if line.startswith("\f") or _FOOTER.match(line) or is_title(line):
            return index
        if not line.strip():
            ahead = next((text for text in lines[index:] if text.strip()), "")
            if _values(ahead, spans) is None:
                return index
            continue
        values = _values(line, spans)
        if values is None:
            raise ParseError(
                what,
                f"the row does not match its columns: {kind_of(line.strip())}",
                index + 1,
            )
        _add(by_name, line, spans, values, ranges, counts_all, index + 1)
    return len(lines)


def _rule(what: str, lines: Sequence[str], start: int) -> Optional[int]:
    """The dashes below the title ``lines[start]``; None where the report has no data for it."""
    for index in range(start + 1, len(lines)):
        if _NO_DATA in lines[index]:
            return None
        if len(dashed_table.columns(lines[index])) > 2:
            return index
        if is_title(lines[index]):
            break
    raise ParseError(what, "the histogram has no table", start + 1)


def _add(
    by_name: Dict[str, _Found],
    line: str,
    spans: List[Tuple[int, int]],
    values: List[Optional[float]],
    ranges: List[Tuple[Optional[int], int]],
    counts_all: bool,
    number: int,
) -> None:
    begin, stop = spans[0]
    name, cut = full_name(line[begin:stop].strip(), stop - begin)
    known = by_name.get(name) or _Found(None, [], number, cut)
    new = [Share(ends[0], ends[1], values[place + 1]) for place, ends in enumerate(ranges)]
    waits = known.waits
    if counts_all and values[0] is not None:
        waits = int(values[0])
    by_name[name] = _Found(waits, known.shares + new, known.line, cut)


def _values(line: str, spans: List[Tuple[int, int]]) -> Optional[List[Optional[float]]]:
    """The numbers of a row, the count first; None where it is not a row of this table."""
    cells = dashed_table.cells(line, spans)
    if cells is None or not cells[0] or not cells[1]:
        return None
    values: List[Optional[float]] = []
    for cell in cells[1:]:
        printed = dashed_table.number(cell) if cell else None
        if cell and printed is None:
            return None
        values.append(dashed_table.value_of(printed))
    # A share is one of a hundred, and not every row can be empty.
    if any(value is not None and value > 100 for value in values[1:]):
        return None
    return values


def _ranges(what: str, labels: Sequence[str], line: int) -> List[Tuple[Optional[int], int]]:
    """The octaves of each column: <8us <16us ... >=512, or <1ms ... <=1s >1s, or <32ms <1/8s ...

    The last column begins where the one before it ends, so that its label, which Oracle cuts off
    (">=32m" is 32 ms), is not needed. A first label without a unit is half of the second.
    """
    if len(labels) < 3 or not labels[-1].startswith(">"):
        raise ParseError(what, "the histogram has no last column of longer waits", line)
    bounds: List[int] = []
    for place in range(len(labels) - 2, -1, -1):
        bound = _exponent(labels[place])
        if bound is None and bounds and _is_half(labels[place], bounds[0]):
            bound = bounds[0] - 1
        if bound is None or (bounds and bound >= bounds[0]):
            raise ParseError(what, f"the histogram has the column {kind_of(labels[place])}", line)
        bounds.insert(0, bound)
    lows: List[Optional[int]] = [None] + bounds
    highs = bounds + [OPEN]
    return [(lows[place], highs[place]) for place in range(len(highs))]


def _exponent(label: str) -> Optional[int]:
    match = _LABEL.match(label)
    if match is None or not match.group(2):
        return None
    number, unit = match.groups()
    whole, _, divisor = number.partition("/")
    if len(number) > 8 or not integer(divisor or "1"):
        return None
    value = (integer(whole) << _EXPONENTS[unit]) // integer(divisor or "1")
    exponent = value.bit_length() - 1
    return exponent if value and value == 1 << exponent else None


def _is_half(label: str, next_exponent: int) -> bool:
    """Whether a label without its unit names half of the next bound: <512 before <1ms."""
    match = _LABEL.match(label)
    if match is None or match.group(2) or "/" in match.group(1) or len(match.group(1)) > 8:
        return False
    return any(
        integer(match.group(1)) << exponent == 1 << (next_exponent - 1)
        for exponent in (0, 10, 20)
        if next_exponent
    )


def _finest(shares: Sequence[Share]) -> List[Share]:
    """The shares that hold an octave which no other divides finer, sorted by their upper ends."""
    edges = sorted({edge for share in shares for edge in (share.low or 0, share.high)})
    taken = set()
    for begin in edges[:-1]:
        holding = [part for part in shares if (part.low or 0) <= begin < part.high]
        if holding:
            taken.add(min(holding, key=lambda part: part.high - (part.low or 0)))
    return sorted(taken, key=lambda part: part.high)


def _merged(name: str, entry: _Found) -> EventHistogram:
    """Each octave from the table that divides it finest; nothing where two events share a name."""
    counts: Dict[int, int] = {}
    wide: Dict[int, int] = {}
    open_at: Optional[int] = None
    ends = [share[:2] for share in entry.shares]
    if len(set(ends)) < len(ends):
        # Two names that the column cut off alike: their shares is unknown apart.
        return EventHistogram(name, True, None, {}, {}, None, entry.line)
    for share in _finest(entry.shares):
        if share.percent is None or entry.waits is None:
            continue
        exponent = share.high
        if share.high == OPEN:
            # Without an upper end, they are in the first octave that they can be in.
            exponent = open_at = (share.low or 0) + 1
        count = max(1, int(round(entry.waits * share.percent / 100.0)))
        counts[exponent] = counts.get(exponent, 0) + count
        if share.low is None:
            wide[exponent] = 0
        elif share.high != OPEN and share.high - share.low > 1:
            wide[exponent] = share.low + 1
    return EventHistogram(name, entry.cut, entry.waits, counts, wide, open_at, entry.line)
