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
_TOKEN = re.compile(r'"(?:[^"\n]|"")*"|[{}]|[#!]|[^\s{}"#!]+')
_BLACKLIST, _EXCEPTIONS = "blacklist", "blacklist_exceptions"
_DEFAULTS, _DEVICES, _DEVICE = "defaults", "devices", "device"
#: Settings of the section defaults that decide which maps are made.
FIND, WWIDS = "find_multipaths", "wwids_file"
_KEYS = ("devnode", "wwid", "property", "protocol")
_PARTS = ("vendor", "product")
#: A setting of a device that excludes others of its vendor.
_OTHERS = "product_blacklist"
#: The sections that each section may have; another keyword opens none.
_SECTIONS = {
    (): (_DEFAULTS, _BLACKLIST, _EXCEPTIONS, _DEVICES, "overrides", "multipaths"),
    (_BLACKLIST,): (_DEVICE,),
    (_EXCEPTIONS,): (_DEVICE,),
    (_DEVICES,): (_DEVICE,),
    ("overrides",): ("protocol",),
    ("multipaths",): ("multipath",),
}
#: Escaped characters and sets, in which the signs of repetition are plain characters.
_PLAIN = re.compile(r"\\.|\[[^\[\]]*\]")
#: A bracket within a set, which later versions of Python may read as another set.
_WITHIN = re.compile(r"(?<!\\)\[(\^?)\[(?![:.=])")
_REPEATED = re.compile(r"[*+?{]")
#: A pattern without repeated groups, classes by name and references.
_BOUNDED = re.compile(r"(?:[^\\()*+?{}\[]|\\[^0-9]|\[[^\[\]]+\]|\)(?![*+?{])|\(|[*+?])*\Z")
_LONGEST = 200
#: Repetitions in a pattern: all, and those without an end. More could take time without an end.
_MOST_REPEATED, _MOST_ENDLESS = 4, 2


#: Why a path is excluded: by an entry of the file, by the program itself, or because no property
#: of the path is one of the exceptions.
LISTED, BUILT_IN, MISSING = "listed", "built in", "missing"
#: The properties that give a path its WWID; without them none of its properties is missing.
_OF_WWID = {"sd": "ID_SERIAL", "nvme": "ID_WWN", "dasd": "ID_UID"}
_ALL = (".*", "*")


class Entry(NamedTuple):
    """A line that excludes or allows. ``key`` is devnode, wwid, property, protocol or device.

    ``patterns`` are the vendor and the product of a device, otherwise one. ``section`` is devices
    for a product_blacklist.
    """

    key: str
    patterns: Tuple[str, ...]
    line: int
    section: str = "the blacklist"

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


#: What each version of the program excludes without a line in a file, and the properties that
#: upstream allows: Red Hat takes these out.
_NO_DISKS = Entry("devnode", ("^(td|hd|vd)[a-z]",), 0)
UPSTREAM = Entry("property", ("(SCSI_IDENT_|ID_WWN)",), 0)


class Path(NamedTuple):
    """A path of a map. Texts are None where they are not known."""

    devnode: str
    wwid: str
    properties: Dict[str, str]
    vendor: Optional[str]
    product: Optional[str]
    protocol: Optional[str] = None


class NotBounded(ParseError):
    """A pattern that is not evaluated."""


def parse(text: str) -> Conf:
    """As the program reads it: a line is a section, a setting with its value, or an end.

    The rest of a line is ignored, also "devnode x }" after "blacklist {"."""
    found = Conf([], [], {})
    above: Tuple[str, ...] = ()
    device: Dict[str, str] = {}
    for number, words in _lines(text):
        word, value = words[0], words[1] if len(words) > 1 else None
        if word == "}":
            if above[-1:] == (_DEVICE,):
                _add_device(found, above[0], device, number)
            above = above[:-1]
        elif word in _SECTIONS.get(above, ()):
            above = (*above, word)
            device = {}
        elif value is not None:
            _add(found, above, device, Entry(word, (value,), number))
    return found


def _add(found: Conf, above: Tuple[str, ...], device: Dict[str, str], entry: Entry) -> None:
    """Add a setting of the sections ``above``."""
    if above == (_DEFAULTS,) and entry.key in (FIND, WWIDS):
        found.defaults[entry.key] = entry.patterns[0]
    elif above in ((_BLACKLIST,), (_EXCEPTIONS,)) and entry.key in _KEYS:
        _of(found, above[0]).append(entry)
    elif above[-1:] == (_DEVICE,) and entry.key in (*_PARTS, _OTHERS):
        device[entry.key] = entry.patterns[0]


