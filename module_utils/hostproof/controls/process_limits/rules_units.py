# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Services that start Oracle's software: what systemd gives them now and at the next reboot."""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...errors import Absent, HostproofError, Unanswered
from ...evaluate.advice import Advice, Ask, EditUnit, Run, Step, Wait, is_later
from ...evaluate.checking import Layer, Rules, Skip, Subjects, Verdict, failing, layered
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.systemd import systemd_unit
from ...probes.oracle import starters
from .amounts import Demand, Pair, demand_of, demands, grade, of_unit, worst
from .drop_ins import set_in_drop_in
from .facts import OF_CLUSTERWARE, SHOW_MANAGER, SHOW_UNIT, Facts, UnitFacts
from .limit_table import ROWS, UNLIMITED
from .policy import NAME, Policy

rules: Rules[Facts, Policy] = Rules(NAME)

SYSTEM_CONF = "/etc/systemd/system.conf"
_SLICE = ".slice"
#: The limits by the option of ulimit, in units of limits.conf.
_OF_ULIMIT = {"n": "nofile", "u": "nproc", "s": "stack", "l": "memlock"}
#: Programs that open a session of PAM for what they start, also by a shell.
_BY_PAM = re.compile(
    r"[-@:+!]*(?:/\S*sh\s+-\w*c\s+[\"'](?:exec\s+)?)?(?:(?:/usr)?/s?bin/|(?<=[\s\"']))(su|runuser|sudo)\s"
)


class Service(NamedTuple):
    """A unit that starts, or holds, processes of Oracle: a service, or a slice."""

    name: str
    unit: UnitFacts


class Limit(NamedTuple):
    """A limit of a unit, and the place that sets it if the reboot does."""

    pair: Pair
    place: str
    #: What the unit sets where a script of it changes that; the place is the line of the script.
    of_unit: Optional[Pair] = None


#: The name of units that are not known.
_UNKNOWN = "A unit that starts Oracle's software"


def _units(facts: Facts, _policy: Policy) -> List[Service]:
    units = [Service(name, unit) for name, unit in known(facts.units).items()]
    if isinstance(facts.starters, HostproofError):
        units.append(Service(_UNKNOWN, UnitFacts(facts.starters, (), facts.starters)))
    return units


def _services(facts: Facts, policy: Policy) -> List[Service]:
    return [unit for unit in _units(facts, policy) if not unit.name.endswith(_SLICE)]


def _evidence(service: Service) -> Tuple[str, ...]:
    # The defaults of system.conf apply to services only.
    is_slice = service.name.endswith(_SLICE)
    shown = f"command:systemctl show {SHOW_UNIT} {service.name}"
    starter = service.unit.starter
    return (
        *("file:" + path for path in service.unit.paths),
        *((starters.KEY,) if starter is not None or not service.unit.paths else ()),
        shown if is_slice else "file:" + SYSTEM_CONF,
    )


SERVICES = Subjects(
    _services,
    none="No service that starts Oracle's software was found.",
    name=lambda service: str(service.name),
    evidence=_evidence,
)
UNITS = SERVICES.found_by(_units)


@rules.check(
    "process_limits.units",
    "Service limits meet Oracle's requirements",
    "Service limits do not meet Oracle's requirements",
    severity="high",
    takes_effect="service_restart",
    why="limits.d does not apply to services. Without Limit*= in the unit, systemd defaults "
    "apply, such as 8 MiB of locked memory.",
    reference="systemd.exec(5), LimitNOFILE=; systemd-system.conf(5), DefaultLimitNOFILE=",
    each=SERVICES,
)
def units(service: Service, facts: Facts, policy: Policy) -> Verdict:
    session = _session_of(service, facts)
    if session is not None:
        raise Skip(
            f"Its processes get their limits from a session of PAM ({session}): "
            "process_limits.login, process_limits.pam and process_limits.in_force check them."
        )
    _skip_if_clusterware_starts(service)
    starter = service.unit.starter
    starts = () if starter is None else starter.starts
    required = demands(facts, policy)
    if starts == (starters.LISTENER,):
        # Only the process that makes an SGA locks memory.
        required = [demand for demand in required if demand.row.item != "memlock"]
    now = [attempt(_now, service, demand) for demand in required]
    coming = [attempt(_at_boot, service, facts, demand) for demand in required]
    grades_now = _grades(required, now, "now ")
    grades_later = _grades(required, coming, "at boot ")
    _, wrong = worst(grades_now + grades_later)
    most = FAIL
    if starters.CLUSTERWARE in starts or service.name in OF_CLUSTERWARE:
        most = WARN
        wrong += "; Clusterware may set others for what it starts, which in_force shows"
    return layered(
        persisted=Layer(*_layer(required, coming, worst(grades_later)[0], most), "at boot"),
        running=Layer(*_layer(required, now, worst(grades_now)[0], most), "now"),
        also=[("a limit", answer) for answer in now + coming],
        why=wrong + "." + (f" Started at boot time: {starter.why}." if starter is not None else ""),
        advice=_advice(service, required, now, coming),
        desired="; ".join(f"{demand.row.item} {demand.text()}" for demand in required),
    )


