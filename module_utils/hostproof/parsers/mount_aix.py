# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table that AIX's mount prints: node, mounted, mounted over, vfs, date and options.

Columns lose their places behind a long name, so a row is read around its date. Source: AIX
Commands Reference, mount.
"""

import re
from typing import List, NamedTuple

from ..errors import ParseError

_WHAT = "mount of AIX"
_ROW = re.compile(
    r"^(?P<names>.+?)\s+(?P<vfs>\S+)\s+"
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2} +\d{1,2}:\d{2}"
    r"(?:\s+(?P<options>\S+))?\s*$"
)


class Mount(NamedTuple):
    """One row. ``source`` is node:directory where a node is named, else the device."""

    path: str
    source: str
    fstype: str
    options: str


def parse(text):
    # type: (str) -> List[Mount]
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


def _mount(line, number):
    # type: (str, int) -> Mount
    row = _ROW.match(line)
    names = row.group("names").split() if row else []
    # A row of a remote file system begins at once with its node; any other is indented.
    remote = not line.startswith(" ")
    if row is None or len(names) != 2 + remote:
        raise ParseError(_WHAT, "{0!r} is no mount".format(line[:80]), number)
    return Mount(
        path=names[-1],
        source=":".join(names[:-1]),
        fstype=row.group("vfs"),
        options=row.group("options") or "",
    )
