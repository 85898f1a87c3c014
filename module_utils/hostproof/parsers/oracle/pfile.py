# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Text initialization parameter files: ``[SID.]name = value``, one or several on a line.

``#`` begins a comment outside quotes; a line goes on after a backslash at its end, and where a
list or a quoted value is still open. An entry for a SID beats the one for all (``*``, or no
prefix); of two alike the last counts. A list stays one text. Source: Oracle Database
Administrator's Guide, Initialization Parameter Files; Oracle Database Reference, Basics.
"""

import re
from typing import List, Match, NamedTuple, Optional, Tuple

from ...errors import ParseError, kind_of

#: The prefix of an entry for every instance.
ALL = "*"

_NAME = re.compile(r"(?:(\*|[\w$#+-]+)\s*\.\s*)?([A-Za-z_]\w*)\s*=\s*", re.ASCII)


class Entry(NamedTuple):
    """A parameter: ``name`` in small letters, ``value`` without its quotes, lines from 1."""

    sid: str
    name: str
    value: str
    line: int


def parse(text: str) -> List[Entry]:
    """Every entry in the order of the file. ParseError where a line is none."""
    entries = []
    for number, line in _logical_lines(text):
        if _NAME.match(line) is None:
            raise _error(f"expected [SID.]NAME = VALUE, not {kind_of(line)}", number, 1)
        if re.search(r"[\0-\x08\x0e-\x1f]", line):
            raise _error("a byte that is no text", number, 1)
        for match, value in _assignments(line):
            sid, name = match.group(1) or ALL, match.group(2).lower()
            entries.append(Entry(sid, name, _unquoted(value), number))
    return entries


def _assignments(line: str) -> List[Tuple[Match[str], str]]:
    """The assignments of a line: the next one begins after a blank outside quotes and lists."""
    matches: List[Match[str]] = []
    quote, depth, place = "", 0, 0
    while place < len(line):
        letter = line[place]
        is_begin = not quote and depth == 0 and (place == 0 or line[place - 1] in " \t")
        match = _NAME.match(line, place) if is_begin else None
        if match is not None:
            matches.append(match)
            place = match.end()
            continue
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        else:
            depth += {"(": 1, ")": -1}.get(letter, 0)
        place += 1
    ends = [match.start() for match in matches[1:]] + [len(line)]
    return [(match, line[match.end() : end].strip()) for match, end in zip(matches, ends)]


def kept(text: str) -> str:
    """The part of the file that evidence keeps (kept_lines.py): all but the text of comments."""
    lines = []
    quote = ""
    for line in text.split("\n"):
        for place, letter in enumerate(line):
            if quote:
                quote = "" if letter == quote else quote
            elif letter in "'\"":
                quote = letter
            elif letter == "#":
                line = line[: place + 1]
                break
        lines.append(line)
    return "\n".join(lines)


def effective(entries: List[Entry], name: str, sid: str) -> Optional[Entry]:
    """The entry that an instance takes; None where the file leaves the default."""
    for owner in (sid, ALL):
        matches = [entry for entry in entries if entry.name == name and entry.sid == owner]
        if matches:
            return matches[-1]
    return None


def for_instance(entries: List[Entry], name: str, sid: str) -> List[Entry]:
    """Every entry of a parameter that speaks of an instance."""
    return [entry for entry in entries if entry.name == name and entry.sid in (ALL, sid)]


class _Scan:
    """What is open at the end of a line: a quotation that began at ``column``, and ``depth``
    parentheses."""

    def __init__(self) -> None:
        self.quote = ""
        self.column = self.depth = 0

    @property
    def is_open(self) -> bool:
        return bool(self.quote) or self.depth > 0

    def take(self, line: str, number: int) -> Tuple[str, bool]:
        """A line without its comment, and whether it ends with a backslash."""
        line = line[:-1] if line.endswith("\r") else line
        kept: List[str] = []
        end = len(line.rstrip())
        for place, letter in enumerate(line):
            if self.quote:
                self.quote = "" if letter == self.quote else self.quote
            elif letter in "'\"":
                self.quote, self.column = letter, place + 1
            elif letter == "#":
                break
            elif letter == "(":
                self.depth += 1
            elif letter == ")":
                self.depth -= 1
                if self.depth < 0:
                    raise _error("expected no ')'", number, place + 1)
            elif letter == "\\" and place + 1 >= end:
                return "".join(kept).strip(), True
            kept.append(letter)
        return "".join(kept).strip(), False


def _logical_lines(text: str) -> List[Tuple[int, str]]:
    """(number of its first line, text) of each parameter, comments and line ends taken out."""
    lines = []
    begun: Optional[int] = None
    parts: List[str] = []
    scan = _Scan()
    for number, raw in enumerate(text.split("\n"), 1):
        words, goes_on = scan.take(raw, number)
        if begun is None and words:
            begun = number
        parts.append(words)
        goes_on = goes_on or scan.is_open or words.endswith(",")
        if not goes_on:
            if begun is not None:
                lines.append((begun, " ".join(part for part in parts if part)))
            begun, parts = None, []
    if begun is not None or scan.is_open:
        raise _not_ended(scan, begun or 1)
    return lines


def _not_ended(scan: _Scan, begun: int) -> ParseError:
    if scan.quote:
        return _error(f"expected the closing {scan.quote}", begun, scan.column)
    if scan.depth > 0:
        return _error(f"expected {scan.depth} more ')'", begun, 1)
    return _error("expected another line after this one", begun, 1)


def _unquoted(value: str) -> str:
    for quote in "'\"":
        if len(value) > 1 and value[0] == value[-1] == quote and quote not in value[1:-1]:
            return value[1:-1]
    return value


def _error(problem: str, line: int, column: int) -> ParseError:
    return ParseError("parameter file", f"column {column}: {problem}", line)
