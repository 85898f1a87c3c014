# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Oracle Net listeners that run on a host, and the listener.ora that each of them read.

A listener is the process ``ORACLE_HOME/bin/tnslsnr NAME -inherit`` whose program belongs to the
account that runs it. Any account can choose such arguments (Process.runs). Its file is in the
TNS_ADMIN of the environment that it was started with, otherwise in its home: network/admin, for a
read-only home below ORACLE_BASE_HOME (Net Services Reference, listener.ora, Overview). Homes may be
on NFS, so their files are read by commands with a time limit. The commands run as the owner of the
process, because the process controls the path and must not cause root to read any file.
"""

import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from ...collect import identity
from ...collect.answer import Answer, attempt, known, unless_absent
from ...collect.command import Command
from ...collect.host import Host, Process
from ...errors import Absent, HostproofError, NotRecorded, ParseError, Unanswered, kind_of
from ...parsers.kernel import proc_cgroup, proc_limits
from ...parsers.number import decimal, integer
from ...parsers.oracle import listener_log, orabasetab, oracle_net
from ..nfs import nfs_files
from ..unix import accounts

TNSLSNR = r"(^|/)tnslsnr$"

#: The evidence key of the search for them.
PROCESSES = "processes:tnslsnr"

FILE = "listener.ora"
SQLNET = "sqlnet.ora"
#: Directory for /etc on Linux, /var/opt/oracle on Solaris: read if there is no other file.
GLOBAL_FOLDERS = ("/etc", "/var/opt/oracle")

#: What a listener hands down to the servers that it starts; none of them can hold a password.
ENVIRONMENT = (
    "TNS_ADMIN",
    "ORACLE_HOME",
    "ORACLE_BASE",
    "TZ",
    "LD_LIBRARY_PATH",
    "NLS_LANG",
    "ORA_NLS10",
    "ORA_NLS11",
)

#: Rows of /proc/PID/limits that a listener hands down too, by the name in the module resource.
LIMITS = {
    "Max open files": "NOFILE",
    "Max processes": "NPROC",
    "Max locked memory": "MEMLOCK",
    "Max stack size": "STACK",
    "Max core file size": "CORE",
}

_TNSLSNR = "tnslsnr"
_PROGRAM = "/bin/" + _TNSLSNR
_BOOT_ARGV = ["grep", "^btime ", "/proc/stat"]
_NO_HOME = "the home of the listener is unknown"
_NODE_ARGV = ["uname", "-n"]
_BANNER = re.compile(r"LSNRCTL for [^:\n]{1,200}: Version (\d+(?:\.\d+)+)")


class NetFile(NamedTuple):
    """A file that a listener reads: its text, what it states, and when it was changed (epoch).

    ``replaced`` is the last change of its inode or of the link that leads to it, which ``mv``,
    ``cp -p`` and ``rsync -a`` leave, and chmod too; None in records before 0.3.0.
    """

    path: str
    text: Answer[str]
    net: Answer[oracle_net.NetFile]
    changed: Answer[float]
    replaced: Answer[Optional[float]] = None

    def evidence(self) -> Tuple[str, ...]:
        return ("command:cat " + self.path, "command:" + " ".join(stat_argv(self.path)))


class Listener(NamedTuple):
    """A running listener, or one as its next start makes it: its ``pid`` is 0, and what only a
    process has is Absent. A value that could not be read is replaced by the error (answer.py).

    ``started`` is in epoch seconds. ``main`` is its listener.ora, and ``why_there`` the reason why
    it is this one. ``included`` are the files of IFILE. ``others`` are paths of files that also
    define a listener with this name, but that it does not read. ``unit`` is its systemd service.
    """

    name: str
    home: str
    pid: int
    uid: int
    user: Answer[str]
    started: Answer[float]
    environment: Answer[Dict[str, str]]
    release: Answer[Tuple[int, ...]]
    main: Answer[NetFile]
    why_there: str
    included: Answer[List[NetFile]]
    others: Answer[List[str]]
    limits: Answer[Dict[str, Tuple[int, int]]]
    unit: Answer[Optional[str]]

    def parameters(self, name: str) -> List[oracle_net.Pair]:
        """Every parameter of that name, of IFILE too; raises what is unknown."""
        return [pair for net_file in self.files() for pair in known(net_file.net).all(name)]

    def files(self) -> List[NetFile]:
        """Those that there are: a listener runs without a file too, with defaults."""
        main = known(self.main)
        return [] if isinstance(main.net, Absent) else [main] + list(known(self.included))

    def command(self, name: str, verb: str, expected: str) -> Command:
        """An lsnrctl command about this listener, as its owner and in its environment."""
        environment = dict(known(self.environment), ORACLE_HOME=self.home)
        return Command(
            name=name,
            argv=(self.home + "/bin/lsnrctl", verb, self.name),
            user=known(self.user),
            environment=environment,
            expected=expected,
            timeout=90.0,
        )


def read_listeners(host: Host) -> List[Listener]:
    """Every running listener, by name and home; files and environments need root or the owner."""
    processes = host.processes("tnslsnr", TNSLSNR, identity.ORACLE)
    listeners = [
        _read_listener(host, process)
        for process in processes
        if process.runs(_TNSLSNR) is not False
    ]
    return sorted(listeners, key=lambda listener: (listener.name, listener.home, listener.pid))


def read_stopped(
    host: Host, name: str, home: str, user: Answer[str], environment: Dict[str, str]
) -> Listener:
    """A listener that does not run, with the file that its next start reads."""
    stopped = Absent(PROCESSES, f"listener {name} does not run")
    return _with_files(
        host,
        Listener(
            name=name,
            home=home,
            pid=0,
            uid=-1,
            user=user,
            started=stopped,
            environment=environment,
            release=attempt(_read_release, host, home, user, environment),
            main=stopped,
            why_there="",
            included=[],
            others=[],
            limits=stopped,
            unit=None,
        ),
    )


def find_definitions(
    host: Host, name: str, homes: Iterable[str], user: Optional[str] = None
) -> List[str]:
    """The files of these homes, and of the directories for all of them, that name the
    listener."""
    folders = [home + "/network/admin" for home in homes] + list(GLOBAL_FOLDERS)
    paths = []
    for folder in folders:
        path = f"{folder}/{FILE}"
        answer = attempt(nfs_files.read_text, host, path, user, record=oracle_net.kept)
        text = unless_absent(answer, None)
        if text is not None and _names(text, name):
            paths.append(path)
    return paths


def stat_argv(path: str) -> List[str]:
    return ["stat", "-L", "-c", "%Y", path]


def agent_lines(net: oracle_net.NetFile, listener: str) -> List[int]:
    """Lines about a listener that the agent of Grid Infrastructure wrote."""
    lines = net.text.split("\n")
    ours = [
        parameter for parameter in net.parameters if _is_about(parameter.name.upper(), listener)
    ]
    numbers = {
        net.line_of(place) for parameter in ours for place in (parameter.start, parameter.end)
    }
    return sorted(number for number in numbers if oracle_net.AGENT.search(lines[number - 1]))


def _is_about(parameter: str, listener: str) -> bool:
    return parameter == listener or parameter.endswith("_" + listener)


def read_sqlnet(host: Host, listener: Listener) -> List[Tuple[str, oracle_net.NetFile]]:
    """Path and content of its sqlnet.ora, and of the files of IFILE, in the order of the text. It
    is in TNS_ADMIN or in the home, never in the directory for all homes. Absent without one."""
    folder = known(listener.main).path.rpartition("/")[0]
    if folder in GLOBAL_FOLDERS:
        folder = f"{listener.home}/network/admin"
    return _sqlnet(host, f"{folder}/{SQLNET}", known(listener.user), 0)


def _sqlnet(host: Host, path: str, user: str, depth: int) -> List[Tuple[str, oracle_net.NetFile]]:
    if depth > oracle_net.IFILE_DEPTH:
        raise ParseError(path, "IFILE nests deeper than three levels")
    text = nfs_files.read_text(host, path, user, record=oracle_net.kept_nodes)
    net = oracle_net.parse(text, what=path)
    files = [(path, net)]
    for other in net.included():
        more = attempt(_sqlnet, host, other, user, depth + 1)
        if isinstance(more, Absent):
            raise Unanswered(more.key, f"IFILE of {path}: {more}")
        files += known(more)
    return files


def node_name(host: Host) -> str:
    return nfs_files.run(host, _NODE_ARGV).strip()


def read_log(host: Host, listener: Listener, size: int) -> listener_log.Log:
    """The last ``size`` bytes of its listener.log; of the log.xml of the ADR if that is absent."""
    argv = log_argv(host, listener, size)
    text = attempt(nfs_files.run, host, argv, known(listener.user))
    folder, is_adr, _name = argv[-1].rpartition("/trace/")
    if isinstance(text, Absent) and is_adr:
        xml_argv = [*argv[:-1], folder + "/alert/log.xml"]
        xml = attempt(nfs_files.run, host, xml_argv, known(listener.user))
        if not isinstance(xml, (Absent, NotRecorded)):
            return listener_log.parse(listener_log.of_xml(known(xml)))
    return listener_log.parse(known(text))


def log_argv(host: Host, listener: Listener, size: int) -> List[str]:
    return ["tail", "-c", str(size), log_path(host, listener)]


def log_path(host: Host, listener: Listener) -> str:
    """Where its text log is: in the ADR, unless that is off (Net Services Reference,
    DIAG_ADR_ENABLED_listener_name, ADR_BASE_listener_name, LOG_DIRECTORY_listener_name)."""
    settings = {}
    for name in ("DIAG_ADR_ENABLED_", "ADR_BASE_", "LOG_DIRECTORY_", "LOG_FILE_"):
        values = [
            parameter.value
            for parameter in listener.parameters(name + listener.name)
            if parameter.value
        ]
        settings[name] = values[-1] if values else None
    if (settings["DIAG_ADR_ENABLED_"] or "on").lower() in ("off", "false", "no"):
        name = settings["LOG_FILE_"] or listener.name.lower() + ".log"
        folder = settings["LOG_DIRECTORY_"] or listener.home + "/network/log"
        return "{0}/{1}".format(folder, name if "." in name else name + ".log")
    environment = known(listener.environment)
    base = settings["ADR_BASE_"] or environment.get("ORACLE_BASE") or listener.home + "/log"
    node = node_name(host).split(".")[0].lower()
    name = listener.name.lower()
    return f"{base}/diag/tnslsnr/{node}/{name}/trace/{name}.log"


# -- one listener ----------------------------------------------------------------------------------


def _read_listener(host: Host, process: Process) -> Listener:
    folder = f"/proc/{process.pid}"
    environment = attempt(host.environment, process.pid, ENVIRONMENT)
    home = _home_of(host, process, environment)
    name = _name_of(host, process)
    user = attempt(accounts.user_name, host, process.uid)
    listener = Listener(
        name=name,
        home=home,
        pid=process.pid,
        uid=process.uid,
        user=user,
        started=attempt(_started, host, process),
        environment=environment,
        release=attempt(_read_release, host, home, user, environment),
        main=Absent(PROCESSES, "not read yet"),
        why_there="",
        included=[],
        others=[],
        limits=attempt(lambda: _read_limits(host.read_text(folder + "/limits"))),
        unit=attempt(
            lambda: proc_cgroup.service_of(proc_cgroup.parse(host.read_text(folder + "/cgroup")))
        ),
    )
    return _with_files(host, listener)


def _with_files(host: Host, listener: Listener) -> Listener:
    home, user = listener.home, listener.user
    location = attempt(lambda: _find_file(host, home, known(listener.environment), known(user)))
    main = attempt(lambda: _read_file(host, known(location)[0], known(user)))
    return listener._replace(
        main=main,
        why_there=known(location)[1] if isinstance(location, tuple) else "",
        included=attempt(lambda: _read_included(host, known(main), known(user), 1)),
        others=attempt(
            lambda: _read_others(host, home, listener.name, known(main).path, known(user))
        ),
    )


def _home_of(host: Host, process: Process, environment: Answer[Dict[str, str]]) -> str:
    """From the path of the program; "" where nothing tells."""
    home = process.home(_TNSLSNR)
    if home is not None:
        return home
    if process.argv0.startswith("/") and process.argv0.endswith(_PROGRAM):
        return process.argv0[: -len(_PROGRAM)]
    if not isinstance(environment, HostproofError) and environment.get("ORACLE_HOME"):
        return environment["ORACLE_HOME"].rstrip("/")
    link = f"/proc/{process.pid}/exe"
    program = attempt(nfs_files.link_target, host, link)
    if isinstance(program, HostproofError):
        return ""
    program = str(program).replace(" (deleted)", "")
    return program[: -len(_PROGRAM)] if program.endswith(_PROGRAM) else ""


def _name_of(host: Host, process: Process) -> str:
    """Its first argument; without one it is LISTENER."""
    name = unless_absent(attempt(host.argument, process.pid, 1), "")
    return name.upper() if name and not name.startswith("-") else "LISTENER"


#: Seconds since 1970, in the year 6325.
_END_OF_TIME = 2.0**37


def _started(host: Host, process: Process) -> float:
    if process.started is None:
        raise Unanswered("processes:tnslsnr", "the archive does not show when the listener started")
    return _boot_time(host) + process.started


def _boot_time(host: Host) -> float:
    text = nfs_files.run(host, _BOOT_ARGV)
    words = text.split()
    if len(words) < 2 or not words[1].isdecimal():
        raise Unanswered("command:" + " ".join(_BOOT_ARGV), "/proc/stat tells no time of boot")
    return _moment(words[1])


def _read_release(
    host: Host, home: str, user: Answer[str], environment: Answer[Dict[str, str]]
) -> Tuple[int, ...]:
    """The banner of lsnrctl, which prints it before it asks any listener."""
    if not home:
        raise Unanswered(PROCESSES, _NO_HOME)
    command = Command(
        "release of lsnrctl in " + home,
        (home + "/bin/lsnrctl", "help"),
        user=known(user),
        environment=dict(known(environment), ORACLE_HOME=home),
        timeout=20.0,
    )
    match = _BANNER.search(host.ask(command).stdout)
    if match is None:
        raise Unanswered("command:" + command.name, f"lsnrctl in {home} tells no release")
    return tuple(integer(number) for number in match.group(1).split("."))


# -- its files -------------------------------------------------------------------------------------


def _find_file(host: Host, home: str, environment: Dict[str, str], user: str) -> Tuple[str, str]:
    """Path and reason."""
    folder = environment.get("TNS_ADMIN")
    if folder:
        return "{0}/{1}".format(folder.rstrip("/"), FILE), "TNS_ADMIN of its process"
    if not home:
        raise Unanswered(PROCESSES, _NO_HOME)
    tab = unless_absent(attempt(nfs_files.read_text, host, home + "/install/orabasetab", user), "")
    entry = orabasetab.parse(tab, home)
    if entry is not None and entry.read_only:
        return f"{entry.base_home()}/network/admin/{FILE}", "the home is read-only"
    path = f"{home}/network/admin/{FILE}"
    if isinstance(attempt(_changed, host, path, user), Absent):
        for folder in GLOBAL_FOLDERS:
            other = f"{folder}/{FILE}"
            if not isinstance(attempt(_changed, host, other, user), Absent):
                return other, "there is none in its home"
    return path, "its home"


def _read_file(host: Host, path: str, user: str) -> NetFile:
    text = attempt(nfs_files.read_text, host, path, user, record=oracle_net.kept)
    return NetFile(
        path=path,
        text=text,
        net=attempt(lambda: oracle_net.parse(known(text), what=path)),
        changed=attempt(_changed, host, path, user),
        replaced=attempt(_replaced, host, path, user),
    )


def _read_included(host: Host, main: NetFile, user: str, depth: int) -> List[NetFile]:
    """The files of IFILE, theirs too."""
    files: List[NetFile] = []
    for path in known(main.net).included():
        if depth > oracle_net.IFILE_DEPTH:
            raise ParseError(main.path, "IFILE nests deeper than three levels")
        net_file = _read_file(host, path, user)
        files.append(net_file)
        files.extend(_read_included(host, net_file, user, depth + 1))
    return files


def _read_others(host: Host, home: str, name: str, read: str, user: str) -> List[str]:
    """Other usual files with parameters of the listener, which it does not read."""
    places = find_definitions(host, name, [home] if home else [], user)
    return [path for path in places if path != read]


def _names(text: str, listener: str) -> bool:
    """Whether a file, understood or not, has a parameter of the listener."""
    heads = re.findall(r"^([A-Za-z0-9_.$-]+)\s*=", text, re.MULTILINE)
    return any(_is_about(head.upper(), listener) for head in heads)


def _changed(host: Host, path: str, user: str) -> float:
    argv = stat_argv(path)
    text = nfs_files.run(host, argv, user).strip()
    if not text.isdecimal():
        raise Unanswered("command:" + " ".join(argv), f"stat of {path} tells no time")
    return _moment(text)


def _replaced(host: Host, path: str, user: str) -> Optional[float]:
    moments = []
    for follow in ((), ("-L",)):
        argv = ["stat", *follow, "-c", "%Z", path]
        answer = attempt(nfs_files.run, host, argv, user)
        if isinstance(answer, NotRecorded):
            return None
        text = known(answer).strip()
        if not text.isdecimal():
            raise Unanswered("command:" + " ".join(argv), f"stat of {path} tells no time")
        moments.append(_moment(text))
    return max(moments)


def _moment(seconds: str) -> float:
    """A time since 1970; one that is far beyond has no name in any calendar."""
    moment = decimal(seconds)
    if moment >= _END_OF_TIME:
        raise ParseError("time", f"{kind_of(seconds)} is not a valid time")
    return moment


# -- what a restart has to keep --------------------------------------------------------------------


def _read_limits(text: str) -> Dict[str, Tuple[int, int]]:
    rows = proc_limits.parse(text)
    limits = {}
    for row, name in LIMITS.items():
        if row in rows:
            soft, hard = rows[row].soft, rows[row].hard
            limits[name] = (-1 if soft is None else soft, -1 if hard is None else hard)
    return limits
