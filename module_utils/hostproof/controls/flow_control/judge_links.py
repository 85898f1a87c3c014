# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges the other ends: the switch's port, the filer's port, and each cable between them."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...answer import if_known
from ...errors import Absent, HostproofError
from ...finding import ERROR, PASS, SKIP, WARN, Finding, found
from ...probes.ethernet_port import UNSEEN, Delta, Pause
from ...probes.filer_port import Filer, FilerPort
from ...probes.network_interfaces import Interfaces
from ...probes.switch_port import Switch, SwitchPort
from . import checks, links
from .facts import Facts, NicFacts
from .judging import evidence_of, priority_in_use, skipped, titled, undetermined
from .links import Path, Side, Verdict
from .policy import ON, STORAGE, Policy
from .wanted import bond_of, ports_of


def judge_links(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    """Findings of SWITCH_PORT, FILER_PORT and LINK, at least one of each."""
    interfaces = facts.interfaces
    if isinstance(interfaces, HostproofError):
        every = (checks.SWITCH_PORT, checks.FILER_PORT, checks.LINK)
        if isinstance(interfaces, Absent):
            return [skipped(check, "{0}.".format(interfaces)) for check in every]
        return [undetermined(check, interfaces) for check in every]
    findings = [_judge_switch_port(one, facts, policy) for one in facts.nics.values()]
    findings = findings or [skipped(checks.SWITCH_PORT, _NO_NIC)]
    findings += _judge_filers(facts, interfaces, policy)
    return findings + _judge_cables(facts, interfaces, policy)


_NO_NIC = "No interface of this host carries storage or the interconnect."
_NO_SWITCH = "flow_control_switches is empty: no switch was asked."

# -- whose port it is -----------------------------------------------------------------------------


class Far(NamedTuple):
    """The ports of the switch at the other end; ``why`` says the reason where there are none."""

    ports: Tuple[SwitchPort, ...]
    why: str


def _far_end(one, facts):
    # type: (NicFacts, Facts) -> Far
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


def behind(facts, macs):
    # type: (Facts, List[str]) -> Far
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
            reasons += [
                "{0} leads to {1}".format(port.name, port.uplink) for port in ports if port.uplink
            ]
            if mac in switch.missing:
                reasons.append("{0}: {1}".format(name, switch.missing[mac]))
    return Far((), "; ".join(dict.fromkeys(reasons)) or "its MAC address is not known")


# -- the switch's port ----------------------------------------------------------------------------


def _judge_switch_port(one, facts, policy):
    # type: (NicFacts, Facts, Policy) -> Finding
    check = checks.SWITCH_PORT
    if not policy.switches:
        return titled(skipped(check, _NO_SWITCH), one.name)
    if one.nic.carrier is False:
        return titled(skipped(check, "{0} has no carrier.".format(one.name)), one.name)
    far = _far_end(one, facts)
    if not far.ports:
        finding = found(
            check,
            ERROR,
            why="The port of the switch is unknown: {0}.".format(far.why),
            fix="name the switch that the cable of {0} ends in, in flow_control_switches, and "
            "look at it by hand".format(one.name),
            evidence=_evidence_of_switches(facts),
        )
        return titled(finding, one.name)
    verdicts = [_judge_as_set(links.side_of(port.name, port.port)) for port in far.ports]
    verdict = links.worst(verdicts)
    finding = found(
        check,
        verdict.status,
        why=verdict.why,
        fix=verdict.fix or None,
        running="; ".join(_switch_port_text(port) for port in far.ports),
        evidence=[key for port in far.ports for key in port.port.evidence],
    )
    return titled(finding, one.name)


def _judge_as_set(side):
    # type: (Side) -> Verdict
    """Whether what is in force is what was set, as far as both are known."""
    if side.up is False:
        return Verdict(SKIP, "{0} is down.".format(side.name), "")
    if side.pause is None:
        return Verdict(
            ERROR,
            "{0}: {1}.".format(side.name, links.mode_of(side)),
            "look at the port itself (show interface flowcontrol), its agent does not tell",
        )
    if side.wanted is not None and side.wanted != side.pause:
        return Verdict(
            WARN,
            "{0} is set to {1}, and {2} is in force: the other end offers something else.".format(
                side.name, side.wanted.text, side.pause.text
            ),
            "set both ends of the cable alike, or both to negotiate",
        )
    return Verdict(PASS, "{0} has {1}.".format(side.name, side.pause.text), "")


def _switch_port_text(one):
    # type: (SwitchPort) -> str
    side = links.side_of(one.name, one.port)
    parts = [side.text, "found by {0}".format(one.how)]
    if one.port.admin is not None:
        parts.append("set to {0}".format(one.port.admin.text))
    if one.aggregate:
        parts.append("in {0}".format(one.aggregate))
    return ", ".join(parts + _counted(one.port.delta))


def _counted(delta):
    # type: (Delta) -> List[str]
    """Everything that was counted within the sample."""
    names = ("PAUSE received", "PAUSE sent", "In-Discards", "Out-Discards")
    counted = (delta.in_pause, delta.out_pause, delta.in_discards, delta.out_discards)
    said = [
        "{0} {1}".format(name, number) for name, number in zip(names, counted) if number is not None
    ]
    if said and delta.seconds is not None:
        said[-1] += " within {0:.1f} s".format(delta.seconds)
    return said


def _evidence_of_switches(facts):
    # type: (Facts) -> List[str]
    found_keys = []  # type: List[str]
    for switch in facts.switches.values():
        if isinstance(switch, Switch):
            found_keys += switch.evidence
        else:
            found_keys += [switch.key] if hasattr(switch, "key") else []
    return found_keys


_NO_PATH = (
    "No path to it is known on this host (mounted NFS, NFS of the next boot, iSCSI, NVMe), so it "
    "was not asked."
)

# -- the filer's port -----------------------------------------------------------------------------


def _judge_filers(facts, interfaces, policy):
    # type: (Facts, Interfaces, Policy) -> List[Finding]
    check = checks.FILER_PORT
    if not policy.filers:
        return [skipped(check, "flow_control_filers is empty: no filer was asked.")]
    findings = []
    for address, filer in facts.filers.items():
        if isinstance(filer, HostproofError):
            finding = undetermined(check, filer)
        else:
            finding = _judge_filer(filer, _host_may_pause(facts, interfaces, address))
        findings.append(titled(finding, address))
    for address in facts.unused_filers:
        findings.append(titled(skipped(check, _NO_PATH), address))
    return findings or [skipped(check, _NO_NIC)]


def _host_may_pause(facts, interfaces, address):
    # type: (Facts, Interfaces, str) -> bool
    """Whether the policy wants this host to send PAUSE on its way to the filer (as in 2002)."""
    names = {name for path in interfaces.paths if path.address == address for name in path.nics}
    return any(facts.nics[name].rule.tx == ON for name in names if name in facts.nics)


def _judge_filer(filer, host_may_pause):
    # type: (Filer, bool) -> Finding
    verdicts = []
    for one in filer.ports:
        side = links.side_of(one.name, one.port)
        verdicts.append(_judge_as_set(side))
        if side.pause is not None and side.pause.rx and not host_may_pause:
            verdicts.append(
                Verdict(
                    WARN,
                    "{0} obeys PAUSE (rx on): one slow host or a congested switch port makes it "
                    "stop for all that it serves.".format(side.name),
                    "set its flow control to none (ONTAP: network port modify -flowcontrol-admin "
                    "none; the link goes down for a moment), and the switch port's",
                )
            )
    verdict = links.worst(verdicts)
    return found(
        checks.FILER_PORT,
        verdict.status,
        why=verdict.why,
        fix=verdict.fix or None,
        running="; ".join(_filer_port_text(one) for one in filer.ports),
        evidence=filer.evidence,
    )


def _filer_port_text(one):
    # type: (FilerPort) -> str
    side = links.side_of(one.name, one.port)
    parts = [side.text, "found by {0}".format(one.how)]
    if one.port.admin is not None and one.port.admin != one.port.oper:
        parts.append("set to {0}".format(one.port.admin.text))
    return ", ".join(parts + _counted(one.port.delta))


# -- the path -------------------------------------------------------------------------------------


class _Way(NamedTuple):
    """A path with what it rests on. ``alone`` is the verdict where the host's end is not judged."""

    path: Path
    alone: Optional[Verdict]
    host_evidence: Tuple[str, ...]
    filer_evidence: Tuple[str, ...]
    asks_filer: bool


def paths(facts, policy):
    # type: (Facts, Policy) -> List[Path]
    """Every path as it is known: each interface with each filer that it leads to."""
    interfaces = if_known(facts.interfaces, None)
    return [] if interfaces is None else [way.path for way in _ways(facts, interfaces, policy)]


def _ways(facts, interfaces, policy):
    # type: (Facts, Interfaces, Policy) -> List[_Way]
    found_ways = []
    for one in facts.nics.values():
        storage = {}  # type: Dict[str, Optional[str]]
        for path in interfaces.paths:
            if path.role == STORAGE and one.name in path.nics:
                storage[path.address] = path.mac
        for address, mac in sorted(storage.items()) or [("", None)]:
            found_ways.append(_way(one, address, mac, facts, policy))
    return found_ways


def _way(one, address, mac, facts, policy):
    # type: (NicFacts, str, Optional[str], Facts, Policy) -> _Way
    far = _far_end(one, facts)
    filer, why_no_filer, filer_macs = _filer_side(address, facts)
    near_filer = Far((), "")
    if address:
        macs = filer_macs or ([mac] if mac else [])
        near_filer = behind(facts, macs)
    evidence = list(one.nic.evidence) + evidence_of(one)
    for port in far.ports:
        evidence += port.port.evidence
    answer = if_known(facts.filers.get(address), None)
    of_filer = [key for port in near_filer.ports for key in port.port.evidence]
    of_filer += [] if answer is None else answer.evidence
    return _Way(
        path=Path(
            host=_host_side(one),
            host_port=_switch_side(far),
            filer_port=_switch_side(near_filer),
            filer=filer,
            switched=bool(policy.switches),
            why_no_host_port=far.why,
            why_no_filer_port=near_filer.why,
            why_no_filer=why_no_filer,
        ),
        alone=_left_alone(one),
        host_evidence=tuple(evidence),
        filer_evidence=tuple(of_filer),
        asks_filer=address in facts.filers,
    )


def _host_side(one):
    # type: (NicFacts) -> Side
    pause = if_known(one.pause, None)
    force = if_known(one.in_force, None)
    traffic = if_known(one.traffic, None)
    return Side(
        name=one.name,
        pause=None if force is None else Pause(force.rx, force.tx),
        wanted=None if pause is None else Pause(pause.rx, pause.tx),
        speed=one.nic.speed,
        duplex=one.nic.duplex,
        mtu=one.nic.mtu,
        up=one.nic.carrier,
        delta=UNSEEN
        if traffic is None
        else Delta(traffic.seconds, traffic.rx_pause, traffic.tx_pause, None, None),
        seen=(None, None),
    )


def _switch_side(far):
    # type: (Far) -> Optional[Side]
    if not far.ports:
        return None
    return links.bundled([links.side_of(port.name, port.port) for port in far.ports])


def _filer_side(address, facts):
    # type: (str, Facts) -> Tuple[Optional[Side], str, List[str]]
    """The filer's end, why it is unknown, and its MAC addresses."""
    if not address:
        return None, "", []
    filer = facts.filers.get(address)
    if filer is None:
        return None, "{0} is not in flow_control_filers".format(address), []
    if isinstance(filer, HostproofError):
        return None, str(filer).rstrip("."), []
    side = links.bundled([links.side_of(port.name, port.port) for port in filer.ports])
    return side, "", sorted({port.mac for port in filer.ports if port.mac})


def _left_alone(one):
    # type: (NicFacts) -> Optional[Verdict]
    """Why the host's flow control is not judged, None where it is."""
    if isinstance(one.pause, Absent):
        why = "{0}: {1}.".format(one.name, one.pause)
        return Verdict(SKIP, why, "")
    try:
        in_use = priority_in_use(one)
    except HostproofError as problem:
        why = "Whether priority flow control is in use could not be determined: {0}."
        return Verdict(ERROR, why.format(str(problem).rstrip(".")), "")
    return None if in_use is None else Verdict(SKIP, in_use, "")


# -- each cable -----------------------------------------------------------------------------------


def _judge_cables(facts, interfaces, policy):
    # type: (Facts, Interfaces, Policy) -> List[Finding]
    """One finding for each cable of each path, with the chain of the path in it."""
    findings = []  # type: List[Finding]
    for way in _ways(facts, interfaces, policy):
        findings.append(_judge_host_cable(way, policy))
        if way.path.filer is not None or way.path.filer_port is not None or way.asks_filer:
            finding = _judge_filer_cable(way, policy)
            # Members of a bond, and all that mount from one filer, share its cable.
            if (finding.title, finding.why) not in [(one.title, one.why) for one in findings]:
                findings.append(finding)
    return findings or [skipped(checks.LINK, _NO_NIC)]


def _judge_host_cable(way, policy):
    # type: (_Way, Policy) -> Finding
    path = way.path
    name = "{0} <-> {1}".format(path.host.name, _name(path.host_port, "switch"))
    if not path.switched:
        return _cable(way, name, [Verdict(SKIP, _NO_SWITCH, "")], way.host_evidence)
    if path.host.up is False:
        down = Verdict(SKIP, "{0} has no carrier.".format(path.host.name), "")
        return _cable(way, name, [down], way.host_evidence)
    if path.host_port is None:
        unknown = Verdict(
            ERROR,
            "The port of the switch is unknown: {0}.".format(path.why_no_host_port),
            "name the switch that the cable ends in, in flow_control_switches",
        )
        return _cable(way, name, [unknown], way.host_evidence)
    verdicts = [way.alone or links.judge_cable(path.host, path.host_port)]
    verdicts += _discards(path, path.host_port, policy)
    evidence = way.host_evidence
    if len(verdicts) > 1:
        evidence += way.filer_evidence
    return _cable(way, name, verdicts, evidence)


def _judge_filer_cable(way, policy):
    # type: (_Way, Policy) -> Finding
    path = way.path
    name = "{0} <-> {1}".format(_name(path.filer_port, "switch"), _name(path.filer, "filer"))
    evidence = way.filer_evidence
    if not path.switched:
        return _cable(way, name, [Verdict(SKIP, _NO_SWITCH, "")], evidence)
    verdicts = []
    if path.filer_port is None or path.filer is None:
        reasons = []
        if path.filer_port is None:
            reasons.append(
                "The port of the switch before the filer is unknown: {0}.".format(
                    path.why_no_filer_port
                )
            )
        if path.filer is None:
            reasons.append("The filer's port is unknown: {0}.".format(path.why_no_filer))
        verdicts.append(
            Verdict(
                ERROR if way.asks_filer else SKIP,
                " ".join(reasons),
                "name the filer in flow_control_filers, and the switch that its cable ends in, in "
                "flow_control_switches",
            )
        )
    else:
        verdicts.append(links.judge_cable(path.filer_port, path.filer))
    if path.filer_port is not None:
        lost = _discards(path, path.filer_port, policy)
        verdicts += lost
        evidence = evidence + way.host_evidence if lost else evidence
    return _cable(way, name, verdicts, evidence)


def _discards(path, port, policy):
    # type: (Path, Side, Policy) -> List[Verdict]
    lost = links.judge_discards(path, policy.drops_limit, bool(policy.sample_seconds))
    return [verdict for side, verdict in lost if side is port]


def _name(side, otherwise):
    # type: (Optional[Side], str) -> str
    return otherwise if side is None else side.name


def _cable(way, name, verdicts, evidence):
    # type: (_Way, str, List[Verdict], Tuple[str, ...]) -> Finding
    verdict = links.worst(verdicts)
    finding = found(
        checks.LINK,
        verdict.status,
        why=verdict.why,
        fix=verdict.fix or None,
        running=way.path.chain,
        in_use=verdict.why if verdict.status == PASS else None,
        evidence=dict.fromkeys(evidence),
    )
    return titled(finding, name)
