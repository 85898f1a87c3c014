# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fix that apply makes: it is derived from the plan of the control, and from nothing else.

A rule that apply can correct names the command of ``apply_line``. The finding keeps that command
where apply would change the host. Otherwise the fix says why apply would not."""

from typing import Any, Callable, Iterable, List, Optional

from ..collect.answer import Answer, attempt, known
from ..collect.shell import line
from ..errors import HostproofError
from .finding import Finding


def apply_line(control: str) -> str:
    """The command that applies one control."""
    return line("./hostproof", "apply", "--tags", control)


def refusal_of(planned: Answer[Any]) -> Optional[str]:
    """Why apply would reject this plan; None if it would not."""
    if isinstance(planned, HostproofError):
        return f"apply cannot plan this host: {str(planned).rstrip('.')}"
    if planned.refusals:
        reasons = "; ".join(refusal.reason.rstrip(".") for refusal in planned.refusals)
        return f"apply is blocked. First: {reasons}"
    return None


def by_plan(findings: List[Finding], control: str, plan: Callable[[], Any]) -> List[Finding]:
    """The findings of a control. ``plan`` is called only if one of them names apply."""
    command = apply_line(control)
    if not any(command in finding.commands for finding in findings):
        return findings
    planned = attempt(plan)
    reason = refusal_of(planned)
    if reason is None:
        changes = known(planned)
        if changes.changes:
            return findings
        reason = nothing_to_apply(changes.pending)
    return [
        # The other commands would make a change that apply rejects, or depend on it.
        finding._replace(fix=_with_reason(finding.fix, reason), commands=())
        if command in finding.commands
        else finding
        for finding in findings
    ]


def nothing_to_apply(pending: Iterable[str]) -> str:
    """The sentence for a plan without changes, with its pending restarts."""
    waiting = "; ".join(sentence.rstrip(".") for sentence in pending)
    return "apply changes nothing here" + (f": {waiting}" if waiting else "")


def _with_reason(fix: Optional[str], reason: str) -> str:
    """Keep a manual fix, but drop one that only names apply, which does nothing here."""
    manual = fix if fix and not fix.startswith("apply ") else None
    return "; ".join(filter(None, (manual, reason)))
