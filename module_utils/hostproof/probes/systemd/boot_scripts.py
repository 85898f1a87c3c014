# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that change kernel settings once the host is up: rc.local, units, cron, rules.

Sources: systemd-rc-local-generator(8); systemctl(1), is-enabled; systemd.unit(5), "Unit File Load
Path"; crontab(5); at(1); udev(7); modprobe.d(5); NetworkManager-dispatcher(8); interfaces(5);
networkd-dispatcher(8); dhclient-script(8); systemd.generator(7).
"""

import re
from functools import partial
from typing import Dict, List, NamedTuple, Optional, Set, Tuple

from ...collect.answer import attempt, if_known, known, unless_absent, unless_newer
from ...collect.host import FoundLines, Host
from ...errors import Absent, Denied, Unanswered
from ...parsers import kept_lines
from ...parsers.shell import command_effects, script_lines, shell_words, started_commands
from ...parsers.shell.command_effects import Effect
from ...parsers.systemd import systemd_unit
from . import conf_files, unit_files

RC_LOCAL = ("/etc/rc.local", "/etc/rc.d/rc.local")
#: For units with the same name, the first directory wins.
UNIT_FOLDERS = (
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
)
_CRONTABS = (*started_commands.CRONTABS, *started_commands.CRONTABS_OF_ACCOUNTS)
_SCRIPTS = (
    *started_commands.CRON_SCRIPTS,
    "/var/spool/at/*",
    "/var/spool/atjobs/*",
    "/var/spool/cron/atjobs/*",
    "/etc/rc[2-5S].d/S*",
    "/etc/rc.d/rc[2-5S].d/S*",
    "/etc/init/*.conf",
    "/etc/init.d/boot.d/S*",
    "/etc/init.d/boot.local",
    "/etc/init.d/after.local",
    "/etc/rc.d/boot.local",
    "/etc/NetworkManager/dispatcher.d/*",
    "/etc/NetworkManager/dispatcher.d/*.d/*",
    "/usr/lib/NetworkManager/dispatcher.d/*",
    "/usr/lib/NetworkManager/dispatcher.d/*.d/*",
    "/etc/networkd-dispatcher/*.d/*",
    "/usr/lib/networkd-dispatcher/*.d/*",
    "/sbin/if*-local",
    "/etc/sysconfig/network/if-up.d/*",
    "/etc/sysconfig/network/scripts/*",
    "/etc/dhcp/dhclient*hooks",
    "/etc/dhcp/dhclient*.d/*",
    "/etc/dhclient*hooks",
    "/etc/dhcpcd.*hook",
    "/etc/network/if-pre-up.d/*",
    "/etc/network/if-up.d/*",
    "/etc/network/interfaces",
    "/etc/network/interfaces.d/*",
)
#: cloud-init runs bootcmd and the scripts of per-boot after every reboot.
_CLOUD = (
    "/etc/cloud/cloud.cfg",
    "/etc/cloud/cloud.cfg.d/*.cfg",
    "/var/lib/cloud/instance/*cloud-config.txt",
)
_CLOUD_SCRIPTS = (
    "/var/lib/cloud/scripts/per-boot/*",
    "/var/lib/cloud/instance/scripts/*",
)
#: sysfsutils writes what these hold: kernel/mm/transparent_hugepage/enabled = never.
_SYSFS = ("/etc/sysfs.conf", "/etc/sysfs.d/*.conf")
_UDEV = tuple(
    f"{place}/udev/rules.d/*.rules" for place in ("/etc", "/run", "/usr/local/lib", "/usr/lib")
)
_MODPROBE = tuple(
    f"{place}/modprobe.d/*.conf" for place in ("/etc", "/run", "/usr/local/lib", "/usr/lib")
)
#: NetworkManager and ifup run only what is executable; so does run-parts in a crontab.
_IF_EXECUTABLE = re.compile(
    r"(?:/etc|/usr/lib)/(?:NetworkManager/dispatcher\.d|networkd-dispatcher)/"
    r"|/etc/network/if-(?:pre-)?up\.d/|/etc/cron\.(?:hourly|daily|weekly|monthly)/"
)
#: Programs that systemd runs first after a reboot. Those of packages are below /usr/lib.
_GENERATORS = tuple(
    f"{place}/systemd/system-{kind}generators"
    for place in ("/etc", "/usr/local/lib")
    for kind in ("", "environment-")
)
PLACES = (
    RC_LOCAL
    + tuple(
        folder + "/" + name
        for folder in UNIT_FOLDERS
        for name in (
            "*.service",
            "*.service.d/*.conf",
            "service.d/*.conf",
            "*.socket",
            "*.socket.d/*.conf",
        )
    )
    + _CRONTABS
    + _SCRIPTS
    + _CLOUD
    + _CLOUD_SCRIPTS
    + _SYSFS
    + _UDEV
    + _MODPROBE
)

#: Units whose effects boot.py already lists in their order.
_KNOWN_UNITS = ("systemd-sysctl.service", "procps.service", "tuned.service", "rc-local.service")
_KNOWN_SCRIPT = re.compile(r"/S\d*(?:procps|sysctl|boot\.sysctl|tuned)$")
_RUNS = ("enabled", "generated", "alias")
_MAY_RUN = ("static", "indirect", "linked", "linked-runtime", "transient")
# The link of one that is enabled at run time is in /run: no boot finds it again.
_RUNS_NOT = ("disabled", "enabled-runtime", "masked", "masked-runtime", "not-found", "")
#: With any other setting a unit may not run, may lack the rights, or runs before sysctl.d is
#: applied.
_UNSURE = re.compile(
    r"^[ \t]*(?!(?:Description|Documentation|After|Wants|Type|RemainAfterExit|Environment|KillMode"
    r"|Standard\w+|Timeout\w+|Restart\w*|ExecStop\w*|ExecReload|ExecStartPost)[ \t]*="
    r"|ExecStart[ \t]*=[ \t]*[^ \t\n]"
    r"|WantedBy[ \t]*=[ \t]*(?:default|multi-user|basic|sysinit)\.target[ \t]*$)[A-Z]\w+[ \t]*=",
    re.MULTILINE,
)
#: The commands for the end of a unit do not run at boot where the unit stays active.
_STOPS = re.compile(r"\s*ExecStop")
_STAYS = re.compile(
    r"^[ \t]*(?:RemainAfterExit[ \t]*=[ \t]*(?:1|[yY]|[tT]|[oO][nN])"
    r"|Type[ \t]*=[ \t]*(?:forking|notify|dbus))",
    re.MULTILINE,
)

#: What is around a command in a variable: CMD="sysctl -w vm.swappiness=1".
_VARIABLE = re.compile(r"^(?:set |\s*export )?[\"']?\w+=[\"']?|[\"']\s*$")

#: The text of a command that runs a script whose path or text is not known.
_UNREAD = "a script by a relative or variable path, or from a pipe"


class Command(NamedTuple):
    """A line that changes settings. ``actor`` is what runs it; two actors run in any order.

    ``certain`` is whether it is sure that the next reboot runs the line."""

    text: str
    place: str
    actor: str
    certain: bool
    effects: List[Effect]

    def words(self) -> str:
        return "{0} '{1}'".format(self.place, " ".join(self.text.split())[:120])


def read_rc_local(host: Host) -> List[Command]:
    """The commands of the rc.local scripts that a reboot would run: those that are executable."""
    commands: List[Command] = []
    real_paths = set()
    for path in RC_LOCAL:
        if not _is_executable(host, path):
            continue
        real = host.real_path(path)
        if real in real_paths:
            continue
        real_paths.add(real)
        text = script_lines.kept(host.read_text(path, record=script_lines.kept))
        lines = shell_words.joined(text)
        for number, line in enumerate(lines, 1):
            effects = _effects(line) + _by_unread(line)
            is_reached = script_lines.reached(lines, number) if effects else None
            if effects and is_reached is not False:
                place = f"{path}:{number}"
                text = line if re.search(script_lines.INTERESTING, line) else _UNREAD
                commands.append(Command(text.strip(), place, path, bool(is_reached), effects))
    return commands


def read_others(host: Host) -> List[Command]:
    """The commands of everything else that runs once the host is up, and of scripts it calls."""
    searched = attempt(host.find_lines, "boot", PLACES, script_lines.INTERESTING, True, _shortened)
    search = unless_newer(searched, FoundLines({}, {}, []))
    if search.unread:
        path = sorted(search.unread)[0]
        raise Denied("file:" + path, f"{path} may not be read: it could set kernel values")
    _check_generators(host)
    commands: List[Command] = []
    for path in sorted(search.lines):
        origin = search.callers.get(path, path)
        if path not in RC_LOCAL and not _KNOWN_SCRIPT.search(origin):
            commands += _of_file(host, path, origin, search.lines[path])
    return commands


def _of_file(host: Host, path: str, origin: str, lines: List[Tuple[int, str]]) -> List[Command]:
    """The commands of a file that ``origin`` runs; none where no boot runs that."""
    read = [
        (number, line, effects, sure)
        for number, line in lines
        for effects, sure in [_of_line(path, line)]
        if effects and not _only_stops(host, path, line)
    ]
    runs = runs_at_boot(host, origin) if read else False
    if runs is False:
        return []
    simple = runs is True and path == origin and path.endswith(".service")
    simple = simple and not _is_unsure(host, path)
    return [
        Command(line.strip(), f"{path}:{number}", origin, simple and sure, effects)
        for number, line, effects, sure in read
    ]


def _kept_unit(text: str) -> str:
    """The part of a unit that evidence keeps (kept_lines.py): whether it may not run, and ends."""
    matches = [_UNSURE.match(line) or _STAYS.match(line) for line in text.split("\n")]
    return "\n".join([match.group() if match else "" for match in matches])


def _is_unsure(host: Host, path: str) -> bool:
    """Whether a setting of a unit, or of its drop-ins, may keep it from its work."""
    names = unit_files.names_by_folder(host)
    paths = [path, *unit_files.drop_ins(host, names, path.rpartition("/")[2])]
    return any(_UNSURE.search(host.read_text(file, record=_kept_unit)) for file in paths)


def _only_stops(host: Host, path: str, line: str) -> bool:
    """Whether a command runs only when its unit ends, and the unit stays active."""
    if not _STOPS.match(line) or not _is_unit(path):
        return False
    return _STAYS.search(host.read_text(path, record=_kept_unit)) is not None


def _check_generators(host: Host) -> None:
    """Raise Unanswered for a program of the administrator that may create any unit at boot."""
    for folder in _GENERATORS:
        names = attempt(host.list_dir, folder)
        for name in unless_absent(names, []):
            path = f"{folder}/{name}"
            # An empty file and a link to /dev/null mask the generator of a package.
            if _is_executable(host, path) and host.stat(path).size:
                why = f"{path} runs at boot time: its effect is unknown"
                raise Unanswered("file:" + path, why)


def of_script(path: str, text: str, actor: str) -> List[Command]:
    """The commands of a script that something else runs; whether it reaches them is not told."""
    return [
        Command(line.strip(), f"{path}:{number}", actor, False, found)
        for number, line in enumerate(shell_words.joined(script_lines.kept(text)), 1)
        for found in [_effects(line) + _by_unread(line)]
        if found
    ]


def read_called(host: Host, scripts: List[str], actor: str) -> List[Command]:
    """The commands of scripts that some scripts call; whether it reaches them is unknown."""
    name = "called by " + actor
    search = attempt(
        host.find_lines, name, scripts, script_lines.INTERESTING, record=_shortened_call
    )
    found = unless_newer(search, FoundLines({}, {}, []))
    for path in found.unread:
        raise Denied("file:" + path, f"{path} may not be read: it could set kernel values")
    return [
        Command(line.strip(), f"{path}:{number}", actor, False, effects)
        for path in sorted(found.callers)
        for number, line in found.lines[path]
        for effects in [_effects(line)]
        if effects
    ]


def _by_unread(line: str) -> List[Effect]:
    """The unknown effect of a script that a line runs by a relative or variable path."""
    if not script_lines.calls_unread(line):
        return []
    return [Effect(command_effects.SET, shell_words.UNKNOWN, None, (), None)]


def _effects(line: str) -> List[Effect]:
    if line.lstrip().startswith("#") or not re.search(script_lines.INTERESTING, line):
        return []
    return command_effects.effects(line)


def _of_line(path: str, line: str) -> Tuple[List[Effect], bool]:
    """(what the line does, whether it surely does)."""
    return _of_unit_line(line) if _is_unit(path) else (_of_other_line(path, line), False)


def _of_unit_line(line: str) -> Tuple[List[Effect], bool]:
    command = started_commands.of_unit(line) or ""
    effects, sure = started_commands.of_exec(command)
    if not effects and command.startswith("set "):
        return _effects(_VARIABLE.sub("", command)), False
    return effects, sure and not _STOPS.match(line)


def _of_other_line(path: str, line: str) -> List[Effect]:
    if path == "/etc/anacrontab":
        return _effects(re.sub(r"^\s*(?:[@\d]\S*\s+\d+\s+\S+\s+)?", "", line))
    if re.match(r"/etc/crontab\Z|/etc/cron\.d/|/var/spool/cron/(?!atjobs)", path):
        has_user = path.startswith(("/etc/crontab", "/etc/cron.d/"))
        return _effects(started_commands.of_crontab(line, has_user) or "")
    if path in _SYSFS or path.startswith("/etc/sysfs.d/"):
        return _of_sysfs(line)
    if path.startswith("/etc/cloud/") or path.endswith("cloud-config.txt"):
        return _of_cloud(line)
    if path.endswith(".rules"):
        return command_effects.effects(started_commands.of_udev(line))
    if "/modprobe.d/" in path:
        return command_effects.effects(started_commands.of_modprobe(line))
    if path.startswith("/etc/network/interfaces"):
        return _effects(re.sub(r"^\s*(?:pre-|post-)?(?:up|down)\s+", "", line))
    return _effects(line) or _effects(_VARIABLE.sub("", line))


def _of_sysfs(line: str) -> List[Effect]:
    """A line of sysfs.conf(5): ATTRIBUTE = VALUE, with the path below /sys."""
    name, equals, value = line.partition("=")
    if not equals or line.lstrip().startswith("#"):
        return []
    path = "/sys/" + name.strip(" \t/")
    return [Effect(command_effects.SET, path, value.strip(), (), None)]


def _of_cloud(line: str) -> List[Effect]:
    """A command of bootcmd or runcmd: a string, or a list of words in brackets."""
    text = re.sub(r"^\s*(?:(?:bootcmd|runcmd)\s*:)?\s*(?:-\s+)*", "", line)
    if re.match(r"\[[^\]]*$|\S*sysctl\s*$", text) and "sysctl" in text:
        return command_effects.effects("sysctl $1")  # the list continues on other lines
    if text.startswith("["):
        text = re.sub(r"\s*,\s*", " ", text.strip("[] \t"))
    elif text[:1] in ("'", '"') and text.rstrip()[-1:] == text[0]:
        text = text.strip()[1:-1]
    return _effects(text)


def _shortened(path: str, line: str) -> str:
    """The line with the words alone that decide what it does, and how often."""
    return kept_lines.needed_words(line, partial(_reading, path))


def _reading(path: str, line: str) -> object:
    named = script_lines.NAMED.findall(line)
    return (_of_line(path, line), _STOPS.match(line) is not None, named)


def _shortened_call(_path: str, line: str) -> str:
    return kept_lines.needed_words(line, _effects)


def _is_comment(_path: str, line: str) -> str:
    return "#" if line.lstrip().startswith("#") else kept_lines.LEFT_OUT


def _is_unit(path: str) -> bool:
    return path.startswith(tuple(folder + "/" for folder in UNIT_FOLDERS))


def runs_at_boot(host: Host, path: str) -> Optional[bool]:
    """Whether the next reboot runs what a file holds; None where that is not sure."""
    if path in RC_LOCAL:
        return None if _is_executable(host, path) else False
    if not _is_unit(path):
        return None if not _IF_EXECUTABLE.match(path) or _is_executable(host, path) else False
    folder, _slash, name = path.rpartition("/")
    if folder.endswith(".d"):
        return _runs_drop_in(host, folder.rpartition("/")[2][: -len(".d")])
    if name in _KNOWN_UNITS or _is_masked(host, folder, name):
        return False
    return _runs_unit(host, name, False)


def _runs_drop_in(host: Host, name: str) -> Optional[bool]:
    """Whether a drop-in for ``name`` may run: a unit, all units of a type or of a prefix ("a-")."""
    stem, dot, kind = name.rpartition(".")
    if not dot:
        return None
    if not stem.endswith("-"):
        return None if name in _KNOWN_UNITS else _runs_unit(host, name, True)
    units = _all_units(unit_files.names_by_folder(host))
    own = sorted(unit for unit in units if unit.startswith(stem) and unit.endswith("." + kind))
    return None if any(_runs_unit(host, unit, True) is not False for unit in own) else False


def _is_masked(host: Host, folder: str, name: str) -> bool:
    """Whether a unit of the same name is in a directory that counts more."""
    above = UNIT_FOLDERS[: UNIT_FOLDERS.index(folder)]
    for directory in above:
        stat = attempt(host.stat, f"{directory}/{name}")
        if not isinstance(stat, Absent):
            known(stat)
            return True
    return False


def _runs_unit(host: Host, name: str, by_drop_in: bool) -> Optional[bool]:
    state = _state(host, name)
    if state in _RUNS:
        return None if by_drop_in or "@" in name else True
    if state in _MAY_RUN or "@" in name:
        return None
    # The units that start it, directly or through others.
    units = [name, name.rpartition(".")[0] + ".timer"]
    cmdline = if_known(attempt(host.read_text, "/proc/cmdline"), "")
    for unit in units:
        stem = re.escape(re.sub(r"\.service$", "", unit))
        if re.search(rf"systemd\.wants=\"?{stem}(?:\.service)?(?![\w@.-])", cmdline):
            return None
        if unit != name and ("@" in unit or _state(host, unit) in _RUNS + _MAY_RUN):
            return None
        others = _what_starts(host, unit)
        if others is None:
            return None
        units += [other for other in others if other not in units]
    return False


def _what_starts(host: Host, unit: str) -> Optional[List[str]]:
    """The units that may start a unit; None where something else does."""
    paths = _dependents(host, unit.rpartition(".")[0]) + _links(host, unit)
    if not all(map(_is_unit, paths)):
        return None
    others = [re.sub(r"\.\w+/.*", "", path.rpartition("/system/")[2]) for path in paths]
    return _starters(host, unit) + others


def _dependents(host: Host, stem: str) -> List[str]:
    """The units that depend on a unit of that name, and the scripts that start one."""
    name = "what starts " + stem
    search = attempt(
        host.find_lines,
        name,
        PLACES
        + tuple(f"{folder}/*.target{end}" for folder in UNIT_FOLDERS for end in ("", ".d/*.conf")),
        r"(?:^[ \t]*(?:Wants|Requires|BindsTo|Upholds|On(?:Success|Failure))[ \t]*="
        r"|\bsystemctl\s.{0,50}start\s|\bservice\s)"
        r"(?:\\\n|.){0,200}"
        rf"(?<![\w@-]){re.escape(stem)}(?![\w-])",
        record=_is_comment,
    )
    found = unless_newer(search, FoundLines({}, {}, [])).lines
    return [
        path
        for path in sorted(found)
        if not all(line.lstrip().startswith("#") for _number, line in found[path])
    ]


def _links(host: Host, unit: str) -> List[str]:
    """The links in .wants and .requires of packages, which systemctl is-enabled leaves out."""
    return [
        f"{folder}/{name}/{unit}"
        for folder, names in unit_files.names_by_folder(host).items()
        for name in names
        if re.search(r"\.(?:wants|requires|upholds)$", name)
        and unit in if_known(attempt(host.list_dir, f"{folder}/{name}"), [])
    ]


def _all_units(names: Dict[str, List[str]]) -> Set[str]:
    return {unit for listed in names.values() for unit in listed}


def _starters(host: Host, service: str) -> List[str]:
    """Timers, paths and sockets of another name that start a service (Unit=, Service=)."""
    names = unit_files.names_by_folder(host)
    starters = []
    for name in sorted(_all_units(names)):
        stem, _dot, kind = name.rpartition(".")
        is_same = stem + ".service" == service
        if kind not in ("timer", "path", "socket") or (is_same and kind == "timer"):
            continue
        place = unit_files.place_of(names, name)
        units = conf_files.units_of(host, [place, *unit_files.drop_ins(host, names, name)])
        key = "Service" if kind == "socket" else "Unit"
        started = systemd_unit.last(units, kind.capitalize(), key)
        value = service if started is None and is_same else started and started.value
        # The value of a specifier is unknown.
        if value and (value == service or "%" in value):
            starters.append(name)
    return starters


def _state(host: Host, unit: str) -> str:
    argv = ["systemctl", "is-enabled", unit]
    output = attempt(host.run, argv)
    if isinstance(output, Absent):
        # No systemd, so no unit runs.
        return "not-found"
    state = str(known(output).stdout.strip())
    if state not in _RUNS + _MAY_RUN + _RUNS_NOT:
        raise Unanswered("command:" + " ".join(argv), f"systemctl answered {state!r} about {unit}")
    return state


def _is_executable(host: Host, path: str) -> bool:
    stat = attempt(host.stat, path)
    return not isinstance(stat, Absent) and bool(known(stat).mode & 0o100)


def loaded_files(commands: List[Command]) -> List[str]:
    """The files that commands load into the kernel by name."""
    files: Dict[str, None] = {}
    for command in commands:
        for effect in command.effects:
            for path in effect.files:
                if path.startswith("/"):
                    files[path] = None
    return sorted(files)
