# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/net/bonding/NAME: a bond, its members, and how they are in LACP.

Source: kernel drivers/net/bonding/bond_procfs.c.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...errors import ParseError, kind_of
from ..number import integer

_WHAT = "/proc/net/bonding"
LACP = "802.3ad"
_NO_PARTNER = "00:00:00:00:00:00"


class Member(NamedTuple):
    """A member. ``up`` is its MII status; ``speed`` is in Mb/s, None if unknown.

    ``aggregator`` and the two ports are those of LACP, None if the bond does not use it. ``port``
    is the port number of this host, ``partner_port`` that of the switch.
    """

    name: str
    up: bool
    speed: Optional[int]
    duplex: Optional[str]
    failures: Optional[int]
    permanent_mac: str
    aggregator: Optional[int]
    port: Optional[int]
    partner_port: Optional[int]


class Bond(NamedTuple):
    """``mode`` is the first word of the mode; that of LACP represents "IEEE 802.3ad …".

    ``active`` is the member that carries the traffic where only one does. ``monitored`` says
    whether the bond notices that a member is down. ``aggregator`` is the one of LACP in use;
    ``partner`` is the MAC of the switch in LACP, "" where none answers.
    """

    mode: str
    active: str
    up: bool
    monitored: bool
    aggregator: Optional[int]
    partner: str
    members: Tuple[Member, ...]

    def works(self, name: str) -> bool:
        """Whether the bond can use the member now."""
        for member in self.members:
            if member.name == name:
                in_lacp = self.mode != LACP or (
                    bool(self.partner) and member.aggregator == self.aggregator
                )
                return member.up and in_lacp
        return False


def parse(text: str) -> Bond:
    if not text.startswith("Ethernet Channel Bonding Driver:"):
        raise ParseError(_WHAT, "there is no head line", 1)
    parts: List[Dict[str, str]] = []
    at: Dict[str, str] = {}
    parts.append(at)
    group = ""
    for number, line in enumerate(text.split("\n"), 1):
        name, colon, value = line.strip().partition(":")
        if not line.strip():
            group = ""
            continue
        if name == "Slave Interface":
            at = {}
            parts.append(at)
            group = ""
        elif name in ("details actor lacp pdu", "details partner lacp pdu"):
            group = name.split(" ")[1] + " "
            continue
        if not colon and not line.strip().endswith("info") and not _is_note(line):
            raise ParseError(_WHAT, f"no setting: {kind_of(line)}", number)
        at.setdefault(group + name.strip(), value.strip())
    return _bond(parts[0], parts[1:])


def _is_note(line: str) -> bool:
    """Lines without a value: "802.3ad info", "Active Aggregator Info:" and "bond bond0 has no
    active aggregator"."""
    return "aggregator" in line


def _bond(head: Dict[str, str], members: List[Dict[str, str]]) -> Bond:
    mode = head.get("Bonding Mode", "")
    if not mode or "MII Status" not in head:
        raise ParseError(_WHAT, "there is no mode or no state of the bond")
    lacp = "802.3ad" in mode
    partner = head.get("Partner Mac Address", "")
    return Bond(
        mode=LACP if lacp else mode.split(" (")[0],
        active=head.get("Currently Active Slave", "").replace("None", ""),
        up=head["MII Status"] == "up",
        monitored=_number(head.get("MII Polling Interval (ms)")) not in (None, 0)
        # Without an address to ask, the kernel does not notice it.
        or _number(head.get("ARP Polling Interval (ms)")) not in (None, 0)
        and any(value for name, value in head.items() if " target/s" in name),
        aggregator=_number(head.get("Aggregator ID")) if lacp else None,
        partner="" if partner == _NO_PARTNER else partner,
        members=tuple(_member(member, lacp) for member in members),
    )


def _member(values: Dict[str, str], lacp: bool) -> Member:
    if "MII Status" not in values or not values.get("Slave Interface"):
        raise ParseError(_WHAT, "a member has no name or no state")
    speed = re.match(r"^(\d+) Mbps$", values.get("Speed", ""))
    duplex = values.get("Duplex", "").lower()
    return Member(
        name=values["Slave Interface"],
        up=values["MII Status"] == "up",
        speed=integer(speed.group(1)) if speed else None,
        duplex=duplex if duplex in ("full", "half") else None,
        failures=_number(values.get("Link Failure Count")),
        permanent_mac=values.get("Permanent HW addr", "").lower(),
        aggregator=_number(values.get("Aggregator ID")) if lacp else None,
        port=_number(values.get("actor port number")),
        partner_port=_number(values.get("partner port number")),
    )


def _number(text: Optional[str]) -> Optional[int]:
    return integer(text) if text is not None and text.isdecimal() else None
