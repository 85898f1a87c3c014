# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Directories as ``ls -la`` lists them; with many paths or -R a line "/PATH:" begins each."""

from __future__ import annotations

import re
from typing import NamedTuple

_ENTRY = re.compile(r"(?P<type>[-dlcbps])[-rwxsStT]{9}[.+@]?\s+\d+\s+\S+\s+\S+\s+(?P<rest>.*)")
#: Size or device numbers, SELinux context, date and time before the name.
_NAME = re.compile(
    r"(?:[^\s:]+:[^\s:]+:[^\s:]+:\S+\s+)?(?:\d+,\s*)?\d+\s+"
    r"(?:[A-Z][a-z]{2}\s+\d+\s+[\d:]+|\d{4}-\d\d-\d\d \d\d:\d\d(?::\S+ [+-]\d{4})?) (?P<name>.+)"
)
#: Characters of a line: a name has 255 bytes, and the target of a link 4,095.
_MOST_OF_A_LINE = 5000
_MISSING = re.compile(r"^\S*ls: cannot access '?(/[^':]+)'?: No such file or directory$")


class Entry(NamedTuple):
    """A name in a directory: its type as ls has it ("-", "d", "l", ...), and where a link leads."""

    type: str
    target: str | None


class Listed(NamedTuple):
    """Directories by path with their entries by name, and paths that are not there."""

    folders: dict[str, dict[str, Entry]]
    missing: set[str]


def parse(text: str, only: str = "") -> Listed:
    """``only`` is the directory that a listing without a line "/PATH:" is of.

    A directory is left out if a line cannot be read, if ls could not read it, or if the line "." is
    missing (``ls -a`` prints it).
    """
    listing = Listed({}, set())
    folder = only or None
    unsure: set[str] = set()
    whole: set[str] = set()
    if only:
        listing.folders[only] = {}
    for line in text.splitlines():
        missing = _MISSING.match(line[:_MOST_OF_A_LINE])
        if missing:
            listing.missing.add(missing[1])
        elif line.startswith("/") and line.endswith(":"):
            folder = line[:-1].rstrip("/") or "/"
            listing.folders[folder] = {}
        elif folder is not None and line and not re.match(r"total \d", line):
            named = _entry_of(line)
            if named is None:
                unsure.add(folder)
            elif named[0] == ".":
                whole.add(folder)
            elif named[0] != "..":
                listing.folders[folder][named[0]] = named[1]
    # Insights keeps only some lines of a list. The line of the directory itself is missing then.
    for path in unsure | (listing.folders.keys() - whole):
        listing.folders.pop(path, None)
    return listing


def _entry_of(line: str) -> tuple[str, Entry] | None:
    """The name and the entry of a line; None for a line that cannot be read."""
    entry = _ENTRY.match(line) if len(line) <= _MOST_OF_A_LINE else None
    name = _NAME.fullmatch(entry["rest"]) if entry else None
    if entry is None or name is None:
        return None
    word, arrow, target = name["name"].partition(" -> ")
    is_link = entry["type"] == "l" and arrow
    return word, Entry(entry["type"], target if is_link else None)
