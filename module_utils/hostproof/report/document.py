# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""report.json: the whole report, but for the evidence, as one JSON document.

::

    schema      1
    tool        {"name": "hostproof", "version": ...}
    generated   when it was rendered (UTC, RFC 3339)
    exit_code   of the run, and what it means in "exit_meaning"; "strict": whether warn counted
    complete    false if a run was cut short: then hosts are missing
    notes       sentences about the files it was rendered from
    runs        [{"id", "started", "hosts": it set out to judge, "answered": that left a result}]
    totals      {"hosts": {verdict: count}, "findings": {status: count}}
    hosts       [{"host", "verdict", "outcome", "at", "findings": {status: count},
                  "controls": {control: worst status}}]
    findings    [finding of docs/finding.schema.json, each with its "host"]

Findings about the run itself or about the waivers have the host "(run)" or "(waivers)"; these two
are in ``findings`` and its totals but not in ``hosts``.
"""

import json
from typing import Any, Dict, List

from .. import VERSION
from .store import HostState, Results
from .verdict import (
    EXIT_MEANINGS,
    count_statuses,
    exit_code,
    host_verdict,
    status_totals,
    verdict_totals,
    worst_by_control,
)

SCHEMA = 1


def render_document(results, generated, strict=False):
    # type: (Results, str, bool) -> str
    """The text of report.json, pure ASCII (a host can answer bytes that are no text)."""
    document = build_document(results, generated, strict)
    findings = document.pop("findings")
    # A finding a line: the file can be read, compared and searched by line.
    head = json.dumps(document, indent=1)[:-2]
    body = ",\n".join(json.dumps(finding) for finding in findings)
    return '{0},\n "findings": [\n{1}\n ]\n}}\n'.format(head, body)


def build_document(results, generated, strict=False):
    # type: (Results, str, bool) -> Dict[str, Any]
    """The document as described above."""
    code = exit_code(results, strict)
    return {
        "schema": SCHEMA,
        "tool": {"name": "hostproof", "version": VERSION},
        "generated": generated,
        "exit_code": code,
        "exit_meaning": EXIT_MEANINGS[code],
        "strict": strict,
        "complete": not results.cut_short,
        "notes": results.notes,
        "runs": [dict(run._asdict()) for run in results.runs],
        "totals": {"hosts": verdict_totals(results), "findings": status_totals(results)},
        "hosts": [_host(state) for state in results.hosts],
        "findings": flat_findings(results),
    }


def flat_findings(results):
    # type: (Results) -> List[Dict[str, Any]]
    """Every finding in one list, each with its ``host`` first."""
    flat = []
    for state in results.states:
        for finding in state.findings:
            record = {"host": state.name}
            record.update(finding)
            flat.append(record)
    return flat


def _host(state):
    # type: (HostState) -> Dict[str, Any]
    return {
        "host": state.name,
        "verdict": host_verdict(state.findings),
        "outcome": state.outcome,
        "at": state.at,
        "findings": count_statuses(state.findings),
        "controls": worst_by_control(state.findings),
    }
