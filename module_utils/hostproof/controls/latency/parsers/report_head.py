# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first page of AWR and Statspack reports: database, interval and load.

Sources: tests/fixtures/latency/SOURCES.md; Statspack: $ORACLE_HOME/rdbms/admin/sprepins.sql.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Pattern, Sequence, Tuple

from ....errors import ParseError
from . import dashed_table

_SNAP = re.compile(
    r"^ *(Begin|End) Snap: +([0-9]+) +([0-9]{1,2}-[^ ]{1,12} ?-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2})"
)
_MINUTES = re.compile(r"^ *(Elapsed|DB [Tt]ime): +([0-9,]*\.[0-9]+) \(mins\)")
_LINE = re.compile(
    r"^ *([A-Z][A-Za-z/% >0-9]*?)(?: \(([A-Za-z]+)\)|\(([A-Za-z]+)\))?: +([0-9,.]+)"
    r"(?: +([0-9,.]+))?(?: +[0-9,.]+)?(?: +[0-9,.]+)?$"
)
_TILDES = re.compile(r"^~+( +[~-]+)+$")


class Head(NamedTuple):
    """``release`` is "19.0.0.0.0"; ``multitenant`` and ``rac`` are None where it does not tell.

    ``begin`` and ``end`` are of the database's clock, in its language; ``seconds`` are between
    them. ``load`` is per second, by the names of the load profile without their units.
    """

    database: Optional[str]
    instance: Optional[str]
    host: Optional[str]
    release: Optional[str]
    rac: Optional[bool]
    multitenant: Optional[bool]
    begin: Optional[str]
    end: Optional[str]
    seconds: Optional[float]
    db_seconds: Optional[float]
    load: Dict[str, float]


def one_report(what: str, lines: Sequence[str], title: Pattern[str]) -> bool:
    """Whether the title is in the text. ParseError where two do, or two intervals begin."""
    titles = [at for at, line in enumerate(lines) if title.match(line)]
    begins: Dict[Tuple[str, str], int] = {}
    for at, line in enumerate(lines):
        match = _SNAP.match(line)
        if match and match.group(1) == "Begin":
            begins.setdefault((match.group(2), match.group(3)), at)
    second = titles[1:2] or sorted(begins.values())[1:2]
    if second:
        raise ParseError(
            what, "a second report begins here: use a separate file for each", second[0] + 1
        )
    return bool(titles)


def parse(lines: Sequence[str]) -> Head:
    """What of it there is; a part of a report has less, or nothing."""
    values: Dict[str, str] = {}
    snaps: Dict[str, str] = {}
    minutes: Dict[str, float] = {}
    for at, line in enumerate(lines):
        spans = dashed_table.columns(line) or _tildes(line)
        if spans and 0 < at < len(lines) - 1:
            _row(lines, at, spans, values)
        match = _SNAP.match(line)
        if match:
            snaps.setdefault(match.group(1), match.group(3))
        match = _MINUTES.match(line)
        if match:
            number = dashed_table.number(match.group(2))
            if number is not None:
                minutes.setdefault(match.group(1).lower(), number.value)
    return Head(
        database=values.get("DB Name") or values.get("Database"),
        instance=values.get("Instance"),
        host=values.get("Host Name") or values.get("Host") or values.get("Name"),
        release=release(values.get("Release")),
        rac=_yes(values.get("RAC") or values.get("Cluster")),
        multitenant=_yes(values.get("CDB")),
        begin=snaps.get("Begin"),
        end=snaps.get("End"),
        seconds=_seconds(minutes.get("elapsed")),
        db_seconds=_seconds(minutes.get("db time")),
        load=_load(lines),
    )


def _tildes(line: str) -> List[Tuple[int, int]]:
    """Statspack draws the rules of its first tables with tildes."""
    if not _TILDES.match(line.rstrip()):
        return []
    return [match.span() for match in re.finditer("~+|-+", line)]


def _row(
    lines: Sequence[str], at: int, spans: List[Tuple[int, int]], values: Dict[str, str]
) -> None:
    """Adds the first row below a rule by its headings, of the tables of the first page alone."""
    headings = lines[at - 1]
    if not headings.startswith(("DB Name", "Instance ", "Host Name", "Database ")):
        return
    names = dashed_table.cells(headings, spans)
    row = dashed_table.cells(lines[at + 1], spans)
    if names is None or row is None:
        return
    for place, name in enumerate(names):
        if row[place]:
            values.setdefault(name, row[place])


def release(text: Optional[str]) -> Optional[str]:
    """The text if it is numbers with dots between, as releases are."""
    return text if text and re.match(r"^[0-9]{1,3}(\.[0-9]{1,9})+$", text) else None


def _yes(text: Optional[str]) -> Optional[bool]:
    return {"YES": True, "NO": False}.get(text or "")


def _seconds(minutes: Optional[float]) -> Optional[float]:
    return None if minutes is None else round(minutes * 60, 3)


def _load(lines: Sequence[str]) -> Dict[str, float]:
    load: Dict[str, float] = {}
    inside = False
    for line in lines:
        if line.startswith("Load Profile"):
            inside = True
        elif inside:
            match = _LINE.match(line)
            number = dashed_table.number(match.group(4)) if match else None
            if match and number is not None:
                load.setdefault(match.group(1), number.value)
            elif load and line.strip() and "####" not in line:
                # A blank line may only be the end of a page; a number may not fit its column.
                break
    return load
