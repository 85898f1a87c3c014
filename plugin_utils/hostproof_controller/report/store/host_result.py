# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host result: whether it is valid, and how an older schema reads today."""

import re
from typing import Any

from ansible.module_utils.hostproof import VERSION

from ...commands import is_own
from ...host_names import RULE, is_host_name
from ..findings import SCHEMA, SINCE_2, SINCE_3, are_sound, key_problem, problem_of_finding
from ..renamed import is_old, with_current_ids
from ..shared_findings import unshared
from .instants import is_instant
from .pseudo_hosts import is_pseudo

_RESULT_KEYS_1 = {"schema", "run", "host", "at", "outcome", "message", "findings", "evidence"}
_RESULT_KEYS = _RESULT_KEYS_1 | {"recorded_at"}

#: Version of the checks. Older releases and results of other tools have none.
_CATALOGUE = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,63}\Z")

#: A larger count of hosts, or a longer name of one, was never written by a run.
_MOST_HOSTS = 10**7
MOST_NAME = 1000


def as_schema_3(line: dict[str, Any]) -> dict[str, Any]:
    """The host result as it is written today; in schema 1 evidence was read when it was checked."""
    if line["schema"] == SCHEMA:
        findings = line["findings"]
        others = unshared(findings)
        if any(map(is_old, others)):
            findings = [*map(with_current_ids, findings)]
        if any(map(_calls_otherwise, others)):
            findings = [*map(_without_calls, findings)]
        return dict(line, findings=findings)
    since = {**SINCE_2, **SINCE_3}
    findings = [with_current_ids({**since, **finding}) for finding in line["findings"]]
    recorded_at = line["at"] if line["schema"] == 1 else line["recorded_at"]
    if line["schema"] == 2 and any(map(_calls_otherwise, findings)):
        findings = [*map(_without_calls, findings)]
    return dict(line, schema=SCHEMA, recorded_at=recorded_at, findings=findings)


def _calls_otherwise(finding: dict[str, Any]) -> bool:
    """Whether a command calls ./hostproof as no run of Hostproof writes it: it would run here."""
    commands = finding["commands"]
    return bool(commands) and any(
        "./hostproof" in command and not is_own(command) for command in commands
    )


def _without_calls(finding: dict[str, Any]) -> dict[str, Any]:
    if not _calls_otherwise(finding):
        return finding
    note = "(its commands are left out: they call ./hostproof as no run writes it)"
    return {**finding, "commands": [], "fix": f"{finding['fix'] or ''} {note}".strip()}


def problem_of_result(line: Any) -> str | None:
    """Why this is not a host result of schema 1, 2 or 3 as far as we rely on it, or None."""
    if not isinstance(line, dict):
        return "not a JSON object"
    if line.get("schema") not in (1, 2, SCHEMA) or isinstance(line["schema"], bool):
        return "schema {0!r}, this Hostproof reads schemas 1, 2 and 3".format(line.get("schema"))
    keys = _RESULT_KEYS_1 if line["schema"] == 1 else _RESULT_KEYS
    if set(line) - {"catalogue"} != keys:
        return key_problem(line, keys | {"catalogue"} & set(line))
    problem = problem_of_run(line["run"])
    if problem:
        return problem
    if not _is_host(line["host"]):
        return f"host {ascii(line['host'])[:100]} is not the name of a host: {RULE}"
    for name in ("at", "recorded_at"):
        problem = (
            None if name == "recorded_at" and line.get(name) is None else _no_instant(line, name)
        )
        if problem:
            return problem
    if line["outcome"] not in ("judged", "unreachable", "failed"):
        return "unknown outcome {0!r}".format(line["outcome"])
    version = line.get("catalogue", VERSION)
    if not isinstance(version, str) or not _CATALOGUE.match(version):
        return "catalogue is not a version"
    if not isinstance(line["message"], (str, type(None))):
        return "message is not a text"
    if not isinstance(line["evidence"], (str, type(None))):
        return "evidence is not a text"
    if not isinstance(line["findings"], list):
        return "findings is not a list"
    if line["schema"] == SCHEMA and are_sound(unshared(line["findings"])):
        return None
    for number, finding in enumerate(line["findings"], 1):
        problem = problem_of_finding(finding, line["schema"])
        if problem:
            return f"finding {number}: {problem}"
    return None


def problem_of_run(run: Any) -> str | None:
    if not isinstance(run, dict) or set(run) != {"id", "started", "hosts"}:
        return "run is not {id, started, hosts}"
    if not _is_name(run["id"]):
        return "run.id is not a text"
    hosts = run["hosts"]
    if not isinstance(hosts, int) or isinstance(hosts, bool) or not 0 <= hosts <= _MOST_HOSTS:
        return "run.hosts is not a count"
    problem = _no_instant(run, "started")
    return None if problem is None else "run." + problem


def _no_instant(record: dict[str, Any], name: str) -> str | None:
    value = record[name]
    if not isinstance(value, str) or not value:
        return f"{name} is not a text"
    return None if is_instant(value) else f"{name} is not an instant (UTC, RFC 3339)"


def _is_host(name: Any) -> bool:
    return is_host_name(name) or (_is_name(name) and is_pseudo(name))


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MOST_NAME
