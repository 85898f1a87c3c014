# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges what lies side by side or one after the other: members of a bond, speeds, MTUs."""

from typing import Callable, List, Optional, Sequence, Tuple

from ...answer import if_known, known
from ...errors import HostproofError
from ...finding import FAIL, PASS, WARN, Check, Finding, found
from ...parsers.bonding import Bond
from ...parsers.nfs_options import LINUX
from ...probes.filer_port import Filer
from ...probes.network_interfaces import Path
from ...probes.switch_port import SwitchPort
from . import checks
from .facts import Facts, NicFacts
from .judge_links import behind
from .judging import capital, evidence_of, on_off, skipped, titled, undetermined
from .policy import INTERCONNECT, STORAGE, Policy
from .wanted import ports_of

JudgePath = Callable[[Path, Facts], Finding]


def _paths(facts, roles):
    # type: (Facts, Tuple[str, ...]) -> List[Path]
    return [path for path in known(facts.interfaces).paths if path.role in roles]


def _for_each_path(check, judge_one, facts, roles, otherwise):
    # type: (Check, JudgePath, Facts, Tuple[str, ...], str) -> List[Finding]
    paths = _paths(facts, roles)
    if not paths:
        return [skipped(check, otherwise)]
    findings = []
    for path in paths:
        try:
            finding = judge_one(path, facts)
        except HostproofError as problem:
            finding = undetermined(check, problem)
        name = path.address or path.device
        if sum(one.address == path.address for one in paths) > 1 and path.address:
            name = "{0} over {1}".format(name, path.device)  # iSCSI with more than one path
        findings.append(titled(finding, name))
    return findings


# -- bonds ----------------------------------------------------------------------------------------


def judge_bonds(facts, _policy):
    # type: (Facts, Policy) -> List[Finding]
    check = checks.BOND_MEMBERS_ALIKE
    names = sorted({one.nic.bond for one in facts.nics.values() if one.nic.bond is not None})
    if not names:
        return [skipped(check, "None of the interfaces is a member of a bond.")]
    findings = []
    for name in names:
        try:
            finding = _judge_bond(check, name, facts)
        except HostproofError as problem:
            finding = undetermined(check, problem)
        findings.append(titled(finding, name))
    return findings


def _judge_bond(check, name, facts):
    # type: (Check, str, Facts) -> Finding
    members = [one for one in facts.nics.values() if one.nic.bond == name]
    bond = if_known(known(facts.interfaces).bonds.get(name), None)
    differing = []
    for what, values in (
        ("flow control", [_pause_text(one) for one in members]),
        ("speed", [_text(one.nic.speed) for one in members]),
        ("duplex", [_text(one.nic.duplex) for one in members]),
        ("MTU", [_text(one.nic.mtu) for one in members]),
    ):
        if len(set(values)) > 1:
            pairs = zip([one.name for one in members], values)
            differing.append(
                "{0} ({1})".format(what, ", ".join("{0}: {1}".format(*pair) for pair in pairs))
            )
    linux = facts.system == LINUX
    place = "/proc/net/bonding/" + name
    out = []
    if isinstance(bond, Bond):
        out = [member.name for member in bond.members if not bond.works(member.name)]
    reasons = []
    if differing:
        reasons.append("the members differ in " + " and ".join(differing))
    if out:
        reasons.append("not in use by the bond: {0}".format(", ".join(out)))
    if (len(bond.members) if isinstance(bond, Bond) else len(members)) == 1:
        reasons.append("it has one member alone")
    return found(
        check,
        (FAIL if differing else WARN) if reasons else PASS,
        why=". ".join(capital(text) for text in reasons) + ".",
        fix="set all members alike" + ("; cat " + place if linux else ""),
        running="; ".join("{0}: {1}".format(one.name, _pause_text(one)) for one in members),
        evidence=[key for one in members for key in evidence_of(one)[:1]]
        + (["file:" + place] if linux else []),
    )


def _pause_text(one):
    # type: (NicFacts) -> str
    if isinstance(one.pause, HostproofError):
        return "no flow control"
    force = known(one.in_force)
    return "rx {0}, tx {1}".format(on_off(force.rx), on_off(force.tx))


def _text(value):
    # type: (object) -> str
    return "unknown" if value is None else str(value)


# -- speed ----------------------------------------------------------------------------------------


def judge_path_speed(facts, _policy):
    # type: (Facts, Policy) -> List[Finding]
    return _for_each_path(
        checks.PATH_SPEED,
        _judge_speed,
        facts,
        (STORAGE,),
        "No path to a storage server is known.",
    )


def _filer(path, facts):
    # type: (Path, Facts) -> Optional[Filer]
    """None where the policy names none, or it gave no answer (flow_control.filer_port)."""
    return if_known(facts.filers.get(path.address), None)


