# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The automounter's master map and its maps of the Sun format.

Source: auto.master(5) and autofs(5) of autofs 5; parse_sun.c and master_parse.y there; Solaris
automount(8). Maps of the "amd" and "hesiod" formats, and what programs print, are not read here.
"""

import re
from collections import deque
from typing import Callable, Iterator, List, NamedTuple, Tuple

from .. import kept_lines

DIRECT = "/-"

#: Words for the automounter itself that are between the mount options.
_FOR_THE_AUTOMOUNTER = re.compile(
    r"(no)?(browse|bind|symlink|strict|ghost)$|use-weight-only$|no-use-weight-only$|"
    r"(no-)?random-multimount-selection$|verbose$|debug$|\d+$|timeout=|negative-timeout=|mode="
)
_FSTYPE = re.compile(r"(?:^|[-,\s\"])fstype=([\w.]+)")
#: A word that needs no quotes.
_PLAIN = re.compile(r"[^\\\" \t#]+\Z")
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
    """A "+" line: another map, or with the kind "dir" a directory of them."""

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


#: An entry that is longer autofs does not take (MAPENT_MAX_LEN of its automount.h).
_LONGEST = 16384


class Map(NamedTuple):
    """bad_lines are keys without a location, or too long: the automounter cannot mount them."""

    mounts: List[MapMount]
    includes: List[Include]
    bad_lines: List[int]


def parse_master(text: str) -> Master:
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


def parse_map(text: str) -> Map:
    """An indirect or a direct map."""
    parsed = Map([], [], [])
    for number, line in _lines(text):
        if len(line) > _LONGEST:
            parsed.bad_lines.append(number)
            continue
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


def kept(text: str) -> str:
    """The part of a map that evidence keeps (kept_lines.py): entries without comments."""
    return kept_lines.numbered({number: _kept_line(line) for number, line in _lines(text)})


def _kept_line(line: str) -> str:
    if len(line) > _LONGEST:
        return "?"
    match = _FSTYPE.search(line)
    words = _words(line)
    if match is not None:
        words = [_kept_options(match.group(1), word) for word in words]
    text = " ".join(map(_quoted, words))
    return text if len(text) <= _LONGEST else line


def _kept_options(fstype: str, word: str) -> str:
    """A word of options without what may be an account; any other word as it is."""
    options = word.lstrip("-")
    left = kept_lines.options(fstype, options)
    if not _is_option(word) or left == options:
        return word
    return "-" + ",".join([option for option in ("fstype=" + fstype, left) if option])


def _quoted(word: str) -> str:
    if _PLAIN.match(word):
        return word
    return '"{0}"'.format(re.sub(r'[\\"]', r"\\\g<0>", word))


def _mounts(words: List[str], number: int) -> Iterator[MapMount]:
    """key [-options] [[/offset] [-options] location...]..."""
    key, rest = words[0], deque(words[1:])

    def take_options(test: Callable[[str], bool]) -> List[str]:
        result = []
        while rest and test(rest[0]):
            result.append(rest.popleft())
        return result

    common = _options(take_options(_is_option))
    while rest:
        offset = rest.popleft().rstrip("/") if rest[0].startswith("/") else ""
        own = _options(take_options(_is_option))
        options = ",".join(part for part in (common, own) if part)
        places = take_options(lambda word: not word.startswith("/"))
        yield MapMount(key, offset, options, " ".join(places), number)


def _is_option(word: str) -> bool:
    return word.startswith("-")


def _options(words: List[str]) -> str:
    """Mount options without the dash in front and without words for the automounter."""
    options = []
    for word in words:
        for option in word.lstrip("-").split(","):
            if option and not _FOR_THE_AUTOMOUNTER.match(option):
                options.append(option)
    return ",".join(options)


def _map_name(word: str) -> Tuple[str, str]:
    """The kind and name of a map: "yp:mnt.map", "file,sun:/etc/auto.data", "/etc/x", "-hosts"."""
    if word.startswith("-"):
        return "builtin", word
    prefix = _PREFIX.match(word)
    if prefix is not None:
        return prefix.group(1), word[prefix.end() :]
    return "", word


def _words(line: str) -> List[str]:
    """Words between blanks; a backslash or double quotes keep a blank within one."""
    words: List[str] = []
    word: List[str] = []
    inside = quoted = escaped = False
    for letter in line:
        if not escaped and letter == "\\":
            escaped = True
            continue
        if not escaped and letter == '"':
            quoted, inside = not quoted, True
        elif not escaped and letter in " \t" and not quoted:
            if inside:
                words.append("".join(word))
            word, inside = [], False
        else:
            word.append(letter)
            inside = True
        escaped = False
    return words + ["".join(word)] if inside or not words else words


def _lines(text: str) -> Iterator[Tuple[int, str]]:
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
