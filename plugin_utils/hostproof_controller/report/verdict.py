# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Totals of findings: the verdict of a host, the totals and the exit code of a run."""

from collections import Counter
from collections.abc import Iterable
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

from ansible.module_utils.hostproof.evaluate.advice import waits_for
from ansible.module_utils.hostproof.evaluate.finding import (
    ACTUAL_LAYERS,
    ERROR,
    FAIL,
    SEVERITIES,
    SKIP,
    STATUSES,
    WARN,
    worst,
)

from ..cluster.nodes import cluster_of
from .host_state import HostState

NOT_READY = "not ready"
UNREACHABLE = "unreachable"
UNDETERMINED = "undetermined"
NOT_DATABASE_HOST = "not a database host"
WARNINGS = "ready with warnings"
READY = "ready"

#: Worst first.
VERDICTS = (NOT_READY, UNREACHABLE, UNDETERMINED, NOT_DATABASE_HOST, WARNINGS, READY)

#: Controls that skip every check on a host without Oracle software, profile, configured instance
#: or configured application server. The other controls have checks that apply to any host.
DATABASE_CONTROLS = (
    "async_io",
    "block_devices",
    "cluster_nodes",
    "interconnect",
    "kernel_parameters",
    "listener_rate_limit",
    "memory_pressure",
    "name_resolution",
    "platform",
    "pool_validation",
    "pre_page_sga",
    "process_limits",
    "time_sync",
)

#: DATABASE_CONTROLS that skip every check only without Oracle software and without a profile. A
#: host with a database can skip all checks of the others, for example of pool_validation.
WITNESSES = ("kernel_parameters", "time_sync")

#: The check of a host on which a control that its profile requires skipped every check.
UNCHECKED_PROFILE = "host.profile"

#: What is printed about a host with the verdict NOT_DATABASE_HOST.
NO_DATABASE = (
    "No Oracle software, profile or configured instance was found on {0}. To audit a host before "
    "an installation: --profile oracle_19c_single"
)

#: How a status and a verdict are marked wherever colour may be missing.
STATUS_GLYPHS = {"fail": "✗", "error": "?", "warn": "!", "waived": "~", "skip": "–", "pass": "✓"}
VERDICT_GLYPHS = {
    NOT_READY: "✗",
    UNREACHABLE: "?",
    UNDETERMINED: "?",
    NOT_DATABASE_HOST: "–",
    WARNINGS: "!",
    READY: "✓",
}

#: The class of a status and of a verdict in HTML. One letter keeps large pages small.
STATUS_CLASSES = {"fail": "F", "error": "E", "warn": "W", "waived": "V", "skip": "S", "pass": "P"}
VERDICT_CLASSES = {
    NOT_READY: "F",
    UNREACHABLE: "E",
    UNDETERMINED: "E",
    NOT_DATABASE_HOST: "S",
    WARNINGS: "W",
    READY: "P",
}

EXIT_OK = 0
EXIT_FAILED = 2
EXIT_UNDETERMINED = 3
EXIT_UNREACHABLE = 4
EXIT_NOT_DATABASE_HOST = 5
EXIT_MEANINGS = {
    EXIT_OK: "no failure",
    EXIT_FAILED: "at least one check failed",
    EXIT_UNDETERMINED: "no failure, but at least one check could not be determined",
    EXIT_UNREACHABLE: "no failure, but at least one host was unreachable",
    EXIT_NOT_DATABASE_HOST: "no failure, but at least one host is not a database host",
}


_status_of, _check_of = itemgetter("status"), itemgetter("check")
_control_and_status = itemgetter("control", "status")


def host_verdict(findings: list[dict[str, Any]]) -> str:
    """The verdict of a host. A host on which no check applies is never "ready".

    Without one of the WITNESSES a run does not show whether the host has a database. A control
    that the profile requires must have checked something.
    """
    found = {*map(_control_and_status, findings)}
    # The only checks that decide by their name are those of the control "host".
    names_matter = any(control == "host" for control, _ in found)
    checks = {*map(_check_of, findings)} if names_matter else set()
    statuses = {status for _, status in found}
    verdict = _verdict_of(statuses, checks)
    if verdict not in (WARNINGS, READY):
        return verdict
    if UNCHECKED_PROFILE in checks:
        return NOT_DATABASE_HOST
    needing = {pair for pair in found if pair[0] in DATABASE_CONTROLS}
    if any(control in WITNESSES for control, _ in needing):
        are_skipped = all(status == SKIP for _, status in needing)
        return NOT_DATABASE_HOST if are_skipped else verdict
    return UNDETERMINED if statuses == {SKIP} else verdict


