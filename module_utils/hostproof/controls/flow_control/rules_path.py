# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of bond members, and of speeds and MTUs on a path."""

from typing import List, NamedTuple, Optional, Sequence, Tuple

from ...collect.answer import if_known, known, unless_absent
from ...collect.shell import line
from ...errors import HostproofError
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.net.bonding import Bond
from ...parsers.nfs.nfs_options import LINUX
from ...probes.net.network_interfaces import Path
from .facts import Facts
from .nics import NicFacts, capital, direction_text, evidence_of
from .policy import NAME, STANDARD_MTU, Policy
from .ports import ports_of, ports_that_learned, why_unknown
from .snmp.filer_port import Filer, FilerPort
from .snmp.switch_port import Switch, SwitchPort
from .subjects import BONDS, CASE, NTAP, PATHS, STORAGE_PATHS, NamedPath

rules: Rules[Facts, Policy] = Rules(NAME)

# -- bonds ----------------------------------------------------------------------------------------


@rules.check(
    "flow_control.bond_members_alike",
    "Bond members have the same link settings",
    "Bond members differ, or a member is not active",
    severity="medium",
    takes_effect="now",
    why="After failover, and for connections on the other member, different settings apply.",
    reference="kernel Documentation/networking/bonding.rst",
    each=BONDS,
)
def bond_members_alike(name: str, facts: Facts, _policy: Policy) -> Verdict:
    members = [nic for nic in facts.nics.values() if nic.nic.bond == name]
    bond = if_known(known(facts.interfaces).bonds.get(name), None)
    evidence = [key for member in members for key in evidence_of(member)[:1]]
    commands = []
    if facts.system == LINUX:
        place = "/proc/net/bonding/" + name
        evidence.append("file:" + place)
        commands.append(line("cat", place))
    differing = _differing(members)
    reasons: List[str] = []
    fixes: List[str] = []
    if differing:
        reasons.append("the members differ in " + " and ".join(differing))
        fixes.append(_fix_of_differing(name, members, differing))
    unused = _unused(bond, members)
    if unused:
        fixes.append(
            f"find out why a member of {name} is not in use: its link, and LACP of the switch ports"
            if len(members) > 1
            else f"add a second member to {name}"
        )
    reasons += unused
    return Verdict(
        FAIL if differing else WARN if reasons else PASS,
        why=". ".join(map(capital, reasons)) + ".",
        fix="; ".join(fixes),
        commands=commands,
        running="; ".join(f"{member.name}: {_pause_text(member)}" for member in members),
        evidence=evidence,
    )


def _unused(bond: Optional[Bond], members: List[NicFacts]) -> List[str]:
    """The reasons that the bond has no spare path: members that it does not use, or one member."""
    if bond is None:
        return ["it has only one member"] * (len(members) == 1)
    out = [member.name for member in bond.members if not bond.works(member.name)]
    reasons = ["not in use by the bond: " + ", ".join(out)] if out else []
    return reasons + ["it has only one member"] * (len(bond.members) == 1)


def _fix_of_differing(name: str, members: List[NicFacts], differing: List[str]) -> str:
    names = ", ".join(member.name for member in members)
    settings = " and ".join(text.partition(" (")[0] for text in differing)
    return f"set {names} to the same {settings}: {', '.join(_places_of(name, differing))}"


def _places_of(bond: str, differing: List[str]) -> List[str]:
    """Where a member gets each setting that differs."""
    places = {
        "flow": "flow control with flow_control_rules",
        "speed": "speed at the switch ports",
        "duplex": "duplex at the switch ports",
        "MTU": f"the MTU in the configuration of {bond}",
    }
    return [places[text.split()[0]] for text in differing]


def _differing(members: List[NicFacts]) -> List[str]:
    """Settings that differ between the members: "speed (eth0: 1000, eth1: 100)"."""
    differing = []
    for what, values in (
        ("flow control", [_pause_text(member) for member in members]),
        ("speed", [_text(member.nic.speed) for member in members]),
        ("duplex", [_text(member.nic.duplex) for member in members]),
        ("MTU", [_text(member.nic.mtu) for member in members]),
    ):
        if len(set(values)) > 1:
            pairs = [f"{member.name}: {value}" for member, value in zip(members, values)]
            differing.append(f"{what} ({', '.join(pairs)})")
    return differing


