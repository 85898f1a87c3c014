# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/PID/limits: the resource limits that are in force in a process (proc(5))."""

import re
from typing import Dict, List, NamedTuple, Optional

from ...errors import ParseError, kind_of
from ..number import integer

_WHAT = "process limits"
_HEADER = re.compile(r"Limit\s+Soft Limit\s+Hard Limit\s+Units\s*$")
_VALUE = re.compile(r"(?:unlimited|\d+)$")
_UNIT = re.compile(r"[a-z]+$")


class Limit(NamedTuple):
    """Numbers count in ``unit`` ("" where the kernel names none); None is unlimited."""

    soft: Optional[int]
    hard: Optional[int]
    unit: str


def parse(text: str) -> Dict[str, Limit]:
    """Each limit by the kernel's name for it, such as "Max locked memory" (bytes)."""
    lines = text.splitlines()
    if not lines or _HEADER.match(lines[0]) is None:
        raise ParseError(_WHAT, "there is no header line")
    limits: Dict[str, Limit] = {}
    for number, line in enumerate(lines[1:], 2):
        words = line.rsplit(None, 3)
        if not _VALUE.match(words[-1] if words else ""):
            unit = words.pop() if words else ""
        else:
            words, unit = line.rsplit(None, 2), ""
        if not _is_row(words, unit):
            raise ParseError(_WHAT, f"not a limit: {kind_of(line)}", number)
        limits[words[0]] = Limit(_number(words[1]), _number(words[2]), unit)
    if not limits:
        raise ParseError(_WHAT, "there is no limit below the header")
    return limits


def _is_row(words: List[str], unit: str) -> bool:
    return (
        len(words) == 3
        and re.match(r"Max \S", words[0]) is not None
        and all(map(_VALUE.match, words[1:]))
        and (not unit or _UNIT.match(unit) is not None)
    )


def _number(text: str) -> Optional[int]:
    return None if text == "unlimited" else integer(text)
