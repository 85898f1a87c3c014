# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A slice as a job of ansible-runner: its directory, what runs it, and how that ended.

The directory is the one that ansible-runner documents: project/, env/, artifacts/. Here
project/ holds links to this checkout; to a node goes a copy, for links lead nowhere there.
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
from ..runs import INVENTORIES
from . import termination
from .nodes import Node

#: What a playbook needs of the checkout.
_PROJECT = (
    *("action_plugins", "callback_plugins", "filter_plugins", "library", "module_utils"),
    *("playbooks", "plugin_utils", "roles", "ansible.cfg"),
)
_NOT_SENT = shutil.ignore_patterns("__pycache__", "*.pyc", ".git")
#: Below project/, and the working directory of a job: what is the slice's own.
_OWN = "slice"
#: Lie next to an inventory, and are a part of it.
_BESIDE = ("group_vars", "host_vars")

_IDENT = "slice"
#: What an audit ends with that worked, and found something.
_FOUND = 2
#: Of the output of a job that is kept, and of a reason.
_KEPT = 64 * 1024
_LONGEST_REASON = 300


class AuditRequest(NamedTuple):
    """What every slice of an audit is queried alike.

    ``inventories`` are those of the command line, ``files`` of variables (-e @FILE), ``options``
    all others, with paths that are absolute. ``programs`` is the directory of ansible-runner.
    """

    inventories: list[str]
    files: list[Path]
    options: list[str]
    programs: Path
    environment: Mapping[str, str]


class _Termination(NamedTuple):
    """What became of a program that did not end well; ``code`` None: it did not start."""

    what: str
    code: int | None


