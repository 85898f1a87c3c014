# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The iolstats dump of an Exadata cell: latency of its I/Os by size.

The command "alter cell events = immediate cellsrv.cellsrv_dump('iolstats',0)" writes it to the
trace file. Each cell disk has a table with the number of I/Os by size, then the name of the disk,
then the latencies. Columns and rows without I/Os are omitted, so the layout of each dump differs.
Sources: tests/fixtures/latency/SOURCES.md.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ....errors import ParseError, kind_of
from ....parsers.number import integer
from .ellipsis_marks import is_mark

_WHAT = "iolstats dump"
_SIZES = re.compile(r"^IO length \(bytes\):\s+Num read IOs:\s+Num write IOs:$")
_SIZE = re.compile(r"^\[ *(\d+) - *(\d+)\) +(\d+) +(\d+)$")
_DISK = re.compile(r"^Average IO-latency distribution stats for CDisk (\S+)$")
_TABLE = re.compile(r"^Number of (Reads|Writes) iosize-latency distribution$")
_OTHER = re.compile(r"^Number of ")
_LOWS = re.compile(r"^IO len\(B\)\\IO lat\(us\) \|\|(.*)\|$")
_HIGHS = re.compile(r"^\|\|(.*)\|$")
_RULE = re.compile(r"^-+\|\|[-|]+\|$")
_ROW = re.compile(r"^\[ *(\d+), *(\d+)\) \|\|(.*)\|$")


class Latencies(NamedTuple):
    """``bins``: from the size's lower end in bytes to {k: I/Os that took 2**(k-1) to 2**k us}."""

    direction: str
    bins: Dict[int, Dict[int, int]]


class CellDisk(NamedTuple):
    """``counts``: reads and writes by lower end of the size. ``shortened``: lines were removed."""

    name: str
    counts: Dict[int, Tuple[int, int]]
    latencies: List[Latencies]
    shortened: bool
    line: int


def parse(text: str) -> List[CellDisk]:
    """Every cell disk. ParseError where none is found, or the sums of the tables differ."""
    disks: List[CellDisk] = []
    counts: Optional[Dict[int, Tuple[int, int]]] = None
    lines = list(map(str.strip, text.split("\n")))
    at = 0
    while at < len(lines):
        line = lines[at]
        if _SIZES.match(line):
            counts, at = _sizes(lines, at + 1)
            continue
        disk = _DISK.match(line)
        table = _TABLE.match(line)
        if disk:
            if counts is None:
                raise ParseError(_WHAT, "there is no table of sizes above the cell disk", at + 1)
            disks.append(CellDisk(disk.group(1), counts, [], False, at + 1))
            counts = None
        elif table:
            if not disks:
                raise ParseError(_WHAT, "the latencies belong to no cell disk", at + 1)
            bins, at = _latencies(lines, at + 1)
            disks[-1].latencies.append(Latencies(table.group(1).lower()[:-1], bins))
            continue
        elif is_mark(line) and disks:
            disks[-1] = disks[-1]._replace(shortened=True)
        at += 1
    if not disks:
        raise ParseError(_WHAT, "it has no line 'Average IO-latency distribution stats for CDisk'")
    if counts is not None:
        raise ParseError(_WHAT, "it ends before the name of the last cell disk", len(lines))
    for entry in disks:
        _checked(entry)
    return disks


def _sizes(lines: List[str], at: int) -> Tuple[Dict[int, Tuple[int, int]], int]:
    counts: Dict[int, Tuple[int, int]] = {}
    while at < len(lines) and lines[at]:
        match = _SIZE.match(lines[at])
        if match is None:
            raise ParseError(_WHAT, f"it is not a row of sizes: {kind_of(lines[at])}", at + 1)
        low, high, reads, writes = _numbers(match.groups(), at)
        _octave(low, high, at)
        counts[low] = (reads, writes)
        at += 1
    if not counts:
        raise ParseError(_WHAT, "the table of sizes has no row", at)
    return counts, at


def _latencies(lines: List[str], at: int) -> Tuple[Dict[int, Dict[int, int]], int]:
    """The table whose heading is ``lines[at]``."""
    lows = _lows(lines, at)
    bins: Dict[int, Dict[int, int]] = {}
    at += 3
    while at < len(lines) and lines[at] and not is_mark(lines[at]):
        match = _ROW.match(lines[at])
        if match is None:
            if _OTHER.match(lines[at]) or _DISK.match(lines[at]) or _SIZES.match(lines[at]):
                break
            raise ParseError(_WHAT, f"it is not a row of latencies: {kind_of(lines[at])}", at + 1)
        low, high = _numbers(match.groups()[:2], at)
        _octave(low, high, at)
        values = _numbers([cell.strip() for cell in match.group(3).split("|")], at)
        if len(values) != len(lows):
            problem = f"the row has {len(values)} cells under {len(lows)} headings"
            raise ParseError(_WHAT, problem, at + 1)
        bins[low] = {begin.bit_length(): count for begin, count in zip(lows, values) if count}
        at += 1
    if not bins:
        raise ParseError(_WHAT, "the table of latencies has no row", at)
    return bins, at


def _lows(lines: List[str], at: int) -> List[int]:
    """Where the columns begin, of a heading of two lines of ends and a rule."""
    ends = []
    for place, pattern in enumerate((_LOWS, _HIGHS)):
        match = pattern.match(lines[at + place]) if at + place < len(lines) else None
        if match is None:
            raise ParseError(_WHAT, "the table of latencies has no heading", at + place + 1)
        cells = [cell.strip(" [)") for cell in match.group(1).split("|")]
        ends.append(_numbers(cells, at + place))
    if len(ends[0]) != len(ends[1]):
        raise ParseError(_WHAT, "the two lines of the heading differ", at + 2)
    for low, high in zip(*ends):
        _octave(low, high, at + 1)
    if at + 2 >= len(lines) or not _RULE.match(lines[at + 2]):
        raise ParseError(_WHAT, "there is no rule below the heading", at + 3)
    return ends[0]


def _checked(disk: CellDisk) -> None:
    """ParseError where a row has another number of I/Os than the table of sizes has."""
    for table in disk.latencies:
        place = 0 if table.direction == "read" else 1
        for low, bins in table.bins.items():
            count = disk.counts.get(low, (0, 0))[place]
            if sum(bins.values()) != count:
                raise ParseError(
                    _WHAT,
                    "{0} of {1} bytes are {2} in the latencies of {3} and {4} in its sizes".format(
                        table.direction + "s", low, sum(bins.values()), disk.name, count
                    ),
                    disk.line,
                )
        missing = [
            low for low, both in disk.counts.items() if both[place] and low not in table.bins
        ]
        if missing and not disk.shortened:
            raise ParseError(
                _WHAT,
                f"the {table.direction}s of {missing[0]} bytes are missing in the latencies of "
                f"{disk.name}: it is cut off",
                disk.line,
            )
    if not disk.latencies and not disk.shortened:
        raise ParseError(
            _WHAT, f"the cell disk {disk.name} has no latencies: it is cut off", disk.line
        )


def _octave(low: int, high: int, at: int) -> None:
    """ParseError unless the ends are those of one power of two."""
    if not low or low & (low - 1) or high != 2 * low - 1:
        raise ParseError(_WHAT, f"{low} to {high} is not a bin", at + 1)


def _numbers(texts: object, at: int) -> List[int]:
    values = []
    for text in texts:  # type: ignore[attr-defined]
        if not re.match(r"^[0-9]{1,18}$", text):
            raise ParseError(_WHAT, f"{kind_of(text)} is not a number", at + 1)
        values.append(integer(text))
    return values
