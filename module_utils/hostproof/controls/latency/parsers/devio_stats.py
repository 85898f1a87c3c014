# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The devio_stats dump of an Exadata cell: /proc/diskstats in steps of 3 seconds, newest first.

Written to the trace file by "alter cell events = immediate cellsrv.cellsrv_dump('devio_stats',0)".
Latency is iostat's await and ServiceTime its svctm, in milliseconds; AverageRQ is sectors of 512
bytes. A disk and the partition on it are both listed: they are the same I/Os.
Sources: tests/fixtures/latency/SOURCES.md.
"""

import re
from typing import List, NamedTuple

from ....errors import ParseError
from ....parsers.number import decimal, integer
from .ellipsis_marks import is_mark

_WHAT = "devio_stats dump"
#: The cell takes 599 differences in 1,800 seconds.
STEP_SECONDS = 3
_BEGIN = re.compile(r"^\[IOSTAT\] Dump IO device stats for the last (\d{1,9}) seconds$")
_DEVICE = re.compile(r"^\[IOSTAT\] Device - (\S+)$")
_HEADINGS = [
    "ServiceTime",
    "Latency",
    "AverageRQ",
    "numReads",
    "numWrites",
    "DMWG",
    "numDmwgPeers",
    "numDmwgPeersFl",
    "trigerConfine",
    "avgSrvcTimeDmwg",
    "avgSrvcTimeDmwgFl",
]
_TRACE = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\*?:")


class Interval(NamedTuple):
    """Three seconds of a device. ``latency`` and ``service`` are microseconds, ``size`` bytes.

    ``confined``: the cell took the disk for one that underperforms (column trigerConfine).
    """

    service: float
    latency: float
    size: int
    reads: int
    writes: int
    confined: bool


class Device(NamedTuple):
    """``intervals`` are oldest first. ``shortened``: lines were removed.

    ``expected``: number of intervals in the seconds that the dump covers by its own header.
    """

    name: str
    intervals: List[Interval]
    shortened: bool
    line: int
    expected: int


def parse(text: str) -> List[Device]:
    """Every device of the last dump in the text. ParseError for none, or for a row cut off."""
    devices: List[Device] = []
    begun = headed = False
    expected = 0
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        device = _DEVICE.match(line)
        begin = _BEGIN.match(line)
        if begin:
            devices, begun, headed = [], True, False
            # A reading at either end of each difference: one difference less than steps.
            expected = integer(begin.group(1)) // STEP_SECONDS - 1
        elif device:
            devices.append(Device(device.group(1), [], False, number, expected))
            headed = False
        elif not line or _TRACE.match(line):
            # The trace goes on with something else, until the next device.
            headed = False
        elif not devices:
            continue
        elif line.split() == _HEADINGS:
            headed = True
        elif is_mark(line):
            devices[-1] = devices[-1]._replace(shortened=True)
        elif headed:
            devices[-1].intervals.insert(0, _interval(line, number))
        elif re.match(r"^\d+\.\d+ \d", line) and not devices[-1].intervals:
            raise ParseError(_WHAT, "there are no headings above the row", number)
    _check(devices, begun)
    return devices


def _check(devices: List[Device], begun: bool) -> None:
    if not begun:
        raise ParseError(_WHAT, "it has no line '[IOSTAT] Dump IO device stats'")
    if not devices:
        raise ParseError(_WHAT, "the dump has no device: it is cut off")
    for entry in devices:
        if not entry.intervals:
            raise ParseError(_WHAT, "the device has no row", entry.line)


def _interval(line: str, number: int) -> Interval:
    cells = line.split()
    whole = cells[2:9]
    if len(cells) != len(_HEADINGS) or not all(re.match(r"^\d{1,15}$", cell) for cell in whole):
        raise ParseError(
            _WHAT,
            f"the row has not its {len(_HEADINGS)} numbers: it is cut off or of another dump",
            number,
        )
    if not all(re.match(r"^\d{1,12}\.\d{1,9}$", cell) for cell in cells[:2] + cells[9:]):
        raise ParseError(_WHAT, "a time of the row is not a number", number)
    return Interval(
        service=decimal(cells[0]) * 1000,
        latency=decimal(cells[1]) * 1000,
        size=integer(cells[2]) * 512,
        reads=integer(cells[3]),
        writes=integer(cells[4]),
        confined=integer(cells[8]) != 0,
    )
