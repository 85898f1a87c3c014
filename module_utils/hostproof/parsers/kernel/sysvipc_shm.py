# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/sysvipc/shm: the System V shared memory segments of a host (sysvipc(7)).

Its rss column is left out: kernels show a wrong one for segments in huge pages.
"""

from typing import List, NamedTuple

from ...errors import ParseError
from ..number import integer

_WHAT = "sysvipc shm"


class ShmSegment(NamedTuple):
    """One segment; ``size`` is bytes."""

    key: int
    shmid: int
    size: int
    nattch: int
    uid: int
    gid: int


def parse(text: str) -> List[ShmSegment]:
    """Every segment. A header alone is legal: the host has none.

    Columns are found by their names, because kernels have added some.
    """
    lines = [line for line in text.split("\n") if line]
    header = lines[0].split() if lines else []
    if not set(ShmSegment._fields) <= set(header):
        raise ParseError(_WHAT, "there is no header line with the columns of a segment")
    return [_segment(header, line.split(), number) for number, line in enumerate(lines[1:], 2)]


def _segment(header: List[str], values: List[str], line: int) -> ShmSegment:
    if len(values) != len(header):
        raise ParseError(_WHAT, f"{len(values)} values below {len(header)} columns", line)
    row = dict(zip(header, values))
    try:
        return ShmSegment(*(integer(row[name]) for name in ShmSegment._fields))
    except ValueError as problem:
        raise ParseError(_WHAT, str(problem), line) from problem
