# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reads that a host offers."""

import re
import time
from contextlib import contextmanager
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Optional,
    Sequence,
)

from ...errors import (
    HostproofError,
    NotRecorded,
    ParseError,
    Unanswered,
    kind_of,
)
from ...parsers.number import integer
from .. import command, held, identity, window
from ..answer import Answer, attempt
from ..command import Output
from ..measured import Measured, Window
from .answers import (
    FoundLines,
    Measure,
    OpenFiles,
    Process,
    Record,
    Sample,
    Secret,
    Stat,
    only_under,
    open_files_of,
)
from .commands import ask_by_udp, ask_command, run_command
from .sampling import (
    Sampling,
    measurement_of,
    measures_nothing,
    not_measured,
    run_measurement,
    sampled_sources,
)


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
            "command:" + " ".join(argv), "command", lambda: run_command(argv, timeout), record
        )
        return Output(reading["rc"], reading["stdout"], reading["stderr"])

    def read_output(
        self, argv: List[str], timeout: float = 20.0, record: Optional[Record] = None
    ) -> str:
        """The output of a command that ``run`` accepts. Unanswered with its message if it fails."""
        output = self.run(argv, timeout, record)
        if output.rc != 0:
            whole = " ".join(argv)
            problem = f"{whole if len(whole) <= 60 else argv[0]} ended with {output.rc}"
            words = " ".join((output.stderr or output.stdout).split())[:200]
            raise Unanswered("command:" + whole, f"{problem}: {words}" if words else problem)
        return output.stdout

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
        reading = self._answer(
            "command:" + query.name, "command", lambda: ask_command(query), record
        )
        return Output(reading["rc"], reading["stdout"], reading["stderr"])

    def seconds_of(self, query: command.Command) -> Optional[float]:
        """The duration of ``ask``; None in a recording that does not have it."""
        reading = self._answer("command:" + query.name, "command", lambda: ask_command(query), None)
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
        reading = self._answer(key, "udp", lambda: ask_by_udp(address, port, message, timeout))
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
        everything = [open_files_of(process) for process in reading["processes"]]
        return [
            entry
            for entry in (only_under(process, folders) for process in everything)
            if entry.paths
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
        self._need([Sampling(key, files, commands)], seconds)
        reading = self._answer(key, "sample", measures_nothing)
        first, second, errors = (
            dict(reading["first"]),
            dict(reading["second"]),
            dict(reading["errors"]),
        )
        for source in sampled_sources(files, commands):
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
                return run_measurement(measure)

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
        self._need([measurement_of(measure) for measure in measures], seconds)
        return {
            measure.name: attempt(self.windows, measure.name, measures_nothing)
            for measure in measures
        }

    def measured_by_another(self, name: str) -> Measured:
        """The measurement that another control has requested for the window of this run.

        Unanswered if there is none.
        """
        self._wait_for("windows:" + name)
        return self.windows(name, not_measured)

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
