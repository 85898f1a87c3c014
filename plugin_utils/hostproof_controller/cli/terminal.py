# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What verbs print: tables as wide as the terminal, colours on a terminal without NO_COLOR."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..report.terminal import STYLES, has_colors
from ..report.text import one_line, printable

if TYPE_CHECKING:
    from rich.table import Table

#: Where no terminal is, a row is a line, however long: programs read it by lines.
_ENDLESS = 10_000


def width() -> int:
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return _ENDLESS
    return max(40, shutil.get_terminal_size((120, 24)).columns)


def say(text: str) -> None:
    """A line, or several, in which nothing is obeyed by a terminal."""
    print(printable(text), flush=True)


def console() -> Any:
    """Rich's, with what it makes of texts by itself switched off: texts may come from hosts."""
    from rich.console import Console

    return Console(
        file=sys.stdout,
        width=width(),
        markup=False,
        emoji=False,
        highlight=False,
        no_color=not has_colors(),
        force_terminal=sys.stdout.isatty() or has_colors(),
        legacy_windows=False,
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], wraps: int = -1) -> None:
    """A table with a head; a cell that is a status or a severity has its colour.

    ``wraps`` is the column that is broken where the terminal is narrow; the others stay whole.
    Where there is no room for that, each row becomes some lines, one for each column.
    """
    cells = [[one_line(cell) for cell in row] for row in rows]
    terminal = console()
    last = wraps % len(heads)
    for shown in (heads, [head.replace(" ", "\n") for head in heads]):
        lines = [[*head.split("\n"), *column] for head, *column in zip(shown, *cells, strict=True)]
        longest = [max(map(len, column)) for column in lines]
        if sum(longest) - longest[last] + 2 * len(heads) + min(longest[last], 20) <= terminal.width:
            _show(_grid(shown, cells, last))
            return
    records = [[*zip(heads, row, strict=True), ("", "")] for row in cells]
    _show(_grid(None, [pair for record in records for pair in record][:-1], 1))


def _grid(heads: Sequence[str] | None, cells: Iterable[Sequence[str]], folded: int) -> Table:
    """The table or, without heads, pairs of a name and its value; ``folded`` may be broken."""
    from rich.table import Table
    from rich.text import Text

    rows = [[Text(cell, style=STYLES.get(cell, "")) for cell in row] for row in cells]
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    shown.show_header = heads is not None
    for place, head in enumerate(heads or ("", "")):
        shown.add_column(head, overflow="fold", no_wrap=place != folded)
    for row in rows:
        shown.add_row(*row)
    return shown


def _show(shown: Table) -> None:
    terminal = console()
    with terminal.capture() as captured:
        terminal.print(shown)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()), flush=True)
