# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd's .link files: which interface one is for, and what it sets.

Sources: systemd.link(5); systemd, link-config.c (link_config_get: the first file that fits is the
only one that counts) and net-condition.c (net_match_config).
"""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from .. import glob_pattern
from .systemd_unit import FALSE, TRUE, Assignment, Unit, last

YES, NO, UNKNOWN = "yes", "no", "unknown"

RX, TX, AUTONEG = "RxFlowControl", "TxFlowControl", "AutoNegotiationFlowControl"
FLOW_CONTROL = (RX, TX, AUTONEG)

_ADDRESSES = ("MACAddress", "PermanentMACAddress")


class Device(NamedTuple):
    """What udev knows of an interface when a reboot finds it. None is unknown.

    ``names`` are those that it may have then: the kernel's own is often not known any more.
    """

    mac: Optional[str]
    path: Optional[str]
    driver: Optional[str]
    names: Tuple[str, ...]


def truth(text: str) -> Optional[bool]:
    """A truth value as systemd reads it; None for what it ignores."""
    lowered = text.strip().lower()
    return True if lowered in TRUE else False if lowered in FALSE else None


def flow_control(units: Sequence[Unit]) -> Dict[str, bool]:
    """What the file and its drop-ins set, of FLOW_CONTROL."""
    settings = {}
    for key in FLOW_CONTROL:
        assignment = last(units, "Link", key)
        value = None if assignment is None else truth(assignment.value)
        if value is not None:
            settings[key] = value
    return settings


def link_settings(units: Sequence[Unit]) -> List[Assignment]:
    """All of [Link] but flow control, in the order in which systemd reads it."""
    return [
        assignment
        for unit in units
        for assignment in unit.assignments
        if assignment.section == "Link" and assignment.key not in FLOW_CONTROL
    ]


def other_sections(units: Sequence[Unit]) -> List[str]:
    """Other sections than [Match] and [Link], such as [SR-IOV]; X- sections are ignored."""
    names = {assignment.section for unit in units for assignment in unit.assignments}
    return sorted(name for name in names - {"Match", "Link"} if not name.startswith("X-"))


def fits(units: Sequence[Unit], device: Device) -> str:
    """Whether the file is for the device: YES, NO, or UNKNOWN where its values do not tell.

    A file that matches on nothing is ignored by systemd since version 243.
    """
    values = _match_values(units)
    if not values:
        return NO
    answers = [_fits_one(key, words, device) for key, words in values.items()]
    if NO in answers:
        return NO
    return UNKNOWN if UNKNOWN in answers else YES


def _match_values(units: Sequence[Unit]) -> Dict[str, List[str]]:
    """Lists grow line by line; an empty value begins them again."""
    values: Dict[str, List[str]] = {}
    for unit in units:
        for assignment in unit.assignments:
            if assignment.section == "Match":
                if not assignment.value:
                    values.pop(assignment.key, None)
                else:
                    values.setdefault(assignment.key, []).extend(assignment.value.split())
    return values


def _fits_one(key: str, words: List[str], device: Device) -> str:
    if key in _ADDRESSES:
        if device.mac is None:
            return UNKNOWN
        return YES if device.mac.lower() in map(_address, words) else NO
    if key == "Kind":
        return _fits_list(words, ("",))  # a physical interface has none
    if key == "Type":
        return _fits_list(words, ("ether",))
    if key == "OriginalName":
        return _fits_name(words, device.names)
    if key in ("Path", "Driver"):
        value = device.path if key == "Path" else device.driver
        return UNKNOWN if value is None else _fits_list(words, (value,))
    return UNKNOWN


def _address(text: str) -> str:
    """An address with colons; systemd.link(5) also has 12-34-56-78-90-ab and 1234.5678.90ab."""
    width = 4 if "." in text else 2
    groups = re.split("[:.-]", text.lower())
    digits = "".join(group.rjust(width, "0") for group in groups)
    return ":".join(digits[at : at + 2] for at in range(0, len(digits), 2))


def _fits_name(words: List[str], names: Sequence[str]) -> str:
    """Where the names that it may have fit differently, it depends on which it has."""
    answers = {_fits_list(words, (name,)) for name in names or ("eth0",)}
    return answers.pop() if len(answers) == 1 else UNKNOWN


def _fits_list(words: List[str], values: Sequence[str]) -> str:
    negated = words[0].startswith("!")
    patterns = [words[0][1:]] + words[1:] if negated else words
    fitting = any(glob_pattern.fits(value, pattern) for value in values for pattern in patterns)
    return YES if fitting != negated else NO
