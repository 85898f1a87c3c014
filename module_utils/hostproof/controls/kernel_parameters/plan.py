# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans one drop-in with every parameter that needs it, and the values of the running kernel.

A parameter that another file already sets as required is left to that file. A parameter whose line
would be overridden by another file is rejected. A value above a minimum is never lowered."""

from typing import List, Tuple

from ...apply.change import FileChange, Plan, Refusal, ValueChange, header, idle
from ...apply.sysctl_file import File, kept_lines, others_in
from ...collect.answer import unless_absent
from ...evaluate.checking import Skip
from ...probes.systemd import boot as boot_probe
from .facts import Facts
from .parameter_steps import Change, is_managed, is_now, step_of
from .policy import NAME, Policy
from .required_parameters import parameters, skip_without_oracle

_HEADER = header(NAME)
_SOCKETS = "net/core/"


def plan(facts: Facts, policy: Policy) -> Plan:
    """The changes that make the kernel as the policy requires; raises what it would have to
    guess."""
    try:
        skip_without_oracle(facts, policy)
    except Skip as reason:
        return idle(reason.why)
    others = boot_probe.with_sysctl_file(facts.boot, policy.sysctl_file, "")
    steps = [
        step_of(parameter, facts, policy, others)
        for parameter in parameters(facts, policy)
        if is_managed(parameter, facts, policy)
    ]
    files, refusals = _drop_in(steps, facts, policy)
    refusals += [refusal for step in steps for refusal in step.refusals]
    # A parameter that cannot be set does not keep the others from being set.
    steps = [step for step in steps if not step.refusals]
    now = [step.value for step in steps if step.value and is_now(step, policy)]
    later = [step.value for step in steps if step.value and not is_now(step, policy)]
    # What the reboot will set already waits for it whether or not this run changed anything.
    return Plan([*files, *now], refusals, _pending(now, later), later if files else [])


def _drop_in(
    steps: List[Change], facts: Facts, policy: Policy
) -> Tuple[List[FileChange], List[Refusal]]:
    """The file with the lines of all steps, and with those that must be left as they are."""
    path = policy.sysctl_file
    before = unless_absent(facts.file, None)
    is_ours = before is None or before.startswith(_HEADER)
    lines = [step.line for step in steps if step.line is not None and not step.refusals]
    managed = [step.parameter.key for step in steps]
    refusals = others_in(path, before, _HEADER, managed)
    if is_ours:
        refused = {step.parameter.key for step in steps if step.refusals}
        kept = sorted(refused | set(policy.unmanaged))
        lines += kept_lines(File(path, _HEADER, before, "", kept))
    content = _HEADER + "".join(sorted(lines))
    if content == before or (before is None and not lines) or not (is_ours or lines):
        return [], []
    return [FileChange(path, content, before)], refusals


def _pending(now: List[ValueChange], later: List[ValueChange]) -> List[str]:
    words = []
    if later:
        values = ", ".join(f"{change.path} = {change.value}".replace("\t", " ") for change in later)
        words.append("A reboot sets: " + values)
    if any(_SOCKETS in change.path for change in now):
        words.append("Instances keep the socket buffers that they have until they are restarted.")
    return words
