# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/PID/maps: what a process has mapped into its memory (proc_pid_maps(5))."""

import re
from typing import List, NamedTuple, Optional

from ...errors import ParseError, kind_of
from ..number import integer

_WHAT = "process maps"
_LINE = re.compile(
    r"([0-9a-f]+)-([0-9a-f]+) ([r-][w-][x-][ps]) [0-9a-f]+ ([0-9a-f]+:[0-9a-f]+) (\d+)(?: +(.*))?$"
)
_SYSV = re.compile(r"/SYSV[0-9a-f]{8}(?: \(deleted\))?$")


class Mapping(NamedTuple):
    """One mapping. ``device`` is the kernel's major:minor in hex; path is "" if it has none."""

    start: int
    end: int
    perms: str
    device: str
    inode: int
    path: str

    @property
    def size(self) -> int:
        """Bytes of address space."""
        return self.end - self.start

    @property
    def shmid(self) -> Optional[int]:
        """The id of the System V segment that is mapped here: the kernel shows it as inode."""
        return self.inode if _SYSV.match(self.path) else None


def parse(text: str) -> List[Mapping]:
    """Every mapping in order of address. Raises ParseError if there is none.

    A kernel thread and a process that has ended have no mapping: no answer about an instance.
    """
    mappings = []
    for number, line in enumerate(text.split("\n"), 1):
        if line:
            mappings.append(parse_line(line, number))
    if not mappings:
        raise ParseError(_WHAT, "there is no mapping: the process has ended or is the kernel's")
    return mappings


def parse_line(line: str, number: int) -> Mapping:
    """One line, as maps and smaps both have it; ``number`` is for the error."""
    match = _LINE.match(line)
    if match is None:
        raise ParseError(_WHAT, f"not a mapping: {kind_of(line)}", number)
    start, end, perms, device, inode, path = match.groups()
    return Mapping(integer(start, 16), integer(end, 16), perms, device, integer(inode), path or "")


def is_mapping(line: str) -> bool:
    """Whether a line of smaps starts a segment."""
    return _LINE.match(line) is not None
