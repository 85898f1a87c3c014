# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One parameter, checked in its layers: what is queried, what boots, what runs, what is used of
it."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...errors import Absent, HostproofError, Unanswered
from ...evaluate.checking import Layer, Skip, Verdict, layered
from ...evaluate.comparing import Numbers, text_of, words
from ...evaluate.finding import FAIL, PASS, WARN
from ...probes.systemd.boot import SysctlAtBoot, setting_text
from .facts import Facts
from .parameter_steps import advice_of
from .policy import Policy
from .required_parameters import (
    REVERSE_PATH,
    Parameter,
    at_boot_of,
    counts_instead_at_boot,
    counts_instead_now,
    running_of,
    value_at_boot,
)
from .room import Room, room_of

#: Percent of a limit that may be used before it is said.
_WARN_AT = 70

#: What an IPC namespace has for itself.
_OF_NAMESPACE = ("kernel/sem", "kernel/shm")


def judge_parameter(parameter: Parameter, facts: Facts, policy: Policy) -> Verdict:
    """``fail`` where a demand is not met now or after reboot; advice is a ``warn``."""
    later, apart = _applies(parameter, facts, policy)
    demand = known(parameter.demand)
    now = attempt(running_of, parameter, facts)
    at_boot = attempt(at_boot_of, parameter, facts.boot)
    coming = attempt(value_at_boot, parameter, facts.boot)
    room = attempt(_room, parameter, now, facts)
    rooms = if_known(room, [])
    problems = _problems(parameter, now, at_boot, coming)
    worst = WARN if parameter.advice else FAIL
    # The demand for shared memory has every SGA in it: what is in use does not grow.
    graded = [] if parameter.key == "kernel/shmall" else rooms
    grade, full = _grade_rooms(graded)
    effective = if_known(now, None)
    used = "; ".join(used.text() for used in rooms)
    unsettled = [coming, at_boot, if_known(attempt(_unsettled, at_boot), None)]
    unknown_later = [answer for answer in unsettled if isinstance(answer, HostproofError)]
    persisted: Answer[str] = _persisted(parameter, at_boot, coming)
    if unknown_later and not problems.later:
        persisted = unknown_later[0]
    return layered(
        persisted=Layer(persisted, worst if problems.later else PASS, "after a reboot"),
        running=Layer(
            attempt(_running, parameter, now, facts),
            worst if problems.now else PASS,
            "running kernel",
        ),
        in_use=Layer(used, grade) if used else None,
        also=[
            ("releases of the homes", problems.releases),
            (f"whether this host needs {parameter.name}", problems.unsure),
            (f"whether a reboot sets {parameter.unless}", later),
            ("amount in use", None if isinstance(now, HostproofError) else room),
            ("IPC namespaces of instances", apart),
            ("size of databases that are down", _stopped(parameter, now, coming, facts)),
        ],
        advice=advice_of(parameter, facts, policy, graded, bool(problems.now or problems.later)),
        why="; ".join([*problems.now, *problems.later, *full]) + ".",
        desired=words(parameter.compare, demand.value, parameter.room)
        + (f" ({demand.how})" if demand.how else ""),
        evidence=_evidence(parameter, at_boot, rooms),
        values=dict(_values("wanted", demand.value), **_values("running", effective)),
        severity=parameter.severity,
        reference=parameter.source,
    )


def _unsettled(at_boot: Answer[SysctlAtBoot]) -> Optional[HostproofError]:
    return known(at_boot).unknown


#: Parameters that limit what processes take.
_FOR_PROCESSES = ("kernel/sem", "fs/aio-max-nr")


