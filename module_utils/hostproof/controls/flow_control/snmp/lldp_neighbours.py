# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""LLDP neighbors behind the ports of a switch (LLDP-MIB, IEEE 802.1AB).

The number of a local port is an ifIndex on some switches, a bridge port on others, and neither on
many. Therefore the port is identified by its name, never by this number.
"""

from typing import List, NamedTuple, Optional, Tuple

from ....parsers.number import clipped
from ....snmp.snmp_output import Value
from ....snmp.tools import Values
from . import ethernet_port
from .agent_talk import Talk
from .ethernet_port import Port, text_in

#: lldpLocPortId and lldpLocPortDesc.
_LOCAL = ("1.0.8802.1.1.2.1.3.7.1.3", "1.0.8802.1.1.2.1.3.7.1.4")
_REMOTE = "1.0.8802.1.1.2.1.4.1.1."
_CHASSIS_SUBTYPE, _CHASSIS, _PORT_SUBTYPE, _PORT = (_REMOTE + column for column in "4567")
_NAME, _ENABLED = _REMOTE + "9", _REMOTE + "12"

#: LldpChassisIdSubtype and LldpPortIdSubtype of a MAC address.
_CHASSIS_IS_MAC, _PORT_IS_MAC = 4, 3
#: LldpSystemCapabilitiesMap: bit 2 of the first byte.
_BRIDGE = 0x20


class Neighbour(NamedTuple):
    """A neighbor. ``local`` are the switch's names for its port; ``addresses`` are MACs of the
    neighbor.

    ``bridge``: the neighbor reports that it is a bridge.
    """

    local: Tuple[str, ...]
    name: str
    addresses: Tuple[str, ...]
    bridge: bool

    def is_behind(self, port: Port) -> bool:
        return bool({port.name, port.description, port.alias} & set(self.local))


def read_neighbours(talk: Talk) -> List[Neighbour]:
    """All neighbors. Empty if the switch has no LLDP or does not return it."""
    values = talk.walk("neighbours", _CHASSIS)
    if not values:
        return []
    for column in (_CHASSIS_SUBTYPE, _PORT_SUBTYPE, _PORT, _NAME, _ENABLED):
        values.update(talk.walk("neighbours " + column.rpartition(".")[2], column))
    # Index of a row: time of its last change, number of the local port, and an index.
    rows = sorted(oid[len(_CHASSIS) :] for oid in values if oid.startswith(_CHASSIS + "."))
    rows = [row for row in rows if row.count(".") == 3]
    numbers = sorted({row.split(".")[2] for row in rows})
    names = talk.get("local ports", [f"{column}.{port}" for port in numbers for column in _LOCAL])
    return [_neighbour(row, values, names) for row in rows]


def _neighbour(row: str, values: Values, names: Values) -> Neighbour:
    """``names`` are those of the local ports."""
    number = row.split(".")[2]
    local = (text_in(names.get(f"{column}.{number}")) for column in _LOCAL)
    addresses = (
        _address(values.get(_CHASSIS + row), values.get(_CHASSIS_SUBTYPE + row), _CHASSIS_IS_MAC),
        _address(values.get(_PORT + row), values.get(_PORT_SUBTYPE + row), _PORT_IS_MAC),
    )
    capabilities = values.get(_ENABLED + row)
    data = capabilities.data if capabilities is not None else b""
    known = tuple(address for address in addresses if address)
    return Neighbour(
        local=tuple(label for label in local if label),
        name=text_in(values.get(_NAME + row)) or " ".join(known) or "a bridge",
        addresses=known,
        bridge=isinstance(data, bytes) and bool(data) and bool(data[0] & _BRIDGE),
    )


def interface_of(talk: Talk, neighbour: Neighbour) -> Optional[int]:
    """The ifIndex of the local port: the only interface with one of its names."""
    for column in (ethernet_port.NAME, ethernet_port.DESCRIPTION, ethernet_port.ALIAS):
        values = talk.walk("interface names " + column.rpartition(".1.")[2], column)
        oids = [oid for oid, value in values.items() if text_in(value) in neighbour.local]
        if len(oids) == 1:
            return clipped(oids[0].rpartition(".")[2])
    return None


def _address(value: Optional[Value], subtype: Optional[Value], is_mac: int) -> str:
    """The MAC address in the format of Linux, "" if the identifier is not a MAC address."""
    if value is None or subtype is None or subtype.data != is_mac:
        return ""
    return mac_of(value)


def mac_of(value: Optional[Value]) -> str:
    """Six bytes as a MAC address in the format of Linux, "" for anything else."""
    if value is None or not isinstance(value.data, bytes) or len(value.data) != 6:
        return ""
    return ":".join(f"{byte:02x}" for byte in bytearray(value.data))