def cluster_verdict(findings: list[dict[str, Any]]) -> str:
    """The verdict of a cluster."""
    return _verdict_of({*map(_status_of, findings)}, {*map(_check_of, findings)})


def _verdict_of(statuses: set[str], checks: set[str]) -> str:
    """The verdict by the statuses and the checks that were found."""
    if FAIL in statuses:
        return NOT_READY
    if "host.reachable" in checks:
        return UNREACHABLE
    if ERROR in statuses or not statuses:
        return UNDETERMINED
    return WARNINGS if WARN in statuses else READY


class HostFacts(NamedTuple):
    """Summary of a host that remains in memory after its findings are released.

    ``recorded_at`` is the time of its oldest evidence, None if unknown. ``controls`` are the
    statuses of its controls (worst_by_control), ``alike`` is the number of findings of a control
    with that status. Hosts with equal results share all three dictionaries. ``cluster`` is the name
    of the cluster that the host is a node of. ``worst_fail`` and ``worst_warn`` are the highest
    severity of a failure and of a warning, None without one. ``worst_unmet`` is that of a failure
    that does not only wait for an event.
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
    worst_fail: str | None
    worst_unmet: str | None
    worst_warn: str | None


class Tally:
    """Totals of a report, collected host by host.

    ``statuses`` counts all findings, ``of_hosts`` those of real hosts.
    """

    def __init__(self) -> None:
        self.hosts: list[HostFacts] = []
        self.statuses = dict.fromkeys(STATUSES, 0)
        self.of_hosts = dict.fromkeys(STATUSES, 0)
        self.verdicts = dict.fromkeys(VERDICTS, 0)
        #: Failures that only wait for an event, by severity, and the hosts that wait for it.
        self.waiting: Counter[str] = Counter()
        self.waiting_hosts: dict[str, list[str]] = {}
        #: Failures and warnings by status and severity.
        self.severities: Counter[tuple[str, str]] = Counter()
        self._known: dict[Any, Any] = {}

    def add(self, state: HostState, *, is_host: bool) -> None:
        """Count the findings of a host, or of a pseudo host, which gets no verdict."""
        findings, loud = state.findings, state.loud
        counts = count_statuses(findings)
        self.severities.update(
            (entry["status"], entry["severity"])
            for entry in loud
            if entry["status"] in (FAIL, WARN)
        )
        for total in (self.statuses, self.of_hosts) if is_host else (self.statuses,):
            for status, count in counts.items():
                total[status] += count
        if not is_host:
            return
        found = Counter(map(_control_and_status, findings))
        controls = worst_by_control(found)
        alike = {control: found[control, status] for control, status in controls.items()}
        unmet = []
        for finding in loud:
            event = _event_of(finding)
            if event is None:
                unmet.append(finding)
            else:
                self.waiting[finding["severity"]] += 1
                hosts = self.waiting_hosts.setdefault(event, [])
                hosts += [state.name] if state.name not in hosts[-1:] else []
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
                _highest_severity(loud, FAIL),
                _highest_severity(unmet, FAIL),
                _highest_severity(loud, WARN),
            )
        )

    def _one_of(self, record: dict[str, Any]) -> dict[str, Any]:
        kept: dict[str, Any] = self._known.setdefault(tuple(record.items()), record)
        return kept

    def worst_first(self) -> list[int]:
        """The places of the hosts, those with the worst verdict first."""
        ranks = {verdict: rank for rank, verdict in enumerate(VERDICTS)}
        return sorted(range(len(self.hosts)), key=lambda place: ranks[self.hosts[place].verdict])


class Counted(Protocol):
    """Results whose findings were counted (store.Results)."""

    #: The least severity of a failure that decides the exit code.
    fail_on: str
    #: Whether values that only wait for an event do not decide it: after an apply.
    waits: bool

    @property
    def tally(self) -> Tally: ...


def verdicts(results: Counted) -> dict[str, str]:
    """Verdict by host, in the order of the hosts."""
    return {host.name: host.verdict for host in results.tally.hosts}


def exit_code(results: Counted, strict: bool = False) -> int:
    """The exit code of a run (EXIT_MEANINGS): 2 before 4 before 3 before 5 before 0.

    ``strict``: warnings are treated as failures.
    """
    tally = results.tally
    counting = SEVERITIES[: SEVERITIES.index(results.fail_on) + 1]
    failing = (FAIL, WARN) if strict else (FAIL,)
    waiting = tally.waiting if results.waits else Counter()
    if any(
        tally.severities[status, severity] > (waiting[severity] if status == FAIL else 0)
        for status in failing
        for severity in counting
    ):
        return EXIT_FAILED
    if any(host.outcome == "unreachable" for host in tally.hosts):
        return EXIT_UNREACHABLE
    if tally.statuses[ERROR] or tally.verdicts[UNDETERMINED]:
        return EXIT_UNDETERMINED
    return EXIT_NOT_DATABASE_HOST if tally.verdicts[NOT_DATABASE_HOST] else EXIT_OK


def failing_hosts(results: Counted, strict: bool = False) -> list[str]:
    """The hosts that give a run its exit code: failed, undetermined and unreachable hosts.

    Hosts that are no database hosts count only if no other host fails. If only the comparison of
    the nodes of a cluster failed, every host counts.
    """
    code = exit_code(results, strict)
    hosts = results.tally.hosts
    if code == EXIT_OK:
        return []
    if code == EXIT_NOT_DATABASE_HOST:
        return [host.name for host in hosts if host.verdict == NOT_DATABASE_HOST]
    counting = SEVERITIES[: SEVERITIES.index(results.fail_on) + 1]
    failing = [
        host.name
        for host in hosts
        if (host.worst_unmet if results.waits else host.worst_fail) in counting
        or (strict and host.worst_warn in counting)
        or host.counts[ERROR]
        or host.verdict in (UNREACHABLE, UNDETERMINED)
    ]
    return failing or [host.name for host in hosts]


def _event_of(finding: dict[str, Any]) -> str | None:
    """The event that a failure only waits for. A wrong persisted value waits for none."""
    is_wrong_later = finding.get("failing_layer") == "persisted"
    if finding["status"] != FAIL or finding["commands"] or is_wrong_later:
        return None
    return waits_for(finding["takes_effect"], finding["fix"])


def _highest_severity(findings: Iterable[dict[str, Any]], status: str) -> str | None:
    found = {finding["severity"] for finding in findings if finding["status"] == status}
    return next((severity for severity in SEVERITIES if severity in found), None)


def status_totals(results: Counted) -> dict[str, int]:
    """Number of findings by status, worst status first; zeros included."""
    return dict(results.tally.statuses)


def count_statuses(findings: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Number of the given findings by status, worst status first; zeros included."""
    counts = Counter(map(_status_of, findings))
    return {status: counts[status] for status in STATUSES}


