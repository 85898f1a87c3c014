# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requirement for one interface, and the settings that fulfill it."""

from itertools import product
from typing import List, NamedTuple, Optional, Set, Tuple

from ...collect.answer import if_known, known
from ...errors import Unanswered
from ...parsers.net.ethtool_pause import Direction, PauseSettings
from ...parsers.nfs.nfs_options import LINUX
from .facts import Facts
from .nics import NicFacts, direction_text, on_off
from .parsers.ethtool_settings import offer_of, resolve
from .policy import AUTO, KEEP, MATCH_PEER, OFF, ON
from .ports import ports_of
from .probes.nic_pause import NEGOTIATION_OF_LINK, NEVER_NEGOTIATE, OFFER_BOTH
from .snmp.ethernet_port import Pause


class Wanted(NamedTuple):
    """Required mode in force; None accepts any. ``autoneg`` is ON, OFF, KEEP or AUTO."""

    rx: Optional[bool]
    tx: Optional[bool]
    autoneg: str

    @property
    def anything(self) -> bool:
        return self.sides or self.autoneg in (ON, OFF)

    @property
    def sides(self) -> bool:
        """Whether rx or tx is required."""
        return self.rx is not None or self.tx is not None

    @property
    def text(self) -> str:
        parts = [
            f"{name} {on_off(value)}"
            for name, value in (("rx", self.rx), ("tx", self.tx))
            if value is not None
        ]
        if self.autoneg in (ON, OFF):
            parts.append(f"autonegotiation {self.autoneg}")
        return ", ".join(parts) or "as it is"

    def over(self, direction: Direction) -> Direction:
        """The required sides, and those of a mode where any is accepted."""
        return Direction(
            direction.rx if self.rx is None else self.rx,
            direction.tx if self.tx is None else self.tx,
        )

    def met_by(self, direction: Direction) -> bool:
        return self.rx in (None, direction.rx) and self.tx in (None, direction.tx)


class Target(NamedTuple):
    """Arguments of ethtool -A."""

    autoneg: bool
    rx: bool
    tx: bool

    @property
    def text(self) -> str:
        return "autonegotiation {0}, rx {1}, tx {2}".format(*map(on_off, self))


def wanted_of(nic: NicFacts, facts: Facts) -> Wanted:
    """The requirement for an interface. Raises Unanswered if the peer to match is unknown."""
    rule = nic.rule
    peer: Optional[Pause] = None
    if MATCH_PEER in (rule.rx, rule.tx):
        peer = peer_pause(nic, facts)
    sides: List[Optional[bool]] = []
    for choice, other in ((rule.rx, "tx"), (rule.tx, "rx")):
        if choice == MATCH_PEER:
            sides.append(bool(getattr(peer, other)))
        else:
            sides.append({ON: True, OFF: False, KEEP: None}[choice])
    return Wanted(sides[0], sides[1], rule.autoneg)


def peer_pause(nic: NicFacts, facts: Facts) -> Pause:
    ports = ports_of(nic, facts)
    modes = [port.port.oper or port.port.admin for port in ports]
    if not modes or modes[0] is None:
        raise Unanswered(
            "policy",
            "flow_control_rules says match_peer, and the flow control of the switch port of "
            f"{nic.name} is not known: name its switch in flow_control_switches",
        )
    return modes[0]


def target_of(nic: NicFacts, required: Wanted) -> Target:
    """The settings that bring the requirement into force; unchanged if it is in force already.

    Raises Unanswered if the driver does not support the setting.
    """
    pause = known(nic.pause)
    wanted = required.over(if_known(nic.in_force, Direction(pause.rx, pause.tx)))
    autoneg = pause.autoneg if required.autoneg in (KEEP, AUTO) else required.autoneg == ON
    if autoneg == pause.autoneg and wanted == if_known(nic.in_force, None):
        return Target(pause.autoneg, pause.rx, pause.tx)
    if autoneg:
        problem = _why_not_negotiated(nic, wanted)
        if problem and required.autoneg == AUTO:
            autoneg = False
        elif problem:
            raise Unanswered(
                "policy",
                f"{nic.name}: {problem}: autoneg: off in flow_control_rules sets it",
            )
        elif nic.nic.driver in OFFER_BOTH:
            # The driver shows the mode in force and always offers both directions.
            return Target(True, pause.rx, pause.tx)
    if autoneg != pause.autoneg and nic.nic.driver in NEGOTIATION_OF_LINK:
        raise Unanswered(
            "policy",
            f"{nic.name}: the driver {nic.nic.driver} takes no change of autoneg with ethtool -A: "
            "set flow control on the switch port, from which it is negotiated",
        )
    return Target(autoneg, wanted.rx, wanted.tx)


