# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/vmstat: counters of the kernel's memory management since boot (proc(5))."""

from typing import Dict

from ....errors import ParseError, kind_of
from ....parsers.number import integer


def parse(text: str) -> Dict[str, int]:
    """Counters by name."""
    counters = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, _, value = line.partition(" ")
        if not name or not value.isdecimal():
            raise ParseError("/proc/vmstat", f"not a counter: {kind_of(line)}", number)
        counters[name] = integer(value)
    return counters
