# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/buddyinfo: free memory by the size of its contiguous blocks (proc(5))."""

import re
from typing import List, NamedTuple, Tuple

from ....errors import ParseError, kind_of
from ....parsers.number import integer

_WHAT = "buddyinfo"
_LINE = re.compile(r"Node (\d+), zone +(\S+)((?: +\d+)+) *$")


class Zone(NamedTuple):
    """A memory zone. ``free[order]`` counts free blocks of 2**order base pages each."""

    node: int
    zone: str
    free: Tuple[int, ...]


def parse(text: str) -> List[Zone]:
    """Every zone of every NUMA node. Raises ParseError if there is none."""
    zones = []
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.match(line)
        if match is None:
            raise ParseError(_WHAT, f"not a zone: {kind_of(line)}", number)
        counts = tuple(integer(count) for count in match.group(3).split())
        zones.append(Zone(integer(match.group(1)), match.group(2), counts))
    if not zones:
        raise ParseError(_WHAT, "there is no zone")
    return zones


def contiguous(zones: List[Zone], order: int) -> int:
    """Number of free blocks of 2**order base pages. Larger blocks count as several.

    Blocks that compaction could create are not counted. Zone DMA is excluded: the kernel reserves
    its 16 MiB for old devices (lowmem_reserve), so huge pages cannot use it.
    """
    return sum(
        count << (size - order)
        for zone in zones
        if zone.zone != "DMA"
        for size, count in enumerate(zone.free)
        if size >= order
    )
