# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The port of a switch that a MAC address is behind, and how it is there with PAUSE.

The switch is queried where it learned the address (forwarding_table.py), or else who its neighbours
say they are (lldp_neighbours.py). What bundles ports represents them (cables.py).
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
from .forwarding_table import BRIDGE, Q_BRIDGE, Place
from .lldp_neighbours import Neighbour

LLDP = "LLDP"
#: How a port was found.
WAYS = (Q_BRIDGE, BRIDGE, LLDP)


class SwitchPort(NamedTuple):
    """``switch`` is where the switch was queried, ``system`` the name that it gives itself.

    ``how`` is one of WAYS. ``aggregate`` names what bundles this port with others, "" where nothing
    does; ``partner`` is the port number that the host's end calls itself in LACP (as "actor lacp
    pdu: port number" in /proc/net/bonding), None where there is none. ``uplink`` says what else is
    behind this port, "" where nothing is known of: another bridge, by its own words, or more
    addresses than one host has. Then this is not the other end of the host's cable.
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
    """What a switch states of addresses: each is in ``ports`` or, with the reason, in ``missing``.

    The addresses are MACs as Linux writes them. An aggregate is there with all its members.
    ``unknown`` are those of ``missing`` of which it is unknown, for the switch did not answer all:
    they may well be behind it. ``mtu_by_class``: what its agent states of the MTU of a port is no
    proof.
    """

    name: str
    system: str
    ports: Dict[str, Tuple[SwitchPort, ...]]
    missing: Dict[str, str]
    evidence: Tuple[str, ...]
    unknown: Tuple[str, ...] = ()
    mtu_by_class: bool = False


# -- reading --------------------------------------------------------------------------------------

#: Addresses that a host may have besides its own: its management controller, a few guests.
_MOST_OTHERS = 8
_NAME, _OBJECT, _DESCRIPTION = "1.3.6.1.2.1.1.5.0", "1.3.6.1.2.1.1.2.0", "1.3.6.1.2.1.1.1.0"

#: Switches whose ports have an MTU by QoS class, which ifMtu does not show: Nexus 3000, 5000, 6000
#: and the Fabric Interconnects of UCS (Cisco, "Configure and Verify Maximum Transmission Unit on
#: Cisco Nexus Platforms": network-qos). By sysObjectID (ciscoModules 9.12.3.1.3) or sysDescr.
_MTU_BY_CLASS = re.compile(r"^1\.3\.6\.1\.4\.1\.9\.12\.3\.1\.3\.|\bNX-OS\b|\bUCS\b", re.IGNORECASE)


def read_switch(host: Host, target: Target, macs: Iterable[str]) -> Switch:
    """The ports that MAC addresses are behind; snmp.NoAnswer says why if nobody answers."""
    talk = Talk(host, target)
    system = text_in(talk.open(_NAME))
    about = talk.get("kind", [_OBJECT, _DESCRIPTION])
    kind, described = text_in(about.get(_OBJECT)), text_in(about.get(_DESCRIPTION))
    wanted = sorted({mac.lower() for mac in macs})
    before = len(talk.failures)
    neighbours = lldp_neighbours.read_neighbours(talk)
    silent = _problem(talk, before)
    places = forwarding_table.find(talk, wanted, kind)
    for mac in sorted(places.missing):
        told = [one for one in neighbours if mac in one.addresses]
        number = lldp_neighbours.interface_of(talk, told[0]) if len(told) == 1 else None
        if number is not None:
            places.found[mac] = Place(number, LLDP, 0, "", "")
    ports: Dict[str, Tuple[SwitchPort, ...]] = {}
    missing = {mac: why for mac, why in places.missing.items() if mac not in places.found}
    unknown = set(missing) if talk.problems else set()
    below: Dict[int, List[Cable]] = {}
    faults: Dict[int, str] = {}
    for mac, place in sorted(places.found.items()):
        if place.interface not in below:
            before = len(talk.failures)
            below[place.interface] = cables(talk, place.interface)
            faults[place.interface] = _problem(talk, before)
        uplink, fault = "", faults[place.interface]
        if below[place.interface] and not fault:
            before = len(talk.failures)
            uplink = _uplink(talk, place, below[place.interface], neighbours, wanted)
            # Who is behind a port was not told by a neighbour, and not by a table that broke off.
            fault = "" if uplink else _problem(talk, before) or silent
        if fault:
            missing[mac] = (
                f"the switch has it at interface {place.interface} and did not answer everything "
                f"about that: {fault}"
            )
            unknown.add(mac)
        elif below[place.interface]:
            found = below[place.interface]
            ports[mac] = tuple(
                SwitchPort(
                    target.name, system, one.port, place.how, one.aggregate, one.partner, uplink
                )
                for one in found
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


def _problem(talk: Talk, before: int) -> str:
    """Why the first question since this number of failures has no whole answer, "" where all
    have one."""
    return next(iter(talk.failures[before:]), "")


def read_again(host: Host, target: Target, switch: Switch) -> Switch:
    """The same switch with a second reading of the counters; one that fails leaves them unknown."""
    first = {one.port.number: one.port for found in switch.ports.values() for one in found}
    again = {
        number: if_known(
            attempt(ethernet_port.read_again, host, target, port), port._replace(unread=True)
        )
        for number, port in sorted(first.items())
    }
    ports = {
        mac: tuple(one._replace(port=again[one.port.number]) for one in found)
        for mac, found in switch.ports.items()
    }
    evidence = switch.evidence + tuple(key for port in again.values() for key in port.evidence)
    return switch._replace(ports=ports, evidence=tuple(dict.fromkeys(evidence)))


def _uplink(
    talk: Talk, place: Place, found: List[Cable], neighbours: List[Neighbour], macs: List[str]
) -> str:
    """What is behind the port instead of the host, as far as anybody tells."""
    behind = [one for one in neighbours if any(one.is_behind(each.port) for each in found)]
    if any(set(one.addresses) & set(macs) for one in behind):
        return ""
    bridges = ", ".join(one.name for one in behind if one.bridge)
    if bridges:
        return bridges
    others = forwarding_table.others_behind(talk, place, macs)
    return f"{others} other addresses" if others > _MOST_OTHERS else ""
