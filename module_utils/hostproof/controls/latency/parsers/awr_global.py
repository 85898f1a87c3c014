# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The AWR report of all instances of a cluster (awrgrpt.sql) as text, and pieces of it.

"Top Timed Events" counts the whole cluster in rows of instance "*" and single instances below;
the columns at its right are statistics of the instances' averages, not of waits.
Source: tests/fixtures/latency/SOURCES.md.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ....errors import ParseError, kind_of
from . import dashed_table, report_form, report_head
from .awr import without_page_headings
from .dashed_table import Printed
from .wait_events import NO_WAITS, Average, best_average, full_name, is_overflow

_WHAT = "AWR report of a cluster"
_TITLE = re.compile(r"^\s*WORKLOAD REPOSITORY REPORT \(RAC\)", re.IGNORECASE)
#: A report of one instance in the same text would go unseen.
_TITLES = re.compile(
    r"^\s*WORKLOAD REPOSITORY (?:REPORT \(RAC\)|report for|PDB report)", re.IGNORECASE
)
_EVENTS = re.compile(r"^\f?Top Timed Events\b")
_INSTANCES = re.compile(r"^\f?Database Instances Included In Report")
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


class Instance(NamedTuple):
    """One line of the first table: ``begin`` and ``end`` are of the database's clock."""

    number: str
    name: str
    release: Optional[str]
    begin: Optional[str]
    end: Optional[str]
    seconds: Optional[float]


class Report(NamedTuple):
    """``rates``: instance ("1", "Sum", "Avg", "Std") to heading ("Logical Reads/s") to number.

    ``instances`` is empty where the first page is not there. ``overflowed``: what is left out, as
    it did not fit its column.
    """

    whole: bool
    database: Optional[str]
    instances: List[Instance]
    events: List[ClusterEvent]
    rates: Dict[str, Dict[str, float]]
    overflowed: List[str]

    @property
    def release(self) -> Optional[str]:
        """That of all instances; None where they differ or none is told."""
        releases = {instance.release for instance in self.instances}
        return releases.pop() if len(releases) == 1 else None

    @property
    def seconds(self) -> Optional[float]:
        """The mean of the instances' intervals; None where they differ by more than 1%."""
        durations = [instance.seconds for instance in self.instances if instance.seconds]
        if (
            not durations
            or len(durations) < len(self.instances)
            or max(durations) > 1.01 * min(durations)
        ):
            return None
        return round(sum(durations) / len(durations), 3)


def parse(text: str) -> Report:
    """ParseError where the report is cut off or two, has neither table, or one is scrambled."""
    lines = without_page_headings(text)
    report_head.one_report(_WHAT, lines, _TITLES)
    whole = any(_TITLE.match(line) for line in lines)
    if whole:
        report_form.must_end(_WHAT, lines)
    events: List[ClusterEvent] = []
    rates: Dict[str, Dict[str, float]] = {}
    instances: List[Instance] = []
    overflowed: List[str] = []
    database: Optional[str] = None
    at = 0
    while at < len(lines):
        named = re.search(r"DB/Inst: ([^/\s]+)/", lines[at])
        if named and database is None:
            database = named.group(1)
        if _EVENTS.match(lines[at]):
            at = _read_events(lines, at, events, overflowed)
        elif _RATES.match(lines[at]):
            at = _read_rates(lines, at, rates, overflowed)
        elif _INSTANCES.match(lines[at]):
            at = _read_instances(lines, at, instances)
        else:
            at += 1
    if not events and not rates:
        raise ParseError(_WHAT, "it has no table of events and none of rates")
    return Report(whole, database, instances, events, rates, overflowed)


def _read_instances(lines: Sequence[str], title: int, instances: List[Instance]) -> int:
    """Read the table of instances. An unexpected table is ignored: events do not need it."""
    rule = next(
        (
            at
            for at in range(title + 1, min(title + 20, len(lines)))
            if dashed_table.columns(lines[at]) and lines[at - 1].split()[:1] == ["I#"]
        ),
        None,
    )
    if rule is None:
        return title + 1
    spans = dashed_table.columns(lines[rule])
    lower = dashed_table.cells(lines[rule - 1], spans)
    upper = dashed_table.cells(lines[rule - 2], spans) or [""] * len(spans)
    if lower is None:
        return title + 1
    # "Elapsed Time(min)" is in one line or in two.
    names = [f"{upper[at]} {name}".strip().lower() for at, name in enumerate(lower)]
    at = rule + 1
    while at < len(lines) and lines[at].strip() and not _FOOTER.match(lines[at]):
        cells = dashed_table.cells(lines[at], spans)
        if cells is None or not re.match(r"^[0-9]{1,4}$", cells[0]):
            break
        by_name = dict(zip(names, cells))
        elapsed = [cell for name, cell in by_name.items() if name.startswith("elapsed")]
        minutes = dashed_table.number(elapsed[0]) if elapsed else None
        instances.append(
            Instance(
                number=cells[0],
                name=by_name.get("instance", ""),
                release=report_head.release(by_name.get("release")),
                begin=by_name.get("begin snap time") or None,
                end=by_name.get("end snap time") or None,
                seconds=None if minutes is None else round(minutes.value * 60, 3),
            )
        )
        at += 1
    return at


