# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/sysvipc/sem: the System V semaphore sets of a host (sysvipc(7))."""

from typing import List, NamedTuple

from ....errors import ParseError
from ....parsers.number import integer

_WHAT = "sysvipc sem"


class SemaphoreSet(NamedTuple):
    """One set of ``nsems`` semaphores, and the account that owns it."""

    semid: int
    nsems: int
    uid: int


def parse(text: str) -> List[SemaphoreSet]:
    """Every set. A header alone is legal: the host has none."""
    lines = [line.split() for line in text.split("\n") if line]
    header = lines[0] if lines else []
    if not set(SemaphoreSet._fields) <= set(header):
        raise ParseError(_WHAT, "there is no header line with the columns of a set")
    sets = []
    for number, values in enumerate(lines[1:], 2):
        if len(values) != len(header):
            raise ParseError(_WHAT, f"{len(values)} values below {len(header)} columns", number)
        row = dict(zip(header, values))
        try:
            sets.append(SemaphoreSet(*(integer(row[name]) for name in SemaphoreSet._fields)))
        except ValueError as problem:
            raise ParseError(_WHAT, str(problem), number) from problem
    return sets
