# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/PID/smaps: resident memory and page size of each mapping (proc(5))."""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...errors import ParseError, kind_of
from ..number import integer
from . import proc_maps

_WHAT = "process smaps"
_ROW = re.compile(r"([A-Za-z_]+):\s+(\d+) kB$")
_NEEDED = ("KernelPageSize", "Rss", "Shared_Hugetlb", "Private_Hugetlb")


class Segment(NamedTuple):
    """One mapping. Sizes are bytes.

    Huge pages never count in ``rss``; ``hugetlb`` is their shared and private part together,
    because a segment that one process alone has attached is shown as private.
    """

    mapping: proc_maps.Mapping
    page_size: int
    rss: int
    hugetlb: int
    flags: Tuple[str, ...]

    @property
    def huge(self) -> bool:
        """Whether the mapping is made of huge pages (VmFlags ``ht``), touched or not."""
        return "ht" in self.flags


def parse(text: str) -> List[Segment]:
    """Every mapping in order of address.

    Raises ParseError if there is none, and on a kernel too old (before 4.4) to count huge pages.
    """
    segments: List[Segment] = []
    mapping: Optional[proc_maps.Mapping] = None
    rows: Dict[str, int] = {}
    flags: Optional[Tuple[str, ...]] = None
    started = 0
    for number, line in enumerate(text.split("\n"), 1):
        if proc_maps.is_mapping(line):
            if mapping is not None:
                segments.append(_segment(mapping, rows, flags, started))
            mapping, rows, flags = proc_maps.parse_line(line, number), {}, None
            started = number
        elif line and mapping is None:
            raise ParseError(_WHAT, f"not a mapping: {kind_of(line)}", number)
        elif line.startswith("VmFlags:"):
            flags = tuple(line.split()[1:])
        elif line:
            rows.update(_row(line, number))
    if mapping is None:
        raise ParseError(_WHAT, "there is no mapping: the process has ended or is the kernel's")
    return segments + [_segment(mapping, rows, flags, started)]


def _row(line: str, number: int) -> Dict[str, int]:
    match = _ROW.match(line)
    if match is not None:
        return {match.group(1): integer(match.group(2)) * 1024}
    # Some rows are not sizes: THPeligible, ProtectionKey.
    if re.match(r"[A-Za-z_]+:\s+\d+$", line) is None:
        raise ParseError(_WHAT, f"not a 'Name: number kB' row: {kind_of(line)}", number)
    return {}


def _segment(
    mapping: proc_maps.Mapping, rows: Dict[str, int], flags: Optional[Tuple[str, ...]], line: int
) -> Segment:
    missing = [name for name in _NEEDED if name not in rows]
    if missing or flags is None:
        raise ParseError(
            _WHAT, "the mapping has no {0} row".format((missing + ["VmFlags"])[0]), line
        )
    return Segment(
        mapping=mapping,
        page_size=rows["KernelPageSize"],
        rss=rows["Rss"],
        hugetlb=rows["Shared_Hugetlb"] + rows["Private_Hugetlb"],
        flags=flags,
    )
