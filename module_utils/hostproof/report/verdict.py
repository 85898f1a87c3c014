# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What findings amount to: the verdict of a host, the totals and the exit code of a run."""

from typing import Any, Dict, Iterable, List, Optional, Tuple

from ..finding import ERROR, FAIL, SKIP, STATUSES, WARN, worst
from .store import Results

NOT_READY = "not ready"
UNDETERMINED = "could not determine"
WARNINGS = "ready with warnings"
READY = "ready"

#: Worst first.
VERDICTS = (NOT_READY, UNDETERMINED, WARNINGS, READY)

#: How a status and a verdict are marked wherever colour may be missing.
STATUS_GLYPHS = {"fail": "✗", "error": "?", "warn": "!", "waived": "~", "skip": "–", "pass": "✓"}
VERDICT_GLYPHS = {NOT_READY: "✗", UNDETERMINED: "?", WARNINGS: "!", READY: "✓"}

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


def host_verdict(findings):
    # type: (List[Dict[str, Any]]) -> str
    """The verdict that the findings of one host amount to. No finding is never "ready"."""
    statuses = {finding["status"] for finding in findings}
    if FAIL in statuses:
        return NOT_READY
    if ERROR in statuses or not statuses:
        return UNDETERMINED
    return WARNINGS if WARN in statuses else READY


def verdicts(results):
    # type: (Results) -> Dict[str, str]
    """Verdict by host, in the order of the hosts."""
    return {state.name: host_verdict(state.findings) for state in results.hosts}


def exit_code(results, strict=False):
    # type: (Results, bool) -> int
    """The exit code of a run: 2 failed, 4 unreachable, 3 could not determine, 0 none of these.

    ``strict``: a warning counts like a failure.
    """
    totals = status_totals(results)
    if totals[FAIL] or (strict and totals[WARN]):
        return EXIT_FAILED
    if any(state.outcome == "unreachable" for state in results.hosts):
        return EXIT_UNREACHABLE
    if totals[ERROR] or UNDETERMINED in verdicts(results).values():
        return EXIT_UNDETERMINED
    return EXIT_OK


def status_totals(results):
    # type: (Results) -> Dict[str, int]
    """How many findings have each status, worst status first; zeros included."""
    return count_statuses(finding for state in results.states for finding in state.findings)


def count_statuses(findings):
    # type: (Iterable[Dict[str, Any]]) -> Dict[str, int]
    """How many of the findings have each status, worst status first; zeros included."""
    counts = dict.fromkeys(STATUSES, 0)
    for finding in findings:
        counts[finding["status"]] += 1
    return counts


def verdict_totals(results):
    # type: (Results) -> Dict[str, int]
    """How many hosts have each verdict, worst verdict first; zeros included."""
    counts = dict.fromkeys(VERDICTS, 0)
    for verdict in verdicts(results).values():
        counts[verdict] += 1
    return counts


def controls_of(results):
    # type: (Results) -> List[str]
    """The controls that judged any real host, ``host`` and ``waiver`` last."""
    names = {finding["control"] for state in results.hosts for finding in state.findings}
    return sorted(names, key=lambda name: (name in ("host", "waiver"), name))


def worst_by_control(findings):
    # type: (List[Dict[str, Any]]) -> Dict[str, str]
    """The worst status of each control of one host.

    What does not apply is neither good nor bad: ``skip`` shows where a control says nothing else.
    """
    statuses = {}  # type: Dict[str, List[str]]
    for finding in findings:
        statuses.setdefault(finding["control"], []).append(finding["status"])
    return {
        control: worst([status for status in found if status != SKIP] or [SKIP])
        for control, found in statuses.items()
    }


def actual_layer(finding):
    # type: (Dict[str, Any]) -> Tuple[Optional[str], Optional[str]]
    """Name and text of the layer that differs from what is desired, the most real one first.

    Where none differs it is the most real layer that exists; (None, None) where none exists.
    """
    layers = [(name, finding[name]) for name in ("in_use", "running", "persisted")]
    existing = [(name, text) for name, text in layers if text is not None]
    for name, text in existing:
        if text != finding["desired"]:
            return name, text
    return existing[0] if existing else (None, None)
