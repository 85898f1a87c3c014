# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AIX's ioo -a prints: a tunable per line, NAME = VALUE. Source: AIX Commands Reference,
ioo."""

import re
from collections import OrderedDict
from typing import Dict

from ...errors import ParseError, kind_of

_WHAT = "ioo"
_ROW = re.compile(r"^\s*([A-Za-z][A-Za-z0-9_%]*) = (\S.*)$")


def parse(text: str) -> Dict[str, str]:
    """The tunables in their order; lines that begin with # divide those that are restricted."""
    tunables: OrderedDict[str, str] = OrderedDict()
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _ROW.match(line.rstrip())
        if match is None:
            raise ParseError(_WHAT, f"{kind_of(line)} is not a tunable", number)
        tunables[match.group(1)] = match.group(2)
    if not tunables:
        raise ParseError(_WHAT, "tells no tunable")
    return tunables