def _pause_text(nic: NicFacts) -> str:
    if isinstance(nic.pause, HostproofError):
        return "no flow control"
    return direction_text(known(nic.in_force))


def _text(value: object) -> str:
    return "unknown" if value is None else str(value)


# -- speed ----------------------------------------------------------------------------------------


@rules.check(
    "flow_control.path_speed",
    "Host and filer links have the same speed",
    "Host and filer links have different speeds",
    severity="medium",
    takes_effect="now",
    why="The faster end overruns the buffers of the switch port in front of the slower end.",
    reference=CASE,
    each=STORAGE_PATHS,
)
def path_speed(subject: NamedPath, facts: Facts, _policy: Policy) -> Verdict:
    path = subject.path
    filer = _filer(path, facts)
    if filer is None:
        raise Skip(f"The speed of {path.address} is not known: see flow_control_filers.")
    here = sorted({nic.nic.speed for nic in _nics(path, facts) if nic.nic.speed is not None})
    there = sorted({port.port.speed for port in filer.ports if port.port.speed is not None})
    if not here or not there:
        end = filer.name if here else "the host's interface"
        raise Skip(f"The speed of {end} is not known.")
    text = f"host {_joined(here)} Mb/s, filer {_joined(there)} Mb/s"
    slow, fast = ("host", "filer") if here[-1] < there[-1] else ("filer", "host")
    return Verdict(
        PASS if here == there and len(here) == 1 else WARN,
        why=f"{capital(text)}: what the {fast} sends at once overruns the buffers of the switch "
        f"port in front of the {slow}, unless PAUSE holds it up.",
        fix="connect this host and the filer with links of the same speed",
        desired="the same speed",
        running=text,
        values={"host": here[-1], "filer": there[-1], "unit": "Mb/s"},
        evidence=path.evidence + filer.evidence,
    )


def _filer(path: Path, facts: Facts) -> Optional[Filer]:
    """The filer of a path. None if the policy has none, or if it does not know the address. Raises
    if its answer is missing or incomplete."""
    return unless_absent(facts.filers.get(path.address), None)


def _joined(numbers: List[int]) -> str:
    return " and ".join(map(str, numbers))


def _nics(path: Path, facts: Facts) -> List[NicFacts]:
    return [facts.nics[name] for name in path.nics if name in facts.nics]


# -- MTU ------------------------------------------------------------------------------------------


class _PathMtus(NamedTuple):
    """MTUs on a path. A hop is a name and its MTU. The texts are about hops that lose frames, hops
    that only differ, and hops with unknown MTU."""

    hops: List[Tuple[str, int]]
    wrong: List[str]
    differing: List[str]
    unknown: List[str]


@rules.check(
    "flow_control.path_mtu",
    "Every port on the path accepts the host's frames",
    "A port on the path has a smaller MTU than the host",
    severity="high",
    takes_effect="now",
    why="Larger frames are dropped silently: small requests succeed, large requests hang.",
    reference="RFC 4821, section 1; " + NTAP,
    each=PATHS,
)
def path_mtu(subject: NamedPath, facts: Facts, _policy: Policy) -> Verdict:
    """Fails only if a port accepts smaller frames than the host sends, or if frames do not arrive.

    TCP uses the smaller MTU of the two ends (MSS), and a host that has learned a smaller path MTU
    sends frames of that size.
    """
    path = subject.path
    if path.mtu is None:
        raise Skip(f"The MTU of {path.device} is not known.")
    way = _PathMtus([(f"device {path.device}", path.mtu)], [], [], [])
    _judge_host(path, path.mtu, facts, way)
    filer = _filer(path, facts)
    _judge_filer(path, path.mtu, filer, facts, way)
    text = ", ".join("{0} {1}".format(*hop) for hop in way.hops)
    evidence = path.evidence + (() if filer is None else filer.evidence)
    frames = if_known(facts.large_frames.get(path.address), None)
    if frames is not None:
        evidence += tuple(frames.evidence)
        if frames.passed:
            # Replies to frames of the full MTU prove the path, whatever the agents report.
            text += f"; frames of {path.mtu} arrive, and their answers"
            return Verdict(PASS, running=text, values=dict(way.hops), evidence=evidence)
        limit = "" if frames.limit is None else f": {frames.limit} is the maximum on the path"
        way.wrong.insert(0, f"they do not arrive at {path.address}{limit}")
    if way.unknown and not way.wrong and path.mtu > STANDARD_MTU:
        _need_switches(path, filer, facts)
        if not way.differing:
            unknown = ", ".join(way.unknown)
            raise Skip(f"Only this end is known ({text}), not {unknown}.", evidence)
    return Verdict(
        FAIL if way.wrong else WARN if way.differing else PASS,
        why=_why_of(way, path.mtu),
        fix=f"set at least the MTU of {path.device} on every switch port of the path, or a smaller "
        f"MTU on {path.device}",
        running=text,
        values=dict(way.hops),
        evidence=evidence,
    )


