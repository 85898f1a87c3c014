# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""tmpfiles.d files as systemd-tmpfiles reads them at boot: here, which lines write to a file.

Source: tmpfiles.d(5); systemd, parse_line() and item_compatible() in src/tmpfiles/tmpfiles.c.
"""

import base64
import re
from typing import Dict, List, Match, NamedTuple, Optional, Tuple

from .. import glob_pattern
from ..number import integer
from . import conf_d

DIRECTORIES = conf_d.directories("tmpfiles.d")

#: First character of the types whose lines write to a file that may exist.
WRITING = ("w", "f", "F")

_TYPE = re.compile(r"[A-Za-z][-+!=~^$?]*$")
# A field ends at white space outside of quotes; the argument is the rest of the line.
_FIELD = re.compile(r"""((?:"[^"]*"|'[^']*'|[^\s"'])+)(?:[ \t]+|$)""")
_FIELDS_BEFORE_ARGUMENT = 6
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|[0-7]{3}|[abfnrstv\\\"']|.|$)", re.DOTALL)
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "s": " ", "t": "\t", "v": "\v"}


class Entry(NamedTuple):
    """One line. ``type`` carries its modifiers (``w+``); "" where an argument or age is missing."""

    type: str
    target: str
    argument: str
    path: str
    line: int
    age: str = ""


def parse(text: str, path: str) -> List[Entry]:
    """Every line of a file that systemd carries out; it logs and skips what it cannot read.

    An empty file is legal: it masks one of the same name. In paths the specifiers of
    temporary directories are replaced, and no others.
    """
    entries = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip(" \t\r")
        if line and line[0] != "#":
            entry = _entry(line, path, number)
            if entry is not None:
                entries.append(entry)
    return entries


def writes(entries: List[Entry], target: str) -> List[Entry]:
    """The ``w``, ``f+`` and ``F`` lines that write to a file, in the order of writing: the last one
    wins. ``F`` is the old name of ``f+``.

    ``entries`` are in the order of reading. If several lines have one target, systemd uses the
    first and ignores the others as duplicates, unless all of them append (``w+``). ``f+`` is
    processed before ``w``, and is a duplicate of ``f``. Several patterns of ``w`` can match the
    file.
    """
    created = [e for e in entries if e.type[0] in "fF" and e.target == target]
    written = [
        e
        for e in entries
        if e.type[0] == "w" and e.argument and glob_pattern.fits(target, e.target)
    ]
    carried_out = [entry for entry in created[:1] if "+" in entry.type or entry.type[0] == "F"]
    # By target: whether all that are carried out append.
    appending: Dict[str, bool] = {}
    for entry in written:
        appends = "+" in entry.type
        if appends and appending.get(entry.target, True) or entry.target not in appending:
            appending[entry.target] = appends
            carried_out.append(entry)
    return carried_out


def written(entry: Entry) -> Tuple[Optional[str], bool]:
    """The text that a line writes, or None if it is unknown; and whether the line surely counts.

    systemd before 251 rejects the modifier ~ (the argument is in base64), before 250 the modifier
    ^ (the argument names a credential).
    """
    if "^" in entry.type or "%" in entry.argument:
        return None, False
    if "~" not in entry.type:
        return entry.argument, True
    try:
        return base64.b64decode(entry.argument, validate=True).decode("utf-8"), False
    except ValueError:
        return None, False


def _entry(line: str, path: str, number: int) -> Optional[Entry]:
    fields: List[str] = []
    while line and len(fields) < _FIELDS_BEFORE_ARGUMENT:
        match = _FIELD.match(line)
        if match is None:
            return None
        fields.append(re.sub("[\"']", "", match.group(1)))
        line = line[match.end() :]
    argument = _unescape(line)
    if len(fields) < 2 or argument is None:
        return None
    kind, target = fields[0], fields[1].replace("%T", "/tmp").replace("%V", "/var/tmp")
    if _TYPE.match(kind) is None or not target.startswith("/"):
        return None
    target = "/" + "/".join(part for part in target.split("/") if part)
    age = fields[5] if len(fields) == _FIELDS_BEFORE_ARGUMENT and fields[5] != "-" else ""
    return Entry(kind, target, "" if argument == "-" else argument, path, number, age)


def _unescape(text: str) -> Optional[str]:
    """C-style escapes replaced; None if there is one that C does not have."""
    codes = [match.group(1) for match in _ESCAPE.finditer(text)]
    if any(
        len(code) < 2 and code not in _LETTERS and code not in ("\\", '"', "'") for code in codes
    ):
        return None
    return _ESCAPE.sub(_unescaped, text)


def _unescaped(match: Match[str]) -> str:
    code = match.group(1)
    if len(code) > 1:
        return chr(integer(code[1:], 16) if code[0] == "x" else integer(code, 8))
    return _LETTERS.get(code, code)
