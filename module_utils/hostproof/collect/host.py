# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The only interface to a host: every read goes through a Host.

``LiveHost`` reads the machine that it runs on and records the results. ``RecordedHost`` answers
from such a record, so that a control can check old evidence with the current policy. Both have the
same methods and raise Absent, Denied or Unanswered (errors.py), a RecordedHost also NotRecorded. A
missing answer is never an empty answer.

A reading (one entry of the evidence) is a JSON object: ``kind``, ``at`` (UTC), and either
the answer (``text``, ``names``, ``target``, ``stat``, ``argv``/``rc``/``stdout``/``stderr``,
``names``/``values``, ``uid``, ``processes``, ``under``, ``lines``/``callers``/``unread``,
``unseen``, ``windows``/``remarks`` and, of a report, ``figures``,
``seconds``/``first``/``second``/``errors``) or ``error`` (absent, denied, unanswered) with
``message``.

Methods that need a sampling window (``sample``, ``measure``, ``wait_for_window``) open a separate
one or wait for the shared one. To wait, they raise window.Waits. ``open_window`` then runs the
window, and a repeated call returns the answers (audit.read_all).
"""

import errno
import fnmatch
import glob
import os
import re
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from functools import partial
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from ..errors import (
    Absent,
    Denied,
    HostproofError,
    NotRecorded,
    ParseError,
    Unanswered,
    kind_of,
)
from ..parsers.number import integer
from . import child, command, guarded, guarded_read, held, identity, readings, window
from .answer import Answer, attempt
from .command import Output
from .measured import Measured, Window
from .reader import Reader

#: A longer file is not a script.
_SCRIPT_LIMIT = 512 * 1024
#: Depth to which a search follows calls from script to script.
_CALLS = 3
_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)
#: Streams and other links of a process: they lead to nothing that a reboot would run.
_OF_A_PROCESS = re.compile(
    r"/dev/(?:stdin|stdout|stderr|fd)(?=/|$)|/proc/(?:self|thread-self|\d+)/(?:fd|exe|ns)(?=/|$)"
)
_NETWORK = "nfs|cifs|smb|autofs|fuse|ceph|gluster|lustre|gpfs|afs|ocfs"
_ABSOLUTE_PATH = re.compile(r"(?<![\w.$}/])/[\w.+@/-]*[\w+]")
#: A file that a shell reads, whatever it begins with: ". FILE", "source FILE", "sh FILE",
#: "sh < FILE"; and the variables of a unit.
SOURCED = re.compile(
    r"(?:(?:^|[\s;&|({'\"=@+!-])(?:\.|source|(?:/[\w./-]*/)?(?:(?:a|ba|da|k|z)?sh|python[\d.]*))"
    r"[ \t]+(?:-\w+[ \t]+)*(?:<[ \t]*)?|^[ \t]*EnvironmentFile[ \t]*=[ \t-]*)[\"']?"
    r"(/[\w.+@/-]*[\w+])",
    re.MULTILINE,
)
#: The working directory of a unit or a command, and scripts that commands run from there.
_IN_FOLDER = re.compile(
    r"(?:^[ \t]*WorkingDirectory[ \t]*=[ \t-]*|\bcd[ \t]+[\"']?)(/[^\s%;&\"']*)", re.MULTILINE
)
_RELATIVE = re.compile(
    r"(?:(?:sh|source|python[\d.]*|[\s'\"]\.)[ \t]+(?:-\w+[ \t]+)*|[\s;&|'\"=]\./)(\w[\w.+@/-]*)"
)
#: A script whose name has a specifier of a unit: /opt/tune-%i.sh.
_SPECIFIED = re.compile(
    r"^[ \t]*Exec\w+[ \t]*=[ \t]*[-@:+!|]*(?:/\S*sh[ \t]+(?:-\w+[ \t]+)*)?"
    r"(/[\w./+@-]*%\w[\w.+@-]*)",
    re.MULTILINE,
)
#: The crontab of an account without root privileges, and the part of a line that runs as root.
OF_ACCOUNT = re.compile(r"/spool/cron/(?!atjobs/)(?:[^/]+/)?(?!root\Z)[^/]+\Z")
AS_ROOT = re.compile(
    r"\b(?:sudo|doas|dzdo|pbrun)\b(?![^|;&<>\n]{0,200}\s-u\s*(?!\s|root))[^|;&<>\n]*"
)
#: Functions for scripts of SysV: what one of them sets depends on its call.
_LIBRARY = re.compile(r"/(?:init-)?functions\Z|/rc\.status\Z")

#: Seconds for one access to a file or directory; _LIMITS has the tasks that read every process.
READ_SECONDS = 10.0
_LIMITS = {
    "processes": 30.0,
    "open_files": 120.0,
    "held": 120.0,
    "lines": 120.0,
    "matching": 10.0,
    "exe_owner": 3.0,
    "same_file": 3.0,
    "reader": 5.0,
}

#: Bytes of a path, as the kernel has it (limits.h).
_PATH_MAX = 4096

#: Characters of a line that a pattern is searched in.
_MOST_OF_A_LINE = 4096

#: Seconds that a killed command is waited for.
PARTING = 2.0

_ERRORS = {"absent": Absent, "denied": Denied, "unanswered": Unanswered}


#: What evidence holds of a text that can hold more than a control needs (parsers/kept_lines.py).
Record = Callable[[str], str]


class Secret(NamedTuple):
    """A file that only one command may read: its name and its text.

    ``variables`` are environment variables for the command; "{0}" in a value is the file's
    directory.
    """

    name: str
    text: str
    variables: Tuple[Tuple[str, str], ...]


class Stat(NamedTuple):
    """The part of stat(2) that controls check. ``mode`` holds the permission bits only."""

    mode: int
    uid: int
    gid: int
    size: int
    mtime: float


class Process(NamedTuple):
    """A process as /proc shows it. ``started`` is seconds since boot, None where an archive does
    not tell; ``exe`` is the file that it
    runs as the kernel names it, ``exe_uid`` who owns that file; None where that is not known.

    ``unit`` is the unit of systemd that it belongs to, "" for none; None in records before 0.3.0.
    """

    pid: int
    uid: int
    gid: int
    started: Optional[float]
    argv0: str
    exe: Optional[str] = None
    exe_uid: Optional[int] = None
    unit: Optional[str] = None

    def runs(self, name: str) -> Optional[bool]:
        """Whether it is the program HOME/bin/NAME of the account that runs it. A process can choose
        its displayed name, but not the file that the kernel reports for it.

        None if that is not known: this user may not see it, its file is on an unreachable server,
        or the record was created by an older version. A relink renames or removes the running
        program.
        """
        if self.exe is None or self.exe_uid is None:
            return None
        fits = re.search("/bin/" + re.escape(name) + r"[0O]?( \(deleted\))?$", self.exe)
        return fits is not None and self.exe_uid == self.uid

    def home(self, name: str) -> Optional[str]:
        """The home of HOME/bin/NAME, as the kernel has it."""
        match = re.match("(/.*)/bin/" + re.escape(name) + r"[0O]?( \(deleted\))?$", self.exe or "")
        return match.group(1) if match else None


class OpenFiles(NamedTuple):
    """Requested files that a process has open or mapped, and its directories.

    ``paths`` are sorted and unique, as the kernel writes them: a file that was removed ends in
    " (deleted)", a socket is socket:[INODE].
    """

    pid: int
    uid: int
    argv0: str
    paths: Tuple[str, ...]


class Measure(NamedTuple):
    """A measurement by a latency probe in a window; window.py describes ``how`` it is combined with
    others.

    ``measure`` takes its duration in seconds.
    """

    name: str
    how: str
    measure: Callable[[float], Measured]


class FoundLines(NamedTuple):
    """Lines that a search found: (number, text) by file.

    ``callers`` say of a script that was looked into because it is called from which file of the
    places that began. ``unread`` are files and directories that may not be read.
    """

    lines: Dict[str, List[Tuple[int, str]]]
    callers: Dict[str, str]
    unread: List[str]


class Sample(NamedTuple):
    """Files and commands read twice, to tell what happened in ``seconds`` between.

    ``first`` and ``second`` hold the text of each source under "file:PATH" or "command:ARGV".
    A source is in both or in neither; ``errors`` say why it is in neither.
    """

    seconds: float
    first: Dict[str, str]
    second: Dict[str, str]
    errors: Dict[str, str]


#: Stands for a line in which a pattern is found only with the secret that it holds.
HIDDEN_LINE = "(a line that holds a secret)"


def matching_lines(text: str, pattern: str, name: str = "") -> str:
    """The lines in which the pattern is found, without empty ones and without secrets; long lines
    are cut. A part of the result gives the same result.

    ``name`` is the path of the file, or the evidence key, that the text comes from.
    """
    from .masking import masked_lines

    lines = [line[:_MOST_OF_A_LINE] for line in text.split("\n")]
    found = [
        index
        for index, line in enumerate(lines)
        if line and (line == HIDDEN_LINE or re.search(pattern, line))
    ]
    shown = masked_lines(name, lines, found)
    return "\n".join(
        line if line == lines[index] or re.search(pattern, line) else HIDDEN_LINE
        for index, line in zip(found, shown)
    )


def now() -> str:
    """UTC, as readings have it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _is_output(reading: Dict[str, Any]) -> bool:
    streams = (reading["stdout"], reading["stderr"])
    return _is_number(reading["rc"]) and all(isinstance(text, str) for text in streams)


