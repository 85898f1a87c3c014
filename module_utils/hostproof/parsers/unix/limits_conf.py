# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""limits.conf and limits.d: the resource limits that pam_limits sets when a session opens.

They hold for sessions only; what systemd or Clusterware starts never sees them. Source:
limits.conf(5); Linux-PAM, modules/pam_limits/pam_limits.c.
"""

import re
from typing import Dict, List, NamedTuple, Optional

from ...errors import ParseError, kind_of
from ..number import clipped

LIMITS_CONF = "/etc/security/limits.conf"
LIMITS_D = "/etc/security/limits.d"

_WHAT = "limits.conf"
_TYPES = {"soft": ("soft",), "hard": ("hard",), "-": ("soft", "hard")}
_UNLIMITED = ("-1", "-", "unlimited", "infinity")
_RANGE = re.compile(r"(\d*):(\d*)$")
#: RLIM_INFINITY on 64-bit Linux; a number of kilobytes that reaches it means unlimited.
_INFINITY = 2**64 - 1
#: Whom a line was written for, the strongest first.
_USER, _GROUP, _DEFAULT, _NOBODY = 0, 1, 2, 3


class Entry(NamedTuple):
    """One line. item and value are "" on a line that frees its domain of all limits."""

    domain: str
    type: str
    item: str
    value: str
    path: str
    line: int


class Parsed(NamedTuple):
    """bad_lines are neither entries nor comments: pam_limits logs and skips them."""

    entries: List[Entry]
    bad_lines: List[int]


class Limits(NamedTuple):
    """The lines that set the two limits; None where no line does.

    ``exempt`` is the line that frees the user of every limit; then the other two are None.
    """

    soft: Optional[Entry]
    hard: Optional[Entry]
    exempt: Optional[Entry] = None


def parse(text: str, path: str) -> Parsed:
    """Every entry of a file. A file of comments alone, or an empty one, is legal."""
    parsed = Parsed([], [])
    for number, line in enumerate(text.split("\n"), 1):
        line = line.partition("#")[0].strip(" \t\r\f\v")
        if not line:
            continue
        fields = re.split(r"[ \t]+", line, maxsplit=3)
        if len(fields) == 4:
            domain, kind, item, value = fields
            parsed.entries.append(
                Entry(domain, kind.lower(), item.lower(), value.lower(), path, number)
            )
        elif len(fields) == 2 and fields[1].startswith("-"):
            parsed.entries.append(Entry(fields[0], "-", "", "", path, number))
        else:
            parsed.bad_lines.append(number)
    return parsed


def effective_paths(names: List[str]) -> List[str]:
    """The files that pam_limits reads, in its order; ``names`` are all those in LIMITS_D.

    limits.conf comes first (it may be missing), then limits.d in byte order of the names. Hidden
    files and other suffixes are not read.
    """
    read = sorted(name for name in names if name.endswith(".conf") and not name.startswith("."))
    return [LIMITS_CONF] + [f"{LIMITS_D}/{name}" for name in read]


def resolve(
    entries: List[Entry],
    user: str,
    groups: List[str],
    item: str,
    uid: Optional[int] = None,
    gid: Optional[int] = None,
) -> Limits:
    """The lines that set ``item`` for a user; ``entries`` are in the order of reading.

    ``groups`` are the names of all groups of the user; ``gid`` is the primary one. A line for the
    user overrides one for a group, which overrides ``*``, regardless of their order. Within one
    kind, the later line wins. Without uid and gid, lines with ranges of numbers match no user. As
    in upstream Linux-PAM, ``*`` also matches root; the build of Debian applies only lines for
    "root" to root.
    """
    chosen: Dict[str, Optional[Entry]] = {"soft": None, "hard": None}
    strength = {"soft": _NOBODY, "hard": _NOBODY}
    for entry in entries:
        kind = _meant_for(entry, user, groups, uid, gid)
        if kind == _NOBODY:
            continue
        if not entry.item:
            if kind != _DEFAULT:
                return Limits(None, None, entry)
            continue
        if entry.item != item or entry.type not in _TYPES or not _has_value(entry):
            continue
        for side in _TYPES[entry.type]:
            if kind > strength[side]:
                break  # pam_limits gives up the whole line, so a "-" line may lose both sides
            chosen[side] = entry
            strength[side] = kind
    return Limits(chosen["soft"], chosen["hard"])


def is_of_group_or_id(entry: Entry) -> bool:
    """Whether the line is for a group or for numbers of users or groups, and not for a name."""
    return entry.domain.startswith("@") or _RANGE.match(entry.domain) is not None


def kilobytes(value: str) -> Optional[int]:
    """The value of a memlock line (or of another item counted in kB); None is unlimited.

    Raises ParseError where pam_limits would skip the line.
    """
    if value in _UNLIMITED:
        return None
    match = re.match(r"([+-]?)(\d+)", value)
    if match is None:
        raise ParseError(_WHAT, f"{kind_of(value)} is not a number of kilobytes")
    # strtoull(): letters behind the digits are ignored, a negative number wraps around, and
    # one that is too large is the largest.
    number = min(clipped(match.group(2)), _INFINITY)
    if match.group(1) == "-":
        number = -number % (_INFINITY + 1)
    return None if number >= _INFINITY // 1024 else number


def _has_value(entry: Entry) -> bool:
    return entry.value in _UNLIMITED or re.match(r"[+-]?\d", entry.value) is not None


def _meant_for(
    entry: Entry, user: str, groups: List[str], uid: Optional[int], gid: Optional[int]
) -> int:
    domain = entry.domain
    if domain == user:
        return _USER
    if domain.startswith("@"):
        numbers = _RANGE.match(domain[1:])
        if numbers is None:
            return _GROUP if domain[1:] in groups else _NOBODY
        return _GROUP if _within(gid, numbers.group(1), numbers.group(2)) else _NOBODY
    numbers = _RANGE.match(domain)
    if numbers is not None:
        return _USER if _within(uid, numbers.group(1), numbers.group(2)) else _NOBODY
    # "%" lines count logins and set nothing else.
    return _DEFAULT if domain == "*" else _NOBODY


def _within(number: Optional[int], low: str, high: str) -> bool:
    """``:7`` is 7 alone, ``7:`` is 7 and above, ``7:9`` is 7 to 9; a bare ``:`` is not a range."""
    if number is None or not (low or high):
        return False
    if not low:
        return number == clipped(high)
    return clipped(low) <= number and (not high or number <= clipped(high))
