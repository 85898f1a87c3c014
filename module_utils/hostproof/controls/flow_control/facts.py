# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts for the checks and the plan: the host, its switches and its filers."""

from typing import Callable, Dict, List, NamedTuple, Set, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...collect.host import Host, Sample
from ...errors import Absent, HostproofError
from ...parsers.nfs.nfs_options import AIX, LINUX, SOLARIS
from ...probes.net import network_interfaces
from ...probes.net.network_interfaces import Interfaces
from ...probes.nfs import nfs_mounted
from ...snmp import tools as snmp
from ...snmp.tools import Target
from . import on_aix, on_linux, on_solaris
from .nics import NicFacts, Platform
from .policy import (
    INTERCONNECT,
    STANDARD_MTU,
    STORAGE,
    FilerAgent,
    Policy,
    Rule,
    SwitchAgent,
    filer_target,
    switch_target,
)
from .probes import large_frames
from .probes.large_frames import LargeFrames
from .snmp import filer_port, switch_port
from .snmp.filer_port import Filer
from .snmp.switch_port import Switch


class Facts(NamedTuple):
    """Facts of a host. ``nics``: the checked interfaces by name. ``switches``: by the name of the
    agent. ``filers``: by the address that the host mounts from. ``unused_filers``: filers of the
    policy that no path of the host leads to; they are not queried. ``large_frames``: by the address
    that the host mounts from, only where the MTU is larger than STANDARD_MTU."""

    system: Answer[str]
    interfaces: Answer[Interfaces]
    nics: Dict[str, NicFacts]
    switches: Dict[str, Answer[Switch]]
    filers: Dict[str, Answer[Filer]]
    unused_filers: Tuple[str, ...] = ()
    large_frames: Dict[str, Answer[LargeFrames]] = {}


_PLATFORMS: Dict[str, Callable[[Host, Policy], Platform]] = {
    LINUX: on_linux.read_platform,
    AIX: on_aix.read_platform,
    SOLARIS: on_solaris.read_platform,
}


def read(host: Host, policy: Policy) -> Facts:
    """Read all facts. The second reading of the agents is after the sample of the host."""
    system = attempt(nfs_mounted.read_system, host)
    if isinstance(system, HostproofError):
        return Facts(system, system, {}, {}, {})
    platform = attempt(_read_platform, host, policy, system)
    if isinstance(platform, HostproofError):
        return Facts(system, platform, {}, {}, {})
    interfaces = platform.interfaces
    nics = {
        name: platform.read_nic(name, interfaces.roles_of(name), _rule_of(name, policy, interfaces))
        for name in _that_matter(policy, interfaces)
    }
    frames = _read_frames(host, interfaces) if system == LINUX else {}
    targets = _Asked(policy)
    agents, filers, unused = _match_filers(host, policy, interfaces)
    for address, agent in agents.items():
        filers[address] = attempt(_read_filer, host, targets, agent, interfaces, address)
    switches = _read_switches(host, targets, interfaces, nics, filers)
    if nics and policy.window_seconds:
        if platform.take_sample is not None:
            sample = attempt(platform.take_sample, sorted(nics), policy.window_seconds)
            nics = {name: _with_traffic(platform, nics[name], name, sample) for name in nics}
        elif filers or switches:
            host.wait_for_window("flow_control", policy.window_seconds)
        targets.deadline.put_off(policy.window_seconds)
        for address, agent in agents.items():
            filers[address] = attempt(_filer_again, host, targets, agent, filers[address])
        switches = {
            target.name: attempt(
                lambda each: switch_port.read_again(host, each, known(switches[each.name])), target
            )
            for target in map(targets.switch, policy.switches)
            if target.name in switches
        }
    return Facts(system, interfaces, nics, switches, filers, unused, frames)


def _read_platform(host: Host, policy: Policy, system: str) -> Platform:
    if system not in _PLATFORMS:
        names = ", ".join(sorted(_PLATFORMS))
        why = f"flow control is checked on {names}, and this is {system}"
        raise Absent("command:uname -s", why)
    return _PLATFORMS[system](host, policy)


def _with_traffic(platform: Platform, nic: NicFacts, name: str, sample: Answer[Sample]) -> NicFacts:
    return nic._replace(traffic=attempt(lambda: platform.traffic_of(known(sample), name)))


