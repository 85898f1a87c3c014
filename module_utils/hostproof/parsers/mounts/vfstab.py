# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""vfstab of Solaris. Source: vfstab(5), getvfsent(3C)."""

from typing import List, NamedTuple

from ...errors import ParseError
from .fstab import clean_path

_WHAT = "vfstab"
_NONE = "-"


class Entry(NamedTuple):
    """One line. ``options`` is "" where it states "-". ``line`` counts from 1."""

    line: int
    source: str
    path: str
    fstype: str
    at_boot: bool
    options: str


def parse(text: str) -> List[Entry]:
    """Every entry. Raises ParseError at a line without seven fields, where mountall stops too."""
    entries = []
    for number, line in enumerate(text.split("\n"), 1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        if len(fields) != 7:
            raise ParseError(_WHAT, f"it has {len(fields)} fields, not 7", number)
        source, _, path, fstype, _, at_boot, options = fields
        entries.append(
            Entry(
                number,
                source,
                clean_path(path),
                fstype,
                at_boot == "yes",
                "" if options == _NONE else options,
            )
        )
    return entries
