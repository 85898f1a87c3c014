# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface on which a switch learned a MAC address.

Three sources are queried: Q-BRIDGE-MIB (RFC 4363), with a row for the address in each table that
contains it; BRIDGE-MIB (RFC 4188), with one table; and on Cisco IOS, BRIDGE-MIB in a separate
context for each VLAN. All return a bridge port, which the switch maps to an ifIndex. Only tables
that contain a requested address are read completely, because a large switch has too many rows.
"""

import re
from typing import Dict, Iterable, List, NamedTuple

from ....parsers.number import clipped
from .agent_talk import Talk
from .ethernet_port import number_in

Q_BRIDGE, BRIDGE = "Q-BRIDGE", "BRIDGE"

_Q_PORT = "1.3.6.1.2.1.17.7.1.2.2.1.2"
#: dot1qFdbDynamicCount, by table.
_Q_LEARNED = "1.3.6.1.2.1.17.7.1.2.1.1.2"
_D_PORT = "1.3.6.1.2.1.17.4.3.1.2"
_BASE_PORT_INTERFACE = "1.3.6.1.2.1.17.1.4.1.2"

_CISCO = "1.3.6.1.4.1.9."
#: vtpVlanState of CISCO-VTP-MIB, by management domain and VLAN.
_VLAN_STATE, _OPERATIONAL = "1.3.6.1.4.1.9.9.46.1.3.1.1.2", 1
#: VLANs that Cisco reserves for Token Ring and FDDI.
_RESERVED = range(1002, 1006)

#: A MAC address is six numbers in an OID.
_ARCS = 6
#: The last address: the next table begins after it.
_LAST_ADDRESS = ".255.255.255.255.255.255"
#: Limits for one switch: its tables, and VLANs with a separate table.
_MOST_TABLES = 512
_MOST_VLANS = 200
#: The other VLANs are skipped after this number of VLANs without an answer.
_MOST_SILENT = 2


class Place(NamedTuple):
    """Where an address was learned. ``interface`` is the ifIndex, ``how`` is one of the two above.

    ``table`` contains the row of the address. ``context`` is the number of a VLAN, or "".
    """

    interface: int
    how: str
    bridge_port: int
    table: str
    context: str


#: Bridge port to the table that it is in.
_Ports = Dict[int, str]


class Places(NamedTuple):
    """Each requested address is in ``found`` or, with the reason, in ``missing``."""

    found: Dict[str, Place]
    missing: Dict[str, str]


def find(talk: Talk, macs: Iterable[str], system_object: str) -> Places:
    """Find each MAC address. ``system_object`` is the agent's sysObjectID."""
    arcs = {mac: arcs_of(mac) for mac in macs}
    missing = {mac: f"{mac} is not a MAC address" for mac in arcs if not arcs[mac]}
    places = Places({}, missing)
    before = len(talk.failures)
    by_mac = _in_q_bridge(talk, _left(arcs, places))
    # If tables are incomplete, an address that was not found can still be in them.
    _keep(talk, by_mac if len(talk.failures) == before else {}, Q_BRIDGE, places)
    _keep(talk, _in_bridge(talk, "addresses", _left(arcs, places)), BRIDGE, places)
    if system_object.startswith(_CISCO):
        _look_in_vlans(talk, arcs, places)
    for mac in _left(arcs, places):
        why = f"the switch has learned {mac} on no port"
        if talk.problems:
            why = f"the switch did not answer everything: {next(iter(talk.problems.values()))}"
        places.missing.setdefault(mac, why)
    return places


def arcs_of(mac: str) -> str:
    """A MAC address as the end of an OID (00:1b:… is 0.27.…), "" for other texts."""
    parts = mac.split(":")
    if len(parts) != 6 or not all(re.match(r"[0-9A-Fa-f]{1,2}$", part) for part in parts):
        return ""
    return ".".join(str(int(part, 16)) for part in parts)


def others_behind(talk: Talk, place: Place, macs: Iterable[str]) -> int:
    """Number of other addresses behind the same bridge port in the same table."""
    if not place.table:
        return 0
    inside = talk.as_context(place.context) if place.context else talk
    rows = inside.walk(f"table {place.context} {place.table}".strip(), place.table)
    ours = {f"{place.table}.{arcs_of(mac)}" for mac in macs}
    same = (oid for oid, port in rows.items() if number_in(port) == place.bridge_port)
    return len([oid for oid in same if oid not in ours])


def _left(arcs: Dict[str, str], places: Places) -> Dict[str, str]:
    """The addresses that were not found yet."""
    return {mac: arc for mac, arc in arcs.items() if arc and mac not in places.found}


