# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A result of another tool as a finding."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.collect import shell
from ansible.module_utils.hostproof.collect.masking import masked
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN

from ..report.text import one_line, printable, shorten

STATUSES = (PASS, WARN, FAIL, ERROR, SKIP)
_LONGEST = 2000
_VALUE = 300
#: The next step where no check of Hostproof covers the result, by tool.
_WITHOUT_REASON = {
    "cvu": "find the reason: run the same command of CVU with -verbose",
    "orachk": "follow the recommendation for this check in the HTML report of ORAchk",
}
_AGAIN = {"cvu": "run CVU again", "orachk": "run ORAchk again"}
#: Findings of one file.
MOST = 20_000


class NotUnderstood(HostproofError):
    """The file is not what it was taken for; the message is one sentence."""


class Foreign(NamedTuple):
    """``subject`` is what the check is about besides the host: a path, a database; "" for none.
    ``message`` is the message of the tool, ``our_check`` that of Hostproof for the same value."""

    host: str
    name: str
    subject: str
    status: str
    severity: str
    message: str
    number: str = ""
    required: str = ""
    actual: str = ""
    our_check: str = ""


class Run(NamedTuple):
    """The results of a file, and the version of the tool; "" if the file does not contain it."""

    version: str
    foreign: list[Foreign]


def as_findings(
    tool: str, source: str, foreign: Iterable[Foreign]
) -> dict[str, list[dict[str, Any]]]:
    """Findings by host. ``source`` names tool and version; the control is the name of the tool."""
    findings: dict[str, list[dict[str, Any]]] = {}
    for finding in foreign:
        findings.setdefault(finding.host, []).append(_as_finding(tool, source, finding))
    return findings


def _why(source: str, finding: Foreign) -> str:
    why = _short(finding.message, _LONGEST) or f"{source} reports this as {finding.status}."
    if not finding.required or finding.required in why:
        return why
    values = f"Required: {finding.required}; found: {finding.actual or 'unknown'}."
    return _short(f"{why} {values}", _LONGEST)


def _as_finding(tool: str, source: str, finding: Foreign) -> dict[str, Any]:
    name = _short(finding.name, 200)
    title = f"{_short(finding.subject, 200)}: {name}" if finding.subject else name
    is_problem = finding.status in (FAIL, WARN)
    return {
        "control": tool,
        "check": f"{tool}.{slug(finding.name)}",
        "title": title,
        "status": finding.status,
        "severity": finding.severity,
        "desired": _short(finding.required, _VALUE) or None,
        "persisted": None,
        "running": _short(finding.actual, _VALUE) or None,
        "in_use": None,
        "takes_effect": None,
        "why": _why(source, finding),
        "fix": _fix(tool, finding) if is_problem else None,
        "reference": f"{source}, {finding.number}" if finding.number else source,
        "evidence": [],
        "waiver": None,
        "values": None,
        "commands": [_audit_of(finding)] if is_problem and finding.our_check else [],
        "because_of": [],
        "problem": title if is_problem else None,
        "failing_layer": None,
    }


def _fix(tool: str, finding: Foreign) -> str:
    if finding.our_check:
        return f"audit the host: the finding {finding.our_check} names the fix"
    if not finding.message and not finding.required:
        return _WITHOUT_REASON[tool]
    wanted = f": {finding.required}" if finding.required else ""
    verb = "set what the message names to the required value" if wanted else "correct the reason"
    return f"{_short(verb + wanted, _VALUE)}; then {_AGAIN[tool]}"


def _audit_of(finding: Foreign) -> str:
    tag = finding.our_check.partition(".")[0]
    return shell.line("./hostproof", "audit", "--tags", tag, "--limit", finding.host)


@functools.lru_cache(maxsize=256)
def _short(text: str, most: int) -> str:
    # A message can have the words of a command, a connection or a setting.
    return shorten(one_line(printable(masked("", text[: 2 * most]))), most)


def slug(name: str) -> str:
    """The second part of a check id: "Free Space" is free_space."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    word = re.sub(r"[^a-z0-9]+", "_", ascii_name.lower()).strip("_")[:80].strip("_")
    return word if word[:1].isalpha() else f"check_{word or 'without_name'}"
