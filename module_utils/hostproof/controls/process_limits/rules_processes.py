# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The limits of running Oracle processes, and the limits of their cgroups."""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, if_known, known
from ...errors import Unanswered
from ...evaluate.advice import Advice, Ask, Wait
from ...evaluate.checking import Rules, Subjects, Verdict, failing
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.kernel import proc_cgroup
from ...parsers.size import human
from ...parsers.systemd import systemd_unit
from ...probes.oracle import starters
from ...probes.oracle.will_start import bytes_of_unit
from .amounts import Demand, demand_of, demands, grade, of_process, worst
from .facts import OF_CLUSTERWARE, Facts, Running, with_parents
from .limit_table import ROWS
from .policy import NAME, Policy
from .probes import cgroups
from .subjects import NO_PROCESS, PROCESSES

rules: Rules[Facts, Policy] = Rules(NAME)

#: Percent of the tasks or the memory of a group that may be used before it is wrong.
_FULL = 90
#: Those of version 2 of cgroups, and of version 1 (systemd.resource-control(5)).
_MEMORY_LIMITS = ("MemoryMax", "MemoryHigh", "MemoryLimit")
#: kB. Oracle Clusterware installation guides, postinstallation: s_crsconfig_HOST_env.txt.
_CRS_STACK = 2048


@rules.check(
    "process_limits.in_force",
    "Limits of the running process meet Oracle's requirements",
    "Limits of the running process are too low",
    severity="high",
    takes_effect="instance_restart",
    why="The process and its children keep the limits of the login, unit or cron job that "
    "started it. Server processes of remote clients have the limits of the listener.",
    reference="proc(5), /proc/PID/limits; getrlimit(2)",
    each=PROCESSES,
    because_of=("process_limits.login", "process_limits.units"),
)
def in_force(program: Running, facts: Facts, policy: Policy) -> Verdict:
    limits = known(program.limits)
    grades, texts = [], []
    place = _started_in(known(program.groups))
    required = [_as_started(demand, place) for demand in demands(facts, policy)]
    for demand in required:
        row = demand.row
        if row.item == "nproc" and program.process.uid == 0:
            continue  # the kernel does not count root's
        limit = limits.get(row.kernel)
        if limit is None:
            key = f"file:/proc/{program.process.pid}/limits"
            raise Unanswered(key, f"the kernel shows no {row.kernel}")
        pair = of_process(limit, row)
        grades.append(grade(demand, pair))
        texts.append(f"{row.item} {pair.text()}")
    status, wrong = worst(grades)
    return Verdict(
        status,
        why=f"{wrong}; it runs in {place}.",
        advice=_advice(place, program.name),
        wrong=frozenset(["in_use"]),
        desired="; ".join(f"{demand.row.item} {demand.text()}" for demand in required),
        in_use=f"{'; '.join(texts)} (in {place})",
        values={"pid": program.process.pid, "place": place},
    )


def _as_started(demand: Demand, place: str) -> Demand:
    """Clusterware starts with a stack of 2048 kB, which its guide documents (CRS_LIMIT_STACK)."""
    if demand.row.item != "stack" or place not in OF_CLUSTERWARE:
        return demand
    return demand._replace(soft=min(demand.soft, _CRS_STACK), hard=min(demand.hard, _CRS_STACK))


def _started_in(groups: Dict[str, str]) -> str:
    """The session or service that a process is in: who gave it its limits."""
    parts = proc_cgroup.path_of_unit(groups).split("/")
    units = [part for part in parts if part.endswith((".service", ".scope"))]
    return units[-1] if units else "no unit of systemd"


def _advice(place: str, program: str) -> Advice:
    """A process keeps its limits: the place that starts it first, then the process."""
    restart = _restart(program)
    if place in proc_cgroup.SHELLS[2:]:
        start = Ask("correct the PAM stack of cron, which gives the limits (process_limits.pam)")
    elif place in proc_cgroup.SHELLS[:2]:
        start = Ask("let sshd use PAM (process_limits.pam), and log in again")
    elif place in OF_CLUSTERWARE:
        start = Ask("correct the limits in s_crsconfig_HOST_env.txt of the Grid home")
    elif place.endswith(".service"):
        start = Ask(f"correct the limits of {place} (process_limits.units)")
    else:
        start = Ask("correct the limits of the login (process_limits.login), and log in again")
    return Advice(in_use=[start, restart])


def _restart(program: str) -> Wait:
    parts = program.split("_", 2)
    if len(parts) > 2:
        return Wait("instance_restart", parts[2])
    name = program.partition(" ")[2]
    return Wait("listener_restart", name) if name else Wait("cluster_restart")


class Group(NamedTuple):
    """A group of control that has processes, or a unit with what it sets at boot time."""

    name: str
    room: Answer[Optional[cgroups.Room]]
    setting: Optional[systemd_unit.Assignment] = None


def _groups(facts: Facts, _policy: Policy) -> List[Group]:
    known(facts.running)
    unknown = [
        program.groups for program in known(facts.running) if not isinstance(program.groups, dict)
    ]
    groups: List[Group] = [Group(name, room) for name, room in facts.cgroups.items()]
    return groups + [Group("a process", problem) for problem in unknown]


def _group_evidence(group: Group) -> Tuple[str, ...]:
    if group.setting is not None:
        return ("file:" + group.setting.path, starters.KEY)
    return () if not isinstance(group.room, cgroups.Room) else group.room.evidence


