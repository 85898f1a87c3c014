# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The switch port behind which a MAC address was learned, and its PAUSE mode.

The port is found in the forwarding table (forwarding_table.py) or among the LLDP neighbors
(lldp_neighbours.py). An aggregate is replaced by its ports (cables.py).
"""

import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from ....collect.answer import attempt, if_known
from ....collect.host import Host
from ....snmp.tools import Target
from . import ethernet_port, forwarding_table, lldp_neighbours
from .agent_talk import Talk
from .cables import Cable, cables
from .ethernet_port import Port, text_in
from .forwarding_table import Place, Places
from .lldp_neighbours import Neighbour

LLDP = "LLDP"


class SwitchPort(NamedTuple):
    """A port of a switch. ``switch`` is the queried agent, ``system`` is its sysName.

    ``how``: Q_BRIDGE, BRIDGE or LLDP. ``aggregate`` is the name of the port's aggregate, ""
    without one.
    ``partner`` is the LACP port number of the host's end ("actor lacp pdu: port number" in
    /proc/net/bonding), None without LACP. ``uplink`` describes what else is behind the port:
    another bridge, or more addresses than one host has. With an uplink, the port is not the other
    end of the host's cable. "" means that none is known.
    """

    switch: str
    system: str
    port: Port
    how: str
    aggregate: str
    partner: Optional[int]
    uplink: str

    @property
    def name(self) -> str:
        return f"{self.system or self.switch} {self.port.name}"


class Switch(NamedTuple):
    """Addresses that a switch knows: each is in ``ports`` or, with the reason, in ``missing``.

    The addresses are MACs in the format of Linux. An aggregate is present with all its members.
    ``unknown`` are missing addresses that can still be behind the switch, because its answer is
    incomplete. ``mtu_by_class``: the MTU that its agent reports for a port is not reliable.
    """

    name: str
    system: str
    ports: Dict[str, Tuple[SwitchPort, ...]]
    missing: Dict[str, str]
    evidence: Tuple[str, ...]
    unknown: Tuple[str, ...] = ()
    mtu_by_class: bool = False


# -- reading --------------------------------------------------------------------------------------

#: Additional addresses that one host can have: its management controller, a few guests.
_MOST_OTHERS = 8
_NAME, _OBJECT, _DESCRIPTION = "1.3.6.1.2.1.1.5.0", "1.3.6.1.2.1.1.2.0", "1.3.6.1.2.1.1.1.0"

#: Switches whose ports have an MTU by QoS class, which ifMtu does not show: Nexus 3000, 5000, 6000
#: and the Fabric Interconnects of UCS (Cisco, "Configure and Verify Maximum Transmission Unit on
#: Cisco Nexus Platforms": network-qos). By sysObjectID (ciscoModules 9.12.3.1.3) or sysDescr.
_MTU_BY_CLASS = re.compile(r"^1\.3\.6\.1\.4\.1\.9\.12\.3\.1\.3\.|\bNX-OS\b|\bUCS\b", re.IGNORECASE)


def read_switch(host: Host, target: Target, macs: Iterable[str]) -> Switch:
    """The ports behind which MAC addresses were learned. Raises snmp.NoAnswer."""
    talk = Talk(host, target)
    system = text_in(talk.open(_NAME))
    about = talk.get("kind", [_OBJECT, _DESCRIPTION])
    kind, described = text_in(about.get(_OBJECT)), text_in(about.get(_DESCRIPTION))
    addresses = sorted({mac.lower() for mac in macs})
    before = len(talk.failures)
    neighbours = lldp_neighbours.read_neighbours(talk)
    silent = _problem(talk, before)
    places = forwarding_table.find(talk, addresses, kind)
    _find_by_lldp(talk, neighbours, places)
    ports: Dict[str, Tuple[SwitchPort, ...]] = {}
    missing = {mac: why for mac, why in places.missing.items() if mac not in places.found}
    unknown = set(missing) if talk.problems else set()
    below: Dict[int, Tuple[List[Cable], str]] = {}
    for mac, place in sorted(places.found.items()):
        if place.interface not in below:
            before = len(talk.failures)
            below[place.interface] = cables(talk, place.interface), _problem(talk, before)
        links, fault = below[place.interface]
        uplink = ""
        if links and not fault:
            before = len(talk.failures)
            uplink = _uplink(talk, place, links, neighbours, addresses)
            # Without a neighbor and with an incomplete table, an uplink is possible: unknown.
            fault = "" if uplink else _problem(talk, before) or silent
        if fault:
            missing[mac] = (
                f"the switch has it at interface {place.interface} and did not answer everything "
                f"about that: {fault}"
            )
            unknown.add(mac)
        elif links:
            ports[mac] = tuple(
                SwitchPort(
                    target.name, system, link.port, place.how, link.aggregate, link.partner, uplink
                )
                for link in links
            )
        else:
            missing[mac] = f"interface {place.interface} of the switch gave no answer"
            unknown.add(mac)
    return Switch(
        name=target.name,
        system=system,
        ports=ports,
        missing=missing,
        evidence=tuple(talk.evidence),
        unknown=tuple(sorted(unknown)),
        mtu_by_class=any(_MTU_BY_CLASS.search(text) for text in (kind, described)),
    )


def _find_by_lldp(talk: Talk, neighbours: List[Neighbour], places: Places) -> None:
    """Add the places of addresses that the switch has not learned, but that a neighbor has."""
    for mac in sorted(places.missing):
        matches = [neighbour for neighbour in neighbours if mac in neighbour.addresses]
        number = lldp_neighbours.interface_of(talk, matches[0]) if len(matches) == 1 else None
        if number is not None:
            places.found[mac] = Place(number, LLDP, 0, "", "")


def _problem(talk: Talk, before: int) -> str:
    """The reason of the first failure after this number of failures, "" without one."""
    return next(iter(talk.failures[before:]), "")


def read_again(host: Host, target: Target, switch: Switch) -> Switch:
    """The switch with a second reading of its counters. If the reading fails, they are unknown."""
    first = {
        switch_port.port.number: switch_port.port
        for group in switch.ports.values()
        for switch_port in group
    }
    again = {
        number: if_known(
            attempt(ethernet_port.read_again, host, target, port), port._replace(unread=True)
        )
        for number, port in sorted(first.items())
    }
    ports = {
        mac: tuple(
            switch_port._replace(port=again[switch_port.port.number]) for switch_port in group
        )
        for mac, group in switch.ports.items()
    }
    evidence = switch.evidence + tuple(key for port in again.values() for key in port.evidence)
    return switch._replace(ports=ports, evidence=tuple(dict.fromkeys(evidence)))


def _uplink(
    talk: Talk, place: Place, links: List[Cable], neighbours: List[Neighbour], macs: List[str]
) -> str:
    """Description of another bridge or many addresses behind the port, "" if none is known."""
    behind = [
        neighbour
        for neighbour in neighbours
        if any(neighbour.is_behind(each.port) for each in links)
    ]
    if any(set(neighbour.addresses) & set(macs) for neighbour in behind):
        return ""
    bridges = ", ".join(neighbour.name for neighbour in behind if neighbour.bridge)
    if bridges:
        return bridges
    others = forwarding_table.others_behind(talk, place, macs)
    return f"{others} other addresses" if others > _MOST_OTHERS else ""
