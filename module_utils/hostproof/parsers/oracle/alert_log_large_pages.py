# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Large pages at the last start according to the alert log: number requested and number granted.

Three forms: a few lines under "Huge Pages Information" (11.2.0.2), sentences under "Large Pages
Information" (11.2.0.3 and 11.2.0.4), and a table by page size (since 12.1). Timestamps are on
separate lines. Sources: MOS 1392497.1 and 2049901.1; tests/fixtures/alert_log/SOURCES.md.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Pattern, Tuple

from ...errors import ParseError, kind_of
from ..number import integer
from . import alert_log

_WHAT = "alert log"
_STARTING = "Starting ORACLE instance"

_TABLE = re.compile(r"^PAGESIZE\s+AVAILABLE_PAGES\s+EXPECTED_PAGES\s+ALLOCATED_PAGES\s+ERROR\(s\)$")
_ROW = re.compile(r"^(\d+)([KMG])\s+(\d+|Configured)\s+(\d+)\s+(\d+)\s+(\S.*)$")
_ROW_LIKE = re.compile(r"^\d+[KMG]\s+\S+\s+\S")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

_PARAMETER = re.compile(r"^Parameter use_large_pages = (\w+)$", re.IGNORECASE)
_MEMLOCK = re.compile(r"^Per process system memlock \(soft\) limit = (\S.*)$")
_USED = re.compile(r"^Large Pages used by this instance: (\d+)\b")
_SIZE = re.compile(r"^Large Page size = (\d+) KB$")
_SHARE = re.compile(
    r"^Total (?:Shared|System) Global (?:Region|Area) in Large Pages = .*\((\d+)%\)$"
)
_MISSING = re.compile(r"\bat ?least (\d+) (?:\(page size )?(\d+) KB\b")
_HEADLINE = re.compile(r"\*{5,} (?:Large|Huge) ?Pages Information \*{5,}", re.IGNORECASE)
_POOL = re.compile(r"^Huge Pages memory pool detected \(total: (\d+) free: (\d+)\)$")
_ALL = re.compile(r"Huge Pages allocation successful \(allocated: (\d+)\)$")
_NONE = re.compile(r"Huge Pages allocation failed \(free: (\d+) required: (\d+)\)$")

#: The instance has its SGA by then.
_BACKGROUND = re.compile(r"^(?:PMON started with pid=|Starting background process \w+)")
_FAILURE = re.compile(
    r"\bORA-(?:00845|27102|27104|27106|27107|27123|27125|27137|27138)\b"
    r"|System cannot support SGA size of|Increase the system shared memory size to at least"
    r"|^WARNING: EINVAL creating segment of size 0x"
)
_SYSTEM_ERROR = re.compile(r"^[\w ./-]{1,40} Error: \d{1,4}: ")
_AMM = re.compile(
    r"MEMORY_TARGET feature.{0,300}? at least (\d{1,20}) bytes\b"
    r".{0,300}?Current available is (\d{1,20})\b"
)
#: Characters of a message.
_LONGEST = 160


class PageSize(NamedTuple):
    """Pages of one size. ``size`` is bytes, None where the form names none (11.2.0.2).

    ``available`` is None where the kernel gives as many as there is memory ("Configured"), and
    ``asked`` where the log only says that something is missing.
    """

    size: Optional[int]
    available: Optional[int]
    asked: Optional[int]
    granted: int
    error: Optional[str]


class Start(NamedTuple):
    """The last start. ``large`` holds sizes above the ordinary page; empty: the log has no block.

    ``ordinary`` is the row of ordinary pages, None where the log has none. ``failures`` are the
    messages about shared memory of a start that reached no background process. ``has_memory`` is
    whether it reached one.
    """

    line: int
    use_large_pages: Optional[str]
    memlock: Optional[str]
    ordinary: Optional[PageSize]
    large: List[PageSize]
    failures: Tuple[str, ...] = ()
    has_memory: bool = False


