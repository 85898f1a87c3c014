# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table that AIX's mount prints: node, mounted, mounted over, vfs, date and options.

Columns lose their places behind a long name, so a row is read around its date. Source: AIX
Commands Reference, mount.
"""

import re
from typing import List, NamedTuple

from ...errors import ParseError

_WHAT = "mount of AIX"
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAY = re.compile(r"\d{1,2}\Z")
_TIME = re.compile(r"\d{1,2}:\d{2}\Z")


class Mount(NamedTuple):
    """One row. ``source`` is node:directory where a node is named, else the device."""

    path: str
    source: str
    fstype: str
    options: str


def parse(text: str) -> List[Mount]:
    """The rows, in the order of mounting."""
    lines = text.split("\n")
    rules = [number for number, line in enumerate(lines) if set(line.strip()) == {"-", " "}]
    if not rules or "mounted over" not in lines[max(rules[0] - 1, 0)]:
        raise ParseError(_WHAT, "has no head of a table")
    return [
        _mount(line, number)
        for number, line in enumerate(lines, 1)
        if number > rules[0] + 1 and line.strip()
    ]


def _mount(line: str, number: int) -> Mount:
    words = line.split()
    # The options are one word, or none.
    options = "" if words and _TIME.match(words[-1]) else words[-1]
    rest = words[:-1] if options else words
    names, vfs, date = rest[:-4], rest[-4:-3], rest[-3:]
    # A row of a remote file system begins at once with its node; any other is indented.
    remote = not line.startswith(" ")
    if len(names) != 2 + remote or not _is_date(date):
        raise ParseError(_WHAT, f"{line[:80]!r} is no mount", number)
    return Mount(
        path=names[-1],
        source=":".join(names[:-1]),
        fstype=vfs[0],
        options=options,
    )


def _is_date(words: List[str]) -> bool:
    """Whether they are as "Jan 31 09:15"."""
    month, day, time = words
    return month in _MONTHS and bool(_DAY.match(day)) and bool(_TIME.match(time))
