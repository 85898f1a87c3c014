# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the mount commands of AIX, HP-UX, Linux and Solaris print of the mounts that there are.

AIX's ``mount`` is a table (node, mounted, mounted over, vfs, date and options) whose columns lose
their places behind a long name, so a row is read around its date. ``mount -v`` of the others has
lines: SOURCE on PATH type FSTYPE OPTIONS on DATE. ``mount`` of Linux prints SOURCE on PATH type
FSTYPE (OPTIONS). Sources: AIX Commands Reference, mount; HP-UX Reference, mount(1M), option -v;
Solaris mount(1M); OpenSolaris, usr/src/cmd/fs.d/mount.c; util-linux sys-utils/mount.c.
"""

import re
from typing import Callable, List, NamedTuple, Pattern

from ...errors import ParseError, kind_of
from ..nfs.nfs_options import AIX, HPUX, LINUX, SOLARIS

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAY = re.compile(r"\d{1,2}\Z")
_TIME = re.compile(r"\d{1,2}:\d{2}\Z")
_TABLE = "mount of AIX"

#: Words of Solaris that contain a slash, space or hyphen, as mount accepts them.
_ACCESS = (("read/write", "rw"), ("read only", "ro"), ("read-only", "ro"))
#: Words that mount of Solaris shows and does not take so.
_SHOWN = {"setuid": "suid", "nosetuid": "nosuid", "NFSv3": "vers=3", "NFSv4": "vers=4"}
#: How an NFS mount of HP-UX shows its version: a separate word.
_VERSION = re.compile(r"^NFSv(\d)$")


class Mount(NamedTuple):
    """One mount. ``options`` are parted by commas, in the words of fstab and vfstab.

    ``source`` is node:directory where AIX names a node, else as it is there.
    """

    path: str
    source: str
    fstype: str
    options: str


class _Lines(NamedTuple):
    """A variant with lines: who prints it, the form of its options, and these as in fstab."""

    what: str
    line: Pattern[str]
    options: Callable[[str], str]


def parse(system: str, text: str) -> List[Mount]:
    """The mounts of AIX, HPUX, LINUX or SOLARIS, in the order of mounting."""
    return _table(text) if system == AIX else _lines(_VARIANTS[system], text)


def _lines(variant: _Lines, text: str) -> List[Mount]:
    mounts = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        match = variant.line.match(line)
        if match is None:
            raise ParseError(variant.what, f"{kind_of(line)} is not a mount", number)
        source, path, fstype, options = match.groups()
        mounts.append(Mount(path, source, fstype, variant.options(options)))
    if not mounts:
        raise ParseError(variant.what, "holds no mount")
    return mounts


def _line(options: str) -> Pattern[str]:
    return re.compile(
        r"^(.+?) on (/.*?) type (\S+) " + options + r"on (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) .*$"
    )


def _of_hpux(options: str) -> str:
    return ",".join(_VERSION.sub(r"vers=\1", word) for word in options.split(","))


def _of_solaris(options: str) -> str:
    """Some releases part them by slashes, and those of NFS by commas."""
    for shown, word in _ACCESS:
        options = options.replace(shown, word, 1)
    words = [word for word in re.split("[/,]", options) if word]
    return ",".join(_SHOWN.get(word, word) for word in words)


_VARIANTS = {
    LINUX: _Lines(
        "mount of Linux", re.compile(r"^(.*?) on (/.*) type (\S+) \(([^()]*)\)(?: \[.*\])?$"), str
    ),
    HPUX: _Lines("mount -v of HP-UX", _line(r"(\S*) ?"), _of_hpux),
    SOLARIS: _Lines("mount -v of Solaris", _line("(.*) "), _of_solaris),
}


def _table(text: str) -> List[Mount]:
    lines = text.split("\n")
    rules = [number for number, line in enumerate(lines) if set(line.strip()) == {"-", " "}]
    if not rules or "mounted over" not in lines[max(rules[0] - 1, 0)]:
        raise ParseError(_TABLE, "has no head of a table")
    return [
        _row(line, number)
        for number, line in enumerate(lines, 1)
        if number > rules[0] + 1 and line.strip()
    ]


def _row(line: str, number: int) -> Mount:
    words = line.split()
    # The options are one word, or none.
    options = "" if words and _TIME.match(words[-1]) else words[-1]
    rest = words[:-1] if options else words
    names, vfs, date = rest[:-4], rest[-4:-3], rest[-3:]
    # A row of a remote file system begins at once with its node; any other is indented.
    remote = not line.startswith(" ")
    if len(names) != 2 + remote or not _is_date(date):
        raise ParseError(_TABLE, f"{kind_of(line)} is not a mount", number)
    return Mount(names[-1], ":".join(names[:-1]), vfs[0], options)


def _is_date(words: List[str]) -> bool:
    """Whether they are as "Jan 31 09:15"."""
    month, day, time = words
    return month in _MONTHS and bool(_DAY.match(day)) and bool(_TIME.match(time))
