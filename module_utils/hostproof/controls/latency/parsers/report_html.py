# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""AWR reports as HTML, and Statspack text in ``<pre>``, written as the text form that awr.py reads.

A table is known by its headings, which match those of the text form; other tables are left out.
Cells are not cut off, unlike the columns of the text form.
Source: real reports of 11.2.0.3 and 12.1 (tests/fixtures/latency/SOURCES.md); for 10g, 12.2 and
later the headings that their text form has. For the report of a cluster: its text form, and public
programs that read its HTML. The attribute "summary" of a table begins with its title there.
"""

import re
from html.parser import HTMLParser
from typing import Dict, List, Optional, Sequence, Tuple

#: How far from its beginning a text has its first tag at most: SQL*Plus may print lines before.
_FIRST_TAG = 4000
_TAG = re.compile(r"<(?:!DOCTYPE html|html|head|body)\b", re.IGNORECASE)
_AS_TEXT = re.compile(r"^[ \t\f]*(?:WORKLOAD REPOSITORY|STATSPACK) ", re.IGNORECASE | re.MULTILINE)
_END = re.compile(r"End of Report", re.IGNORECASE)
_MINUTES = re.compile(r"\(mins\)")

_HEADINGS = ("h1", "h2", "h3")
_FOOTER = " " * 26 + "-" * 54

#: Titles of the tables at the head, by their headings without blanks in small letters, and the
#: headings of the text form.
_TOP: Dict[Tuple[str, ...], Tuple[str, Tuple[str, ...]]] = {
    ("event", "waits", "time(s)", "avgwait(ms)", "%totalcalltime", "waitclass"): (
        "Top 5 Timed Events",
        ("Event", "Waits", "Time (s)", "(ms)", "Time", "Wait Class"),
    ),
    ("event", "waits", "time(s)", "avgwait(ms)", "%dbtime", "waitclass"): (
        "Top 5 Timed Foreground Events",
        ("Event", "Waits", "Time(s)", "(ms)", "time", "Wait Class"),
    ),
    ("event", "waits", "totalwaittime(sec)", "waitavg(ms)", "%dbtime", "waitclass"): (
        "Top 10 Foreground Events by Total Wait Time",
        ("Event", "Waits", "Time (sec)", "Avg(ms)", "time", "Class"),
    ),
    ("event", "waits", "totalwaittime(sec)", "avgwait", "%dbtime", "waitclass"): (
        "Top 10 Foreground Events by Total Wait Time",
        ("Event", "Waits", "Time (sec)", "Wait", "time", "Class"),
    ),
}
_WAITS: Dict[Tuple[str, ...], Tuple[str, ...]] = {
    ("avgwait(ms)", "waits/txn"): ("Event", "Waits", "-outs", "Time (s)", "(ms)", "/txn"),
    ("avgwait(ms)", "waits/txn", "%"): (
        *("Event", "Waits", "-outs", "Time (s)", "(ms)", "/txn"),
        "time",
    ),
    ("avgwait", "waits/txn", "%"): (
        *("Event", "Waits", "-outs", "Time (s)", "Avg wait", "/txn"),
        "time",
    ),
}
_OF_WAITS = ("event", "waits", "%time-outs", "totalwaittime(s)")
#: Headings of "Top Timed Events" of a cluster, and the text form of them.
_OF_CLUSTER = ("i#", "class", "event", "waits", "%timeouts", "total(s)")
_IN_CLUSTER = (
    *("I#", "Class", "Event", "Waits", "%Timeouts", "Total(s)", "Avg(ms)", "%DB time"),
    *("Avg", "Min", "Max", "Std Dev", "Cnt"),
)
_RATES = "System Statistics - Per Second"
#: An average of 12.2 and later has its unit.
_WITH_UNIT = re.compile(r"^([0-9][0-9,]*(?:\.[0-9]+)?|\.[0-9]+) ?(us|ms|s)$")
_MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0}
_STATISTICS = ("Statistic", "Total", "per Second", "per Trans")
_PARAMETERS = ("Parameter Name", "Begin value", "(if different)")


def is_html(text: str) -> bool:
    """Whether a text is HTML and does not only contain some."""
    tag = _TAG.search(text, 0, _FIRST_TAG)
    return tag is not None and _AS_TEXT.search(text, 0, tag.start()) is None


def as_text(text: str) -> str:
    """The tables that are known, in the text form; "" if there are none."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return "\n".join(reader.lines) + "\n" if reader.lines else ""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: List[str] = []
        self._title = ""
        self._summary = ""
        #: The name of a cluster's database.
        self._database = ""
        self._inside: List[str] = []
        #: Rows of the table that is open: whether all cells are headings, and the cells.
        self._rows: List[Tuple[bool, List[str]]] = []

    def handle_starttag(self, tag: str, attrs: List[Tuple[str, Optional[str]]]) -> None:
        if tag in _HEADINGS or tag in ("pre", "style", "script"):
            self._inside = [tag]
            if tag in _HEADINGS:
                self._title = ""
        elif tag == "table":
            self._rows = []
            self._summary = dict(attrs).get("summary") or ""
        elif tag == "tr":
            self._rows.append((True, []))
        elif tag in ("td", "th") and self._rows:
            is_head, cells = self._rows[-1]
            cells.append("")
            self._rows[-1] = (is_head and tag == "th", cells)
            self._inside = ["cell"]

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "pre", "style", "script"):
            self._inside = []
        elif tag in _HEADINGS:
            self._inside = []
            if tag == "h1" or self._title.startswith("WORKLOAD REPOSITORY REPORT (RAC)"):
                self.lines += ["", self._title.strip()]
        elif tag == "table":
            self._table()
            self._rows = []

    def handle_data(self, data: str) -> None:
        place = self._inside[0] if self._inside else ""
        if place == "cell":
            cells = self._rows[-1][1]
            cells[-1] += data
        elif place in _HEADINGS:
            self._title = " ".join((self._title + data).split())
        elif place == "pre":
            self.lines += data.split("\n")
        elif not place and _END.search(data):
            self.lines += ["", "End of Report"]

    def _table(self) -> None:
        rows = [
            (is_head, [" ".join(cell.split()) for cell in cells]) for is_head, cells in self._rows
        ]
        heads = [cells for is_head, cells in rows if is_head and cells]
        body = [cells for is_head, cells in rows if not is_head]
        if not heads or not body:
            return
        head = heads[-1]
        key = tuple(re.sub(r"\s", "", cell).lower() for cell in head)
        if not self._of_events(key, head, body):
            self._of_snapshots(key, head, body)

    def _of_events(
        self, key: Tuple[str, ...], head: Sequence[str], body: Sequence[Sequence[str]]
    ) -> bool:
        """A table of events or statistics; False for another one."""
        if key in _TOP:
            title, headings = _TOP[key]
            self._write(title, headings, body)
        elif key[:4] == _OF_WAITS:
            # "% DB time" or "% bg time"
            rest = tuple("%" if cell.startswith("%") else cell for cell in key[4:])
            if rest in _WAITS:
                self._write(self._section(key), _WAITS[rest], body)
        elif self._title.startswith("Wait Event Histogram") and key[:1] == ("event",):
            self._write(self._title, _histogram(head), body)
        elif list(head) == list(_STATISTICS):
            self._write(self._title, _STATISTICS, [row for row in body if all(row[1:3])])
        elif key[:2] == ("parametername", "beginvalue") and len(head) == len(_PARAMETERS):
            self._write(self._title, _PARAMETERS, body)
        else:
            return False
        return True

    def _of_snapshots(
        self, key: Tuple[str, ...], head: Sequence[str], body: Sequence[Sequence[str]]
    ) -> None:
        """A table of the instance, of the snapshots, of a cluster or of the load."""
        if head[0] in ("DB Name", "Host Name") or key[:3] == (
            "instance",
            "instnum",
            "startuptime",
        ):
            self._write("", head, body[:1])
        elif key[1:3] == ("snapid", "snaptime"):
            self._snapshots(body)
        elif key[:1] == ("i#",):
            self._of_cluster(key, head, body)
        elif self._is_about("Database Summary") and key[:2] == ("id", "name"):
            self._database = re.sub(r"[/\s]", "", body[0][1]) if len(body[0]) > 1 else ""
        elif key[1:3] == ("persecond", "pertransaction"):
            self.lines += ["", "Load Profile"]
            self.lines += [" " + " ".join(row) for row in body]
            self.lines.append("")

    def _is_about(self, title: str) -> bool:
        """Whether the table has this title: in a heading, or as the first sentence of its summary,
        before the notes."""
        summary = " ".join(self._summary.split())
        return self._title == title or re.match(rf"{re.escape(title)}(?:\.|$)", summary) is not None

    def _of_cluster(
        self, key: Sequence[str], head: Sequence[str], body: Sequence[Sequence[str]]
    ) -> None:
        """A table of a cluster. Its rows begin with an instance, or belong to that above them."""
        about = f" DB/Inst: {self._database}/" if self._database else ""
        if key[:6] == _OF_CLUSTER and len(key) == len(_IN_CLUSTER):
            if self._is_about("Top Timed Events"):
                rows = [[*row[:6], *map(_in_milliseconds, row[6:])] for row in body]
                self._write(f"Top Timed Events{about}", _IN_CLUSTER, rows)
        elif self._is_about(_RATES):
            self._write(f"{_RATES}{about}", head, body)
        elif key[:2] == ("i#", "instance") and "beginsnaptime" in key:
            self._write(f"Database Instances Included In Report{about}", head, body)

    def _section(self, key: Sequence[str]) -> str:
        about = f"{self._title} {self._summary}".lower()
        if "background" in about or key[-1] == "%bgtime":
            return "Background Wait Events"
        return "Foreground Wait Events" if "foreground" in about else "Wait Events"

    def _snapshots(self, body: Sequence[Sequence[str]]) -> None:
        for row in body:
            if row[0] in ("Begin Snap:", "End Snap:"):
                self.lines.append(" ".join(row[:3]))
            else:
                minutes = [cell for cell in row[1:] if _MINUTES.search(cell)]
                self.lines += [f"{row[0]} {cell}" for cell in minutes[:1]]

    def _write(self, title: str, headings: Sequence[str], body: Sequence[Sequence[str]]) -> None:
        """A table as SQL*Plus prints it, with columns that hold each cell."""
        is_cluster = headings[0] == "I#"
        rows = [
            [*row, *[""] * len(headings)][: len(headings)]
            for row in body
            if row and (row[0] or (is_cluster and any(row)))
        ]
        if not rows:
            return
        widths = [
            max(len(row[place]) for row in [list(headings), *rows]) + 1
            for place in range(len(headings))
        ]
        self.lines += ["", title, ""] if title else [""]
        self.lines.append(_line(headings, widths))
        self.lines.append(" ".join("-" * width for width in widths))
        self.lines += [_line(row, widths) for row in rows]
        self.lines += [_FOOTER, ""]


def _in_milliseconds(cell: str) -> str:
    match = _WITH_UNIT.match(cell)
    if match is None:
        return cell
    value = float(match.group(1).replace(",", "")) * _MILLISECONDS[match.group(2)]
    return f"{value:.5f}".rstrip("0").rstrip(".")


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return " ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip()


def _histogram(head: Sequence[str]) -> List[str]:
    """The text form has "to 2s" above the waits of a detail table, and "Waits" above all waits."""
    waits = head[1].rpartition(" to ")[2]
    return [head[0], "Waits" if waits == head[1] else f"to {waits}", *head[2:]]
