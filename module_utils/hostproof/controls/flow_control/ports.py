# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which port of which switch is at the other end of a cable."""

from typing import Iterable, List, NamedTuple, Optional, Tuple

from ...collect.answer import if_known
from ...errors import HostproofError, Unanswered
from ...parsers.net.bonding import Bond
from .facts import Facts
from .nics import NicFacts
from .snmp.switch_port import SwitchPort


def ports_of(one: NicFacts, facts: Facts) -> List[SwitchPort]:
    """The ports of switches at the other end of the cable, as far as they are known: one, or none.

    A member of a bond in LACP is told from the others by the port number that both ends know. Where
    one member carries the bond, the bond's address is behind that member's port, whoever lent it.
    """
    bond = bond_of(one, facts)
    macs = [one.nic.permanent_mac, one.nic.mac]
    if bond is not None and bond.active:
        if bond.active != one.name:
            return []
        macs = [one.nic.mac]
    number = None if bond is None else _lacp_port(bond, one.name)
    for switch in facts.switches.values():
        if isinstance(switch, HostproofError):
            continue
        for mac in macs:
            ports = _of_member(switch.ports.get(mac or "", ()), number)
            its_own = bond is None or bond.active or mac == one.nic.permanent_mac
            if len(ports) == 1 and (its_own or ports[0].partner):
                return ports
    return []


def _lacp_port(bond: Bond, name: str) -> Optional[int]:
    return next((member.port for member in bond.members if member.name == name), None)


def _of_member(ports: Iterable[SwitchPort], number: Optional[int]) -> List[SwitchPort]:
    """Of those that lead to no other bridge, the ones that may be of the member of this number."""
    direct = [port for port in ports if not port.uplink]
    if len(direct) > 1:
        return [port for port in direct if number and port.partner == number]
    return [port for port in direct if number is None or port.partner in (None, number)]


def why_unknown(facts: Facts, macs: Iterable[Optional[str]]) -> Optional[HostproofError]:
    """Why a switch that was queried does not tell what is behind its ports; None where all told.

    Also where an address is behind none of them: that is known.
    """
    for switch in facts.switches.values():
        if isinstance(switch, HostproofError):
            return switch
        for mac in macs:
            if mac in switch.unknown:
                return Unanswered(switch.evidence[-1], switch.missing[mac])
    return None


def need_ports(one: NicFacts, facts: Facts) -> List[SwitchPort]:
    """The same as ``ports_of``; raises where there is none only because a switch did not answer."""
    ports = ports_of(one, facts)
    problem = None if ports else why_unknown(facts, (one.nic.permanent_mac, one.nic.mac))
    if problem is not None:
        raise problem
    return ports


def bond_of(one: NicFacts, facts: Facts) -> Optional[Bond]:
    """The bond that the interface is in, None where it is in none or nothing is known of it."""
    interfaces = if_known(facts.interfaces, None)
    if interfaces is None or one.nic.bond is None:
        return None
    bond = if_known(interfaces.bonds.get(one.nic.bond), None)
    return bond if isinstance(bond, Bond) else None


class Far(NamedTuple):
    """The ports of the switch at the other end; ``why`` says the reason where there are none."""

    ports: Tuple[SwitchPort, ...]
    why: str


def far_end(one: NicFacts, facts: Facts) -> Far:
    """The port of one interface; all ports of an aggregate where nobody can tell which."""
    bond = bond_of(one, facts)
    if bond is not None and bond.active and bond.active != one.name:
        why = "only {0} sends while it is the active member of {1}, so no switch has seen {2}"
        return Far((), why.format(bond.active, one.nic.bond, one.name))
    ports = ports_of(one, facts)
    if ports:
        return Far(tuple(ports), "")
    macs = [mac for mac in (one.nic.permanent_mac, one.nic.mac) if mac]
    return behind(facts, macs if bond is None else macs[-1:])


def behind(facts: Facts, macs: List[str]) -> Far:
    """Where the switches have one of the addresses, on a port that leads to no other bridge."""
    reasons = []
    for name, switch in facts.switches.items():
        if isinstance(switch, HostproofError):
            reasons.append(str(switch).rstrip("."))
            continue
        for mac in macs:
            ports = switch.ports.get(mac, ())
            direct = tuple(port for port in ports if not port.uplink)
            if direct:
                return Far(direct, "")
            reasons += [f"{port.name} leads to {port.uplink}" for port in ports if port.uplink]
            if mac in switch.missing:
                reasons.append(f"{name}: {switch.missing[mac]}")
    return Far((), "; ".join(dict.fromkeys(reasons)) or "its MAC address is not known")
