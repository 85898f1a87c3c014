# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The summary of a run for a terminal: short enough to read, honest about what it leaves out."""

import json
import textwrap
from bisect import insort
from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

from ansible.module_utils.hostproof.evaluate.finding import (
    ERROR,
    FAIL,
    PASS,
    SEVERITIES,
    SKIP,
    STATUSES,
    WARN,
)

from .host_state import HostState
from .store import Results
from .text import as_typed, fix_of, heading_of, one_line, printable, shorten
from .verdict import (
    STATUS_GLYPHS,
    VERDICT_GLYPHS,
    VERDICTS,
    HostFacts,
    actual_layer,
    controls_of,
    status_totals,
    verdict_totals,
)

#: More than these are left to the report, and the summary says how many.
HOST_ROWS = 20
CHECKS_SHOWN = 25
VALUES_SHOWN = 3
HOSTS_NAMED = 3
FEW_HOSTS = 3
#: Few hosts leave room for the mounts or instances that one check judges on each.
VALUES_SHOWN_OF_FEW = 20

#: Room for a glyph and a status in front of a finding.
INDENT = 10

_SHOWN = (FAIL, ERROR, WARN, "waived")
_CODES = {
    "fail": "31",
    "error": "35",
    "warn": "33",
    "waived": "36",
    "skip": "2",
    "pass": "32",
    "not ready": "31;1",
    "unreachable": "35;1",
    "undetermined": "35;1",
    "not a database host": "2",
    "ready with warnings": "33;1",
    "ready": "32;1",
}


class _Group:
    """Findings that say the same of several hosts: the first of them, and where they are.

    ``place`` and ``number`` are of the state and of the finding in it, ``first`` and ``last`` the
    places of hosts.
    """

    __slots__ = ("count", "first", "last", "number", "place")

    def __init__(self, place: int, number: int) -> None:
        self.place = place
        self.number = number
        self.count = 0
        self.first: list[int] = []
        self.last = -1

    def meet(self, place: int) -> None:
        if place == self.last:
            return
        self.count += 1
        self.last = place
        if len(self.first) < HOSTS_NAMED:
            self.first.append(place)


