# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wanted of one interface, and what to set so that it comes of it."""

from typing import List, NamedTuple, Optional, Set

from ...answer import if_known, known
from ...errors import Unanswered
from ...parsers.bonding import Bond
from ...parsers.ethtool_pause import Direction
from ...parsers.ethtool_settings import offer_of, resolve
from ...parsers.nfs_options import LINUX
from ...probes.ethernet_port import Pause
from ...probes.nic_pause import NEGOTIATION_OF_LINK, NEVER_NEGOTIATE, OFFER_BOTH
from ...probes.switch_port import SwitchPort
from .facts import Facts, NicFacts
from .policy import AUTO, KEEP, MATCH_PEER, OFF, ON


class Wanted(NamedTuple):
    """What must be in force; None is whatever it is. ``autoneg`` is ON, OFF, KEEP or AUTO."""

    rx: Optional[bool]
    tx: Optional[bool]
    autoneg: str

    @property
    def anything(self):
        # type: () -> bool
        return self.rx is not None or self.tx is not None or self.autoneg in (ON, OFF)

    @property
    def text(self):
        # type: () -> str
        parts = [
            "{0} {1}".format(name, "on" if value else "off")
            for name, value in (("rx", self.rx), ("tx", self.tx))
            if value is not None
        ]
        if self.autoneg in (ON, OFF):
            parts.append("autonegotiation {0}".format(self.autoneg))
        return ", ".join(parts) or "as it is"

    def met_by(self, direction):
        # type: (Direction) -> bool
        return self.rx in (None, direction.rx) and self.tx in (None, direction.tx)


class Target(NamedTuple):
    """What to set with ethtool -A."""

    autoneg: bool
    rx: bool
    tx: bool

    @property
    def text(self):
        # type: () -> str
        return "autonegotiation {0}, rx {1}, tx {2}".format(
            *("on" if one else "off" for one in self)
        )


def wanted_of(one, facts):
    # type: (NicFacts, Facts) -> Wanted
    """Raises Unanswered where the peer is to be matched and is not known."""
    rule = one.rule
    peer = None  # type: Optional[Pause]
    if MATCH_PEER in (rule.rx, rule.tx):
        peer = peer_pause(one, facts)
    sides = []  # type: List[Optional[bool]]
    for choice, other in ((rule.rx, "tx"), (rule.tx, "rx")):
        if choice == MATCH_PEER:
            sides.append(bool(getattr(peer, other)))
        else:
            sides.append({ON: True, OFF: False, KEEP: None}[choice])
    return Wanted(sides[0], sides[1], rule.autoneg)


def ports_of(one, facts):
    # type: (NicFacts, Facts) -> List[SwitchPort]
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
    number = None
    if bond is not None:
        numbers = [member.port for member in bond.members if member.name == one.name]
        number = numbers[0] if numbers else None
    for switch in facts.switches.values():
        answer = if_known(switch, None)
        if answer is None:
            continue
        for mac in macs:
            ports = [port for port in answer.ports.get(mac or "", ()) if not port.uplink]
            if len(ports) > 1:
                ports = [port for port in ports if number and port.partner == number]
            elif number is not None:
                ports = [port for port in ports if port.partner in (None, number)]
            its_own = bond is None or bond.active or mac == one.nic.permanent_mac
            if len(ports) == 1 and (its_own or ports[0].partner):
                return ports
    return []


def bond_of(one, facts):
    # type: (NicFacts, Facts) -> Optional[Bond]
    """The bond that the interface is in, None where it is in none or nothing is known of it."""
    interfaces = if_known(facts.interfaces, None)
    if interfaces is None or one.nic.bond is None:
        return None
    bond = if_known(interfaces.bonds.get(one.nic.bond), None)
    return bond if isinstance(bond, Bond) else None


def peer_pause(one, facts):
    # type: (NicFacts, Facts) -> Pause
    ports = ports_of(one, facts)
    modes = [port.port.oper or port.port.admin for port in ports]
    if not modes or modes[0] is None:
        raise Unanswered(
            "policy",
            "flow_control_wanted says match_peer, and the flow control of the switch port of {0} "
            "is not known: name its switch in flow_control_switches".format(one.name),
        )
    return modes[0]