def _is_number(value: Any, kinds: Any = int) -> bool:
    """A number that a system can have: an id, a size, a time."""
    is_number = isinstance(value, kinds) and not isinstance(value, bool)
    return is_number and -(2**63) <= value < 2**64


def _is_stat(reading: Dict[str, Any]) -> bool:
    status = Stat(**reading["stat"])
    # A moment far beyond has no name in any calendar.
    time_is_one = _is_number(status.mtime, (int, float)) and abs(status.mtime) < 2**37
    return time_is_one and all(_is_number(number) for number in status[:4])


def _is_process(process: Process) -> bool:
    ids = (process.pid, process.uid, process.gid)
    return (
        all(_is_number(number) for number in ids)
        and (process.started is None or _is_number(process.started, (int, float)))
        and isinstance(process.argv0, str)
        and (process.exe is None or isinstance(process.exe, str))
        and (process.exe_uid is None or _is_number(process.exe_uid))
        and (process.unit is None or isinstance(process.unit, str))
    )


def _has_names(process: OpenFiles) -> bool:
    names = (process.argv0,) + process.paths
    return all(isinstance(name, str) for name in names) and all(
        _is_number(number) for number in (process.pid, process.uid)
    )


def _holds_lines(reading: Dict[str, Any]) -> bool:
    pairs = [line for lines in reading["lines"].values() for line in lines]
    names = list(reading["callers"].values()) + reading["unread"]
    return all(isinstance(name, str) for name in names) and all(
        isinstance(number, int) and isinstance(text, str) for number, text in pairs
    )


def _holds_windows(reading: Dict[str, Any]) -> bool:
    lists = (reading["windows"], reading["remarks"])
    if not all(isinstance(part, list) for part in lists):
        return False
    # ValueError where one is not a window.
    windows = [Window.from_json(item) for item in lists[0]]
    figures = reading.get("figures", {})
    return (
        len(windows) == len(lists[0])
        and all(isinstance(remark, str) for remark in lists[1])
        and isinstance(figures, dict)
        and all(
            isinstance(figure, str) or _is_number(figure, (int, float))
            for figure in figures.values()
        )
    )


#: Kind of a reading to whether it holds an answer; a KeyError or TypeError means that it does not.
_SHAPES: Dict[str, Callable[[Dict[str, Any]], object]] = {
    "file": lambda reading: isinstance(reading["text"], str),
    "dir": lambda reading: (
        isinstance(reading["names"], list)
        and all(isinstance(name, str) for name in reading["names"])
    ),
    "link": lambda reading: isinstance(reading["target"], str),
    "stat": _is_stat,
    "command": _is_output,
    "program": lambda reading: _is_number(reading["uid"]),
    "argument": lambda reading: isinstance(reading["text"], str),
    "environment": lambda reading: (
        isinstance(reading["names"], list)
        and all(isinstance(text, str) for text in reading["values"].values())
    ),
    "udp": lambda reading: isinstance(bytes.fromhex(reading["reply"]), bytes),
    "processes": lambda reading: all(
        _is_process(Process(**process)) for process in reading["processes"]
    ),
    "open_files": lambda reading: (
        isinstance(reading["under"], list)
        and all(_has_names(_open_files(process)) for process in reading["processes"])
    ),
    "held": held.is_reading,
    "lines": _holds_lines,
    "sample": lambda reading: (
        _is_number(reading["seconds"], (int, float))
        and reading["seconds"] > 0
        and all(
            isinstance(text, str)
            for part in ("first", "second", "errors")
            for text in reading[part].values()
        )
    ),
    "windows": _holds_windows,
}


