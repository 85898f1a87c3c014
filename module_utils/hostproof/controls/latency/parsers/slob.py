# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Output of SLOB: db_stats.out, awr_info.sh, and lines of AWR reports found with grep.

SLOB writes the AWR report itself to awr.txt, which the parser of AWR reports reads. Sources:
SLOB's misc/awr_info.sh (its column names and units); tests/fixtures/latency/SOURCES.md.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ....errors import ParseError, kind_of
from ....parsers.number import decimal, integer
from . import dashed_table
from .wait_events import Average, best_average, full_name

_DB_STATS = "SLOB db_stats.out"
_GREP = "lines of SLOB's AWR reports"
_INFO = "SLOB awr_info"
_SESSION = re.compile(r"^(\d{1,6})\|(\d{1,15})\|(\d{1,15})\|(\d{1,3}(?:\.\d+)?)\|$")
_FILE = re.compile(r"^([^\s:]*awr[^\s:]*):(.*)$")
_SESSIONS = re.compile(r"^(\d{1,6})_")
#: Columns of the tables at the head of an 11g report, where grep has taken the dashes away.
_TOP_SPANS = [(0, 30), (31, 43), (44, 55), (56, 62), (63, 69), (70, 80)]
_PROFILE = re.compile(r"^\s*([A-Z][\w/ ]*?)(?: \([a-zA-Z]+\))?:\s+([\d,.]+)\s+([\d,.]+)\s*$")
_LATENCIES = {
    "DFSR_LAT": "db file sequential read",
    "DPR_LAT": "direct path read",
    "DFPR_LAT": "db file parallel read",
    "DFPW_LAT": "db file parallel write",
    "LFPW_LAT": "log file parallel write",
}


class Session(NamedTuple):
    """One schema's run, in centiseconds; ``percent`` is what ``cpu`` is of ``elapsed``."""

    schema: int
    elapsed: int
    cpu: int
    percent: float


class Line(NamedTuple):
    """One event of one report. ``sessions`` is the number that its file's name begins with."""

    file: str
    sessions: Optional[int]
    name: str
    cut: bool
    wait_class: Optional[str]
    waits: int
    seconds: float
    average: Optional[Average]
    percent: float


class Rate(NamedTuple):
    """One line of the load profile of one report."""

    file: str
    sessions: Optional[int]
    name: str
    per_second: float
    per_transaction: float


class Info(NamedTuple):
    """A line of awr_info. ``latencies``: event to microseconds; "figures": the other numbers."""

    file: str
    sessions: Optional[int]
    latencies: Dict[str, float]
    figures: Dict[str, float]
    top_wait: str


def parse_db_stats(text: str) -> List[Session]:
    """schema|elapsed|cpu|pct| a line. ParseError for any other line."""
    sessions = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        match = _SESSION.match(line.strip())
        if match is None:
            raise ParseError(_DB_STATS, f"it is not a line of a schema: {kind_of(line)}", number)
        schema, elapsed, cpu, percent = match.groups()
        sessions.append(Session(integer(schema), integer(elapsed), integer(cpu), decimal(percent)))
    if not sessions:
        raise ParseError(_DB_STATS, "it is empty")
    return sessions


def parse_grep(text: str) -> Tuple[List[Line], List[Rate]]:
    """file:line of each report, as grep prints several: events, and lines of the load profile."""
    events: List[Line] = []
    rates: List[Rate] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        match = _FILE.match(line.rstrip())
        if match is None:
            raise ParseError(_GREP, "it does not begin with the name of a report", number)
        file, rest = match.groups()
        named = _SESSIONS.match(file)
        sessions = integer(named.group(1)) if named else None
        profile = _PROFILE.match(rest)
        if profile:
            values = [dashed_table.number(group) for group in profile.groups()[1:]]
            if values[0] is None or values[1] is None:
                raise ParseError(_GREP, "a rate is not a number", number)
            rates.append(Rate(file, sessions, profile.group(1), values[0].value, values[1].value))
        else:
            events.append(_event(file, sessions, rest, number))
    if not events and not rates:
        raise ParseError(_GREP, "it is empty")
    return events, rates


def _event(file: str, sessions: Optional[int], rest: str, number: int) -> Line:
    cells = dashed_table.cells(rest, _TOP_SPANS)
    values = [dashed_table.number(cell) for cell in (cells or [])[1:5]]
    if cells is None or not cells[0] or values[0] is None or values[1] is None or values[3] is None:
        raise ParseError(
            _GREP, f"it is not a row of the top events of 11g: {kind_of(rest)}", number
        )
    column = None if values[2] is None else values[2].times(1000)
    name, cut = full_name(cells[0], _TOP_SPANS[0][1])
    return Line(
        file=file,
        sessions=sessions,
        name=name,
        cut=cut,
        wait_class=cells[5] or None,
        waits=int(values[0].value),
        seconds=values[1].value,
        average=best_average(values[0], values[1], False, column),
        percent=values[3].value,
    )


def parse_info(text: str) -> List[Info]:
    """What awr_info.sh prints, a line for each report. Its latencies are already microseconds."""
    lines = [(at, line) for at, line in enumerate(text.split("\n"), 1) if line.strip()]
    headings = lines[0][1].strip().split("|") if lines else []
    if headings[:2] != ["FILE", "SESSIONS"] or "TOP WAIT" not in headings:
        raise ParseError(_INFO, "it does not begin with FILE|SESSIONS|…|TOP WAIT|", 1)
    entries = []
    for number, line in lines[1:]:
        cells = line.strip().split("|")
        if len(cells) != len(headings):
            raise ParseError(_INFO, f"the line has {len(cells)} cells, not {len(headings)}", number)
        entries.append(_info(dict(zip(headings, map(str.strip, cells))), number))
    if not entries:
        raise ParseError(_INFO, "it has headings and no line")
    return entries


def _info(by_name: Dict[str, str], line: int) -> Info:
    file, top_wait = by_name.pop("FILE"), by_name.pop("TOP WAIT")
    numbers: Dict[str, float] = {}
    for heading, text in by_name.items():
        if heading:
            value = dashed_table.number(text)
            if value is None:
                raise ParseError(_INFO, f"{heading} is not a number", line)
            numbers[heading] = value.value
    sessions = int(numbers.pop("SESSIONS")) or None
    latencies = {event: numbers.pop(name, 0) for name, event in _LATENCIES.items()}
    # An event that did not occur is 0.
    occurred = {event: latency for event, latency in latencies.items() if latency}
    return Info(file, sessions, occurred, numbers, top_wait)
