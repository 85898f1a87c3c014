# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The AWR report of all instances of a cluster (awrgrpt.sql) as text, and pieces of it.

"Top Timed Events" counts the whole cluster in rows of instance "*" and single instances below;
the columns at its right are statistics of the instances' averages, not of waits.
Source: tests/fixtures/latency/SOURCES.md.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ..errors import ParseError
from . import dashed_table
from .awr import without_page_headings
from .dashed_table import Printed
from .wait_events import NO_WAITS, best_average, full_name

_WHAT = "AWR report of a cluster"
_TITLE = re.compile(r"^\s*WORKLOAD REPOSITORY REPORT \(RAC\)", re.IGNORECASE)
_END = re.compile(r"^\s*End of Report", re.IGNORECASE)
_EVENTS = re.compile(r"^\f?Top Timed Events\b")
_RATES = re.compile(r"^\f?System Statistics - Per Second\b")
_FOOTER = re.compile(r"^ {4,}-{20,}$")
_HEADINGS = (
    "I#",
    "Class",
    "Event",
    "Waits",
    "%Timeouts",
    "Total(s)",
    "Avg(ms)",
    "%DB time",
    "Avg",
    "Min",
    "Max",
    "Std Dev",
    "Cnt",
)
ALL_INSTANCES = "*"


class InstanceAverages(NamedTuple):
    """Microseconds: how the averages of ``instances`` instances spread."""

    average: float
    minimum: float
    maximum: float
    deviation: float
    instances: int


class ClusterEvent(NamedTuple):
    """``instance`` is a number or "*". ``average`` is microseconds, as of WaitEvent."""

    instance: str
    name: str
    cut: bool
    wait_class: Optional[str]
    waits: Optional[int]
    seconds: Optional[float]
    average: Optional[float]
    uncertainty: Optional[float]
    by: Optional[str]
    percent: Optional[float]
    instances: Optional[InstanceAverages]
    line: int


class Report(NamedTuple):
    """``rates``: instance ("1", "Sum", "Avg", "Std") to heading ("Logical Reads/s") to number."""

    whole: bool
    database: Optional[str]
    events: List[ClusterEvent]
    rates: Dict[str, Dict[str, float]]


def parse(text):
    # type: (str) -> Report
    """ParseError where the report is cut off, has neither table, or one is scrambled."""
    lines = without_page_headings(text)
    whole = any(_TITLE.match(line) for line in lines)
    if whole and not any(_END.match(line) for line in lines):
        raise ParseError(_WHAT, "it has no line 'End of Report': it is cut off", len(lines))
    events = []  # type: List[ClusterEvent]
    rates = {}  # type: Dict[str, Dict[str, float]]
    database = None  # type: Optional[str]
    at = 0
    while at < len(lines):
        named = re.search(r"DB/Inst: ([^/\s]+)/", lines[at])
        if named and database is None:
            database = named.group(1)
        if _EVENTS.match(lines[at]):
            at = _read_events(lines, at, events)
        elif _RATES.match(lines[at]):
            at = _read_rates(lines, at, rates)
        else:
            at += 1
    if not events and not rates:
        raise ParseError(_WHAT, "it has no table of events and none of rates")
    return Report(whole, database, events, rates)


def _rule(lines, title):
    # type: (Sequence[str], int) -> int
    """The lowest of the dashes below a title: there are two above one another for the events."""
    found = None  # type: Optional[int]
    for at in range(title + 1, min(title + 20, len(lines))):
        headings = lines[at - 1].split()
        if dashed_table.columns(lines[at]) and headings[:1] == ["I#"]:
            found = at
            break
    if found is None:
        raise ParseError(_WHAT, "no table stands below this heading", title + 1)
    return found


def _read_events(lines, title, events):
    # type: (Sequence[str], int, List[ClusterEvent]) -> int
    at = _rule(lines, title)
    spans = dashed_table.columns(lines[at])
    if tuple(dashed_table.cells(lines[at - 1], spans) or ()) != _HEADINGS:
        raise ParseError(_WHAT, "no release is known to print these headings", at)
    instance = ""
    at += 1
    first = len(events)
    while at < len(lines) and lines[at].strip() and not _FOOTER.match(lines[at]):
        if lines[at].startswith("\f") or _RATES.match(lines[at]):
            break
        cells = dashed_table.cells(lines[at], spans)
        if cells is None:
            raise ParseError(
                _WHAT,
                "the row does not stand in its columns: {0!r}".format(lines[at].strip()[:80]),
                at + 1,
            )
        instance = cells[0] or instance
        if not instance:
            raise ParseError(_WHAT, "the row belongs to no instance", at + 1)
        events.append(_event(instance, cells, spans, at + 1))
        at += 1
    if len(events) == first:
        raise ParseError(_WHAT, "the table of events has no row", title + 1)
    return at


def _event(instance, cells, spans, line):
    # type: (str, List[str], List[Tuple[int, int]], int) -> ClusterEvent
    waits, _, seconds, milliseconds, percent = [_number(cell, line) for cell in cells[3:8]]
    if waits is None and cells[2] not in NO_WAITS:
        raise ParseError(_WHAT, "the event {0!r} has no waits".format(cells[2]), line)
    column = None
    if milliseconds is not None:
        column = Printed(milliseconds.value * 1000, milliseconds.step * 1000)
    average = best_average(waits, seconds, False, column)
    spread = [_number(cell, line) for cell in cells[8:13]]
    told = [one.value for one in spread if one is not None]
    name, cut = full_name(cells[2], spans[2][1] - spans[2][0])
    return ClusterEvent(
        instance=instance,
        name=name,
        cut=cut,
        wait_class=cells[1] or None,
        waits=None if waits is None else int(waits.value),
        seconds=None if seconds is None else seconds.value,
        average=None if average is None else average.value,
        uncertainty=None if average is None else average.uncertainty,
        by=None if average is None else average.by,
        percent=None if percent is None else percent.value,
        instances=InstanceAverages(
            told[0] * 1000, told[1] * 1000, told[2] * 1000, told[3] * 1000, int(told[4])
        )
        if len(told) == 5
        else None,
        line=line,
    )


def _read_rates(lines, title, rates):
    # type: (Sequence[str], int, Dict[str, Dict[str, float]]) -> int
    at = _rule(lines, title)
    spans = dashed_table.columns(lines[at])
    lower = dashed_table.cells(lines[at - 1], spans)
    upper = dashed_table.cells(lines[at - 2], spans) if at > 1 else None
    if lower is None:
        raise ParseError(_WHAT, "the headings do not stand in their columns", at)
    names = [
        "{0} {1}".format((upper or lower)[place] if upper else "", name).strip()
        for place, name in enumerate(lower)
    ]
    at += 1
    while at < len(lines) and lines[at].strip() and not _FOOTER.match(lines[at]):
        if lines[at].strip(" ~"):
            cells = dashed_table.cells(lines[at], spans)
            if cells is None:
                raise ParseError(_WHAT, "the row does not stand in its columns", at + 1)
            row = {}  # type: Dict[str, float]
            for place, cell in enumerate(cells[1:], 1):
                value = _number(cell, at + 1)
                if value is not None:
                    row[names[place]] = value.value
            rates[cells[0]] = row
        at += 1
    if not rates:
        raise ParseError(_WHAT, "the table of rates has no row", title + 1)
    return at


def _number(cell, line):
    # type: (str, int) -> Optional[Printed]
    if cell in ("", "N/A"):
        return None
    value = dashed_table.number(cell)
    if value is None:
        raise ParseError(_WHAT, "{0!r} is no number".format(cell[:40]), line)
    return value
