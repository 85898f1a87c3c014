# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""oranfstab: which servers and paths Direct NFS uses for which mounts.

Attributes stand as ``key: value``; ``export`` and ``mount`` stand on one line, and ``dontroute``
alone. An attribute belongs to the server above it. Direct NFS does not say how it takes what its
manual does not describe, so whatever is not described there is a mistake here: a certain one where
the manual forbids it, else one that may be harmless.

Source: Oracle Database Installation Guide for Linux 11.2 to 23ai, Creating an oranfstab File for
Direct NFS Client; Enabling HCC on Direct NFS Client (management, community); Oracle Grid
Infrastructure Installation Guide for Windows, Configurable Attributes (uid, gid).
"""

import difflib
import re
from typing import Dict, List, NamedTuple, Optional, Tuple

MOST_PATHS = 4

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
    """A value and the line that it stands on, from 1."""

    value: str
    line: int


class Export(NamedTuple):
    """An export and where it is mounted."""

    export: str
    mount: str
    security: Optional[str]
    line: int


class Server(NamedTuple):
    """What stands below one ``server:``. ``settings`` are its attributes that stand once."""

    name: str
    line: int
    locals: List[Named]
    paths: List[Named]
    exports: List[Export]
    settings: Dict[str, Named]

    def version(self):
        # type: () -> str
        """The version that Direct NFS uses: "3", "4", "4.1" or "pnfs" (default 3)."""
        named = self.settings.get("nfs_version")
        return named.value.lower().replace("nfsv", "") if named else "3"


class Mistake(NamedTuple):
    """What is wrong on a line. ``certain``: the manual says so; else Direct NFS may accept it."""

    line: int
    problem: str
    certain: bool


class Parsed(NamedTuple):
    """What the lines say that could be understood, and every mistake, by line."""

    servers: List[Server]
    mistakes: List[Mistake]


def parse(text):
    # type: (str) -> Parsed
    """Every server and every mistake; nothing raises."""
    reader = _Reader()
    for number, line in enumerate(text.split("\n"), 1):
        reader.take(line, number)
    for server in reader.servers:
        reader.look_at(server)
    reader.compare(reader.servers)
    return Parsed(reader.servers, sorted(reader.mistakes))


class _Reader:
    def __init__(self):
        # type: () -> None
        self.servers = []  # type: List[Server]
        self.mistakes = []  # type: List[Mistake]

    def wrong(self, line, problem, certain=True):
        # type: (int, str, bool) -> None
        self.mistakes.append(Mistake(line, problem, certain))

    # -- one line

    def take(self, line, number):
        # type: (str, int) -> None
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

    def _take_comment(self, line, number):
        # type: (str, int) -> None
        if line[0] != "#":
            self.wrong(number, "a comment that does not begin the line", False)

    def _pairs(self, words, number):
        # type: (List[str], int) -> Optional[List[Tuple[str, str]]]
        """The attributes of a line, or None where they cannot be told."""
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
                    self.wrong(number, "dontroute stands alone, without a colon", False)
                pairs.append((known, ""))
                continue
            if not colon:
                after = " (a space stands before it)" if left[:1] == [":"] else ""
                self.wrong(number, "no colon right after {0!r}{1}".format(word, after))
                return None
            if not value and left:
                value = left.pop(0)
            if not value:
                self.wrong(number, "{0} has no value".format(known))
                return None
            pairs.append((known, value))
            if left and ":" not in left[0] and left[0].lower() != "dontroute":
                self.wrong(
                    number, "{0!r} after the value of {1} is too much".format(" ".join(left), known)
                )
                break
        return pairs

    def _known_key(self, key, has_colon, number):
        # type: (str, bool, int) -> Optional[str]
        if key in _KEYS:
            return key
        if key.lower() in _KEYS:
            self.wrong(number, "{0!r} is written {1!r}".format(key, key.lower()), False)
            return key.lower()
        near = difflib.get_close_matches(key.lower(), _KEYS, 1)
        meant = ", did you mean {0!r}?".format(near[0]) if near else ""
        what = "attribute" if has_colon else "word"
        self.wrong(number, "unknown {0} {1!r}{2}".format(what, key, meant))
        return None

    def _take_export(self, pairs, number):
        # type: (List[Tuple[str, str]], int) -> None
        given = dict(pairs)
        others = sorted(set(given) - {"export", "mount", "security"})
        if others or len(given) < len(pairs):
            self.wrong(number, "holds more than export:, mount: and security:", False)
        missing = [key for key in ("export", "mount") if key not in given]
        if missing:
            there = "export" if "export" in given else "mount"
            self.wrong(number, "{0}: without {1}: on the same line".format(there, missing[0]))
            return
        for key in ("export", "mount"):
            if not given[key].startswith("/"):
                self.wrong(number, "{0}: {1} is no absolute path".format(key, given[key]))
        server = self._server(number, "export")
        if server is not None:
            security = given.get("security")
            self._one_of(security, SECURITY, "security", number)
            server.exports.append(Export(given["export"], given["mount"], security, number))

    def _take_pair(self, key, value, number):
        # type: (str, str, int) -> None
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
            self.wrong(number, "{0} stands twice, first on line {1}".format(key, first))
            return
        server.settings[key] = Named(value, number)

    def _server(self, number, key):
        # type: (int, str) -> Optional[Server]
        if not self.servers:
            self.wrong(number, "{0}: stands before any server:".format(key))
            return None
        return self.servers[-1]

    def _judge_value(self, key, value, number):
        # type: (str, str, int) -> None
        if key == "nfs_version":
            self._judge_version(value, number)
        elif key == "security":
            self.wrong(number, "security: stands on the line of an export", False)
            self._one_of(value, SECURITY, key, number)
        elif key == "security_default":
            self._one_of(value, SECURITY, key, number)
        elif key == "mnt_timeout" and not re.match("[0-9]+$", value):
            self.wrong(number, "mnt_timeout is {0!r}, not seconds".format(value))
        elif key in _WINDOWS:
            self.wrong(number, "{0}: is for Windows only".format(key), False)

    def _judge_version(self, value, number):
        # type: (str, int) -> None
        if value in VERSIONS or value in [version.lower() for version in VERSIONS]:
            return
        for version in VERSIONS:
            if value.lower() == version.lower():
                text = "nfs_version {0!r} is written {1!r} or {2!r}"
                self.wrong(number, text.format(value, version, version.lower()), False)
                return
        self._one_of(value, VERSIONS, "nfs_version", number)

    def _one_of(self, value, choices, key, number):
        # type: (Optional[str], Tuple[str, ...], str, int) -> None
        if value is not None and value not in choices:
            self.wrong(number, "{0} is {1!r}, not {2}".format(key, value, ", ".join(choices)))

    # -- a server, and all of them

    def look_at(self, server):
        # type: (Server) -> None
        for key, names in (("path", server.paths), ("local", server.locals)):
            if len(names) > MOST_PATHS:
                self.wrong(
                    names[MOST_PATHS].line,
                    "server {0} has {1} {2}: lines, at most {3} are used".format(
                        server.name, len(names), key, MOST_PATHS
                    ),
                )
            seen = {}  # type: Dict[str, int]
            for named in names:
                if named.value in seen and key == "path":
                    self.wrong(
                        named.line,
                        "path {0} stands twice, first on line {1}".format(
                            named.value, seen[named.value]
                        ),
                        False,
                    )
                seen.setdefault(named.value, named.line)
        if not server.paths:
            self.wrong(server.line, "server {0} has no path:".format(server.name), False)
        if not server.exports:
            self.wrong(server.line, "server {0} has no export:".format(server.name), False)
        if server.locals and len(server.locals) != len(server.paths):
            self.wrong(
                server.locals[0].line,
                "server {0} has {1} local: and {2} path: lines: they do not pair".format(
                    server.name, len(server.locals), len(server.paths)
                ),
                False,
            )

    def compare(self, servers):
        # type: (List[Server]) -> None
        names = {}  # type: Dict[str, int]
        mounts = {}  # type: Dict[str, Export]
        for server in servers:
            if server.name in names:
                text = "server {0} stands twice, first on line {1}"
                self.wrong(server.line, text.format(server.name, names[server.name]))
            names.setdefault(server.name, server.line)
            for export in server.exports:
                if export.mount in mounts:
                    text = "mount {0} stands twice: only line {1}, the first, counts"
                    first = mounts[export.mount].line
                    self.wrong(export.line, text.format(export.mount, first))
                mounts.setdefault(export.mount, export)
