# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of a filer's EMS (syslog of Data ONTAP) on how a file, LUN or volume is on its disks.

Sources: WAFL performance VS sequential reads, part III (2011), wafl.reallocate.check.value; NetApp
Knowledge Base, "What does the hotspot value indicate in reallocate measure", which shows
wafl.reallocate.check.high with hotspot and threshold; Data ONTAP 8.2 7-Mode System Administration,
"Performing a measure-only reallocation scan": a hot spot alone makes a filer state so, below the
threshold too.
"""

import re
from typing import Dict, List, NamedTuple, Optional

from ....errors import ParseError, kind_of

_WHAT = "EMS messages of a filer"
_EVENT = "wafl.reallocate.check."
_LINE = re.compile(
    r"wafl\.reallocate\.check\.(value|high[A-Za-z]{0,20}):[A-Za-z_]{1,12}\]: Allocation "
    r"(?:measurement )?check on '([^'\n]{1,1024})' is ([0-9]{1,3})\b"
    r"(?:[^(\n]{0,80}\(threshold ([0-9]{1,3})\))?"
)
#: Messages that are read; who measures more has a file for each night.
MOST = 10000


class Layout(NamedTuple):
    """``value`` is 3 or less (well) to 10, ``threshold`` what the filer reallocates from, if told.

    ``high`` is whether the filer itself says that it must be reallocated: for its value, or for a
    part of it that lies far worse."""

    path: str
    value: int
    threshold: Optional[int]
    high: bool


def parse(text: str) -> List[Layout]:
    """The last message of each path, in the order of the paths' first ones.

    ParseError for a message of this kind that is not understood: it may be the one that matters.
    """
    found: Dict[str, Layout] = {}
    read = 0
    for number, line in enumerate(text.split("\n"), 1):
        if _EVENT not in line:
            continue
        read += 1
        match = _LINE.search(line)
        if match is None:
            raise ParseError(_WHAT, f"not understood: {kind_of(line.strip())}", number)
        if read > MOST:
            raise ParseError(_WHAT, f"more than {MOST} of {_EVENT}*: give a file of the last days")
        event, path, value, threshold = match.groups()
        told = None if threshold is None else int(threshold)
        found[path] = Layout(path, int(value), told, event != "value")
    return list(found.values())


def kept(text: str) -> str:
    """What evidence holds of a log that shows of much else: the lines that ``parse`` takes."""
    lines = [line.strip()[-2000:] for line in text.split("\n") if _EVENT in line]
    return "".join(line + "\n" for line in lines[: MOST + 1])