def target_of(one, wanted):
    # type: (NicFacts, Wanted) -> Target
    """What to set so that it comes into force; the same as it is where it is in force already.

    Raises Unanswered where the driver does not let it be set.
    """
    pause = known(one.pause)
    now = if_known(one.in_force, Direction(pause.rx, pause.tx))
    rx = now.rx if wanted.rx is None else wanted.rx
    tx = now.tx if wanted.tx is None else wanted.tx
    autoneg = pause.autoneg if wanted.autoneg in (KEEP, AUTO) else wanted.autoneg == ON
    if autoneg == pause.autoneg and Direction(rx, tx) == if_known(one.in_force, None):
        return Target(pause.autoneg, pause.rx, pause.tx)
    if autoneg:
        problem = _why_not_negotiated(one, Direction(rx, tx))
        if problem and wanted.autoneg == AUTO:
            autoneg = False
        elif problem:
            raise Unanswered(
                "policy",
                "{0}: {1}: autoneg: off in flow_control_wanted sets it".format(one.name, problem),
            )
        elif one.nic.driver in OFFER_BOTH:
            # It shows what is in force, and offers both whatever it is asked for.
            return Target(True, pause.rx, pause.tx)
    if autoneg != pause.autoneg and one.nic.driver in NEGOTIATION_OF_LINK:
        raise Unanswered(
            "policy",
            "{0}: the driver {1} takes no change of autoneg with ethtool -A: set flow control on "
            "the switch port, from which it is negotiated".format(one.name, one.nic.driver),
        )
    return Target(autoneg, rx, tx)


def boot_target_of(one, wanted, target):
    # type: (NicFacts, Wanted, Target) -> Target
    """What a boot is to set where ``target`` is set now: every side as wanted, also one that is in
    force only because the other end offers nothing else. Raises Unanswered as target_of does.
    """
    rx = target.rx if wanted.rx is None else wanted.rx
    tx = target.tx if wanted.tx is None else wanted.tx
    if not target.autoneg:
        return Target(False, rx, tx)
    if one.nic.driver in OFFER_BOTH and False in (wanted.rx, wanted.tx):
        if wanted.autoneg != AUTO:
            raise Unanswered(
                "policy",
                "{0}: the driver {1} offers both directions while it negotiates: autoneg: off in "
                "flow_control_wanted sets it".format(one.name, one.nic.driver),
            )
    else:
        given = given_by_boot(one, True, rx, tx)
        if given and all(wanted.met_by(direction) for direction in given):
            return Target(True, rx, tx)
    if wanted.autoneg != AUTO or one.nic.driver in NEGOTIATION_OF_LINK:
        return Target(True, rx, tx)
    force = if_known(one.in_force, Direction(rx, tx))
    return Target(
        False,
        force.rx if wanted.rx is None else wanted.rx,
        force.tx if wanted.tx is None else wanted.tx,
    )


def given_by_boot(one, autoneg, rx, tx):
    # type: (NicFacts, Optional[bool], Optional[bool], Optional[bool]) -> Optional[Set[Direction]]
    """All that may be in force after a boot that sets this; None where nobody knows.

    None of ``autoneg``, ``rx`` and ``tx`` is what the boot leaves to the driver.
    """
    directions = {
        Direction(first, second)
        for first in ((True, False) if rx is None else (rx,))
        for second in ((True, False) if tx is None else (tx,))
    }
    if autoneg is False or one.system != LINUX or one.nic.driver in NEVER_NEGOTIATE:
        return directions
    pause = known(one.pause)
    if one.nic.driver in NEGOTIATION_OF_LINK and not pause.autoneg:
        return directions
    offers_both = one.nic.driver in OFFER_BOTH
    offered = {Direction(True, True)} if offers_both else directions
    settings = if_known(one.settings, None)
    force = if_known(one.in_force, None)
    now = Direction(True, True) if offers_both else Direction(pause.rx, pause.tx)
    if settings is not None and settings.partner is not None:
        results = {resolve(offer_of(direction), settings.partner) for direction in offered}
    elif pause.autoneg and force is not None and offered == {now}:
        results = {force}
    else:
        return None
    # Nobody negotiates now and the boot does not say: the driver may do either.
    return results if autoneg or pause.autoneg else results | directions


def _why_not_negotiated(one, direction):
    # type: (NicFacts, Direction) -> str
    """Why negotiation does not give this, "" where it does."""
    if one.nic.driver in OFFER_BOTH and direction != Direction(True, True):
        return "the driver {0} offers both directions while it negotiates".format(one.nic.driver)
    settings = if_known(one.settings, None)
    partner = None if settings is None else settings.partner
    if partner is None:
        return "what the other end offers is not known"
    result = resolve(offer_of(direction), partner)
    if result != direction:
        return "negotiation with what the other end offers gives rx {0}, tx {1}".format(
            *("on" if side else "off" for side in result)
        )
    return ""
