# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The errors that Hostproof raises. Each message is one sentence: what, where, what to do."""


class HostproofError(Exception):
    """Anything that stops Hostproof for a reason that a person can act on."""


class PolicyError(HostproofError):
    """A policy value that cannot be used; the message names the variable."""


class ParseError(HostproofError):
    """Text that is not of the format it was taken for.

    Attributes:
        what: the format ("meminfo", "sysctl.d file", ...).
        line: 1-based line number, or 0 where the text as a whole is at fault.
        column: 1-based column, or 0 where the line as a whole is at fault.
    """

    def __init__(self, what, problem, line=0, column=0):
        # type: (str, str, int, int) -> None
        self.what = what
        self.line = line
        self.column = column
        where = ", line {0}".format(line) if line else ""
        where += ", column {0}".format(column) if column else ""
        super().__init__("{0}{1}: {2}".format(what, where, problem))


class HostError(HostproofError):
    """A read that gave no answer. ``key`` is the evidence key of the attempt."""

    def __init__(self, key, message):
        # type: (str, str) -> None
        self.key = key
        super().__init__(message)


class Absent(HostError):
    """The file, folder or command does not exist on the host: a known answer."""


class Denied(HostError):
    """The host has it but this user may not read it: unknown, never a pass."""


class Unanswered(HostError):
    """Timed out, failed to read, or not in the recording: unknown, never a pass."""
