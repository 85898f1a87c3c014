# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""udev rules, as far as they run ``ethtool -A`` for an interface. Source: udev(7), rules files."""

import re
from fnmatch import fnmatchcase
from typing import List, NamedTuple, Sequence, Tuple

from ..errors import ParseError
from .ethtool_pause import PauseCommand, commands_in

_WHAT = "udev rules"
_TOKEN = re.compile(
    r'\s*([A-Z_]+(?:\{[^}]*\})?)\s*(==|!=|\+=|-=|:=|=)\s*e?"((?:[^"\\]|\\.)*)"\s*,?'
)
#: What stands for the interface in a command.
_OWN_NAME = re.compile(r"\$(?:name|kernel|env\{INTERFACE\})|%k|%E\{INTERFACE\}")


class PauseRule(NamedTuple):
    """A rule that sets PAUSE. ``conditions`` are (key, operator, value)."""

    line: int
    conditions: Tuple[Tuple[str, str, str], ...]
    command: PauseCommand

    def fits(self, names, mac, driver):
        # type: (Sequence[str], str, str) -> bool
        """Whether it is for an interface when a boot adds it."""
        values = {
            "KERNEL": names,
            "NAME": names,
            "ENV{INTERFACE}": names,
            "ATTR{address}": [mac],
            "ATTRS{address}": [mac],
            "DRIVERS": [driver],
            "ENV{ID_NET_DRIVER}": [driver],
            "SUBSYSTEM": ["net"],
            "ACTION": ["add"],
        }
        for key, operator, value in self.conditions:
            if key not in values:
                continue  # what is not known here is taken to hold
            patterns = value.split("|")
            fitting = any(
                fnmatchcase(one.lower(), pattern.lower())
                for one in values[key]
                for pattern in patterns
            )
            if fitting != (operator == "=="):
                return False
        device = self.command.device
        return _OWN_NAME.search(device) is not None or device in names


def parse(text):
    # type: (str) -> List[PauseRule]
    """The rules that run ethtool -A, in their order. ParseError where one of them is no rule."""
    found = []
    waiting, first = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if not waiting:
            first = number
            if line.lstrip().startswith("#"):
                continue
        if line.endswith("\\"):
            waiting += line[:-1]
            continue
        whole, waiting = waiting + line, ""
        if "ethtool" in whole:
            found += _rules(whole, first)
    return found


def _rules(line, number):
    # type: (str, int) -> List[PauseRule]
    tokens = []  # type: List[Tuple[str, str, str]]
    at = 0
    while line[at:].strip(" \t,\r"):
        token = _TOKEN.match(line, at)
        if token is None:
            raise ParseError(_WHAT, "no rule: {0!r}".format(line[at : at + 60]), number, at + 1)
        tokens.append((token.group(1), token.group(2), token.group(3)))
        at = token.end()
    conditions = tuple(one for one in tokens if one[1] in ("==", "!="))
    return [
        PauseRule(number, conditions, command)
        for key, operator, value in tokens
        if key in ("RUN", "RUN{program}", "PROGRAM", "IMPORT{program}") and operator != "-="
        for command in commands_in(value)
    ]