def _judge_speed(path, facts):
    # type: (Path, Facts) -> Finding
    check = checks.PATH_SPEED
    filer = _filer(path, facts)
    if filer is None:
        return skipped(
            check, "The speed of {0} is not known: see flow_control_filers.".format(path.address)
        )
    here = sorted({one.nic.speed for one in _nics(path, facts) if one.nic.speed is not None})
    there = sorted({port.port.speed for port in filer.ports if port.port.speed is not None})
    if not here or not there:
        end = "the host's interface" if not here else filer.name
        return skipped(check, "The speed of {0} is not known.".format(end))
    text = "host {0} Mb/s, filer {1} Mb/s".format(_joined(here), _joined(there))
    differs = max(here) != max(there) or len(here) > 1 or len(there) > 1
    slow, fast = ("host", "filer") if max(here) < max(there) else ("filer", "host")
    return found(
        check,
        WARN if differs else PASS,
        why="{0}: what the {1} sends at once overruns the buffers of the switch port in front of "
        "the {2}, unless PAUSE holds it up.".format(capital(text), fast, slow),
        fix="connect both ends with the same speed",
        desired="the same speed",
        running=text,
        evidence=list(path.evidence) + list(filer.evidence),
    )


def _joined(numbers):
    # type: (List[int]) -> str
    return " and ".join(str(number) for number in numbers)


def _nics(path, facts):
    # type: (Path, Facts) -> List[NicFacts]
    return [facts.nics[name] for name in path.nics if name in facts.nics]


# -- MTU ------------------------------------------------------------------------------------------


def judge_path_mtu(facts, _policy):
    # type: (Facts, Policy) -> List[Finding]
    return _for_each_path(
        checks.PATH_MTU,
        _judge_mtu,
        facts,
        (STORAGE, INTERCONNECT),
        "No path to storage or other nodes is known.",
    )


#: Bytes: what every Ethernet port takes.
_STANDARD = 1500


def _look_at_ports(ports, mtu, hops, wrong):
    # type: (Sequence[SwitchPort], int, List[Tuple[str, int]], List[str]) -> None
    for port in ports:
        if port.port.mtu is not None:
            hops.append((port.name, port.port.mtu))
            if port.port.mtu < mtu:
                wrong.append("the switch port {0} takes only {1}".format(port.name, port.port.mtu))


def _judge_mtu(path, facts):
    # type: (Path, Facts) -> Finding
    check = checks.PATH_MTU
    if path.mtu is None:
        return skipped(check, "The MTU of {0} is not known.".format(path.device))
    hops = [("device {0}".format(path.device), path.mtu)]
    wrong = []
    unknown = []
    for one in _nics(path, facts):
        if one.nic.mtu is not None and one.name != path.device:
            hops.append((one.name, one.nic.mtu))
            if one.nic.mtu < path.mtu:
                wrong.append("{0} takes only {1}".format(one.name, one.nic.mtu))
        ports = ports_of(one, facts)
        _look_at_ports(ports, path.mtu, hops, wrong)
        if not any(port.port.mtu for port in ports):
            unknown.append("the switch port of {0}".format(one.name))
    if path.gateway is not None:
        unknown.append("the router {0}".format(path.gateway))
    if path.learned_mtu is not None and path.learned_mtu < path.mtu:
        wrong.append("the kernel uses {0} for {1}".format(path.learned_mtu, path.address))
    filer = _filer(path, facts)
    there = [] if filer is None else [port.port.mtu for port in filer.ports if port.port.mtu]
    for mtu in there:
        hops.append((path.address, mtu))
        if mtu != path.mtu and path.gateway is None:
            wrong.append("{0} has {1}".format(path.address, mtu))
    if not there:
        unknown.append(path.address or "the other nodes")
    if path.address:
        macs = [] if filer is None else sorted({port.mac for port in filer.ports if port.mac})
        far = behind(facts, macs or ([path.mac] if path.mac else [])).ports
        _look_at_ports(far, path.mtu, hops, wrong)
        if not any(port.port.mtu for port in far):
            unknown.append("the switch port of {0}".format(path.address))
    text = ", ".join("{0} {1}".format(*hop) for hop in hops)
    evidence = list(path.evidence) + ([] if filer is None else list(filer.evidence))
    if not wrong and unknown and path.mtu > _STANDARD:
        return skipped(
            check,
            "Known is only this end ({0}), not {1}.".format(text, ", ".join(unknown)),
            evidence,
        )
    return found(
        check,
        FAIL if wrong else PASS,
        why="This host sends up to {0} bytes, but {1}.".format(path.mtu, "; ".join(wrong)),
        fix="set the same MTU on {0}, on every switch port between, and on the other end".format(
            path.device
        ),
        running=text,
        evidence=evidence,
    )