class Job:
    """Slice ``number`` of ``count``; its directory is made when it is prepared.

    ``was_interrupted``: somebody interrupted the audit before it ended, or began.
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

    def run(self, above: Path, asked: AuditRequest, interrupted: Sequence[int]) -> None:
        """Run it to its end, whatever that is; why_lost() tells what it was. ``interrupted`` is no
        longer empty when it is to end early."""
        self.began = True
        self._folder = above / self.file_name.removesuffix(".log")
        try:
            self._prepare(asked)
            self._pipe(self._commands(asked), asked.environment, interrupted)
        except OSError as problem:
            what = problem.filename or "what it needs"
            said = f"{what} could not be used: {problem.strerror or problem}"
            self._ended.append(_Termination(said, None))

    def _prepare(self, asked: AuditRequest) -> None:
        own = self._folder / "project" / _OWN
        own.mkdir(parents=True, mode=0o700)
        for name in _PROJECT:
            self._put(ROOT / name, own.parent / name, links=True)
        (own / "limit").write_text("".join(f"{host}\n" for host in self.hosts), encoding="utf-8")
        words = []
        for number, source in enumerate(asked.inventories):
            words += ["-i", self._inventory(source, f"{_OWN}/{number}")]
        for number, file in enumerate(asked.files):
            shutil.copyfile(file, own / f"variables-{number}")
            words += ["-e", f"@{_OWN}/variables-{number}"]
        words += [*asked.options, "--limit", f"@{_OWN}/limit"]
        env = self._folder / "env"
        env.mkdir()
        (env / "cmdline").write_text(shlex.join(words), encoding="utf-8")
        (env / "envvars").write_text(json.dumps(_variables(asked)))

    def _put(self, source: Path, target: Path, *, links: bool) -> None:
        """A file or a directory; ``links``: where links in it stay what they are."""
        if self.node is None:
            target.symlink_to(source)
        elif source.is_dir():
            shutil.copytree(source, target, symlinks=links, ignore=_NOT_SENT)
        else:
            shutil.copy(source, target)

    def _inventory(self, source: str, below: str) -> str:
        """What -i names in the job."""
        if self.node is None or not os.path.exists(source):
            return _absolute(source)
        path = Path(source)
        folder = self._folder / "project" / below
        folder.mkdir()
        self._put(path, folder / path.name, links=False)
        for name in _BESIDE if path.is_file() else ():
            if (path.parent / name).is_dir():
                self._put(path.parent / name, folder / name, links=False)
        return f"{below}/{path.name}"

    def _commands(self, asked: AuditRequest) -> dict[str, list[str]]:
        """What is run, each with the output of the one before."""
        runner, folder = str(asked.programs / "ansible-runner"), str(self._folder)
        job = ["-p", "playbooks/audit.yml", "--ident", _IDENT, "-q", "--omit-event-data"]
        if self.node is None:
            return {"ansible-runner": [runner, "run", folder, *job]}
        return {
            "ansible-runner transmit": [runner, "transmit", folder, *job],
            f"ssh {self.node.name}": self.node.command,
            "ansible-runner process": [runner, "process", folder, "--ident", _IDENT],
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
                said = opened.enter_context(self._said_by(name).open("wb"))
                last = len(running) == len(commands) - 1
                process = subprocess.Popen(
                    command,
                    env=environment,
                    stdin=before or subprocess.DEVNULL,
                    stdout=said if last else subprocess.PIPE,
                    stderr=said,
                    # Ctrl-C is passed on in order; ssh is determined by the terminal, which it may
                    # need.
                    start_new_session=self.node is None,
                )
                if before:
                    # Whoever writes to it must learn that its reader is gone.
                    before.close()
                before = process.stdout
                running.append((name, process))
            for name, process in running:
                code = termination.wait(process, interrupted)
                if code:
                    how = f"ended with {code}" if code > 0 else f"was ended by signal {-code}"
                    said_last = ": ".join([f"{name} {how}", *self._last_line(name)])
                    self._ended.append(_Termination(said_last, code))

    def _said_by(self, name: str) -> Path:
        return self._folder / f"said-by-{name.replace(' ', '-').replace('/', '-')}"

    def _last_line(self, name: str) -> list[str]:
        lines = _tail(self._said_by(name)).split("\n")
        return [one_line(line.strip()) for line in lines if line.strip()][-1:]

    def why_lost(self) -> str:
        """A sentence on what became of hosts that have no result."""
        if self.was_interrupted:
            when = "" if self.began else " before it began"
            return f"Lost with {self.name}: the audit was interrupted{when}"
        # The connection is why the programs at its ends complain. What an audit that found
        # something ends with is not a reason, unless there is no other.
        first = min(
            self._ended, key=lambda one: (one.code == _FOUND, "ssh" not in one.what), default=None
        )
        reason = first.what if first else "it ended without an answer for this host"
        return shorten(f"Lost with {self.name}: {reason}", _LONGEST_REASON)

    @property
    def results(self) -> list[Path]:
        """The findings.jsonl that came back: none, or one."""
        if not self.began:
            return []
        found = (self._folder / "artifacts" / _IDENT / "reports").glob("*/findings.jsonl")
        return sorted(path for path in found if path.is_file() and not path.is_symlink())

    def output(self) -> str:
        """What its programs and its playbook said last."""
        files = [self._folder / "artifacts" / _IDENT / "stdout", *self._folder.glob("said-by-*")]
        texts = {path.name: _tail(path).strip() for path in files if not path.is_symlink()}
        said = "\n\n".join(f"{name}:\n{text}" for name, text in texts.items() if text)
        return printable(said).encode("ascii", "backslashreplace").decode("ascii") + "\n"


def _variables(asked: AuditRequest) -> dict[str, str]:
    """The environment of a job, next to what the place has where it runs."""
    return {
        # ansible-runner would take any key for a host's where nothing is said.
        "ANSIBLE_HOST_KEY_CHECKING": asked.environment.get("ANSIBLE_HOST_KEY_CHECKING", "True"),
        # Its report lies among its artifacts, wherever others do.
        "HOSTPROOF_REPORT": "",
        "HOSTPROOF_REPORTS": "",
        INVENTORIES: "\n".join(map(_absolute, asked.inventories)),
    }


def _absolute(inventory: str) -> str:
    """A path that holds in any directory; a list of hosts is its own name."""
    return os.path.abspath(inventory) if os.path.exists(inventory) else inventory


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _KEPT))
            return stream.read(_KEPT).decode("utf-8", "replace")
    except OSError:
        return ""
