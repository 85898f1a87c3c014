# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The runs of a reports directory, one after the other, and what was known after each.

A run may check some hosts, or one control of them: what it does not touch stays as it was known.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, PASS, SKIP, WAIVED, WARN

from ..report.prometheus import seconds
from ..report.store import FINDINGS_FILE, Results, merge, natural, read_entries
from ..report.text import heading_of
from ..report.verdict import VERDICTS, host_verdict

SOON_DAYS = 30

#: Statuses that end a failure: after a fix, and for other reasons.
_FIXED = (PASS, WARN)
_OTHERWISE = (SKIP, WAIVED)

#: Host, check and title, which names the instance, mount or card.
_Key = tuple[str, str, str]


class Point(NamedTuple):
    """State after a run: hosts by verdict, and the number of failed findings."""

    run: str
    at: str
    audited: int
    verdicts: dict[str, int]
    failed: int


class OpenFailure(NamedTuple):
    """A failure that is still there; ``runs`` have seen it since, ``title`` is its problem."""

    host: str
    check: str
    title: str
    severity: str
    since: str
    runs: int


class ExpiringWaiver(NamedTuple):
    """A waiver that covers something and ends soon, or has ended."""

    host: str
    check: str
    owner: str
    expires: str
    days: int


class Trend(NamedTuple):
    points: list[Point]
    open_failures: list[OpenFailure]
    fixed: list[float]
    expiring_waivers: list[ExpiringWaiver]
    notes: list[str]

    @property
    def mean_seconds(self) -> float | None:
        """From the run that saw a failure first to the one that saw it fixed."""
        return sum(self.fixed) / len(self.fixed) if self.fixed else None


def folders(parent: Path, most: int) -> list[Path]:
    """The newest runs below a directory, oldest first. Their names begin with when they began."""
    directories = [path.parent for path in parent.glob(f"*/{FINDINGS_FILE}") if path.is_file()]
    return sorted(directories, key=lambda path: path.name)[-most:]


def trend(runs: Iterable[Path], today: datetime.date) -> Trend:
    """What the runs say; one that cannot be read is left out, and the notes state so."""
    notes: list[str] = []
    read: list[tuple[str, str, Results]] = []
    for folder in runs:
        try:
            results = merge(read_entries([str(folder)], notes), [])
        except HostproofError as problem:
            notes.append(f"{problem}: this run is left out")
            continue
        began = min((run.started for run in results.runs), default=None)
        if began is not None and results.hosts:
            read.append((began, folder.name, results))
    known = _Known()
    points = [known.after(*run) for run in sorted(read, key=lambda entry: entry[:2])]
    return Trend(points, known.open_failures(), known.fixed, known.expiring_waivers(today), notes)


def _by_key(host: str, findings: Iterable[dict[str, Any]]) -> dict[_Key, dict[str, Any]]:
    """One finding for each key: a failure if there is one."""
    seen: dict[_Key, dict[str, Any]] = {}
    for finding in findings:
        key = (host, finding["check"], finding["title"])
        if key not in seen or finding["status"] == FAIL:
            seen[key] = finding
    return seen


class _Known:
    """Latest findings of each host, and the start of each open failure."""

    def __init__(self) -> None:
        self.hosts: dict[str, dict[str, list[dict[str, Any]]]] = {}
        self.failing: dict[_Key, OpenFailure] = {}
        self.fixed: list[float] = []

    def after(self, began: str, name: str, results: Results) -> Point:
        """Take a run in."""
        for state in results.hosts:
            by_control: dict[str, list[dict[str, Any]]] = {}
            for finding in state.findings:
                by_control.setdefault(finding["control"], []).append(finding)
            if state.outcome == "judged":
                old = self.hosts.setdefault(state.name, {})
                old.pop("host", None)
                old.update(by_control)
                self._take(state.name, state.at, by_control)
            else:
                # Earlier findings of the host may be outdated; failures count as not fixed.
                self.hosts[state.name] = by_control
        states = {host: _flat(controls) for host, controls in self.hosts.items()}
        counts = Counter(host_verdict(findings) for findings in states.values())
        failed = sum(item["status"] == FAIL for every in states.values() for item in every)
        verdicts = {verdict: counts[verdict] for verdict in VERDICTS}
        return Point(name, began, len(results.hosts), verdicts, failed)

    def _take(self, host: str, at: str, by_control: dict[str, list[dict[str, Any]]]) -> None:
        seen = _by_key(host, _flat(by_control))
        for key, finding in seen.items():
            was = self.failing.get(key)
            if finding["status"] == FAIL:
                opened = was or OpenFailure(
                    host, finding["check"], heading_of(finding), finding["severity"], at, 0
                )
                self.failing[key] = opened._replace(runs=opened.runs + 1)
            elif was:
                self._take_other(key, finding["status"], was.since, at)
        # The instance or mount no longer exists: this is not a fix.
        self.failing = {
            key: failure
            for key, failure in self.failing.items()
            if key[0] != host or key in seen or key[1].partition(".")[0] not in by_control
        }

    def _take_other(self, key: _Key, status: str, since: str, at: str) -> None:
        """Take another status than fail of a check that failed before."""
        if status in (*_FIXED, *_OTHERWISE):
            del self.failing[key]
        elif status != ERROR:
            # An error says nothing of whether it is fixed.
            raise AssertionError(status)
        if status in _FIXED:
            self.fixed.append(max(0.0, seconds(at) - seconds(since)))

    def open_failures(self) -> list[OpenFailure]:
        """Longest first."""
        return sorted(
            self.failing.values(),
            key=lambda failure: (failure.since, natural(failure.host), failure[1:]),
        )

    def expiring_waivers(self, today: datetime.date) -> list[ExpiringWaiver]:
        expiring = []
        for host, controls in self.hosts.items():
            for finding in _flat(controls):
                waiver = finding["waiver"]
                if finding["status"] != WAIVED or not waiver:
                    continue
                try:
                    ends = datetime.date.fromisoformat(waiver["expires"])
                except ValueError:
                    continue
                days = (ends - today).days
                if days <= SOON_DAYS:
                    expiring.append(
                        ExpiringWaiver(host, finding["check"], waiver["owner"], str(ends), days)
                    )
        return sorted(
            set(expiring), key=lambda entry: (entry.expires, natural(entry.host), entry.check)
        )


def _flat(controls: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [finding for findings in controls.values() for finding in findings]


def lasted(duration: float) -> str:
    """A duration as a person says it."""
    minutes = int(duration // 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    return f"{hours // 24} d {hours % 24} h"
