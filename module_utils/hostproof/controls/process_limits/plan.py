# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans one file of limits.d with the limits that logins of the accounts lack.

A limit that another file already grants is left to that file. A line that another file would
override is rejected. Units, logind and tmpfiles are checked but not written: their owners must
restart the services."""

from typing import List

from ...apply.change import FileChange, Plan, idle
from ...collect.answer import known, unless_absent
from ...evaluate.checking import Skip
from .facts import Facts
from .limit_steps import Step, content, refusals, steps
from .policy import Policy
from .subjects import skip_without_oracle


def plan(facts: Facts, policy: Policy) -> Plan:
    """The file that makes logins as the policy requires; raises what it would have to guess."""
    try:
        skip_without_oracle(facts, policy)
    except Skip as reason:
        return idle(reason.why)
    additions = steps(facts, policy)
    before = unless_absent(facts.file, None)
    refused = refusals(additions, facts, policy)
    text = content(additions, refused, facts, policy)
    pending = [
        f"The host has no account {name}: its limits wait for the account."
        for name in facts.announced
        if name not in known(facts.accounts)
    ]
    if text == before or text is None:
        return Plan([], refused, pending, [])
    change = FileChange(policy.limits_file, text, before)
    parts = {refusal.part for refusal in refused}
    made = [step for step in additions if step.part not in parts]
    return Plan([change], refused, pending + _waiting(made), [])


def _waiting(additions: List[Step]) -> List[str]:
    notes = [
        f"The file wins over {entry.path}:{entry.line} ({entry.domain} {entry.type} {entry.item} "
        f"{entry.value}), which stays as it is."
        for entry in sorted({entry for step in additions for entry in step.over})
    ]
    return notes + [
        "The limits are of logins to come: instances, listeners and Clusterware keep theirs until "
        "they are restarted from one, and what a unit starts never sees the file."
    ]
