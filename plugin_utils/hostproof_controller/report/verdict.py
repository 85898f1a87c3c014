# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What findings amount to: the verdict of a host, the totals and the exit code of a run."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, SKIP, STATUSES, WARN, worst

from ..cluster.nodes import cluster_of
from .host_state import HostState

NOT_READY = "not ready"
UNDETERMINED = "could not determine"
WARNINGS = "ready with warnings"
READY = "ready"

#: Worst first.
VERDICTS = (NOT_READY, UNDETERMINED, WARNINGS, READY)

#: How a status and a verdict are marked wherever colour may be missing.
STATUS_GLYPHS = {"fail": "✗", "error": "?", "warn": "!", "waived": "~", "skip": "–", "pass": "✓"}
VERDICT_GLYPHS = {NOT_READY: "✗", UNDETERMINED: "?", WARNINGS: "!", READY: "✓"}

#: The class of a status and of a verdict in HTML. One letter keeps large pages small.
STATUS_CLASSES = {"fail": "F", "error": "E", "warn": "W", "waived": "V", "skip": "S", "pass": "P"}
VERDICT_CLASSES = {NOT_READY: "F", UNDETERMINED: "E", WARNINGS: "W", READY: "P"}

EXIT_OK = 0
EXIT_FAILED = 2
EXIT_UNDETERMINED = 3
EXIT_UNREACHABLE = 4
EXIT_MEANINGS = {
    EXIT_OK: "nothing failed",
    EXIT_FAILED: "at least one finding failed",
    EXIT_UNDETERMINED: "nothing failed, but something could not be determined",
    EXIT_UNREACHABLE: "nothing failed, but at least one host could not be reached",
}


def host_verdict(findings: list[dict[str, Any]]) -> str:
    """The verdict that the findings of one host amount to. No finding is never "ready"."""
    statuses = {finding["status"] for finding in findings}
    if FAIL in statuses:
        return NOT_READY
    if ERROR in statuses or not statuses:
        return UNDETERMINED
    return WARNINGS if WARN in statuses else READY


class HostFacts(NamedTuple):
    """What is known of a host when its findings have been put away.

    ``recorded_at`` is when the oldest of its evidence was read, None where that is not known.
    ``controls`` are the statuses of its controls (worst_by_control), ``alike`` how many findings of
    a control have that status. Hosts that are alike share all three dictionaries. ``cluster`` is
    the name of the one that the host is a node of.
    """

    name: str
    outcome: str
    at: str
    recorded_at: str | None
    verdict: str
    counts: dict[str, int]
    controls: dict[str, str]
    alike: dict[str, int]
    cluster: str | None


class Tally:
    """What all findings of a report amount to, gathered host by host.

    ``statuses`` counts all findings, ``of_hosts`` those of real hosts.
    """

    def __init__(self) -> None:
        self.hosts: list[HostFacts] = []
        self.statuses = dict.fromkeys(STATUSES, 0)
        self.of_hosts = dict.fromkeys(STATUSES, 0)
        self.verdicts = dict.fromkeys(VERDICTS, 0)
        self._known: dict[Any, Any] = {}

    def add(self, state: HostState, *, is_host: bool) -> None:
        """Count the findings of a host, or of a pseudo host, which gets no verdict."""
        findings = state.findings
        counts = count_statuses(findings)
        for total in (self.statuses, self.of_hosts) if is_host else (self.statuses,):
            for status, count in counts.items():
                total[status] += count
        if not is_host:
            return
        controls = worst_by_control(findings)
        alike = dict.fromkeys(controls, 0)
        for finding in findings:
            alike[finding["control"]] += finding["status"] == controls[finding["control"]]
        verdict = host_verdict(findings)
        self.verdicts[verdict] += 1
        facts = (self._one_of(counts), self._one_of(controls), self._one_of(alike))
        recorded = min(
            (part.line["recorded_at"] for part in state.parts if part.line["recorded_at"]),
            default=None,
        )
        self.hosts.append(
            HostFacts(
                state.name,
                state.outcome,
                state.at,
                recorded,
                verdict,
                *facts,
                cluster_of(findings),
            )
        )

    def _one_of(self, found: dict[str, Any]) -> dict[str, Any]:
        kept: dict[str, Any] = self._known.setdefault(tuple(found.items()), found)
        return kept

    def worst_first(self) -> list[int]:
        """The places of the hosts, those with the worst verdict first."""
        ranks = {verdict: rank for rank, verdict in enumerate(VERDICTS)}
        return sorted(range(len(self.hosts)), key=lambda place: ranks[self.hosts[place].verdict])


class Counted(Protocol):
    """Results whose findings were counted (store.Results)."""

    @property
    def tally(self) -> Tally: ...


def verdicts(results: Counted) -> dict[str, str]:
    """Verdict by host, in the order of the hosts."""
    return {host.name: host.verdict for host in results.tally.hosts}


def exit_code(results: Counted, strict: bool = False) -> int:
    """The exit code of a run: 2 failed, 4 unreachable, 3 could not determine, 0 none of these.

    ``strict``: a warning counts like a failure.
    """
    tally = results.tally
    if tally.statuses[FAIL] or (strict and tally.statuses[WARN]):
        return EXIT_FAILED
    if any(host.outcome == "unreachable" for host in tally.hosts):
        return EXIT_UNREACHABLE
    if tally.statuses[ERROR] or tally.verdicts[UNDETERMINED]:
        return EXIT_UNDETERMINED
    return EXIT_OK


def status_totals(results: Counted) -> dict[str, int]:
    """How many findings have each status, worst status first; zeros included."""
    return dict(results.tally.statuses)


def count_statuses(findings: Iterable[dict[str, Any]]) -> dict[str, int]:
    """How many of the findings have each status, worst status first; zeros included."""
    counts = dict.fromkeys(STATUSES, 0)
    for finding in findings:
        counts[finding["status"]] += 1
    return counts


def verdict_totals(results: Counted) -> dict[str, int]:
    """How many hosts have each verdict, worst verdict first; zeros included."""
    return dict(results.tally.verdicts)


def controls_of(results: Counted) -> list[str]:
    """The controls that judged any real host, ``host`` and ``waiver`` last."""
    names = {control for host in results.tally.hosts for control in host.controls}
    return sorted(names, key=lambda name: (name in ("host", "waiver"), name))


def worst_by_control(findings: list[dict[str, Any]]) -> dict[str, str]:
    """The worst status of each control of one host.

    What does not apply is neither good nor bad: ``skip`` shows where a control says nothing else.
    """
    statuses: dict[str, list[str]] = {}
    for finding in findings:
        statuses.setdefault(finding["control"], []).append(finding["status"])
    return {
        control: worst([status for status in found if status != SKIP] or [SKIP])
        for control, found in statuses.items()
    }


def actual_layer(finding: dict[str, Any]) -> tuple[str | None, str | None]:
    """Name and text of the layer that differs from what is desired, the most real one first.

    Where none differs it is the most real layer that exists; (None, None) where none exists.
    """
    layers = [(name, finding[name]) for name in ("in_use", "running", "persisted")]
    existing = [(name, text) for name, text in layers if text is not None]
    for name, text in existing:
        if text != finding["desired"]:
            return name, text
    return existing[0] if existing else (None, None)
