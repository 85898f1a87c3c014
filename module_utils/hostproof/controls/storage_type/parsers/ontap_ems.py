# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""EMS messages of a filer (Data ONTAP syslog) about fragmentation of a file, LUN or volume.

Sources: WAFL performance VS sequential reads, part III (2011), wafl.reallocate.check.value; NetApp
Knowledge Base, "What does the hotspot value indicate in reallocate measure", which shows
wafl.reallocate.check.high with hotspot and threshold; Data ONTAP 8.2 7-Mode System Administration,
"Performing a measure-only reallocation scan": a hot spot causes this message even below the
threshold.
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
#: Limit of the messages in a file. For more measurements, rotate the log.
MOST = 10000


class Layout(NamedTuple):
    """``value`` is from 3 or less (good) to 10. ``threshold`` is the filer's limit for
    reallocation, if the message contains it.

    ``high``: the filer recommends reallocation, because of the value or of a hot spot."""

    path: str
    value: int
    threshold: Optional[int]
    high: bool


def parse(text: str) -> List[Layout]:
    """The last message of each path, in the order of the first messages.

    ParseError if a message of this type cannot be parsed: it may contain the decisive value.
    """
    layouts: Dict[str, Layout] = {}
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
        limit = None if threshold is None else int(threshold)
        layouts[path] = Layout(path, int(value), limit, event != "value")
    return list(layouts.values())


def kept(text: str) -> str:
    """The text for the evidence: only the lines that ``parse`` reads."""
    lines = [line.strip()[-2000:] for line in text.split("\n") if _EVENT in line]
    return "".join(line + "\n" for line in lines[: MOST + 1])
