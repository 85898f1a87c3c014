# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/diskstats: what each block device has counted since it was made.

Sources: kernel Documentation/admin-guide/iostats.rst; block/genhd.c, diskstats_show(). Sectors are
512 bytes on every device. Times are milliseconds, printed as 32 bits, and so wrap after 49 days of
waiting; on a machine of 32 bits the other counters wrap as well.
"""

from typing import Dict, NamedTuple, Optional

from ....errors import ParseError
from ....parsers.number import integer

_WHAT = "diskstats"

#: Major, minor, name, and the eleven counters that every kernel since 2.6.25 writes. Discards
#: (since 4.18) and flushes (since 5.5) follow and are not kept.
_COLUMNS = 14
_WRAP = 2**32
_HALF = 2**31


class Counters(NamedTuple):
    """The counters of one device or partition. ``read_ms`` sums the time of all reads.

    ``in_flight`` is not a counter, but the current number of requests. ``busy_ms`` is the time with
    at least one request, ``weighted_ms`` this time multiplied by the number of requests.
    """

    major: int
    minor: int
    name: str
    reads: int
    reads_merged: int
    sectors_read: int
    read_ms: int
    writes: int
    writes_merged: int
    sectors_written: int
    write_ms: int
    in_flight: int
    busy_ms: int
    weighted_ms: int


def parse(text: str) -> Dict[str, Counters]:
    """Each device by its name. Raises ParseError for a row that is none, and for no row at all."""
    devices: Dict[str, Counters] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        words = line.split()
        if len(words) < _COLUMNS:
            raise ParseError(_WHAT, f"{len(words)} columns, not {_COLUMNS}", number)
        if not all(word.isdecimal() for word in words[:2] + words[3:]):
            raise ParseError(_WHAT, "a counter is not a number", number)
        if words[2] in devices:
            raise ParseError(_WHAT, "a device is listed twice", number)
        values = [integer(word) for word in words[3:_COLUMNS]]
        devices[words[2]] = Counters(integer(words[0]), integer(words[1]), words[2], *values)
    if not devices:
        raise ParseError(_WHAT, "there is no device")
    return devices


class Difference(NamedTuple):
    """What a device did between two readings: the counters of Counters, but for ``in_flight``."""

    reads: int
    reads_merged: int
    sectors_read: int
    read_ms: int
    writes: int
    writes_merged: int
    sectors_written: int
    write_ms: int
    busy_ms: int
    weighted_ms: int


def difference(before: Counters, after: Counters) -> Optional[Difference]:
    """The difference of the counters. None if they are from another device.

    A counter that decreased has wrapped at 32 bits if it was in the upper half before and is in the
    lower half after, and advanced by less than half of the range. Otherwise, the device was
    recreated."""
    if (before.major, before.minor, before.name) != (after.major, after.minor, after.name):
        return None
    moved: Dict[str, int] = {}
    for name in Difference._fields:
        old, new = getattr(before, name), getattr(after, name)
        if new < old:
            if not _HALF <= old < _WRAP or new >= _HALF or new + _WRAP - old >= _HALF:
                return None
            new += _WRAP
        moved[name] = new - old
    return Difference(**moved)