class Host:
    """The reads that controls may use. Subclasses answer ``_answer(key, kind, ask)``.

    ``until`` is the moment (time.monotonic) after which nothing more is queried, None for no end.
    """

    until: Optional[float] = None
    evidence: Dict[str, Dict[str, Any]]
    not_recorded: Sequence[NotRecorded] = ()

    def read_text(
        self,
        path: str,
        keep: Optional[Callable[[str], str]] = None,
        record: Optional[Record] = None,
    ) -> str:
        """The text of a file; bytes that are not UTF-8 survive as surrogates.

        ``keep`` is for a file that holds secrets: it gives the part that evidence may hold, which
        is then all that is read. A HostproofError of it is Unanswered. ``record`` gives the part
        that evidence holds while the caller gets the whole text, for example to edit it.
        """

        def ask() -> Dict[str, Any]:
            text = self._read("file", path)
            try:
                return {"text": text if keep is None else keep(text)}
            except HostproofError as problem:
                raise ValueError(str(problem)) from problem

        return str(self._answer("file:" + path, "file", ask, record)["text"])

    def read_lines(self, path: str, pattern: str) -> List[str]:
        """The lines of a file in which ``pattern`` is found, without secrets; evidence holds no
        others.

        The key names the pattern, so a recording answers no other question. It is not the key of
        the file, which other controls read whole.
        """

        def ask() -> Dict[str, Any]:
            return {"text": self._read("matching", path, pattern)}

        text = str(self._answer(f"file:{pattern} in {path}", "file", ask)["text"])
        return text.split("\n") if text else []

    def read_number(self, path: str) -> int:
        """The whole number that a file under /proc or /sys holds; Unanswered if it holds none."""
        text = self.read_text(path).strip()
        if not text.isdecimal():
            raise Unanswered("file:" + path, f"{path} holds {kind_of(text)}, not a number")
        try:
            return integer(text)
        except ParseError as problem:
            raise Unanswered("file:" + path, f"{path}: {problem}") from problem

    def list_dir(self, path: str) -> List[str]:
        """The sorted names in a directory. An empty directory is an answer, an unreadable one
        is not."""
        reading = self._answer("dir:" + path, "dir", lambda: {"names": self._read("dir", path)})
        return list(reading["names"])

    def real_path(self, path: str) -> str:
        """The path with every link resolved; Absent where it leads nowhere."""
        return str(
            self._answer("link:" + path, "link", lambda: {"target": self._read("link", path)})[
                "target"
            ]
        )

    def stat(self, path: str) -> Stat:
        """Owner, mode, size and time of what the path leads to."""
        reading = self._answer("stat:" + path, "stat", lambda: {"stat": self._read("stat", path)})
        return Stat(**reading["stat"])

    def program_owner(self, path: str) -> int:
        """The one account (uid) that HOME/bin/NAME, its directory and its home belong to.

        Unanswered where that is not one, or where one of the three is a link.
        """
        key = "program:" + path
        reading = self._answer(key, "program", lambda: {"uid": self._read("program", path)})
        return int(reading["uid"])

    def run(
        self, argv: List[str], timeout: float = 20.0, record: Optional[Record] = None
    ) -> Output:
        """Run a command that only looks: LC_ALL=C, no shell; Absent if it is missing.

        ``record`` is for its output, as in ``read_text``.
        """
        reading = self._answer(
            "command:" + " ".join(argv), "command", lambda: _run_command(argv, timeout), record
        )
        return Output(reading["rc"], reading["stdout"], reading["stderr"])

    def run_as_reader(
        self,
        argv: List[str],
        paths: List[str],
        timeout: float = 20.0,
        named_by: Sequence[str] = (),
        record: Optional[Record] = None,
    ) -> Output:
        """Like ``run``, for a command that reads files: run as the account that can choose the
        targets of ``paths``.

        ``named_by`` are the files that contained the paths (guarded_read.py).
        """
        reading = self._answer(
            "command:" + " ".join(argv),
            "command",
            lambda: self._run_as(argv, paths, timeout, named_by),
            record,
        )
        return Output(reading["rc"], reading["stdout"], reading["stderr"])

    def ask(self, query: command.Command, record: Optional[Record] = None) -> Output:
        """Run a read-only command as its owner; its name is in the evidence key.

        The caller must check the output (command.state_of) and the exit code.
        """
        reading = self._answer("command:" + query.name, "command", lambda: _ask(query), record)
        return Output(reading["rc"], reading["stdout"], reading["stderr"])

    def seconds_of(self, query: command.Command) -> Optional[float]:
        """The duration of ``ask``; None in a recording that does not have it."""
        reading = self._answer("command:" + query.name, "command", lambda: _ask(query), None)
        seconds = reading.get("seconds")
        return float(seconds) if isinstance(seconds, (int, float)) and seconds >= 0 else None

    def environment(self, pid: int, names: Iterable[str]) -> Dict[str, str]:
        """The values of those environment variables that a process was started with.

        No other is kept, for they can hold passwords: ``names`` must not be of one that can.
        """
        requested = sorted(set(names))
        key = f"environment:{pid}"
        reading = self._answer(
            key,
            "environment",
            lambda: {"names": requested, "values": self._read("environment", pid, requested)},
        )
        missing = [name for name in requested if name not in reading["names"]]
        if missing:
            raise Unanswered(key, f"{key} was read without {missing[0]}; record it again")
        return {name: reading["values"][name] for name in requested if name in reading["values"]}

    def argument(self, pid: int, number: int) -> str:
        """One argument of a process, 0 for its first; Absent if it does not exist.

        The other arguments are not recorded, because they can contain passwords. Read only an
        argument that cannot contain one.
        """
        return str(
            self._answer(
                f"argument:{pid}:{number}",
                "argument",
                lambda: {"text": self._read("argument", pid, number)},
            )["text"]
        )

    def run_with_secret(
        self, key: str, argv: List[str], secret: Secret, timeout: float = 20.0
    ) -> Output:
        """Run a command that only looks and that needs a secret.

        The secret is in a file that has no name in any directory, so that nothing of it stays
        behind
        even if this process is killed; it is not in the argv, the environment or the evidence.
        ``key`` is the evidence key. Unanswered, and not run, where ``timeout`` leaves no time.
        """
        reading = self._answer(key, "command", lambda: self._run_with_secret(argv, secret, timeout))
        return Output(reading["rc"], reading["stdout"], reading["stderr"])

    def ask_udp(self, key: str, address: str, port: int, message: bytes, timeout: float) -> bytes:
        """The reply to one datagram.

        Absent if the other machine reports that the port is closed, Unanswered if there is no reply
        within ``timeout`` seconds.
        """
        reading = self._answer(key, "udp", lambda: _ask_udp(address, port, message, timeout))
        return bytes(bytearray.fromhex(reading["reply"]))

    def pause(self, seconds: float) -> None:
        """Let time pass between two rounds; a record has passed it already."""

    def wait_for_window(self, name: str, seconds: float) -> None:
        """Let the window pass between two readings that are no ``sample``; ``name`` says whose."""
        self._need([window.Task("pause:" + name, "pause")], seconds)

    def processes(self, name: str, pattern: str, kind: identity.Kind) -> List[Process]:
        """Processes of a kind whose first argument matches the regular expression, by pid.

        ``name`` represents them in the evidence key, because the pattern is not readable. Only the
        first argument is recorded: the others can contain passwords. Processes that only have a
        matching name are not recorded (identity.py).
        """
        reading = self._answer(
            "processes:" + name,
            "processes",
            lambda: {"pattern": pattern, "processes": self._find(pattern, kind)},
        )
        processes = [Process(**process) for process in reading["processes"]]
        # A process that does not match indicates that the record was edited.
        return [process for process in processes if re.search(pattern, process.argv0)]

    def open_files(
        self, name: str, pattern: str, under: Iterable[str], kind: identity.Kind
    ) -> List[OpenFiles]:
        """Files that processes of a kind have open ``under`` some paths, by pid; processes without
        such files are left out.

        The first argument of the processes matches ``pattern``; "" matches all except kernel
        threads. An item of ``under`` is a path, which includes everything below it, or a prefix of
        a name that ends with ":" ("socket:"). Only the names of fd, cwd, exe, root and mapped files
        are read, so an unreachable server does not block it. Denied if one of the processes may
        not be inspected.
        """
        folders = sorted(set(under))
        key = "open_files:" + name
        reading = self._answer(
            key,
            "open_files",
            lambda: {
                "pattern": pattern,
                "under": folders,
                "processes": self._read("open_files", pattern, folders, kind),
            },
        )
        missing = [item for item in folders if item not in reading["under"]]
        if missing:
            raise Unanswered(key, f"{key} was read without {missing[0]}; record it again")
        everything = [_open_files(process) for process in reading["processes"]]
        return [
            entry for entry in (_only(process, folders) for process in everything) if entry.paths
        ]

    def holders(self, name: str, pattern: str, kind: identity.Kind) -> held.Holders:
        """The flags of open files of processes, by pid, and the processes with AIO rings (held.py).

        Descriptors are read for processes of a kind whose first argument matches, rings for all
        processes. Open files are not opened. Denied if a matching process may not be inspected.
        """
        reading = self._answer(
            "held:" + name, "held", lambda: dict(self._read("held", pattern, kind), pattern=pattern)
        )
        return held.of_reading(reading)

    def find_lines(
        self,
        name: str,
        places: Sequence[str],
        pattern: str,
        only_as_root: bool = False,
        record: Optional[Callable[[str, str], str]] = None,
    ) -> FoundLines:
        """Lines that match ``pattern`` in the files of ``places``, and in scripts that they call.

        ``places`` are paths, with * for any name in a directory. A script is a file that begins
        with ``#!`` and whose path is in a file of ``places`` or in a called script. Only matching
        lines are recorded, because others can contain passwords. A line that is continued (\\)
        counts as one line. Files on network file systems are skipped, because an unreachable server
        would block the search. ``only_as_root``: in crontabs of other accounts, and in scripts that
        they call, only lines with sudo or a similar program count. ``record`` gives, of a path and
        a line, the part that is returned and recorded (kept_lines.needed_words).
        """
        key = "lines:" + name

        def ask() -> Dict[str, Any]:
            found = dict(self._read("lines", list(places), pattern, only_as_root), pattern=pattern)
            if record is not None:
                found["lines"] = {
                    path: [[number, record(path, text)] for number, text in rows]
                    for path, rows in found["lines"].items()
                }
            return found

        reading = self._answer(key, "lines", ask)
        lines = {
            path: [(number, text) for number, text in rows]
            for path, rows in reading["lines"].items()
        }
        return FoundLines(lines, dict(reading["callers"]), list(reading["unread"]))

    def sample(
        self, name: str, files: List[str], commands: List[List[str]], seconds: float
    ) -> Sample:
        """Read files and commands, wait for the window, and read them again in the same order.

        ``seconds`` of the answer is the measured duration (monotonic clock). A command with an exit
        code other than 0 has no answer.
        """
        key = "sample:" + name
        self._need([_Sampling(key, files, commands)], seconds)
        reading = self._answer(key, "sample", _nothing)
        first, second, errors = (
            dict(reading["first"]),
            dict(reading["second"]),
            dict(reading["errors"]),
        )
        for source in _sources(files, commands):
            if source in errors or source not in first or source not in second:
                errors.setdefault(source, f"{source} is not in {key}; record it again")
                first.pop(source, None)
                second.pop(source, None)
        return Sample(float(reading["seconds"]), first, second, errors)

    def windows(self, name: str, measure: Callable[[], Measured], seconds: float = 0.0) -> Measured:
        """Windows and remarks of a latency probe that needs no window, for example of a report.

        ``measure`` is called only on the live machine; its HostproofError becomes Unanswered. The
        ``seconds`` that a policy has it last do not count.
        """

        def ask() -> Dict[str, Any]:
            with self._more_time(seconds):
                return _measure(measure)

        reading = self._answer("windows:" + name, "windows", ask)
        windows = [Window.from_json(item) for item in reading["windows"]]
        return Measured(windows, list(reading["remarks"]), reading.get("figures"))

    @contextmanager
    def _more_time(self, seconds: float) -> Iterator[None]:
        """Waits and measurements of the policy do not count: extend the deadline by that time."""
        old, started = self.until, time.monotonic()
        if old is not None:
            self.until = old + seconds
        try:
            yield
        finally:
            if old is not None:
                self.until = old + min(seconds, time.monotonic() - started)

    def measure(self, measures: List[Measure], seconds: float) -> Dict[str, Answer[Measured]]:
        """Measurements of latency probes in a window, by their names.

        The probes are called only on the live machine; a HostproofError becomes Unanswered.
        """
        self._need([_measurement(measure) for measure in measures], seconds)
        return {measure.name: attempt(self.windows, measure.name, _nothing) for measure in measures}

    def measured_by_another(self, name: str) -> Measured:
        """The measurement that another control has requested for the window of this run.

        Unanswered if there is none.
        """
        self._wait_for("windows:" + name)
        return self.windows(name, _not_measured)

    def gather(self) -> None:
        """From now on, what needs a window waits for ``open_window``."""

    def open_window(self) -> None:
        """Let the window pass for all that wait for it; a record has passed it already."""

    def _need(self, tasks: Sequence[window.Task], seconds: float) -> None:
        """Let a window pass for those tasks whose readings there are not yet."""

    def _wait_for(self, key: str) -> None:
        """Let the window pass first, if one is to come that may give the reading."""

    def _answer(
        self,
        key: str,
        kind: str,
        ask: Callable[[], Dict[str, Any]],
        record: Optional[Record] = None,
    ) -> Dict[str, Any]:
        raise NotImplementedError

    def _run_with_secret(self, argv: List[str], secret: Secret, timeout: float) -> Dict[str, Any]:
        raise NotImplementedError

    def _read(self, task: str, *arguments: Any) -> Any:
        raise NotImplementedError

    def _run_as(
        self, argv: List[str], paths: List[str], timeout: float, named_by: Sequence[str]
    ) -> Dict[str, Any]:
        raise NotImplementedError

    def _find(self, pattern: str, kind: identity.Kind) -> List[Dict[str, Any]]:
        raise NotImplementedError


