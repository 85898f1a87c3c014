# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/meminfo: size and usage of the memory of a Linux host (proc(5), hugetlbpage.rst)."""

import re
from typing import Dict, NamedTuple

from ...errors import ParseError, kind_of
from ..number import integer

_WHAT = "meminfo"
_ROW = re.compile(r"^([A-Za-z0-9_()]+):\s+(\d+)(?: (kB))?\s*$")


_FREE = "HugePages_Free"

#: Bytes of memory that no Linux starts with, and that none can address (57 bits).
_LEAST_MEMORY, _MOST_MEMORY = 1 << 20, 1 << 57
#: No page is smaller than an ordinary one.
_LEAST_PAGE = 4096


class Pool(NamedTuple):
    """The pool of huge pages of the default size. Counts are pages; page_size is bytes.

    rsvd pages are promised to a segment but not touched yet, so they are still counted in free.
    surp pages are above nr_hugepages. Both are 0 on kernels that do not have them.
    """

    total: int
    free: int
    rsvd: int
    surp: int
    page_size: int

    @property
    def committed(self) -> int:
        """Pages that are used or promised."""
        return self.total - self.free + self.rsvd

    @property
    def unpromised(self) -> int:
        """Pages that a new segment can still get."""
        return self.free - self.rsvd


def parse(text: str) -> Dict[str, int]:
    """Each row by its name: bytes where the kernel states kB, else a plain count (HugePages_*).

    Rows that the kernel does not have are absent. Raises ParseError on any other line, and if
    MemTotal is missing or none that a host can have.
    """
    rows: Dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _ROW.match(line)
        if match is None:
            raise ParseError(_WHAT, f"not a 'Name: number [kB]' row: {kind_of(line)}", number)
        rows[match.group(1)] = integer(match.group(2)) * (1024 if match.group(3) else 1)
    if "MemTotal" not in rows:
        raise ParseError(_WHAT, "there is no MemTotal row")
    if not _LEAST_MEMORY <= rows["MemTotal"] <= _MOST_MEMORY:
        raise ParseError(_WHAT, "MemTotal is {0} bytes, which no host has".format(rows["MemTotal"]))
    return rows


def pool(meminfo: Dict[str, int]) -> Pool:
    """The default pool from parsed rows.

    Raises ParseError if the kernel has no huge pages, and for numbers that cannot be together.
    """
    for name in ("HugePages_Total", _FREE, "Hugepagesize"):
        if name not in meminfo:
            raise ParseError(_WHAT, f"no {name} row: the kernel has no huge pages")
    size, total, free = (meminfo[name] for name in ("Hugepagesize", "HugePages_Total", _FREE))
    if size < _LEAST_PAGE or size & (size - 1):
        raise ParseError(_WHAT, f"Hugepagesize is {size} bytes, which no page is")
    if free > total:
        raise ParseError(_WHAT, f"{free} of {total} huge pages are free, which cannot be")
    # Huge pages are part of MemTotal.
    if total * size > meminfo.get("MemTotal", _MOST_MEMORY):
        raise ParseError(_WHAT, f"{total} huge pages of {size} bytes are more than MemTotal")
    return Pool(
        total=meminfo["HugePages_Total"],
        free=meminfo["HugePages_Free"],
        rsvd=meminfo.get("HugePages_Rsvd", 0),
        surp=meminfo.get("HugePages_Surp", 0),
        page_size=meminfo["Hugepagesize"],
    )
