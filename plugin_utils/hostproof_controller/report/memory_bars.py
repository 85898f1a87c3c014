# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The budget of memory as stacked bars: now, at the next start, and the memory of the host.

A bar is a row of cells. Its length is the number of columns, because the policy of the page allows
no style attributes.
"""

from typing import Any, NamedTuple

from ansible.module_utils.hostproof.parsers.size import human

from .templating import parts

CHECK = "memory_pressure.budget"
#: The parts in the finding's ``values``, in the order of the bar. The report imports no control.
PARTS = ("huge_pages", "sga", "pga", "processes", "kernel", "page_cache")
#: Columns of the longest bar, and of a cell that holds the name of its part.
COLUMNS = 100
_NAMED = 12
_MOST = 1 << 62
#: Classes of the colours by part: two parts side by side are two shades or more apart.
SHADES = ("q5", "q2", "q4", "q1", "q6", "q3")


class _Cell(NamedTuple):
    """``kind`` is the class of the colour."""

    columns: int
    kind: str
    name: str
    caption: str


def memory_bars(finding: dict[str, Any]) -> str:
    """The markup of the bars; nothing for other checks and for values that are not sizes."""
    values = finding.get("values")
    if finding["check"] != CHECK or not values:
        return ""
    keys = ["memory", *(f"{when}_{part}" for when in ("now", "next") for part in PARTS)]
    if not all(_is_size(values.get(key)) for key in keys):
        return ""
    sums = {when: [values[f"{when}_{part}"] for part in PARTS] for when in ("now", "next")}
    memory = values["memory"]
    scale = max(memory, *map(sum, sums.values()), 1)
    names = [part.replace("_", " ") for part in PARTS]
    bars = [
        (words, human(sum(sums[when])), _cells(names, sums[when], scale))
        for words, when in (("now", "now"), ("next start", "next"))
    ]
    columns = max(round(memory * COLUMNS / scale), 1)
    bars.append(("memory", human(memory), [_Cell(columns, "mm", "memory", human(memory))]))
    return str(parts().memory_bars(bars, zip(names, SHADES, strict=True), COLUMNS))


def _cells(names: list[str], sizes: list[int], scale: int) -> list[_Cell]:
    """The cells of the parts that are at least half a column. Edges are rounded, not lengths."""
    cells = []
    below = 0
    for name, size, kind in zip(names, sizes, SHADES, strict=True):
        columns = round((below + size) * COLUMNS / scale) - round(below * COLUMNS / scale)
        below += size
        if columns:
            shown = name if columns >= _NAMED else ""
            cells.append(_Cell(columns, kind, shown, f"{name} {human(size)}"))
    return cells


def _is_size(value: object) -> bool:
    return type(value) is int and 0 <= value < _MOST
