# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of switch port and filer port, and of each cable between them."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import if_known, known
from ...errors import Absent, HostproofError
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import ERROR, PASS, SKIP, WARN
from . import links
from .facts import Facts
from .links import NO_SWITCH, Path, Side
from .nics import NicFacts, evidence_of, priority_in_use
from .policy import NAME, ON, STORAGE, Policy
from .ports import PeerPorts, peer_ports, ports_that_learned
from .snmp.ethernet_port import UNSEEN, Delta, Pause
from .snmp.filer_port import FilerPort
from .snmp.switch_port import Switch, SwitchPort
from .subjects import CASE, FILERS, NICS, NTAP, NamedFiler, need_nics

rules: Rules[Facts, Policy] = Rules(NAME)

# -- the switch's port ----------------------------------------------------------------------------


@rules.check(
    "flow_control.switch_port",
    "Switch port uses the flow control that is set on it",
    "Switch port does not use the flow control that is set on it",
    severity="medium",
    takes_effect="now",
    why="Flow control on this host works only as far as the switch port supports it.",
    reference="EtherLike-MIB (RFC 3635), dot3PauseTable; Q-BRIDGE-MIB (RFC 4363)",
    each=NICS,
)
def switch_port(nic: NicFacts, facts: Facts, policy: Policy) -> Verdict:
    if not policy.switches:
        raise Skip(NO_SWITCH)
    if nic.nic.carrier is False:
        raise Skip(f"{nic.name} has no carrier.")
    far = peer_ports(nic, facts)
    if not far.ports:
        return Verdict(
            ERROR,
            f"The port of the switch is unknown: {far.why}.",
            fix=f"name the switch that the cable of {nic.name} ends in, in "
            "flow_control_switches, and check it manually",
            evidence=_evidence_of_switches(facts),
        )
    return links.worst(
        [_as_set(links.side_of(port.name, port.port)) for port in far.ports]
    )._replace(
        running="; ".join(_switch_port_text(port) for port in far.ports),
        evidence=[key for port in far.ports for key in port.port.evidence],
    )


def _as_set(side: Side) -> Verdict:
    """Compare the mode in force with the configured mode, if both are known."""
    if side.up is False:
        return Verdict(SKIP, f"{side.name} is down.")
    if side.pause is None:
        return Verdict(
            ERROR,
            f"{side.name}: {links.mode_of(side)}.",
            "check the port itself (show interface flowcontrol), its agent does not tell",
        )
    if side.wanted is not None and side.wanted != side.pause:
        return Verdict(
            WARN,
            f"{side.name} is set to {side.wanted.text}, but {side.pause.text} is in force: the "
            "other end offers something else.",
            "set both ends of the cable to the same mode, or both to negotiate",
        )
    return Verdict(PASS, f"{side.name} has {side.pause.text}.")


def _switch_port_text(peer: SwitchPort) -> str:
    side = links.side_of(peer.name, peer.port)
    parts = [side.text, f"found by {peer.how}"]
    if peer.port.admin is not None:
        parts.append(f"set to {peer.port.admin.text}")
    if peer.aggregate:
        parts.append(f"in {peer.aggregate}")
    return ", ".join(parts + _counted(peer.port.delta))


def _counted(delta: Delta) -> List[str]:
    """All counters of the sample as texts."""
    names = ("PAUSE received", "PAUSE sent", "In-Discards", "Out-Discards")
    counted = (delta.in_pause, delta.out_pause, delta.in_discards, delta.out_discards)
    parts = [f"{name} {number}" for name, number in zip(names, counted) if number is not None]
    if parts and delta.seconds is not None:
        parts[-1] += f" within {delta.seconds:.1f} s"
    return parts


def _evidence_of_switches(facts: Facts) -> List[str]:
    found_keys: List[str] = []
    for switch in facts.switches.values():
        if isinstance(switch, Switch):
            found_keys += switch.evidence
        else:
            found_keys += [switch.key] if hasattr(switch, "key") else []
    return found_keys


# -- the filer's port -----------------------------------------------------------------------------


