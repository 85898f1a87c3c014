# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The automounter's master map and its maps of the Sun format.

Source: auto.master(5) and autofs(5) of autofs 5; parse_sun.c and master_parse.y there; Solaris
automount(8). Maps of the "amd" and "hesiod" formats, and what programs print, are not read here.
"""

import re
from typing import Iterator, List, NamedTuple, Tuple

DIRECT = "/-"

#: Words for the automounter itself that stand between the mount options.
_FOR_THE_AUTOMOUNTER = re.compile(
    r"(no)?(browse|bind|symlink|strict|ghost)$|use-weight-only$|no-use-weight-only$|"
    r"(no-)?random-multimount-selection$|verbose$|debug$|\d+$|timeout=|negative-timeout=|mode="
)
_PREFIX = re.compile(r"([a-z]+)(?:,[a-z]+)?:")


class MasterEntry(NamedTuple):
    """A mount point ("/-" for direct maps) and its map.

    ``kind`` is "file", "yp", "ldap", "multi" for several at once, … or "" where nsswitch.conf
    decides; ``options`` are mount options without the leading dash. ``line`` counts from 1.
    """

    mount_point: str
    kind: str
    name: str
    options: str
    line: int


class Include(NamedTuple):
    """A "+" line: another map, or with the kind "dir" a folder of them."""

    kind: str
    name: str
    line: int


class Master(NamedTuple):
    """bad_lines have no map or no absolute path: the automounter logs and skips them."""

    entries: List[MasterEntry]
    includes: List[Include]
    bad_lines: List[int]


class MapMount(NamedTuple):
    """What a key mounts. ``offset`` is "" or the path below the key of a multi-mount.

    ``source`` is the location as written; where servers are replicated all of them, with blanks
    between. ``options`` begin with those of the key.
    """

    key: str
    offset: str
    options: str
    source: str
    line: int


class Map(NamedTuple):
    """bad_lines are keys without a location: the automounter cannot mount them."""

    mounts: List[MapMount]
    includes: List[Include]
    bad_lines: List[int]


def parse_master(text):
    # type: (str) -> Master
    """The master map, or a file of auto.master.d."""
    master = Master([], [], [])
    for number, line in _lines(text):
        words = _words(line)
        if words[0].startswith("+"):
            kind, name = _map_name(words[0][1:])
            master.includes.append(Include(kind, name, number))
        elif len(words) < 2 or not words[0].startswith("/"):
            master.bad_lines.append(number)
        else:
            kind, name = _map_name(words[1])
            point = words[0] if words[0] == DIRECT else words[0].rstrip("/") or "/"
            options = [word for word in words[2:] if not word.startswith("--")]
            if name == "multi":
                kind, options = name, []
            master.entries.append(MasterEntry(point, kind, name, _options(options), number))
    return master


def parse_map(text):
    # type: (str) -> Map
    """An indirect or a direct map."""
    parsed = Map([], [], [])
    for number, line in _lines(text):
        words = _words(line)
        if words[0].startswith("+"):
            kind, name = _map_name(words[0][1:])
            parsed.includes.append(Include(kind, name, number))
            continue
        mounts = list(_mounts(words, number))
        if not mounts or not all(mount.source for mount in mounts):
            parsed.bad_lines.append(number)
        else:
            parsed.mounts.extend(mounts)
    return parsed


def _mounts(words, number):
    # type: (List[str], int) -> Iterator[MapMount]
    """key [-options] [[/offset] [-options] location...]..."""
    key, rest = words[0], words[1:]
    common = []  # type: List[str]
    while rest and rest[0].startswith("-"):
        common.append(rest.pop(0))
    while rest:
        offset = ""
        if rest[0].startswith("/"):
            offset = rest.pop(0).rstrip("/")
        own = []  # type: List[str]
        while rest and rest[0].startswith("-"):
            own.append(rest.pop(0))
        places = []  # type: List[str]
        while rest and not rest[0].startswith("/"):
            places.append(rest.pop(0))
        yield MapMount(key, offset, _options(common + own), " ".join(places), number)


def _options(words):
    # type: (List[str]) -> str
    """Mount options without the dash in front and without words for the automounter."""
    found = []
    for word in words:
        for option in word.lstrip("-").split(","):
            if option and not _FOR_THE_AUTOMOUNTER.match(option):
                found.append(option)
    return ",".join(found)


def _map_name(word):
    # type: (str) -> Tuple[str, str]
    """The kind and name of a map: "yp:mnt.map", "file,sun:/etc/auto.data", "/etc/x", "-hosts"."""
    if word.startswith("-"):
        return "builtin", word
    prefix = _PREFIX.match(word)
    if prefix is not None:
        return prefix.group(1), word[prefix.end() :]
    return "", word


def _words(line):
    # type: (str) -> List[str]
    """Words between blanks; a backslash or double quotes keep a blank within one."""
    words = []  # type: List[str]
    word, inside, quoted, escaped = "", False, False, False
    for letter in line:
        if escaped:
            word, inside, escaped = word + letter, True, False
        elif letter == "\\":
            escaped = True
        elif letter == '"':
            quoted, inside = not quoted, True
        elif letter in " \t" and not quoted:
            if inside:
                words.append(word)
            word, inside = "", False
        else:
            word, inside = word + letter, True
    return words + [word] if inside or not words else words


def _lines(text):
    # type: (str) -> Iterator[Tuple[int, str]]
    """Numbers and lines that hold something; a backslash at the end joins the next line."""
    waiting, first = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        if not waiting:
            first = number
        if line.endswith("\\"):
            waiting += line[:-1]
            continue
        whole, waiting = (waiting + line).strip(" \t"), ""
        if whole and not whole.startswith("#"):
            yield first, whole
    if waiting.strip(" \t") and not waiting.lstrip().startswith("#"):
        yield first, waiting.strip(" \t")
