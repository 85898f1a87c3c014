# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps that each parameter needs, and the reasons against them, for the plan and the fix."""

from typing import List, NamedTuple, Optional

from ...apply.change import Refusal, ValueChange
from ...collect.answer import attempt, if_known, known
from ...errors import Absent, HostproofError
from ...evaluate.advice import Advice, Apply, Ask, Step, Wait
from ...evaluate.comparing import Numbers, numbers, text_of, to_write
from ...probes.systemd import boot as boot_probe
from .facts import Facts
from .policy import NAME, Policy
from .required_parameters import Parameter, at_boot_of, counts_instead, running_of, value_at_boot
from .room import Room, room_of

#: Where the numbers of kernel.sem are.
_PLACES = {"semaphores": (1,), "sets of semaphores": (3,)}


class Change(NamedTuple):
    """The change of one parameter: a line of the drop-in, a value of the kernel, or neither.

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


def step_of(parameter: Parameter, facts: Facts, policy: Policy, others: boot_probe.Boot) -> Change:
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
        refusals += _guard_unsure(parameter)
        refusals += _guard_owner(parameter, facts) + _guard_use(parameter, good, facts)
    return Change(parameter, None if is_kept else text, value, refusals)


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
    return [Refusal(reason, None, parameter.name)]


def _guard_unsure(parameter: Parameter) -> List[Refusal]:
    if parameter.unsure is None:
        return []
    problem = str(parameter.unsure).rstrip(".")
    reason = f"it is not known whether this host needs {parameter.name}: {problem}"
    return [Refusal(reason, None, parameter.name)]


def _guard_owner(parameter: Parameter, facts: Facts) -> List[Refusal]:
    directory = facts.saptune.get(parameter.key)
    if directory is None:
        return []
    reason = (
        f"saptune manages {parameter.name} ({directory}) and would set it again: change its note, "
        f"or leave it to saptune with {parameter.name} in kernel_parameters_unmanaged"
    )
    return [Refusal(reason, None, parameter.name)]


def _guard_use(parameter: Parameter, good: Numbers, facts: Facts) -> List[Refusal]:
    """The kernel takes a limit below what is used, and then the next instance does not start."""
    short = [room for room in room_of(parameter, good, facts) if room.used > room.limit]
    return [
        Refusal(
            f"{parameter.name} = {text_of(good)} is too low: {room.text()}", None, parameter.name
        )
        for room in short
    ]


def is_now(step: Change, policy: Policy) -> bool:
    return policy.activation == "now" and step.parameter.live


def advice_of(
    parameter: Parameter, facts: Facts, policy: Policy, rooms: List[Room], is_low: bool
) -> Advice:
    """The steps that make a parameter as required.

    ``is_low`` tells whether the value itself is wrong: one apply then corrects it together with
    the larger limit, which is listed before.
    """
    more = _more_room(parameter, rooms, facts)
    apply = Apply(NAME, parameter.name)
    by_apply: List[Step] = [*_rejected(parameter, facts), *more, apply]
    is_live = policy.activation == "now" and parameter.live
    event: List[Step] = [] if is_live else [Wait("reboot")]
    return Advice(
        both=[*by_apply, *event],
        persisted=by_apply,
        running=[*more, apply] if is_live else event,
        # Without the larger limit in the policy apply would change nothing.
        in_use=[*more, Ask(f"apply {NAME}"), *event] if more and not is_low else [],
    )


def _rejected(parameter: Parameter, facts: Facts) -> List[Step]:
    """The lines that the kernel rejects: they look as if they counted."""
    at_boot = attempt(at_boot_of, parameter, facts.boot)
    refused = () if isinstance(at_boot, HostproofError) else at_boot.refused
    lines = [text.partition(" (the kernel rejects it")[0] for text in refused]
    return [Ask(f"remove {line}, which the kernel rejects") for line in lines]


def _more_room(parameter: Parameter, rooms: List[Room], facts: Facts) -> List[Step]:
    """The limit counts for all databases of the host together: twice their sum leaves room.

    No step where the required value leaves it.
    """
    least = known(parameter.demand).value
    now = if_known(attempt(running_of, parameter, facts), None) or least
    wanted = [max(pair) for pair in zip(now, least)]
    grown = [room for room in rooms if 2 * room.used > room.limit]
    for room in grown:
        for place, number in enumerate(now):
            if number == room.limit and place in _PLACES.get(room.what, (0,)):
                wanted[place] = max(wanted[place], 2 * room.used)
    if not grown or tuple(wanted) == tuple(least):
        return []
    used = " and ".join(room.text() for room in grown)
    return [
        Ask(
            f"list {parameter.name} with {text_of(tuple(wanted))} in kernel_parameters_values, "
            f"because the limit is for the whole host: {used}"
        )
    ]
