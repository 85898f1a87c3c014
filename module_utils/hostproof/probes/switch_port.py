# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The port of a switch that a MAC address is behind, and how it stands there with PAUSE.

The switch is asked where it learned the address (forwarding_table.py), or else who its neighbours
say they are (lldp_neighbours.py). What bundles ports stands for them (cables.py).
"""

from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from ..answer import attempt, if_known
from ..host import Host
from . import ethernet_port, forwarding_table, lldp_neighbours
from .agent_talk import Talk
from .cables import Cable, cables
from .ethernet_port import Port, text_in
from .forwarding_table import BRIDGE, Q_BRIDGE, Place
from .lldp_neighbours import Neighbour
from .snmp import Target

LLDP = "LLDP"
#: How a port was found.
WAYS = (Q_BRIDGE, BRIDGE, LLDP)


class SwitchPort(NamedTuple):
    """``switch`` is where the switch was asked, ``system`` the name that it gives itself.

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
    def name(self):
        # type: () -> str
        return "{0} {1}".format(self.system or self.switch, self.port.name)


class Switch(NamedTuple):
    """What a switch says of addresses: each is in ``ports`` or, with the reason, in ``missing``.

    The addresses are MACs as Linux writes them. An aggregate stands there with all its members.
    """

    name: str
    system: str
    ports: Dict[str, Tuple[SwitchPort, ...]]
    missing: Dict[str, str]
    evidence: Tuple[str, ...]


# -- reading --------------------------------------------------------------------------------------

#: Addresses that a host may have besides its own: its management controller, a few guests.
_MOST_OTHERS = 8
_NAME, _OBJECT = "1.3.6.1.2.1.1.5.0", "1.3.6.1.2.1.1.2.0"


def read_switch(host, target, macs):
    # type: (Host, Target, Iterable[str]) -> Switch
    """The ports that MAC addresses are behind; snmp.NoAnswer says why if nobody answers."""
    talk = Talk(host, target)
    system = text_in(talk.open(_NAME))
    kind = text_in(talk.get("kind", [_OBJECT]).get(_OBJECT))
    wanted = sorted({mac.lower() for mac in macs})
    neighbours = lldp_neighbours.read_neighbours(talk)
    places = forwarding_table.find(talk, wanted, kind)
    for mac in sorted(places.missing):
        told = [one for one in neighbours if mac in one.addresses]
        number = lldp_neighbours.interface_of(talk, told[0]) if len(told) == 1 else None
        if number is not None:
            places.found[mac] = Place(number, LLDP, 0, "", "")
    ports = {}  # type: Dict[str, Tuple[SwitchPort, ...]]
    missing = {mac: why for mac, why in places.missing.items() if mac not in places.found}
    below = {}  # type: Dict[int, List[Cable]]
    for mac, place in sorted(places.found.items()):
        if place.interface not in below:
            below[place.interface] = cables(talk, place.interface)
        if below[place.interface]:
            found = below[place.interface]
            uplink = _uplink(talk, place, found, neighbours, wanted)
            ports[mac] = tuple(
                SwitchPort(
                    target.name, system, one.port, place.how, one.aggregate, one.partner, uplink
                )
                for one in found
            )
        else:
            missing[mac] = "interface {0} of the switch gave no answer".format(place.interface)
    return Switch(target.name, system, ports, missing, tuple(talk.evidence))


def read_again(host, target, switch):
    # type: (Host, Target, Switch) -> Switch
    """The same switch with a second reading of the counters; one that fails leaves them unknown."""
    first = {one.port.number: one.port for found in switch.ports.values() for one in found}
    again = {
        number: if_known(attempt(ethernet_port.read_again, host, target, port), port)
        for number, port in sorted(first.items())
    }
    ports = {
        mac: tuple(one._replace(port=again[one.port.number]) for one in found)
        for mac, found in switch.ports.items()
    }
    evidence = switch.evidence + tuple(key for port in again.values() for key in port.evidence)
    return switch._replace(ports=ports, evidence=tuple(dict.fromkeys(evidence)))


def _uplink(talk, place, found, neighbours, macs):
    # type: (Talk, Place, List[Cable], List[Neighbour], List[str]) -> str
    """What is behind the port instead of the host, as far as anybody tells."""
    behind = [one for one in neighbours if any(one.is_behind(each.port) for each in found)]
    if any(set(one.addresses) & set(macs) for one in behind):
        return ""
    bridges = ", ".join(one.name for one in behind if one.bridge)
    if bridges:
        return bridges
    others = forwarding_table.others_behind(talk, place, macs)
    return "{0} other addresses".format(others) if others > _MOST_OTHERS else ""
