# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""oratab: the databases of a host and the Oracle home of each.

One ``SID:HOME:Y|N|W`` a line; what follows a "#" is a comment. Clusterware writes the name of the
database instead of the SID. Source: the comment at the head of every oratab that root.sh makes;
Oracle Database Administrator's Reference for Linux, oratab.
"""

from typing import List, NamedTuple

from ...errors import ParseError, kind_of

#: Where root.sh puts it: Linux, AIX and HP-UX; Solaris.
PATHS = ("/etc/oratab", "/var/opt/oracle/oratab")


class Entry(NamedTuple):
    """A database. ``sid`` is "*" where the home is meant for any; line counts from 1. ``starts`` is
    whether dbstart starts it: Y, or W, which waits for ASM."""

    sid: str
    home: str
    line: int
    starts: bool


def parse(text: str) -> List[Entry]:
    """Every entry, in the order of the file. ParseError where a line names no home."""
    entries = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        fields = line.split(":")
        if len(fields) < 2 or not fields[0] or not fields[1].startswith("/"):
            raise ParseError("oratab", f"not SID:/HOME:Y or N: {kind_of(line)}", number)
        starts = len(fields) > 2 and fields[2].strip() in ("Y", "W")
        entries.append(Entry(fields[0], fields[1].rstrip("/") or "/", number, starts))
    return entries
