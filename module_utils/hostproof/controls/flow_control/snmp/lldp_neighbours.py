# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who says over LLDP to be behind which port of a switch (LLDP-MIB, IEEE 802.1AB).

The number of a local port is an ifIndex on some switches, a bridge port on others and neither on
more, so it is never taken for one: what the switch calls the port tells it.
"""

from typing import List, NamedTuple, Optional, Tuple

from ....parsers.number import clipped
from ....snmp.snmp_output import Value
from . import ethernet_port
from .agent_talk import Talk
from .ethernet_port import Port, text_in

_LOCAL_ID, _LOCAL_DESCRIPTION = "1.0.8802.1.1.2.1.3.7.1.3", "1.0.8802.1.1.2.1.3.7.1.4"
_REMOTE = "1.0.8802.1.1.2.1.4.1.1."
_CHASSIS_SUBTYPE, _CHASSIS, _PORT_SUBTYPE, _PORT = (_REMOTE + column for column in "4567")
_NAME, _ENABLED = _REMOTE + "9", _REMOTE + "12"

#: LldpChassisIdSubtype and LldpPortIdSubtype of a MAC address.
_CHASSIS_IS_MAC, _PORT_IS_MAC = 4, 3
#: LldpSystemCapabilitiesMap: bit 2 of the first byte.
_BRIDGE = 0x20


class Neighbour(NamedTuple):
    """``local`` are the switch's own names for the port; ``addresses`` are MACs of the neighbour.

    ``bridge``: it states that it passes on the frames of others.
    """

    local: Tuple[str, ...]
    name: str
    addresses: Tuple[str, ...]
    bridge: bool

    def is_behind(self, port: Port) -> bool:
        return bool({port.name, port.description, port.alias} & set(self.local))


def read_neighbours(talk: Talk) -> List[Neighbour]:
    """Every neighbour; none where the switch has no LLDP or tells nothing of it."""
    values = talk.walk("neighbours", _CHASSIS)
    if not values:
        return []
    for column in (_CHASSIS_SUBTYPE, _PORT_SUBTYPE, _PORT, _NAME, _ENABLED):
        values.update(talk.walk("neighbours " + column.rpartition(".")[2], column))
    # A row is the time of its last change, the number of the local port, and a separate number.
    rows = sorted(oid[len(_CHASSIS) :] for oid in values if oid.startswith(_CHASSIS + "."))
    numbers = sorted({row.split(".")[2] for row in rows if row.count(".") == 3})
    columns = (_LOCAL_ID, _LOCAL_DESCRIPTION)
    names = talk.get("local ports", [f"{column}.{one}" for one in numbers for column in columns])
    found = []
    for row in rows:
        if row.count(".") != 3:
            continue
        number = row.split(".")[2]
        local = (text_in(names.get(f"{column}.{number}")) for column in columns)
        addresses = (
            _address(
                values.get(_CHASSIS + row), values.get(_CHASSIS_SUBTYPE + row), _CHASSIS_IS_MAC
            ),
            _address(values.get(_PORT + row), values.get(_PORT_SUBTYPE + row), _PORT_IS_MAC),
        )
        capabilities = values.get(_ENABLED + row)
        data = capabilities.data if capabilities is not None else b""
        known = tuple(one for one in addresses if one)
        found.append(
            Neighbour(
                local=tuple(one for one in local if one),
                name=text_in(values.get(_NAME + row)) or " ".join(known) or "a bridge",
                addresses=known,
                bridge=isinstance(data, bytes) and bool(data) and bool(data[0] & _BRIDGE),
            )
        )
    return found


def interface_of(talk: Talk, neighbour: Neighbour) -> Optional[int]:
    """The ifIndex of the local port: the one interface that has one of its names."""
    for column in (ethernet_port.NAME, ethernet_port.DESCRIPTION, ethernet_port.ALIAS):
        values = talk.walk("interface names " + column.rpartition(".1.")[2], column)
        found = [oid for oid, value in values.items() if text_in(value) in neighbour.local]
        if len(found) == 1:
            return clipped(found[0].rpartition(".")[2])
    return None


def _address(value: Optional[Value], subtype: Optional[Value], is_mac: int) -> str:
    """The MAC address as Linux writes it, "" where the identifier is something else."""
    if value is None or subtype is None or subtype.data != is_mac:
        return ""
    return mac_of(value)


def mac_of(value: Optional[Value]) -> str:
    """Six bytes as Linux writes a MAC address, "" for anything else."""
    if value is None or not isinstance(value.data, bytes) or len(value.data) != 6:
        return ""
    return ":".join(f"{byte:02x}" for byte in bytearray(value.data))
