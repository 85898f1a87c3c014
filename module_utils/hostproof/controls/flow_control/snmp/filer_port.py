# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filer's end of the path: which of its ports serves an address, and its PAUSE modes.

ONTAP returns both: NETAPP-MIB, logicalInterfaceTable, netportTable, netportIfGrpTable, netifTable.
Other agents are queried with IF-MIB, IP-MIB and EtherLike-MIB. Few filers have EtherLike-MIB;
without it the mode is unknown. For a Linux filer the policy can contain the values of ethtool.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ....collect.answer import attempt, if_known
from ....collect.host import Host
from ....errors import Absent
from ....parsers.number import clipped
from ....snmp import tools as snmp
from ....snmp.tools import Target, Values
from . import ethernet_port
from .agent_talk import Talk
from .cables import cables
from .ethernet_port import FULL, HALF, Counters, Pause, Port, number_in, text_in
from .lldp_neighbours import mac_of

ONTAP, INTERFACES, POLICY = ("ONTAP", "IF-MIB", "policy")


class FilerPort(NamedTuple):
    """A port of a filer. ``filer`` is the queried agent, ``address`` is the address that the host
    mounts from. ``mac`` has the format of Linux, "" if it is unknown. ``how`` is
    ONTAP, INTERFACES or POLICY.
    ``row`` is the row of ONTAP's discard counters.
    """

    filer: str
    address: str
    mac: str
    port: Port
    how: str
    row: str

    @property
    def name(self) -> str:
        return f"{self.filer} {self.port.name}"


class Filer(NamedTuple):
    """The ports behind an address; more than one if the filer bundles ports."""

    name: str
    address: str
    ports: Tuple[FilerPort, ...]
    evidence: Tuple[str, ...]


def from_policy(
    address: str, name: str, pause: Optional[Pause], mac: str = "", **known: Any
) -> FilerPort:
    """A port with values from the policy. ``known`` are speed, duplex and mtu."""
    port = _BLANK._replace(name=name, admin=pause, oper=pause, **known)
    return FilerPort(address, address, mac.lower(), port, POLICY, "")


def read_filer(host: Host, target: Target, address: str, mac: str = "") -> Filer:
    """The ports that serve ``address``. ``mac`` is its MAC address on the host, "" behind a router.

    Raises snmp.NoAnswer without an answer, and Absent if the agent does not know the address.
    """
    talk = Talk(host, target)
    talk.open(_OBJECT)
    # In an incomplete table the required port can be missing, so no port is concluded from it.
    ports = _in_ontap(talk, address, mac.lower()) or _in_interfaces(talk, address, mac.lower())
    key = talk.evidence[-1]
    if talk.problems:
        why = "{0} did not answer everything: {1}"
        raise snmp.NoAnswer(
            key, snmp.FAILED, why.format(target.name, next(iter(talk.problems.values())))
        )
    if ports:
        return Filer(target.name, address, tuple(ports), tuple(talk.evidence))
    raise Absent(key, f"{target.name} does not say which of its ports serves {address}")


def read_again(host: Host, target: Target, filer: Filer) -> Filer:
    """The filer with a second reading of its counters. If the reading fails, they are unknown."""
    ports = [_read_second_time(host, target, filer_port) for filer_port in filer.ports]
    evidence = filer.evidence + tuple(
        key for filer_port in ports for key in filer_port.port.evidence
    )
    return filer._replace(ports=tuple(ports), evidence=tuple(dict.fromkeys(evidence)))


def _read_second_time(host: Host, target: Target, filer_port: FilerPort) -> FilerPort:
    if filer_port.how == INTERFACES:
        port = attempt(ethernet_port.read_again, host, target, filer_port.port)
        return filer_port._replace(port=if_known(port, filer_port.port._replace(unread=True)))
    if filer_port.how == ONTAP and filer_port.row:
        talk = Talk(host, target)
        counters = _counters(talk, f"discards of {filer_port.port.name} again", filer_port.row)
        evidence = filer_port.port.evidence + tuple(talk.evidence)
        unread = bool(talk.problems)
        return filer_port._replace(
            port=filer_port.port._replace(after=counters, evidence=evidence, unread=unread)
        )
    return filer_port


# -- ONTAP ----------------------------------------------------------------------------------------

_OBJECT = "1.3.6.1.2.1.1.2.0"
_NETWORK = "1.3.6.1.4.1.789.1.22."
_NETIF, _NETPORT, _GROUP = _NETWORK + "1.2.1.", _NETWORK + "2.1.", _NETWORK + "3.1."
_LOGICAL = _NETWORK + "4.1."

