# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AWR and Statspack reports have in common: a title, an end, and tables of wait events.

The headings above the tables differ, and so do the layouts below them: each kind of report has a
``Form`` that states them.
"""

import re
from typing import NamedTuple, Optional, Pattern, Sequence, Tuple

from ....errors import ParseError
from . import awr_layouts, dashed_table, report_head, wait_events
from .awr_layouts import Layout
from .wait_events import Table

_END = re.compile(r"^\s*End of Report", re.IGNORECASE)
#: How far below its heading a table begins at most.
_MOST_LINES = 20


class Form(NamedTuple):
    """``top`` is the heading of the table at the head; ``sections`` are those of the full tables,
    each with the section that it begins."""

    what: str
    title: Pattern[str]
    top: Pattern[str]
    top_tables: Sequence[Layout]
    sections: Sequence[Tuple[Pattern[str], str]]
    wait_tables: Sequence[Layout]

    def is_whole(self, lines: Sequence[str]) -> bool:
        """Whether its title is there; ParseError where two do, or where it is cut off."""
        whole = report_head.one_report(self.what, lines, self.title)
        if whole:
            must_end(self.what, lines)
        return whole

    def table_below(self, lines: Sequence[str], at: int) -> Optional[Tuple[str, Table]]:
        """The table of wait events whose heading is ``lines[at]``, and its section."""
        section = self._section(lines[at])
        if section is None:
            return None
        rule = self._rule(lines, at + 1)
        if rule is None:
            raise ParseError(self.what, "there is no table below this heading", at + 1)
        layouts = self.top_tables if section == awr_layouts.TOP else self.wait_tables
        return section, wait_events.read_table(self.what, section, lines, rule, layouts)

    def _section(self, line: str) -> Optional[str]:
        if self.top.match(line):
            return awr_layouts.TOP
        return next((name for heading, name in self.sections if heading.match(line)), None)

    def _rule(self, lines: Sequence[str], at: int) -> Optional[int]:
        """The dashes below a heading; the end of a page may part them from it."""
        for index in range(at, min(at + _MOST_LINES, len(lines))):
            if dashed_table.columns(lines[index]):
                return index
            if self._section(lines[index]) is not None:
                return None
        return None


def must_end(what: str, lines: Sequence[str]) -> None:
    """ParseError where no line states that the report ends: it may lack what matters most."""
    if not any(_END.match(line) for line in lines):
        raise ParseError(what, "it has no line 'End of Report': it is cut off", len(lines))
