# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/PID/status (proc(5)): the few rows that state whose a process is and what it holds."""

from typing import NamedTuple, Optional, Tuple

from ...errors import ParseError, kind_of
from ..number import integer


class ProcStatus(NamedTuple):
    """``gid`` is the effective group; ``hugetlb`` is bytes, None before kernel 4.4. ``swap`` is the
    bytes of it that are in swap, None of a thread of the kernel. ``capabilities`` are the effective
    ones (capabilities(7)) as a bit mask."""

    name: str
    uid: int
    gid: int
    groups: Tuple[int, ...]
    hugetlb: Optional[int]
    swap: Optional[int] = None
    capabilities: int = 0


def parse(text: str) -> ProcStatus:
    """Rows "Name:\tvalue" to a ProcStatus; ParseError where a needed row is missing or odd."""
    rows = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, colon, value = line.partition(":")
        if not colon:
            raise ParseError("/proc/PID/status", f"no colon in {kind_of(line)}", number)
        rows[name] = value.strip()
    try:
        hugetlb, swap = rows.get("HugetlbPages"), rows.get("VmSwap")
        return ProcStatus(
            name=rows["Name"],
            uid=integer(rows["Uid"].split()[1]),
            gid=integer(rows["Gid"].split()[1]),
            groups=tuple(integer(group) for group in rows["Groups"].split()),
            hugetlb=None if hugetlb is None else integer(hugetlb.split()[0]) * 1024,
            swap=None if swap is None else integer(swap.split()[0]) * 1024,
            capabilities=int(rows.get("CapEff", "0"), 16),
        )
    except (KeyError, IndexError, ValueError) as problem:
        raise ParseError("/proc/PID/status", f"row missing or not a number: {problem}") from problem