class Summary:
    """The summary, gathered state by state; of the findings it keeps where they stand."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self._place = -1
        #: By status and check; those that cannot be among CHECKS_SHOWN have None.
        self._checks: dict[tuple[str, str], dict[bytes, _Group] | None] = {}
        self._urgency: dict[tuple[str, str], tuple[int, int, str]] = {}
        self._shown: list[tuple[str, str]] = []

    def add(self, state: HostState) -> None:
        self._place += 1
        for number, finding in enumerate(state.findings):
            if finding["status"] not in _SHOWN:
                continue
            key = (finding["status"], finding["check"])
            if key not in self._checks:
                self._begin(key, finding)
            groups = self._checks[key]
            if groups is not None:
                same = _sameness(finding)
                if same not in groups:
                    groups[same] = _Group(self._place, number)
                groups[same].meet(self._place)

    def _begin(self, key: tuple[str, str], finding: dict[str, Any]) -> None:
        severity = SEVERITIES.index(finding["severity"])
        self._urgency[key] = (STATUSES.index(key[0]), severity, key[1])
        self._checks[key] = {}
        insort(self._shown, key, key=self._urgency.__getitem__)
        if len(self._shown) > CHECKS_SHOWN:
            # A check never becomes more urgent, so this one will not be shown.
            self._checks[self._shown.pop()] = None

    def text(self, color: bool = False, width: int = 100, where: str = "report.html") -> str:
        """The summary as text, without a final newline.

        ``where`` is what it points to for all that it leaves out. Fixes are never cut, whatever the
        ``width``: they are there to be copied.
        """
        results = self.results
        paint = _paint if color else _plain
        blocks = [
            _notices(results, paint),
            _host_table(results, paint, width, where),
            self._findings(paint, width, where),
            _skips(results, paint, width),
            _totals(results, paint),
        ]
        return "\n\n".join("\n".join(block) for block in blocks if block)

    def _findings(self, paint: Any, width: int, where: str) -> list[str]:
        """Each finding that is neither pass nor skip; equal ones of several hosts stand once."""
        few = len(self.results.hosts) <= FEW_HOSTS
        values_shown = VALUES_SHOWN_OF_FEW if few else VALUES_SHOWN
        lines: list[str] = []
        for key in self._shown:
            of_check = self._checks[key] or {}
            groups = sorted(of_check.values(), key=lambda group: -group.count)
            for group in groups[:values_shown]:
                finding = self.results.states[group.place].findings[group.number]
                named = self._named(group.first, group.count)
                lines.extend(_finding_lines(key[0], finding, named, paint, width))
            rest = groups[values_shown:]
            if rest:
                first = [place for group in rest[:HOSTS_NAMED] for place in group.first]
                named = self._named(first, sum(group.count for group in rest))
                lines.append(
                    " " * INDENT + f"… the same check with other values on {named}: {where}"
                )
        hidden = [key[0] for key, groups in self._checks.items() if groups is None]
        if hidden:
            counts = _counted(hidden, STATUSES)
            lines.append(f"… and {len(hidden)} more checks ({counts}): {where}")
        return lines

    def _named(self, places: list[int], count: int) -> str:
        return _named([self.results.name_at(place) for place in places[:HOSTS_NAMED]], count)


def _notices(results: Results, paint: Any) -> list[str]:
    lines = ["note: " + one_line(note) for note in results.notes]
    if results.cut_short:
        answered = sum(run.answered for run in results.runs)
        lines.append(
            paint(
                "error",
                f"CUT SHORT: {answered} of {results.expected} hosts were judged",
            )
        )
    return lines


def _host_table(results: Results, paint: Any, width: int, where: str) -> list[str]:
    """A row a host: its verdict and the worst status of each control, worst hosts first."""
    if not results.hosts:
        return []
    hosts = results.tally.hosts
    worst_first = results.tally.worst_first()
    controls = controls_of(results)
    rows = [["host", "verdict", *controls]]
    for place in worst_first[:HOST_ROWS]:
        host = hosts[place]
        worst = host.controls
        cells = [f"{STATUS_GLYPHS[worst[c]]} {worst[c]}" if c in worst else "" for c in controls]
        name = shorten(one_line(host.name), max(width // 3, 12))
        rows.append([name, f"{VERDICT_GLYPHS[host.verdict]} {host.verdict}", *cells])
    rows, left_out = _fitting(rows, hosts, width)
    lines = _aligned(rows, paint)
    lines += [piece for line in left_out for piece in textwrap.wrap(line, max(width, 40))]
    hidden = worst_first[HOST_ROWS:]
    if hidden:
        counts = _counted((hosts[place].verdict for place in hidden), VERDICT_GLYPHS)
        lines.append(f"… and {len(hidden)} more hosts ({counts}): {where}")
    return lines


#: Columns that a table can do without, first those that say least: nothing to see, nothing to do.
_SAY_LITTLE = ((SKIP, "skip everywhere"), (PASS, "pass everywhere"))


def _fitting(
    rows: list[list[str]], hosts: list[HostFacts], width: int
) -> tuple[list[list[str]], list[str]]:
    """The rows without the controls that say least, where they are wider than the terminal; and
    lines that name these."""
    lines = []
    for status, said in _SAY_LITTLE:
        if _width(rows) <= width:
            break
        heads = rows[0]
        names = [
            name
            for name in heads[2:]
            if all(host.controls.get(name, status) == status for host in hosts)
        ]
        kept = [place for place, name in enumerate(heads) if name not in names]
        rows = [[row[place] for place in kept] for row in rows]
        if names:
            lines.append(f"{STATUS_GLYPHS[status]} {said}: {', '.join(names)}")
    return rows, lines


def _width(rows: list[list[str]]) -> int:
    return sum(max(map(len, column)) + 2 for column in zip(*rows, strict=True)) - 2


def _aligned(rows: list[list[str]], paint: Any) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = []
        for cell, room in zip(row, widths):  # noqa: B905 - strict= is newer than Python 3.6
            cells.append(paint(cell.partition(" ")[2], cell) + " " * (room - len(cell)))
        lines.append("  ".join(cells).rstrip())
    return lines


def _finding_lines(
    status: str, finding: dict[str, Any], hosts: str, paint: Any, width: int
) -> list[str]:
    mark = f"{STATUS_GLYPHS[status]} {status}"
    subject, title = _subject(heading_of(finding))
    head = "{0}  {1}{2}: ".format(hosts, finding["check"], " " + subject if subject else "")
    layer, actual = actual_layer(finding)
    if actual is None and finding["desired"] is None:
        body = title
    else:
        body = "{0} → {1}".format(
            one_line(finding["desired"] or "not decided"),
            one_line(actual if actual is not None else "unknown"),
        )
        if layer:
            body += " ({0})".format(layer.replace("_", " "))
        if finding["problem"]:
            body = f"{title}: {body}"
    if actual is None or status == ERROR:
        body += "; " + one_line(finding["why"])
    lines = textwrap.wrap(
        head + body, max(width - INDENT, 40), max_lines=3, placeholder=" …", break_on_hyphens=False
    )
    lines = [*lines, *_advice(finding)]
    return [
        (paint(status, mark) + " " * (INDENT - len(mark)) if first else " " * INDENT) + line
        for first, line in zip([True] + [False] * len(lines), lines)  # noqa: B905 - Python 3.6
    ]


def _subject(title: str) -> tuple[str, str]:
    """("/u02", "Hard mount over TCP"): the mount or instance that a title begins with, if any."""
    subject, colon, rest = one_line(title).partition(": ")
    return (subject, rest) if colon else ("", subject)


#: How many commands of a fix stand in the summary; the report has all.
_COMMANDS = 3


def _advice(finding: dict[str, Any]) -> list[str]:
    if finding["waiver"]:
        waiver = finding["waiver"]
        return [
            "waived until {0} by {1}: {2}".format(
                waiver["expires"], one_line(waiver["owner"]), one_line(waiver["reason"])
            )
        ]
    first, _, more = printable(as_typed(finding["fix"] or "")).strip().partition("\n")
    lines = [first.rstrip() + (" …" if more else "")] if first else []
    # Whole, however long: a command that is cut would be copied so.
    shown = [printable(as_typed(one)) for one in finding["commands"][:_COMMANDS]]
    if len(finding["commands"]) > _COMMANDS:
        shown.append("… ({0} more in the report)".format(len(finding["commands"]) - _COMMANDS))
    if not lines and not shown:
        return []
    if not lines:
        lines = [shown.pop(0)]
    effect = finding["takes_effect"]
    after = (
        "" if effect in (None, "now") else "   [takes effect: {0}]".format(effect.replace("_", " "))
    )
    return ["fix: " + lines[0] + after] + ["     " + one for one in shown]


def _sameness(finding: dict[str, Any]) -> bytes:
    """The same for findings that read the same: a digest, for a fleet has many that differ."""
    waiver = finding["waiver"] or {}
    told = finding["why"] if finding["status"] == ERROR else None
    layers = tuple(finding[name] for name in ("desired", "persisted", "running", "in_use"))
    subject, _title = _subject(heading_of(finding))
    whose = (waiver.get("owner"), waiver.get("expires"))
    text = json.dumps([subject, *layers, fix_of(finding), told, *whose])
    return blake2b(text.encode("ascii"), digest_size=16).digest()


def _skips(results: Results, paint: Any, width: int) -> list[str]:
    """What does not apply, with the reason; on many hosts the totals must do."""
    if len(results.hosts) > FEW_HOSTS:
        return []
    reasons: dict[tuple[str, str, str], list[str]] = {}
    for state in results.states:
        for finding in state.findings:
            if finding["status"] == SKIP:
                key = (state.name, finding["control"], finding["why"])
                reasons.setdefault(key, []).append(finding["check"])
    # One reason may go for a whole control: it is told once, also of several hosts.
    told: dict[tuple[str, str], list[str]] = {}
    for (host, control, why), checks in reasons.items():
        different = list(dict.fromkeys(checks))
        what = different[0]
        if len(different) > 1:
            what = f"{control} ({len(different)} checks)"
        told.setdefault((what, why), []).append(host)
    return [
        paint(SKIP, f"{STATUS_GLYPHS[SKIP]} skip".ljust(INDENT))
        + shorten(
            f"{_named(hosts[:HOSTS_NAMED], len(hosts))}  {what}: {one_line(why)}",
            max(width - INDENT, 40),
        )
        for (what, why), hosts in told.items()
    ]


def _totals(results: Results, paint: Any) -> list[str]:
    hosts = ", ".join(
        paint(verdict, f"{count} {verdict}")
        for verdict, count in verdict_totals(results).items()
        if count
    )
    findings = ", ".join(
        paint(status, f"{count} {status}")
        for status, count in status_totals(results).items()
        if count
    )
    lines = [f"Hosts:    {hosts}"] if results.hosts else []
    clusters = Counter(results.clusters.values())
    if clusters:
        told = [paint(one, f"{clusters[one]} {one}") for one in VERDICTS if clusters[one]]
        lines.append(f"Clusters: {', '.join(told)}")
    return [*lines, "Findings: {0}".format(findings or "none")]


def _named(first: list[str], count: int) -> str:
    """ "db01, db02, db03 … +18"."""
    named = ", ".join(map(one_line, first))
    more = count - len(first)
    return f"{named} … +{more}" if more > 0 else named


def _counted(names: Iterable[str], order: Iterable[str]) -> str:
    """ "3 fail, 1 warn" in the given order."""
    all_names = list(names)
    return ", ".join(f"{all_names.count(name)} {name}" for name in order if name in all_names)


def _paint(name: str, text: str) -> str:
    code = _CODES.get(name)
    return f"\033[{code}m{text}\033[0m" if code and text else text


def _plain(name: str, text: str) -> str:
    return text