def verdict_totals(results: Counted) -> dict[str, int]:
    """Number of hosts by verdict, worst verdict first; zeros included."""
    return dict(results.tally.verdicts)


def controls_of(results: Counted) -> list[str]:
    """The controls that checked any real host, ``host`` and ``waiver`` last."""
    names = {control for host in results.tally.hosts for control in host.controls}
    return sorted(names, key=lambda name: (name in ("host", "waiver"), name))


def worst_by_control(found: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The worst status of each control of one host, from pairs of control and status.

    ``skip`` is neither good nor bad: it is the status of a control only without other findings.
    """
    statuses: dict[str, list[str]] = {}
    for control, status in found:
        statuses.setdefault(control, []).append(status)
    return {
        control: worst([status for status in values if status != SKIP] or [SKIP])
        for control, values in statuses.items()
    }


def actual_layer(finding: dict[str, Any]) -> str | None:
    """The name of the failing layer; without one, the layer closest to the use of the setting."""
    existing = [name for name in reversed(ACTUAL_LAYERS) if finding[name] is not None]
    failing: str | None = finding.get("failing_layer")
    return failing if failing in existing else next(iter(existing), None)


#: Their persisted values are those of an instance, a listener or a server, not of the host.
_STARTED = ("async_io", "listener_rate_limit", "pool_validation", "pre_page_sga")


#: Their persisted values apply without a reboot: each use reads them.
_READ_AT_ONCE = ("accounts", "cluster_nodes", "name_resolution", "packages", "platform")


def when_of_layer(finding: dict[str, Any], layer: str) -> str:
    """When the value of a layer applies: "after reboot", "running", "in use"."""
    if layer != "persisted":
        return layer.replace("_", " ")
    effect = finding["takes_effect"] or ""
    if finding["control"] in _READ_AT_ONCE:
        return "persisted"
    if effect == "login":
        return "at the next login"
    is_started = finding["control"] in _STARTED and effect.endswith("_restart")
    return "at the next start" if is_started else "after reboot"
