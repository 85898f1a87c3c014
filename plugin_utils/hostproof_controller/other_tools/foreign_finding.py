# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A result of another tool as a finding."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN

from ..report.text import one_line, printable, shorten

STATUSES = (PASS, WARN, FAIL, ERROR, SKIP)
_LONGEST = 2000
#: Findings of one file.
MOST = 20_000


class NotUnderstood(HostproofError):
    """The file is not what it was taken for; the message is one sentence."""


class Foreign(NamedTuple):
    """``subject`` is what the check is about besides the host: a path, a database; "" for none.
    ``told`` is the message of the tool."""

    host: str
    name: str
    subject: str
    status: str
    severity: str
    told: str
    number: str = ""


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


def _as_finding(tool: str, source: str, finding: Foreign) -> dict[str, Any]:
    name = _short(finding.name, 200)
    title = f"{_short(finding.subject, 200)}: {name}" if finding.subject else name
    why = _short(finding.told, _LONGEST) or f"{source} reports this as {finding.status}."
    is_problem = finding.status in (FAIL, WARN)
    return {
        "control": tool,
        "check": f"{tool}.{slug(finding.name)}",
        "title": title,
        "status": finding.status,
        "severity": finding.severity,
        "desired": None,
        "persisted": None,
        "running": None,
        "in_use": None,
        "takes_effect": None,
        "why": why,
        "fix": None,
        "reference": f"{source}, {finding.number}" if finding.number else source,
        "evidence": [],
        "waiver": None,
        "values": None,
        "commands": [],
        "because_of": [],
        "problem": title if is_problem else None,
        "failing_layer": None,
    }


def _short(text: str, most: int) -> str:
    return shorten(one_line(printable(text)), most)


def slug(name: str) -> str:
    """The second part of a check id: "Free Space" is free_space."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    word = re.sub(r"[^a-z0-9]+", "_", ascii_name.lower()).strip("_")[:80].strip("_")
    return word if word[:1].isalpha() else f"check_{word or 'without_name'}"
