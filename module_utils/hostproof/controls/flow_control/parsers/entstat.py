# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""AIX's ``entstat -d entN``: counters, link and flow control of an Ethernet adapter.

The part after the general statistics differs from driver to driver. The output of an EtherChannel
also contains the output of each member. Source: AIX Commands Reference, entstat; the formats are
from published output of the drivers in tests/fixtures/entstat."""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ....errors import ParseError, kind_of
from ....parsers.number import integer

_WHAT = "entstat"
_HEAD = re.compile(r"^ETHERNET STATISTICS \((ent\d+)\) ?:\s*$")
#: Two counters in a line: sent and received.
_BOTH = re.compile(r"^(\S[^:]*): (\d+)\s{2,}(\S[^:]*): (\d+)\s*$")
_RECEIVED = re.compile(r"^\s{20,}(\S[^:]*): (\d+)\s*$")
_BACKUP = re.compile(r"^Backup adapter - (ent\d+):\s*$")
_MAC = re.compile(r"^[0-9a-f]{2}(:[0-9a-f]{2}){5}$")
_SPEED = re.compile(r"^(\d+)\s*([MG])bps\b[\s/]*(Full|Half)?", re.IGNORECASE)
_STATUS = {"enabled": True, "disabled": False}

#: Types that represent the adapters that follow them.
LINK_AGGREGATION = "IEEE 802.3ad Link Aggregation"
BUNDLES = ("EtherChannel", LINK_AGGREGATION)

_FLOW_CONTROL = "transmit and receive flow control status"
#: Counters of XOFF frames ("stop"), under the names of several drivers.
_XOFF_SENT = (
    "number of xoff packets transmitted",
    "xoff flow control packets transmitted",
    "number of pause frames sent",
    "tx_pause_frames",
)
_XOFF_RECEIVED = (
    "number of xoff packets received",
    "xoff flow control packets received",
    "number of pause frames received",
    "rx_pause_frames",
)
#: Lost received frames, in the statistics that all drivers have.
_LOST = ("Packets Dropped", "DMA Overrun", "No Resource Errors", "Packets Discarded by Adapter")


class Lacp(NamedTuple):
    """LACP state of a member: port numbers of both ends, MAC address of the switch ("" without a
    partner), and whether the member carries frames."""

    port: Optional[int]
    partner_port: Optional[int]
    partner: str
    in_use: bool


class Adapter(NamedTuple):
    """One adapter. None: the driver does not show the value.

    ``type`` is the description of the device, "" for a VLAN. ``speed`` is in Mb/s, ``duplex`` is
    full or half. ``negotiated``: speed and duplex are negotiated. ``flow_control`` is one state for
    both directions, as in entstat. ``xoff_sent`` and ``xoff_received`` are numbers of frames,
    ``lost`` are numbers of frames by the name of the counter.
    """

    name: str
    type: str
    mac: str
    up: Optional[bool]
    speed: Optional[int]
    duplex: Optional[str]
    negotiated: Optional[bool]
    flow_control: Optional[bool]
    priority_flow_control: Optional[bool]
    xoff_sent: Optional[int]
    xoff_received: Optional[int]
    lost: Dict[str, int]
    lacp: Optional[Lacp]


class Statistics(NamedTuple):
    """Output of one entstat. ``first`` is the queried adapter, ``members`` are its members.

    ``backup`` is the name of the backup member, "" without one. ``on_backup``: the backup carries
    the traffic; None if entstat does not show it.
    """

    first: Adapter
    members: Tuple[Adapter, ...]
    backup: str
    on_backup: Optional[bool]


def parse(text: str) -> Statistics:
    """The adapter that was queried, and its members. ParseError for any other text."""
    sections, backup = _sections(text)
    if not sections:
        raise ParseError(_WHAT, "there are no statistics")
    adapters = [_adapter(*section) for section in sections]
    names = [adapter.name for adapter in adapters]
    if len(set(names)) != len(names):
        raise ParseError(_WHAT, "an adapter is listed twice: {0}".format(", ".join(names)))
    if backup and backup not in names[1:]:
        raise ParseError(_WHAT, f"the backup adapter {backup} has no statistics")
    channel = _values(sections[0][2]).get("active channel", "")
    on_backup = None if not channel else channel.startswith("backup")
    return Statistics(adapters[0], tuple(adapters[1:]), backup, on_backup)


def _sections(text: str) -> Tuple[List[Tuple[str, int, List[str]]], str]:
    """(name, number of the head line, lines) of each adapter, and the name of the backup."""
    sections: List[Tuple[str, int, List[str]]] = []
    backup = ""
    for number, line in enumerate(text.split("\n"), 1):
        head = _HEAD.match(line)
        if head is not None:
            sections.append((head.group(1), number, []))
        elif sections:
            sections[-1][2].append(line)
            waiting = _BACKUP.match(line)
            backup = waiting.group(1) if waiting is not None else backup
        elif line.strip() and set(line.strip()) != {"-"}:
            raise ParseError(_WHAT, f"no head line before {kind_of(line)}", number)
    return sections, backup


def _values(lines: List[str]) -> Dict[str, str]:
    """Values by lower-case name. The first value counts: queues and partners repeat the names."""
    values: Dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if name.strip() and colon:
            values.setdefault(name.strip().lower(), value.strip())
    return values


def _adapter(name: str, number: int, lines: List[str]) -> Adapter:
    values = _values(lines)
    if "device type" not in values or "hardware address" not in values:
        raise ParseError(_WHAT, f"{name} has no type or no address", number)
    mac = values["hardware address"].lower()
    if not _MAC.match(mac):
        raise ParseError(_WHAT, f"{kind_of(mac)} is not an address of {name}", number)
    speed, duplex = _speed(values.get("media speed running", values.get("physical port speed", "")))
    link = values.get("link status", values.get("physical port link status", "")).lower()
    selected = values.get("media speed selected", "").lower().replace(" ", "").replace("-", "")
    return Adapter(
        name=name,
        type=values["device type"],
        mac=mac,
        up={"up": True, "down": False}.get(link),
        speed=speed,
        duplex=duplex,
        negotiated=selected == "autonegotiation" if selected else None,
        flow_control=_STATUS.get(values.get(_FLOW_CONTROL, "").lower()),
        priority_flow_control=_STATUS.get(values.get("priority flow control", "").lower()),
        xoff_sent=_count(values, _XOFF_SENT),
        xoff_received=_count(values, _XOFF_RECEIVED),
        lost=_lost(lines),
        lacp=_lacp(values),
    )


def _speed(text: str) -> Tuple[Optional[int], Optional[str]]:
    match = _SPEED.match(text)
    if match is None:
        return None, None
    speed = integer(match.group(1)) * (1000 if match.group(2).upper() == "G" else 1)
    return speed or None, match.group(3).lower() if match.group(3) else None


def _count(values: Dict[str, str], names: Tuple[str, ...]) -> Optional[int]:
    for name in names:
        if values.get(name, "").isdecimal():
            return integer(values[name])
    return None


def _lost(lines: List[str]) -> Dict[str, int]:
    lost: Dict[str, int] = {}
    for line in lines:
        both, received = _BOTH.match(line), _RECEIVED.match(line)
        name, count = both.group(3, 4) if both else received.group(1, 2) if received else ("", "")
        if name in _LOST:
            lost.setdefault(name, integer(count))
    return lost


def _lacp(values: Dict[str, str]) -> Optional[Lacp]:
    if "actor port" not in values:
        return None
    partner = values.get("partner system", "").lower().replace("-", ":")
    # The actor's states come before the partner's, and the first value of a name counts.
    in_use = values.get("synchronization") == "IN_SYNC" and values.get("distributing") == "Enabled"
    return Lacp(
        port=_hexadecimal(values["actor port"]),
        partner_port=_hexadecimal(values.get("partner port", "")),
        partner=partner if _MAC.match(partner) and partner != "00:00:00:00:00:00" else "",
        in_use=in_use,
    )


def _hexadecimal(text: str) -> Optional[int]:
    return integer(text, 16) if re.match(r"^0x[0-9A-Fa-f]{1,8}$", text) else None
