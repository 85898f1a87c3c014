# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``ethtool DEVICE``: speed, duplex, negotiation, and the PAUSE modes that both ends offer.

Sources: ethtool.c, dump_link_caps() and dump_ecmd(); netlink/settings.c; IEEE 802.3 table 28B-3
for the result of two offers.
"""

import re
from typing import Dict, List, NamedTuple, Optional

from ....errors import ParseError
from ....parsers.net.ethtool_pause import Direction
from ....parsers.number import integer

_WHAT = "ethtool"
_LINE = re.compile(r"^\s+([A-Za-z][A-Za-z0-9 /()-]*):\s*(.*)$")
FULL, HALF = "full", "half"


class Offer(NamedTuple):
    """The two bits by which an end offers PAUSE: symmetric, and asymmetric."""

    pause: bool
    asym: bool


_OFFERS = {
    "No": Offer(False, False),
    "Symmetric": Offer(True, False),
    "Symmetric Receive-only": Offer(True, True),
    "Transmit-only": Offer(False, True),
}


class Settings(NamedTuple):
    """None: ethtool does not show the value. ``speed`` is in Mb/s, ``duplex`` is FULL or HALF.

    ``supported`` are the PAUSE modes of the interface, ``offered`` and ``partner`` are the offers
    of the two ends of the cable. ``partner_modes`` are the link modes that the other end offers,
    such as 1000baseT/Full; empty if it does not negotiate.
    """

    speed: Optional[int]
    duplex: Optional[str]
    autoneg: Optional[bool]
    link: Optional[bool]
    supported: Optional[Offer]
    offered: Optional[Offer]
    partner: Optional[Offer]
    partner_modes: Optional[str]


def parse(text: str) -> Settings:
    """The settings of the one interface that was queried."""
    lines = text.split("\n")
    if not lines[0].startswith("Settings for "):
        raise ParseError(_WHAT, "there is no head line", 1)
    more: Dict[str, List[str]] = {}
    last = ""
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        if line.startswith("Settings for "):
            raise ParseError(_WHAT, "more than one interface", number)
        match = _LINE.match(line.rstrip())
        if match is None:
            # Continuation lines: more link modes, or bits of the message level.
            if last:
                more[last].append(line.strip())
            continue
        last = match.group(1).rstrip().lower()
        more[last] = [match.group(2)]
    values = {name: " ".join(parts) for name, parts in more.items()}
    if "link detected" not in values and "speed" not in values:
        raise ParseError(_WHAT, "there is neither a speed nor a link")
    modes = values.get("link partner advertised link modes")
    return Settings(
        speed=_speed(values.get("speed")),
        duplex={"full": FULL, "half": HALF}.get(values.get("duplex", "").lower()),
        autoneg={"on": True, "off": False}.get(values.get("auto-negotiation", "").lower()),
        link=_link(values.get("link detected", "")),
        supported=_OFFERS.get(values.get("supported pause frame use", "")),
        offered=_OFFERS.get(values.get("advertised pause frame use", "")),
        partner=_OFFERS.get(values.get("link partner advertised pause frame use", "")),
        partner_modes=None if modes is None else ("" if modes == "Not reported" else modes),
    )


def _speed(text: Optional[str]) -> Optional[int]:
    match = re.match(r"^(\d+)Mb/s$", text or "")
    return integer(match.group(1)) if match else None


def _link(text: str) -> Optional[bool]:
    """Whether there is a link. "no (No cable)" means no."""
    return {"yes": True, "no": False}.get(text.split(" ")[0].lower())


def resolve(ours: Offer, theirs: Offer) -> Direction:
    """Result of two offers for the local end (IEEE 802.3 table 28B-3)."""
    if ours.pause and theirs.pause:
        return Direction(True, True)
    if ours.asym and theirs.asym:
        return Direction(rx=ours.pause, tx=theirs.pause)
    return Direction(False, False)


def offer_of(direction: Direction) -> Offer:
    """Offer of a driver for these settings: symmetric for rx, asymmetric if rx and tx differ."""
    return Offer(direction.rx, direction.rx != direction.tx)
