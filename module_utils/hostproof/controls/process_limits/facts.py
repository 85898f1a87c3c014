# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the host shows of limits: for logins, for units, and in each process that runs."""

from typing import Dict, List, NamedTuple, Optional, Set, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...collect.host import FoundLines, Host, Process
from ...errors import Absent, NotRecorded, Unanswered
from ...parsers.kernel import meminfo, proc_cgroup, proc_limits
from ...parsers.shell import started_commands
from ...parsers.systemd import systemd_unit, tmpfiles_d
from ...parsers.unix import limits_conf, os_release
from ...probes.oracle import processes, starters
from ...probes.systemd import conf_files, unit_files
from ...probes.systemd.unit_limits import SHOW_MANAGER, SHOW_UNIT, needs_systemd, show
from ...probes.unix import accounts as accounts_probe
from ...probes.unix import limits as limits_probe
from ...probes.unix import pam
from .parsers import temp_cleaners
from .policy import Policy
from .probes import cgroups, realtime

NR_OPEN = "/proc/sys/fs/nr_open"
REMOVE_IPC = (
    "busctl",
    "get-property",
    "org.freedesktop.login1",
    "/org/freedesktop/login1",
    "org.freedesktop.login1.Manager",
    "RemoveIPC",
)
KILLS = REMOVE_IPC[:-1] + ("KillUserProcesses",)
OS_RELEASE = "/etc/os-release"
#: What cron runs.
_CRON = (
    *started_commands.CRONTABS,
    *started_commands.CRON_SCRIPTS,
    *started_commands.CRONTABS_OF_ACCOUNTS,
)
LOGIND = "/etc/systemd/logind.conf"
CLEANER = ("systemctl", "is-active", "systemd-tmpfiles-clean.timer")
#: The units of Clusterware, which sets the limits of what it starts by itself
#: (s_crsconfig_HOST_env.txt).
OF_CLUSTERWARE = ("oracle-ohasd.service", "ohasd.service")


class Running(NamedTuple):
    """A process of Oracle. ``groups`` are its groups of control by controller."""

    process: Process
    name: str
    user: Answer[str]
    limits: Answer[Dict[str, proc_limits.Limit]]
    groups: Answer[Dict[str, str]]


class UnitFacts(NamedTuple):
    """A service or slice: its files in the order of reading, and its properties as systemd has
    them now. ``starter`` is what it starts at boot, None where it is not known to start anything.
    """

    files: Answer[List[systemd_unit.Unit]]
    paths: Tuple[str, ...]
    loaded: Answer[Dict[str, str]]
    starter: Optional[starters.Starter] = None


class Facts(NamedTuple):
    """What the host showed. Every Answer may hold the error that replaces it.

    ``announced`` are accounts that must exist. ``system`` and ``logind`` are systemd's settings at
    the next reboot, ``manager`` its defaults as they are now. ``cron`` are lines that may delete
    files, ``kills`` is KillUserProcesses of logind as it is now. ``realtime`` is about priority.
    ``starters`` are the units that start software at boot time.
    """

    meminfo: Answer[Dict[str, int]]
    nr_open: Answer[int]
    entries: Answer[List[limits_conf.Entry]]
    running: Answer[List[Running]]
    announced: Tuple[str, ...]
    accounts: Answer[Dict[str, limits_probe.Account]]
    pam: Answer[Dict[str, Answer[bool]]]
    units: Answer[Dict[str, UnitFacts]]
    starters: Answer[List[starters.Starter]]
    system: Answer[List[systemd_unit.Unit]]
    manager: Answer[Dict[str, str]]
    cgroups: Dict[str, Answer[cgroups.Room]]
    logind: Answer[List[systemd_unit.Unit]]
    logind_text: Answer[str]
    remove_ipc: Answer[str]
    kills: Answer[str]
    tmpfiles: Answer[List[tmpfiles_d.Entry]]
    cleaner: Answer[str]
    cron: Answer[FoundLines]
    os: Answer[Dict[str, str]]
    kernel: Answer[str]
    file: Answer[str]
    realtime: realtime.Realtime


