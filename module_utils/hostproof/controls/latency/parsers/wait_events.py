# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of wait events that AWR and Statspack reports share, and their averages.

The column of averages is rounded to whole milliseconds up to 12.1 (9,257,339 waits of 3,778 s are
"0"), while later the seconds are what is rounded away (13 waits of "0" s are 3.23ms). So the mean
is taken from whichever of the two is known to more digits.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ....errors import ParseError, kind_of
from . import awr_layouts, dashed_table, idle_events
from .awr_layouts import Layout
from .dashed_table import Printed

_AVERAGE = re.compile(r"^([0-9,]*\.[0-9]+|[0-9,]*[0-9]) ?(ns|us|ms|s|m|h)$")
_MICROSECONDS = {"ns": 0.001, "us": 1.0, "ms": 1000.0, "s": 1e6, "m": 6e7, "h": 3.6e9}
_OVERFLOW = re.compile(r"^#+$")
_FOOTER = re.compile(r"^ {4,}-{20,}$")
#: Rows of a table that are not waits: time on the CPU.
NO_WAITS = ("CPU time", "DB CPU", "background cpu time")

#: What may be wrong with a row whose other figures stand; see ``WaitEvent.problem``.
WAITS_OVERFLOWED = "the number of waits did not fit its column"
TIME_OVERFLOWED = "the time did not fit its column"
TIME_CUT = "the time is cut off after four characters, and nothing tells whether it is in thousands"
CONTRADICTORY = "the time, divided by the waits, is not the printed average"

#: Lines that may follow a table without a blank line between.
_NEXT = (
    "Host CPU",
    "Statistic  ",
    "Instance Activity",
    "Wait Classes by",
    "Load Profile",
    "Top ",
    "Foreground Wait",
    "Background Wait",
    "Wait Event",
    "End of Report",
)

#: Events by their full names: a column cuts them at 26, 28 or 30 characters.
NAMES = (
    "ASM file metadata operation",
    "SQL*Net message from client",
    "SQL*Net more data from client",
    "SQL*Net more data to client",
    "Streams AQ: qmn coordinator idle wait",
    "cell list of blocks physical read",
    "cell multiblock physical read",
    "cell single block physical read",
    "cell single block physical read: RDMA",
    "cell single block physical read: flash cache",
    "cell single block physical read: pmem cache",
    "cell smart file creation",
    "cell smart incremental backup",
    "cell smart restore from backup",
    "cell statistics gather",
    "control file parallel write",
    "control file sequential read",
    "db file parallel read",
    "db file parallel write",
    "db file scattered read",
    "db file sequential read",
    "direct path read",
    "direct path read temp",
    "direct path write",
    "direct path write temp",
    "enq: TX - row lock contention",
    "flashback log file write",
    "gc buffer busy acquire",
    "gc buffer busy release",
    "latch: cache buffers chains",
    "latch: cache buffers lru chain",
    "latch: In memory undo latch",
    "log file parallel write",
    "log file sequential read",
    "log file single write",
    "log file switch (archiving needed)",
    "log file switch (checkpoint incomplete)",
    "log file switch (private strand flush incomplete)",
    "log file switch completion",
    "log file sync",
)


class WaitEvent(NamedTuple):
    """One row. ``seconds`` is as printed; ``average`` is microseconds for one wait.

    ``average`` is right within ``uncertainty`` (microseconds, what the printed digits leave open),
    and ``by`` says what it was taken from: "seconds" (divided by the waits) or "column". All
    three are None where neither tells. ``waits`` is None for time on the CPU. ``cut`` is true
    where the name fills its column and is none that is known: it may go on. ``idle`` is by the
    share, which a table leaves empty for such events, or by the name if it has no shares.
    ``problem`` is one of the constants above; the figure that it speaks of is None.
    """

    section: str
    name: str
    cut: bool
    wait_class: Optional[str]
    waits: Optional[int]
    seconds: Optional[float]
    average: Optional[float]
    uncertainty: Optional[float]
    by: Optional[str]
    percent: Optional[float]
    line: int
    idle: bool
    problem: Optional[str]


class _Row(NamedTuple):
    """A row as printed. ``scales``: what the time may have to be multiplied by; () for nothing."""

    event: WaitEvent
    waits: Optional[Printed]
    seconds: Optional[Printed]
    column: Optional[Printed]
    scales: Tuple[int, ...]


class Average(NamedTuple):
    """Microseconds; what the printed digits leave open; "seconds" or "column"."""

    value: float
    uncertainty: float
    by: str


#: The fields of an Average that is not known.
NO_AVERAGE = (None, None, None)


class Table(NamedTuple):
    """``end`` is the index of the line that the table did not take."""

    layout: Layout
    events: List[WaitEvent]
    end: int


