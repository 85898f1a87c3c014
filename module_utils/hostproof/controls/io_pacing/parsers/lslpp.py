# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AIX's lslpp -Lqc prints of filesets: fields between colons.

Package, fileset, level, state, PTF, fix state, type, description and more. Source: AIX Commands
Reference, lslpp.
"""

import re
from collections import OrderedDict
from typing import Dict, Tuple

from ....errors import ParseError, kind_of
from ....parsers.number import integer

_WHAT = "lslpp"
_LEVEL = re.compile(r"^\d+(?:\.\d+){1,3}$")


def parse(text: str) -> Dict[str, Tuple[int, ...]]:
    """The level of each fileset. Raises ParseError for a line without one, and if two differ."""
    levels: OrderedDict[str, Tuple[int, ...]] = OrderedDict()
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split(":")
        if len(fields) < 3 or not fields[1].strip() or not _LEVEL.match(fields[2].strip()):
            raise ParseError(_WHAT, f"{kind_of(line)} is not a fileset", number)
        name = fields[1].strip()
        level = tuple(integer(part) for part in fields[2].strip().split("."))
        if levels.setdefault(name, level) != level:
            raise ParseError(_WHAT, f"{name} has two levels", number)
    return levels