_LIF_NODE, _LIF_PORT, _LIF_ADDRESS = _LOGICAL + "6", _LOGICAL + "7", _LOGICAL + "30"
_LIF_ADDRESS_4 = _LOGICAL + "11"
_NODE, _NAME, _LINK, _MTU, _DUPLEX = (_NETPORT + column for column in ("1", "2", "4", "5", "9"))
_SPEED, _MAC, _TYPE = _NETPORT + "12", _NETPORT + "13", _NETPORT + "15"
_IN_GROUP, _ABOVE = _NETPORT + "17", _NETPORT + "21"
_ADMIN, _OPER = _NETPORT + "23", _NETPORT + "24"
_COLUMNS = (
    (_NODE, _NAME, _LINK, _MTU, _DUPLEX)
    + (_SPEED, _MAC, _TYPE, _IN_GROUP, _ABOVE)
    + (_ADMIN, _OPER)
)
_GROUP_NODE, _GROUP_NAME, _GROUP_PORTS = _GROUP + "1", _GROUP + "2", _GROUP + "7"
_NETIF_NAME, _IN_DISCARDS, _OUT_DISCARDS = _NETIF + "2", _NETIF + "28", _NETIF + "34"

_UP = 2
_PHYSICAL, _IF_GROUP, _VLAN = 0, 1, 2
_DUPLEXES = {2: HALF, 3: FULL}
#: netportFlowcontrolAdmin and -Oper: receive is 2 and send is 3; in EtherLike-MIB it is reversed.
_PAUSE_MODES = {
    1: Pause(rx=False, tx=False),
    2: Pause(rx=True, tx=False),
    3: Pause(rx=False, tx=True),
    4: Pause(rx=True, tx=True),
}
_UNCOUNTED = Counters(None, None, None, None, None, None)


def _in_ontap(talk: Talk, address: str, mac: str) -> List[FilerPort]:
    """The physical ports below the port with the address or, if there is none, with the MAC."""
    values: Values = {}
    for column in _COLUMNS:
        rows = talk.walk("ports " + column.rpartition(".")[2], column)
        if not rows and column == _NODE:
            return []
        values.update(rows)
    table = _rows(values)
    at = _row_of_address(talk, address, table) or _row_of_mac(mac, table)
    return (
        [] if at is None else [_ontap_port(talk, address, row) for row in _below(talk, at, table)]
    )


class _Row(NamedTuple):
    """A row of netportTable. ``within`` is the interface group of a member."""

    node: str
    name: str
    kind: Optional[int]
    mac: str
    within: str
    above: str
    up: Optional[bool]
    mtu: Optional[int]
    duplex: Optional[str]
    speed: Optional[int]
    admin: Optional[Pause]
    oper: Optional[Pause]


def _rows(values: Values) -> List[_Row]:
    rows = []
    for oid in sorted(values):
        if not oid.startswith(_NODE + "."):
            continue
        row = oid[len(_NODE) :]
        link = number_in(values.get(_LINK + row))
        rows.append(
            _Row(
                node=text_in(values.get(_NODE + row)),
                name=text_in(values.get(_NAME + row)),
                kind=number_in(values.get(_TYPE + row)),
                mac=_mac(values, _MAC + row),
                within=text_in(values.get(_IN_GROUP + row)),
                above=text_in(values.get(_ABOVE + row)),
                up=link == _UP if link else None,
                mtu=number_in(values.get(_MTU + row)) or None,
                duplex=_DUPLEXES.get(number_in(values.get(_DUPLEX + row)) or 0),
                speed=number_in(values.get(_SPEED + row)) or None,
                admin=_PAUSE_MODES.get(number_in(values.get(_ADMIN + row)) or 0),
                oper=_PAUSE_MODES.get(number_in(values.get(_OPER + row)) or 0),
            )
        )
    return sorted(rows, key=lambda row: (row.node, row.name))


def _mac(values: Values, oid: str) -> str:
    """A MAC address that an agent returns as text or as six bytes."""
    text = text_in(values.get(oid)).lower().replace("-", ":")
    return mac_of(values.get(oid)) or (text if text.count(":") == 5 else "")


def _row_of_address(talk: Talk, address: str, table: List[_Row]) -> Optional[_Row]:
    """The current port of the logical interface with this address."""
    shown = {
        oid[len(_LIF_ADDRESS) :]: text_in(value).partition("/")[0]
        for oid, value in talk.walk("addresses", _LIF_ADDRESS).items()
    }
    if address not in shown.values():
        for oid, value in talk.walk("addresses of IPv4", _LIF_ADDRESS_4).items():
            shown[oid[len(_LIF_ADDRESS_4) :]] = text_in(value)
    rows = [row for row, text in shown.items() if text == address]
    if len(rows) != 1:
        return None
    places = talk.get("place of " + address, [_LIF_NODE + rows[0], _LIF_PORT + rows[0]])
    node, port = (text_in(places.get(column + rows[0])) for column in (_LIF_NODE, _LIF_PORT))
    return _named(node, port, table)


def _named(node: str, name: str, table: List[_Row]) -> Optional[_Row]:
    return next((row for row in table if (row.node, row.name) == (node, name)), None)


def _row_of_mac(mac: str, table: List[_Row]) -> Optional[_Row]:
    """The topmost port with this MAC: members and VLANs of a group have the group's address."""
    rows = [row for row in table if mac and row.mac == mac]
    groups = [row for row in rows if row.kind == _IF_GROUP]
    physical = [row for row in rows if row.kind == _PHYSICAL]
    for some in (groups, physical):
        if some:
            return some[0] if len(some) == 1 else None
    return rows[0] if len(rows) == 1 else None


