# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The readings of an archive: those that ``record`` makes on a host, through the same filters.

A pack holds no more of an archive than of a host. No code here reads the machine that it runs on.
"""

from __future__ import annotations

import fnmatch
import glob
import re
from collections.abc import Callable, Sequence
from typing import Any

from ansible.module_utils.hostproof.collect.host import Host, Process, Record
from ansible.module_utils.hostproof.collect.host.answers import part_of, value_or_raise
from ansible.module_utils.hostproof.collect.host.script_search import AS_ROOT, OF_ACCOUNT
from ansible.module_utils.hostproof.collect.identity import Kind
from ansible.module_utils.hostproof.evaluate import audit

from .holdings import Holdings, NotHeld

#: Kinds of readings that go through ``_read`` and ``_find``.
_FROM_FILES = ("file", "dir", "link", "lines", "processes")

#: Names of the accounts of Oracle software; with SAP ora and the SID.
_ORACLE = re.compile(r"oracle|grid|ora[a-z][a-z0-9]{2}")

Readings = dict[str, dict[str, Any]]


class ArchivedHost(Host):
    """A host as an archive shows it; ``evidence`` keeps the answers."""

    def __init__(self, holdings: Holdings, at: str) -> None:
        self.evidence: Readings = {}
        self._holdings = holdings
        self._at = at
        self._whole: Readings = {}
        self._records: dict[str, Record | None] = {}

    def _answer(
        self,
        key: str,
        kind: str,
        ask: Callable[[], dict[str, Any]],
        record: Record | None = None,
    ) -> dict[str, Any]:
        if key not in self._whole:
            reading: dict[str, Any] = {"kind": kind, "at": self._at}
            try:
                reading.update(self._look(key, kind, ask))
            except FileNotFoundError:
                reading.update(error="absent", message=f"{key}: No such file or directory")
            except ValueError as problem:
                reading.update(error="unanswered", message=f"{key}: {problem}")
            self._whole[key] = reading
            has_part = record is not None and "error" not in reading
            self.evidence[key] = part_of(reading, record) if has_part and record else reading
            self._records[key] = record
        elif self._records[key] != record:
            # Another control needs other lines of it.
            self.evidence[key] = self._whole[key]
        return value_or_raise(key, self._whole[key])

    def _look(self, key: str, kind: str, ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if kind in _FROM_FILES:
            return ask()
        if kind == "command":
            return self._holdings.command(key.removeprefix("command:"))
        if kind == "stat" and self._holdings.is_missing(key.removeprefix("stat:")):
            raise FileNotFoundError
        raise NotHeld(f"the archive ({self._holdings.kind}) does not hold it")

    def _read(self, task: str, *arguments: Any) -> Any:
        path = arguments[0]
        if task == "lines":
            return self._find_lines(*arguments)
        looks = {
            "file": self._holdings.text,
            "dir": self._holdings.names,
            "link": self._holdings.real,
        }
        try:
            return looks[task](path)
        except NotHeld:
            if self._holdings.is_missing(path):
                raise FileNotFoundError from None
            raise

    def _find(self, pattern: str, kind: Kind) -> list[dict[str, Any]]:
        """The processes of ps with the ids of /proc/PID/status; no process if none has the name.

        ps does not show the program. A process counts only if an account runs it that may."""
        if self._holdings.processes is None:
            raise NotHeld(f"the archive ({self._holdings.kind}) does not list all processes")
        processes = []
        for row in self._holdings.processes:
            argv0 = row.command.split(" ")[0]
            if re.search(pattern, argv0) and _may_run(row.user, kind):
                processes.append(self._process(row.pid, argv0))
            elif re.search(pattern, argv0) or re.search(pattern, row.command):
                # A first argument may have blanks.
                raise NotHeld(
                    f"{row.user} runs {argv0[:80]}, and it is unknown which program it is"
                )
        return processes

    def _process(self, pid: int, argv0: str) -> dict[str, Any]:
        status = self._holdings.files.get(f"/proc/{pid}/status", "")
        ids = [re.search(rf"^{name}:\s+(\d+)\s+(\d+)\s", status, re.M) for name in ("Uid", "Gid")]
        if ids[0] is None or ids[1] is None:
            raise NotHeld(f"the archive ({self._holdings.kind}) does not hold /proc/{pid}/status")
        real, effective = int(ids[0][1]), int(ids[0][2])
        process = Process(pid, effective or real, int(ids[1][2]), None, argv0)
        return dict(process._asdict())

    def _find_lines(
        self, places: Sequence[str], pattern: str, only_as_root: bool
    ) -> dict[str, Any]:
        """Files whose text is not known are ``unread``, as are directories without a listing."""
        regex = re.compile(pattern, re.MULTILINE)
        lines: dict[str, list[tuple[int, str]]] = {}
        unread: list[str] = []
        for place in places:
            for path in self._files_of(place, unread):
                try:
                    text = self._read("file", path)
                except FileNotFoundError:
                    continue
                except NotHeld:
                    unread.append(path)
                    continue
                by_root = not (only_as_root and OF_ACCOUNT.search(path))
                matching = [
                    (number, line)
                    for number, line in enumerate(text.split("\n"), 1)
                    if regex.search(line) and (by_root or AS_ROOT.search(line))
                ]
                if matching:
                    # Scripts that it calls are not followed.
                    unread.append(path)
                    lines[path] = matching
        return {"lines": lines, "callers": {}, "unread": sorted(set(unread))}

    def _files_of(self, place: str, unread: list[str]) -> list[str]:
        folder, _, name = place.rpartition("/")
        if glob.has_magic(folder):
            above, _, pattern = folder.rpartition("/")
            files: list[str] = []
            for child in self._names(above, unread):
                if fnmatch.fnmatchcase(child, pattern):
                    files += self._files_of(f"{above}/{child}/{name}", unread)
            return files
        if not glob.has_magic(name):
            return [place]
        names = self._names(folder, unread)
        return [f"{folder}/{entry}" for entry in names if fnmatch.fnmatchcase(entry, name)]

    def _names(self, folder: str, unread: list[str]) -> list[str]:
        try:
            names: list[str] = self._read("dir", folder)
        except FileNotFoundError:
            return []
        except NotHeld:
            unread.append(folder)
            return []
        return names


def _may_run(user: str, kind: Kind) -> bool:
    is_oracles = kind.oracle and _ORACLE.fullmatch(user) is not None
    return kind.anybody or user == "root" or user in kind.users or is_oracles


def record(holdings: Holdings, policies: Sequence[dict[str, Any]], at: str) -> Readings:
    """The readings of all controls, with each of the policies; not yet masked."""
    host = ArchivedHost(holdings, at)
    for policy in policies:
        audit.read_host(host, policy)
    return host.evidence
