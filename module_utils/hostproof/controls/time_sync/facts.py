# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the host shows of its clock: who keeps it, how, from where, and how well."""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect import identity
from ...collect.answer import Answer, attempt, if_known, known, unless_absent, unless_newer
from ...collect.host import FoundLines, Host, Process
from ...errors import Absent, Denied, HostproofError, Unanswered
from ...evaluate import profiles
from ...parsers.kept_lines import LEFT_OUT
from ...parsers.shell import started_commands
from ...probes.oracle import clusterware, releases
from .parsers import chrony_conf, ntp_conf, time_sources, unit_properties
from .policy import CHRONYD, NTPD, PTP, TIMESYNCD, Policy

RELEASE_FILE = "/proc/sys/kernel/osrelease"
CLOCK = "/sys/devices/system/clocksource/clocksource0/"
CURRENT, AVAILABLE = CLOCK + "current_clocksource", CLOCK + "available_clocksource"
#: Where chronyd looks by itself: EL and SUSE, Debian.
CHRONY_CONF = ("/etc/chrony.conf", "/etc/chrony/chrony.conf")
NTP_CONF = ("/etc/ntp.conf", "/etc/ntpsec/ntp.conf")
#: The options of chronyd (chronyd(8)); a colon follows one with a value.
_CHRONYD_OPTIONS = "46df:F:hil:L:mnpP:qQrRst:u:Uvx"
#: Options of ptp4l for software time stamping; others without a value can be before.
_SOFTWARE = re.compile(r" (?:-[AEP246HLqmsv]*S|--time_st\w*[ =]s)")
_FILE_OF_NTPD = re.compile(r" (?:-\w*c|--configfile)[ =]?(/\S+)")
_KEEPERS = r"(^|/)(chronyd|ntpd|systemd-timesyncd|phc2sys|ptp4l)$"
_NAME = re.compile(_KEEPERS)
#: timemaster of linuxptp starts chronyd with the PTP daemons below it.
UNITS = {
    "chronyd.service": CHRONYD,
    "chrony.service": CHRONYD,
    "timemaster.service": CHRONYD,
    "ntpd.service": NTPD,
    "ntp.service": NTPD,
    "ntpsec.service": NTPD,
    "systemd-timesyncd.service": TIMESYNCD,
    "phc2sys.service": PTP,
    "ptp4l.service": PTP,
}
#: Links to units that start after a reboot, as systemctl enable creates them.
WANTED = "/etc/systemd/system/multi-user.target.wants"
#: Instances of a template and other units of a time service: chronyd-restricted.service,
#: ptp4l@eth0.service.
_OTHER_UNIT = re.compile(
    r"(chronyd?|ntpd?|ntpsec|timemaster|phc2sys|ptp4l)[-@][\w.:@\\-]{1,100}\.service\Z"
)
SHOW = [
    "systemctl",
    "show",
    "--property=Id,UnitFileState,ActiveState,ExecStart,EnvironmentFiles",
    *UNITS,
]
SOURCES = ["chronyc", "-c", "-n", "sources"]
TRACKING = ["chronyc", "-c", "-n", "tracking"]
NTPQ = ["ntpq", "-pn"]
TIMEDATECTL = ["timedatectl", "show", "--property=NTPSynchronized"]
#: Programs that step the clock, as cron runs them: ntpdate -q only queries, and -B slews.
_CRON = (
    *started_commands.CRONTABS,
    *started_commands.CRON_SCRIPTS,
    *started_commands.CRONTABS_OF_ACCOUNTS,
)
_STEPS = (
    r"^[^#]*\b(?:ntpdate(?=\s)(?!.{0,80}\s-[a-z]*[qdB]\b)|chronyc\s.{0,80}\bmakestep|sntp\s.{0,80}-\w*S"
    r"|rdate\s.{0,80}-\w*s|ntpd\s.{0,80}-\w*q\b|hwclock\s.{0,80}-(?:s\b|-hctosys)"
    r"|date\s+-(?:u?s\b|-set)|timedatectl\s+set-time)"
)
#: Time limit in seconds of each of these commands, which query a daemon of this host.
_LIMIT = 10.0
_SERVICE = re.compile(r"[A-Za-z0-9:_.@\\-]{1,200}\.service\Z")
#: login.defs(5), UID_MIN: uids of 1000 and above are those of users and applications.
_PEOPLE = 1000
#: More arguments than such a daemon takes.
_ARGUMENTS = 32


