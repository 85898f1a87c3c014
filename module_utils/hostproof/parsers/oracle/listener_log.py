# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""listener.log: results of connections, and number of times that the rate limit was reached.

A line is ``TIME * ... * EVENT * ... * CODE`` with stars between blanks; error lines
("TNS-01158: ...") follow a failed one. A connection that was limited is "* establish * 1158".
Sources: Oracle Database Net Services Administrator's Guide, Analyzing Listener Log Files;
MOS 1085546.1 and a published log of a limited listener. log.xml of the ADR has the same lines in
``<txt>``.
"""

import re
from collections import OrderedDict
from datetime import datetime
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...errors import ParseError
from ..number import integer

#: TNS-01158: Internal connection limit reached.
LIMIT_REACHED = 1158
#: TNS-12518: the listener could not hand off a client to a server.
NO_HANDOFF = 12518
#: TNS-12547: lost contact. TNS-12535: operation timed out.
LOST_CONTACT, TIMED_OUT = 12547, 12535

_WHAT = "listener.log"
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_OLD_TIME = re.compile(r"(\d{1,2})-([A-Z]{3})-(\d{4}) (\d{2}):(\d{2}):(\d{2})\Z")
#: An event ends with its code. Error lines are indented below the first one.
_CODE = re.compile(r" \* (\d{1,9})\s*$")
_STACK = re.compile(r"( *)TNS-(\d{5}):")
_SYSTEM_ERROR = re.compile(r"\s{1,20}[A-Za-z][\w/ .-]{1,40} Error: (\d{1,6}): ([ -~]{1,60})")
_COUNTED = (NO_HANDOFF, LOST_CONTACT, TIMED_OUT)
_TEXT = re.compile(r"<txt>([^<]*)</txt>")
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
    ``busiest`` is the maximum of successful connections per second. ``failures`` counts the events
    that have NO_HANDOFF, LOST_CONTACT or TIMED_OUT as their code or among their error lines, each
    event once, under the first of these. ``system_errors`` counts the errors of the operating
    system below NO_HANDOFF.
    """

    first: datetime
    last: datetime
    established: int
    delayed: int
    codes: Dict[int, int]
    busiest: int
    failures: Dict[int, int] = {}
    system_errors: Dict[str, int] = {}

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


def of_xml(text: str) -> str:
    """The lines of log.xml; the first message may be cut off."""
    import html  # few listeners have no text log, and each import costs an audit time

    return "".join(
        html.unescape(line).rstrip() + "\n"
        for message in _TEXT.findall(text)
        for line in message.rstrip().split("\n")
    )


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
    failures, system_errors = _failures(text)
    return Log(
        first=min(entry.time for entry in lines),
        last=max(entry.time for entry in lines),
        established=sum(seconds.values()),
        delayed=len([entry for entry in connects if entry.code == LIMIT_REACHED]),
        codes=codes,
        busiest=max(list(seconds.values()) + [0]),
        failures=failures,
        system_errors=system_errors,
    )


def _failures(text: str) -> Tuple[Dict[int, int], Dict[str, int]]:
    """``failures`` and ``system_errors`` of Log."""
    counts: Dict[int, int] = {}
    errors: Dict[str, int] = {}
    for codes, systems in _failed_events(text):
        first = next((one for one in _COUNTED if one in codes), None)
        if first is not None:
            counts[first] = counts.get(first, 0) + 1
        for error in systems[:1] if first == NO_HANDOFF else ():
            errors[error] = errors.get(error, 0) + 1
    return counts, errors


def _failed_events(text: str) -> List[Tuple[List[int], List[str]]]:
    """The codes and the system errors of each event: such lines follow the line of the event."""
    events: List[Tuple[List[int], List[str]]] = []
    has_stack = False
    for line in text.split("\n"):
        event, stack = _CODE.search(line), _STACK.match(line)
        system = _SYSTEM_ERROR.match(line)
        if event is not None or (stack is not None and not stack.group(1) and has_stack):
            events.append(([] if event is None else [integer(event.group(1))], []))
            has_stack = False
        if stack is not None:
            events = events or [([], [])]
            events[-1][0].append(integer(stack.group(2)))
            has_stack = True
        elif system is not None and events:
            events[-1][1].append(f"{system.group(1)} ({system.group(2).strip()})")
    return events


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