class _Asked:
    """Targets of the agents, with a time limit per agent and one for all agents together."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.deadline = snmp.Deadline(policy.snmp_total_timeout)
        self._patience: Dict[str, snmp.Patience] = {}

    def switch(self, agent: SwitchAgent) -> Target:
        return self._bounded(switch_target(self.policy, agent))

    def filer(self, agent: FilerAgent) -> Target:
        return self._bounded(filer_target(self.policy, agent))

    def _bounded(self, target: Target) -> Target:
        patience = self._patience.setdefault(
            target.name, snmp.Patience(self.policy.snmp_agent_timeout, self.deadline)
        )
        return target._replace(patience=patience)


def _read_frames(host: Host, interfaces: Interfaces) -> Dict[str, Answer[LargeFrames]]:
    return {
        path.address: attempt(large_frames.ping_full_mtu, host, path.address, path.mtu)
        for path in interfaces.paths
        if path.role == STORAGE and path.address and (path.mtu or 0) > STANDARD_MTU
    }


def _rule_of(name: str, policy: Policy, interfaces: Interfaces) -> Rule:
    nic = interfaces.nics[name]
    return policy.rule_for(interfaces.roles_of(name), name, nic.driver, nic.bond)


def _that_matter(policy: Policy, interfaces: Interfaces) -> List[str]:
    """The interfaces that are checked. If one member of a bond is checked, all members are."""
    names = set()
    for name in interfaces.nics:
        roles = interfaces.roles_of(name)
        rule = _rule_of(name, policy, interfaces)
        if STORAGE in roles or INTERCONNECT in roles or not rule.keeps:
            names.add(name)
    bonds = {interfaces.nics[name].bond for name in names} - {None}
    names.update(name for name, nic in interfaces.nics.items() if nic.bond in bonds)
    return sorted(names)


# -- the other ends -------------------------------------------------------------------------------


def _match_filers(
    host: Host, policy: Policy, interfaces: Interfaces
) -> Tuple[Dict[str, FilerAgent], Dict[str, Answer[Filer]], Tuple[str, ...]]:
    """Agents of the policy by the address of a path; filers whose name cannot be resolved, with the
    reason; and filers that no path leads to."""
    ends = {
        path.address: if_known(attempt(_addresses_of, host, path.address), {path.address})
        for path in interfaces.paths
        if path.role == STORAGE
    }
    agents: Dict[str, FilerAgent] = {}
    filers: Dict[str, Answer[Filer]] = {}
    unused = []
    for agent in policy.filers:
        theirs = attempt(_addresses_of, host, agent.address)
        if isinstance(theirs, HostproofError):
            filers[agent.address] = theirs
            continue
        matching = [address for address, ours in sorted(ends.items()) if theirs & ours]
        for address in matching:
            agents.setdefault(address, agent)
        if not matching:
            unused.append(agent.address)
    return agents, filers, tuple(unused)


def _addresses_of(host: Host, name: str) -> Set[str]:
    """The addresses of a name and the name itself. Without getent only the name."""
    addresses = attempt(network_interfaces.resolve, host, name)
    if isinstance(addresses, Absent):
        return {name}
    return {network_interfaces.plain(address) for address in known(addresses)} | {name}


def _read_filer(
    host: Host, targets: _Asked, agent: FilerAgent, interfaces: Interfaces, address: str
) -> Filer:
    macs = [path.mac for path in interfaces.paths if path.address == address and path.mac]
    mac = macs[0] if macs else ""
    if not agent.ports:
        plain = network_interfaces.plain(address)
        return filer_port.read_filer(host, targets.filer(agent), plain, mac)
    ports = tuple(
        filer_port.from_policy(
            agent.address,
            port.name,
            port.pause,
            port.mac or mac,
            speed=port.speed,
            duplex=port.duplex,
            mtu=port.mtu,
        )
        for port in agent.ports
    )
    return Filer(agent.address, agent.address, ports, ())


def _filer_again(host: Host, targets: _Asked, agent: FilerAgent, first: Answer[Filer]) -> Filer:
    if agent.ports:
        return known(first)
    return filer_port.read_again(host, targets.filer(agent), known(first))


def _read_switches(
    host: Host,
    targets: _Asked,
    interfaces: Interfaces,
    nics: Dict[str, NicFacts],
    filers: Dict[str, Answer[Filer]],
) -> Dict[str, Answer[Switch]]:
    """Query each switch for the ports of the host's interfaces and of the filers."""
    macs = {mac for nic in nics.values() for mac in (nic.nic.mac, nic.nic.permanent_mac) if mac}
    macs.update(path.mac for path in interfaces.paths if path.mac and path.role == STORAGE)
    for filer in filers.values():
        ports = filer.ports if isinstance(filer, Filer) else ()
        macs.update(port.mac for port in ports if port.mac)
    if not nics:
        return {}
    return {
        target.name: attempt(switch_port.read_switch, host, target, sorted(macs))
        for target in map(targets.switch, targets.policy.switches)
    }
