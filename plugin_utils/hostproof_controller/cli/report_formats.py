# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The forms of the findings that ``./hostproof report --format`` prints."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import re
import tempfile
from typing import Any
from urllib.parse import quote

from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.controls.registry import check_ids
from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, LAYERS, WAIVED, WARN

from ..report.render import render_folder, render_lines
from ..report.store import FINDINGS_FILE, Results, merged_lines
from ..report.text import fix_of, one_line, printable
from ..report.verdict import STATUS_GLYPHS, verdicts
from . import terminal

#: Formats that every run writes, with the file name of each.
RENDERED = {
    "json": "report.json",
    "junit": "report.xml",
    "prometheus": "report.prom",
    "html": "report.html",
}
#: Every format; those that no run writes are made here.
FORMATS = ("csv", "markdown", "sarif", "junit", "json", "prometheus", "html")

COLUMNS = (
    "host",
    "control",
    "check",
    "title",
    "status",
    "severity",
    *LAYERS,
    "takes_effect",
    "why",
    "fix",
    "commands",
    "reference",
)
_LEVELS = {FAIL: "error", ERROR: "error", WARN: "warning", WAIVED: "warning"}
_SCHEMAS = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas"


def text_of(results: Results, form: str, strict: bool) -> str:
    """The findings in one of the FORMATS."""
    if form in RENDERED:
        return _rendered(results, RENDERED[form], strict)
    if form == "csv":
        return terminal.as_csv(COLUMNS, (_row(host, finding) for host, finding in _flat(results)))
    return markdown(results) if form == "markdown" else sarif(results)


def _rendered(results: Results, name: str, strict: bool) -> str:
    """One of the files that a run writes, by what writes it."""
    with tempfile.TemporaryDirectory(prefix="hostproof-") as folder:
        with open(os.path.join(folder, FINDINGS_FILE), "w", encoding="ascii") as stream:
            stream.writelines(render_lines(merged_lines(results)))
        render_folder(
            folder,
            today=datetime.date.today(),
            known_checks=check_ids,
            strict=strict,
            as_one_page=True,
        )
        with open(os.path.join(folder, name), encoding="utf-8") as stream:
            return stream.read()


def _flat(results: Results) -> list[tuple[str, dict[str, Any]]]:
    return [(state.name, finding) for state in results.states for finding in state.findings]


def _row(host: str, finding: dict[str, Any]) -> list[Any]:
    values = {**finding, "host": host, "commands": "\n".join(finding["commands"])}
    return [values[name] for name in COLUMNS]


def markdown(results: Results) -> str:
    """A table of the hosts and their findings that need attention, for a ticket or a wiki."""
    lines = ["# Hostproof report", ""]
    lines.append(terminal.as_markdown(("host", "verdict"), verdicts(results).items()))
    for state in results.states:
        findings = [finding for finding in state.findings if finding["status"] in _LEVELS]
        if not findings:
            continue
        lines += [f"## {terminal.markdown_cell(state.name)}", ""]
        rows = [
            (
                f"{STATUS_GLYPHS[finding['status']]} {finding['status']}",
                finding["check"],
                finding["title"],
                finding["why"],
                fix_of(finding),
            )
            for finding in findings
        ]
        lines.append(terminal.as_markdown(("status", "check", "title", "why", "fix"), rows))
    return "\n".join(lines)


def sarif(results: Results) -> str:
    """SARIF 2.1.0: a result for each finding that needs attention; waived ones are suppressed."""
    rules: dict[str, dict[str, Any]] = {}
    entries = []
    for host, finding in _flat(results):
        if finding["status"] not in _LEVELS:
            continue
        rules.setdefault(
            finding["check"],
            {
                "id": finding["check"],
                "shortDescription": {"text": _plain(one_line(finding["title"]))},
                "help": {"text": _plain(finding["reference"])},
                "properties": {"severity": finding["severity"]},
            },
        )
        entries.append(_sarif_result(host, finding, list(rules).index(finding["check"])))
    driver = {"name": "hostproof", "version": VERSION, "rules": list(rules.values())}
    document = {
        "$schema": f"{_SCHEMAS}/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": entries}
        ],
    }
    return json.dumps(document, indent=1) + "\n"


#: An address in angle brackets, which Markdown makes a link.
_AUTOLINK = re.compile(r"<(?=[A-Za-z][A-Za-z0-9+.-]*:)")
#: What a message of SARIF takes for one of its arguments.
_PLACEHOLDER = re.compile(r"\{([0-9]+)\}")


def _plain(text: str) -> str:
    """Text of a SARIF message without links and placeholders (SARIF 2.1.0, 3.11.5 and 3.11.6)."""
    text = printable(text).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    # Not all readers know the escape.
    text = _AUTOLINK.sub("< ", text.replace("](", "] ("))
    return _PLACEHOLDER.sub(r"{{\1}}", text)


def _sarif_result(host: str, finding: dict[str, Any], rule: int) -> dict[str, Any]:
    name = one_line(host)
    text = "\n".join(
        [f"{name}: {finding['title']}. {finding['why']}"]
        + [f"{layer}: {finding[layer]}" for layer in LAYERS if finding[layer] is not None]
        + ([f"fix: {fix_of(finding)}"] if fix_of(finding) else [])
    )
    same = "\0".join((host, finding["check"], finding["title"]))
    result: dict[str, Any] = {
        "ruleId": finding["check"],
        "ruleIndex": rule,
        "level": _LEVELS[finding["status"]],
        "kind": "fail",
        "message": {"text": _plain(text)},
        # A host is not a file; readers that want one get a path that states which host it is.
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": f"hosts/{quote(host, safe='', errors='replace')}"},
                    "region": {"startLine": 1},
                },
                "logicalLocations": [{"name": name, "kind": "resource"}],
            }
        ],
        "partialFingerprints": {
            "hostproof/v1": hashlib.sha256(same.encode("utf-8", "backslashreplace")).hexdigest()
        },
    }
    waiver = finding["waiver"]
    if finding["status"] == WAIVED and waiver:
        why = f"{waiver['owner']}, until {waiver['expires']}: {waiver['reason']}"
        result["suppressions"] = [{"kind": "external", "justification": _plain(why)}]
    return result
