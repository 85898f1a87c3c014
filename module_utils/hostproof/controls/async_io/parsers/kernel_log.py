# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel log as printed by journalctl -o short-unix or dmesg.

Sources: journalctl(1), -o short-unix; dmesg(1). Lines of dmesg contain seconds since boot, which
are converted with the clock of the host.
"""

import re
from typing import List, NamedTuple

from ....errors import ParseError, kind_of
from ....parsers.number import integer

_JOURNAL = re.compile(r"^(\d{1,12})\.(\d{6}) \S+ kernel: (.*)$")
_DMESG = re.compile(r"^(?:<\d+>)?\[ *(\d{1,12})\.(\d{6})\] (.*)$")
#: Lines that journalctl prints if there is no entry, and between two boots.
_NO_ENTRY = re.compile(r"^-- .* --$")


class Entry(NamedTuple):
    """An entry. ``at`` is in seconds since 1970."""

    at: float
    text: str


def of_journal(text: str) -> List[Entry]:
    """The entries. A line without a time continues the entry before it and is ignored."""
    entries: List[Entry] = []
    for number, line in enumerate(text.split("\n"), 1):
        match = _JOURNAL.match(line)
        if match is not None:
            entries.append(Entry(_seconds(match.group(1), match.group(2)), match.group(3)))
        elif line and not entries and not _NO_ENTRY.match(line):
            raise ParseError("journal", f"{kind_of(line)}is not an entry of the kernel", number)
    # With --grep and -n, journalctl prints the newest entry first (journalctl(1), --grep).
    return sorted(entries, key=lambda entry: entry.at)


def of_dmesg(text: str, booted: float) -> List[Entry]:
    """The entries. ``booted``: start of the host in seconds since 1970."""
    matches = [_DMESG.match(line) for line in text.split("\n")]
    entries = [
        Entry(booted + _seconds(match.group(1), match.group(2)), match.group(3))
        for match in matches
        if match
    ]
    if not entries and text.strip():
        raise ParseError("dmesg", "no line has the seconds since boot")
    return entries


def _seconds(whole: str, millionths: str) -> float:
    return integer(whole) + integer(millionths) / 1e6
