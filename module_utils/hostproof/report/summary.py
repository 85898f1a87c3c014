# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The summary of a run for a terminal: short enough to read, honest about what it leaves out."""

import textwrap
from typing import Any, Dict, Iterable, List, NamedTuple, Tuple

from ..finding import ERROR, FAIL, SEVERITIES, SKIP, STATUSES, WARN
from .store import Results
from .text import one_line, printable, shorten
from .verdict import (
    STATUS_GLYPHS,
    VERDICT_GLYPHS,
    actual_layer,
    controls_of,
    host_verdict,
    status_totals,
    verdict_totals,
    verdicts,
    worst_by_control,
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
    "could not determine": "35;1",
    "ready with warnings": "33;1",
    "ready": "32;1",
}


class _Group(NamedTuple):
    """Findings that say the same of several hosts."""

    finding: Dict[str, Any]
    hosts: List[str]


def render_summary(results, color=False, width=100, where="report.html"):
    # type: (Results, bool, int, str) -> str
    """The summary as text, without a final newline.

    ``where`` is what it points to for all that it leaves out. Fixes are never cut, whatever the
    ``width``: they are there to be copied.
    """
    paint = _paint if color else _plain
    blocks = [
        _notices(results, paint),
        _host_table(results, paint, width, where),
        _findings(results, paint, width, where),
        _skips(results, paint, width),
        _totals(results, paint),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _notices(results, paint):
    # type: (Results, Any) -> List[str]
    lines = ["note: " + one_line(note) for note in results.notes]
    if results.cut_short:
        answered = sum(run.answered for run in results.runs)
        lines.append(
            paint(
                "error",
                "CUT SHORT: {0} of {1} hosts were judged".format(answered, results.expected),
            )
        )
    return lines


def _host_table(results, paint, width, where):
    # type: (Results, Any, int, str) -> List[str]
    """A row a host: its verdict and the worst status of each control, worst hosts first."""
    if not results.hosts:
        return []
    order = list(VERDICT_GLYPHS)
    states = sorted(results.hosts, key=lambda state: order.index(host_verdict(state.findings)))
    shown = states[:HOST_ROWS]
    controls = controls_of(results)
    rows = [["host", "verdict", *controls]]
    for state in shown:
        worst = worst_by_control(state.findings)
        verdict = host_verdict(state.findings)
        cells = [
            "{0} {1}".format(STATUS_GLYPHS[worst[c]], worst[c]) if c in worst else ""
            for c in controls
        ]
        name = shorten(one_line(state.name), max(width // 3, 12))
        rows.append([name, "{0} {1}".format(VERDICT_GLYPHS[verdict], verdict), *cells])
    lines = _aligned(rows, paint)
    if len(states) > len(shown):
        hidden = states[len(shown) :]
        counts = _counted((host_verdict(state.findings) for state in hidden), order)
        lines.append("… and {0} more hosts ({1}): {2}".format(len(hidden), counts, where))
    return lines


def _aligned(rows, paint):
    # type: (List[List[str]], Any) -> List[str]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = []
        for cell, room in zip(row, widths):  # noqa: B905 - strict= is newer than Python 3.6
            cells.append(paint(cell.partition(" ")[2], cell) + " " * (room - len(cell)))
        lines.append("  ".join(cells).rstrip())
    return lines


def _findings(results, paint, width, where):
    # type: (Results, Any, int, str) -> List[str]
    """Each finding that is neither pass nor skip; equal ones of several hosts stand once."""
    by_check = _grouped(results)
    values_shown = VALUES_SHOWN if len(results.hosts) > FEW_HOSTS else VALUES_SHOWN_OF_FEW
    lines = []  # type: List[str]
    for (status, _), groups in by_check[:CHECKS_SHOWN]:
        for group in groups[:values_shown]:
            lines.extend(_finding_lines(status, group, paint, width))
        rest = groups[values_shown:]
        if rest:
            hosts = [host for group in rest for host in group.hosts]
            lines.append(
                " " * INDENT
                + "… the same check with other values on {0}: {1}".format(_named(hosts), where)
            )
    if len(by_check) > CHECKS_SHOWN:
        hidden = by_check[CHECKS_SHOWN:]
        counts = _counted((status for (status, _), _ in hidden), STATUSES)
        lines.append("… and {0} more checks ({1}): {2}".format(len(hidden), counts, where))
    return lines


def _finding_lines(status, group, paint, width):
    # type: (str, _Group, Any, int) -> List[str]
    finding = group.finding
    mark = "{0} {1}".format(STATUS_GLYPHS[status], status)
    subject, title = _subject(finding["title"])
    head = "{0}  {1}{2}: ".format(
        _named(group.hosts), finding["check"], " " + subject if subject else ""
    )
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
    if actual is None or status == ERROR:
        body += "; " + one_line(finding["why"])
    lines = textwrap.wrap(
        head + body, max(width - INDENT, 40), max_lines=2, placeholder=" …", break_on_hyphens=False
    )
    lines = [*lines, *_advice(finding)]
    return [
        (paint(status, mark) + " " * (INDENT - len(mark)) if first else " " * INDENT) + line
        for first, line in zip([True] + [False] * len(lines), lines)  # noqa: B905 - Python 3.6
    ]


def _subject(title):
    # type: (str) -> Tuple[str, str]
    """("/u02", "Hard mount over TCP"): the mount or instance that a title begins with, if any."""
    subject, colon, rest = one_line(title).partition(": ")
    return (subject, rest) if colon else ("", subject)


def _advice(finding):
    # type: (Dict[str, Any]) -> List[str]
    if finding["waiver"]:
        waiver = finding["waiver"]
        return [
            "waived until {0} by {1}: {2}".format(
                waiver["expires"], one_line(waiver["owner"]), one_line(waiver["reason"])
            )
        ]
    if not finding["fix"]:
        return []
    first, _, more = printable(finding["fix"]).strip().partition("\n")
    effect = finding["takes_effect"]
    after = (
        "" if effect in (None, "now") else "   [takes effect: {0}]".format(effect.replace("_", " "))
    )
    return ["fix: " + first.rstrip() + (" …" if more else "") + after]


def _grouped(results):
    # type: (Results) -> List[Tuple[Tuple[str, str], List[_Group]]]
    """Findings to show by (status, check), worst first; in each the value of most hosts first."""
    checks = {}  # type: Dict[Tuple[str, str], Dict[Any, _Group]]
    for state in results.states:
        for finding in state.findings:
            if finding["status"] in _SHOWN:
                groups = checks.setdefault((finding["status"], finding["check"]), {})
                group = groups.setdefault(_sameness(finding), _Group(finding, []))
                if state.name not in group.hosts[-1:]:
                    group.hosts.append(state.name)

    def urgency(key):
        # type: (Tuple[str, str]) -> Tuple[int, int, str]
        first = next(iter(checks[key].values())).finding
        return STATUSES.index(key[0]), SEVERITIES.index(first["severity"]), key[1]

    ordered = sorted(checks, key=urgency)
    return [
        (key, sorted(checks[key].values(), key=lambda group: -len(group.hosts))) for key in ordered
    ]


def _sameness(finding):
    # type: (Dict[str, Any]) -> Tuple[Any, ...]
    waiver = finding["waiver"] or {}
    told = finding["why"] if finding["status"] == ERROR else None
    layers = tuple(finding[name] for name in ("desired", "persisted", "running", "in_use"))
    subject, _title = _subject(finding["title"])
    return (subject, *layers, finding["fix"], told, waiver.get("owner"), waiver.get("expires"))


def _skips(results, paint, width):
    # type: (Results, Any, int) -> List[str]
    """What does not apply, with the reason; on many hosts the totals must do."""
    if len(results.hosts) > FEW_HOSTS:
        return []
    reasons = {}  # type: Dict[Tuple[str, str, str], List[str]]
    for state in results.states:
        for finding in state.findings:
            if finding["status"] == SKIP:
                key = (state.name, finding["control"], finding["why"])
                reasons.setdefault(key, []).append(finding["check"])
    # One reason may go for a whole control: it is told once, also of several hosts.
    told = {}  # type: Dict[Tuple[str, str], List[str]]
    for (host, control, why), checks in reasons.items():
        different = list(dict.fromkeys(checks))
        what = different[0]
        if len(different) > 1:
            what = "{0} ({1} checks)".format(control, len(different))
        told.setdefault((what, why), []).append(host)
    return [
        paint(SKIP, "{0} skip".format(STATUS_GLYPHS[SKIP]).ljust(INDENT))
        + shorten(
            "{0}  {1}: {2}".format(_named(hosts), what, one_line(why)), max(width - INDENT, 40)
        )
        for (what, why), hosts in told.items()
    ]


def _totals(results, paint):
    # type: (Results, Any) -> List[str]
    hosts = ", ".join(
        paint(verdict, "{0} {1}".format(count, verdict))
        for verdict, count in verdict_totals(results).items()
        if count
    )
    findings = ", ".join(
        paint(status, "{0} {1}".format(count, status))
        for status, count in status_totals(results).items()
        if count
    )
    lines = ["Hosts:    {0}".format(hosts)] if verdicts(results) else []
    return [*lines, "Findings: {0}".format(findings or "none")]


def _named(hosts):
    # type: (List[str]) -> str
    """ "db01, db02, db03 … +18"."""
    named = ", ".join(one_line(host) for host in hosts[:HOSTS_NAMED])
    more = len(hosts) - HOSTS_NAMED
    return "{0} … +{1}".format(named, more) if more > 0 else named


def _counted(names, order):
    # type: (Iterable[str], Iterable[str]) -> str
    """ "3 fail, 1 warn" in the given order."""
    all_names = list(names)
    return ", ".join(
        "{0} {1}".format(all_names.count(name), name) for name in order if name in all_names
    )


def _paint(name, text):
    # type: (str, str) -> str
    code = _CODES.get(name)
    return "\033[{0}m{1}\033[0m".format(code, text) if code and text else text


def _plain(name, text):
    # type: (str, str) -> str
    return text
