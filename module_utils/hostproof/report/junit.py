# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""report.xml: JUnit XML, one testsuite a host, one testcase a finding.

``fail`` is a failure, ``error`` an error, ``skip`` and ``waived`` are skipped with the reason;
``warn`` passes and says what it warns of in system-out.
"""

from typing import Any, Dict, List
from xml.sax.saxutils import escape, quoteattr

from ..finding import ERROR, FAIL, LAYERS, SKIP, WAIVED, WARN
from .store import HostState, Results
from .text import one_line, printable
from .verdict import count_statuses, status_totals


def render_junit(results):
    # type: (Results) -> str
    """The text of report.xml."""
    totals = status_totals(results)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<testsuites name="hostproof" tests="{0}" failures="{1}" errors="{2}">'.format(
            sum(totals.values()), totals[FAIL], totals[ERROR]
        ),
    ]
    for state in results.states:
        lines.extend(_suite(state))
    lines.append("</testsuites>\n")
    return "\n".join(lines)


def _suite(state):
    # type: (HostState) -> List[str]
    counts = count_statuses(state.findings)
    lines = [
        '<testsuite name={0} hostname={0} timestamp="{1}" time="0" tests="{2}" failures="{3}"'
        ' errors="{4}" skipped="{5}">'.format(
            _attribute(state.name),
            one_line(state.at).rstrip("Z"),
            len(state.findings),
            counts[FAIL],
            counts[ERROR],
            counts[SKIP] + counts[WAIVED],
        )
    ]
    for finding in state.findings:
        lines.append(_case(finding))
    lines.append("</testsuite>")
    return lines


def _case(finding):
    # type: (Dict[str, Any]) -> str
    opening = "<testcase classname={0} name={1}".format(
        _attribute(finding["control"]),
        _attribute("{0}: {1}".format(finding["check"], finding["title"])),
    )
    status = finding["status"]
    message, body = _attribute(finding["why"]), escape(printable(_details(finding)))
    if status in (FAIL, ERROR):
        element = "failure" if status == FAIL else "error"
        outcome = "<{0} type={1} message={2}>{3}</{0}>".format(
            element, _attribute(finding["severity"]), message, body
        )
    elif status == SKIP:
        outcome = "<skipped message={0}/>".format(message)
    elif status == WAIVED:
        waiver = finding["waiver"]
        reason = "waived until {0} by {1}: {2}".format(
            waiver["expires"], waiver["owner"], waiver["reason"]
        )
        outcome = "<skipped message={0}/>".format(_attribute(reason))
    elif status == WARN:
        outcome = "<system-out>{0}</system-out>".format(
            escape(printable("warning: " + finding["why"] + "\n")) + body
        )
    else:
        return opening + ' time="0"/>'
    return '{0} time="0">{1}</testcase>'.format(opening, outcome)


def _details(finding):
    # type: (Dict[str, Any]) -> str
    lines = [
        "{0}: {1}".format(name.replace("_", " "), finding[name])
        for name in LAYERS
        if finding[name] is not None
    ]
    for name in ("fix", "takes_effect", "reference"):
        if finding[name]:
            lines.append("{0}: {1}".format(name.replace("_", " "), finding[name]))
    return "\n".join(lines)


def _attribute(text):
    # type: (str) -> str
    return quoteattr(one_line(text))