class Daemon(NamedTuple):
    """A program that keeps the clock; ``started`` is in seconds since boot.

    ``arguments`` are those of its unit: what a process shows as its own it may have chosen itself.
    ``unit`` is that unit, "" for none; None in records before 0.3.0.
    """

    name: str
    arguments: Answer[Tuple[str, ...]]
    started: Answer[float]
    unit: Optional[str] = None


class Unit(NamedTuple):
    """``argv`` is what it starts, with the variables of its environment files."""

    id: str
    daemon: str
    enabled: bool
    argv: Answer[Tuple[str, ...]]
    files: Tuple[str, ...]


class Chrony(NamedTuple):
    """Every file of the configuration by its path, the names in the directories that it names, and
    when the newest of them was written (seconds of the epoch)."""

    path: str
    texts: Dict[str, str]
    folders: Dict[str, List[str]]
    written: float

    def directives(self) -> List[chrony_conf.Directive]:
        return chrony_conf.follow(
            self.path, self.texts.__getitem__, lambda folder: self.folders.get(folder, [])
        )


class Sync(NamedTuple):
    """``offset_ms`` is None where the daemon does not tell it, ``error_ms`` too."""

    selected: Tuple[str, ...]
    reached: int
    asked: int
    offset_ms: Optional[float] = None
    error_ms: Optional[float] = None


class Facts(NamedTuple):
    """What the host showed. Every Answer may hold the error that replaces it.

    ``keepers`` are the daemons that set the clock; ``sync`` is what the only one says, None where
    it is not asked. ``ctss`` is the mode of Clusterware's own service, None where no cluster
    runs. ``left`` are configurations of daemons, whether they run or not. ``booted`` is in seconds
    of the epoch. ``steppers`` are the lines of cron that step the clock, by place. ``thresholds``
    are those of ntp.conf, where ntpd runs.
    """

    kernel: Answer[str]
    software: releases.Software
    cluster: Answer[bool]
    keepers: Answer[Dict[str, Daemon]]
    units: Answer[List[Unit]]
    chrony: Answer[Chrony]
    sync: Answer[Optional[Sync]]
    clock: Answer[str]
    clocks: Answer[Tuple[str, ...]]
    ctss: Answer[Optional[str]]
    left: Tuple[str, ...]
    booted: Answer[float]
    steppers: Answer[List[str]]
    thresholds: Answer[List[ntp_conf.Threshold]]


def read(host: Host, policy: Policy) -> Facts:
    """Look at everything that the checks and the plan need; nothing is written."""
    units = attempt(_read_units, host)
    keepers = attempt(_read_keepers, host, units)
    return Facts(
        kernel=attempt(lambda: host.read_text(RELEASE_FILE).strip()),
        software=releases.read_software(host),
        cluster=attempt(clusterware.may_be_node, host, profiles.announces_node(policy.profile)),
        keepers=keepers,
        units=attempt(_with_other_units, host, units, if_known(keepers, {})),
        chrony=attempt(_read_chrony, host, if_known(keepers, {})),
        sync=attempt(_read_sync, host, keepers),
        clock=attempt(lambda: host.read_text(CURRENT).strip()[:80]),
        clocks=attempt(lambda: tuple(host.read_text(AVAILABLE).split()[:20])),
        ctss=attempt(_read_ctss, host),
        left=tuple(path for path in (*CHRONY_CONF, *NTP_CONF) if _is_there(host, path)),
        booted=attempt(_read_boot_time, host),
        steppers=attempt(_read_steppers, host),
        thresholds=attempt(_read_thresholds, host, if_known(keepers, {})),
    )


def _read_thresholds(host: Host, keepers: Dict[str, Daemon]) -> List[ntp_conf.Threshold]:
    found: List[ntp_conf.Threshold] = []
    if NTPD not in keepers:
        return found
    options = " ".join(("", *if_known(keepers[NTPD].arguments, ())))
    paths = _FILE_OF_NTPD.findall(options) or list(NTP_CONF)
    for path in paths:
        text = unless_absent(attempt(host.read_text, path, record=ntp_conf.kept), "")
        found += ntp_conf.thresholds(text, path)
        paths.extend(name for name in ntp_conf.included(text)[:9] if name not in paths)
    return found


