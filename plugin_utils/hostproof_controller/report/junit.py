# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""report.xml: JUnit XML with one testsuite per host and one testcase per finding.

``fail`` is a failure and ``error`` an error. ``skip`` and ``waived`` are skipped with the reason.
``warn`` passes, with the warning in system-out.
"""

import html
from typing import Any

from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, LAYERS, PASS, SKIP, WAIVED

from .host_state import HostState
from .shared_findings import once
from .store import Results
from .text import fix_of, heading_of, one_line, printable, remembered
from .verdict import count_statuses, status_totals


class JUnit:
    """report.xml, written state by state."""

    def __init__(self, results: Results) -> None:
        self._totals = status_totals(results)

    def begin(self) -> str:
        totals = self._totals
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<testsuites name="hostproof" tests="{sum(totals.values())}"'
            f' failures="{totals[FAIL]}" errors="{totals[ERROR]}">\n'
        )

    def add(self, state: HostState) -> str:
        return "\n".join([*_suite(state), ""])

    def end(self) -> str:
        return "</testsuites>\n"


def _suite(state: HostState) -> list[str]:
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
    return [*lines, *map(_case, state.findings), "</testsuite>"]


@once
def _case(finding: dict[str, Any]) -> str:
    opening = "<testcase classname={0} name={1}".format(
        _attribute(finding["control"]),
        _attribute("{0}: {1}".format(finding["check"], heading_of(finding))),
    )
    status = finding["status"]
    if status == PASS:
        return opening + ' time="0"/>'
    if status == SKIP:
        return '{0} time="0"><skipped message={1}/></testcase>'.format(
            opening, _attribute(finding["why"])
        )
    if status in (FAIL, ERROR):
        element = "failure" if status == FAIL else "error"
        outcome = "<{0} type={1} message={2}>{3}</{0}>".format(
            element,
            _attribute(finding["severity"]),
            _attribute(finding["why"]),
            html.escape(printable(_details(finding)), quote=False),
        )
    elif status == WAIVED:
        waiver = finding["waiver"]
        reason = "waived until {0} by {1}: {2}".format(
            waiver["expires"], waiver["owner"], waiver["reason"]
        )
        outcome = f"<skipped message={_attribute(reason)}/>"
    else:
        message = "warning: {0}\n{1}".format(finding["why"], _details(finding))
        outcome = f"<system-out>{html.escape(printable(message), quote=False)}</system-out>"
    return f'{opening} time="0">{outcome}</testcase>'


def _details(finding: dict[str, Any]) -> str:
    lines = [
        "{0}: {1}".format(name.replace("_", " "), finding[name])
        for name in LAYERS
        if finding[name] is not None
    ]
    rest = {name: finding[name] for name in ("takes_effect", "reference")}
    for name, text in dict({"fix": fix_of(finding)}, **rest).items():
        if text:
            lines.append("{0}: {1}".format(name.replace("_", " "), text))
    return "\n".join(lines)


@remembered
def _attribute(text: str) -> str:
    return f'"{html.escape(one_line(text))}"'
