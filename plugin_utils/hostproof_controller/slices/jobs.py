# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A slice as a job of ansible-runner: its directory, its commands and their exit codes.

The directory has the layout that ansible-runner documents: project/, env/, artifacts/. On this
machine project/ contains links to the checkout. A node gets a copy, because links do not work
there.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from ..layout import ROOT
from ..report.text import one_line, printable, shorten
from ..run_options import VARIABLE_FILES
from ..runs import INVENTORIES
from . import termination
from .nodes import Node

#: Files of the checkout that a playbook needs.
_PROJECT = (
    *("action_plugins", "callback_plugins", "filter_plugins", "library", "module_utils"),
    *("playbooks", "plugin_utils", "roles", "ansible.cfg"),
)
_NOT_SENT = shutil.ignore_patterns("__pycache__", "*.pyc", ".git")
#: Directory of the slice's own files, in project/, the working directory of a job.
_OWN = "slice"
#: Directories next to an inventory file that belong to the inventory.
_BESIDE = ("group_vars", "host_vars")

_IDENT = "slice"
#: Exit code of a completed audit with failed checks.
_FOUND = 2
#: Most bytes of a job's output that are kept, and most characters of a reason.
_KEPT = 64 * 1024
_LONGEST_REASON = 300


class AuditRequest(NamedTuple):
    """The settings that all slices of an audit share.

    ``inventories`` are those of the command line, ``files`` are files of variables (-e @FILE), and
    ``options`` are all other options, with absolute paths. ``programs`` is the directory of
    ansible-runner.
    """

    inventories: list[str]
    files: list[Path]
    options: list[str]
    programs: Path
    environment: Mapping[str, str]


class _Termination(NamedTuple):
    """The reason why a program failed; ``code`` is None if it did not start."""

    what: str
    code: int | None


