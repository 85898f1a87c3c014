# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an archive says of its host: files, directories, links, output of commands, processes.

Each question has three answers: what is there, FileNotFoundError where the archive shows that it is
not there, and NotHeld where the archive does not tell.
"""

from __future__ import annotations

import posixpath
from typing import Any

from . import derived, process_list
from .listing import Entry, Listed

_IS_ACTIVE = "systemctl is-active "
_IS_ENABLED = "systemctl is-enabled "
_MOST_LINKS = 16


class NotHeld(ValueError):
    """The archive does not hold the answer."""


class Holdings:
    """``kind`` is the name of the archive's kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.files: dict[str, str] = {}
        #: Output of commands by their words.
        self.outputs: dict[str, dict[str, Any]] = {}
        #: Directories of which every name is known.
        self.folders: dict[str, dict[str, Entry]] = {}
        #: Directories of which every name that ends with .conf is known.
        self.conf_names: dict[str, list[str]] = {}
        self.missing: set[str] = set()
        #: Links of the host, and paths that are no links.
        self.links: dict[str, str] = {}
        self.no_links: set[str] = set()
        #: All processes; None where not all are known.
        self.processes: list[process_list.Row] | None = None
        #: State of all active units and of all unit files; None where not all are known.
        self.units: dict[str, str] | None = None
        self.unit_files: dict[str, str] | None = None

    # -- filling ----------------------------------------------------------------------------------

    def add_output(self, words: str, text: str) -> None:
        self.outputs.setdefault(words, {"rc": 0, "stdout": text, "stderr": ""})

    def add_listing(self, listed: Listed, *, follows_links: bool) -> None:
        """``follows_links``: what ls -L printed, which shows no link."""
        for folder, entries in listed.folders.items():
            if follows_links:
                entries = {name: Entry("?", None) for name in entries}
                self.folders.setdefault(folder, entries)
                continue
            self.folders[folder] = entries
            for name, entry in entries.items():
                path = posixpath.join(folder, name)
                if entry.target is not None:
                    self.links[path] = entry.target
                elif entry.type in "-d":
                    self.no_links.add(path)
        self.missing |= listed.missing

    # -- questions --------------------------------------------------------------------------------

    def text(self, path: str) -> str:
        if path in self.files:
            return self.files[path]
        real = self.real(path)
        if real in self.files:
            return self.files[real]
        raise self._not_held()

    def names(self, path: str) -> list[str]:
        for place in (path, self._real_or(path)):
            if place in self.folders:
                return sorted(self.folders[place])
            if place in self.conf_names:
                return self.conf_names[place]
        self.real(path)
        raise self._not_held()

    def real(self, path: str) -> str:
        """The path with every link resolved."""
        done = "/"
        left = path.split("/")
        followed = 0
        while left:
            part = left.pop(0)
            if part in ("", "."):
                continue
            if part == "..":
                done = posixpath.dirname(done)
                continue
            here = posixpath.join(done, part)
            target = self.links.get(here)
            if target is not None:
                followed += 1
                if followed > _MOST_LINKS:
                    raise NotHeld(f"{path} has too many links")
                done = "/" if target.startswith("/") else done
                left = [*target.split("/"), *left]
                continue
            if self._is_missing(done, part, here):
                raise FileNotFoundError(2, "No such file or directory")
            if here not in self.no_links:
                raise self._not_held()
            done = here
        return done

    def is_missing(self, path: str) -> bool:
        """Whether the archive shows that the host has no such path."""
        try:
            self.real(path)
        except FileNotFoundError:
            return True
        except NotHeld:
            pass
        # The directories above may be links: their listings were made through them.
        here = ""
        for part in path.split("/")[1:]:
            if self._is_missing(here or "/", part, f"{here}/{part}"):
                return True
            here += "/" + part
        return False

    def command(self, words: str) -> dict[str, Any]:
        if words in self.outputs:
            return dict(self.outputs[words])
        if words.startswith(_IS_ACTIVE) and self.units is not None:
            return derived.is_active(self.units, words.removeprefix(_IS_ACTIVE).split(" "))
        if words.startswith(_IS_ENABLED) and self.unit_files is not None:
            return derived.is_enabled(self.unit_files, words.removeprefix(_IS_ENABLED))
        raise self._not_held()

    def _is_missing(self, folder: str, name: str, path: str) -> bool:
        if path in self.missing:
            return True
        if folder in self.folders:
            return name not in self.folders[folder]
        is_conf = folder in self.conf_names and name.endswith(".conf")
        return is_conf and name not in self.conf_names[folder]

    def _real_or(self, path: str) -> str:
        try:
            return self.real(path)
        except (NotHeld, FileNotFoundError):
            return path

    def _not_held(self) -> NotHeld:
        return NotHeld(f"the archive ({self.kind}) does not hold it")
