# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""udev rules, as far as they run ``ethtool -A`` for an interface. Source: udev(7), rules files."""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ...errors import ParseError
from .. import glob_pattern
from ..net.ethtool_pause import PauseCommand, commands_in
from .link_file import NO, UNKNOWN, YES, Device

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

    def fits(self, device: Device, name: str, driver: Optional[str]) -> str:
        """Whether it is for an interface when a boot adds it: link_file.YES, NO or UNKNOWN.

        ``name`` is the interface's, ``driver`` the one of sysfs; ``device.driver`` is udev's.
        """
        own = self.command.device
        if _OWN_NAME.search(own) is None and own != name:
            return NO
        # It has one of the kernel's names first, and its own after that.
        names = tuple(device.names) + (name,)
        values: Dict[str, Sequence[Optional[str]]] = {
            "KERNEL": names,
            "NAME": names,
            "ENV{INTERFACE}": names,
            "ATTR{address}": (device.mac,),
            "ATTRS{address}": (device.mac,),
            "DRIVERS": (driver,),
            "ENV{ID_NET_DRIVER}": (device.driver,),
            "ENV{ID_PATH}": (device.path,),
            "ATTR{type}": ("1",),
            "SUBSYSTEM": ("net",),
            "SUBSYSTEMS": ("net",),
            # A boot adds it, and tells so once more when it got another name.
            "ACTION": ("add", "move"),
        }
        answers = [_fits_one(condition, values) for condition in self.conditions]
        if NO in answers:
            return NO
        return UNKNOWN if UNKNOWN in answers else YES


def _fits_one(condition: Tuple[str, str, str], values: Dict[str, Sequence[Optional[str]]]) -> str:
    key, operator, value = condition
    if key not in values or None in values[key]:
        return UNKNOWN
    answers = [
        any(glob_pattern.fits(str(one).lower(), pattern.lower()) for pattern in value.split("|"))
        == (operator == "==")
        for one in values[key]
    ]
    if key == "ACTION" and answers[0]:
        return YES  # every interface is added
    if len(set(answers)) > 1:
        return UNKNOWN
    return YES if answers[0] else NO


def jumps(text: str) -> bool:
    """Whether a rule of the file may leave out others (GOTO=)."""
    return re.search(r"^[^#\n]*\bGOTO\s*=", text, re.MULTILINE) is not None


def parse(text: str) -> List[PauseRule]:
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


def _rules(line: str, number: int) -> List[PauseRule]:
    tokens: List[Tuple[str, str, str]] = []
    at = 0
    while line[at:].strip(" \t,\r"):
        token = _TOKEN.match(line, at)
        if token is None:
            raise ParseError(_WHAT, f"no rule: {line[at : at + 60]!r}", number, at + 1)
        tokens.append((token.group(1), token.group(2), token.group(3)))
        at = token.end()
    conditions = tuple(one for one in tokens if one[1] in ("==", "!="))
    return [
        PauseRule(number, conditions, command)
        for key, operator, value in tokens
        if key in ("RUN", "RUN{program}", "PROGRAM", "IMPORT{program}") and operator != "-="
        for command in commands_in(value)
    ]
