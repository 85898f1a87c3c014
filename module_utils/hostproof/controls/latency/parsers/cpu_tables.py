# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of sysstat's mpstat and sar, and of mpstat of Solaris and AIX, by the names of columns.

The time in front has the form of the locale; "Average:" has no time. Sources: mpstat(1) and sar(1)
of sysstat 9 to 12; mpstat(1M) of Solaris; mpstat of AIX.
"""

import re
from typing import Dict, List, NamedTuple, Optional

from ....errors import ParseError
from ....parsers.number import decimal_of_line

_WHAT = "output of mpstat or sar"
_NUMBER = re.compile(r"^\d{1,15}(?:[.,]\d{1,6})?$")
#: The column that names the row, and a column that each table with this name has.
_NAMED = {"CPU": ("%idle", "idl"), "cpu": ("id",), "IFACE": ("rxdrop/s",), "DEV": ("tps",)}
#: Tables of the host as a whole, by their first column.
_WHOLE = ("pswpin/s", "runq-sz", "%usr")
CPU, INTERFACE, DISK, SWAP, QUEUE = "CPU", "IFACE", "DEV", "pswpin/s", "runq-sz"
#: All CPUs of AIX, Solaris and HP-UX.
PARTITION = "%usr"


class Row(NamedTuple):
    """One interval of ``name`` (a CPU, an interface, a device; "" for the host)."""

    table: str
    name: str
    columns: Dict[str, float]


def parse(text: str) -> List[Row]:
    """The rows in order, without averages. ParseError where no table has a known column."""
    rows: List[Row] = []
    averages: List[Row] = []
    table: Optional[str] = None
    names: List[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        key = _key_of(words)
        if not words:
            # AIX prints an empty line below the heading.
            table = table if table == "cpu" else None
        elif key is not None:
            table, names = key, words[words.index(key) :]
        elif table is not None:
            row = _row(table, names, words, number)
            timed = len(words) == len(names) or words[0][0].isdigit()
            if row is not None:
                (rows if timed else averages).append(row)
    if not rows and not averages:
        raise ParseError(_WHAT, "it has no table of CPUs, disks, interfaces or swap")
    return rows or averages


def _row(table: str, names: List[str], words: List[str], number: int) -> Optional[Row]:
    """None for a line that is no row of the table."""
    if len(words) < len(names):
        return None
    values = words[len(words) - len(names) :]
    # The first column names the row, except in a table of the whole host.
    first = 0 if table in _WHOLE else 1
    if not all(value == "-" or _NUMBER.match(value) for value in values[first:]):
        return None
    columns = {
        head: decimal_of_line(_WHAT, value.replace(",", "."), number)
        for head, value in zip(names[first:], values[first:])
        if value != "-"
    }
    return Row(CPU if table == "cpu" else table, values[0] if first else "", columns)


def _key_of(words: List[str]) -> Optional[str]:
    """The first named column of a heading; None for another line."""
    for key, needs in _NAMED.items():
        if key in words and any(need in words for need in needs):
            return key
    if "%usr" in words:
        return PARTITION if "%wio" in words else None
    return next((key for key in _WHOLE if key in words), None)
