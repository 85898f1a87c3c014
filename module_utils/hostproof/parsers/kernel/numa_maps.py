# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/PID/numa_maps: on which NUMA nodes the pages of each mapping lie (numa(7))."""

import re
from typing import Dict, List, NamedTuple, Optional

from ...errors import ParseError, kind_of
from ..number import integer

_WHAT = "process NUMA maps"
# Two policies have a blank in their names.
_LINE = re.compile(r"([0-9a-f]+) ((?:weighted interleave|prefer \(many\))?\S*)((?: \S+)*) ?$")
_NODE = re.compile(r"N(\d+)$")
_MARK = re.compile(r"(heap|stack(:\d+)?|huge)$")


class Range(NamedTuple):
    """One mapping. Counts are pages of ``page_size`` bytes, 0 where the kernel names none.

    page_size is None for a mapping of which no page is present.
    """

    start: int
    policy: str
    huge: bool
    page_size: Optional[int]
    node_pages: Dict[int, int]


def parse(text: str) -> List[Range]:
    """Every mapping in order of address. Raises ParseError if there is none."""
    ranges = []
    for number, line in enumerate(text.split("\n"), 1):
        if line:
            ranges.append(_range(line, number))
    if not ranges:
        raise ParseError(_WHAT, "there is no mapping: the process has ended or is the kernel's")
    return ranges


def _range(line: str, number: int) -> Range:
    match = _LINE.match(line)
    if match is None or not match.group(2):
        raise ParseError(_WHAT, f"not 'address policy fields': {kind_of(line)}", number)
    marks, values = set(), {}
    for word in match.group(3).split():
        name, equals, value = word.partition("=")
        if equals:
            values[name] = value
        elif _MARK.match(word):
            marks.add(word)
        else:
            raise ParseError(_WHAT, f"{kind_of(word)} is not a field", number)
    values.pop("file", None)
    counts = {name: _count(name, value, number) for name, value in values.items()}
    nodes = {integer(name[1:]): count for name, count in counts.items() if _NODE.match(name)}
    page_size = counts.get("kernelpagesize_kB")
    if nodes and page_size is None:
        raise ParseError(_WHAT, "pages without kernelpagesize_kB", number)
    return Range(
        start=integer(match.group(1), 16),
        policy=match.group(2),
        huge="huge" in marks,
        page_size=None if page_size is None else page_size * 1024,
        node_pages=nodes,
    )


def _count(name: str, value: str, number: int) -> int:
    if not re.match(r"\d+$", value):
        raise ParseError(_WHAT, f"{name} is not a count: {kind_of(value)}", number)
    return integer(value)
