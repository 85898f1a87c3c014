# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the switch port at the other end of a cable."""

from typing import Iterable, List, NamedTuple, Optional, Tuple

from ...collect.answer import if_known
from ...errors import HostproofError, Unanswered
from ...parsers.net.bonding import Bond
from .facts import Facts
from .nics import NicFacts
from .snmp.switch_port import SwitchPort


def ports_of(nic: NicFacts, facts: Facts) -> List[SwitchPort]:
    """The switch port at the other end of the cable: a list of one port, or empty if unknown.

    The member of an LACP bond is identified by the port number that both ends report. If one member
    is active, the switch has learned the bond's MAC address on the port of that member, even if it
    is the address of another member.
    """
    bond = bond_of(nic, facts)
    number = None if bond is None else _lacp_port(bond, nic.name)
    for switch in facts.switches.values():
        if isinstance(switch, HostproofError):
            continue
        for mac in _macs(nic, bond):
            ports = _of_member(switch.ports.get(mac or "", ()), number)
            its_own = bond is None or bond.active or mac == nic.nic.permanent_mac
            if len(ports) == 1 and (its_own or ports[0].partner):
                return ports
    return []


def _macs(nic: NicFacts, bond: Optional[Bond]) -> List[Optional[str]]:
    """The addresses that the switch can have learned at this interface."""
    if bond is None or not bond.active:
        return [nic.nic.permanent_mac, nic.nic.mac]
    return [nic.nic.mac] if bond.active == nic.name else []


def _lacp_port(bond: Bond, name: str) -> Optional[int]:
    return next((member.port for member in bond.members if member.name == name), None)


def _of_member(ports: Iterable[SwitchPort], number: Optional[int]) -> List[SwitchPort]:
    """The ports without another bridge behind them that can belong to the member of this number."""
    direct = [port for port in ports if not port.uplink]
    if len(direct) > 1:
        return [port for port in direct if number and port.partner == number]
    return [port for port in direct if number is None or port.partner in (None, number)]


def why_unknown(facts: Facts, macs: Iterable[Optional[str]]) -> Optional[HostproofError]:
    """The first error of a queried switch about these addresses, else None.

    None also if no port has learned an address: this is a complete answer.
    """
    for switch in facts.switches.values():
        if isinstance(switch, HostproofError):
            return switch
        for mac in macs:
            if mac in switch.unknown:
                return Unanswered(switch.evidence[-1], switch.missing[mac])
    return None


def need_ports(nic: NicFacts, facts: Facts) -> List[SwitchPort]:
    """Like ``ports_of``, but raises if a port can be missing because a switch did not answer."""
    ports = ports_of(nic, facts)
    problem = None if ports else why_unknown(facts, (nic.nic.permanent_mac, nic.nic.mac))
    if problem is not None:
        raise problem
    return ports


def bond_of(nic: NicFacts, facts: Facts) -> Optional[Bond]:
    """The bond of the interface. None if it is not in a bond or the bond is unknown."""
    interfaces = if_known(facts.interfaces, None)
    if interfaces is None or nic.nic.bond is None:
        return None
    bond = if_known(interfaces.bonds.get(nic.nic.bond), None)
    return bond if isinstance(bond, Bond) else None


class PeerPorts(NamedTuple):
    """The switch ports at the other end. ``why`` is the reason if there are none."""

    ports: Tuple[SwitchPort, ...]
    why: str


def peer_ports(nic: NicFacts, facts: Facts) -> PeerPorts:
    """The switch port of an interface, or all ports of the aggregate if it is unknown which."""
    bond = bond_of(nic, facts)
    if bond is not None and bond.active and bond.active != nic.name:
        why = "only {0} sends while it is the active member of {1}, so no switch has seen {2}"
        return PeerPorts((), why.format(bond.active, nic.nic.bond, nic.name))
    ports = ports_of(nic, facts)
    if ports:
        return PeerPorts(tuple(ports), "")
    macs = [mac for mac in (nic.nic.permanent_mac, nic.nic.mac) if mac]
    return ports_that_learned(facts, macs if bond is None else macs[-1:])


def ports_that_learned(facts: Facts, macs: List[str]) -> PeerPorts:
    """The switch port without another bridge behind it that has learned one of the addresses."""
    reasons = []
    for name, switch in facts.switches.items():
        if isinstance(switch, HostproofError):
            reasons.append(str(switch).rstrip("."))
            continue
        for mac in macs:
            ports = switch.ports.get(mac, ())
            direct = tuple(port for port in ports if not port.uplink)
            if direct:
                return PeerPorts(direct, "")
            reasons += [f"{port.name} leads to {port.uplink}" for port in ports if port.uplink]
            if mac in switch.missing:
                reasons.append(f"{name}: {switch.missing[mac]}")
    return PeerPorts((), "; ".join(dict.fromkeys(reasons)) or "its MAC address is not known")