def read_table(
    what: str, section: str, lines: Sequence[str], at: int, layouts: Sequence[Layout]
) -> Table:
    """The table whose dashes are ``lines[at]``. ParseError where its rows are not in its columns.

    A blank line ends it unless a row follows, as at the end of a page.
    """
    spans = dashed_table.columns(lines[at])
    layout = _layout(what, dashed_table.cells(lines[at - 1], spans) if at else None, layouts, at)
    rows: List[_Row] = []
    index = at + 1
    while index < len(lines):
        line = lines[index]
        if not line.strip():
            ahead = _next_text(lines, index)
            if ahead is None or not _is_row(lines[ahead], spans, layout):
                break
            index = ahead
            continue
        if _FOOTER.match(line) or line.startswith("\f") or line.startswith(_NEXT):
            break
        rows.append(_row(what, section, line, index + 1, spans, layout))
        index += 1
    if not rows:
        raise ParseError(what, "the table of wait events has no row", at + 1)
    share = _second_of_a_percent(rows)
    return Table(layout, [_settled(row, layout, share) for row in rows], index)


def _layout(
    what: str, headings: Optional[List[str]], layouts: Sequence[Layout], line: int
) -> Layout:
    layout = awr_layouts.layout_of(headings or (), layouts)
    if layout is None:
        listing = " | ".join(headings) if headings else "none that fit the columns"
        problem = f"no release is known to print these headings: {listing[:100]}"
        raise ParseError(what, problem, line)
    return layout


def _next_text(lines: Sequence[str], at: int) -> Optional[int]:
    """The index of the next line that is not blank."""
    return next((index for index in range(at, len(lines)) if lines[index].strip()), None)


def is_overflow(cell: str) -> bool:
    """Whether SQL*Plus printed "####" for a number that did not fit its column."""
    return _OVERFLOW.match(cell) is not None


def full_name(printed: str, width: int) -> Tuple[str, bool]:
    """The event's whole name where the column cut off a known one, and whether it may be cut."""
    if len(printed) < width:
        return printed, False
    known = [name for name in NAMES if name[:width].rstrip() == printed]
    if not known:
        return printed, True
    # One name may be the beginning of others, and the column does not tell which it was.
    shortest = min(known, key=len)
    return (shortest, len(known) > 1) if _begin_with(shortest, known) else (printed, True)


def _begin_with(beginning: str, names: Sequence[str]) -> bool:
    return all(name.startswith(beginning) for name in names)


def _is_row(line: str, spans: List[Tuple[int, int]], layout: Layout) -> bool:
    try:
        _row("", "", line, 0, spans, layout)
    except ParseError:
        return False
    return True


def _row(
    what: str, section: str, line: str, number: int, spans: List[Tuple[int, int]], layout: Layout
) -> _Row:
    cells = dashed_table.cells(line, spans)
    if cells is None:
        raise ParseError(
            what, f"the row does not match its columns: {kind_of(line.strip())}", number
        )
    by_column = dict(zip(layout.columns, cells))
    printed = by_column[awr_layouts.EVENT]
    if not printed:
        raise ParseError(what, "the row has no name of an event", number)
    waits = _number(what, by_column, awr_layouts.WAITS, number)
    seconds = _number(what, by_column, awr_layouts.SECONDS, number)
    percent = _number(what, by_column, awr_layouts.PERCENT, number)
    for column in (awr_layouts.TIMEOUTS, awr_layouts.PER_TRANSACTION):
        _number(what, by_column, column, number)
    column_average = _average(what, by_column, number)
    problem = None
    if is_overflow(by_column[awr_layouts.SECONDS]):
        problem = TIME_OVERFLOWED
    if waits is None and printed not in NO_WAITS:
        if not by_column[awr_layouts.WAITS]:
            raise ParseError(what, "the event has no waits", number)
        problem = WAITS_OVERFLOWED
    # This column after the average is never empty: a row without it was truncated.
    if not by_column.get(awr_layouts.PER_TRANSACTION, by_column.get(awr_layouts.PERCENT)):
        raise ParseError(what, "the row of the event is cut off", number)
    begin, stop = spans[layout.columns.index(awr_layouts.EVENT)]
    name, cut = full_name(printed, stop - begin)
    event = WaitEvent(
        section=section,
        name=name,
        cut=cut,
        wait_class=by_column.get(awr_layouts.CLASS) or None,
        waits=None if waits is None else int(waits.value),
        seconds=None,
        average=None,
        uncertainty=None,
        by=None,
        percent=dashed_table.value_of(percent),
        line=number,
        idle=_is_idle(section, printed, stop - begin, by_column),
        problem=problem,
    )
    scales = _scales(waits, seconds, by_column[awr_layouts.SECONDS], layout.cut, column_average)
    return _Row(event, waits, seconds, column_average, scales)


def _is_idle(section: str, printed: str, width: int, by_column: Dict[str, str]) -> bool:
    """The full tables print no share for idle events; the table at the head leaves them out.

    Statspack's list of idle events is older than its events, so that newer ones slip through.
    """
    if printed.endswith(idle_events.ENDINGS):
        return True
    if section.startswith(awr_layouts.TOP):
        return False
    if awr_layouts.PERCENT in by_column:
        return not by_column[awr_layouts.PERCENT]
    return idle_events.is_idle(printed, width)


