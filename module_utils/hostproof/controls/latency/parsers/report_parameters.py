# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of parameters of AWR and Statspack reports.

12.2 and later cut a value off at the end of its column (33 characters, so that the level of an
event is never seen); before that a long one goes on in the next line.
Sources: tests/fixtures/latency/SOURCES.md.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import dashed_table

_HEADINGS = ["Parameter Name", "Begin value", "(if different)"]
_FOOTER = re.compile(r"^ *-{20,}$")
_CONTAINER = re.compile(r"^ {3}PDB: ")
_EVENT = re.compile(r"44951tracenamecontextforever,?")
#: In a list, the next event follows without a separator.
_LEVEL = re.compile(r"level(0x[0-9a-f]{1,6}|[0-9]{1,7}?)(?=[1-9][0-9]{3,4}trace|[^0-9a-fx]|$)")


class Parameter(NamedTuple):
    """``text`` is in small letters, without blanks and quotes; ``cut``: it may go on."""

    text: str
    cut: bool


class ReclaimEvent(NamedTuple):
    """Event 44951; ``level`` is None where the report does not show it."""

    level: Optional[int]


def parse(lines: Sequence[str]) -> Optional[Dict[str, Parameter]]:
    """The parameters by name. None if the report has no table of parameters.

    The values of a list are one text. Values of the container precede inherited values.
    """
    tables = _tables(lines)
    if not tables:
        return None
    parameters: Dict[str, Parameter] = {}
    for values in tables:
        for name, (pieces, cut) in values.items():
            # The table of lists, which comes last, has all of what others show the first of.
            if name not in parameters or len(pieces) > 1:
                parameters[name] = Parameter(re.sub(r"[\s'\"]", "", "".join(pieces)).lower(), cut)
    return parameters


def _tables(lines: Sequence[str]) -> List[Dict[str, Tuple[List[str], bool]]]:
    """The values of each table by name: the printed pieces, and whether the last is cut off."""
    tables: List[Dict[str, Tuple[List[str], bool]]] = []
    spans: List[Tuple[int, int]] = []
    inside, name = False, ""
    for at, line in enumerate(lines):
        columns = dashed_table.columns(line)
        if columns or _FOOTER.match(line):
            inside = at > 0 and dashed_table.cells(lines[at - 1], columns) == _HEADINGS
            if inside:
                spans, name = columns, ""
                tables.append({})
            continue
        cells = dashed_table.cells(line, spans) if inside and line.strip() else None
        if cells is None or _CONTAINER.match(line):
            continue
        name = cells[0] or name
        # If the value was changed, the value at the end of the interval counts.
        begin, end = spans[2] if cells[2] else spans[1]
        before = tables[-1].get(name, ([], False))[0]
        before.append(line[begin:end])
        tables[-1][name] = (before, bool(line[end - 1 : end].strip()))
    return tables


def reclaim_event(parameter: Optional[Parameter]) -> Optional[ReclaimEvent]:
    """Event 44951 in the parameter ``event``; None where it is not there."""
    match = None if parameter is None else _EVENT.search(parameter.text)
    if parameter is None or match is None:
        return None
    level = _LEVEL.match(parameter.text, match.end())
    if level is None or (parameter.cut and level.end() == len(parameter.text)):
        return ReclaimEvent(None)
    digits = level.group(1)
    return ReclaimEvent(int(digits, 16 if digits.startswith("0x") else 10))
