# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""sysctl.d files as systemd-sysctl reads them at boot, and which assignment wins.

systemd-sysctl does not read /etc/sysctl.conf by itself; distributions link it into
/etc/sysctl.d as 99-sysctl.conf. Source: sysctl.d(5); systemd, src/sysctl/sysctl.c and
sysctl_normalize() in src/shared/sysctl-util.c.
"""

import re
from collections import OrderedDict
from typing import List, NamedTuple, Optional, Sequence

from .. import glob_pattern
from . import conf_d

DIRECTORIES = conf_d.directories("sysctl.d")

_SPACE = " \t\r\n"
_SEPARATOR = re.compile("[/.]")
_SWAP = {ord("."): "/", ord("/"): "."}


class Assignment(NamedTuple):
    """One line of a sysctl.d file. ``key`` is in the form that normalize() gives.

    value is None for an exclusion (``-key`` without ``=``). line counts from 1.
    """

    key: str
    value: Optional[str]
    path: str
    line: int
    ignore_failure: bool


class Parsed(NamedTuple):
    """bad_lines are the lines that are no assignment: systemd logs and skips them."""

    assignments: List[Assignment]
    bad_lines: List[int]


class Resolution(NamedTuple):
    """Which line sets a key at boot, and the lines that would if it were not there.

    winner is None if no line sets it. losers are in the order in which they are read.
    """

    winner: Optional[Assignment]
    losers: List[Assignment]


def normalize(key: str) -> str:
    """The key as a path below /proc/sys: the first separator decides what the others mean.

    ``net.ipv4.conf.eth0/7.rp_filter`` and ``net/ipv4/conf/eth0.7/rp_filter`` are the same key.
    """
    first = _SEPARATOR.search(key)
    if first is not None and first.group() == ".":
        key = key.translate(_SWAP)
    return "/".join(part for part in key.split("/") if part not in ("", "."))


def parse(text: str, path: str) -> Parsed:
    """Every assignment of a file. An empty file is legal: it masks one of the same name."""
    parsed = Parsed([], [])
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip(_SPACE)
        if not line or line[0] in "#;":
            continue
        name, equals, value = line.partition("=")
        dashed = name.startswith("-")
        key = normalize((name[1:] if dashed else name).strip(_SPACE))
        if not equals and not dashed:
            parsed.bad_lines.append(number)
        elif equals:
            parsed.assignments.append(Assignment(key, value.strip(_SPACE), path, number, dashed))
        else:
            parsed.assignments.append(Assignment(key, None, path, number, False))
    return parsed


def other_keys(text: str, own: Sequence[str]) -> List[str]:
    """What the text of a file sets next to the keys of ``own``."""
    names = [normalize(key) for key in own]
    return [
        assignment.key for assignment in parse(text, "").assignments if assignment.key not in names
    ]


def parse_plain(text: str, path: str) -> List[Assignment]:
    """The assignments of a file as TuneD applies it: no patterns, no ``-``, every dot a slash.

    Source: TuneD, plugin_sysctl.py, _apply_sysctl_config_line().
    """
    assignments = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        name, equals, value = line.partition("=")
        if line and line[0] not in "#;" and equals and name.strip():
            key = "/".join(part for part in name.strip().replace(".", "/").split("/") if part)
            assignments.append(Assignment(key, value.strip(), path, number, False))
    return assignments


def resolve(assignments: List[Assignment], key: str) -> Resolution:
    """Which assignment sets ``key`` at boot. ``assignments`` are in the order of reading.

    A line that names the key beats a pattern that matches it, wherever they stand. Between two
    of a kind the later wins. An exclusion keeps every pattern off the key, and also undoes an
    earlier line that names the key.
    """
    target = normalize(key)
    kept: OrderedDict[str, Assignment] = OrderedDict()
    for assignment in assignments:
        # A repeated value stays at its place, a changed one moves to the end: patterns are
        # applied in that order.
        if assignment.key in kept and kept[assignment.key].value != assignment.value:
            del kept[assignment.key]
        kept[assignment.key] = assignment
    if target in kept:
        named = kept[target]
        winner = named if named.value is not None else None
    else:
        matching = [a for a in kept.values() if a.value is not None and _matches(a.key, target)]
        winner = matching[-1] if matching else None
    losers = [
        assignment
        for assignment in assignments
        if assignment is not winner
        and assignment.value is not None
        and _matches(assignment.key, target)
    ]
    return Resolution(winner, losers)


def _matches(pattern: str, key: str) -> bool:
    """Whether a key or glob(7) pattern matches: no wildcard reaches over a slash."""
    patterns, parts = pattern.split("/"), key.split("/")
    return len(patterns) == len(parts) and all(
        glob_pattern.fits(part, piece) for part, piece in zip(parts, patterns)
    )
