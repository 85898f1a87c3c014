# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans a udev rules file with the owners and values of the policy, and the running values.

Values that another rule or TuneD already sets as required are not planned. Values that another
source would override are rejected. Without entries in the policy nothing is changed."""

from typing import List, Tuple

from ...apply.change import (
    Change,
    CommandChange,
    FileChange,
    Plan,
    Refusal,
    ValueChange,
    header,
    idle,
)
from ...collect.answer import known, unless_absent
from ...collect.command import Command
from .device_steps import Step, refused, step_of_node, step_of_target
from .facts import Facts
from .policy import NAME, Policy
from .required_values import targets

_HEADER = header(NAME)


def plan(facts: Facts, policy: Policy) -> Plan:
    """The changes that make the disks match the policy. Raises if required facts are unknown."""
    if not facts.linux:
        return idle("Not a Linux host: nothing is changed.")
    if policy.devices is None:
        return idle("block_devices_devices is auto: nothing is changed.")
    known(facts.found)
    steps = [
        step_of_target(target, facts, policy)
        for target in targets(facts)
        if target.entry is not None
    ]
    nodes: List[Change] = []
    for used in facts.used:
        step = step_of_node(used, facts, policy)
        steps.append(step)
        if step.node is not None:
            nodes.append(_by_udev(used.stable, *step.node))
    files, refusals = _rules_file(steps, facts, policy)
    refusals += [refusal for step in steps for refusal in step.refusals]
    values = [change for step in steps for change in step.values]
    later = [change for step in steps for change in step.later]
    changes: List[Change] = [*files, *values, *nodes]
    return Plan(changes, refusals, _pending(later), later if changes else [])


def _rules_file(
    steps: List[Step], facts: Facts, policy: Policy
) -> Tuple[List[FileChange], List[Refusal]]:
    path, before = policy.rules_file, unless_absent(facts.file, None)
    # Paths of one map have the same identity.
    lines = sorted({step.rule for step in steps if step.rule is not None})
    if before is not None and not before.startswith(_HEADER):
        if not lines:
            return [], []
        return [], [
            refused(f"{path} was not written by Hostproof and would be lost: choose another file")
        ]
    content = _HEADER + "".join(lines)
    if content == before or (before is None and not lines):
        return [], []
    return [FileChange(path, content, before)], []


def _by_udev(path: str, before: str, after: str) -> CommandChange:
    """Let udev apply the new rule. This also proves that the rule works after a reboot."""
    reload = Command("udev reads its rules again", ("udevadm", "control", "--reload"))
    trigger = ("udevadm", "trigger", "--action=change", f"--name-match={path}")
    owner, mode = before.split()
    return CommandChange(
        f"owner of {path}",
        before,
        after,
        Command(
            f"owner and mode of {path}",
            ("stat", "-L", "-c", "%u:%g %a", path),
            expected=r"^(\d+:\d+ [0-7]+)$",
        ),
        (
            reload,
            Command(f"udev checks {path} again", trigger),
            Command("udev is done", ("udevadm", "settle", "--timeout=60")),
        ),
        (
            reload,
            Command(f"restore the owner of {path}", ("chown", owner, path)),
            Command(f"restore the mode of {path}", ("chmod", mode, path)),
        ),
    )


def _pending(later: List[ValueChange]) -> List[str]:
    waiting = [
        f"{change.path} = {change.value}" for change in later if change.value != change.before
    ]
    return ["A reboot sets: " + ", ".join(waiting)] if waiting else []