@rules.check(
    "flow_control.filer_port",
    "Filer port does not obey PAUSE and uses its settings",
    "Filer port obeys PAUSE or does not use its settings",
    severity="medium",
    takes_effect="now",
    why="A filer port that obeys PAUSE stops sending to every host behind the same switch port.",
    reference=NTAP,
    each=FILERS,
)
def filer_port(subject: NamedFiler, facts: Facts, _policy: Policy) -> Verdict:
    if subject.answer is None:
        raise Skip(
            "No path to it is known on this host (mounted NFS, NFS of the next reboot, iSCSI, "
            "NVMe), so it was not asked."
        )
    filer = known(subject.answer)
    may_pause = _host_may_pause(facts, subject.address)
    verdicts = []
    for port in filer.ports:
        side = links.side_of(port.name, port.port)
        verdicts.append(_as_set(side))
        if side.pause is not None and side.pause.rx and not may_pause:
            verdicts.append(
                Verdict(
                    WARN,
                    f"{side.name} obeys PAUSE (rx on): one slow host or a congested switch port "
                    "makes it stop for all that it serves.",
                    "set its flow control to none (ONTAP: network port modify -flowcontrol-admin "
                    "none; the link goes down for a moment), and the switch port's",
                )
            )
    return links.worst(verdicts)._replace(
        running="; ".join(_filer_port_text(port) for port in filer.ports),
        evidence=filer.evidence,
    )


def _host_may_pause(facts: Facts, address: str) -> bool:
    """Whether the policy requires that this host sends PAUSE on the path to the filer."""
    paths = known(facts.interfaces).paths
    names = {name for path in paths if path.address == address for name in path.nics}
    return any(facts.nics[name].rule.tx == ON for name in names if name in facts.nics)


def _filer_port_text(peer: FilerPort) -> str:
    side = links.side_of(peer.name, peer.port)
    parts = [side.text, f"found by {peer.how}"]
    if peer.port.admin is not None and peer.port.admin != peer.port.oper:
        parts.append(f"set to {peer.port.admin.text}")
    return ", ".join(parts + _counted(peer.port.delta))


# -- the path -------------------------------------------------------------------------------------


class _PathCheck(NamedTuple):
    """A path with its evidence. ``alone`` is the verdict if the host's end is not checked."""

    path: Path
    alone: Optional[Verdict]
    host_evidence: Tuple[str, ...]
    filer_evidence: Tuple[str, ...]
    asks_filer: bool


def _path_checks(facts: Facts, policy: Policy) -> List[_PathCheck]:
    found_ways = []
    for nic in facts.nics.values():
        storage: Dict[str, Optional[str]] = {}
        for path in known(facts.interfaces).paths:
            if path.role == STORAGE and nic.name in path.nics:
                storage[path.address] = path.mac
        for address, mac in sorted(storage.items()) or [("", None)]:
            found_ways.append(_path_check(nic, address, mac, facts, policy))
    return found_ways


def _path_check(
    nic: NicFacts, address: str, mac: Optional[str], facts: Facts, policy: Policy
) -> _PathCheck:
    far = peer_ports(nic, facts)
    filer, why_no_filer, filer_macs = _filer_side(address, facts)
    near_filer = PeerPorts((), "")
    if address:
        macs = filer_macs or ([mac] if mac else [])
        near_filer = ports_that_learned(facts, macs)
    evidence = list(nic.nic.evidence) + evidence_of(nic)
    for port in far.ports:
        evidence += port.port.evidence
    answer = if_known(facts.filers.get(address), None)
    of_filer = [key for port in near_filer.ports for key in port.port.evidence]
    of_filer += [] if answer is None else answer.evidence
    return _PathCheck(
        path=Path(
            host=_host_side(nic),
            host_port=_switch_side(far),
            filer_port=_switch_side(near_filer),
            filer=filer,
            switched=bool(policy.switches),
            why_no_host_port=far.why,
            why_no_filer_port=near_filer.why,
            why_no_filer=why_no_filer,
        ),
        alone=_left_alone(nic),
        host_evidence=tuple(evidence),
        filer_evidence=tuple(of_filer),
        asks_filer=address in facts.filers,
    )


def _host_side(nic: NicFacts) -> Side:
    pause = if_known(nic.pause, None)
    force = if_known(nic.in_force, None)
    traffic = if_known(nic.traffic, None)
    return Side(
        name=nic.name,
        pause=None if force is None else Pause(force.rx, force.tx),
        wanted=None if pause is None else Pause(pause.rx, pause.tx),
        speed=nic.nic.speed,
        duplex=nic.nic.duplex,
        mtu=nic.nic.mtu,
        up=nic.nic.carrier,
        delta=UNSEEN
        if traffic is None
        else Delta(traffic.seconds, traffic.rx_pause, traffic.tx_pause, None, None),
        seen=(None, None),
    )


def _switch_side(far: PeerPorts) -> Optional[Side]:
    if not far.ports:
        return None
    return links.bundled([links.side_of(port.name, port.port) for port in far.ports])


