# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The paths of an archive and their meaning: paths.tsv, and the kinds of content that it names.

Sources: the specifications of insights-core (insights/specs/default.py), the plugins of sos
(sos/report/plugins), bin/supportconfig of supportutils.
"""

from __future__ import annotations

import csv
import functools
import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from . import listing
from .content import ArchiveError, Content
from .holdings import Holdings

_TABLE = Path(__file__).with_name("paths.tsv")

#: Kind of an archive to its name, and to a path that only it has.
KINDS = {
    "insights": ("Red Hat Insights", "insights_commands"),
    "sos": ("sosreport", "sos_commands"),
}


class Row(NamedTuple):
    """A row of paths.tsv.

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
        return tuple(Row(**one) for one in csv.DictReader(stream, delimiter="\t"))


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
        self._takes: dict[str, Callable[[Row], None]] = {
            "file": self._files,
            "conf files": self._conf_files,
            "command": self._commands,
            "sysctl": self._sysctl,
            "listing": self._listings,
            "uname": self._uname,
            "host name": self._host_name,
            "date": self._dates,
        }

    def take(self, row: Row) -> None:
        self._takes[row.content](row)

    def _matches(self, path_in_archive: str) -> Iterator[tuple[str, re.Match[str]]]:
        pattern = _pattern(path_in_archive)
        for path in self._paths:
            match = pattern.fullmatch(path)
            if match:
                yield path, match

    def _texts(self, row: Row) -> Iterator[tuple[str, str]]:
        """The meaning and the text of each file of a row."""
        for path, match in self._matches(row.path_in_archive):
            text = self.content.text(path)
            if text is not None:
                yield _filled(row.stands_for, match), text

    def _files(self, row: Row) -> None:
        for path, text in self._texts(row):
            self.holdings.files.setdefault(path, text)

    def _conf_files(self, row: Row) -> None:
        if any(True for _one in self._matches(row.complete_with)):
            paths = [path for path, _match in self._matches(row.path_in_archive)]
            self.holdings.conf_names[row.stands_for] = [posixpath.basename(one) for one in paths]

    def _commands(self, row: Row) -> None:
        for words, text in self._texts(row):
            self.holdings.add_output(words, text)

    def _sysctl(self, row: Row) -> None:
        for folder, text in self._texts(row):
            for line in text.splitlines():
                name, separator, value = line.partition(" = ")
                if separator and re.fullmatch(r"[\w.*/-]+", name):
                    path = name.replace(".", "\0").replace("/", ".").replace("\0", "/")
                    self.holdings.files.setdefault(f"{folder}/{path}", value + "\n")

    def _listings(self, row: Row) -> None:
        for path, match in self._matches(row.path_in_archive):
            options = match.group().partition("/ls_")[2].partition("_")[0]
            text = self.content.text(path)
            if text is not None:
                self.holdings.add_listing(listing.parse(text), follows_links="L" in options)

    def _uname(self, row: Row) -> None:
        for _words, text in self._texts(row):
            self.holdings.add_output("uname -a", text)

    def _host_name(self, row: Row) -> None:
        for _words, text in self._texts(row):
            self.name = self.name or text.strip()

    def _dates(self, row: Row) -> None:
        for _words, text in self._texts(row):
            self.date = self.date or text.strip()


def _filled(stands_for: str, match: re.Match[str]) -> str:
    """``stands_for`` with the text of each wildcard; in a command "_" was a blank."""
    texts = iter(match.groups())
    is_path = stands_for.startswith("/")
    parts = re.split(r"(\*\*|\*)", stands_for)
    filled = [next(texts, "") if part in ("*", "**") else part for part in parts]
    return "".join(filled) if is_path else "".join(filled).replace("_", " ")