def _why_of(way: _PathMtus, mtu: int) -> str:
    if way.wrong:
        return f"This host sends up to {mtu} bytes, but {'; '.join(way.wrong)}."
    differing = "; ".join(way.differing)
    return f"Not all have the MTU {mtu} of this host: {differing}. TCP uses the smaller end."


def _need_switches(path: Path, filer: Optional[Filer], facts: Facts) -> None:
    """Raise the error of a queried switch if a port on the path is unknown because of it."""
    macs = [nic.nic.mac for nic in _nics(path, facts)] + [path.mac]
    macs += [port.mac for port in _ports(filer)]
    problem = why_unknown(facts, macs)
    if problem is not None:
        raise problem


def _ports(filer: Optional[Filer]) -> Sequence[FilerPort]:
    return () if filer is None else filer.ports


def _judge_host(path: Path, mtu: int, facts: Facts, way: _PathMtus) -> None:
    """Add the host's interfaces and their switch ports."""
    for nic in _nics(path, facts):
        if nic.nic.mtu is not None and nic.name != path.device:
            way.hops.append((nic.name, nic.nic.mtu))
            if nic.nic.mtu < mtu:
                way.wrong.append(f"{nic.name} has only {nic.nic.mtu}")
        _judge_ports(ports_of(nic, facts), nic.name, mtu, facts, way)


def _judge_route(path: Path, mtu: int, way: _PathMtus) -> None:
    """Add the router, and the MTU that the kernel has learned from it."""
    if path.gateway is not None:
        way.unknown.append(f"the router {path.gateway}")
    if path.learned_mtu is not None and path.learned_mtu < mtu:
        way.hops.append((f"learned for {path.address}", path.learned_mtu))
        way.differing.append(f"the kernel has learned {path.learned_mtu} for {path.address}")


def _judge_filer(
    path: Path, mtu: int, filer: Optional[Filer], facts: Facts, way: _PathMtus
) -> None:
    """Add the far end: a router, or the filer and its switch port."""
    _judge_route(path, mtu, way)
    there = [port.port.mtu for port in _ports(filer) if port.port.mtu]
    for other in there:
        way.hops.append((path.address, other))
        if other != mtu and path.gateway is None:
            way.differing.append(f"{path.address} has {other}")
    if not there:
        way.unknown.append(path.address or "the other nodes")
    if path.address:
        macs = sorted({port.mac for port in _ports(filer) if port.mac} or {path.mac or ""})
        _judge_ports(ports_that_learned(facts, macs).ports, path.address, mtu, facts, way)


def _judge_ports(
    ports: Sequence[SwitchPort], end: str, mtu: int, facts: Facts, way: _PathMtus
) -> None:
    """Add the switch ports of ``end``."""
    by_class = {
        switch.name
        for switch in facts.switches.values()
        if isinstance(switch, Switch) and switch.mtu_by_class
    }
    for port in ports:
        if port.port.mtu is None:
            continue
        way.hops.append((port.name, port.port.mtu))
        if port.port.mtu < mtu and port.switch in by_class:
            way.differing.append(
                f"{port.name} shows {port.port.mtu}, no proof on a switch that sets the MTU by "
                "QoS class"
            )
        elif port.port.mtu < mtu:
            way.wrong.append(f"the switch port {port.name} has only {port.port.mtu}")
    if not any(port.port.mtu for port in ports):
        way.unknown.append(f"the switch port of {end}")
