# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of a filer's EMS (syslog of Data ONTAP) on how a file, LUN or volume lies on its disks.

Sources: WAFL performance VS sequential reads, part III (2011), wafl.reallocate.check.value; NetApp
Knowledge Base, wafl.reallocate.check.high with hotspot and threshold.
"""

import re
from typing import Dict, List, NamedTuple, Optional

_EVENT = "wafl.reallocate.check."
_LINE = re.compile(
    r"wafl\.reallocate\.check\.(?:value|high):[a-z]{1,12}\]: Allocation (?:measurement )?check on "
    r"'([^'\n]{1,1024})' is ([0-9]{1,3})\b(?:[^(\n]{0,80}\(threshold ([0-9]{1,3})\))?"
)
#: Paths that are kept; who measures more has a report for each night.
MOST = 1000


class Layout(NamedTuple):
    """``value`` is from 3 (well) to 10, ``threshold`` what the filer reallocates from, if told."""

    path: str
    value: int
    threshold: Optional[int]


def parse(text: str) -> List[Layout]:
    """The last message of each path, in the order of the paths' first ones."""
    found: Dict[str, Layout] = {}
    for line in text.split("\n"):
        match = _LINE.search(line) if _EVENT in line else None
        if match is not None and (match.group(1) in found or len(found) < MOST):
            path, value, threshold = match.groups()
            found[path] = Layout(path, int(value), None if threshold is None else int(threshold))
    return list(found.values())


def kept(text: str) -> str:
    """What evidence holds of a log that tells of much else: the lines that ``parse`` takes."""
    lines = [line.strip()[-2000:] for line in text.split("\n") if _EVENT in line]
    return "".join(line + "\n" for line in lines[-10 * MOST :])