def _below(talk: Talk, row: _Row, table: List[_Row]) -> List[_Row]:
    """The physical ports below a port. If none are known, the port itself."""
    if row.kind == _VLAN:
        parent = _named(row.node, row.above or row.name.rpartition("-")[0], table)
        if parent is None or parent.kind == _VLAN:
            return [row]
        return _below(talk, parent, table)
    if row.kind != _IF_GROUP:
        return [row]
    members = [
        entry
        for entry in table
        if entry.kind == _PHYSICAL and (entry.node, entry.within) == (row.node, row.name)
    ]
    if not members:
        names = _group_ports(talk).get((row.node, row.name), [])
        rows = (_named(row.node, name, table) for name in names)
        members = [entry for entry in rows if entry is not None]
    return members or [row]


def _group_ports(talk: Talk) -> Dict[Tuple[str, str], List[str]]:
    """Names of ports by node and interface group."""
    values: Values = {}
    for column in (_GROUP_NODE, _GROUP_NAME, _GROUP_PORTS):
        values.update(talk.walk("groups " + column.rpartition(".")[2], column))
    return {
        (text_in(values.get(_GROUP_NODE + row)), text_in(values.get(_GROUP_NAME + row))): [
            name.rpartition(":")[2]
            for name in text_in(values.get(_GROUP_PORTS + row)).replace(",", " ").split()
        ]
        for row in (oid[len(_GROUP_NODE) :] for oid in values if oid.startswith(_GROUP_NODE + "."))
    }


def _ontap_port(talk: Talk, address: str, row: _Row) -> FilerPort:
    counted = _counted_at(talk, row)
    counters = _UNCOUNTED
    name = f"{row.node}:{row.name}"
    if counted:
        counters = _counters(talk, "discards of " + name, counted)
    port = _BLANK._replace(
        name=name,
        up=row.up,
        speed=row.speed,
        duplex=row.duplex,
        mtu=row.mtu,
        admin=row.admin,
        oper=row.oper,
        before=counters,
        evidence=tuple(talk.evidence),
    )
    return FilerPort(talk.target.name, address, row.mac, port, ONTAP, counted)


def _counted_at(talk: Talk, row: _Row) -> str:
    """The row of netifTable with the port's counters, "" if no row has its name."""
    label = f"{row.node}:{row.name}"
    names = talk.walk("interfaces", _NETIF_NAME)
    shown = {
        oid[len(_NETIF_NAME) :]: text_in(value).replace("MGMT_PORT_ONLY ", "")
        for oid, value in names.items()
    }
    rows = [index for index, text in shown.items() if text == label]
    return rows[0] if len(rows) == 1 else ""


def _counters(talk: Talk, question: str, row: str) -> Counters:
    columns = (_IN_DISCARDS + row, _OUT_DISCARDS + row)
    values = talk.get(question, [ethernet_port.UPTIME] + list(columns))
    return _UNCOUNTED._replace(
        in_discards=number_in(values.get(columns[0])),
        out_discards=number_in(values.get(columns[1])),
        uptime=number_in(values.get(ethernet_port.UPTIME)),
    )


#: An empty port, for ports that are not in IF-MIB.
_BLANK = Port(
    number=0,
    name="",
    description="",
    alias="",
    aggregate=False,
    etherlike=False,
    up=None,
    speed=None,
    duplex=None,
    mtu=None,
    admin=None,
    oper=None,
    before=_UNCOUNTED,
    after=None,
    evidence=(),
)


# -- any other agent ------------------------------------------------------------------------------

#: ipAdEntIfIndex, and ipAddressIfIndex of IPv4 (type 1, four bytes; RFC 4293).
_ADDRESS_INTERFACE = "1.3.6.1.2.1.4.20.1.2."
_ADDRESS_INTERFACE_2 = "1.3.6.1.2.1.4.34.1.3.1.4."


def _in_interfaces(talk: Talk, address: str, mac: str) -> List[FilerPort]:
    """The ports below the interface with the address, or below the only one with the MAC."""
    number = _interface_of_address(talk, address)
    if number is None and mac:
        numbers = [
            clipped(oid.rpartition(".")[2])
            for oid, value in talk.walk("hardware addresses", ethernet_port.ADDRESS).items()
            if mac_of(value) == mac
        ]
        number = numbers[0] if len(numbers) == 1 else None
    if number is None:
        return []
    return [
        FilerPort(talk.target.name, address, mac, cable.port, INTERFACES, "")
        for cable in cables(talk, number)
    ]


def _interface_of_address(talk: Talk, address: str) -> Optional[int]:
    parts = address.split(".")
    if len(parts) != 4 or not all(part.isdecimal() for part in parts):
        return None
    oids = [_ADDRESS_INTERFACE + address, _ADDRESS_INTERFACE_2 + address]
    values = talk.get("interface of " + address, oids)
    return next((number for number in map(number_in, map(values.get, oids)) if number), None)
