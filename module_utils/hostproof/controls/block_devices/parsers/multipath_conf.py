# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The blacklist and the defaults of multipath.conf, and the file of WWIDs.

Source: multipath.conf(5); libmultipath/parser.c, blacklist.c, wwids.c.

Patterns are extended regular expressions of POSIX. Only those are used that Python reads in the
same way and in bounded time; another one is unknown.
"""

import re
from typing import Dict, FrozenSet, Iterator, List, NamedTuple, Optional, Tuple

from ....errors import ParseError
from ....parsers import kept_lines

_WHAT = "multipath.conf"
_TOKEN = re.compile(r'"(?:[^"\n]|"")*"|[{}]|[^\s{}"]+')
_BLACKLIST, _EXCEPTIONS = "blacklist", "blacklist_exceptions"
_SECTIONS = (_BLACKLIST, _EXCEPTIONS)
_DEFAULTS = "defaults"
#: Settings of the section defaults that decide which maps are made.
FIND, WWIDS = "find_multipaths", "wwids_file"
_KEYS = ("devnode", "wwid", "property", "protocol")
_PARTS = ("vendor", "product")
#: Escaped characters and sets, in which the signs of repetition are plain characters.
_PLAIN = re.compile(r"\\.|\[[^\[\]]*\]")
_REPEATED = re.compile(r"[*+?{]")
#: A pattern without repeated groups, classes by name and references.
_BOUNDED = re.compile(r"(?:[^\\()*+?{}\[\]]|\\[^0-9]|\[[^\[\]]+\]|\)(?![*+?{])|\(|[*+?])*\Z")
_LONGEST = 200
#: Repetitions in a pattern: all, and those without an end. More could take time without an end.
_MOST_REPEATED, _MOST_ENDLESS = 4, 2


class Entry(NamedTuple):
    """A line of a blacklist. ``key`` is devnode, wwid, property, protocol or device.

    ``patterns`` are the vendor and the product of a device, otherwise one.
    """

    key: str
    patterns: Tuple[str, ...]
    line: int

    def text(self) -> str:
        if self.key != "device":
            return f"{self.key} {self.patterns[0]}"
        words = zip(_PARTS, self.patterns)
        return "device " + ", ".join(f"{name} {value}" for name, value in words if value)


class Conf(NamedTuple):
    """Lines that exclude a device, those that allow it again, and settings (FIND, WWIDS).

    ``has_main`` is false if only the files of conf.d exist.
    """

    entries: List[Entry]
    exceptions: List[Entry]
    defaults: Dict[str, str]
    has_main: bool = True


class Path(NamedTuple):
    """A path of a map. Texts are None where they are not known."""

    devnode: str
    wwid: str
    properties: Dict[str, str]
    vendor: Optional[str]
    product: Optional[str]


class NotBounded(ParseError):
    """A pattern that is not evaluated."""


def parse(text: str) -> Conf:
    """ParseError where a section does not end."""
    found = Conf([], [], {})
    above: List[str] = []
    device: Dict[str, str] = {}
    for number, words in _lines(text):
        while words:
            word = words.pop(0)
            if word == "}":
                if above[-1:] == ["device"] and above[0] in _SECTIONS and device:
                    _of(found, above[0]).append(
                        Entry("device", tuple(device.get(part, "") for part in _PARTS), number)
                    )
                above = above[:-1]
            elif words[:1] == ["{"]:
                above.append(word)
                device = {}
                words.pop(0)
            elif words and above == [_DEFAULTS] and word in (FIND, WWIDS):
                found.defaults[word] = words.pop(0)
            elif word != "{" and words and above[:1] and above[0] in _SECTIONS:
                value = words.pop(0)
                if above[-1] == "device" and word in _PARTS:
                    device[word] = value
                elif len(above) == 1 and word in _KEYS:
                    _of(found, above[0]).append(Entry(word, (value,), number))
    if above:
        raise ParseError(_WHAT, f"the section {above[0]} does not end")
    return found


def wwids(text: str) -> FrozenSet[str]:
    """The WWIDs of the file that multipath keeps of its maps: /WWID/ in a line each."""
    lines = [line.strip() for line in text.splitlines()]
    return frozenset(line[1:-1] for line in lines if len(line) > 2 and line[0] == "/" == line[-1])


def _of(found: Conf, section: str) -> List[Entry]:
    return found.entries if section == _BLACKLIST else found.exceptions


def _lines(text: str) -> Iterator[Tuple[int, List[str]]]:
    """Words of each line without quotes and comments. A brace may be on the next line."""
    waiting: List[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        words = list(waiting)
        waiting = []
        for match in _TOKEN.finditer(line):
            word = match.group()
            if word[0] in "#!" and not words[len(waiting) :] or word.startswith("#"):
                break
            quoted = len(word) > 1 and word[0] == '"' == word[-1]
            words.append(word[1:-1].replace('""', '"') if quoted else word)
        if len(words) == 1 and words[0] not in "{}":
            waiting = words
            continue
        if words:
            yield number, words


def kept(text: str) -> str:
    """The lines that the parser uses: sections, the lines of blacklists and settings."""
    keys = "|".join([*_KEYS, *_PARTS, FIND, WWIDS])
    return kept_lines.only(
        text, lambda line: re.match(rf"\s*(?:(?:{keys})\s|[\w ]*[{{}}]|\w+\s*$)", line) is not None
    )


def excluded_by(path: Path, blacklist: Conf) -> Optional[Entry]:
    """The entry that excludes a path, by the order of multipathd; None if none does.

    NotBounded if an entry that could decide cannot be evaluated.
    """
    for key in ("property", "devnode", "device", "protocol", "wwid"):
        entries = [entry for entry in blacklist.entries if entry.key == key]
        exceptions = [entry for entry in blacklist.exceptions if entry.key == key]
        excluding = [entry for entry in entries if _fits(entry, path)]
        if excluding and not any(_fits(entry, path) for entry in exceptions):
            return excluding[0]
    return None


def _fits(entry: Entry, path: Path) -> bool:
    if entry.key == "devnode":
        return _found(entry.patterns[0], path.devnode)
    if entry.key == "wwid":
        return _found(entry.patterns[0], path.wwid)
    if entry.key == "property":
        return any(_found(entry.patterns[0], name) for name in path.properties)
    if entry.key == "protocol":
        raise NotBounded(_WHAT, "the protocol of a path is not known", entry.line)
    values = (path.vendor, path.product)
    if any(pattern and value is None for pattern, value in zip(entry.patterns, values)):
        raise NotBounded(_WHAT, "vendor and product of a path are not known", entry.line)
    return all(
        not pattern or _found(pattern, value or "")
        for pattern, value in zip(entry.patterns, values)
    )


def _found(pattern: str, text: str) -> bool:
    """regexec(3) anywhere in the text; an exclamation mark before the pattern inverts it."""
    inverted = pattern.startswith("!")
    pattern = pattern[1:] if inverted else pattern
    repeated = _REPEATED.findall(_PLAIN.sub("", pattern))
    if (
        len(pattern) > _LONGEST
        or not _BOUNDED.match(pattern)
        or len(repeated) > _MOST_REPEATED
        or len([sign for sign in repeated if sign != "?"]) > _MOST_ENDLESS
    ):
        raise NotBounded(_WHAT, "a pattern is not evaluated: it is too long or repeats too much")
    # A star at the beginning is a character of the text in POSIX; multipath.conf has "*" for all.
    pattern = "." + pattern if pattern.startswith("*") else pattern
    try:
        return (re.search(pattern, text[:256]) is not None) != inverted
    except re.error:
        raise NotBounded(_WHAT, "a pattern is not a regular expression") from None
