# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/PID/limits: the resource limits that are in force in a process (proc(5))."""

import re
from typing import Dict, NamedTuple, Optional

from ..errors import ParseError

_WHAT = "process limits"
_HEADER = re.compile(r"Limit\s+Soft Limit\s+Hard Limit\s+Units\s*$")
_ROW = re.compile(r"(Max \S.*?)\s+(unlimited|\d+)\s+(unlimited|\d+)(?:\s+([a-z]+))?\s*$")


class Limit(NamedTuple):
    """Numbers count in ``unit`` ("" where the kernel names none); None is unlimited."""

    soft: Optional[int]
    hard: Optional[int]
    unit: str


def parse(text):
    # type: (str) -> Dict[str, Limit]
    """Each limit by the kernel's name for it, such as "Max locked memory" (bytes)."""
    lines = text.splitlines()
    if not lines or _HEADER.match(lines[0]) is None:
        raise ParseError(_WHAT, "there is no header line")
    limits = {}  # type: Dict[str, Limit]
    for number, line in enumerate(lines[1:], 2):
        match = _ROW.match(line)
        if match is None:
            raise ParseError(_WHAT, "not a limit: {0!r}".format(line), number)
        name, soft, hard, unit = match.groups()
        limits[name] = Limit(_number(soft), _number(hard), unit or "")
    if not limits:
        raise ParseError(_WHAT, "there is no limit below the header")
    return limits


def _number(text):
    # type: (str) -> Optional[int]
    return None if text == "unlimited" else int(text)