class LiveHost(Host):
    """The machine that this code runs on. It asks once; ``evidence`` keeps the answers."""

    def __init__(self) -> None:
        self.evidence: Dict[str, Dict[str, Any]] = {}
        #: Readings of which the evidence holds a part only, with what made that part.
        self._whole: Dict[str, Tuple[Dict[str, Any], Record]] = {}
        self._secrets: Dict[Secret, _OpenSecret] = {}
        self._lock = threading.Lock()
        #: Keys that the window has completed for and that are not in the evidence.
        self._passed: Set[str] = set()
        #: Keys that a caller waits for, and keys that a window has completed for.
        self._awaited: Set[str] = set()
        self._waited: Set[str] = set()
        #: Tasks that wait for the window with its seconds, by key; None where each opens its own.
        self._waiting: Optional[Dict[str, Tuple[window.Task, float]]] = None
        self._reader = Reader(_task)

    def _answer(
        self,
        key: str,
        kind: str,
        ask: Callable[[], Dict[str, Any]],
        record: Optional[Record] = None,
    ) -> Dict[str, Any]:
        if key in self._whole:
            reading, recorded = self._whole[key]
            if recorded != record:
                # Another control needs other lines of it.
                self.evidence[key] = self._whole.pop(key)[0]
            return reading
        if key not in self.evidence:
            if self.until is not None and time.monotonic() >= self.until:
                raise Unanswered(key, f"{key} was not asked: the time was over")
            reading = {"kind": kind, "at": now()}
            try:
                reading.update(ask())
            except (OSError, subprocess.SubprocessError, ValueError, child.Untrusted) as problem:
                reading.update(_as_error(key, problem))
            self.evidence[key] = reading
            if record is not None and "error" not in reading:
                self._whole[key] = (reading, record)
                self.evidence[key] = part_of(reading, record)
                return reading
        return value_or_raise(key, self.evidence[key])

    def pause(self, seconds: float) -> None:
        with self._more_time(seconds):
            time.sleep(seconds)

    def _read(self, task: str, *arguments: Any) -> Any:
        answer = _of_kernel(task, arguments[0])
        if answer is not None:
            return answer[0]
        limit = _LIMITS.get(task, READ_SECONDS)
        if self.until is not None:
            limit = max(0.001, min(limit, self.until - time.monotonic()))
        return self._reader.call(task, list(arguments), limit)

    def _run_as(
        self, argv: List[str], paths: List[str], timeout: float, named_by: Sequence[str]
    ) -> Dict[str, Any]:
        reader = guarded_read.Reader(*self._read("reader", paths, list(named_by)))
        if reader.uid == os.geteuid():
            return _run_command(argv, timeout)
        return _run(argv, timeout, dict(os.environ), (), reader)

    def _find(self, pattern: str, kind: identity.Kind) -> List[Dict[str, Any]]:
        processes = []
        for process in self._read("processes", pattern, kind):
            # Its file may be on a server that does not answer, or not for us to see.
            owner = self._about_program("exe_owner", process["pid"], process["started"])
            if process["exe"] is not None and identity.is_oracles(process["argv0"], kind):
                same = self._about_program("same_file", process["pid"], process["exe"])
                if same is False:
                    continue
            processes.append(dict(process, exe_uid=owner))
        return processes

    def _about_program(self, task: str, *arguments: Any) -> Any:
        try:
            return self._read(task, *arguments)
        except OSError:
            return None

    def gather(self) -> None:
        self._waiting = {}

    def open_window(self) -> None:
        waiting, self._waiting = self._waiting, None
        self._waited |= self._awaited
        if waiting:
            tasks = [task for task, _seconds in waiting.values()]
            self._pass(tasks, max(seconds for _task, seconds in waiting.values()))

    def _need(self, tasks: Sequence[window.Task], seconds: float) -> None:
        missing = [
            task for task in tasks if task.key not in self.evidence and task.key not in self._passed
        ]
        if missing and self._waiting is not None:
            for task in missing:
                self._waiting.setdefault(task.key, (task, seconds))
            raise window.Waits()
        if missing:
            self._pass(missing, seconds)

    def _wait_for(self, key: str) -> None:
        is_new = key not in self.evidence and key not in self._waited
        if is_new and self._waiting is not None:
            self._awaited.add(key)
            raise window.Waits()

    def _pass(self, tasks: Sequence[window.Task], seconds: float) -> None:
        at = now()
        for task, outcome in window.run(tasks, seconds):
            if task.kind == "pause":
                self._passed.add(task.key)
                continue
            if isinstance(outcome, Exception):
                outcome = _as_error(task.key, outcome)
            self.evidence[task.key] = dict(outcome, kind=task.kind, at=at)

    def _run_with_secret(self, argv: List[str], secret: Secret, timeout: float) -> Dict[str, Any]:
        if timeout <= 0:
            raise ValueError("not asked: the time for it was over before")
        with self._lock:
            if secret not in self._secrets:
                self._secrets[secret] = _OpenSecret(secret)
        open_secret = self._secrets[secret]
        return _run(argv, timeout, dict(open_secret.environment), (open_secret.file.fileno(),))