def _read_steppers(host: Host) -> List[str]:
    search = attempt(
        host.find_lines, "clock_steps", _CRON, _STEPS, True, lambda _path, _line: LEFT_OUT
    )
    found = unless_newer(search, FoundLines({}, {}, []))
    places = [f"{path}:{line}" for path, lines in found.lines.items() for line, _text in lines]
    if found.unread and not places:
        raise Denied(
            "lines:clock_steps", f"{found.unread[0]} may not be read: it can step the clock"
        )
    return sorted(places)


def _is_there(host: Host, path: str) -> bool:
    return not isinstance(attempt(host.stat, path), HostproofError)


# -- who keeps the clock --------------------------------------------------------------------------


def _started(process: Process) -> Answer[float]:
    if process.started is None:
        return Unanswered(
            "processes:keepers", f"the archive does not show when {process.argv0} started"
        )
    return process.started


def _read_keepers(host: Host, units: Answer[List[Unit]]) -> Dict[str, Daemon]:
    """By name, ``ptp`` for phc2sys or ptp4l; without those that leave the clock alone."""
    daemons: Dict[str, Daemon] = {}
    for process in host.processes("keepers", _KEEPERS, identity.TIME):
        match = _NAME.search(process.argv0)
        if match and _is_real(process, match.group(2)):
            arguments = attempt(_arguments_of, host, process, match.group(2), units)
            # One that only serves sets nothing, and may be next to one that does.
            options = if_known(arguments, ())
            if match.group(2) != CHRONYD or not _sets_no_clock(options):
                name = match.group(2)
                daemon = Daemon(name, arguments, _started(process), process.unit)
                daemons.setdefault(name, daemon)
    # Nor does one that only feeds another daemon.
    fed = daemons.pop("phc2sys", None)
    card = daemons.pop("ptp4l", None)
    if fed is not None and not feeds(known(fed.arguments)):
        daemons[PTP] = fed
    elif card is not None and not (daemons and feeds(("ptp4l", *if_known(card.arguments, ())))):
        daemons[PTP] = card
    return daemons


def feeds(argv: Tuple[str, ...]) -> bool:
    """Whether a PTP daemon leaves the clock of the system to another daemon. With software time
    stamping (-S), ptp4l sets it (ptp4l(8))."""
    if any(word.endswith("ntpshm") for word in argv):
        return True
    return bool(argv) and argv[0].endswith("ptp4l") and not _SOFTWARE.search(" ".join(argv))


def _sets_no_clock(arguments: Tuple[str, ...]) -> bool:
    """Whether chronyd was started with -x."""
    try:
        return ("-x", "") in _chronyd_options(arguments)[0]
    except Unanswered:
        return False


def _chronyd_options(arguments: Tuple[str, ...]) -> Tuple[List[Tuple[str, str]], List[str]]:
    """Options and words of the command line of chronyd; Unanswered for an unknown option."""
    # Only hosts with chronyd load it: it takes 30 ms, because it imports gettext.
    import getopt

    try:
        return getopt.gnu_getopt(list(arguments), _CHRONYD_OPTIONS)
    except getopt.GetoptError as problem:
        why = f"an option of chronyd is not known: {str(problem)[:80]}"
        raise Unanswered("processes:keepers", why) from problem


def _is_real(process: Process, name: str) -> bool:
    """Whether a process can set the clock. Any account can choose the name of a process, or start
    these programs without the right to set the clock. Real daemons run as system accounts."""
    if process.uid >= _PEOPLE:
        return False
    if process.exe is None:
        return True
    program = process.exe.rpartition("/")[2].partition(" (deleted)")[0]
    return program == name and process.exe_uid in (None, 0)