def _skip_if_clusterware_starts(service: Service) -> None:
    starter = service.unit.starter
    if starter is not None and starter.is_by_clusterware:
        raise Skip(f"Clusterware starts it: the unit calls srvctl ({starter.why}).")


def _layer(
    required: List[Demand], answers: List[Answer[Limit]], status: str, most: str
) -> Tuple[Answer[str], str]:
    """The text of the layer and its status: an unknown limit matters if no other is wrong."""
    unknown = [answer for answer in answers if isinstance(answer, HostproofError)]
    if unknown and status == PASS:
        return unknown[0], status
    return _texts(required, answers), most if status == FAIL else status


def _advice(
    service: Service,
    required: List[Demand],
    now: List[Answer[Limit]],
    coming: List[Answer[Limit]],
) -> Advice:
    """Only the limits that are wrong, and none below what the unit has."""
    edits: List[Step] = []
    lines: Dict[str, List[str]] = {}
    for demand, current, later in zip(required, now, coming):
        pairs = [one.pair for one in (current, later) if not isinstance(one, HostproofError)]
        own = if_known(later, if_known(current, None))
        if own is None or not _is_wrong(demand, own.pair):
            continue
        if own.of_unit is not None:
            number = "unlimited" if demand.hard >= UNLIMITED else str(demand.hard)
            edits.append(Ask(f"set 'ulimit -{_option(demand)} {number}' at {own.place}"))
            pairs.append(own.of_unit)
        if own.of_unit is None or _is_wrong(demand, own.of_unit):
            path = own.place.rpartition(":")[0]
            place = path if is_later(path, "override.conf") else ""
            lines.setdefault(place, []).append(_line(demand, pairs))
    edits += [EditUnit(service.name, "Service", lines[place], place) for place in lines]
    restart = Wait("service_restart", f"{service.name} when its databases may stop")
    return Advice([*edits, restart], persisted=edits, running=[restart])


def _is_wrong(demand: Demand, pair: Pair) -> bool:
    return grade(demand, pair, "")[0] != PASS


def _option(demand: Demand) -> str:
    return next(option for option, item in _OF_ULIMIT.items() if item == demand.row.item)


def _grades(
    required: List[Demand], answers: List[Answer[Limit]], prefix: str
) -> List[Tuple[str, str]]:
    """The status and the problem of each limit that is known."""
    return [
        grade(demand, answer.pair, prefix)
        for demand, answer in zip(required, answers)
        if not isinstance(answer, HostproofError)
    ]


def _texts(required: List[Demand], answers: List[Answer[Limit]]) -> str:
    return "; ".join(
        f"{demand.row.item} "
        + (
            "unknown"
            if isinstance(answer, HostproofError)
            else answer.pair.text() + (f" ({answer.place})" if answer.place else "")
        )
        for demand, answer in zip(required, answers)
    )


def _session_of(service: Service, facts: Facts) -> Optional[str]:
    """The line that has pam_limits set the limits after systemd did (systemd.exec(5), PAMName=).

    None where PAM of that program is known not to set limits."""
    starter = service.unit.starter
    if starter is not None:
        return starter.session if starter.session and _sets_limits(starter.opener, facts) else None
    name = systemd_unit.last(known(service.unit.files), "Service", "PAMName")
    if name is not None:
        return f"PAMName={name.value}"
    start = systemd_unit.last(known(service.unit.files), "Service", "ExecStart")
    match = None if start is None else _BY_PAM.match(start.value)
    return None if match is None else f"ExecStart= by {match.group(1)}"


