# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``ifstat -a`` of Data ONTAP: the counters of each interface since the reboot or since ifstat -z.

Numbers end with k, m or g (thousands, millions, ...). Source: na_ifstat(1); NetApp, Network
Management Guide, statistics for network interfaces.
"""

import re
from typing import Dict, List, NamedTuple

from ....errors import ParseError
from ....parsers.number import decimal

_WHAT = "ifstat output"
_INTERFACE = re.compile(r"^-- interface\s+(\S{1,64})\s+(?:\((.{1,200}?)\)\s*)?--\s*$")
_SECTION = re.compile(r"^(RECEIVE|TRANSMIT|DEVICE|LINK[ _]INFO)\s*$")
_PAIR = re.compile(r"^\s*([A-Za-z][\w /.+()-]{0,60}?):\s+(\S.{0,60}?)\s*$")
_COUNT = re.compile(r"^(\d{1,20}(?:\.\d{1,3})?)([kmgtKMGT]?)$")
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


class Interface(NamedTuple):
    """``counts`` are by section and name ("RECEIVE", "Total frames"); ``link`` are words.

    ``since`` is the time over which the counters ran, as printed.
    """

    name: str
    since: str
    counts: Dict[str, Dict[str, float]]
    link: Dict[str, str]


def parse(text: str) -> List[Interface]:
    """The interfaces in order. ParseError where one has no counters, or there is none."""
    interfaces: List[Interface] = []
    section = ""
    for line in text.split("\n"):
        begins, heading = _INTERFACE.match(line.strip()), _SECTION.match(line.strip())
        if begins is not None:
            interfaces.append(Interface(begins.group(1), begins.group(2) or "", {}, {}))
            section = ""
        elif heading is not None:
            section = heading.group(1).replace("_", " ")
        elif interfaces and section:
            _add(interfaces[-1], section, line)
    empty = [interface.name for interface in interfaces if not interface.counts]
    if empty or not interfaces:
        raise ParseError(_WHAT, "{0} has no counters".format(", ".join(empty) or "it"))
    return interfaces


def _add(interface: Interface, section: str, line: str) -> None:
    for pair in filter(None, map(_PAIR.match, line.split("|"))):
        name, value = pair.groups()
        count = _COUNT.match(value)
        if section == "LINK INFO":
            interface.link[name] = value
        elif count is not None:
            number = decimal(count.group(1)) * _FACTORS[count.group(2).lower()]
            interface.counts.setdefault(section, {})[name] = number