def read(host: Host, policy: Policy) -> Facts:
    """Look at everything that the checks and the plan need; nothing is written."""
    running = attempt(_read_running, host)
    announced = announced_accounts(policy)
    accounts = attempt(limits_probe.read_accounts, host, _accounts(policy, announced, running))
    slices = {f"user-{account.uid}.slice" for account in if_known(accounts, {}).values()}
    groups = [
        known(program.groups)
        for program in if_known(running, [])
        if isinstance(program.groups, dict)
    ]
    starting = attempt(starters.read, host)
    programs = sorted({unit.opener for unit in if_known(starting, []) if unit.opener})
    return Facts(
        meminfo=attempt(lambda: meminfo.parse(host.read_text("/proc/meminfo"))),
        nr_open=attempt(host.read_number, NR_OPEN),
        entries=attempt(limits_probe.read_entries, host),
        running=running,
        announced=announced,
        accounts=accounts,
        pam=attempt(pam.read_services, host, programs),
        units=attempt(_read_units, host, groups, slices, if_known(starting, [])),
        starters=starting,
        system=attempt(conf_files.read_settings, host, "system.conf"),
        manager=attempt(show, host, ["systemctl", "show", SHOW_MANAGER]),
        cgroups={
            cgroups.name_of(group): attempt(cgroups.read_room, host, group) for group in groups
        },
        logind=attempt(conf_files.read_settings, host, "logind.conf"),
        logind_text=attempt(host.read_text, LOGIND),
        remove_ipc=attempt(_read_property, host, REMOVE_IPC),
        kills=attempt(_read_property, host, KILLS),
        tmpfiles=attempt(conf_files.read_tmpfiles, host),
        cleaner=attempt(_read_cleaner, host),
        cron=attempt(
            host.find_lines,
            "temp_cleaners",
            _CRON,
            temp_cleaners.INTERESTING,
            record=temp_cleaners.kept,
        ),
        os=attempt(lambda: os_release.parse(host.read_text(OS_RELEASE))),
        kernel=attempt(host.read_text, realtime.RELEASE),
        file=attempt(host.read_text, policy.limits_file),
        realtime=realtime.read(host),
    )


def announced_accounts(policy: Policy) -> Tuple[str, ...]:
    if policy.accounts is not None:
        return policy.accounts
    if policy.profile is None:
        return ()
    return ("oracle", "grid") if policy.profile.grid else ("oracle",)


def _accounts(
    policy: Policy, announced: Tuple[str, ...], running: Answer[List[Running]]
) -> List[str]:
    """Those that are announced, else the customary ones if they exist; and who runs something."""
    names = list(announced) if policy.accounts is not None else ["oracle", "grid"]
    for program in if_known(running, []):
        if program.process.uid != 0 and isinstance(program.user, str) and program.user not in names:
            names.append(program.user)
    return names


def _read_running(host: Host) -> List[Running]:
    return [_read_process(host, program) for program in processes.read(host)]


def _read_process(host: Host, program: processes.Named) -> Running:
    folder = f"/proc/{program.process.pid}"
    return Running(
        process=program.process,
        name=program.name,
        user=attempt(accounts_probe.user_name, host, program.process.uid),
        limits=attempt(lambda: proc_limits.parse(host.read_text(folder + "/limits"))),
        groups=attempt(lambda: proc_cgroup.parse(host.read_text(folder + "/cgroup"))),
    )


def _read_units(
    host: Host,
    groups: List[Dict[str, str]],
    slices: Set[str],
    starting: List[starters.Starter],
) -> Dict[str, UnitFacts]:
    """The services, and the slices above them and above logins."""
    if isinstance(attempt(needs_systemd, host), Absent):
        return {}
    names = unit_files.names_by_folder(host)
    by_unit = {starter.unit: starter for starter in starting}
    units = {unit for unit in map(proc_cgroup.service_of, groups) if unit is not None}
    result = {
        unit: _read_unit(host, names, unit)._replace(starter=by_unit.get(unit))
        for unit in sorted(units.union(by_unit))
    }
    for service, unit in result.items():
        slices = slices | {starters.slice_of(service, if_known(unit.files, []))}
    for name in sorted({above for each in slices for above in with_parents(each)}):
        shown = attempt(show, host, ["systemctl", "show", SHOW_UNIT, name])
        if not isinstance(shown, NotRecorded):
            result[name] = _read_unit(host, names, name)
    return result


def with_parents(name: str) -> List[str]:
    """The slice and those that contain it: "a-b.slice" is in "a.slice" (systemd.slice(5))."""
    parts = name[: -len(".slice")].split("-")
    return ["-".join(parts[:count]) + ".slice" for count in range(1, len(parts) + 1)]


def _read_unit(host: Host, names: Dict[str, List[str]], name: str) -> UnitFacts:
    place = unit_files.place_of(names, name)
    paths = ([place] if place else []) + unit_files.drop_ins(host, names, name)
    return UnitFacts(
        files=attempt(conf_files.units_of, host, paths),
        paths=tuple(paths),
        loaded=attempt(show, host, ["systemctl", "show", SHOW_UNIT, name]),
    )


def _read_cleaner(host: Host) -> str:
    """What systemctl calls the state of the timer; it ends with 3 for one that is not active."""
    needs_systemd(host)
    state = host.run(list(CLEANER)).stdout.strip()
    if not state:
        raise Unanswered("command:" + " ".join(CLEANER), "systemctl tells no state of the timer")
    return state


def _read_property(host: Host, argv: Tuple[str, ...]) -> str:
    """ "yes" or "no", as logind has it now (org.freedesktop.login1(5))."""
    needs_systemd(host)
    output = host.run(list(argv))
    words: Optional[str] = {"b true": "yes", "b false": "no"}.get(output.stdout.strip())
    if output.rc != 0 or words is None:
        text = (output.stdout + output.stderr).strip()[:200]
        raise Unanswered("command:" + " ".join(argv), f"logind does not tell: {text}")
    return words