def _sets_limits(program: str, facts: Facts) -> bool:
    answers = [
        answer
        for name, answer in if_known(facts.pam, {}).items()
        if program in (name, name.partition("-")[0])
    ]
    return not answers or any(answer is not False for answer in answers)


def _line(demand: Demand, pairs: List[Pair]) -> str:
    hard = _raised(demand.hard, demand.good[1], demand.most, [pair.hard for pair in pairs])
    soft = _raised(demand.soft, demand.good[0], hard, [pair.soft for pair in pairs])
    texts = [
        "infinity" if limit >= UNLIMITED else str(limit * demand.row.size) for limit in (soft, hard)
    ]
    return f"Limit{demand.row.unit}={':'.join(texts)}"


def _raised(least: int, good: int, most: int, there: List[Optional[int]]) -> int:
    """The value to set: the highest that is there, if it is enough."""
    highest = max([value for value in there if value is not None] or [0])
    return min(highest if highest >= least else good, most)


def _shown(
    properties: Dict[str, str], prefix: str, demand: Demand, *, is_set: bool = False
) -> Pair:
    """As ``systemctl show`` tells it, which is what counts now. Before systemd 229 it shows the
    hard limit alone, and a setting has one value for both (``is_set``)."""
    name = f"{prefix}Limit{demand.row.unit}"
    hard = of_unit(properties.get(name, ""), demand.row)
    if name + "Soft" in properties:
        return Pair(of_unit(properties[name + "Soft"], demand.row).soft, hard.hard)
    if not is_set and grade(demand, hard, "")[0] == PASS:
        raise Unanswered("file:" + SYSTEM_CONF, f"this systemd does not show the soft {name}")
    return hard


def _now(service: Service, demand: Demand) -> Limit:
    setting = systemd_unit.last(known(service.unit.files), "Service", "Limit" + demand.row.unit)
    pair = _shown(known(service.unit.loaded), "", demand, is_set=setting is not None)
    return Limit(pair, "")


def _at_boot(service: Service, facts: Facts, demand: Demand) -> Limit:
    key = "Limit" + demand.row.unit
    for files, section, name in (
        (service.unit.files, "Service", key),
        (facts.system, "Manager", "Default" + key),
    ):
        setting = systemd_unit.last(known(files), section, name)
        if setting is not None:
            limit = Limit(of_unit(setting.value, demand.row), f"{setting.path}:{setting.line}")
            return _as_changed(service, demand, limit)
    default = _shown(known(facts.manager), "Default", demand)
    return _as_changed(service, demand, Limit(default, "systemd's default"))


def _as_changed(service: Service, demand: Demand, limit: Limit) -> Limit:
    """The limit after ulimit in the scripts of the unit."""
    starter = service.unit.starter
    soft, hard, place = starters.changed(starter, _option(demand), *limit.pair, UNLIMITED)
    return Limit(Pair(soft, hard), place, limit.pair) if place else limit


@rules.check(
    "process_limits.tasks",
    "TasksMax of the unit is sufficient for its databases",
    "TasksMax of the unit is too low",
    severity="high",
    takes_effect="now",
    why="fork fails with status 11, even if the account may have more processes. All processes "
    "of a service or slice and their threads share TasksMax.",
    reference="systemd.resource-control(5), TasksMax=; systemd-system.conf(5), DefaultTasksMax=",
    each=UNITS,
)
def tasks(service: Service, facts: Facts, policy: Policy) -> Verdict:
    _skip_if_clusterware_starts(service)
    least = next(demand_of(row, facts, policy).hard for row in ROWS if row.item == "nproc")
    loaded = known(service.unit.loaded).get("TasksMax", "")
    now = of_unit(loaded, ROWS[1]).hard or 0
    place = _tasks_at_boot(service, facts)
    at_boot: Answer[Optional[int]] = attempt(_number_of, place)
    low = []
    if now < least:
        low.append(f"it is {loaded} now")
    if not isinstance(at_boot, HostproofError) and at_boot is not None and at_boot < least:
        low.append(f"a reboot sets {at_boot}")
    if not low:
        known(at_boot)
    return Verdict(
        WARN if low else PASS,
        why=f"Fewer than the {least} processes that an account must have: {', '.join(low)}.",
        advice=Advice([_tasks_step(service, place)]),
        desired=f"infinity, or at least {least}",
        persisted=_place_text(place),
        running=loaded,
        values={"wanted": least, "running": None if now >= UNLIMITED else now},
        failing_layer=failing(running=now < least, persisted=bool(low)),
    )