def _scales(
    waits: Optional[Printed],
    seconds: Optional[Printed],
    text: str,
    cut: bool,
    column: Optional[Printed],
) -> Tuple[int, ...]:
    """The possible factors of the seconds: 1, or 1000 or 1000000 if their letter is truncated.

    Empty if the average contradicts each factor.
    """
    possible: Tuple[int, ...] = (1,)
    if cut and seconds is not None and "." in text and text[-1:] in ".0123456789":
        # Four characters of "16.8K" are those of 16.8 seconds.
        possible = (1, 1000, 1000000) if seconds.value >= 1 else (1,)
    if waits is None or not waits.value or seconds is None or column is None:
        return possible
    return tuple(scale for scale in possible if _agree(waits, seconds, scale, cut, column))


def _agree(waits: Printed, seconds: Printed, scale: int, cut: bool, column: Printed) -> bool:
    """Whether the quotient can be the average, each being known to its digits alone.

    The average may be rounded or cut off, and so may a number of waits in thousands.
    """
    blur = waits.step if waits.step > 1 else 0
    least = (seconds.value - (0 if cut else seconds.step)) * scale * 1e6
    most = (seconds.value + seconds.step) * scale * 1e6
    most_waits = waits.value + blur
    least_waits = max(waits.value - blur, 1)
    return (
        least / most_waits <= column.value + column.step
        and column.value - column.step <= most / least_waits
    )


def _second_of_a_percent(rows: Sequence[_Row]) -> Optional[float]:
    """The number of seconds one percent is, by the row with the largest share whose time is
    sure."""
    sure = [
        (row.event.percent, row.seconds.value * row.scales[0] / row.event.percent)
        for row in rows
        if len(row.scales) == 1 and row.seconds is not None and row.event.percent
    ]
    return max(sure)[1] if sure else None


def _settled(row: _Row, layout: Layout, share: Optional[float]) -> WaitEvent:
    """The event with its time, and the average that follows."""
    event, seconds, scales = row.event, row.seconds, row.scales
    if not scales:
        return event._replace(problem=CONTRADICTORY)
    if seconds is not None and share and event.percent:
        ratio = seconds.value / share / event.percent
        # Thousands apart: a share of one digit is enough to tell them from each other.
        scales = tuple(scale for scale in scales if 1 / 3.0 < ratio * scale < 3) or scales
    if len(scales) > 1:
        seconds = None
        event = event._replace(problem=event.problem or TIME_CUT)
    if seconds is not None:
        seconds = seconds.times(scales[0])
        event = event._replace(seconds=seconds.value)
    if event.problem == WAITS_OVERFLOWED:
        known = printed_average(row.column)
    else:
        known = best_average(row.waits, seconds, layout.cut, row.column)
    average, uncertainty, by = known or NO_AVERAGE
    return event._replace(average=average, uncertainty=uncertainty, by=by)


def _number(what: str, by_column: Dict[str, str], column: str, line: int) -> Optional[Printed]:
    text = by_column.get(column, "")
    if not text or is_overflow(text):
        return None
    value = dashed_table.number(text)
    if value is None:
        raise ParseError(what, f"{kind_of(text)} is not a number ({column})", line)
    return value


def _average(what: str, by_column: Dict[str, str], line: int) -> Optional[Printed]:
    """Microseconds, from whichever form the generation prints."""
    if awr_layouts.AVERAGE not in by_column:
        value = _number(what, by_column, awr_layouts.AVERAGE_MS, line)
        return None if value is None else value.times(1000)
    text = by_column[awr_layouts.AVERAGE]
    if not text or is_overflow(text):
        return None
    match = _AVERAGE.match(text)
    value = dashed_table.number(match.group(1)) if match else None
    if match is None or value is None:
        raise ParseError(what, f"{kind_of(text)} is not an average with a unit", line)
    return value.times(_MICROSECONDS[match.group(2)])


def printed_average(column: Optional[Printed]) -> Optional[Average]:
    """The mean as printed, in microseconds; None where it has no digit that counts."""
    return Average(column.value, column.step / 2, "column") if column and column.value else None


def best_average(
    waits: Optional[Printed], seconds: Optional[Printed], cut: bool, column: Optional[Printed]
) -> Optional[Average]:
    """The mean of a wait from the seconds or the column of averages (in microseconds).

    ``cut``: the seconds are cut off, not rounded. None where neither has a digit that counts.
    """
    if waits is None or not waits.value:
        return None
    offers = []
    if seconds is not None and seconds.value:
        half = seconds.step if cut else seconds.step / 2
        share = half / seconds.value + (waits.step / 2 / waits.value if waits.step > 1 else 0)
        offers.append((share, seconds.value * 1e6 / waits.value, "seconds"))
    if column is not None and column.value:
        offers.append((column.step / 2 / column.value, column.value, "column"))
    if not offers:
        return None
    share, value, by = min(offers)
    return Average(value, value * share, by)