def _stopped(
    parameter: Parameter,
    now: Answer[Optional[Numbers]],
    coming: Answer[Optional[Numbers]],
    facts: Facts,
) -> Optional[HostproofError]:
    """The unknown part of databases that are down, unless the limits cover all memory."""
    if parameter.key in _FOR_PROCESSES:
        return facts.stopped.uncounted
    memory = if_known(facts.figures.memory, 0)
    sizes = {"kernel/shmall": memory // if_known(facts.figures.page, 4096), "kernel/shmmax": memory}
    least = sizes.get(parameter.key)
    values = [if_known(now, None), if_known(coming, None)]
    if least is None or all(value and value[0] >= least for value in values):
        return None
    return facts.stopped.unknown


def _values(name: str, value: Optional[Numbers]) -> Dict[str, Optional[int]]:
    """By name, and by name_1, name_2, ... if the parameter has several numbers."""
    if value is None or len(value) == 1:
        return {name: None if value is None else value[0]}
    return {f"{name}_{place}": number for place, number in enumerate(value, 1)}


def _applies(
    parameter: Parameter, facts: Facts, policy: Policy
) -> Tuple[Answer[Optional[str]], Answer[List[str]]]:
    """Raise Skip for a parameter that is not checked.

    Returns what counts instead after a reboot, and the instances with a separate IPC namespace.
    """
    if parameter.key in policy.unmanaged:
        raise Skip("kernel_parameters_unmanaged names it.")
    if isinstance(facts.running[parameter.key], Absent):
        raise Skip(f"This kernel has no {parameter.name}.", ["file:" + parameter.file])
    instead = counts_instead_now(parameter, facts)
    later = attempt(counts_instead_at_boot, parameter, facts)
    for reason in (instead, if_known(later, None)):
        if reason is not None:
            raise Skip(reason)
    apart: Answer[List[str]] = facts.apart if parameter.key.startswith(_OF_NAMESPACE) else []
    if if_known(apart, []):
        raise Unanswered(
            "processes:pmon",
            f"{', '.join(known(apart))} runs in a separate IPC namespace, which has another "
            f"{parameter.name} than this host: audit in there",
        )
    return later, apart


def _grade_rooms(rooms: List[Room]) -> Tuple[str, List[str]]:
    """The status of what is used up, and a sentence for each that is."""
    status, problems = PASS, []
    for room in rooms:
        if room.used * 100 > room.limit * _WARN_AT:
            is_full = room.used >= room.limit
            then = "what starts next gets none" if is_full else "what starts next may get none"
            problems.append(f"{room.text()}: {then}")
            status = FAIL if is_full else WARN if status == PASS else status
    return status, problems


def _room(parameter: Parameter, now: Answer[Optional[Numbers]], facts: Facts) -> List[Room]:
    value = known(now)
    return [] if value is None else room_of(parameter, value, facts)


def _running(parameter: Parameter, now: Answer[Optional[Numbers]], facts: Facts) -> str:
    effective = known(now)
    text = facts.running[parameter.key]
    if isinstance(text, HostproofError):
        return "unknown"
    return text.replace("\t", " ") + _effective(parameter, effective)


class _Problems(NamedTuple):
    """The problems now and after a reboot.

    Both lists are empty if ``releases`` or ``unsure`` is the error that leaves them unknown.
    """

    now: List[str]
    later: List[str]
    releases: Optional[HostproofError] = None
    unsure: Optional[HostproofError] = None


def _problems(
    parameter: Parameter,
    now: Answer[Optional[Numbers]],
    at_boot: Answer[SysctlAtBoot],
    coming: Answer[Optional[Numbers]],
) -> _Problems:
    current, later = _current_problem(parameter, now), _later(parameter, at_boot, coming)
    if not current and not later:
        return _Problems([], [])
    if parameter.releases is not None and _may_be_met(parameter, now, at_boot, coming):
        return _Problems([], [], releases=parameter.releases)
    if parameter.unsure is not None:
        return _Problems([], [], unsure=parameter.unsure)
    return _Problems(current, later)


def _may_be_met(
    parameter: Parameter,
    now: Answer[Optional[Numbers]],
    at_boot: Answer[SysctlAtBoot],
    coming: Answer[Optional[Numbers]],
) -> bool:
    """Whether the values are enough for one of the releases that the homes can have."""
    return any(
        demand is None
        or not _current_problem(parameter._replace(demand=demand), now)
        + _later(parameter._replace(demand=demand), at_boot, coming)
        for demand in map(known, parameter.possible)
    )


def _current_problem(parameter: Parameter, now: Answer[Optional[Numbers]]) -> List[str]:
    if isinstance(now, HostproofError) or parameter.meets(now):
        return []
    return ["the running value does not meet it" if now else "the kernel shows no numbers"]


def _later(
    parameter: Parameter, at_boot: Answer[SysctlAtBoot], coming: Answer[Optional[Numbers]]
) -> List[str]:
    problems: List[str] = []
    if isinstance(coming, HostproofError) or isinstance(at_boot, HostproofError):
        return problems
    if coming is None and at_boot.winner is None:
        problems.append("no place sets it at boot, and what the kernel starts with is not known")
    elif not parameter.meets(coming):
        place = "the kernel's own value" if at_boot.winner is None else at_boot.winner.place
        problems.append(f"the value after a reboot does not meet it ({place})")
    if at_boot.refused:
        rejected = " and ".join(at_boot.refused)
        problems.append(f"the kernel rejects {rejected}")
    return problems


def _persisted(
    parameter: Parameter, at_boot: Answer[SysctlAtBoot], coming: Answer[Optional[Numbers]]
) -> str:
    own = "not known"
    if not isinstance(coming, HostproofError) and coming is not None:
        own = text_of(coming)
    return setting_text(at_boot, f"nothing sets it (the kernel's own is {own})")


def _effective(parameter: Parameter, now: Optional[Numbers]) -> str:
    """The kernel uses the larger of two values of a reverse path filter."""
    if parameter.family != REVERSE_PATH or now is None:
        return ""
    return f", with that of all {text_of(now)} counts"


def _evidence(parameter: Parameter, at_boot: Answer[SysctlAtBoot], rooms: List[Room]) -> List[str]:
    keys = ["file:" + parameter.file, "dir:/etc/sysctl.d", "file:/proc/cmdline", "lines:boot"]
    if not isinstance(at_boot, HostproofError) and at_boot.winner is not None:
        place = at_boot.winner.place
        if place.startswith("/"):
            keys.append("file:" + place.rsplit(":", 1)[0])
    return keys + [room.key for room in rooms]
