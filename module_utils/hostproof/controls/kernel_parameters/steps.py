# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps that each parameter needs, and the reasons against them, for the plan and the fix."""

from typing import List, NamedTuple, Optional, Tuple

from ...apply.change import Refusal, ValueChange
from ...collect.answer import attempt, known
from ...errors import Absent, HostproofError
from ...evaluate.advice import apply_line
from ...evaluate.comparing import Numbers, numbers, text_of, to_write
from ...probes.systemd import boot as boot_probe
from .facts import Facts
from .policy import NAME, Policy
from .room import room_of
from .wanted import Parameter, at_boot_of, counts_instead, releases_of, running_of, value_at_boot


class Step(NamedTuple):
    """The step for one parameter: a line of the drop-in, a value of the kernel, or neither.

    ``refusals`` are the reasons to reject it.
    """

    parameter: Parameter
    line: Optional[str]
    value: Optional[ValueChange]
    refusals: List[Refusal]


def is_managed(parameter: Parameter, facts: Facts, policy: Policy) -> bool:
    """Whether the parameter can be set: the kernel has it, and the policy does not exclude it."""
    return (
        parameter.key not in policy.unmanaged
        and not isinstance(facts.running[parameter.key], Absent)
        and counts_instead(parameter, facts) is None
    )


def step_of(parameter: Parameter, facts: Facts, policy: Policy, others: boot_probe.Boot) -> Step:
    """``others`` is what boots without our drop-in."""
    now = numbers(known(facts.running[parameter.key]))
    coming = at_boot_of(parameter, others)
    coming.settled()
    at_boot = None if coming.winner is None else numbers(coming.winner.value)
    demand = known(parameter.demand)
    good = to_write(parameter.compare, demand.value, demand.good, [now, at_boot], parameter.room)
    # A file of several numbers is always written whole.
    good += (now or ())[len(good) :]
    text = f"{parameter.name} = {text_of(good)}\n"
    refusals: List[Refusal] = []
    is_kept = parameter.meets(value_at_boot(parameter, others))
    if not is_kept:
        refusals += _guard_boot(parameter, text, policy, others)
    value = None
    if not parameter.meets(running_of(parameter, facts)):
        before = known(facts.running[parameter.key])
        value = ValueChange(parameter.file, "\t".join(str(number) for number in good), before)
    if value is not None or not is_kept:
        refusals += _guard_owner(parameter, facts) + _guard_use(parameter, good, facts)
    return Step(parameter, None if is_kept else text, value, refusals)


def _guard_boot(
    parameter: Parameter, text: str, policy: Policy, others: boot_probe.Boot
) -> List[Refusal]:
    later = boot_probe.with_sysctl_file(others, policy.sysctl_file, text)
    if parameter.meets(value_at_boot(parameter, later)):
        return []
    why = boot_probe.why_it_loses(
        at_boot_of(parameter, later),
        policy.sysctl_file,
        parameter.name,
        "kernel_parameters_sysctl_file",
    )
    reason = (
        f"{why}; or leave it to that place with {parameter.name} in kernel_parameters_unmanaged"
    )
    return [Refusal(reason, None)]


def _guard_owner(parameter: Parameter, facts: Facts) -> List[Refusal]:
    directory = facts.saptune.get(parameter.key)
    if directory is None:
        return []
    reason = (
        f"saptune manages {parameter.name} ({directory}) and would set it again: change its note, "
        f"or leave it to saptune with {parameter.name} in kernel_parameters_unmanaged"
    )
    return [Refusal(reason, None)]


def _guard_use(parameter: Parameter, good: Numbers, facts: Facts) -> List[Refusal]:
    """The kernel takes a limit below what is used, and then the next instance does not start."""
    short = [room for room in room_of(parameter, good, facts) if room.used > room.limit]
    return [
        Refusal(f"{parameter.name} = {text_of(good)} is too low: {room.text()}", None)
        for room in short
    ]


def is_now(step: Step, policy: Policy) -> bool:
    return policy.activation == "now" and step.parameter.live


def _step_alone(parameter: Parameter, facts: Facts, policy: Policy) -> Step:
    # A plan needs the releases, whatever a check can say without them.
    releases_of(facts, policy)
    others = boot_probe.with_sysctl_file(facts.boot, policy.sysctl_file, "")
    return step_of(parameter, facts, policy, others)


def remedy(parameter: Parameter, facts: Facts, policy: Policy) -> Tuple[str, List[str]]:
    """(prose, the line) that makes a parameter as required: never what apply would reject."""
    step = attempt(_step_alone, parameter, facts, policy)
    if isinstance(step, HostproofError):
        return f"apply cannot plan this: {str(step).rstrip('.')}", []
    if step.refusals:
        reasons = "; ".join(refusal.reason for refusal in step.refusals)
        return f"apply is blocked. First: {reasons}", []
    if step.line is None and step.value is None:
        return "it is as the policy requires: see what uses it up", []
    if step.value is not None and step.line is None and not is_now(step, policy):
        return "a reboot sets it, from the place that is named: reboot the host", []
    return "apply the control", [apply_line(NAME)]
