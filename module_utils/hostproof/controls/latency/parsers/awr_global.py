# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The AWR report of all instances of a cluster (awrgrpt.sql) as text, and pieces of it.

"Top Timed Events" counts the whole cluster in rows of instance "*" and single instances below;
the columns at its right are statistics of the instances' averages, not of waits.
Source: tests/fixtures/latency/SOURCES.md.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Pattern, Sequence, Tuple

from ....errors import ParseError, kind_of
from . import dashed_table, report_form, report_head
from .awr import without_page_headings
from .dashed_table import Printed
from .wait_events import NO_AVERAGE, NO_WAITS, best_average, full_name, is_overflow, printed_average

_WHAT = "AWR report of a cluster"
_TITLE = re.compile(r"^\s*WORKLOAD REPOSITORY REPORT \(RAC\)", re.IGNORECASE)
#: A report of one instance in the same text would go unseen.
_TITLES = re.compile(
    r"^\s*WORKLOAD REPOSITORY (?:REPORT \(RAC\)|report for|PDB report)", re.IGNORECASE
)
_EVENTS = re.compile(r"^\f?Top Timed Events\b")
_INSTANCES = re.compile(r"^\f?Database Instances Included In Report")
_RATES = re.compile(r"^\f?System Statistics - Per Second\b")
_BLANK_OR_FOOTER = r"^\s*$|^ {4,}-{20,}$"
_END_OF_ROWS = re.compile(_BLANK_OR_FOOTER)
_END_OF_EVENTS = re.compile(_BLANK_OR_FOOTER + "|" + r"^\f|^System Statistics - Per Second\b")
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
    rule = _find_rule(lines, title)
    if rule is None:
        return title + 1
    spans = dashed_table.columns(lines[rule])
    names = _headings(lines, rule, spans)
    if names is None:
        return title + 1
    end = _end_of_rows(lines, rule)
    for at in range(rule + 1, end):
        cells = dashed_table.cells(lines[at], spans)
        if cells is None or not re.match(r"^[0-9]{1,4}$", cells[0]):
            return at
        instances.append(_instance(cells[0], dict(zip(map(str.lower, names), cells))))
    return end


def _instance(number: str, by_name: Dict[str, str]) -> Instance:
    elapsed = [cell for name, cell in by_name.items() if name.startswith("elapsed")]
    minutes = dashed_table.number(elapsed[0]) if elapsed else None
    return Instance(
        number=number,
        name=by_name.get("instance", ""),
        release=report_head.release(by_name.get("release")),
        begin=by_name.get("begin snap time") or None,
        end=by_name.get("end snap time") or None,
        seconds=None if minutes is None else round(minutes.value * 60, 3),
    )


def _find_rule(lines: Sequence[str], title: int) -> Optional[int]:
    """The lowest of the dashes below a title: there are two above one another for the events."""
    for at in range(title + 1, min(title + 20, len(lines))):
        if dashed_table.columns(lines[at]) and lines[at - 1].split()[:1] == ["I#"]:
            return at
    return None


def _rule(lines: Sequence[str], title: int) -> int:
    rule = _find_rule(lines, title)
    if rule is None:
        raise ParseError(_WHAT, "there is no table below this heading", title + 1)
    return rule


def _headings(lines: Sequence[str], rule: int, spans: List[Tuple[int, int]]) -> Optional[List[str]]:
    """The headings above the dashes, each in one line or in two, as "Elapsed Time(min)" is."""
    lower = dashed_table.cells(lines[rule - 1], spans)
    upper = dashed_table.cells(lines[rule - 2], spans) or [""] * len(spans)
    return None if lower is None else [" ".join(both).strip() for both in zip(upper, lower)]


def _end_of_rows(lines: Sequence[str], rule: int, end: Pattern[str] = _END_OF_ROWS) -> int:
    return next((at for at in range(rule + 1, len(lines)) if end.match(lines[at])), len(lines))


def _read_events(
    lines: Sequence[str], title: int, events: List[ClusterEvent], overflowed: List[str]
) -> int:
    rule = _rule(lines, title)
    spans = dashed_table.columns(lines[rule])
    if tuple(dashed_table.cells(lines[rule - 1], spans) or ()) != _HEADINGS:
        raise ParseError(_WHAT, "no release is known to print these headings", rule)
    instance = ""
    end = _end_of_rows(lines, rule, _END_OF_EVENTS)
    if end == rule + 1:
        raise ParseError(_WHAT, "the table of events has no row", title + 1)
    for at in range(rule + 1, end):
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
    return end


def _event(
    instance: str, cells: List[str], spans: List[Tuple[int, int]], line: int
) -> ClusterEvent:
    waits, _, seconds, milliseconds, percent = [_number(cell, line) for cell in cells[3:8]]
    if waits is None and cells[2] not in NO_WAITS and not is_overflow(cells[3]):
        raise ParseError(_WHAT, "the event has no waits", line)
    # No row of the cluster lacks its last column, and none of an instance its share.
    if not cells[12 if instance == ALL_INSTANCES else 7]:
        raise ParseError(_WHAT, "the row of the event is cut off", line)
    column = None if milliseconds is None else milliseconds.times(1000)
    if is_overflow(cells[3]):
        known = printed_average(column)
    else:
        known = best_average(waits, seconds, False, column)
    average, uncertainty, by = known or NO_AVERAGE
    name, cut = full_name(cells[2], spans[2][1] - spans[2][0])
    return ClusterEvent(
        instance=instance,
        name=name,
        cut=cut,
        wait_class=cells[1] or None,
        waits=None if waits is None else int(waits.value),
        seconds=dashed_table.value_of(seconds),
        average=average,
        uncertainty=uncertainty,
        by=by,
        percent=dashed_table.value_of(percent),
        instances=_instance_averages(cells[8:13], line),
        line=line,
    )


def _instance_averages(cells: List[str], line: int) -> Optional[InstanceAverages]:
    """None where one of the five columns is empty."""
    numbers = [_number(cell, line) for cell in cells]
    values = [number.value for number in numbers if number is not None]
    if len(values) < len(cells):
        return None
    average, minimum, maximum, deviation = (value * 1000 for value in values[:4])
    return InstanceAverages(average, minimum, maximum, deviation, int(values[4]))


def _read_rates(
    lines: Sequence[str], title: int, rates: Dict[str, Dict[str, float]], overflowed: List[str]
) -> int:
    rule = _rule(lines, title)
    spans = dashed_table.columns(lines[rule])
    names = _headings(lines, rule, spans)
    if names is None:
        raise ParseError(_WHAT, "the headings do not match their columns", rule)
    end = _end_of_rows(lines, rule)
    for at in range(rule + 1, end):
        if not lines[at].strip(" ~"):
            continue
        cells = dashed_table.cells(lines[at], spans)
        if cells is None:
            raise ParseError(_WHAT, "the row does not match its columns", at + 1)
        row = rates[cells[0]] = {}
        for name, cell in zip(names[1:], cells[1:]):
            value = _number(cell, at + 1)
            if is_overflow(cell):
                overflowed.append(f"{name} of {cells[0]}")
            if value is not None:
                row[name] = value.value
    if not rates:
        raise ParseError(_WHAT, "the table of rates has no row", title + 1)
    return end


def _number(cell: str, line: int) -> Optional[Printed]:
    if cell in ("", "N/A") or is_overflow(cell):
        return None
    value = dashed_table.number(cell)
    if value is None:
        raise ParseError(_WHAT, f"{kind_of(cell)} is not a number", line)
    return value
