# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/meminfo: how much memory a Linux host has and how it is used (proc(5), hugetlbpage.rst)."""

import re
from typing import Dict, NamedTuple

from ...errors import ParseError
from ..number import integer

_WHAT = "meminfo"
_ROW = re.compile(r"^([A-Za-z0-9_()]+):\s+(\d+)(?: (kB))?\s*$")


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
    """Each row by its name: bytes where the kernel says kB, else a plain count (HugePages_*).

    Rows that the kernel does not have are absent. Raises ParseError on any other line, and if
    MemTotal is missing.
    """
    rows: Dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _ROW.match(line)
        if match is None:
            raise ParseError(_WHAT, f"not a 'Name: number [kB]' row: {line!r}", number)
        rows[match.group(1)] = integer(match.group(2)) * (1024 if match.group(3) else 1)
    if "MemTotal" not in rows:
        raise ParseError(_WHAT, "there is no MemTotal row")
    if not rows["MemTotal"]:
        raise ParseError(_WHAT, "MemTotal is 0, which no host has")
    return rows


def pool(meminfo: Dict[str, int]) -> Pool:
    """The default pool from parsed rows. Raises ParseError if the kernel has no huge pages."""
    for name in ("HugePages_Total", "HugePages_Free", "Hugepagesize"):
        if name not in meminfo:
            raise ParseError(_WHAT, f"no {name} row: the kernel has no huge pages")
    if not meminfo["Hugepagesize"]:
        raise ParseError(_WHAT, "Hugepagesize is 0, which no page is")
    return Pool(
        total=meminfo["HugePages_Total"],
        free=meminfo["HugePages_Free"],
        rsvd=meminfo.get("HugePages_Rsvd", 0),
        surp=meminfo.get("HugePages_Surp", 0),
        page_size=meminfo["Hugepagesize"],
    )
