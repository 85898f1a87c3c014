# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Statspack reports of 9i to 19c, and pieces of them: the wait events and their histograms.

Source: $ORACLE_HOME/rdbms/admin/sprepins.sql (the formats of its columns);
tests/fixtures/latency/SOURCES.md.
"""

import re
from typing import List, NamedTuple, Optional, Sequence, Tuple

from ...errors import ParseError
from . import awr_layouts, dashed_table, event_histogram, report_head, wait_events
from .event_histogram import EventHistogram
from .report_head import Head
from .wait_events import WaitEvent

_WHAT = "Statspack report"
_TITLE = re.compile(r"^\f?STATSPACK (?:Statistics )?report for", re.IGNORECASE)
_END = re.compile(r"^\f?\s*End of Report", re.IGNORECASE)
_TOP = re.compile(r"^\f?Top \d{1,2} Timed Events\b")
_SECTIONS = (
    (re.compile(r"^\f?Foreground Wait Events\b"), awr_layouts.FOREGROUND),
    (re.compile(r"^\f?Background Wait Events\b"), awr_layouts.BACKGROUND),
    # 9i: "Wait Events for DB: X"; 10g: "Wait Events  DB/Inst: X/x"; since: "(fg and bg)".
    (re.compile(r"^\f?Wait Events(?: \(fg and bg\)| for DB:|  +DB/Inst:|$)"), awr_layouts.ALL),
)


class Report(NamedTuple):
    """``whole`` is false for a piece. ``generation`` is by the layout of its tables.

    The full tables changed more often than the one at the head, so that they tell more.
    """

    whole: bool
    generation: Optional[str]
    head: Head
    events: List[WaitEvent]
    histograms: List[EventHistogram]


def parse(text: str) -> Report:
    """ParseError where the report is cut off, is two, or has no table of wait events."""
    lines = [line.rstrip() for line in text.split("\n")]
    whole = report_head.one_report(_WHAT, lines, _TITLE)
    if whole and not any(_END.match(line) for line in lines):
        raise ParseError(_WHAT, "it has no line 'End of Report': it is cut off", len(lines))
    events: List[WaitEvent] = []
    generation: Optional[str] = None
    at = 0
    while at < len(lines):
        section, layouts = _section(lines[at])
        if section is None:
            at += 1
            continue
        rule = _rule(lines, at + 1)
        if rule is None:
            raise ParseError(_WHAT, "no table stands below this heading", at + 1)
        table = wait_events.read_table(_WHAT, section, lines, rule, layouts)
        events += table.events
        if generation is None or section != awr_layouts.TOP:
            generation = table.layout.generation
        at = table.end
    histograms = event_histogram.parse(_WHAT, lines)
    if not events and not histograms:
        raise ParseError(_WHAT, "it has no table of wait events and no histogram")
    return Report(whole, generation, report_head.parse(lines), events, histograms)


def _section(line: str) -> Tuple[Optional[str], Sequence[awr_layouts.Layout]]:
    if _TOP.match(line):
        return awr_layouts.TOP, awr_layouts.STATSPACK_TOP_TABLES
    for pattern, section in _SECTIONS:
        if pattern.match(line):
            return section, awr_layouts.STATSPACK_WAIT_TABLES
    return None, ()


def _rule(lines: Sequence[str], at: int) -> Optional[int]:
    for index in range(at, min(at + 20, len(lines))):
        if dashed_table.columns(lines[index]):
            return index
        if _section(lines[index])[0] is not None:
            return None
    return None
