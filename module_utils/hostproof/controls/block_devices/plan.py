# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans one file of udev's rules with what the policy asks of devices, and what is in force now.

What another rule, or TuneD, sets as wanted stays with that. What would lose is refused. Without
entries of the policy nothing is changed.
"""

from typing import List, Tuple

from ...answer import known, unless_absent
from ...change import Change, FileChange, Plan, Refusal, ValueChange, header
from .facts import Facts
from .policy import NAME, Policy
from .steps import Step, refused, step_of_node, step_of_target
from .wanted import targets

_HEADER = header(NAME)


def plan(facts: Facts, policy: Policy) -> Plan:
    """The changes that make the disks as the policy says; raises what it would have to guess."""
    if not facts.linux:
        return Plan([], [], ["Not a Linux host: nothing is changed."], [])
    if policy.devices is None:
        return Plan([], [], ["block_devices_devices is auto: nothing is changed."], [])
    known(facts.found)
    steps = [step_of_target(one, facts, policy) for one in targets(facts) if one.entry is not None]
    steps += [step_of_node(one, facts, policy) for one in facts.used]
    files, refusals = _rules_file(steps, facts, policy)
    refusals += [refusal for step in steps for refusal in step.refusals]
    values = [one for step in steps for one in step.values]
    later = [one for step in steps for one in step.later]
    nodes = [step.node for step in steps if step.node is not None]
    changes: List[Change] = [*files, *values, *nodes]
    return Plan(changes, refusals, _pending(later), later if changes else [])


def _rules_file(
    steps: List[Step], facts: Facts, policy: Policy
) -> Tuple[List[FileChange], List[Refusal]]:
    path, before = policy.rules_file, unless_absent(facts.file, None)
    # Paths of one map are known by one identity.
    lines = sorted({step.rule for step in steps if step.rule is not None})
    if before is not None and not before.startswith(_HEADER):
        if not lines:
            return [], []
        return [], [refused(f"{path} is not ours, and would be lost: choose another file")]
    content = _HEADER + "".join(lines)
    if content == before or (before is None and not lines):
        return [], []
    return [FileChange(path, content, before)], []


def _pending(later: List[ValueChange]) -> List[str]:
    waiting = [f"{one.path} = {one.value}" for one in later if one.value != one.before]
    return ["The next boot sets: " + ", ".join(waiting)] if waiting else []
