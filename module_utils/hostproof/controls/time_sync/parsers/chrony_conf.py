# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""chrony.conf and what it includes, in the order in which chronyd reads it.

Source: chrony.conf(5), Comments in the configuration file, include, confdir and makestep: the
last makestep counts, and a file is where the directive that names it does. That a confdir on
top loses to the file itself was seen with ``chronyd -p`` of 4.3.
"""

import re
from typing import Callable, Dict, Iterator, List, NamedTuple, Tuple

from ....errors import ParseError, kind_of
from ....parsers import glob_pattern, kept_lines

#: Limits of included levels, as in chronyd, and of files, more than any host has.
_LEVELS = 10
_FILES = 200
_COMMENT = ("#", "!", ";", "%")
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,9})?\Z")
_COUNT = re.compile(r"-?[0-9]{1,9}\Z")
#: The directives that a control needs, and those that lead to other files.
_KEPT = ("include", "confdir", "makestep", "initstepslew", "leapsecmode")


class Directive(NamedTuple):
    """``name`` is in small letters."""

    name: str
    words: Tuple[str, ...]
    path: str
    line: int

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


class MakeStep(NamedTuple):
    """Threshold of a step in seconds, and number of updates at the start (negative: all)."""

    threshold: str
    updates: int
    place: str


def parse(text: str, path: str) -> List[Directive]:
    """The directives of one file."""
    directives = []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if words and not words[0].startswith(_COMMENT):
            directives.append(Directive(words[0].lower(), tuple(words[1:]), path, number))
    return directives


def kept(text: str) -> str:
    """The part of a file that evidence keeps (kept_lines.py)."""
    return kept_lines.only(text, lambda line: (line.lower().split() or [""])[0] in _KEPT)


def follow(
    path: str, read_text: Callable[[str], str], list_dir: Callable[[str], List[str]]
) -> List[Directive]:
    """All directives, in order, from the file at ``path`` on; a confdir is before its files.

    ``read_text`` and ``list_dir`` give a file and the names in a directory (none where it is
    absent), and raise what is unknown. ParseError where files include each other without end."""
    left = [_FILES]

    def walk(path: str, level: int) -> Iterator[Directive]:
        left[0] -= 1
        if level > _LEVELS or left[0] < 0:
            raise ParseError("chrony.conf", f"{path} is included too deep, or by too many files")
        for directive in parse(read_text(path), path):
            yield directive
            for below in _included(directive, list_dir):
                yield from walk(below, level + 1)

    return list(walk(path, 0))


def _included(directive: Directive, list_dir: Callable[[str], List[str]]) -> List[str]:
    if directive.name == "include" and len(directive.words) == 1:
        folder, _, pattern = directive.words[0].rpartition("/")
        if not re.search(r"[*?\[]", pattern):
            return [directive.words[0]]
        names = [name for name in list_dir(folder) if glob_pattern.fits(name, pattern)]
        return [f"{folder}/{name}" for name in sorted(names)]
    if directive.name != "confdir":
        return []
    # If several directories have a file with the same name, the first one is used.
    paths: Dict[str, str] = {}
    for folder in directive.words:
        for name in list_dir(folder):
            if name.endswith(".conf"):
                paths.setdefault(name, f"{folder.rstrip('/')}/{name}")
    return [paths[name] for name in sorted(paths)]


def makestep(directive: Directive) -> MakeStep:
    """Raises ParseError where chronyd would not start with it."""
    if (
        len(directive.words) == 2
        and _NUMBER.match(directive.words[0])
        and _COUNT.match(directive.words[1])
    ):
        return MakeStep(directive.words[0], int(directive.words[1]), directive.place)
    text = " ".join(directive.words)[:80]
    raise ParseError(
        "chrony.conf",
        f"makestep {kind_of(text)} in {directive.path} is not understood",
        directive.line,
    )
