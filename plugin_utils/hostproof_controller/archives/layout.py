# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The paths of an archive and their meaning: paths.tsv, and the kinds of content that it names.

Sources: the specifications of insights-core (insights/specs/default.py), the plugins of sos
(sos/report/plugins), bin/supportconfig of supportutils.
"""

from __future__ import annotations

import calendar
import csv
import functools
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ansible.module_utils.hostproof.controls.packages.facts import CLOCK
from ansible.module_utils.hostproof.probes.net.devices import ADDRESSES_KEY
from ansible.module_utils.hostproof.probes.systemd.boot import SYSCTL_CREDENTIALS
from ansible.module_utils.hostproof.probes.unix.package_database import RPM

from . import derived, listing, process_list, sections
from .content import ArchiveError, Content
from .holdings import Holdings

_SECTION = "section "
#: Insights keeps only some lines of these (filterable in insights/specs/__init__.py).
_FILTERED = ("/etc/nsswitch.conf", "/etc/firewalld/firewalld.conf", "/etc/udev/rules.d/")
_TABLE = Path(__file__).with_name("paths.tsv")

#: Kind of an archive to its name, and to a path that only it has.
KINDS = {
    "insights": ("Red Hat Insights", "insights_commands"),
    "sos": ("sosreport", "sos_commands"),
    "supportconfig": ("supportconfig", "basic-environment.txt"),
}


class Row(NamedTuple):
    """A row of paths.tsv.

    The paths of supportconfig are files with sections; ``stands_for`` selects sections of one.
    ``*`` in a path is any text without a slash, ``**`` any text; in ``stands_for`` it is replaced
    by that text. ``complete_with`` is a path: if the archive has it, all files of the row were
    copied.
    """

    kind: str
    path_in_archive: str
    content: str
    stands_for: str
    complete_with: str


@functools.cache
def rows() -> tuple[Row, ...]:
    with _TABLE.open(encoding="ascii", newline="") as stream:
        return tuple(Row(**row) for row in csv.DictReader(stream, delimiter="\t"))


@functools.cache
def _pattern(path: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*|\*)", path)
    words = {"**": "(.+)", "*": "([^/]*)"}
    return re.compile("".join(words.get(part) or re.escape(part) for part in parts))


@functools.cache
def _any_path() -> re.Pattern[str]:
    return re.compile(
        "(?:.*/)?(?:" + "|".join(_pattern(row.path_in_archive).pattern for row in rows()) + ")"
    )


def is_selected(path: str) -> bool:
    """Whether the table names a file, below any directory."""
    return _any_path().fullmatch(path) is not None


def kind_of(content: Content) -> str | None:
    for kind, (_name, mark) in KINDS.items():
        if mark in content.folders or mark in content.texts:
            return kind
    return None


class Host(NamedTuple):
    """The host of an archive; its name and the date are as its commands printed them."""

    holdings: Holdings
    name: str | None
    date: str | None


def host_of(content: Content, path: Path) -> Host:
    kind = kind_of(content)
    if kind is None:
        known = ", ".join(name for name, _mark in KINDS.values())
        raise ArchiveError(f"{path}: not an archive of {known}")
    reader = _Reader(content, kind)
    for row in rows():
        if row.kind == kind:
            reader.take(row)
    return Host(reader.holdings, reader.name, reader.date)


class _Reader:
    def __init__(self, content: Content, kind: str) -> None:
        self.content = content
        self.holdings = Holdings(KINDS[kind][0])
        self.name: str | None = None
        self.date: str | None = None
        self._paths = sorted({*content.texts, *content.links})
        self._sections: dict[str, sections.Sections] = {}
        self._takes: dict[str, Callable[[Row], None]] = {
            "file": self._files,
            "conf files": self._conf_files,
            "command": self._commands,
            "sysctl": self._sysctl,
            "listing": self._listings,
            "processes": self._processes,
            "uname": self._uname,
            "host name": self._host_name,
            "date": self._dates,
            "clock": self._clock,
            "accounts": self._accounts,
            "addresses": self._addresses,
            "packages as JSON": self._packages_as_json,
            "packages": self._packages,
            "SELinux mode": self._selinux_mode,
            "static host name": self._static_host_name,
            "units": self._units,
            "unit files": self._unit_files,
        }
        if kind == "sos":
            self._take_links()

    def take(self, row: Row) -> None:
        self._takes[row.content.removeprefix(_SECTION)](row)

    def _take_links(self) -> None:
        """A sosreport copies links as links, so that each other path is the real one."""
        for path, target in self.content.links.items():
            self.holdings.links["/" + path] = target
        self.holdings.no_links.update("/" + path for path in self.content.texts)
        self.holdings.no_links.update("/" + path for path in self.content.folders)

    def _matches(self, path: str, paths: Iterable[str]) -> Iterator[tuple[str, re.Match[str]]]:
        pattern = _pattern(path)
        for candidate in paths:
            match = pattern.fullmatch(candidate)
            if match:
                yield candidate, match

    def _sections_of(self, row: Row) -> sections.Sections:
        name = row.path_in_archive
        if name not in self._sections:
            self._sections[name] = sections.parse(self.content.text(name) or "")
        return self._sections[name]

    def _texts(self, row: Row) -> Iterator[tuple[str, str, str]]:
        """The meaning, the name and the text of each file or section of a row."""
        if not row.content.startswith(_SECTION):
            for path, match in self._matches(row.path_in_archive, self._paths):
                text = self.content.text(path)
                if text is not None:
                    yield _filled(row.stands_for, match), posixpath.basename(path), text
            return
        parts = self._sections_of(row)
        texts = parts.files if row.stands_for.startswith("/") else parts.outputs
        for name, _match in self._matches(row.stands_for, texts):
            yield name, name, texts[name]

    def _files(self, row: Row) -> None:
        for path, _name, text in self._texts(row):
            if row.kind == "insights" and path.startswith(_FILTERED):
                continue
            self.holdings.files.setdefault(path, text)
        if row.content.startswith(_SECTION):
            missing = self._sections_of(row).missing
            self.holdings.missing.update(
                path for path, _match in self._matches(row.stands_for, missing)
            )

    def _conf_files(self, row: Row) -> None:
        """A directory is complete if the archive has the path that is copied with it.

        It is not if a file of it was left out, because that file exists on the host.
        """
        unread = self.content.too_long | self.content.left_out
        folder = posixpath.dirname(row.path_in_archive)
        if folder in unread or any(True for _one in self._matches(row.path_in_archive, unread)):
            return
        paths: Iterable[str] = self._paths
        pattern = row.path_in_archive
        if row.content.startswith(_SECTION):
            parts = self._sections_of(row)
            paths, pattern = [*parts.files, *parts.missing], row.stands_for + "/*.conf"
        if any(True for _one in self._matches(row.complete_with, paths)):
            names = [posixpath.basename(path) for path, _match in self._matches(pattern, paths)]
            names = sorted(name for name in names if "*" not in name)
            self.holdings.conf_names[row.stands_for] = names

    def _commands(self, row: Row) -> None:
        for words, _name, text in self._texts(row):
            self.holdings.add_output(words, text)

    def _sysctl(self, row: Row) -> None:
        for _words, _name, text in self._texts(row):
            for line in text.splitlines():
                name, separator, value = line.partition(" = ")
                if separator and re.fullmatch(r"[\w.*/-]+", name):
                    path = name.replace(".", "\0").replace("/", ".").replace("\0", "/")
                    self.holdings.files.setdefault(f"/proc/sys/{path}", value + "\n")

    def _listings(self, row: Row) -> None:
        for _words, name, text in self._texts(row):
            options = re.split("[ _]", name)[1]
            self.holdings.add_listing(listing.parse(text), follows_links="L" in options)

    def _processes(self, row: Row) -> None:
        for _words, _name, text in self._texts(row):
            if self.holdings.processes is None:
                self.holdings.processes = process_list.parse(text)

    def _uname(self, row: Row) -> None:
        """``uname -a`` prints all names in the order s, n, r, v, m, p, i, o."""
        for _words, _name, text in self._texts(row):
            self.holdings.add_output("uname -a", text)
            words = text.split()
            if len(words) > 5 and words[-1] == "GNU/Linux":
                for option, word in (("s", words[0]), ("n", words[1]), ("m", words[-2])):
                    self.holdings.add_output(f"uname -{option}", word + "\n")
                # Of m, p and i many systems print the same word.
                while len(words) > 3 and words[-3] == words[-2]:
                    del words[-2]
                self.holdings.add_output("uname -snrvm", " ".join(words[:-1]) + "\n")
                self.name = self.name or words[1]

    def _host_name(self, row: Row) -> None:
        for _words, _name, text in self._texts(row):
            self.name = self.name or text.strip()

    def _clock(self, row: Row) -> None:
        """The time zone is known where it is UTC."""
        for _words, _name, text in self._texts(row):
            moment = derived.moment_of(text)
            if moment is not None:
                self.holdings.add_output(" ".join(CLOCK), f"{calendar.timegm(moment)} +0000\n")
            self.date = self.date or text.strip()

    def _accounts(self, row: Row) -> None:
        """``getent`` of one account or group."""
        for words, _name, text in self._texts(row):
            for line in text.splitlines():
                name = line.partition(":")[0]
                if re.fullmatch(r"[A-Za-z_][\w.-]*", name):
                    self.holdings.add_output(f"{words} {name}", line + "\n")

    def _addresses(self, row: Row) -> None:
        for _words, _name, text in self._texts(row):
            addresses = derived.addresses(text)
            if addresses is not None:
                self.holdings.add_output(ADDRESSES_KEY.removeprefix("command:"), addresses)

    def _packages_as_json(self, row: Row) -> None:
        self._add_packages(row, derived.packages_of_json)

    def _packages(self, row: Row) -> None:
        self._add_packages(row, derived.packages_of_names)

    def _add_packages(self, row: Row, derive: Callable[[str], str | None]) -> None:
        for _words, _name, text in self._texts(row):
            packages = derive(text)
            if packages is not None:
                self.holdings.add_output(" ".join(RPM), packages)
                if not derived.has_credentials(packages):
                    self.holdings.missing.update(SYSCTL_CREDENTIALS)

    def _selinux_mode(self, row: Row) -> None:
        path = "/sys/fs/selinux/enforce"
        for _words, _name, text in self._texts(row):
            mode = derived.selinux_mode(text)
            if mode == "disabled":
                self.holdings.missing.add(path)
            elif mode is not None:
                self.holdings.files.setdefault(path, "1" if mode == "enforcing" else "0")

    def _static_host_name(self, row: Row) -> None:
        for _words, _name, text in self._texts(row):
            name = derived.static_host_name(text)
            if name is not None:
                self.holdings.files.setdefault("/etc/hostname", name + "\n")

    def _units(self, row: Row) -> None:
        for _words, _name, text in self._texts(row):
            self.holdings.units = derived.active_units(text)

    def _unit_files(self, row: Row) -> None:
        for _words, _name, text in self._texts(row):
            self.holdings.unit_files = derived.unit_files(text)

    def _dates(self, row: Row) -> None:
        for _words, _name, text in self._texts(row):
            self.date = self.date or text.strip()


def _filled(stands_for: str, match: re.Match[str]) -> str:
    """``stands_for`` with the text of each wildcard; in a command "_" was a blank."""
    texts = iter(match.groups())
    is_path = stands_for.startswith("/")
    parts = re.split(r"(\*\*|\*)", stands_for)
    filled = [next(texts, "") if part in ("*", "**") else part for part in parts]
    return "".join(filled) if is_path else "".join(filled).replace("_", " ")
