# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AIX's lparstat prints of the CPU: without an interval, averages since the start.

The columns differ by partition and release, so they are taken by their heads. Source: AIX Commands
Reference, lparstat.
"""

import re
from typing import NamedTuple

from ....errors import ParseError, kind_of
from ....parsers.number import decimal

_WHAT = "lparstat"
_NUMBER = re.compile(r"^\d+(?:\.\d+)?$")


class Cpu(NamedTuple):
    """Per cent of the CPU time of the partition; ``wait`` is idle with a disk to wait for."""

    user: float
    system: float
    wait: float
    idle: float


def parse(text: str) -> Cpu:
    """The last row. Raises ParseError without the heads, or if the four do not make 100%."""
    lines = text.split("\n")
    heads = [number for number, line in enumerate(lines) if line.split()[:1] == ["%user"]]
    if not heads:
        raise ParseError(_WHAT, "has no head of a table")
    names = lines[heads[-1]].split()
    rows = [(n, lines[n].split()) for n in range(heads[-1] + 1, len(lines)) if lines[n].strip()]
    if len(rows) < 2 or any(set(word) != {"-"} for word in rows[0][1]):
        raise ParseError(_WHAT, "has no row", heads[-1] + 1)
    number, words = rows[-1]
    columns = dict(zip(names, words))
    four = [columns.get(name, "") for name in ("%user", "%sys", "%wait", "%idle")]
    if not all(_NUMBER.match(word) for word in four):
        raise ParseError(_WHAT, f"{kind_of(lines[number])} is not a row", number + 1)
    cpu = Cpu(*(decimal(word) for word in four))
    if not 99.0 <= sum(cpu) <= 101.0:
        raise ParseError(_WHAT, "the CPU time does not make 100%", number + 1)
    return cpu
