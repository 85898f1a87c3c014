# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counters of switch ports: ``show port mac`` of CatOS, ``show interfaces counters errors`` of IOS.

Each table has the names in one line, dashes below them, and a row for each port. NX-OS prints
dashes for a counter that a port does not have. Sources: Catalyst 6500 Series Command Reference;
Cisco, Troubleshooting Switch Port and Interface Problems.
"""

import re
from typing import Dict, List

from ....errors import ParseError
from ....parsers.number import decimal

_WHAT = "counters of switch ports"
_HEADING = re.compile(r"^(?:Port|MAC)\s+(\S+(?:\s+\S+)*)\s*$")
_DASHES = re.compile(r"^-+(?:\s+-+)*\s*$")
_PORT = re.compile(r"^(?:[A-Z][A-Za-z-]{0,30})?\d{1,4}(?:/\d{1,4}){0,3}$")
_COUNT = re.compile(r"^(?:\d{1,20}|--)$")


def parse(text: str) -> Dict[str, Dict[str, float]]:
    """Ports with their counters by name. ParseError where no table of counters is there."""
    ports: Dict[str, Dict[str, float]] = {}
    names: List[str] = []
    for line in text.split("\n"):
        line = line.strip()
        heading = _HEADING.match(line)
        words = line.split()
        if heading is not None and not _PORT.match(words[0]):
            names = heading.group(1).split()
        elif not words or _DASHES.match(line):
            continue
        elif _PORT.match(words[0]) and _are_counts(words[1:], names):
            counts = ports.setdefault(words[0], {})
            counts.update(
                (name, decimal(word)) for name, word in zip(names, words[1:]) if word != "--"
            )
    ports = {name: counts for name, counts in ports.items() if counts}
    if not ports:
        raise ParseError(_WHAT, "it has no port with counters")
    return ports


def _are_counts(words: List[str], names: List[str]) -> bool:
    return len(words) == len(names) and all(_COUNT.match(word) for word in words)
