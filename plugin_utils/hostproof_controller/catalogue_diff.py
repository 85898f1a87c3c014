# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between two versions of the checks: the list, severities, defaults, results."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.evaluate.finding import STATUSES

from .other_version import Version
from .report.renamed import CHECKS
from .report.store import PSEUDO_HOSTS, Results, is_cluster
from .report.verdict import cluster_verdict, host_verdict

VERDICT, CHANGED, NEW, REMOVED = "verdict", "changed", "new", "removed"
RENAMED, SEVERITY, DEFAULT = "renamed", "severity", "default"
#: In this order they are shown.
KINDS = (VERDICT, CHANGED, NEW, REMOVED, RENAMED, SEVERITY, DEFAULT)

#: In place of a check: the verdict of the whole host.
HOST = "(host)"
_NOTHING = "-"


class Change(NamedTuple):
    """``name`` is a check, a variable or HOST. ``hosts`` have this change of result."""

    kind: str
    name: str
    before: str
    now: str
    hosts: list[str]


_Statuses = dict[tuple[str, str], str]


def changes(old: Version, new: Version, before: Results, now: Results) -> list[Change]:
    all_changes = [
        *_of_results(old, new, before, now),
        *_of_catalogue(old, new),
        *_of_defaults(old.defaults(), new.defaults()),
    ]
    return sorted(
        all_changes,
        key=lambda change: (KINDS.index(change.kind), change.name, change.before, change.now),
    )


def _of_results(old: Version, new: Version, before: Results, now: Results) -> Iterator[Change]:
    """One change for each check, result before and result now, with its hosts."""
    was, is_now = _statuses(before), _statuses(now)
    hosts: dict[tuple[str, str, str, str], list[str]] = {}
    for key in sorted({*was, *is_now}):
        host, name = key
        pair = was.get(key, _NOTHING), is_now.get(key, _NOTHING)
        if pair[0] != pair[1]:
            hosts.setdefault((_kind(name, old, new), name, *pair), []).append(host)
    yield from (Change(*key, names) for key, names in hosts.items())
    silent = {name for _, name in {*was, *is_now}}
    for name in sorted((new.checks.keys() - old.checks.keys()) - silent):
        yield Change(NEW, name, _NOTHING, _NOTHING, [])
    for name in sorted((old.checks.keys() - new.checks.keys()) - silent):
        yield Change(REMOVED, name, _NOTHING, _NOTHING, [])


def _kind(name: str, old: Version, new: Version) -> str:
    if name == HOST:
        return VERDICT
    if (name in old.checks) == (name in new.checks):
        return CHANGED
    return NEW if name in new.checks else REMOVED


def _statuses(results: Results) -> _Statuses:
    """By host and check: the status, with a count where a check has several findings."""
    statuses: _Statuses = {}
    for state in results.states:
        if state.name in PSEUDO_HOSTS:
            continue
        verdict = cluster_verdict if is_cluster(state.name) else host_verdict
        statuses[state.name, HOST] = verdict(state.findings)
        counts: dict[str, Counter[str]] = {}
        for finding in state.findings:
            counts.setdefault(finding["check"], Counter())[finding["status"]] += 1
        for check, of_check in counts.items():
            statuses[state.name, check] = _text(of_check)
    return statuses


def _text(counts: Counter[str]) -> str:
    """``fail``, or ``1 fail, 11 pass`` with the worst first."""
    if counts.total() == 1:
        return next(iter(counts))
    return ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])


def _of_catalogue(old: Version, new: Version) -> Iterator[Change]:
    for before, name in CHECKS.items():
        if before in old.severities and name in new.severities:
            yield Change(RENAMED, name, before, name, [])
    for name in old.checks.keys() & new.checks.keys():
        if old.checks[name] != new.checks[name]:
            yield Change(SEVERITY, name, old.checks[name], new.checks[name], [])


def _of_defaults(before: dict[str, Any], now: dict[str, Any]) -> Iterator[Change]:
    for name in before.keys() | now.keys():
        was, is_now = (
            json.dumps(defaults[name]) if name in defaults else _NOTHING
            for defaults in (before, now)
        )
        if was != is_now:
            yield Change(DEFAULT, name, was, is_now, [])