def _rule(lines: Sequence[str], title: int) -> int:
    """The lowest of the dashes below a title: there are two above one another for the events."""
    rule: Optional[int] = None
    for at in range(title + 1, min(title + 20, len(lines))):
        headings = lines[at - 1].split()
        if dashed_table.columns(lines[at]) and headings[:1] == ["I#"]:
            rule = at
            break
    if rule is None:
        raise ParseError(_WHAT, "there is no table below this heading", title + 1)
    return rule


def _read_events(
    lines: Sequence[str], title: int, events: List[ClusterEvent], overflowed: List[str]
) -> int:
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
                f"the row does not match its columns: {kind_of(lines[at].strip())}",
                at + 1,
            )
        instance = cells[0] or instance
        if not instance:
            raise ParseError(_WHAT, "the row belongs to no instance", at + 1)
        if any(is_overflow(cell) for cell in cells[3:8]):
            overflowed.append(cells[2])
        events.append(_event(instance, cells, spans, at + 1))
        at += 1
    if len(events) == first:
        raise ParseError(_WHAT, "the table of events has no row", title + 1)
    return at


def _event(
    instance: str, cells: List[str], spans: List[Tuple[int, int]], line: int
) -> ClusterEvent:
    waits, _, seconds, milliseconds, percent = [_number(cell, line) for cell in cells[3:8]]
    if waits is None and cells[2] not in NO_WAITS and not is_overflow(cells[3]):
        raise ParseError(_WHAT, "the event has no waits", line)
    # No row of the cluster lacks its last column, and none of an instance its share.
    if not cells[12 if instance == ALL_INSTANCES else 7]:
        raise ParseError(_WHAT, "the row of the event is cut off", line)
    column = None
    if milliseconds is not None:
        column = Printed(milliseconds.value * 1000, milliseconds.step * 1000)
    average = best_average(waits, seconds, False, column)
    if is_overflow(cells[3]) and column is not None and column.value:
        average = Average(column.value, column.step / 2, "column")
    spread = [_number(cell, line) for cell in cells[8:13]]
    averages = [number.value for number in spread if number is not None]
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
            averages[0] * 1000,
            averages[1] * 1000,
            averages[2] * 1000,
            averages[3] * 1000,
            int(averages[4]),
        )
        if len(averages) == 5
        else None,
        line=line,
    )


def _read_rates(
    lines: Sequence[str], title: int, rates: Dict[str, Dict[str, float]], overflowed: List[str]
) -> int:
    at = _rule(lines, title)
    spans = dashed_table.columns(lines[at])
    lower = dashed_table.cells(lines[at - 1], spans)
    upper = dashed_table.cells(lines[at - 2], spans) if at > 1 else None
    if lower is None:
        raise ParseError(_WHAT, "the headings do not match their columns", at)
    names = [
        "{0} {1}".format((upper or lower)[place] if upper else "", name).strip()
        for place, name in enumerate(lower)
    ]
    at += 1
    while at < len(lines) and lines[at].strip() and not _FOOTER.match(lines[at]):
        if lines[at].strip(" ~"):
            cells = dashed_table.cells(lines[at], spans)
            if cells is None:
                raise ParseError(_WHAT, "the row does not match its columns", at + 1)
            row: Dict[str, float] = {}
            for place, cell in enumerate(cells[1:], 1):
                value = _number(cell, at + 1)
                if is_overflow(cell):
                    overflowed.append(f"{names[place]} of {cells[0]}")
                if value is not None:
                    row[names[place]] = value.value
            rates[cells[0]] = row
        at += 1
    if not rates:
        raise ParseError(_WHAT, "the table of rates has no row", title + 1)
    return at


def _number(cell: str, line: int) -> Optional[Printed]:
    if cell in ("", "N/A") or is_overflow(cell):
        return None
    value = dashed_table.number(cell)
    if value is None:
        raise ParseError(_WHAT, f"{kind_of(cell)} is not a number", line)
    return value