class RecordedHost(Host):
    """A host as a record of its evidence shows it (key to reading, as LiveHost.evidence).

    ``release`` is the release of Hostproof that recorded it, "" where that is not known.
    ``not_recorded`` are the readings that were requested and are newer than the record.
    """

    def __init__(self, evidence: Dict[str, Dict[str, Any]], release: str = "") -> None:
        self.evidence = evidence
        self.not_recorded: List[NotRecorded] = []
        self._release = release

    def _answer(
        self,
        key: str,
        kind: str,
        ask: Callable[[], Dict[str, Any]],
        record: Optional[Record] = None,
    ) -> Dict[str, Any]:
        former = readings.RENAMED.get(key)
        if key not in self.evidence and former in self.evidence:
            return self._answer(former, kind, ask, record)
        if key not in self.evidence:
            since = readings.newer_than(self._release, key, self.evidence)
            if since is None:
                raise Unanswered(key, f"{key} is not in the recorded evidence; record it again")
            self.not_recorded.append(NotRecorded(key, since, self._release))
            raise self.not_recorded[-1]
        answer = value_or_raise(key, self.evidence[key])
        if not _has_answer(answer, kind):
            raise Unanswered(key, f"the reading of {key} holds no answer; record it again")
        return answer


def part_of(reading: Dict[str, Any], record: Record) -> Dict[str, Any]:
    """The reading with the part of its text, or of the output of its command, that is recorded."""
    field = "text" if "text" in reading else "stdout"
    return dict(reading, **{field: record(reading[field])})


def _has_answer(reading: Dict[str, Any], kind: str) -> bool:
    """Whether a reading that a person may have edited holds what its kind must."""
    try:
        return bool(_SHAPES[kind](reading))
    except (AttributeError, KeyError, TypeError, ValueError):
        return False


def value_or_raise(key: str, reading: Dict[str, Any]) -> Dict[str, Any]:
    error = reading.get("error")
    if error is not None:
        kind = _ERRORS.get(error, Unanswered) if isinstance(error, str) else Unanswered
        raise kind(key, str(reading.get("message", error)))
    return reading


#: ConnectionRefusedError: nothing listens there.
_ABSENT = (FileNotFoundError, NotADirectoryError, ProcessLookupError, ConnectionRefusedError)


def _as_error(key: str, problem: Exception) -> Dict[str, Any]:
    """How a failed read is kept. ESRCH: the process behind a /proc file ended meanwhile."""
    if isinstance(problem, _ABSENT):
        name = "absent"
    elif isinstance(problem, PermissionError):
        name = "denied"
    else:
        name = "unanswered"
    detail = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    return {"error": name, "message": f"{key}: {detail}"}


