# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The host that this runs on: every read goes through a child or a command."""

import os
import subprocess
import threading
import time
from functools import partial
from typing import (
    Any,
    Callable,
    Dict,
    List,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from ...errors import (
    Unanswered,
)
from .. import child, guarded, guarded_read, held, identity, window
from ..reader import Reader
from .answers import (
    Record,
    Secret,
    error_reading,
    matching_lines,
    now,
    part_of,
    text_of_file,
    value_or_raise,
)
from .commands import run_command, run_process
from .interface import Host
from .processes import (
    argument_of,
    counts_as,
    environment_of,
    find_open_files,
    find_processes,
    owner_of_exe,
    process_ids,
)
from .sampling import read_sampled
from .script_search import search_lines

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
                reading.update(error_reading(key, problem))
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
            return run_command(argv, timeout)
        return run_process(argv, timeout, dict(os.environ), (), reader)

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
                outcome = error_reading(task.key, outcome)
            self.evidence[task.key] = dict(outcome, kind=task.kind, at=at)

    def _run_with_secret(self, argv: List[str], secret: Secret, timeout: float) -> Dict[str, Any]:
        if timeout <= 0:
            raise ValueError("not asked: the time for it was over before")
        with self._lock:
            if secret not in self._secrets:
                self._secrets[secret] = _OpenSecret(secret)
        open_secret = self._secrets[secret]
        return run_process(
            argv, timeout, dict(open_secret.environment), (open_secret.file.fileno(),)
        )


def _task(name: str) -> Callable[..., Any]:
    """A function of the reading child, by name."""
    tasks: Dict[str, Callable[..., object]] = {
        "file": text_of_file,
        "matching": lambda path, pattern: matching_lines(read_sampled(path), pattern, path),
        "dir": partial(guarded_read.read, step=guarded_read.names),
        "reader": guarded_read.reader_of,
        "link": partial(guarded_read.read, step=guarded_read.real_path),
        "stat": partial(guarded_read.read, step=guarded_read.about),
        "program": guarded.owner_of_program,
        "environment": environment_of,
        "argument": argument_of,
        "processes": lambda pattern, kind: [
            dict(process._asdict()) for process in find_processes(pattern, identity.kind_of(kind))
        ],
        "exe_owner": owner_of_exe,
        "same_file": identity.is_same_file,
        "held": lambda pattern, kind: held.look(
            process_ids(), pattern, partial(counts_as, identity.kind_of(kind))
        ),
        "lines": lambda *arguments: dict(search_lines(*arguments)._asdict()),
        "open_files": lambda pattern, under, kind: [
            dict(process._asdict())
            for process in find_open_files(pattern, under, identity.kind_of(kind))
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


class _OpenSecret:
    """The file of a secret while commands need it. It is removed with the last reference.

    The file has no name: the directory contains a link to it as an open file.
    """

    def __init__(self, secret: Secret) -> None:
        import tempfile  # few hosts need it, and the import takes 5 ms

        self.file = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as this lives)
        self.file.write(secret.text.encode("utf-8", "surrogateescape"))
        self.file.flush()
        self._folder = tempfile.TemporaryDirectory(prefix="hostproof-")
        os.symlink(f"/dev/fd/{self.file.fileno()}", os.path.join(self._folder.name, secret.name))
        # Nothing else of this environment is the command's business.
        self.environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
        for name, text in secret.variables:
            self.environment[name] = text.format(self._folder.name)
