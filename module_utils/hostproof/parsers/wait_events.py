# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of wait events that AWR and Statspack reports share, and their averages.

The column of averages is rounded to whole milliseconds up to 12.1 (9,257,339 waits of 3,778 s are
"0"), while later the seconds are what is rounded away (13 waits of "0" s are 3.23ms). So the mean
is taken from whichever of the two is known to more digits.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ..errors import ParseError
from . import awr_layouts, dashed_table
from .awr_layouts import Layout
from .dashed_table import Printed

_AVERAGE = re.compile(r"^([0-9,]*\.?[0-9]+) ?(ns|us|ms|s|m|h)$")
_MICROSECONDS = {"ns": 0.001, "us": 1.0, "ms": 1000.0, "s": 1e6, "m": 6e7, "h": 3.6e9}
_OVERFLOW = re.compile(r"^#+$")
_FOOTER = re.compile(r"^ {4,}-{20,}$")
#: Rows of a table that are not waits: time on the CPU.
NO_WAITS = ("CPU time", "DB CPU")

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
    where the name fills its column and is none that is known: it may go on. ``percent`` is None
    where the report leaves it empty, as it does for idle events.
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


class Average(NamedTuple):
    """Microseconds; what the printed digits leave open; "seconds" or "column"."""

    value: float
    uncertainty: float
    by: str


class Table(NamedTuple):
    """``end`` is the index of the line that the table did not take."""

    layout: Layout
    events: List[WaitEvent]
    end: int


def read_table(what, section, lines, at, layouts):
    # type: (str, str, Sequence[str], int, Sequence[Layout]) -> Table
    """The table whose dashes are ``lines[at]``. ParseError where its rows are not in its columns.

    A blank line ends it unless a row follows, as at the end of a page.
    """
    spans = dashed_table.columns(lines[at])
    headings = dashed_table.cells(lines[at - 1], spans) if at else None
    layout = awr_layouts.layout_of(headings or (), layouts)
    if layout is None:
        told = " | ".join(headings) if headings else "none that fit the columns"
        raise ParseError(
            what, "no release is known to print these headings: {0}".format(told[:100]), at
        )
    events = []  # type: List[WaitEvent]
    index = at + 1
    while index < len(lines):
        line = lines[index]
        if not line.strip():
            ahead = index + 1
            while ahead < len(lines) and not lines[ahead].strip():
                ahead += 1
            if ahead == len(lines) or not _is_row(lines[ahead], spans, layout):
                break
            index = ahead
            continue
        if _FOOTER.match(line) or line.startswith("\f") or line.startswith(_NEXT):
            break
        events.append(_row(what, section, line, index + 1, spans, layout))
        index += 1
    if not events:
        raise ParseError(what, "the table of wait events has no row", at + 1)
    return Table(layout, events, index)


def full_name(printed, width):
    # type: (str, int) -> Tuple[str, bool]
    """The event's whole name where the column cut off a known one, and whether it may be cut."""
    if len(printed) < width:
        return printed, False
    known = [name for name in NAMES if name[:width].rstrip() == printed]
    if not known:
        return printed, True
    # One name may be the beginning of others, and the column does not tell which it was.
    shortest = min(known, key=len)
    return (shortest, len(known) > 1) if _begin_with(shortest, known) else (printed, True)


def _begin_with(beginning, names):
    # type: (str, Sequence[str]) -> bool
    return all(name.startswith(beginning) for name in names)


def _is_row(line, spans, layout):
    # type: (str, List[Tuple[int, int]], Layout) -> bool
    try:
        _row("", "", line, 0, spans, layout)
    except ParseError:
        return False
    return True


def _row(what, section, line, number, spans, layout):
    # type: (str, str, str, int, List[Tuple[int, int]], Layout) -> WaitEvent
    found = dashed_table.cells(line, spans)
    if found is None:
        raise ParseError(
            what, "the row does not stand in its columns: {0!r}".format(line.strip()[:80]), number
        )
    by_column = {column: found[place] for place, column in enumerate(layout.columns)}
    printed = by_column[awr_layouts.EVENT]
    if not printed:
        raise ParseError(what, "the row has no name of an event", number)
    waits = _number(what, by_column, awr_layouts.WAITS, number)
    seconds = _number(what, by_column, awr_layouts.SECONDS, number)
    percent = _number(what, by_column, awr_layouts.PERCENT, number)
    for column in (awr_layouts.TIMEOUTS, awr_layouts.PER_TRANSACTION):
        _number(what, by_column, column, number)
    column_average = _average(what, by_column, number)
    if waits is None and printed not in NO_WAITS:
        raise ParseError(what, "the event {0!r} has no waits".format(printed), number)
    # Of the columns after the average this one is never empty: a row without it was cut off.
    last = awr_layouts.PER_TRANSACTION
    if last not in by_column:
        last = awr_layouts.PERCENT
    if not by_column[last]:
        raise ParseError(what, "the row of {0!r} is cut off".format(printed), number)
    average = best_average(waits, seconds, layout.cut, column_average)
    begin, stop = spans[layout.columns.index(awr_layouts.EVENT)]
    name, cut = full_name(printed, stop - begin)
    return WaitEvent(
        section=section,
        name=name,
        cut=cut,
        wait_class=by_column.get(awr_layouts.CLASS) or None,
        waits=None if waits is None else int(waits.value),
        seconds=None if seconds is None else seconds.value,
        average=None if average is None else average.value,
        uncertainty=None if average is None else average.uncertainty,
        by=None if average is None else average.by,
        percent=None if percent is None else percent.value,
        line=number,
    )


def _number(what, by_column, column, line):
    # type: (str, Dict[str, str], str, int) -> Optional[Printed]
    text = by_column.get(column, "")
    if not text or _OVERFLOW.match(text):
        return None
    value = dashed_table.number(text)
    if value is None:
        raise ParseError(what, "{0!r} is no number ({1})".format(text[:40], column), line)
    return value


def _average(what, by_column, line):
    # type: (str, Dict[str, str], int) -> Optional[Printed]
    """Microseconds, from whichever form the generation prints."""
    if awr_layouts.AVERAGE not in by_column:
        value = _number(what, by_column, awr_layouts.AVERAGE_MS, line)
        return None if value is None else Printed(value.value * 1000, value.step * 1000)
    text = by_column[awr_layouts.AVERAGE]
    if not text or _OVERFLOW.match(text):
        return None
    match = _AVERAGE.match(text)
    value = dashed_table.number(match.group(1)) if match else None
    if match is None or value is None:
        raise ParseError(what, "{0!r} is no average with a unit".format(text[:40]), line)
    scale = _MICROSECONDS[match.group(2)]
    return Printed(value.value * scale, value.step * scale)


def best_average(waits, seconds, cut, column):
    # type: (Optional[Printed], Optional[Printed], bool, Optional[Printed]) -> Optional[Average]
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