def _add_device(found: Conf, section: str, device: Dict[str, str], line: int) -> None:
    vendor, product, others = (device.get(key, "") for key in (*_PARTS, _OTHERS))
    if section == _DEVICES and others:
        found.entries.append(Entry(_DEVICE, (vendor, others), line, section))
    elif section != _DEVICES and (vendor or product):
        _of(found, section).append(Entry(_DEVICE, (vendor, product), line))


def wwids(text: str) -> FrozenSet[str]:
    """The WWIDs of the file that multipath keeps of its maps: /WWID/ in a line each."""
    lines = [line.strip() for line in text.splitlines()]
    return frozenset(line[1:-1] for line in lines if len(line) > 2 and line[0] == "/" == line[-1])


def _of(found: Conf, section: str) -> List[Entry]:
    return found.entries if section == _BLACKLIST else found.exceptions


def _lines(text: str) -> Iterator[Tuple[int, List[str]]]:
    """Words of each line without quotes and comments. A line that begins with "{" is ignored."""
    for number, line in enumerate(text.split("\n"), 1):
        words: List[str] = []
        for match in _TOKEN.finditer(line):
            word = match.group()
            if word[0] in "#!":
                break
            quoted = len(word) > 1 and word[0] == '"' == word[-1]
            words.append(word[1:-1].replace('""', '"') if quoted else word)
        if words and words[0] != "{":
            yield number, words


def kept(text: str) -> str:
    """The lines that the parser uses: sections, the lines of blacklists and settings."""
    keys = "|".join([*_KEYS, *_PARTS, _OTHERS, FIND, WWIDS])
    needed = re.compile(rf"\s*(?:(?:{keys})\s|[\w \t]*[{{}}]|\w+\s*$)")
    return kept_lines.only(text, lambda line: needed.match(line) is not None)


def excluded_by(path: Path, conf: Conf) -> Optional[Tuple[str, Entry]]:
    """(LISTED, BUILT_IN or MISSING, entry) of what excludes a path; None if nothing does.

    An exception of another key allows nothing. NotBounded if an entry that could decide cannot be
    evaluated."""
    for key in ("property", "devnode", _DEVICE, "protocol", "wwid"):
        entries = [entry for entry in conf.entries if entry.key == key]
        exceptions = [entry for entry in conf.exceptions if entry.key == key]
        decide = _by_property if key == "property" else _by_key
        found = decide(path, [*entries, _NO_DISKS] if key == "devnode" else entries, exceptions)
        if found is not None:
            return found
    return None


def _by_key(
    path: Path, entries: List[Entry], exceptions: List[Entry]
) -> Optional[Tuple[str, Entry]]:
    excluding = [entry for entry in entries if _fits(entry, path)]
    if not excluding or any(_fits(entry, path) for entry in exceptions):
        return None
    return BUILT_IN if excluding[0] is _NO_DISKS else LISTED, excluding[0]


def _by_property(
    path: Path, entries: List[Entry], exceptions: List[Entry]
) -> Optional[Tuple[str, Entry]]:
    """The first property by name that is in a list decides; with exceptions, one must be in it."""
    for name in sorted(path.properties):
        if any(_found(entry.patterns[0], name) for entry in exceptions):
            return None
        for entry in entries:
            if _found(entry.patterns[0], name):
                return LISTED, entry
    kind = next((kind for kind in _OF_WWID if path.devnode.startswith(kind)), "")
    own = [entry for entry in exceptions if entry.line]
    if own and _OF_WWID.get(kind) in path.properties:
        return MISSING, own[0]
    return None


def _fits(entry: Entry, path: Path) -> bool:
    if entry.key == "devnode":
        return _found(entry.patterns[0], path.devnode)
    if entry.key == "wwid":
        return _found(entry.patterns[0], path.wwid)
    if entry.key == "protocol":
        if path.protocol is None:
            raise NotBounded(_WHAT, "the protocol of a path is not known", entry.line)
        return _found(entry.patterns[0], path.protocol)
    pairs = [
        (pattern, value)
        for pattern, value in zip(entry.patterns, (path.vendor, path.product))
        if pattern not in ("", *_ALL)
    ]
    # One that differs is enough.
    if not all(_found(pattern, value) for pattern, value in pairs if value is not None):
        return False
    if any(value is None for _pattern, value in pairs):
        raise NotBounded(_WHAT, "vendor and product of a path are not known", entry.line)
    return True


def _found(pattern: str, text: str) -> bool:
    """regexec(3) anywhere in the text; an exclamation mark before the pattern inverts it."""
    inverted = pattern.startswith("!")
    pattern = _WITHIN.sub(r"[\1", pattern[1:] if inverted else pattern)
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