def _tasks_step(service: Service, place: Optional[systemd_unit.Assignment]) -> Step:
    # set-property writes 50-TasksMax.conf, which counts at once and after a reboot.
    if place is not None and is_later(place.path, "50-TasksMax.conf"):
        section = "Slice" if service.name.endswith(_SLICE) else "Service"
        return EditUnit(service.name, section, ["TasksMax=infinity"], place.path)
    text = f"set TasksMax of {service.name} now and after a reboot"
    return Run("systemctl", "set-property", service.name, "TasksMax=infinity", text=text)


@rules.check(
    "process_limits.default_tasks",
    "DefaultTasksMax is sufficient for a new service",
    "DefaultTasksMax is too low for a new service",
    severity="medium",
    takes_effect="service_restart",
    why="A service without its own TasksMax gets this limit. The instances that it starts then "
    "fail to fork with status 11.",
    reference="systemd-system.conf(5), DefaultTasksMax=; Cluster Verification Utility, "
    "DefaultTasksMax parameter",
)
def default_tasks(facts: Facts, policy: Policy) -> Verdict:
    if isinstance(facts.manager, Absent):
        raise Skip("systemd does not run here.")
    loaded = known(facts.manager).get("DefaultTasksMax")
    if not loaded:
        raise Skip("This systemd has no DefaultTasksMax.")
    if _services(facts, policy):
        raise Skip("process_limits.tasks checks the services that start Oracle's software.")
    least = next(demand_of(row, facts, policy).hard for row in ROWS if row.item == "nproc")
    now = of_unit(loaded, ROWS[1]).hard or 0
    place = systemd_unit.last(known(facts.system), "Manager", "DefaultTasksMax")
    at_boot = _number_of(place)
    low = [f"it is {loaded} now"] if now < least else []
    is_low_later = at_boot is not None and at_boot < least
    low += [f"a reboot sets {at_boot}"] if is_low_later else []
    setting = f"DefaultTasksMax={max(65535, least)}"
    default = set_in_drop_in("/etc/systemd/system.conf.d", "Manager", setting, place)
    load = Run("systemctl", "daemon-reexec", text="load the value of the file")
    return Verdict(
        WARN if low else PASS,
        f"Fewer than the {least} processes that an account must have: {', '.join(low)}.",
        advice=Advice(
            both=[default, Ask("load it with systemctl daemon-reexec")],
            persisted=[default],
            running=[load],
        ),
        wrong=frozenset(["running"] * (now < least) + ["persisted"] * (is_low_later or not place)),
        desired=f"infinity, or at least {least}",
        persisted=_place_text(place),
        running=loaded,
        values={"wanted": least, "running": None if now >= UNLIMITED else now},
        evidence=["command:systemctl show " + SHOW_MANAGER, "file:/etc/systemd/system.conf"],
        failing_layer=failing(running=now < least, persisted=is_low_later),
    )


def _tasks_at_boot(service: Service, facts: Facts) -> Optional[systemd_unit.Assignment]:
    if service.name.endswith(_SLICE):
        place = systemd_unit.last(known(service.unit.files), "Slice", "TasksMax")
        if place is None and service.name.startswith("user-"):
            # systemd before 239 (logind.conf(5)); later ones have a drop-in for user-.slice.
            place = systemd_unit.last(known(facts.logind), "Login", "UserTasksMax")
        return place
    return systemd_unit.last(known(service.unit.files), "Service", "TasksMax") or systemd_unit.last(
        known(facts.system), "Manager", "DefaultTasksMax"
    )


def _place_text(place: Optional[systemd_unit.Assignment]) -> str:
    return "systemd's default" if place is None else f"{place.value} ({place.path})"


def _number_of(place: Optional[systemd_unit.Assignment]) -> Optional[int]:
    """None where nothing, or a share of what the kernel allows, is set: what is now tells it."""
    if place is None or place.value.endswith("%"):
        return None
    return of_unit(place.value, ROWS[1]).hard