def _arguments_of(
    host: Host, process: Process, name: str, units: Answer[List[Unit]]
) -> Tuple[str, ...]:
    """The options of a daemon: those of the unit that started it, which only root can write.

    Without a unit (a container, a manual start) the options are unknown, unless the process runs as
    root: then root chose its arguments. A configuration file in these arguments is not read. None
    of these programs has a secret among its arguments."""
    if process.unit is None:  # a record of an older version
        return _read_arguments(host, process.pid)
    if not process.unit:
        if process.uid != 0:
            raise Unanswered(
                "processes:keepers",
                f"{name} (pid {process.pid}) was started by no unit: start it with systemctl",
            )
        arguments = _read_arguments(host, process.pid)
        if any(re.match(r"-\w*f", option) for option in arguments):
            raise Unanswered(
                "processes:keepers",
                f"{name} (pid {process.pid}) was started by no unit and with -f: start it with "
                "systemctl",
            )
        return arguments
    for unit in if_known(units, []):
        if unit.id == process.unit and not isinstance(unit.argv, Absent):
            return _options_of(known(unit.argv), name, unit.id)
    return _options_of(_read_other_unit(host, process.unit), name, process.unit)


def _options_of(argv: Tuple[str, ...], name: str, unit: str) -> Tuple[str, ...]:
    if argv and argv[0].rpartition("/")[2] == name:
        return argv[1:]
    raise Unanswered(
        "processes:keepers",
        f"{name} is started by {argv[0] if argv else 'something'} of {unit}, so that its "
        "options are not known",
    )


def _read_other_unit(host: Host, unit: str) -> Tuple[str, ...]:
    """The command of a unit that is not in UNITS."""
    shown = _show_other_unit(host, unit)
    return _read_argv(host, shown, tuple(unit_properties.environment_files(shown)))


def _show_other_unit(host: Host, unit: str) -> Dict[str, str]:
    if not _SERVICE.match(unit):
        raise Unanswered("processes:keepers", "a daemon of the time runs in no service")
    command = [*SHOW[:3], unit]
    for shown in unit_properties.parse(host.read_output(command)):
        return shown
    raise Unanswered("command:" + " ".join(command), "systemctl show says nothing of the unit")


def _read_arguments(host: Host, pid: int) -> Tuple[str, ...]:
    """The arguments that a process shows."""
    arguments: List[str] = []
    for number in range(1, _ARGUMENTS):
        answer = attempt(host.argument, pid, number)
        if isinstance(answer, Absent):
            break
        arguments.append(known(answer)[:200])
    return tuple(arguments)


def _read_units(host: Host) -> List[Unit]:
    # Absent on a system other than Linux, which has no systemctl.
    host.read_text(RELEASE_FILE)
    output = host.read_output(SHOW)
    units: Dict[str, Unit] = {}
    for shown in unit_properties.parse(output):
        name = shown.get("Id", "")
        if name in UNITS and shown.get("UnitFileState", ""):
            units[name] = _unit_of(host, name, UNITS[name], shown)
    return list(units.values())


def _unit_of(host: Host, name: str, daemon: str, shown: Dict[str, str]) -> Unit:
    files = tuple(unit_properties.environment_files(shown))
    argv = attempt(_read_argv, host, shown, files)
    enabled = shown.get("UnitFileState") in ("enabled", "static", "generated", "alias")
    return Unit(name, daemon, enabled, argv, files)


def _with_other_units(
    host: Host, units: Answer[List[Unit]], keepers: Dict[str, Daemon]
) -> List[Unit]:
    """With the units that run a daemon or that start after a reboot, and that are not in UNITS:
    instances of a template (chronyd@lan.service), chronyd-restricted.service."""
    all_units = list(known(units))
    others = {daemon.unit: name for name, daemon in keepers.items() if daemon.unit}
    wanted = attempt(unless_newer, attempt(host.list_dir, WANTED), [])
    for name in unless_absent(wanted, []):
        match = _OTHER_UNIT.match(name)
        if match and name not in others:
            others[name] = _DAEMONS_OF[match.group(1)]
    for name in sorted(set(others) - set(UNITS)):
        all_units.append(_unit_of(host, name, others[name], _show_other_unit(host, name)))
    return all_units


#: By the beginning of the name of a unit.
_DAEMONS_OF = {
    **dict.fromkeys(("chrony", "chronyd", "timemaster"), CHRONYD),
    **dict.fromkeys(("ntp", "ntpd", "ntpsec"), NTPD),
    **dict.fromkeys(("phc2sys", "ptp4l"), PTP),
}