def _task(name: str) -> Callable[..., Any]:
    """A function of the reading child, by name."""
    tasks: Dict[str, Callable[..., object]] = {
        "file": _read_text,
        "matching": lambda path, pattern: matching_lines(_read_sampled(path), pattern, path),
        "dir": partial(guarded_read.read, step=guarded_read.names),
        "reader": guarded_read.reader_of,
        "link": partial(guarded_read.read, step=guarded_read.real_path),
        "stat": partial(guarded_read.read, step=guarded_read.about),
        "program": guarded.owner_of_program,
        "environment": _read_environment,
        "argument": _read_argument,
        "processes": lambda pattern, kind: [
            dict(process._asdict()) for process in _find_processes(pattern, identity.kind_of(kind))
        ],
        "exe_owner": _exe_owner,
        "same_file": identity.is_same_file,
        "held": lambda pattern, kind: held.look(
            _process_ids(), pattern, partial(_counts, identity.kind_of(kind))
        ),
        "lines": lambda *arguments: dict(_find_lines(*arguments)._asdict()),
        "open_files": lambda pattern, under, kind: [
            dict(process._asdict())
            for process in _find_open_files(pattern, under, identity.kind_of(kind))
        ],
    }
    return tasks[name]


def _of_kernel(task: str, path: Any) -> Optional[Tuple[Any]]:
    """The answer of the kernel itself in a tuple; None where a child is to look."""
    if not isinstance(path, str):
        return None
    if task in ("file", "dir", "stat"):
        return guarded_read.kernels(path, task)
    if task == "link" and path.startswith("/sys/") and ".." not in path:
        # Its text alone: the links of sysfs lead to its own directories.
        os.stat(path)
        return (os.path.realpath(path),)
    return None


def _read_text(path: str) -> str:
    return str(guarded_read.read(path, guarded_read.text))


