# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""listener.log: results of connections, and number of times that the rate limit was reached.

A line is ``TIME * ... * EVENT * ... * CODE`` with stars between blanks; error lines
("TNS-01158: ...") follow a failed one. A connection that was limited is "* establish * 1158".
Sources: Oracle Database Net Services Administrator's Guide, Analyzing Listener Log Files;
MOS 1085546.1 and a published log of a limited listener. The text log is read, not the XML of the
ADR.
"""

import re
from collections import OrderedDict
from datetime import datetime
from typing import Dict, List, NamedTuple, Optional

from ...errors import ParseError
from ..number import integer

#: TNS-01158: Internal connection limit reached.
LIMIT_REACHED = 1158

_WHAT = "listener.log"
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_OLD_TIME = re.compile(r"(\d{1,2})-([A-Z]{3})-(\d{4}) (\d{2}):(\d{2}):(\d{2})\Z")
_NEW_TIME = re.compile(r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})\S*\Z")


class Entry(NamedTuple):
    """One line. ``event`` is "establish", "ping", "service_update", "reload", "start", ..."""

    time: datetime
    event: str
    code: int


class Log(NamedTuple):
    """Summary of a part of the log, from its first to its last line.

    ``established`` is the number of successful connections, ``delayed`` the number of lines that
    report that the limit was reached. ``codes`` counts the result codes of other connections.
    ``busiest`` is the maximum of successful connections per second. ``reloaded`` is the time when
    the listener last read its file again.
    """

    first: datetime
    last: datetime
    established: int
    delayed: int
    codes: Dict[int, int]
    busiest: int
    reloaded: Optional[datetime]

    def seconds(self) -> float:
        return (self.last - self.first).total_seconds() + 1.0


def entries(text: str) -> List[Entry]:
    """Every line that shows an event; the first line may be cut off."""
    result = []
    for line in text.split("\n"):
        fields = line.rstrip("\r").split(" * ")
        time = _time_of(fields[0])
        if time is None or len(fields) < 3 or not re.match(r"\d{1,9}\Z", fields[-1].strip()):
            continue
        event = next((field.strip() for field in fields[1:-1] if _is_event(field)), "")
        result.append(Entry(time, event, integer(fields[-1])))
    return result


def parse(text: str) -> Log:
    """What the lines state together; ParseError if no line is one of a listener's log."""
    lines = entries(text)
    if not lines:
        raise ParseError(_WHAT, "holds no line with an event and its code")
    connects = [entry for entry in lines if entry.event == "establish"]
    seconds: OrderedDict[datetime, int] = OrderedDict()
    codes: Dict[int, int] = {}
    for entry in connects:
        if entry.code == 0:
            seconds[entry.time] = seconds.get(entry.time, 0) + 1
        elif entry.code != LIMIT_REACHED:
            codes[entry.code] = codes.get(entry.code, 0) + 1
    reloads = [entry.time for entry in lines if entry.event == "reload" and entry.code == 0]
    return Log(
        first=min(entry.time for entry in lines),
        last=max(entry.time for entry in lines),
        established=sum(seconds.values()),
        delayed=len([entry for entry in connects if entry.code == LIMIT_REACHED]),
        codes=codes,
        busiest=max(list(seconds.values()) + [0]),
        reloaded=reloads[-1] if reloads else None,
    )


def _is_event(field: str) -> bool:
    return re.match(r"[a-z_]+\Z", field.strip()) is not None


def _time_of(text: str) -> Optional[datetime]:
    """15-MAY-2010 11:42:24, or 2024-05-15T11:42:24.123456+02:00 of newer releases."""
    text = text.strip()
    old, new = _OLD_TIME.match(text), _NEW_TIME.match(text)
    try:
        if old is not None and old.group(2) in _MONTHS:
            month = _MONTHS.index(old.group(2)) + 1
            day, year, hour, minute, second = [integer(old.group(n)) for n in (1, 3, 4, 5, 6)]
            return datetime(year, month, day, hour, minute, second)
        if new is not None:
            parts = [integer(group) for group in new.groups()]
            return datetime(parts[0], parts[1], parts[2], parts[3], parts[4], parts[5])
    except ValueError:
        pass
    return None
