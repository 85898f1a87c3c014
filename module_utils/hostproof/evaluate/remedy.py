# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fix that apply makes: it is derived from the plan of the control, and from nothing else.

A rule that apply can correct names the command of ``apply_line``. The finding keeps that command
where apply would change the host. Otherwise the fix says why apply would not."""

from typing import Any, Callable, List, Optional

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
    if not any(command in one.commands for one in findings):
        return findings
    planned = attempt(plan)
    fix = refusal_of(planned)
    if fix is None:
        found = known(planned)
        if found.changes:
            return findings
        waiting = "; ".join(one.rstrip(".") for one in found.pending)
        nothing = "apply changes nothing here" + (f": {waiting}" if waiting else "")
    return [
        # The other commands would make what apply rejects, or follow what it does not do.
        one._replace(fix=fix or "; ".join(filter(None, (one.fix, nothing))), commands=())
        if command in one.commands
        else one
        for one in findings
    ]
