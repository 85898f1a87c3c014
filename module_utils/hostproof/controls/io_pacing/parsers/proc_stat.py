# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first line of /proc/stat: the time of all CPUs in ticks since the reboot (proc(5))."""

import re
from typing import NamedTuple

from ....errors import ParseError
from ....parsers.number import integer

#: user, nice, system, idle, iowait, irq, softirq, steal; guest time is part of user time.
_LINE = re.compile(r"cpu +((?:\d{1,20} ){7,9}\d{1,20})$", re.MULTILINE)


class Ticks(NamedTuple):
    """``free`` is idle time and the wait for disks."""

    free: int
    total: int


def parse(text: str) -> Ticks:
    """ParseError for a text without that line."""
    match = _LINE.match(text)
    if match is None:
        raise ParseError("/proc/stat", "it does not begin with the time of all CPUs", 1)
    ticks = [integer(value) for value in match.group(1).split()[:8]]
    return Ticks(ticks[3] + ticks[4], sum(ticks))