def _read_argv(host: Host, shown: Dict[str, str], files: Tuple[str, ...]) -> Tuple[str, ...]:
    argv = unit_properties.argv(shown)
    variables = unit_properties.variables(argv)
    texts = [unless_absent(attempt(host.read_text, path, record=variables), "") for path in files]
    return unit_properties.expanded(argv, texts)


def _read_boot_time(host: Host) -> float:
    match = re.search(r"^btime (\d{1,12})$", host.read_text("/proc/stat"), re.MULTILINE)
    if match is None:
        raise Unanswered("file:/proc/stat", "/proc/stat does not say when the host was booted")
    return float(match.group(1))


# -- how, and from where --------------------------------------------------------------------------


def _read_chrony(host: Host, keepers: Dict[str, Daemon]) -> Chrony:
    """Absent where there is no configuration."""
    texts: Dict[str, str] = {}
    folders: Dict[str, List[str]] = {}
    written = [0.0]

    def read_text(path: str) -> str:
        texts[path] = host.read_text(path, record=chrony_conf.kept)
        written.append(host.stat(path).mtime)
        return texts[path]

    def list_dir(folder: str) -> List[str]:
        names = attempt(host.list_dir, folder)
        if isinstance(names, Absent):
            return []
        folders[folder] = known(names)
        return folders[folder]

    path = _chrony_path(host, keepers)
    chrony_conf.follow(path, read_text, list_dir)
    return Chrony(path, texts, folders, max(written))


def _chrony_path(host: Host, keepers: Dict[str, Daemon]) -> str:
    daemon = keepers.get(CHRONYD)
    arguments = known(daemon.arguments) if daemon else ()
    options, words = _chronyd_options(arguments)
    if words:
        why = "chronyd was started with directives in place of a configuration file"
        raise Unanswered("processes:keepers", why)
    files = [value for option, value in options if option == "-f"]
    if files:
        path = files[-1]
        if not path.startswith("/"):
            raise Unanswered("processes:keepers", "chronyd was started with -f and no whole path")
        return path
    there = [path for path in CHRONY_CONF if _is_there(host, path)]
    if len(there) > 1:
        raise Unanswered(
            "stat:" + there[0],
            f"{' and '.join(there)} both exist: it is unknown which one chronyd reads",
        )
    return there[0] if there else CHRONY_CONF[0]


def _read_sync(host: Host, keepers: Answer[Dict[str, Daemon]]) -> Optional[Sync]:
    names = list(known(keepers))
    if names == [CHRONYD]:
        sources = time_sources.parse_chrony_sources(host.read_output(SOURCES, _LIMIT))
        tracking = time_sources.parse_tracking(host.read_output(TRACKING, _LIMIT))
        sync = _sync(sources)
        if not tracking.synchronised:
            return sync._replace(selected=())
        return sync._replace(offset_ms=tracking.offset_ms, error_ms=tracking.error_ms)
    if names == [NTPD]:
        sources = time_sources.parse_ntpq(host.read_output(NTPQ, _LIMIT))
        offsets = [source.offset_ms for source in sources if source.selected]
        return _sync(sources)._replace(offset_ms=offsets[0] if offsets else None)
    if names == [TIMESYNCD]:
        is_set = host.read_output(TIMEDATECTL, _LIMIT).strip() == "NTPSynchronized=yes"
        return Sync((TIMESYNCD,) if is_set else (), int(is_set), 1)
    return None


def _sync(sources: List[time_sources.Source]) -> Sync:
    return Sync(
        tuple(source.name for source in sources if source.selected),
        sum(source.reached for source in sources),
        len(sources),
    )


def _read_ctss(host: Host) -> Optional[str]:
    """Observer or Active: the word counts, for the numbers of messages have changed. Oracle Restart
    has no CTSS."""
    daemons = clusterware.css_daemons(host)
    if not daemons or attempt(clusterware.in_cluster, host) is False:
        return None
    name = "ask for the mode of cluster time synchronization"
    output = clusterware.ask(host, daemons[0], name, "crsctl", "check", "ctss")
    match = re.search(r"\b(Observer|Active) mode\b", output.stdout, re.IGNORECASE)
    if match is None:
        raise Unanswered(
            f"command:{name} (crsctl check ctss)",
            f"crsctl check ctss names no mode: {output.stdout.strip()[:200]}",
        )
    return match.group(1).capitalize()
