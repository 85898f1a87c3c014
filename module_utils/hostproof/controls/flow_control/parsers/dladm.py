# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Output of dladm on Solaris: datalinks, and the property flowctrl of a datalink.

The columns differ between releases and are identified by the header line. A value that is too long
for its column continues in the next line. Source: Oracle Solaris man pages, dladm(8), show-link,
show-phys and show-linkprop, and the property flowctrl.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ....errors import ParseError, kind_of
from ....parsers.number import integer

NONE = "--"
#: Values of the property flowctrl: no direction, one, both, by priority, or negotiated.
FLOW_CONTROL = ("no", "tx", "rx", "bi", "pfc", "auto")


class Link(NamedTuple):
    """A datalink. ``over`` are the datalinks below it; ``mtu`` is in bytes."""

    name: str
    kind: str
    mtu: Optional[int]
    up: Optional[bool]
    over: Tuple[str, ...]


class Physical(NamedTuple):
    """``speed`` is in Mb/s, ``duplex`` is full or half; None is unknown."""

    name: str
    up: Optional[bool]
    speed: Optional[int]
    duplex: Optional[str]
    device: str


class Property(NamedTuple):
    """The property of a datalink. ``effective`` is None if this release does not show it; ``value``
    is None if the driver has no such property."""

    link: str
    value: Optional[str]
    effective: Optional[str]


def parse_links(text: str) -> List[Link]:
    """dladm show-link."""
    return [
        Link(
            row["LINK"],
            row["CLASS"],
            integer(row["MTU"]) if row.get("MTU", "").isdecimal() else None,
            {"up": True, "down": False}.get(row.get("STATE", "")),
            tuple(row["OVER"].split()) if row["OVER"] != NONE else (),
        )
        for row in _rows("dladm show-link", text, ("LINK", "CLASS", "STATE", "OVER"))
    ]


def parse_physical(text: str) -> List[Physical]:
    """dladm show-phys."""
    return [
        Physical(
            row["LINK"],
            {"up": True, "down": False}.get(row["STATE"]),
            integer(row["SPEED"]) or None if row["SPEED"].isdecimal() else None,
            row["DUPLEX"] if row["DUPLEX"] in ("full", "half") else None,
            row["DEVICE"],
        )
        for row in _rows("dladm show-phys", text, ("LINK", "STATE", "SPEED", "DUPLEX", "DEVICE"))
    ]


def parse_addresses(text: str) -> Dict[str, str]:
    """dladm show-phys -m: the primary MAC address of each link, two digits a byte."""
    addresses: Dict[str, str] = {}
    for row in _rows("dladm show-phys -m", text, ("LINK", "ADDRESS")):
        parts = row["ADDRESS"].lower().split(":")
        if len(parts) == 6 and all(re.match(r"^[0-9a-f]{1,2}$", part) for part in parts):
            addresses.setdefault(row["LINK"], ":".join(part.zfill(2) for part in parts))
    return addresses


def parse_flow_control(text: str) -> Property:
    """dladm show-linkprop -p flowctrl LINK, with -P or without: of one link."""
    what = "dladm show-linkprop"
    rows = _rows(what, text, ("LINK", "PROPERTY", "VALUE"))
    if len(rows) != 1 or rows[0]["PROPERTY"] != "flowctrl":
        raise ParseError(what, "not flowctrl of one link")
    values = [rows[0]["VALUE"], rows[0].get("EFFECTIVE", NONE)]
    for value in values:
        if value not in FLOW_CONTROL + (NONE, ""):
            raise ParseError(what, f"flowctrl is {kind_of(value)}")
    settings = [None if value in (NONE, "") else value for value in values]
    return Property(rows[0]["LINK"], settings[0], settings[1])


def _rows(what: str, text: str, needed: Tuple[str, ...]) -> List[Dict[str, str]]:
    """Each row by the names of its columns. The last column can contain several words."""
    lines = [line.rstrip() for line in text.split("\n")]
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise ParseError(what, "tells nothing")
    names = lines[0].split()
    if any(name not in names for name in needed):
        raise ParseError(what, "no column {0}".format(", ".join(needed)), 1)
    rows: List[Dict[str, str]] = []
    for number, line in enumerate(lines[1:], 2):
        if line[:1] == " ":
            continue  # continuation of a long value: the values that are read here are short
        words = line.split()
        if len(words) < len(needed):
            raise ParseError(what, f"too few columns: {kind_of(line)}", number)
        row = {}
        for at, name in enumerate(names):
            row[name] = " ".join(words[at:] if at + 1 == len(names) else words[at : at + 1])
        rows.append(row)
    return rows
