# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""oranfstab: servers and paths that Direct NFS uses for mounts.

Attributes are ``key: value``; ``export`` and ``mount`` are on the same line, and ``dontroute``
has no value. An attribute belongs to the server above it. The manual does not describe how Direct
NFS handles other content, so it is reported here: as an error if the manual forbids it, otherwise
as possibly harmless.

Source: Oracle Database Installation Guide for Linux 11.2 to 23ai, Creating an oranfstab File for
Direct NFS Client; Enabling HCC on Direct NFS Client (management, community); Oracle Grid
Infrastructure Installation Guide for Windows, Configurable Attributes (uid, gid).
"""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ....errors import kind_of, name_or_kind

MOST_PATHS = 4
#: NetApp, Oracle Database on ONTAP, Direct NFS: "a single path statement" with NFSv4.1. That pNFS,
#: which is spoken over 4.1, shares that is a guess.
_ONE_PATH = ("4.1", "pnfs")

#: As the manual writes them; its examples have the same in small letters.
VERSIONS = ("NFSv3", "NFSv4", "NFSv4.1", "pNFS")
SECURITY = ("sys", "krb5", "krb5i", "krb5p")

_WINDOWS = ("uid", "gid")
_KEYS = (
    ("server", "local", "path", "export", "mount", "mnt_timeout", "nfs_version", "security")
    + ("security_default", "dontroute", "management", "community")
    + _WINDOWS
)


class Named(NamedTuple):
    """A value and the line that it is on, from 1."""

    value: str
    line: int


class Export(NamedTuple):
    """An export and where it is mounted."""

    export: str
    mount: str
    security: Optional[str]
    line: int


class Server(NamedTuple):
    """What is below one ``server:``. ``settings`` are its attributes that are once."""

    name: str
    line: int
    locals: List[Named]
    paths: List[Named]
    exports: List[Export]
    settings: Dict[str, Named]

    def version(self) -> str:
        """The version that Direct NFS uses: "3", "4", "4.1" or "pnfs" (default 3)."""
        named = self.settings.get("nfs_version")
        return named.value.lower().replace("nfsv", "") if named else "3"


class Mistake(NamedTuple):
    """What is wrong on a line. ``certain``: the manual states so; else Direct NFS may accept it."""

    line: int
    problem: str
    certain: bool


class Parsed(NamedTuple):
    """Content of the lines that could be parsed, and every error, by line."""

    servers: List[Server]
    mistakes: List[Mistake]


def parse(text: str) -> Parsed:
    """Every server and every mistake; nothing raises."""
    reader = _Reader()
    for number, line in enumerate(text.split("\n"), 1):
        reader.take(line, number)
    for server in reader.servers:
        reader.check_server(server)
    reader.compare(reader.servers)
    return Parsed(reader.servers, sorted(reader.mistakes))


class _Reader:
    def __init__(self) -> None:
        self.servers: List[Server] = []
        self.mistakes: List[Mistake] = []

    def wrong(self, line: int, problem: str, certain: bool = True) -> None:
        self.mistakes.append(Mistake(line, problem, certain))

    # -- one line

    def take(self, line: str, number: int) -> None:
        if line.endswith("\r"):
            self.wrong(number, "ends with a carriage return: the file has line ends of Windows")
        words = line.split()
        if not words:
            return
        if words[0].startswith("#"):
            self._take_comment(line, number)
            return
        pairs = self._pairs(words, number)
        if pairs is None:
            return
        keys = [key for key, _ in pairs]
        if "export" in keys or "mount" in keys:
            self._take_export(pairs, number)
            return
        if len(pairs) > 1:
            text = "holds {0}: each belongs on its own line"
            self.wrong(number, text.format(" and ".join(keys)), False)
        for key, value in pairs:
            self._take_pair(key, value, number)

    def _take_comment(self, line: str, number: int) -> None:
        if line[0] != "#":
            self.wrong(number, "a comment that does not begin the line", False)

    def _pairs(self, words: List[str], number: int) -> Optional[List[Tuple[str, str]]]:
        """The attributes of a line, or None where they is unknown."""
        pairs = []
        left = list(words)
        while left:
            word = left.pop(0)
            key, colon, value = word.partition(":")
            known = self._known_key(key, bool(colon), number)
            if known is None:
                return None
            if known == "dontroute":
                if colon:
                    self.wrong(number, "dontroute has no colon", False)
                pairs.append((known, ""))
                continue
            if not colon:
                after = " (a space precedes it)" if left[:1] == [":"] else ""
                self.wrong(number, f"no colon right after {name_or_kind(word)}{after}")
                return None
            if not value and left:
                value = left.pop(0)
            if not value:
                self.wrong(number, f"{known} has no value")
                return None
            pairs.append((known, value))
            if left and ":" not in left[0] and left[0].lower() != "dontroute":
                self.wrong(
                    number,
                    "{0} after the value of {1} is too much".format(kind_of(" ".join(left)), known),
                )
                break
        return pairs

    def _known_key(self, key: str, has_colon: bool, number: int) -> Optional[str]:
        if key in _KEYS:
            return key
        if key.lower() in _KEYS:
            self.wrong(number, f"{key!r} is written {key.lower()!r}", False)
            return key.lower()
        import difflib  # few hosts need it

        near = difflib.get_close_matches(key.lower(), _KEYS, 1)
        meant = f", did you mean {near[0]!r}?" if near else ""
        what = "attribute" if has_colon else "word"
        self.wrong(number, f"unknown {what} {name_or_kind(key)}{meant}")
        return None

    def _take_export(self, pairs: List[Tuple[str, str]], number: int) -> None:
        values = dict(pairs)
        others = sorted(set(values) - {"export", "mount", "security"})
        if others or len(values) < len(pairs):
            self.wrong(number, "holds more than export:, mount: and security:", False)
        missing = [key for key in ("export", "mount") if key not in values]
        if missing:
            there = "export" if "export" in values else "mount"
            self.wrong(number, f"{there}: without {missing[0]}: on the same line")
            return
        for key in ("export", "mount"):
            if not values[key].startswith("/"):
                self.wrong(number, f"{key}: {kind_of(values[key])} is not an absolute path")
        server = self._server(number, "export")
        if server is not None:
            security = values.get("security")
            self._one_of(security, SECURITY, "security", number)
            server.exports.append(Export(values["export"], values["mount"], security, number))

    def _take_pair(self, key: str, value: str, number: int) -> None:
        if key == "server":
            self.servers.append(Server(value, number, [], [], [], {}))
            return
        server = self._server(number, key)
        if server is None:
            return
        if key in ("local", "path"):
            (server.locals if key == "local" else server.paths).append(Named(value, number))
            return
        self._judge_value(key, value, number)
        if key in server.settings:
            first = server.settings[key].line
            self.wrong(number, f"{key} is set twice, first on line {first}")
            return
        server.settings[key] = Named(value, number)

    def _server(self, number: int, key: str) -> Optional[Server]:
        if not self.servers:
            self.wrong(number, f"{key}: precedes any server:")
            return None
        return self.servers[-1]

    def _judge_value(self, key: str, value: str, number: int) -> None:
        if key == "nfs_version":
            self._judge_version(value, number)
        elif key == "security":
            self.wrong(number, "security: is on the line of an export", False)
            self._one_of(value, SECURITY, key, number)
        elif key == "security_default":
            self._one_of(value, SECURITY, key, number)
        elif key == "mnt_timeout" and not re.match("[0-9]+$", value):
            self.wrong(number, f"mnt_timeout is {kind_of(value)}, not seconds")
        elif key in _WINDOWS:
            self.wrong(number, f"{key}: is for Windows only", False)

    def _judge_version(self, value: str, number: int) -> None:
        if value in VERSIONS or value in [version.lower() for version in VERSIONS]:
            return
        for version in VERSIONS:
            if value.lower() == version.lower():
                text = "nfs_version {0!r} is written {1!r} or {2!r}"
                self.wrong(number, text.format(value, version, version.lower()), False)
                return
        self._one_of(value, VERSIONS, "nfs_version", number)

    def _one_of(
        self, value: Optional[str], choices: Tuple[str, ...], key: str, number: int
    ) -> None:
        if value is not None and value not in choices:
            self.wrong(
                number, "{0} is {1}, not {2}".format(key, kind_of(value), ", ".join(choices))
            )

    # -- a server, and all of them

    def check_server(self, server: Server) -> None:
        for key, names in (("path", server.paths), ("local", server.locals)):
            if len(names) > MOST_PATHS:
                self.wrong(
                    names[MOST_PATHS].line,
                    f"server {server.name} has {len(names)} {key}: lines, at most "
                    f"{MOST_PATHS} are used",
                )
            seen: Dict[str, int] = {}
            for named in names:
                if named.value in seen and key == "path":
                    self.wrong(
                        named.line,
                        f"path {named.value} is set twice, first on line {seen[named.value]}",
                        False,
                    )
                seen.setdefault(named.value, named.line)
        if server.version() in _ONE_PATH and len(server.paths) > 1:
            self.wrong(
                server.paths[1].line,
                "server {0} has {1} path: lines with nfs_version {2}, for which Direct NFS has no "
                "multipath: one path an export".format(
                    server.name, len(server.paths), server.settings["nfs_version"].value
                ),
                server.version() == "4.1",
            )
        if not server.paths:
            self.wrong(server.line, f"server {server.name} has no path:", False)
        if not server.exports:
            self.wrong(server.line, f"server {server.name} has no export:", False)
        if server.locals and len(server.locals) != len(server.paths):
            self.wrong(
                server.locals[0].line,
                f"server {server.name} has {len(server.locals)} local: and "
                f"{len(server.paths)} path: lines: they do not pair",
                False,
            )

    def compare(self, servers: List[Server]) -> None:
        names: Dict[str, int] = {}
        mounts: Dict[str, Export] = {}
        for server in servers:
            if server.name in names:
                text = "server {0} is set twice, first on line {1}"
                self.wrong(server.line, text.format(server.name, names[server.name]))
            names.setdefault(server.name, server.line)
            for export in server.exports:
                if export.mount in mounts:
                    text = "mount {0} is set twice: only line {1}, the first, counts"
                    first = mounts[export.mount].line
                    self.wrong(export.line, text.format(export.mount, first))
                mounts.setdefault(export.mount, export)
