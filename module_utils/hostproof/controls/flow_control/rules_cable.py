# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of speed and duplex at both ends of the host's cables."""

from typing import List, Optional

from ...collect.answer import known
from ...errors import Absent, Unanswered
from ...evaluate.checking import Rules, Skip, Verdict, undetermined
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.nfs.nfs_options import LINUX
from .facts import Facts
from .links import not_one_cable
from .nics import NicFacts, capital, evidence_of, has_link
from .policy import NAME, Policy
from .ports import need_ports, ports_of
from .snmp.switch_port import SwitchPort
from .subjects import CASE, IEEE_802_3, NICS

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "flow_control.speed_duplex",
    "Both ends of the link agree on speed and duplex",
    "The ends of the link disagree on speed or duplex",
    severity="high",
    takes_effect="now",
    why="Late collisions occur and frames are lost. If one end is forced and the other "
    "negotiates, the negotiating end falls back to half duplex.",
    reference="IEEE 802.3, clause 28; " + CASE,
    each=NICS,
)
def speed_duplex(nic_facts: NicFacts, facts: Facts, _policy: Policy) -> Verdict:
    nic = nic_facts.nic
    if not has_link(nic_facts):
        raise Skip("The link is down.")
    if nic.speed is None or nic.duplex is None:
        return _no_speed(nic_facts)
    ports = need_ports(nic_facts, facts)
    running = f"{nic.speed} Mb/s {nic.duplex} duplex"
    evidence = list(nic.evidence) + evidence_of(nic_facts)[1:]
    verdict = _of_both_ends(nic_facts, ports[0], running, evidence) if ports else None
    return verdict or _of_this_end(nic_facts, running, evidence)


def _of_both_ends(
    nic: NicFacts, other: SwitchPort, running: str, evidence: List[str]
) -> Optional[Verdict]:
    """The verdict if the switch port reports enough, else None."""
    port = other.port
    speed = f"{port.speed} Mb/s" if port.speed else "speed unknown"
    far = f"{other.name}: {speed}, {port.duplex or 'unknown'} duplex"
    verdict = not_one_cable((nic.name, nic.nic.speed), (other.name, port.speed))
    if verdict is None and port.duplex not in (None, nic.nic.duplex):
        verdict = Verdict(
            FAIL,
            f"The host has {running}, the switch port {far}.",
            fix=f"let {nic.name} and {other.name} negotiate, or force both to the same speed "
            "and duplex",
        )
    if verdict is None and port.speed is not None and port.duplex is not None:
        verdict = Verdict(PASS)
    if verdict is None:
        return None
    return verdict._replace(running=running, in_use=far, evidence=[*evidence, *port.evidence])


def _of_this_end(nic: NicFacts, running: str, evidence: List[str]) -> Verdict:
    settings = known(nic.settings)
    if settings.autoneg and settings.partner_modes == "":
        return Verdict(
            WARN,
            "This end negotiates, but the other end offers nothing: it is forced, or the driver "
            "does not show it.",
            fix=f"let the switch port of {nic.name} negotiate",
            running=running,
            evidence=evidence,
        )
    if settings.autoneg is False:
        how = f": ethtool -s {nic.name} autoneg on" if nic.system == LINUX else ""
        return Verdict(
            WARN,
            "Speed and duplex are forced here: if the other end negotiates, it falls back to half "
            "duplex.",
            # No command: where the port is forced, a host that negotiates falls to half duplex.
            fix=f"let the switch port of {nic.name} negotiate first, then {nic.name}{how}",
            running=running,
            evidence=evidence,
        )
    if settings.autoneg and settings.partner_modes:
        return Verdict(PASS, running=running + ", negotiated", evidence=evidence)
    raise Skip(f"Only this end is known ({running}): name the switch in flow_control_switches.")


def _no_speed(nic: NicFacts) -> Verdict:
    if isinstance(nic.pause, Absent):
        raise Skip(f"The driver {nic.nic.driver} does not report speed and duplex.")
    problem = Unanswered(nic.nic.evidence[0], "the driver does not report speed or duplex")
    return undetermined(problem)._replace(evidence=nic.nic.evidence)


@rules.check(
    "flow_control.full_duplex",
    "Link runs in full duplex",
    "Link runs in half duplex",
    severity="high",
    takes_effect="now",
    why="Collisions occur, and PAUSE does not work: IEEE 802.3x requires full duplex.",
    reference=IEEE_802_3,
    each=NICS,
    because_of=("flow_control.speed_duplex",),
)
def full_duplex(nic: NicFacts, facts: Facts, _policy: Policy) -> Verdict:
    if not has_link(nic):
        raise Skip("The link is down.")
    ends = [("the host", nic.nic.duplex)]
    ports = ports_of(nic, facts) if nic.nic.duplex == "half" else need_ports(nic, facts)
    ends += [(port.name, port.port.duplex) for port in ports]
    half = [name for name, duplex in ends if duplex == "half"]
    if not half and nic.nic.duplex is None:
        return _no_speed(nic)
    evidence = list(nic.nic.evidence)
    for port in ports:
        evidence += port.port.evidence
    return Verdict(
        FAIL if half else PASS,
        why="{0} has half duplex: it cannot send and receive at once, and PAUSE does not "
        "exist.".format(capital(" and ".join(half))),
        fix=f"let {' and '.join(name for name, _duplex in ends)} negotiate at both ends, or force "
        "all of them to full duplex",
        desired="full duplex",
        running="{0} duplex".format(nic.nic.duplex or "unknown"),
        evidence=evidence,
    )
