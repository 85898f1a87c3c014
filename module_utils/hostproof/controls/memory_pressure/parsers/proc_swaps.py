# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/swaps: active swap areas (proc(5))."""

from typing import List, NamedTuple

from ....errors import ParseError, kind_of
from ....parsers.mounts.mountinfo import unescape
from ....parsers.number import integer

_WHAT = "/proc/swaps"


class Area(NamedTuple):
    """A swap area; sizes are bytes."""

    path: str
    kind: str
    size: int
    used: int


def parse(text: str) -> List[Area]:
    """All areas. An empty list is valid."""
    lines = text.splitlines()
    if not lines or lines[0].split()[:2] != ["Filename", "Type"]:
        raise ParseError(_WHAT, "there is no header line")
    areas = []
    for number, line in enumerate(lines[1:], 2):
        fields = line.split()
        if len(fields) != 5 or not (fields[2].isdecimal() and fields[3].isdecimal()):
            raise ParseError(_WHAT, f"not an area: {kind_of(line)}", number)
        size, used = (integer(field) * 1024 for field in fields[2:4])
        areas.append(Area(unescape(fields[0]), fields[1], size, used))
    return areas
