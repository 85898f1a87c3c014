# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""AWR reports as text, of 10g to 19c, and pieces of them; without SQL and segments.

A report that starts with its title must end with "End of Report": a truncated report may lack
important events. A partial report (for example only the table of the top events) has neither.
Sources: tests/fixtures/latency/SOURCES.md.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ....errors import ParseError, kind_of
from . import (
    awr_layouts,
    dashed_table,
    event_histogram,
    report_head,
    report_parameters,
    wait_events,
)
from .ellipsis_marks import is_mark
from .event_histogram import EventHistogram
from .report_form import Form
from .report_head import Head
from .report_parameters import Parameter
from .wait_events import Table, WaitEvent

_WHAT = "AWR report"
#: Only where a text begins, or has no table: SQL in a report may hold any markup.
_HTML = re.compile(r"<html\b|<head\b|<!DOCTYPE html", re.IGNORECASE)
_IS_HTML = "it is HTML that has no table of an AWR report"
_FOREIGN = (
    (
        re.compile(r"^[ \t]*WORKLOAD REPOSITORY COMPARE PERIOD", re.IGNORECASE | re.MULTILINE),
        "it compares two periods: write a report for each",
    ),
    (
        re.compile(r"^[ \t]*WORKLOAD REPOSITORY SQL Report", re.IGNORECASE | re.MULTILINE),
        "it is the report of one SQL statement: write that of the instance",
    ),
)
_FORM = Form(
    _WHAT,
    re.compile(r"^\s*WORKLOAD REPOSITORY (report for|PDB report)", re.IGNORECASE),
    re.compile(r"^\f?Top \d{1,2} (?:Timed (?:Foreground )?Events|Foreground Events by Total)"),
    awr_layouts.TOP_TABLES,
    (
        (re.compile(r"^\f?Foreground Wait Events\b"), awr_layouts.FOREGROUND),
        (re.compile(r"^\f?Background Wait Events\b"), awr_layouts.BACKGROUND),
        (re.compile(r"^\f?Wait Events(?: {2}|$)"), awr_layouts.ALL),
    ),
    awr_layouts.WAIT_TABLES,
)
_STATISTICS = ("Statistic", "Total", "per Second", "per Trans")


class Statistic(NamedTuple):
    """A counter of "Instance Activity Stats": over the time of the report, and each second."""

    total: float
    per_second: float


class Report(NamedTuple):
    """``whole`` is false for a partial report. ``generation`` is from the layout of its tables.

    ``shortened``: "[..]" replaces removed lines. ``overflowed``: statistics that were left out
    because they did not fit their columns. ``parameters`` is None without a table of parameters.
    """

    whole: bool
    generation: Optional[str]
    head: Head
    events: List[WaitEvent]
    histograms: List[EventHistogram]
    statistics: Dict[str, Statistic]
    shortened: bool
    overflowed: List[str]
    parameters: Optional[Dict[str, Parameter]]


def _refuse_others(text: str) -> None:
    """ParseError of what is no AWR report as text."""
    if _HTML.match(text.lstrip()):
        raise ParseError(_WHAT, _IS_HTML)
    for pattern, problem in _FOREIGN:
        if pattern.search(text):
            raise ParseError(_WHAT, problem)


def parse(text: str) -> Report:
    """ParseError where the report is cut off or has no table of wait events or statistics.

    Also where the text holds more than one report.
    """
    _refuse_others(text)
    lines = without_page_headings(text)
    whole = _FORM.is_whole(lines)
    events: List[WaitEvent] = []
    statistics: Dict[str, Statistic] = {}
    overflowed: List[str] = []
    generations: List[str] = []
    at = 0
    while at < len(lines):
        spans = dashed_table.columns(lines[at])
        headings = dashed_table.cells(lines[at - 1], spans) if spans and at else None
        table = _table_of_events(lines, at, headings)
        if table is not None:
            events += table.events
            generations.append(table.layout.generation)
            at = table.end
        elif headings == list(_STATISTICS):
            at = _statistics(lines, at + 1, spans, statistics, overflowed)
        else:
            at += 1
    histograms = event_histogram.parse(_WHAT, lines)
    if not events and not statistics and not histograms:
        if _HTML.search(text):
            raise ParseError(_WHAT, _IS_HTML)
        raise ParseError(_WHAT, "it has no table of wait events, of statistics or of histograms")
    return Report(
        whole=whole,
        generation=generations[0] if generations else None,
        head=report_head.parse(lines),
        events=events,
        histograms=histograms,
        statistics=statistics,
        shortened=any(is_mark(line) for line in lines),
        overflowed=overflowed,
        parameters=report_parameters.parse(lines),
    )


def _table_of_events(
    lines: Sequence[str], at: int, headings: Optional[List[str]]
) -> Optional[Table]:
    """The table whose title, or whose rule below the headings, is ``lines[at]``."""
    found = _FORM.table_below(lines, at)
    if found is None:
        if headings and awr_layouts.layout_of(headings, awr_layouts.TOP_TABLES):
            # A table whose heading was not copied along.
            return wait_events.read_table(_WHAT, awr_layouts.TOP, lines, at, awr_layouts.TOP_TABLES)
        return None
    section, table = found
    if section == awr_layouts.TOP and "Foreground" in lines[at]:
        section = awr_layouts.TOP_FOREGROUND
    return table._replace(events=[event._replace(section=section) for event in table.events])


def without_page_headings(text: str) -> List[str]:
    """The lines, those emptied that SQL*Plus put at the top of its pages ("OUTPUT", a rule)."""
    lines = [line.rstrip() for line in text.split("\n")]
    for at, line in enumerate(lines):
        if line == "OUTPUT":
            lines[at] = ""
            if at + 1 < len(lines) and re.match(r"^-{20,}$", lines[at + 1]):
                lines[at + 1] = ""
    return lines


def _statistics(
    lines: Sequence[str],
    at: int,
    spans: List[Tuple[int, int]],
    statistics: Dict[str, Statistic],
    overflowed: List[str],
) -> int:
    while at < len(lines) and lines[at].strip() and not lines[at].startswith(("\f", "      ")):
        if not is_mark(lines[at]):
            name, *texts = dashed_table.cells(lines[at], spans) or ("", "", "")
            numbers = [dashed_table.number(text) for text in texts[:2]]
            values = [number.value for number in numbers if number is not None]
            if any(wait_events.is_overflow(text) for text in texts[:2]):
                overflowed.append(name)
            elif len(values) == 2:
                statistics.setdefault(name, Statistic(*values))
            else:
                problem = f"it is not a row of statistics: {kind_of(lines[at])}"
                raise ParseError(_WHAT, problem, at + 1)
        at += 1
    return at
