# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/PID/stat: scheduling class and real-time priority of a process (proc(5))."""

from typing import NamedTuple

from ....errors import ParseError
from ....parsers.number import integer

_CLASSES = {0: "OTHER", 1: "FIFO", 2: "RR", 3: "BATCH", 5: "IDLE", 6: "DEADLINE"}
#: Fields 40 and 41, counted from the third, which follows the name in brackets.
_PRIORITY, _POLICY = 37, 38


class Scheduling(NamedTuple):
    """``name`` is such as "RR"; ``priority`` is 0 in classes without real-time priority."""

    name: str
    priority: int

    @property
    def is_realtime(self) -> bool:
        return self.name in ("FIFO", "RR", "DEADLINE")


def parse(text: str) -> Scheduling:
    fields = text.rpartition(")")[2].split()
    if len(fields) <= _POLICY:
        raise ParseError("stat of a process", f"has {len(fields)} fields after the name")
    policy = integer(fields[_POLICY])
    return Scheduling(_CLASSES.get(policy, str(policy)), integer(fields[_PRIORITY]))
