# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of an AWR or Statspack report shows how LOBs find and write their space.

It is kept as figures by name, for a report itself is not: it holds SQL.
"""

import re
from typing import Any, Dict, Optional, Union

from . import work
from .report import Report

Figures = Dict[str, Union[str, float]]

HW = "enq: HW - contention"
DIRECT = ("direct path write", "direct path write (lob)", "direct path read (lob)")
TEMPORARY = "direct path write temp"
_EVENTS = (HW, TEMPORARY) + DIRECT
#: Names of events are behind this: percent of the database's time.
SHARE = "share of "
#: Names of statistics are behind this: their totals.
TOTAL = "total of "

LOB_WRITES = "lob writes"
DIRECT_WRITES = "physical writes direct"
DIRECT_LOB_WRITES = "physical writes direct (lob)"
UNALIGNED_WRITES = "lob writes unaligned"
_STATISTICS = (LOB_WRITES, UNALIGNED_WRITES, DIRECT_WRITES, DIRECT_LOB_WRITES)
#: Also kept, for the rules on reads from flash.
_READS = (work.FLASH_HITS, work.ALL_READS)

#: Waits of sessions for the redo log; reports cut the names of the switches.
_REDO = ("log buffer space", "log file sync", "log file switch")
#: Prefix of such events: percent of the database's time.
REDO_SHARE = "redo share of "

RELEASE = "release"
#: 1 if the text is a complete report, which lists each event with waits.
WHOLE = "whole report"
#: 1 if the report has a table of parameters. It omits parameters with the default value.
PARAMETERS = "parameters"
SECUREFILE, COMPATIBLE = "db_securefile", "compatible"
#: The level, or NOT_SHOWN.
EVENT = "event 44951"
NOT_SHOWN = "not shown"
#: 1 if sessions waited for the bitmap blocks of a segment with automatic space management.
BITMAPS = "waits for bitmap blocks"

_BITMAPS = re.compile(r"^(?:1st|2nd|3rd) level bmb +[0-9,]+ ", re.MULTILINE)


def figures(report: Report, text: str) -> Figures:
    """What of it the report has; nothing for reports of tools."""
    reported = report.figures
    values = _shares(reported)
    for name in _STATISTICS + _READS:
        if name in reported.get("statistics", {}):
            values[TOTAL + name] = reported["statistics"][name]["total"]
    if values or reported.get("parameters"):
        if reported.get("release"):
            values[RELEASE] = reported["release"]
        values[WHOLE] = float(bool(reported.get("whole")))
        values.update(reported.get("parameters") or {})
        if _BITMAPS.search(text):
            values[BITMAPS] = 1.0
    return values


def _shares(reported: Dict[str, Any]) -> Figures:
    """The largest share of the database's time of each event, of sessions in the foreground."""
    values: Figures = {}
    for event in reported.get("events", ()):
        share = _share(event, reported.get("db_seconds"))
        if share is None or event.get("sessions") == "background":
            continue
        name = event["name"]
        prefix = REDO_SHARE if name.startswith(_REDO) else SHARE
        if prefix == REDO_SHARE or name in _EVENTS:
            values[prefix + name] = max(share, float(values.get(prefix + name, 0.0)))
    return values


def _share(event: Dict[str, Any], db_seconds: Optional[float]) -> Optional[float]:
    """Percent of the database's time, as printed, or by the seconds where 10g prints none."""
    if event["percent_of_db_time"] is not None:
        return float(event["percent_of_db_time"])
    if event["seconds"] is None or not db_seconds:
        return None
    return round(100.0 * event["seconds"] / db_seconds, 1)
