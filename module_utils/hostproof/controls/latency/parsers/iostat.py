# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What iostat prints of the latency of disks: ``iostat -x`` of Linux, ``iostat -xn`` of Solaris.

Sources: iostat(1) of sysstat 9 to 12; iostat(8) of Solaris. The columns are found by the names in
the heading, because each release has others. All times are milliseconds.
"""

import re
from typing import Dict, List, NamedTuple, Optional

from ....errors import ParseError
from ....parsers.number import decimal_of_line

_WHAT = "iostat output"
_HEADING = re.compile(r"^(?:Device:?\s|\s*(?:r/s|device)\s)")
_NUMBER = re.compile(r"-?\d{1,15}(?:[.,]\d{1,6})?$")
#: Columns of the time of a request: of both directions, of reads, of writes.
_BOTH, _READS, _WRITES = "await", "r_await", "w_await"
#: Solaris: the time in the queue and at the device.
_QUEUE, _SERVICE = "wsvc_t", "asvc_t"


class Disk(NamedTuple):
    """A device in one report. ``latency`` is milliseconds; None where nothing was requested.

    ``requests`` is the number per second, ``utilisation`` percent. ``queue`` is the part of the
    latency in the queue of the host, only on Solaris.
    """

    name: str
    requests: float
    latency: Optional[float]
    utilisation: Optional[float]
    queue: Optional[float] = None


def parse(text: str) -> List[List[Disk]]:
    """The reports in order, each a list of its devices.

    ParseError for a table without the time of requests: ``iostat`` without ``-x``, or cut off.
    """
    reports: List[Dict[str, Dict[str, float]]] = []
    heading: List[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if not words:
            continue
        if _HEADING.match(line):
            names = [word.rstrip(":").lower() for word in words]
            # A terminal that is too narrow shows the rest of the columns below a second heading.
            if not heading or "r/s" in names:
                reports.append({})
            heading = names
        elif heading:
            row = _row(words, heading, number)
            if row is None:
                heading = []
            else:
                reports[-1].setdefault(str(row[0]), {}).update(row[1])
    found = [
        [_disk(name, columns) for name, columns in report.items()] for report in reports if report
    ]
    if not found:
        raise ParseError(_WHAT, "it has no table of devices with r/s: run iostat -x")
    return found


def _row(words: List[str], heading: List[str], number: int) -> Optional[tuple]:
    """Name and columns of a line; None for a line that is no row of the table."""
    at = heading.index("device")
    # The name of a mount point follows that of the device on Solaris.
    extra = len(words) - len(heading)
    if extra < 0 or (extra and at != len(heading) - 1):
        return None
    values = [word for place, word in enumerate(words[: len(heading)]) if place != at]
    if not all(_NUMBER.match(value) for value in values):
        return None
    names = [name for place, name in enumerate(heading) if place != at]
    figures = [decimal_of_line(_WHAT, value.replace(",", "."), number) for value in values]
    return words[at], dict(zip(names, figures))


def _disk(name: str, columns: Dict[str, float]) -> Disk:
    """ParseError where the table has no time of requests."""
    reads, writes = columns.get("r/s"), columns.get("w/s")
    if reads is None or writes is None:
        raise ParseError(_WHAT, f"the row of {name} has no r/s and w/s: it is cut off")
    total = reads + writes
    if _READS in columns and _WRITES in columns:
        weighted = reads * columns[_READS] + writes * columns[_WRITES]
        latency = weighted / total if total else None
    elif _BOTH in columns:
        latency = columns[_BOTH] if total else None
    elif _QUEUE in columns and _SERVICE in columns:
        latency = columns[_QUEUE] + columns[_SERVICE] if total else None
    else:
        raise ParseError(_WHAT, f"the row of {name} has no time of requests: run iostat -x")
    busy = columns.get("%util", columns.get("%b"))
    return Disk(name, total, latency, busy, columns.get(_QUEUE))