def boot_target_of(nic: NicFacts, required: Wanted, target: Target) -> Target:
    """The settings for boot if ``target`` is set now. Every side is as required, also a side that
    is in force now only because of the offer of the other end. Raises Unanswered like target_of.
    """
    rx, tx = required.over(Direction(target.rx, target.tx))
    if not target.autoneg:
        return Target(False, rx, tx)
    if nic.nic.driver in OFFER_BOTH and False in (required.rx, required.tx):
        if required.autoneg != AUTO:
            raise Unanswered(
                "policy",
                f"{nic.name}: the driver {nic.nic.driver} offers both directions while it "
                "negotiates: autoneg: off in flow_control_rules sets it",
            )
    else:
        directions = given_by_boot(nic, True, rx, tx)
        if directions and all(required.met_by(direction) for direction in directions):
            return Target(True, rx, tx)
    if required.autoneg != AUTO or nic.nic.driver in NEGOTIATION_OF_LINK:
        return Target(True, rx, tx)
    force = required.over(if_known(nic.in_force, Direction(rx, tx)))
    return Target(False, force.rx, force.tx)


def given_by_boot(
    nic: NicFacts, autoneg: Optional[bool], rx: Optional[bool], tx: Optional[bool]
) -> Optional[Set[Direction]]:
    """All modes that can be in force after a reboot with these settings; None if unknown.

    If ``autoneg``, ``rx`` or ``tx`` is None, the driver decides at boot."""
    directions = {Direction(*both) for both in product(_may_be(rx), _may_be(tx))}
    if autoneg is False or nic.system != LINUX or nic.nic.driver in NEVER_NEGOTIATE:
        return directions
    pause = known(nic.pause)
    if nic.nic.driver in NEGOTIATION_OF_LINK and not pause.autoneg:
        return directions
    results = _negotiated(nic, pause, directions)
    if results is None or autoneg or pause.autoneg:
        return results
    # No negotiation now, and no setting at boot: the driver can negotiate or not.
    return results | directions


def _negotiated(
    nic: NicFacts, pause: PauseSettings, directions: Set[Direction]
) -> Optional[Set[Direction]]:
    """The modes that negotiation gives if one of these is set; None if unknown."""
    offers_both = nic.nic.driver in OFFER_BOTH
    offered = {Direction(True, True)} if offers_both else directions
    settings = if_known(nic.settings, None)
    force = if_known(nic.in_force, None)
    now = Direction(True, True) if offers_both else Direction(pause.rx, pause.tx)
    if settings is not None and settings.partner is not None:
        return {resolve(offer_of(direction), settings.partner) for direction in offered}
    return {force} if pause.autoneg and force is not None and offered == {now} else None


def _may_be(value: Optional[bool]) -> Tuple[bool, ...]:
    return (True, False) if value is None else (value,)


def _why_not_negotiated(nic: NicFacts, direction: Direction) -> str:
    """The reason why negotiation does not result in this mode, "" if it does."""
    if nic.nic.driver in OFFER_BOTH and direction != Direction(True, True):
        return f"the driver {nic.nic.driver} offers both directions while it negotiates"
    settings = if_known(nic.settings, None)
    partner = None if settings is None else settings.partner
    if partner is None:
        return "what the other end offers is not known"
    result = resolve(offer_of(direction), partner)
    if result != direction:
        return f"negotiation with what the other end offers gives {direction_text(result)}"
    return ""