class Job:
    """Slice ``number`` of ``count``. run() creates its directory.

    ``was_interrupted``: a signal interrupted the audit before the slice started or ended.
    """

    def __init__(self, number: int, count: int, hosts: list[str], node: Node | None) -> None:
        self.hosts = hosts
        self.node = node
        self.name = f"slice {number} of {count}" + (f" on {node.name}" if node else "")
        self.file_name = f"slice-{number}.log"
        self.was_interrupted = False
        self.began = False
        self._folder = Path()
        self._ended: list[_Termination] = []

    def run(self, above: Path, request: AuditRequest, interrupted: Sequence[int]) -> None:
        """Run the slice; why_lost() returns the reason of a failure.

        The caller appends to ``interrupted`` to end the slice early.
        """
        self.began = True
        self._folder = above / self.file_name.removesuffix(".log")
        try:
            self._prepare(request)
            self._pipe(self._commands(request), request.environment, interrupted)
        except OSError as problem:
            path = problem.filename or "a file"
            reason = f"cannot use {path}: {problem.strerror or problem}"
            self._ended.append(_Termination(reason, None))

    def _prepare(self, request: AuditRequest) -> None:
        own = self._folder / "project" / _OWN
        own.mkdir(parents=True, mode=0o700)
        for name in _PROJECT:
            self._put(ROOT / name, own.parent / name, links=True)
        (own / "limit").write_text("".join(f"{host}\n" for host in self.hosts), encoding="utf-8")
        words = []
        for number, source in enumerate(request.inventories):
            words += ["-i", self._inventory(source, f"{_OWN}/{number}")]
        for number, file in enumerate(request.files):
            shutil.copyfile(file, own / f"variables-{number}")
            words += ["-e", f"@{_OWN}/variables-{number}"]
        words += [*request.options, "--limit", f"@{_OWN}/limit"]
        env = self._folder / "env"
        env.mkdir()
        (env / "cmdline").write_text(shlex.join(words), encoding="utf-8")
        (env / "envvars").write_text(json.dumps(_variables(request)))

    def _put(self, source: Path, target: Path, *, links: bool) -> None:
        """Link or copy a file or directory; ``links``: keep the links in a copy."""
        if self.node is None:
            target.symlink_to(source)
        elif source.is_dir():
            shutil.copytree(source, target, symlinks=links, ignore=_NOT_SENT)
        else:
            shutil.copy(source, target)

    def _inventory(self, source: str, below: str) -> str:
        """The value of -i in the job."""
        if self.node is None or not os.path.exists(source):
            return _absolute(source)
        path = Path(source)
        directory = self._folder / "project" / below
        directory.mkdir()
        self._put(path, directory / path.name, links=False)
        for name in _BESIDE if path.is_file() else ():
            if (path.parent / name).is_dir():
                self._put(path.parent / name, directory / name, links=False)
        return f"{below}/{path.name}"

    def _commands(self, request: AuditRequest) -> dict[str, list[str]]:
        """The commands of a pipe by name: each reads the output of the previous one."""
        runner, directory = str(request.programs / "ansible-runner"), str(self._folder)
        job = ["-p", "playbooks/audit.yml", "--ident", _IDENT, "-q", "--omit-event-data"]
        if self.node is None:
            return {"ansible-runner": [runner, "run", directory, *job]}
        return {
            "ansible-runner transmit": [runner, "transmit", directory, *job],
            f"ssh {self.node.name}": self.node.command,
            "ansible-runner process": [runner, "process", directory, "--ident", _IDENT],
        }

    def _pipe(
        self,
        commands: Mapping[str, Sequence[str]],
        environment: Mapping[str, str],
        interrupted: Sequence[int],
    ) -> None:
        with ExitStack() as opened:
            running: list[tuple[str, subprocess.Popen[bytes]]] = []
            before = None
            for name, command in commands.items():
                log = opened.enter_context(self._said_by(name).open("wb"))
                last = len(running) == len(commands) - 1
                process = subprocess.Popen(
                    command,
                    env=environment,
                    stdin=before or subprocess.DEVNULL,
                    stdout=log if last else subprocess.PIPE,
                    stderr=log,
                    # A local job gets Ctrl-C from termination.py, in order. ssh gets it from the
                    # terminal, which it may need.
                    start_new_session=self.node is None,
                    preexec_fn=termination.bind,
                )
                if before:
                    # The previous process must get SIGPIPE when this one ends.
                    before.close()
                before = process.stdout
                running.append((name, process))
            for name, process in running:
                code = termination.wait(process, interrupted)
                if code:
                    end = f"ended with {code}" if code > 0 else f"was ended by signal {-code}"
                    reason = ": ".join([f"{name} {end}", *self._last_line(name)])
                    self._ended.append(_Termination(reason, code))

    def _said_by(self, name: str) -> Path:
        return self._folder / f"said-by-{name.replace(' ', '-').replace('/', '-')}"

    def _last_line(self, name: str) -> list[str]:
        lines = _tail(self._said_by(name)).split("\n")
        return [one_line(line.strip()) for line in lines if line.strip()][-1:]

    def why_lost(self) -> str:
        """A sentence why hosts of this slice have no result."""
        if self.was_interrupted:
            when = "" if self.began else " before it began"
            return f"Lost with {self.name}: the audit was interrupted{when}"
        # A failure of ssh comes first: it causes the errors of the programs at both ends. The exit
        # code for failed checks comes last: it is not a failure of the slice.
        first = min(
            self._ended,
            key=lambda failure: (failure.code == _FOUND, "ssh" not in failure.what),
            default=None,
        )
        reason = first.what if first else "it returned no result for this host"
        return shorten(f"Lost with {self.name}: {reason}", _LONGEST_REASON)

    @property
    def results(self) -> list[Path]:
        """The findings.jsonl that the job returned: none or one."""
        if not self.began:
            return []
        paths = (self._folder / "artifacts" / _IDENT / "reports").glob("*/findings.jsonl")
        return sorted(path for path in paths if path.is_file() and not path.is_symlink())

    def output(self) -> str:
        """The last output of its programs and its playbook."""
        files = [self._folder / "artifacts" / _IDENT / "stdout", *self._folder.glob("said-by-*")]
        texts = {path.name: _tail(path).strip() for path in files if not path.is_symlink()}
        content = "\n\n".join(f"{name}:\n{text}" for name, text in texts.items() if text)
        return printable(content).encode("ascii", "backslashreplace").decode("ascii") + "\n"


def _variables(request: AuditRequest) -> dict[str, str]:
    """Variables of a job that are added to the environment of its machine."""
    return {
        # By default, ansible-runner turns host key checking off.
        "ANSIBLE_HOST_KEY_CHECKING": request.environment.get("ANSIBLE_HOST_KEY_CHECKING", "True"),
        # The report must be written to the artifacts of the job.
        "HOSTPROOF_REPORT": "",
        "HOSTPROOF_REPORTS": "",
        INVENTORIES: "\n".join(map(_absolute, request.inventories)),
        VARIABLE_FILES: "\n".join(str(file.absolute()) for file in request.files),
    }


def _absolute(inventory: str) -> str:
    """The absolute path of an inventory; a list of hosts is returned as it is."""
    return os.path.abspath(inventory) if os.path.exists(inventory) else inventory


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _KEPT))
            return stream.read(_KEPT).decode("utf-8", "replace")
    except OSError:
        return ""