GROUPS = Subjects(
    _groups, none=NO_PROCESS, name=lambda group: str(group.name), evidence=_group_evidence
)


def _with_units(facts: Facts, policy: Policy) -> List[Group]:
    """And the units that start databases at boot with a limit of memory, in no group now."""
    groups = _groups(facts, policy)
    units = if_known(facts.units, {})
    for name, unit in units.items():
        starter = unit.starter
        if starter is None or starter.starts == (starters.LISTENER,) or starter.is_by_clusterware:
            continue
        above = with_parents(starters.slice_of(name, if_known(unit.files, [])))
        for one in [unit, *(units[each] for each in above if each in units)]:
            files = if_known(one.files, [])
            settings = [
                systemd_unit.last(files, section, key)
                for section in ("Service", "Slice")
                for key in _MEMORY_LIMITS
            ]
            if not any(group.name.endswith("/" + name) for group in groups):
                groups += [Group(name, None, setting) for setting in settings if setting]
    return groups


WITH_UNITS = GROUPS.found_by(_with_units)


@rules.check(
    "process_limits.cgroup_tasks",
    "Cgroup task limit is sufficient",
    "Cgroup task limit is too low or nearly reached",
    severity="high",
    takes_effect="now",
    why="No process of the instance can fork when a cgroup above it reaches pids.max.",
    reference="kernel Documentation/admin-guide/cgroup-v2.rst, pids.max, pids.events",
    each=GROUPS,
)
def cgroup_tasks(group: Group, facts: Facts, policy: Policy) -> Verdict:
    room = _room(group)
    values: Dict[str, Optional[int]] = {"refused_forks": room.refused}
    if room.tasks is not None:
        values.update(limit=room.tasks.limit, used=room.tasks.used)
    least = next(demand_of(row, facts, policy).hard for row in ROWS if row.item == "nproc")
    status, why = PASS, ""
    if room.tasks is not None and room.tasks.limit < least:
        status, why = WARN, f"fewer than the {least} processes that an account must have"
    if _is_full(room.tasks):
        status, why = WARN, f"more than {_FULL} percent are used"
    if room.tasks is not None and (room.tasks.used or 0) >= room.tasks.limit:
        status, why = FAIL, "all are used"
    if room.refused:
        status, why = FAIL, f"{room.refused} forks were rejected"
    return Verdict(
        status,
        why=f"{_text(room.tasks)}: {why}.",
        fix="raise TasksMax of the unit that the group is of (process_limits.tasks)",
        desired=f"no limit, or at least {least}",
        running=_text(room.tasks),
        in_use=None if room.tasks is None else f"{room.tasks.used} tasks, {room.refused} rejected",
        values=values,
        failing_layer=failing(in_use=bool(room.refused) or _is_full(room.tasks), running=True),
    )


@rules.check(
    "process_limits.cgroup_memory",
    "No cgroup limits the memory of an instance",
    "A cgroup limits the memory of an instance",
    severity="high",
    takes_effect="now",
    why="At memory.high the kernel slows the instance down, and at memory.max it kills its "
    "processes, even if the host has free memory.",
    reference="kernel Documentation/admin-guide/cgroup-v2.rst, memory.max, memory.high",
    each=WITH_UNITS,
)
def cgroup_memory(group: Group, facts: Facts, _policy: Policy) -> Verdict:
    if group.setting is not None:
        return _memory_at_boot(group.setting, known(facts.meminfo)["MemTotal"])
    bound = _room(group).memory
    if bound is None:
        return Verdict(PASS, desired="no limit", running="no limit")
    memory = known(facts.meminfo)["MemTotal"]
    if bound.limit >= memory:
        return Verdict(PASS, desired="no limit", running=f"{human(bound.limit)}, all of memory")
    return Verdict(
        WARN,
        why=f"{bound.path} is {human(bound.limit)} of {human(memory)} memory.",
        fix="remove MemoryMax= and MemoryHigh= (or the container's limit), or make "
        "sure that all SGAs and PGAs fit into it",
        desired="no limit",
        running=f"{human(bound.limit)} ({bound.path})",
        in_use=None if bound.used is None else human(bound.used),
        failing_layer="running",
    )


def _memory_at_boot(setting: systemd_unit.Assignment, memory: int) -> Verdict:
    share = re.match(r"(\d{1,3})%\Z", setting.value)
    limit = memory * int(share.group(1)) // 100 if share else bytes_of_unit(setting.value)
    text = f"{setting.key}={setting.value} ({setting.path}:{setting.line})"
    return Verdict(
        PASS if limit is None or limit >= memory else WARN,
        why=f"After a reboot, {text} limits what it starts to {human(limit or 0)} of "
        f"{human(memory)} memory.",
        fix=f"remove {setting.key}= from {setting.path}, or make sure that all SGAs and PGAs fit "
        "into it",
        desired="no limit",
        persisted=text,
        failing_layer="persisted",
    )


def _room(group: Group) -> cgroups.Room:
    return known(group.room)  # type: ignore[return-value]


def _is_full(bound: Optional[cgroups.Bound]) -> bool:
    return bound is not None and (bound.used or 0) * 100 > bound.limit * _FULL


def _text(bound: Optional[cgroups.Bound]) -> str:
    return "no limit" if bound is None else f"{bound.limit} ({bound.path})"