def _filer_side(address: str, facts: Facts) -> Tuple[Optional[Side], str, List[str]]:
    """The filer's end, the reason if it is unknown, and its MAC addresses."""
    if not address:
        return None, "", []
    filer = facts.filers.get(address)
    if filer is None:
        return None, f"{address} is not in flow_control_filers", []
    if isinstance(filer, HostproofError):
        return None, str(filer).rstrip("."), []
    side = links.bundled([links.side_of(port.name, port.port) for port in filer.ports])
    return side, "", sorted({port.mac for port in filer.ports if port.mac})


def _left_alone(nic: NicFacts) -> Optional[Verdict]:
    """A verdict if the host's flow control is not checked, else None."""
    if isinstance(nic.pause, Absent):
        why = f"{nic.name}: {nic.pause}."
        return Verdict(SKIP, why)
    try:
        in_use = priority_in_use(nic)
    except HostproofError as problem:
        why = "Whether priority flow control is in use could not be determined: {0}."
        return Verdict(ERROR, why.format(str(problem).rstrip(".")))
    return None if in_use is None else Verdict(SKIP, in_use)


# -- each cable -----------------------------------------------------------------------------------


@rules.check(
    "flow_control.link",
    "PAUSE frames that one end sends are obeyed by the other",
    "PAUSE frames are not obeyed, or the switch discards frames",
    severity="high",
    takes_effect="now",
    why="PAUSE that the other end does not obey protects no buffer: frames are dropped and "
    "sent again.",
    reference=CASE,
    because_of=("flow_control.negotiated", "flow_control.switch_port", "flow_control.filer_port"),
)
def link(facts: Facts, policy: Policy) -> List[Verdict]:
    """One verdict for each cable of each path, with the chain of the path in it."""
    need_nics(facts)
    verdicts: List[Verdict] = []
    for way in _path_checks(facts, policy):
        verdicts.append(_of_host_cable(way, policy))
        if way.path.filer is not None or way.path.filer_port is not None or way.asks_filer:
            verdict = _of_filer_cable(way, policy)
            # Members of a bond, and all paths to one filer, share the filer's cable.
            if (verdict.of, verdict.why) not in [(earlier.of, earlier.why) for earlier in verdicts]:
                verdicts.append(verdict)
    return verdicts


def _of_host_cable(way: _PathCheck, policy: Policy) -> Verdict:
    path = way.path
    name = "{0} <-> {1}".format(path.host.name, _name(path.host_port, "switch"))
    if not path.switched:
        return _cable(name, way, [Verdict(SKIP, NO_SWITCH)], way.host_evidence)
    if path.host.up is False:
        down = Verdict(SKIP, f"{path.host.name} has no carrier.")
        return _cable(name, way, [down], way.host_evidence)
    if path.host_port is None:
        unknown = Verdict(
            ERROR,
            f"The port of the switch is unknown: {path.why_no_host_port}.",
            "name the switch that the cable ends in, in flow_control_switches",
        )
        return _cable(name, way, [unknown], way.host_evidence)
    verdicts = [way.alone or links.judge_cable(path.host, path.host_port)]
    verdicts += _discards(path, path.host_port, policy)
    evidence = way.host_evidence
    if len(verdicts) > 1:
        evidence += way.filer_evidence
    return _cable(name, way, verdicts, evidence)


def _of_filer_cable(way: _PathCheck, policy: Policy) -> Verdict:
    path = way.path
    name = "{0} <-> {1}".format(_name(path.filer_port, "switch"), _name(path.filer, "filer"))
    evidence = way.filer_evidence
    if not path.switched:
        return _cable(name, way, [Verdict(SKIP, NO_SWITCH)], evidence)
    verdicts = []
    if path.filer_port is None or path.filer is None:
        reasons = []
        if path.filer_port is None:
            reasons.append(
                f"The port of the switch before the filer is unknown: {path.why_no_filer_port}."
            )
        if path.filer is None:
            reasons.append(f"The filer's port is unknown: {path.why_no_filer}.")
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
    return _cable(name, way, verdicts, evidence)


def _discards(path: Path, port: Side, policy: Policy) -> List[Verdict]:
    lost = links.judge_discards(path, policy.drops_limit, bool(policy.window_seconds))
    return [verdict for side, verdict in lost if side is port]


def _name(side: Optional[Side], otherwise: str) -> str:
    return otherwise if side is None else side.name


def _cable(
    name: str, way: _PathCheck, verdicts: List[Verdict], evidence: Tuple[str, ...]
) -> Verdict:
    verdict = links.worst(verdicts)
    if verdict.status == PASS:
        verdict = Verdict(PASS, in_use=verdict.why)
    return verdict._replace(of=name, running=way.path.chain, evidence=list(dict.fromkeys(evidence)))
