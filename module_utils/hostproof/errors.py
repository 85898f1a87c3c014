# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The errors that Hostproof raises. Each message is one sentence: what, where, what to do."""

import re
from typing import Sequence, Union

#: Name of an option or attribute. Passwords contain digits, and are longer.
_NAME = re.compile(r"[A-Za-z][A-Za-z_-]{0,23}\Z")


class HostproofError(Exception):
    """Anything that stops Hostproof for a reason that a person can act on."""


class PolicyError(HostproofError):
    """A policy value that cannot be used; the message names the variable."""


class BadEntry(PolicyError):
    """One entry of a list in the policy is invalid. The rest of the policy is valid.

    An audit ignores the entry and reports it; apply rejects the policy. ``places`` are the numbers
    or keys of the entries that belong together, for example two that contradict each other."""

    def __init__(self, message: str, field: str, places: Sequence[Union[int, str]]) -> None:
        self.field = field
        self.places = tuple(places)
        super().__init__(message)


class ParseError(HostproofError):
    """Text that is not of the format it was taken for.

    Attributes:
        what: the format ("meminfo", "sysctl.d file", ...).
        line: 1-based line number, or 0 where the text as a whole is at fault.
        column: 1-based column, or 0 where the line as a whole is at fault.
    """

    def __init__(self, what: str, problem: str, line: int = 0, column: int = 0) -> None:
        self.what = what
        self.line = line
        self.column = column
        where = f", line {line}" if line else ""
        where += f", column {column}" if column else ""
        super().__init__(f"{what}{where}: {problem}")


def kind_of(text: str) -> str:
    """Kind and length of a text from a host, for an error message; never the text itself.

    Any part of a file can contain a secret, and messages are shown in findings, reports and logs.
    """
    if not text:
        return "an empty text"
    if len(text) == 1 and text.isprintable() and not text.isalnum():
        return f'"{text}"'
    if text.isdigit():
        return f"a number of {len(text)} digits"
    word = "text" if any(character.isspace() for character in text) else "word"
    return f"a {word} of {len(text)} character{'' if len(text) == 1 else 's'}"


def name_or_kind(text: str) -> str:
    """A name where only a name can stand, such as an option that it is unknown; else its kind.

    Not for a place where a value can stand.
    """
    return repr(text) if _NAME.match(text) else kind_of(text)


class HostError(HostproofError):
    """A read that gave no answer. ``key`` is the evidence key of the attempt."""

    def __init__(self, key: str, message: str) -> None:
        self.key = key
        super().__init__(message)


class Absent(HostError):
    """The file, directory or command does not exist on the host: a known answer."""


class NotRecorded(HostError):
    """A recording was made by a release that did not read it yet: unknown.

    Where a reading is optional, it counts as absent (answer.unless_absent), which findings state.
    ``counts_as_absent`` is True from then on.
    """

    def __init__(self, key: str, since: str, release: str) -> None:
        self.since = since
        self.by = f"Hostproof {release}" if release else "an unknown release of Hostproof"
        self.counts_as_absent = False
        super().__init__(key, f"{key}: not recorded by {self.by}, it is read since {since}")


class Denied(HostError):
    """The host has it but this user may not read it: unknown, never a pass."""


class Unanswered(HostError):
    """Timed out, failed to read, or not in the recording: unknown, never a pass."""
