# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AIX's lssrc prints of subsystems: name, group, process and status in columns.

A subsystem that does not run has no process. Source: AIX Commands Reference, lssrc.
"""

import re
from collections import OrderedDict
from typing import Dict

from ....errors import ParseError, kind_of

_WHAT = "lssrc"
_STATES = (
    "active",
    "inoperative",
    "not installed",
    "signaled",
    "stopping",
    "trace started",
    "trace stopped",
    "warned to stop",
)
_ROW = re.compile(r"^ ?(\S+)(?:\s+(\S+))??(?:\s+(\d+))?\s+({0})\s*$".format("|".join(_STATES)))


def parse(text: str) -> Dict[str, str]:
    """The status of each subsystem by its name; ParseError without the head of the table."""
    lines = text.split("\n")
    if not re.match(r"^Subsystem\s+Group\s+PID\s+Status\s*$", lines[0]):
        raise ParseError(_WHAT, "has no head of a table", 1)
    states: OrderedDict[str, str] = OrderedDict()
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        match = _ROW.match(line)
        if match is None:
            raise ParseError(_WHAT, f"{kind_of(line)} is not a subsystem", number)
        states[match.group(1)] = match.group(4)
    return states
