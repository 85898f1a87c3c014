# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one seam to the machine: every look at a host goes through a Host.

``LiveHost`` looks at the machine that it runs on and records what it saw; ``RecordedHost``
answers from such a record, so that a control judges last month's evidence with this month's
policy. Both answer the same calls, and both raise Absent, Denied or Unanswered (errors.py):
no answer is never an empty answer.

A reading (one entry of the evidence) is a JSON object: ``kind``, ``at`` (UTC), and either
the answer (``text``, ``names``, ``target``, ``stat``, ``argv``/``rc``/``stdout``/``stderr``,
``names``/``values``, ``processes``, ``under``, ``seconds``/``first``/``second``/``errors``,
``windows``/``remarks``) or ``error`` (absent, denied, unanswered) with ``message``.
"""

import errno
import os
import re
import selectors
import socket
import subprocess
import tempfile
import threading
import time
from functools import partial
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple

from . import command
from .command import Output
from .errors import Absent, Denied, HostproofError, Unanswered
from .latency.window import Measured, Window

#: A file longer than this is not configuration; reading it whole would hurt the host.
READ_LIMIT = 8 * 1024 * 1024

PIECE = 64 * 1024

_ERRORS = {"absent": Absent, "denied": Denied, "unanswered": Unanswered}


class Secret(NamedTuple):
    """A file that a command reads and that nobody else may: its name and its text.

    ``variables`` are environment variables for the command; "{0}" in a value is the file's folder.
    """

    name: str
    text: str
    variables: Tuple[Tuple[str, str], ...]


class Stat(NamedTuple):
    """The part of stat(2) that controls judge. ``mode`` holds the permission bits only."""

    mode: int
    uid: int
    gid: int
    size: int
    mtime: float


class Process(NamedTuple):
    """A process as /proc shows it. ``started`` is seconds since boot."""

    pid: int
    uid: int
    gid: int
    started: float
    argv0: str


class OpenFiles(NamedTuple):
    """What a process holds open, mapped or stands in, as far as it was asked for.

    ``paths`` are sorted and unique, as the kernel writes them: a file that was removed ends in
    " (deleted)", a socket is socket:[INODE].
    """

    pid: int
    uid: int
    argv0: str
    paths: Tuple[str, ...]


class Sample(NamedTuple):
    """Files and commands read twice, to tell what happened in ``seconds`` between.

    ``first`` and ``second`` hold the text of each source under "file:PATH" or "command:ARGV".
    A source is in both or in neither; ``errors`` say why it is in neither.
    """

    seconds: float
    first: Dict[str, str]
    second: Dict[str, str]
    errors: Dict[str, str]


def _is_output(reading):
    # type: (Dict[str, Any]) -> bool
    streams = (reading["stdout"], reading["stderr"])
    return isinstance(reading["rc"], int) and all(isinstance(text, str) for text in streams)


def _has_names(process):
    # type: (OpenFiles) -> bool
    return all(isinstance(name, str) for name in (process.argv0,) + process.paths)


def _holds_windows(reading):
    # type: (Dict[str, Any]) -> bool
    lists = (reading["windows"], reading["remarks"])
    if not all(isinstance(one, list) for one in lists):
        return False
    # ValueError where one is no window.
    windows = [Window.from_json(one) for one in lists[0]]
    return len(windows) == len(lists[0]) and all(isinstance(one, str) for one in lists[1])


#: Kind of a reading to whether it holds an answer; a KeyError or TypeError means that it does not.
_SHAPES = {
    "file": lambda reading: isinstance(reading["text"], str),
    "dir": lambda reading: all(isinstance(name, str) for name in reading["names"]),
    "link": lambda reading: isinstance(reading["target"], str),
    "stat": lambda reading: Stat(**reading["stat"]),
    "command": _is_output,
    "argument": lambda reading: isinstance(reading["text"], str),
    "environment": lambda reading: (
        isinstance(reading["names"], list)
        and all(isinstance(text, str) for text in reading["values"].values())
    ),
    "udp": lambda reading: isinstance(bytes.fromhex(reading["reply"]), bytes),
    "processes": lambda reading: isinstance(
        [Process(**process) for process in reading["processes"]], list
    ),
    "open_files": lambda reading: (
        isinstance(reading["under"], list)
        and all(_has_names(_open_files(process)) for process in reading["processes"])
    ),
    "sample": lambda reading: (
        isinstance(reading["seconds"], (int, float))
        and reading["seconds"] > 0
        and all(
            isinstance(text, str)
            for part in ("first", "second", "errors")
            for text in reading[part].values()
        )
    ),
    "windows": _holds_windows,
}  # type: Dict[str, Callable[[Dict[str, Any]], Any]]


class Host:
    """The reads that controls may use. Subclasses answer ``_answer(key, kind, ask)``."""

    def read_text(self, path):
        # type: (str) -> str
        """The text of a file; bytes that are not UTF-8 survive as surrogates."""
        return str(self._answer("file:" + path, "file", lambda: {"text": _read_file(path)})["text"])

    def read_number(self, path):
        # type: (str) -> int
        """The whole number that a file under /proc or /sys holds; Unanswered if it holds none."""
        text = self.read_text(path).strip()
        if not text.isdecimal():
            raise Unanswered(
                "file:" + path, "{0} holds {1!r}, not a number".format(path, text[:40])
            )
        return int(text)

    def list_dir(self, path):
        # type: (str) -> List[str]
        """The sorted names in a folder. An empty folder is an answer, an unreadable one is not."""
        reading = self._answer("dir:" + path, "dir", lambda: {"names": sorted(os.listdir(path))})
        return list(reading["names"])

    def real_path(self, path):
        # type: (str) -> str
        """The path with every link resolved; Absent where it leads nowhere."""
        return str(
            self._answer("link:" + path, "link", lambda: {"target": _real_path(path)})["target"]
        )

    def stat(self, path):
        # type: (str) -> Stat
        """Owner, mode, size and time of what the path leads to."""
        reading = self._answer(
            "stat:" + path, "stat", lambda: {"stat": dict(_stat(path)._asdict())}
        )
        return Stat(**reading["stat"])

    def run(self, argv, timeout=20.0):
        # type: (List[str], float) -> Output
        """Run a command that only looks: LC_ALL=C, no shell; Absent if it is missing."""
        reading = self._answer(
            "command:" + " ".join(argv), "command", lambda: _run_command(argv, timeout)
        )
        return Output(reading["rc"], reading["stdout"], reading["stderr"])

    def ask(self, wanted):
        # type: (command.Command) -> Output
        """Run a command that only looks as its owner; its name stands in the evidence key.

        What it answers with is for the caller to judge (command.state_of), its exit code too.
        """
        reading = self._answer("command:" + wanted.name, "command", lambda: _ask(wanted))
        return Output(reading["rc"], reading["stdout"], reading["stderr"])

    def environment(self, pid, names):
        # type: (int, Iterable[str]) -> Dict[str, str]
        """The values of those environment variables that a process was started with.

        No other is kept, for they can hold passwords: ``names`` must not be of one that can.
        """
        wanted = sorted(set(names))
        key = "environment:{0}".format(pid)
        reading = self._answer(
            key, "environment", lambda: {"names": wanted, "values": _read_environment(pid, wanted)}
        )
        missing = [name for name in wanted if name not in reading["names"]]
        if missing:
            raise Unanswered(
                key, "{0} was read without {1}; record it again".format(key, missing[0])
            )
        return {name: reading["values"][name] for name in wanted if name in reading["values"]}

    def argument(self, pid, number):
        # type: (int, int) -> str
        """One argument of a process, 0 for its first; Absent where it has no such one.

        No other is kept, for they can hold passwords: ask only for one that never can.
        """
        return str(
            self._answer(
                "argument:{0}:{1}".format(pid, number),
                "argument",
                lambda: {"text": _read_argument(pid, number)},
            )["text"]
        )

    def run_with_secret(self, key, argv, secret, timeout=20.0):
        # type: (str, List[str], Secret, float) -> Output
        """Run a command that only looks and that needs a secret.

        The secret is in a file that has no name in any folder, so that nothing of it stays behind
        even if this process is killed; it is not in the argv, the environment or the evidence.
        ``key`` is the evidence key.
        """
        reading = self._answer(key, "command", lambda: self._run_with_secret(argv, secret, timeout))
        return Output(reading["rc"], reading["stdout"], reading["stderr"])

    def ask_udp(self, key, address, port, message, timeout):
        # type: (str, str, int, bytes, float) -> bytes
        """The reply to one datagram.

        Absent where the other machine says that nothing listens on the port, Unanswered where
        nobody says anything in ``timeout`` seconds.
        """
        reading = self._answer(key, "udp", lambda: _ask_udp(address, port, message, timeout))
        return bytes(bytearray.fromhex(reading["reply"]))

    def pause(self, seconds):
        # type: (float) -> None
        """Let time pass between two readings; a record has passed it already."""

    def processes(self, name, pattern):
        # type: (str, str) -> List[Process]
        """Processes whose first argument matches the regular expression, by pid.

        ``name`` stands for them in the evidence key, which the pattern would make unreadable.
        Only the first argument is kept: the others can hold passwords.
        """
        reading = self._answer(
            "processes:" + name,
            "processes",
            lambda: {
                "pattern": pattern,
                "processes": [dict(p._asdict()) for p in _find_processes(pattern)],
            },
        )
        return [Process(**process) for process in reading["processes"]]

    def open_files(self, name, pattern, under):
        # type: (str, str, Iterable[str]) -> List[OpenFiles]
        """What processes hold open ``under`` some paths, by pid; those that hold nothing are out.

        Processes are those whose first argument matches ``pattern``, "" for all but the kernel's
        own threads. An item of ``under`` is a path, which stands for itself and what lies
        beneath, or ends with ":" and is the beginning of a name ("socket:"). Looked at are fd,
        cwd, exe, root and the mapped files, by their names alone: a server that is gone does
        not block it. Denied where one of the processes may not be looked at.
        """
        wanted = sorted(set(under))
        key = "open_files:" + name
        reading = self._answer(
            key,
            "open_files",
            lambda: {
                "pattern": pattern,
                "under": wanted,
                "processes": [dict(p._asdict()) for p in _find_open_files(pattern, wanted)],
            },
        )
        missing = [item for item in wanted if item not in reading["under"]]
        if missing:
            raise Unanswered(
                key, "{0} was read without {1}; record it again".format(key, missing[0])
            )
        everything = [_open_files(process) for process in reading["processes"]]
        return [one for one in (_only(process, wanted) for process in everything) if one.paths]

    def sample(self, name, files, commands, seconds):
        # type: (str, List[str], List[List[str]], float) -> Sample
        """Read files and commands, wait ``seconds``, and read them again in the same order.

        ``seconds`` of the answer is the time that really passed, by a clock that nobody sets. A
        command that does not end with 0 has no answer.
        """
        key = "sample:" + name
        reading = self._answer(key, "sample", lambda: _take_sample(files, commands, seconds))
        first, second, errors = (
            dict(reading["first"]),
            dict(reading["second"]),
            dict(reading["errors"]),
        )
        for source in _sources(files, commands):
            if source in errors or source not in first or source not in second:
                errors.setdefault(source, "{0} is not in {1}; record it again".format(source, key))
                first.pop(source, None)
                second.pop(source, None)
        return Sample(float(reading["seconds"]), first, second, errors)

    def windows(self, name, measure):
        # type: (str, Callable[[], Measured]) -> Measured
        """What a latency probe measures that is no reading of files: windows and remarks.

        ``measure`` is called on the live machine alone; a HostproofError of it is Unanswered.
        """
        reading = self._answer("windows:" + name, "windows", lambda: _measure(measure))
        windows = [Window.from_json(one) for one in reading["windows"]]
        return Measured(windows, list(reading["remarks"]))

    def _answer(self, key, kind, ask):
        # type: (str, str, Callable[[], Dict[str, Any]]) -> Dict[str, Any]
        raise NotImplementedError

    def _run_with_secret(self, argv, secret, timeout):
        # type: (List[str], Secret, float) -> Dict[str, Any]
        raise NotImplementedError


class LiveHost(Host):
    """The machine that this code runs on. It asks once; ``evidence`` keeps the answers."""

    def __init__(self):
        # type: () -> None
        self.evidence = {}  # type: Dict[str, Dict[str, Any]]
        self._secrets = {}  # type: Dict[Secret, _OpenSecret]
        self._lock = threading.Lock()

    def _answer(self, key, kind, ask):
        # type: (str, str, Callable[[], Dict[str, Any]]) -> Dict[str, Any]
        if key not in self.evidence:
            reading = {"kind": kind, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
            try:
                reading.update(ask())
            except (OSError, subprocess.SubprocessError, ValueError) as problem:
                reading.update(_as_error(key, problem))
            self.evidence[key] = reading
        return _value_or_raise(key, self.evidence[key])

    def pause(self, seconds):
        # type: (float) -> None
        time.sleep(seconds)

    def _run_with_secret(self, argv, secret, timeout):
        # type: (List[str], Secret, float) -> Dict[str, Any]
        with self._lock:
            if secret not in self._secrets:
                self._secrets[secret] = _OpenSecret(secret)
        one = self._secrets[secret]
        return _run(argv, timeout, dict(one.environment), (one.file.fileno(),))


class RecordedHost(Host):
    """A host as a record of its evidence shows it (key to reading, as LiveHost.evidence)."""

    def __init__(self, evidence):
        # type: (Dict[str, Dict[str, Any]]) -> None
        self.evidence = evidence

    def _answer(self, key, kind, ask):
        # type: (str, str, Callable[[], Dict[str, Any]]) -> Dict[str, Any]
        if key not in self.evidence:
            raise Unanswered(
                key, "{0} is not in the recorded evidence; record it again".format(key)
            )
        answer = _value_or_raise(key, self.evidence[key])
        if not _has_answer(answer, kind):
            raise Unanswered(key, "the reading of {0} holds no answer; record it again".format(key))
        return answer


def _has_answer(reading, kind):
    # type: (Dict[str, Any], str) -> bool
    """Whether a reading that a person may have edited holds what its kind must."""
    try:
        return bool(_SHAPES[kind](reading))
    except (AttributeError, KeyError, TypeError, ValueError):
        return False


def _value_or_raise(key, reading):
    # type: (str, Dict[str, Any]) -> Dict[str, Any]
    error = reading.get("error")
    if error is not None:
        raise _ERRORS.get(error, Unanswered)(key, str(reading.get("message", error)))
    return reading


#: ConnectionRefusedError: nothing listens there.
_ABSENT = (FileNotFoundError, NotADirectoryError, ProcessLookupError, ConnectionRefusedError)


def _as_error(key, problem):
    # type: (str, Exception) -> Dict[str, Any]
    """How a failed read is kept. ESRCH: the process behind a /proc file ended meanwhile."""
    if isinstance(problem, _ABSENT):
        name = "absent"
    elif isinstance(problem, PermissionError):
        name = "denied"
    else:
        name = "unanswered"
    detail = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    return {"error": name, "message": "{0}: {1}".format(key, detail)}


def _read_file(path):
    # type: (str) -> str
    # In small pieces: for each read of /proc/sys the kernel allocates as much as is asked for.
    pieces = []
    length = 0
    with open(path, "rb", buffering=0) as stream:
        for piece in iter(lambda: stream.read(PIECE), b""):
            pieces.append(piece)
            length += len(piece)
            if length > READ_LIMIT:
                raise ValueError("longer than {0} bytes, not read".format(READ_LIMIT))
    return b"".join(pieces).decode("utf-8", "surrogateescape")


def _real_path(path):
    # type: (str) -> str
    os.stat(path)
    return os.path.realpath(path)


def _stat(path):
    # type: (str) -> Stat
    found = os.stat(path)
    return Stat(found.st_mode & 0o7777, found.st_uid, found.st_gid, found.st_size, found.st_mtime)


def _run_command(argv, timeout):
    # type: (List[str], float) -> Dict[str, Any]
    return _run(argv, timeout, dict(os.environ), ())


def _run(argv, timeout, environment, inherited):
    # type: (List[str], float, Dict[str, str], Tuple[int, ...]) -> Dict[str, Any]
    environment.update(LC_ALL="C", LANG="C")
    environment["PATH"] = environment.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        close_fds=True,
        pass_fds=inherited,
    )
    with process:
        try:
            stdout, stderr = _read_streams([process.stdout, process.stderr], argv, timeout)
        except (subprocess.TimeoutExpired, ValueError):
            process.kill()
            raise
    return {
        "argv": argv,
        "rc": process.returncode,
        "stdout": stdout.decode("utf-8", "surrogateescape"),
        "stderr": stderr.decode("utf-8", "surrogateescape"),
    }


def _ask(wanted):
    # type: (command.Command) -> Dict[str, Any]
    return dict(command.run(wanted)._asdict(), argv=list(wanted.argv), user=wanted.user)


def _read_argument(pid, number):
    # type: (int, int) -> str
    arguments = _read_file("/proc/{0}/cmdline".format(pid)).split("\0")[:-1]
    if number >= len(arguments):
        raise FileNotFoundError(errno.ENOENT, "the process has no such argument")
    return arguments[number]


def _read_environment(pid, names):
    # type: (int, List[str]) -> Dict[str, str]
    pairs = [
        item.partition("=") for item in _read_file("/proc/{0}/environ".format(pid)).split("\0")
    ]
    return {name: value for name, equals, value in pairs if equals and name in names}


def _read_streams(streams, argv, timeout):
    # type: (List[Any], List[str], float) -> List[bytes]
    """What a command writes until it closes its streams.

    Instead of Popen.communicate, which with a timeout looks again and again whether the command
    has ended, and which keeps whatever it writes.
    """
    deadline = time.monotonic() + timeout
    pieces = [[] for _stream in streams]  # type: List[List[bytes]]
    length = 0
    with selectors.DefaultSelector() as selector:
        for number, stream in enumerate(streams):
            selector.register(stream, selectors.EVENT_READ, pieces[number])
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise subprocess.TimeoutExpired(argv, timeout)
            for one, _events in ready:
                piece = os.read(one.fd, PIECE)
                one.data.append(piece)
                length += len(piece)
                if not piece:
                    selector.unregister(one.fileobj)
            if length > READ_LIMIT:
                raise ValueError("wrote more than {0} bytes, not read".format(READ_LIMIT))
    return [b"".join(one) for one in pieces]


class _OpenSecret:
    """A secret's file while commands need it; both go when nobody holds this any more.

    The file has no name: the folder holds a link to it as an open file.
    """

    def __init__(self, secret):
        # type: (Secret) -> None
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as this lives)
        self.file.write(secret.text.encode("utf-8", "surrogateescape"))
        self.file.flush()
        self._folder = tempfile.TemporaryDirectory(prefix="hostproof-")
        os.symlink(
            "/dev/fd/{0}".format(self.file.fileno()), os.path.join(self._folder.name, secret.name)
        )
        # Nothing else of this environment is the command's business.
        self.environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
        for name, text in secret.variables:
            self.environment[name] = text.format(self._folder.name)


#: Bytes of a datagram, whatever carries it.
_DATAGRAM = 65535


def _ask_udp(address, port, message, timeout):
    # type: (str, int, bytes, float) -> Dict[str, Any]
    family, kind, protocol, _name, place = socket.getaddrinfo(
        address, port, type=socket.SOCK_DGRAM
    )[0]
    with socket.socket(family, kind, protocol) as asking:
        asking.settimeout(timeout)
        # Connected: only then the kernel tells that the port is closed.
        asking.connect(place)
        asking.send(message)
        return {"reply": asking.recv(_DATAGRAM).hex()}


def _sources(files, commands):
    # type: (List[str], List[List[str]]) -> List[str]
    return ["file:" + path for path in files] + ["command:" + " ".join(argv) for argv in commands]


def _take_sample(files, commands, seconds):
    # type: (List[str], List[List[str]], float) -> Dict[str, Any]
    errors = {}  # type: Dict[str, str]
    started = time.monotonic()
    first = _read_sources(files, commands, errors)
    # What the first reading took is part of the time: each source is read ``seconds`` apart.
    time.sleep(max(0.0, started + seconds - time.monotonic()))
    passed = time.monotonic() - started
    second = _read_sources(files, commands, errors)
    for source in errors:
        first.pop(source, None)
        second.pop(source, None)
    return {"seconds": round(passed, 3), "first": first, "second": second, "errors": errors}


def _read_sources(files, commands, errors):
    # type: (List[str], List[List[str]], Dict[str, str]) -> Dict[str, str]
    """The text of each source; those that give none go to ``errors``."""
    texts = {}  # type: Dict[str, str]
    asks = [partial(_read_file, path) for path in files]
    asks += [partial(_read_output, argv) for argv in commands]
    for source, ask in zip(_sources(files, commands), asks):
        if source in errors:
            continue
        try:
            texts[source] = ask()
        except (OSError, subprocess.TimeoutExpired, ValueError) as problem:
            errors[source] = _as_error(source, problem)["message"]
    return texts


def _read_output(argv):
    # type: (List[str]) -> str
    output = _run_command(argv, 20.0)
    if output["rc"] != 0:
        raise ValueError("ended with {0}: {1}".format(output["rc"], output["stderr"].strip()))
    return str(output["stdout"])


def _measure(measure):
    # type: (Callable[[], Measured]) -> Dict[str, Any]
    try:
        measured = measure()
    except HostproofError as problem:
        raise ValueError(str(problem)) from problem
    return {
        "windows": [window.to_json() for window in measured.windows],
        "remarks": list(measured.remarks),
    }


def _process_ids():
    # type: () -> List[int]
    if not os.path.exists("/proc/self/cmdline"):
        # AIX and Solaris have a /proc too, of binary files.
        raise OSError(errno.ENOSYS, "processes are known on Linux only")
    names = os.listdir("/proc")
    if "1" not in names:
        # proc(5), hidepid: what this user may not see must not count as not running.
        raise PermissionError(errno.EACCES, "/proc hides the processes of other users (hidepid)")
    return sorted(int(name) for name in names if name.isdigit())


def _find_processes(pattern):
    # type: (str) -> List[Process]
    wanted = re.compile(pattern)
    ticks = float(os.sysconf("SC_CLK_TCK"))
    looked_at = (_look_at_process(pid, wanted, ticks) for pid in _process_ids())
    return [process for process in looked_at if process is not None]


def _look_at_process(pid, wanted, ticks):
    # type: (int, Any, float) -> Optional[Process]
    folder = "/proc/{0}".format(pid)
    try:
        argv0 = _read_file(folder + "/cmdline").split("\0", 1)[0]
        if not wanted.search(argv0):
            return None
        owner = os.stat(folder)
        # The name in parentheses may hold spaces and parentheses: count from the last one.
        fields = _read_file(folder + "/stat").rpartition(")")[2].split()
        uid = owner.st_uid
        if uid == 0:
            # A setuid program lends root's name to whoever started it under any other.
            uid = _real_uid(_read_file(folder + "/status"))
        return Process(pid, uid, owner.st_gid, int(fields[19]) / ticks, argv0)
    except (FileNotFoundError, ProcessLookupError):
        return None  # ended while we looked


def _real_uid(status):
    # type: (str) -> int
    """Whose process it is by /proc/PID/status: the account that started a setuid program."""
    found = re.search(r"^Uid:\s+(\d+)", status, re.MULTILINE)
    if found is None:
        raise ValueError("/proc/PID/status names no user")
    return int(found.group(1))


#: PF_KTHREAD of include/linux/sched.h, in the ninth field of /proc/PID/stat.
_KERNEL_THREAD = 0x00200000


def _find_open_files(pattern, under):
    # type: (str, List[str]) -> List[OpenFiles]
    wanted = re.compile(pattern)
    looked_at = (_look_at_open_files(pid, wanted, under) for pid in _process_ids())
    return [process for process in looked_at if process is not None]


def _look_at_open_files(pid, wanted, under):
    # type: (int, Any, List[str]) -> Optional[OpenFiles]
    folder = "/proc/{0}".format(pid)
    try:
        argv0 = _read_file(folder + "/cmdline").split("\0", 1)[0]
        if not wanted.search(argv0) or (not argv0 and _holds_nothing(folder)):
            return None
        owner = os.stat(folder)
        names = [folder + "/fd/" + number for number in os.listdir(folder + "/fd")]
        names += [folder + "/" + name for name in ("cwd", "exe", "root")]
        paths = {target for target in map(_link_target, names) if target not in ("", "/")}
        paths.update(_mapped_files(folder))
        process = OpenFiles(pid, owner.st_uid, argv0, tuple(paths))
    except (FileNotFoundError, ProcessLookupError):
        return None  # ended while we looked
    except PermissionError as problem:
        raise PermissionError(
            errno.EACCES, "this user may not see what process {0} holds open".format(pid)
        ) from problem
    process = _only(process, under)
    return process if process.paths else None


def _holds_nothing(folder):
    # type: (str) -> bool
    """Whether a process without arguments is a thread of the kernel or has ended (zombie)."""
    fields = _read_file(folder + "/stat").rpartition(")")[2].split()
    return fields[0] in "ZX" or bool(int(fields[6]) & _KERNEL_THREAD)


def _link_target(path):
    # type: (str) -> str
    """Where a link of /proc leads, "" if it was closed while we looked."""
    try:
        return os.readlink(path)
    except FileNotFoundError:
        return ""


def _mapped_files(folder):
    # type: (str) -> List[str]
    with open(folder + "/maps", "rb") as stream:
        fields = [line.rstrip(b"\n").split(None, 5) for line in stream]
    names = {field[5].decode("utf-8", "surrogateescape") for field in fields if len(field) == 6}
    return [name for name in names if name.startswith("/")]


def _only(process, under):
    # type: (OpenFiles, List[str]) -> OpenFiles
    paths = [path for path in process.paths if any(_lies_under(path, item) for item in under)]
    return process._replace(paths=tuple(sorted(paths)))


def _lies_under(path, item):
    # type: (str, str) -> bool
    if item.endswith(":"):
        return path.startswith(item)
    return path == item or path.startswith(item.rstrip("/") + "/")


def _open_files(process):
    # type: (Dict[str, Any]) -> OpenFiles
    paths = tuple(process["paths"])
    return OpenFiles(process["pid"], process["uid"], process["argv0"], paths)
