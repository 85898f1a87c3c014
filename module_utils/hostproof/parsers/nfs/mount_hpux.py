# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``mount -v`` of HP-UX prints: SOURCE on PATH type FSTYPE OPTION,OPTION... on DATE.

Source: HP-UX Reference, mount(1M), option -v.
"""

import re
from typing import List, NamedTuple

from ...errors import ParseError

_WHAT = "mount -v of HP-UX"
_LINE = re.compile(
    r"^(?P<source>.+?) on (?P<path>/.*?) type (?P<fstype>\S+) (?P<options>\S*) ?on "
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) .*$"
)
#: How an NFS mount shows its version: a word of its own.
_VERSION = re.compile(r"^NFSv(\d)$")


class Mount(NamedTuple):
    """One line. ``options`` are as in fstab; the version that HP-UX shows became vers=."""

    path: str
    source: str
    fstype: str
    options: str


def parse(text: str) -> List[Mount]:
    """The mounts, in the order of mounting."""
    mounts = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        match = _LINE.match(line)
        if match is None:
            raise ParseError(_WHAT, f"{line[:80]!r} is no mount", number)
        path, source, fstype = match.group("path"), match.group("source"), match.group("fstype")
        words = [_VERSION.sub(r"vers=\1", word) for word in match.group("options").split(",")]
        mounts.append(Mount(path, source, fstype, ",".join(words)))
    if not mounts:
        raise ParseError(_WHAT, "holds no mount")
    return mounts
