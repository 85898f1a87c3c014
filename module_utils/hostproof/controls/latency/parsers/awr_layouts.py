# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How each generation of AWR and Statspack reports prints its tables of wait events.

A layout is known by the line of headings directly above the dashes, cut at the dashes. Widths
are not compared: they differ between patch levels while headings say what a column means.
Sources: tests/fixtures/latency/SOURCES.md; Statspack: $ORACLE_HOME/rdbms/admin/sprepins.sql.
"""

from typing import NamedTuple, Optional, Sequence, Tuple

#: What a column holds.
EVENT = "event"
WAITS = "waits"
TIMEOUTS = "timeouts"
SECONDS = "seconds"
#: Average in milliseconds, without a unit in the cell.
AVERAGE_MS = "average_ms"
#: Average with its unit in the cell: 268.69us, 3.23ms, 52.86 s.
AVERAGE = "average"
PER_TRANSACTION = "per_transaction"
PERCENT = "percent"
CLASS = "class"

#: Whose waits a table holds.
TOP = "top"
TOP_FOREGROUND = "top_foreground"
FOREGROUND = "foreground"
BACKGROUND = "background"
ALL = "all"


class Layout(NamedTuple):
    """``cut`` is true where the seconds are cut off after four characters, not rounded."""

    generation: str
    headings: Tuple[str, ...]
    columns: Tuple[str, ...]
    cut: bool = False


_TOP = (EVENT, WAITS, SECONDS, AVERAGE_MS, PERCENT, CLASS)
_TOP_WITH_UNIT = (EVENT, WAITS, SECONDS, AVERAGE, PERCENT, CLASS)
_WAITS = (EVENT, WAITS, TIMEOUTS, SECONDS, AVERAGE_MS, PER_TRANSACTION, PERCENT)
_WAITS_WITH_UNIT = (EVENT, WAITS, TIMEOUTS, SECONDS, AVERAGE, PER_TRANSACTION, PERCENT)

#: The tables at the head of a report, "Top 5 Timed Events" and those that came after it.
TOP_TABLES = (
    Layout("10g", ("Event", "Waits", "Time (s)", "(ms)", "Time", "Wait Class"), _TOP),
    Layout("11.1-11.2.0.3", ("Event", "Waits", "Time(s)", "(ms)", "time", "Wait Class"), _TOP),
    Layout(
        "11.2.0.4-12.1", ("Event", "Waits", "Time", "Avg(ms)", "time", "Wait Class"), _TOP, cut=True
    ),
    Layout("12.1", ("Event", "Waits", "Time (sec)", "Avg(ms)", "time", "Class"), _TOP),
    Layout("12.2-19c", ("Event", "Waits", "Time (sec)", "Wait", "time", "Class"), _TOP_WITH_UNIT),
)

#: "Foreground Wait Events", "Background Wait Events", and 10g's "Wait Events".
WAIT_TABLES = (
    Layout("10g", ("Event", "Waits", "-outs", "Time (s)", "(ms)", "/txn"), _WAITS[:-1]),
    Layout("11.1-12.1", ("Event", "Waits", "-outs", "Time (s)", "(ms)", "/txn", "time"), _WAITS),
    Layout(
        "12.2-19c",
        ("Event", "Waits", "-outs", "Time (s)", "Avg wait", "/txn", "time"),
        _WAITS_WITH_UNIT,
    ),
)

#: Statspack's own: 9i printed no average, 10g and later do.
STATSPACK_TOP_TABLES = (
    Layout("9i", ("Event", "Waits", "Time (s)", "Ela Time"), (EVENT, WAITS, SECONDS, PERCENT)),
    Layout("10g-19c", ("Event", "Waits", "Time (s)", "(ms)", "Time"), _TOP[:-1]),
)
STATSPACK_WAIT_TABLES = (
    Layout("9i", ("Event", "Waits", "Timeouts", "Time (s)", "(ms)", "/txn"), _WAITS[:-1]),
    Layout("10g", ("Event", "Waits", "-outs", "Time (s)", "(ms)", "/txn"), _WAITS[:-1]),
    Layout("11g-19c", ("Event", "Waits", "out", "Time (s)", "(ms)", "/txn", "Time"), _WAITS),
)


def layout_of(headings: Sequence[str], layouts: Sequence[Layout]) -> Optional[Layout]:
    """The layout with these headings, or None where no known release prints them."""
    for layout in layouts:
        if layout.headings == tuple(headings):
            return layout
    return None
