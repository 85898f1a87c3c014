# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The port of a switch that a MAC address is behind, and how it stands there with PAUSE.

The switch is asked where it learned the address: in its forwarding table (Q-BRIDGE-MIB, RFC 4363;
else BRIDGE-MIB, RFC 4188, on Cisco IOS one table for each VLAN), or who its neighbours say they
are (LLDP-MIB, IEEE 802.1AB). A bridge port is never taken for an ifIndex. What bundles ports
(IEEE8023-LAG-MIB, or the interface stack) stands for its members, for PAUSE is theirs.
"""

from typing import Dict, NamedTuple, Optional, Tuple

from .ethernet_port import Port

#: How a port was found.
Q_BRIDGE, BRIDGE, LLDP = "Q-BRIDGE", "BRIDGE", "LLDP"


class SwitchPort(NamedTuple):
    """``switch`` is where the switch was asked, ``system`` the name that it gives itself.

    ``how`` is one of the three above. ``aggregate`` names what bundles this port with others, ""
    where nothing does; ``partner`` is the port number that the host's end calls itself in LACP
    (/proc/net/bonding: "actor lacp pdu: port number"), None where there is none. ``uplink`` names
    the other bridge that says of itself to be behind this port, "" where none does: then this is
    not the other end of the host's cable.
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
