# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The findings as SARIF 2.1.0: a result for each finding that needs attention."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any
from urllib.parse import quote

from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, LAYERS, WAIVED, WARN

from .store import Results
from .text import fix_of, one_line, printable

#: Status to level of SARIF; findings of another status are not results.
_LEVELS = {FAIL: "error", ERROR: "error", WARN: "warning", WAIVED: "warning"}
_SCHEMAS = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas"


def sarif(results: Results) -> str:
    """SARIF 2.1.0: a result for each finding that needs attention; waived ones are suppressed."""
    rules: dict[str, dict[str, Any]] = {}
    entries = []
    findings = [(state.name, finding) for state in results.states for finding in state.findings]
    for host, finding in findings:
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
