# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""report.json: the whole report, but for the evidence, as one JSON document.

::

    schema      2
    tool        {"name": "hostproof", "version": ...}
    generated   when it was rendered (UTC, RFC 3339)
    exit_code   of the run, and what it means in "exit_meaning"; "strict": whether warn counted
    complete    false if a run was cut short: then hosts are missing
    notes       sentences about the files it was rendered from
    runs        [{"id", "started", "hosts": selected for it, "answered": that have a result}]
    totals      {"hosts": {verdict: count}, "findings": {status: count}}
    hosts       [{"host", "verdict", "outcome", "at", "recorded_at": when the oldest evidence that
                  counts was read, or null, "findings": {status: count},
                  "controls": {control: worst status}}]
    findings    [finding of docs/finding.schema.json, each with its "host" and the version of the
                  checks ("catalogue") where its result has it]

Findings about the run itself, about the waivers or about a cluster have the host "(run)",
"(waivers)" or "(cluster NAME)"; these are in ``findings`` and its totals but not in ``hosts``.
"""

import json
from typing import Any

from ansible.module_utils.hostproof import VERSION

from .host_state import HostState, Part
from .shared_findings import once
from .store import Results
from .verdict import EXIT_MEANINGS, HostFacts, exit_code, status_totals, verdict_totals

SCHEMA = 2


class Document:
    """report.json, written state by state. A finding per line: it can be searched by line."""

    def __init__(self, results: Results, generated: str, strict: bool = False) -> None:
        self._results = results
        self._generated = generated
        self._strict = strict
        self._begun = False

    def begin(self) -> str:
        results = self._results
        code = exit_code(results, self._strict)
        head = {
            "schema": SCHEMA,
            "tool": {"name": "hostproof", "version": VERSION},
            "generated": self._generated,
            "exit_code": code,
            "exit_meaning": EXIT_MEANINGS[code],
            "strict": self._strict,
            "complete": not results.cut_short,
            "notes": results.notes,
            "runs": [dict(run._asdict()) for run in results.runs],
            "totals": {"hosts": verdict_totals(results), "findings": status_totals(results)},
        }
        # No text of JSON holds a line's end, so what is indented is never a text.
        hosts = ",\n  ".join(
            json.dumps(_host(host), indent=1).replace("\n", "\n  ") for host in results.tally.hosts
        )
        shown = f"[\n  {hosts}\n ]" if hosts else "[]"
        return f'{json.dumps(head, indent=1)[:-2]},\n "hosts": {shown},\n "findings": [\n'

    def add(self, state: HostState) -> str:
        lines = []
        for part in state.parts:
            if part.findings:
                origin = f"{json.dumps(_origin(state, part))[:-1]}, "
                lines.append(origin + f",\n{origin}".join(map(_text_of, part.findings)))
        text = ",\n".join(lines)
        if text and self._begun:
            text = ",\n" + text
        self._begun = self._begun or bool(text)
        return text

    def end(self) -> str:
        return "\n ]\n}\n"


@once
def _text_of(finding: dict[str, Any]) -> str:
    """A finding as JSON, but for the brace that begins it: its host comes first."""
    return json.dumps(finding)[1:]


def flat_findings(results: Results) -> list[dict[str, Any]]:
    """Every finding in one list, each with its ``host`` and ``catalogue`` first."""
    return [record for state in results.states for record in _flat(state)]


def _flat(state: HostState) -> list[dict[str, Any]]:
    return [_origin(state, part) | finding for part in state.parts for finding in part.findings]


def _origin(state: HostState, part: Part) -> dict[str, Any]:
    """The host of a finding, and the version of its check where that is known."""
    version = part.line.get("catalogue")
    return {"host": state.name, **({} if version is None else {"catalogue": version})}


def _host(host: HostFacts) -> dict[str, Any]:
    return {
        "host": host.name,
        "verdict": host.verdict,
        "outcome": host.outcome,
        "at": host.at,
        "recorded_at": host.recorded_at,
        "findings": host.counts,
        "controls": host.controls,
    }
