# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What chronyd and ntpd say of their sources: chronyc -c sources and tracking, ntpq -pn.

Sources: chronyc(1), sources and tracking (the columns; -c prints them with commas); client.c of
chrony 4.3; ntpq(8), peers.
"""

import re
from typing import List, NamedTuple, Tuple

from ....errors import ParseError, kind_of

#: Limit of lines, above any real number of sources; characters of an address or a name.
_SOURCES = 256
_NAME = re.compile(r"[A-Za-z0-9.:_()%-]{1,255}\Z")
_NUMBER = re.compile(r"[+-]?[0-9]{1,12}(?:\.[0-9]{0,12})?\Z")
_OCTAL = re.compile(r"[0-7]{1,3}\Z")


class Source(NamedTuple):
    """``reached``: any of the last eight questions was answered; ``selected``: it is followed.

    ``offset_ms`` is how far the clock is from it.
    """

    name: str
    reached: bool
    selected: bool
    offset_ms: float


class Tracking(NamedTuple):
    """``offset_ms`` is what chronyd still has to correct, ``error_ms`` the most that its sources
    can be wrong by; an offset of a clock that is not ``synchronised`` says nothing."""

    synchronised: bool
    offset_ms: float
    error_ms: float


def _milliseconds(text: str, what: str, line: int, factor: float = 1000.0) -> float:
    if not _NUMBER.match(text):
        raise ParseError(what, f"{kind_of(text)} is not a number", line)
    return float(text) * factor


def _reached(text: str, what: str, line: int) -> bool:
    """The octal register of the last eight questions."""
    if not _OCTAL.match(text):
        raise ParseError(what, f"reach {kind_of(text)} is not octal", line)
    return int(text, 8) != 0


def _name(text: str, what: str, line: int) -> str:
    if not _NAME.match(text):
        raise ParseError(what, "has no name of a source", line)
    return text


def _lines(text: str, what: str) -> List[Tuple[int, str]]:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) > _SOURCES:
        raise ParseError(what, f"has more than {_SOURCES} lines")
    return lines


def parse_chrony_sources(text: str) -> List[Source]:
    what = "chronyc sources"
    sources = []
    for number, line in _lines(text, what):
        fields = line.split(",")
        if len(fields) < 10:
            raise ParseError(what, f"has {len(fields)} fields, not 10", number)
        sources.append(
            Source(
                _name(fields[2], what, number),
                # "?" is also one that answers and is never selected (noselect).
                _reached(fields[5], what, number) and fields[1] != "?",
                fields[1] == "*",
                _milliseconds(fields[7], what, number),
            )
        )
    return sources


def parse_tracking(text: str) -> Tracking:
    what = "chronyc tracking"
    fields = text.strip().split(",")
    if len(fields) != 14:
        raise ParseError(what, f"has {len(fields)} fields, not 14", 1)
    offset, delay, dispersion = (_milliseconds(fields[index], what, 1) for index in (4, 10, 11))
    synchronised = fields[13] in ("Normal", "Insert second", "Delete second")
    return Tracking(synchronised, offset, abs(delay) / 2 + dispersion + abs(offset))


def parse_ntpq(text: str) -> List[Source]:
    """The peers of ntpq -pn; the computer's own clock (LOCAL) is not a source."""
    what = "ntpq -pn"
    sources = []
    for number, line in _lines(text, what):
        if line.split()[0] == "remote" or not line.strip("= "):
            continue
        fields = line[1:].split()
        if len(fields) != 10:
            raise ParseError(what, f"has {len(fields)} columns, not 10", number)
        if fields[1] == ".LOCL.":
            continue
        sources.append(
            Source(
                _name(fields[0], what, number),
                _reached(fields[6], what, number),
                line[0] in "*o",
                _milliseconds(fields[8], what, number, 1.0),
            )
        )
    return sources
