# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``mount -v`` of Solaris prints: SOURCE on PATH type FSTYPE OPTION/OPTION... on DATE.

Some releases part the options of NFS by commas. Source: Solaris mount(1M); OpenSolaris,
usr/src/cmd/fs.d/mount.c.
"""

import re
from typing import List, NamedTuple

from ...errors import ParseError

_WHAT = "mount -v of Solaris"
_LINE = re.compile(
    r"^(?P<source>.+?) on (?P<path>/.*?) type (?P<fstype>\S+) (?P<options>.*) on "
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) .*$"
)
#: The only words with a slash or space of their own, as mount itself takes them.
_ACCESS = (("read/write", "rw"), ("read only", "ro"), ("read-only", "ro"))
#: Words that mount shows and does not take so.
_SHOWN = {"setuid": "suid", "nosetuid": "nosuid", "NFSv3": "vers=3", "NFSv4": "vers=4"}


class Mount(NamedTuple):
    """One line. ``options`` are parted by commas, as in vfstab."""

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
        mounts.append(Mount(path, source, fstype, _options(match.group("options"))))
    if not mounts:
        raise ParseError(_WHAT, "holds no mount")
    return mounts


def _options(text: str) -> str:
    for shown, word in _ACCESS:
        text = text.replace(shown, word, 1)
    words = [word for word in re.split("[/,]", text) if word]
    return ",".join(_SHOWN.get(word, word) for word in words)