def parse(text: str) -> Start:
    """What the last start in the text says. ParseError where there is no start in it."""
    lines = [line.strip() for line in text.split("\n")]
    starts = [number for number, line in enumerate(lines) if line.startswith(_STARTING)]
    if not starts:
        raise ParseError(_WHAT, f"it has no line '{_STARTING}'")
    begun = starts[-1]
    block = {
        number: line
        for number, line in enumerate(lines[begun + 1 :], begun + 2)
        if line and not alert_log.is_time(line)
    }
    has_memory = any(_BACKGROUND.match(line) for line in block.values())
    failures = () if has_memory else _failures(list(block.values()))
    rows = _rows(block, bool(failures))
    ordinary = [row for row in rows if row.size is not None and row.size < 64 * 1024]
    return Start(
        line=begun + 1,
        use_large_pages=_first(_PARAMETER, block),
        memlock=_first(_MEMLOCK, block),
        ordinary=ordinary[0] if ordinary else None,
        large=[row for row in rows if row not in ordinary],
        failures=failures,
        has_memory=has_memory,
    )


def _failures(lines: List[str]) -> Tuple[str, ...]:
    """Each error with the error of the system that follows it, and the sizes that are missing."""
    failures: List[str] = []
    last = ""
    for line in lines:
        if _SYSTEM_ERROR.match(line) and failures and last == failures[-1]:
            failures[-1] += ", " + line[:_LONGEST]
            last = failures[-1]
            continue
        sizes = _AMM.search(line)
        if sizes is not None:
            words = f"memory_target needs {sizes.group(1)} bytes in /dev/shm"
            failures.append(words + f", which has {sizes.group(2)} left")
        elif _FAILURE.search(line) and line[:_LONGEST] not in failures:
            failures.append(line[:_LONGEST])
        else:
            continue
        last = failures[-1]
    return tuple(failures)


def _first(pattern: Pattern[str], block: Dict[int, str]) -> Optional[str]:
    for line in block.values():
        match = pattern.search(line)
        if match:
            return match.group(1)
    return None


def _rows(block: Dict[int, str], has_failed: bool) -> List[PageSize]:
    try:
        return _table(block) or _sentences(block) or _short_form(block)
    except ParseError:
        # A form that is not known does not hide the error that ended the start.
        if not has_failed:
            raise
        return []


def _table(block: Dict[int, str]) -> List[PageSize]:
    """The rows of the first table; an instance writes one for its SGA at each start."""
    rows: List[PageSize] = []
    inside = False
    for number, line in block.items():
        if _TABLE.match(line):
            if inside:
                break
            inside = True
        elif inside:
            match = _ROW.match(line)
            if match is None:
                if _ROW_LIKE.match(line):
                    raise ParseError(_WHAT, f"no row of pages: {kind_of(line)}", number)
                break
            rows.append(_row(*match.groups()))
    if inside and not rows:
        raise ParseError(_WHAT, "the table of page sizes has no row")
    return rows


def _row(
    size: str, unit: str, available: str, expected: str, allocated: str, error: str
) -> PageSize:
    return PageSize(
        integer(size) * _UNITS[unit],
        None if available == "Configured" else integer(available),
        integer(expected),
        integer(allocated),
        None if error in ("NONE", "0") else error,
    )


def _sentences(block: Dict[int, str]) -> List[PageSize]:
    used = _first(_USED, block)
    if used is None:
        return []
    size, share = _first(_SIZE, block), _first(_SHARE, block)
    granted = integer(used)
    missing = _MISSING.search(" ".join(block.values()))
    requested: Optional[int] = None
    if missing is not None:
        requested = granted + integer(missing.group(1))
    elif share is not None and integer(share) >= 100:
        requested = granted
    return [
        PageSize(None if size is None else integer(size) * 1024, None, requested, granted, None)
    ]


def _short_form(block: Dict[int, str]) -> List[PageSize]:
    """11.2.0.2: all or nothing."""
    free: Optional[int] = None
    for line in block.values():
        pool, all_of_them, none = (pattern.search(line) for pattern in (_POOL, _ALL, _NONE))
        if pool:
            free = integer(pool.group(2))
        elif all_of_them:
            count = integer(all_of_them.group(1))
            return [PageSize(None, free, count, count, None)]
        elif none:
            return [PageSize(None, integer(none.group(1)), integer(none.group(2)), 0, None)]
    off = (_first(_PARAMETER, block) or "").upper() == "FALSE"
    for number, line in block.items():
        if _HEADLINE.search(line) and not off:
            raise ParseError(_WHAT, "no form of a large pages block that is known", number)
    return []
