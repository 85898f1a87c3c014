# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What vmstat prints of memory and CPUs, on Linux, Solaris and AIX.

The columns are found by the names in the heading. Sources: vmstat(8) of procps, vmstat(1M) of
Solaris, vmstat of AIX.
"""

import re
from typing import List, NamedTuple, Optional

from ....errors import ParseError
from ....parsers.number import decimal_of_line, integer

_WHAT = "vmstat output"
_HEADING = re.compile(r"^\s*r\s+b\s.*\bus\s+sy\s+(?:id|wa)\b")
_CPUS = re.compile(r"\blcpu=(\d{1,5})\b")
#: The last column of CPU time is one of these.
_LAST = ("us", "id", "wa", "st", "ec")
_NUMBER = re.compile(r"^\d{1,15}(?:[.,]\d{1,3})?$")


class Interval(NamedTuple):
    """Percent of CPU time, and pages or KiB per second; None where vmstat does not show it.

    ``swapped_in`` and ``swapped_out`` are of swap (Linux) or paging space (AIX), ``scanned`` the
    pages that Solaris and AIX checked to free some. ``entitled`` is the percentage of its
    capacity that a shared partition of AIX used.
    """

    runnable: float
    idle: float
    wait: float
    stolen: Optional[float]
    swapped_in: Optional[float]
    swapped_out: Optional[float]
    scanned: Optional[float]
    entitled: Optional[float] = None


class Vmstat(NamedTuple):
    """``cpus`` is None where the output does not tell their number."""

    cpus: Optional[int]
    intervals: List[Interval]


def parse(text: str) -> Vmstat:
    """The intervals in order. ParseError for another mode of vmstat, or without a row."""
    cpus = _CPUS.search(text)
    intervals: List[Interval] = []
    names: List[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if _HEADING.match(line):
            names = words
        elif names and words:
            count = 1 + max(names.index(name) for name in _LAST if name in names)
            if len(words) >= count and all(_NUMBER.match(word) for word in words[:count]):
                figures = [
                    decimal_of_line(_WHAT, word.replace(",", "."), number) for word in words[:count]
                ]
                intervals.append(_interval(names[:count], figures))
    if not intervals:
        raise ParseError(_WHAT, "it has no row with CPU times: run vmstat 5 3")
    return Vmstat(None if cpus is None else integer(cpus.group(1)), intervals)


def _interval(names: List[str], figures: List[float]) -> Interval:
    columns = dict(zip(names, figures))
    aix = "avm" in columns
    return Interval(
        runnable=columns["r"],
        idle=columns.get("id", 0.0),
        wait=columns.get("wa", 0.0),
        stolen=columns.get("st"),
        swapped_in=columns.get("pi" if aix else "si"),
        swapped_out=columns.get("po" if aix else "so"),
        scanned=columns.get("sr"),
        entitled=columns.get("ec"),
    )