def _read_file(path: str) -> str:
    """The text of a file with a trusted path: a file of /proc, of a process by its number."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0))
    try:
        return guarded_read.content(handle)
    finally:
        os.close(handle)


def _find_lines(places: Sequence[str], pattern: str, only_as_root: bool = False) -> FoundLines:
    """Breadth first: the files of ``places``, then the scripts that they call, and so on."""
    with guarded.OpenFolders() as kept:
        return _find_in(places, pattern, only_as_root, kept)


def _find_in(
    places: Sequence[str], pattern: str, only_as_root: bool, kept: guarded.OpenFolders
) -> FoundLines:
    regex = re.compile(pattern, re.MULTILINE)
    result = FoundLines({}, {}, [])
    # A path, its callers, whether it counts without "#!", and whether root runs it.
    waiting: List[Tuple[str, Tuple[str, ...], bool, bool]]
    paths = _files_of(places, result.unread)
    waiting = [(path, (), True, not (only_as_root and OF_ACCOUNT.search(path))) for path in paths]
    remote = _network_mounts()
    seen: Dict[bool, Set[Tuple[int, int]]] = {True: set(), False: set()}
    for depth in range(_CALLS):
        called: List[Tuple[str, Tuple[str, ...], bool, bool]] = []
        for path, callers, is_script, by_root in waiting:
            if (path + "/").startswith(remote):
                continue
            unread = result.unread if by_root or not callers else []
            text = _text_of(path, callers, is_script, seen[by_root], unread, kept)
            names = [n for n in _ABSOLUTE_PATH.findall(text) if not _OF_A_PROCESS.match(n)]
            sourced = {name for name in SOURCED.findall(text) if not _LIBRARY.search(name)}
            for folder in _IN_FOLDER.findall(text):
                inside = [f"{folder}/{name}" for name in _RELATIVE.findall(text)]
                names.extend(inside)
                sourced.update(inside)
            if "/systemd/" in path:
                patterns = {re.sub("%.", "*", name) for name in _SPECIFIED.findall(text)}
                names.extend(_files_of(sorted(patterns), unread))
            powerful = text if by_root else "\n".join(AS_ROOT.findall(text))
            called.extend(
                (name, (*callers, path), name in sourced, by_root or name in powerful)
                for name in dict.fromkeys(names)
            )
            # Most files have no match: do not split them into lines.
            if regex.search(text) and (by_root or path not in result.lines):
                result.lines[path] = [
                    (number, line)
                    for number, line in _joined_lines(text)
                    if regex.search(line) and (by_root or AS_ROOT.search(line))
                ]
                if callers:
                    result.callers[path] = callers[0]
        waiting = called if depth < _CALLS - 1 else []
    return result


def _network_mounts() -> Tuple[str, ...]:
    """Where a look could wait for another machine, each with a slash behind."""
    try:
        rows = [line.split(" ") for line in _read_file("/proc/self/mounts").splitlines()]
    except OSError:
        return ()
    return tuple(
        row[1].rstrip("/") + "/"
        for row in rows
        if len(row) > 2 and re.match(_NETWORK, row[2]) and row[1] != "/"
    )


def _files_of(places: Sequence[str], unread: List[str]) -> List[str]:
    """The files of some places by name. glob says nothing of directories that may not be read."""
    paths: List[str] = []
    for place in places:
        folder, _, name = place.rpartition("/")
        for directory in sorted(glob.glob(folder)) if glob.has_magic(folder) else [folder]:
            try:
                names = sorted(os.listdir(directory)) if glob.has_magic(name) else [name]
            except PermissionError:
                unread.append(directory)
                continue
            except OSError:
                continue
            paths.extend(
                directory + "/" + each for each in names if fnmatch.fnmatchcase(each, name)
            )
    return paths


def _text_of(
    path: str,
    callers: Tuple[str, ...],
    is_script: bool,
    seen: Set[Tuple[int, int]],
    unread: List[str],
    kept: guarded.OpenFolders,
) -> str:
    """The text of a file; "" for what was seen already, is not text or not a script.

    ``callers`` lead from a file of the places that began to it: who may write one of them chose
    the path.
    """
    try:
        step = partial(_read_script, is_script, seen)
        text, *number = guarded_read.read(path, step, callers, kept)
        # A file that is no script here may be one for another caller.
        seen.update([(number[0], number[1])] if number and (text or is_script) else [])
    except (ValueError, IsADirectoryError):
        return ""  # no regular file
    except (OSError, HostproofError) as problem:
        # What is not there holds nothing; what cannot be read may hold anything.
        if getattr(problem, "errno", None) not in _NOT_THERE and not _is_no_file(path):
            unread.append(path)
        return ""
    if "\0" in text:
        return ""
    if len(text) > _SCRIPT_LIMIT:
        unread.append(path)
        return ""
    return text


def _is_no_file(path: str) -> bool:
    """Whether a directory that is reached without links has no such name, or no file or link of it.

    A rejected walk (/tmp is writable by all) shows nothing: ``mktemp /tmp/x.XXXXXX`` in a script
    names a file that never exists.
    """
    folder = os.path.dirname(path)
    if os.path.realpath(folder) != folder:
        return False
    try:
        mode = os.lstat(path).st_mode
    except OSError as problem:
        return problem.errno in _NOT_THERE
    return not stat.S_ISREG(mode) and not stat.S_ISLNK(mode)


def _read_script(
    is_script: bool, seen: Set[Tuple[int, int]], target: guarded_read.Found
) -> List[Any]:
    """The text of a file, or a bit more of it than a script has, with its device and inode; ""
    if it was seen already. Without ``is_script`` it must begin as a script."""
    look = target.look
    if look is None or (look.st_dev, look.st_ino) in seen:
        return [""]
    text = guarded_read.head(_SCRIPT_LIMIT + 2, b"" if is_script else b"#!", target)
    return [text, look.st_dev, look.st_ino]


def _joined_lines(text: str) -> List[Tuple[int, str]]:
    lines: List[Tuple[int, str]] = []
    continued = False
    for number, line in enumerate(text.split("\n"), 1):
        if continued:
            lines[-1] = (lines[-1][0], lines[-1][1][:-1] + " " + line.strip())
        else:
            lines.append((number, line))
        continued = line.endswith("\\") and not line.lstrip().startswith("#")
    return lines


def _run_command(argv: List[str], timeout: float) -> Dict[str, Any]:
    return _run(argv, timeout, dict(os.environ), ())


def _run(
    argv: List[str],
    timeout: float,
    environment: Dict[str, str],
    inherited: Tuple[int, ...],
    reader: Optional[guarded_read.Reader] = None,
) -> Dict[str, Any]:
    environment.update(LC_ALL="C", LANG="C")
    environment["PATH"] = environment.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"
    until = time.monotonic() + timeout
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        close_fds=True,
        pass_fds=inherited,
        start_new_session=True,
        preexec_fn=None if reader is None else partial(child.become, reader.uid, gid=reader.gid),
        cwd=None if reader is None else "/",
    )
    try:
        stdout, stderr = command.read_streams([process.stdout, process.stderr], argv, timeout)
        # It may close its streams and live on.
        process.wait(max(0.001, until - time.monotonic()))
    except BaseException:
        _end(process)
        raise
    finally:
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
    return {
        "argv": argv,
        "rc": process.returncode,
        "stdout": stdout.decode("utf-8", "surrogateescape"),
        "stderr": stderr.decode("utf-8", "surrogateescape"),
    }


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill a read-only command and its children. A process that the kernel cannot end, because its
    server is unreachable, is left behind."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    try:
        process.wait(PARTING)
    except subprocess.TimeoutExpired:
        pass


def _ask(query: command.Command) -> Dict[str, Any]:
    began = time.monotonic()
    output = command.run(query)._asdict()
    seconds = round(time.monotonic() - began, 3)
    return dict(output, argv=list(query.argv), user=query.user, seconds=seconds)


def _read_argument(pid: int, number: int) -> str:
    arguments = _read_file(f"/proc/{pid}/cmdline").split("\0")[:-1]
    if number >= len(arguments):
        raise FileNotFoundError(errno.ENOENT, "the process has no such argument")
    return arguments[number]


def _read_environment(pid: int, names: List[str]) -> Dict[str, str]:
    pairs = [item.partition("=") for item in _read_file(f"/proc/{pid}/environ").split("\0")]
    return {name: value for name, equals, value in pairs if equals and name in names}


class _OpenSecret:
    """The file of a secret while commands need it. It is removed with the last reference.

    The file has no name: the directory contains a link to it as an open file.
    """

    def __init__(self, secret: Secret) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as this lives)
        self.file.write(secret.text.encode("utf-8", "surrogateescape"))
        self.file.flush()
        self._folder = tempfile.TemporaryDirectory(prefix="hostproof-")
        os.symlink(f"/dev/fd/{self.file.fileno()}", os.path.join(self._folder.name, secret.name))
        # Nothing else of this environment is the command's business.
        self.environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
        for name, text in secret.variables:
            self.environment[name] = text.format(self._folder.name)


#: Bytes of a datagram, whatever carries it.
_DATAGRAM = 65535


def _ask_udp(address: str, port: int, message: bytes, timeout: float) -> Dict[str, Any]:
    family, kind, protocol, _name, place = socket.getaddrinfo(
        address, port, type=socket.SOCK_DGRAM
    )[0]
    with socket.socket(family, kind, protocol) as asking:
        asking.settimeout(timeout)
        # Connected: only then the kernel shows that the port is closed.
        asking.connect(place)
        asking.send(message)
        return {"reply": asking.recv(_DATAGRAM).hex()}


def _sources(files: List[str], commands: List[List[str]]) -> List[str]:
    return ["file:" + path for path in files] + ["command:" + " ".join(argv) for argv in commands]


class _Sampling(window.Task):
    """Files and commands that are read when the window opens and when it closes."""

    def __init__(self, key: str, files: List[str], commands: List[List[str]]) -> None:
        super().__init__(key, "sample")
        self._sources = (files, commands)
        self._errors: Dict[str, str] = {}
        self._began = 0.0
        self._first: Dict[str, str] = {}

    def begin(self) -> None:
        self._began = window.now()
        self._first = _read_sources(self._sources[0], self._sources[1], self._errors)

    def end(self) -> Dict[str, Any]:
        # Include the duration of the first reading: both readings of a source are that far apart.
        passed = window.now() - self._began
        first = self._first
        second = _read_sources(self._sources[0], self._sources[1], self._errors)
        for source in self._errors:
            first.pop(source, None)
            second.pop(source, None)
        return {
            "seconds": round(passed, 3),
            "first": first,
            "second": second,
            "errors": self._errors,
        }


#: Seconds for one reading of a sample: others wait for it, and a sick driver blocks each command.
_READING_LIMIT = 60.0


def _read_sources(
    files: List[str], commands: List[List[str]], errors: Dict[str, str]
) -> Dict[str, str]:
    """The text of each source; those that give none go to ``errors``."""
    texts: Dict[str, str] = {}
    until = window.now() + _READING_LIMIT
    asks = [partial(_read_sampled, path) for path in files]
    asks += [partial(_read_output, argv) for argv in commands]
    for source, ask in zip(_sources(files, commands), asks):
        if source in errors:
            continue
        if window.now() >= until:
            errors[source] = f"{source}: was not read, those before it took {_READING_LIMIT:g} s"
            continue
        try:
            texts[source] = ask()
        except (OSError, subprocess.TimeoutExpired, ValueError) as problem:
            errors[source] = _as_error(source, problem)["message"]
    return texts


def _read_sampled(path: str) -> str:
    answer = guarded_read.kernels(path, "file")
    return _read_text(path) if answer is None else str(answer[0])


def _read_output(argv: List[str]) -> str:
    output = _run_command(argv, 20.0)
    if output["rc"] != 0:
        raise ValueError("ended with {0}: {1}".format(output["rc"], output["stderr"].strip()))
    return str(output["stdout"])


def _measurement(measure: Measure) -> window.Measurement:
    return window.Measurement(
        "windows:" + measure.name,
        "windows",
        measure.how,
        lambda seconds: _measure(partial(measure.measure, seconds)),
    )


def _not_measured() -> Any:
    raise ValueError("no probe measured it in this run")


def _nothing() -> Any:
    """For a reading that a window has given: it is never requested."""
    raise ValueError("no window has passed for it")


def _measure(measure: Callable[[], Measured]) -> Dict[str, Any]:
    try:
        measured = measure()
    except HostproofError as problem:
        raise ValueError(str(problem)) from problem
    result = {
        "windows": [window.to_json() for window in measured.windows],
        "remarks": list(measured.remarks),
    }
    return result if measured.figures is None else dict(result, figures=measured.figures)


def _process_ids() -> List[int]:
    if not os.path.exists("/proc/self/cmdline"):
        # AIX and Solaris have a /proc too, of binary files.
        raise OSError(errno.ENOSYS, "processes are known on Linux only")
    names = os.listdir("/proc")
    if "1" not in names:
        # proc(5), hidepid: what this user may not see must not count as not running.
        raise PermissionError(errno.EACCES, "/proc hides the processes of other users (hidepid)")
    return sorted(int(name) for name in names if name.isdigit())


def _find_processes(pattern: str, kind: identity.Kind) -> List[Process]:
    regex = re.compile(pattern)
    ticks = float(os.sysconf("SC_CLK_TCK"))
    looked_at = (_look_at_process(pid, regex, ticks, kind) for pid in _process_ids())
    return [process for process in looked_at if process is not None]


def _look_at_process(pid: int, regex: Any, ticks: float, kind: identity.Kind) -> Optional[Process]:
    folder = f"/proc/{pid}"
    try:
        argv0 = _first_argument(folder)
        if not regex.search(argv0):
            return None
        owner = os.stat(folder)
        uid = _account_of(folder, owner.st_uid)
        if not identity.counts(pid, uid, argv0, kind):
            return None
        # The name in parentheses may hold spaces and parentheses: count from the last one.
        fields = _read_file(folder + "/stat").rpartition(")")[2].split()
        started = int(fields[19]) / ticks
        return Process(
            pid, uid, owner.st_gid, started, argv0, _exe_of(folder), unit=identity.unit_of(pid)
        )
    except (FileNotFoundError, ProcessLookupError):
        return None  # ended while we looked


def _account_of(folder: str, uid: int) -> int:
    """The account of a process. /proc shows root as the owner of a process that may not be traced,
    such as a setuid program; then the real uid of its caller is used."""
    return uid if uid != 0 else _real_uid(_read_file(folder + "/status"))


def _counts(kind: identity.Kind, pid: int, argv0: str) -> bool:
    folder = f"/proc/{pid}"
    return identity.counts(pid, _account_of(folder, os.stat(folder).st_uid), argv0, kind)


def _first_argument(folder: str) -> str:
    """As much of it as a path can be long: any account can give its processes more to read."""
    with open(folder + "/cmdline", "rb", buffering=0) as stream:
        return stream.read(_PATH_MAX).split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def _exe_of(folder: str) -> Optional[str]:
    """The file that a process runs; to read the link touches no file."""
    try:
        return os.readlink(folder + "/exe")
    except (FileNotFoundError, PermissionError):
        return None


def _exe_owner(pid: int, started: float) -> Optional[int]:
    """Owner of the file that a process runs; None if the pid belongs to another process now."""
    folder = f"/proc/{pid}"
    owner = os.stat(folder + "/exe").st_uid
    fields = _read_file(folder + "/stat").rpartition(")")[2].split()
    return owner if int(fields[19]) / float(os.sysconf("SC_CLK_TCK")) == started else None


def _real_uid(status: str) -> int:
    """Whose process it is by /proc/PID/status: the account that started a setuid program."""
    match = re.search(r"^Uid:\s+(\d+)", status, re.MULTILINE)
    if match is None:
        raise ValueError("/proc/PID/status names no user")
    return int(match.group(1))


#: PF_KTHREAD of include/linux/sched.h, in the ninth field of /proc/PID/stat.
_KERNEL_THREAD = 0x00200000


def _find_open_files(pattern: str, under: List[str], kind: identity.Kind) -> List[OpenFiles]:
    regex = re.compile(pattern)
    looked_at = (_look_at_open_files(pid, regex, under, kind) for pid in _process_ids())
    return [process for process in looked_at if process is not None]


def _look_at_open_files(
    pid: int, regex: Any, under: List[str], kind: identity.Kind
) -> Optional[OpenFiles]:
    folder = f"/proc/{pid}"
    try:
        argv0 = _first_argument(folder)
        if not regex.search(argv0) or (not argv0 and _holds_nothing(folder)):
            return None
        if not kind.anybody and not _counts(kind, pid, argv0):
            return None
        owner = os.stat(folder)
        names = [folder + "/fd/" + number for number in os.listdir(folder + "/fd")]
        names += [folder + "/" + name for name in ("cwd", "exe", "root")]
        # An account may have a million open files: keep only the requested ones.
        held = (target for target in map(_link_target, names) if target not in ("", "/"))
        paths = set(_asked_for(held, under))
        paths.update(_asked_for(_mapped_files(folder), under))
    except (FileNotFoundError, ProcessLookupError):
        return None  # ended while we looked
    except PermissionError as problem:
        raise PermissionError(
            errno.EACCES, f"this user may not see what process {pid} holds open"
        ) from problem
    return OpenFiles(pid, owner.st_uid, argv0, tuple(sorted(paths))) if paths else None


def _holds_nothing(folder: str) -> bool:
    """Whether a process without arguments is a thread of the kernel or has ended (zombie)."""
    fields = _read_file(folder + "/stat").rpartition(")")[2].split()
    return fields[0] in "ZX" or bool(int(fields[6]) & _KERNEL_THREAD)


def _link_target(path: str) -> str:
    """Where a link of /proc leads, "" if it was closed while we looked."""
    try:
        return os.readlink(path)
    except FileNotFoundError:
        return ""


def _mapped_files(folder: str) -> Iterator[str]:
    with open(folder + "/maps", "rb") as stream:
        for line in stream:
            fields = line.rstrip(b"\n").split(None, 5)
            if len(fields) == 6 and fields[5].startswith(b"/"):
                yield fields[5].decode("utf-8", "surrogateescape")


def _only(process: OpenFiles, under: List[str]) -> OpenFiles:
    return process._replace(paths=tuple(sorted(_asked_for(process.paths, under))))


def _asked_for(paths: Iterable[str], under: List[str]) -> Iterator[str]:
    return (path for path in paths if any(_lies_under(path, item) for item in under))


def _lies_under(path: str, item: str) -> bool:
    if item.endswith(":"):
        return path.startswith(item)
    return path == item or path.startswith(item.rstrip("/") + "/")


def _open_files(process: Dict[str, Any]) -> OpenFiles:
    paths = tuple(process["paths"])
    return OpenFiles(process["pid"], process["uid"], process["argv0"], paths)
