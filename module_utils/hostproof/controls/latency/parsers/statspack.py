# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Statspack reports of 9i to 19c, and pieces of them: the wait events and their histograms.

Source: $ORACLE_HOME/rdbms/admin/sprepins.sql (the formats of its columns);
tests/fixtures/latency/SOURCES.md.
"""

import re
from typing import Dict, List, NamedTuple, Optional

from ....errors import ParseError
from . import awr_layouts, event_histogram, report_head, report_parameters
from .event_histogram import EventHistogram
from .report_form import Form
from .report_head import Head
from .report_parameters import Parameter
from .wait_events import WaitEvent

_WHAT = "Statspack report"
_FORM = Form(
    _WHAT,
    re.compile(r"^\f?STATSPACK (?:Statistics )?report for", re.IGNORECASE),
    re.compile(r"^\f?Top \d{1,2} Timed Events\b"),
    awr_layouts.STATSPACK_TOP_TABLES,
    (
        (re.compile(r"^\f?Foreground Wait Events\b"), awr_layouts.FOREGROUND),
        (re.compile(r"^\f?Background Wait Events\b"), awr_layouts.BACKGROUND),
        # 9i: "Wait Events for DB: X"; 10g: "Wait Events  DB/Inst: X/x"; since: "(fg and bg)".
        (
            re.compile(r"^\f?Wait Events(?: \(fg and bg\)| for DB:|  +DB/Inst:|$)"),
            awr_layouts.ALL,
        ),
    ),
    awr_layouts.STATSPACK_WAIT_TABLES,
)


class Report(NamedTuple):
    """``whole`` is false for a piece. ``generation`` is by the layout of its tables.

    The full tables changed more often than the one at the head, so that they show more.
    ``parameters`` are None where no table shows them.
    """

    whole: bool
    generation: Optional[str]
    head: Head
    events: List[WaitEvent]
    histograms: List[EventHistogram]
    parameters: Optional[Dict[str, Parameter]]


def parse(text: str) -> Report:
    """ParseError where the report is cut off, is two, or has no table of wait events."""
    lines = [line.rstrip() for line in text.split("\n")]
    whole = _FORM.is_whole(lines)
    events: List[WaitEvent] = []
    generation: Optional[str] = None
    at = 0
    while at < len(lines):
        result = _FORM.table_below(lines, at)
        if result is None:
            at += 1
            continue
        section, table = result
        events += table.events
        if generation is None or section != awr_layouts.TOP:
            generation = table.layout.generation
        at = table.end
    histograms = event_histogram.parse(_WHAT, lines)
    if not events and not histograms:
        raise ParseError(_WHAT, "it has no table of wait events and no histogram")
    parameters = report_parameters.parse(lines)
    return Report(whole, generation, report_head.parse(lines), events, histograms, parameters)