def _in_q_bridge(talk: Talk, arcs: Dict[str, str]) -> Dict[str, _Ports]:
    if not arcs:
        return {}
    tables = _tables(talk)
    by_mac = _ports(talk, "addresses by table", _q_oids(tables, arcs))
    left = {mac: arc for mac, arc in arcs.items() if mac not in by_mac}
    if left and tables:
        # Agents of stacked chassis can return the tables of one chassis after the other.
        further = [table for table in _counted_tables(talk) if table not in tables]
        by_mac.update(_ports(talk, "addresses by further table", _q_oids(further, left)))
    return by_mac


def _q_oids(tables: List[int], arcs: Dict[str, str]) -> Dict[str, str]:
    return {f"{_Q_PORT}.{table}.{arc}": mac for table in tables for mac, arc in arcs.items()}


def _counted_tables(talk: Talk) -> List[int]:
    """The numbers of the tables in which the switch reports learned addresses."""
    counts = talk.walk("tables", _Q_LEARNED)
    numbers = (clipped(oid.rpartition(".")[2]) for oid, count in counts.items() if number_in(count))
    return sorted(numbers)[:_MOST_TABLES]


def _tables(talk: Talk) -> List[int]:
    """The numbers of the tables that have a row. VLANs without a row are not queried."""
    tables: List[int] = []
    oid = _Q_PORT
    for number in range(_MOST_TABLES):
        rows = talk.following(f"table {number}", oid)
        row = next((key for key in rows if key.startswith(_Q_PORT + ".")), None)
        if row is None:
            if None in rows.values() and talk.has_more(f"table {number}", oid):
                talk.fail("tables", "its forwarding tables end where its tree goes on")
            break
        table = clipped(row[len(_Q_PORT) + 1 :].split(".")[0])
        if tables and table <= tables[-1]:
            talk.fail("tables", "its forwarding tables are not in order")
            break
        tables.append(table)
        oid = f"{_Q_PORT}.{table}{_LAST_ADDRESS}"
    else:
        talk.fail("tables", f"it has more than {_MOST_TABLES} forwarding tables")
    return tables


def _in_bridge(talk: Talk, question: str, arcs: Dict[str, str]) -> Dict[str, _Ports]:
    oids = {f"{_D_PORT}.{arc}": mac for mac, arc in arcs.items()}
    return _ports(talk, question, oids)


def _ports(talk: Talk, question: str, oids: Dict[str, str]) -> Dict[str, _Ports]:
    """The bridge ports of each address. Port 0: the switch knows the address but not its port."""
    by_mac: Dict[str, _Ports] = {}
    values = talk.get(question, sorted(oids))
    for oid, mac in oids.items():
        port = number_in(values.get(oid))
        if port:
            by_mac.setdefault(mac, {})[port] = oid.rsplit(".", _ARCS)[0]
    return by_mac


def _look_in_vlans(talk: Talk, arcs: Dict[str, str], places: Places) -> None:
    """Query BRIDGE-MIB of each VLAN until every address is found."""
    left = _left(arcs, places)
    if not left:
        return
    vlans = _vlans(talk)
    silent = 0
    for vlan in vlans[:_MOST_VLANS]:
        question = f"addresses of VLAN {vlan}"
        inside = talk.as_context(str(vlan))
        _keep(inside, _in_bridge(inside, question, left), BRIDGE, places, str(vlan))
        left = _left(arcs, places)
        silent += question in talk.problems
        if not left or silent >= _MOST_SILENT:
            return
    if len(vlans) > _MOST_VLANS:
        talk.fail("VLANs", f"it has more than {_MOST_VLANS} VLANs")


def _vlans(talk: Talk) -> List[int]:
    states = talk.walk("VLANs", _VLAN_STATE)
    numbers = {
        clipped(oid.rpartition(".")[2])
        for oid, value in states.items()
        if number_in(value) == _OPERATIONAL
    }
    return sorted(numbers - set(_RESERVED))


def _keep(talk: Talk, by_mac: Dict[str, _Ports], how: str, places: Places, vlan: str = "") -> None:
    """Map bridge ports to interfaces. An address behind two interfaces counts as missing."""
    bridge_ports = sorted({port for ports in by_mac.values() for port in ports})
    question = " ".join(filter(None, ("interfaces", how, vlan)))
    oids = [f"{_BASE_PORT_INTERFACE}.{port}" for port in bridge_ports]
    values = talk.get(question, oids)
    for mac, ports in by_mac.items():
        shown = ", ".join(map(str, sorted(ports)))
        numbers = {number_in(values.get(f"{_BASE_PORT_INTERFACE}.{p}")) for p in ports}
        interface = numbers.pop()
        if numbers:
            why = (
                "the switch has {0} behind several bridge ports ({1}): it moves, or is there twice"
            )
            places.missing[mac] = why.format(mac, shown)
        elif not interface:
            why = (
                "the switch has {0} behind bridge port {1} and does not say which interface that is"
            )
            places.missing[mac] = why.format(mac, shown)
        else:
            port, table = next(iter(ports.items()))
            places.found[mac] = Place(interface, how, port, table, vlan)
            places.missing.pop(mac, None)
