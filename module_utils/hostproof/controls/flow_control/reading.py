# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads everything that the checks and the plan need: the host, its switches, its filers."""

from typing import Callable, Dict, List, Set, Tuple

from ...answer import Answer, attempt, if_known, known
from ...errors import Absent, HostproofError
from ...host import Host
from ...parsers.nfs_options import AIX, LINUX, SOLARIS
from ...probes import filer_port, network_interfaces, nfs_mounted, switch_port
from ...probes.filer_port import Filer
from ...probes.network_interfaces import Interfaces
from ...probes.switch_port import Switch
from . import on_aix, on_linux, on_solaris
from .facts import Facts, NicFacts, Platform
from .policy import (
    INTERCONNECT,
    STORAGE,
    FilerAgent,
    Policy,
    Rule,
    filer_target,
    switch_target,
)

_PLATFORMS = {
    LINUX: on_linux.look,
    AIX: on_aix.look,
    SOLARIS: on_solaris.look,
}  # type: Dict[str, Callable[[Host, Policy], Platform]]


def read(host, policy):
    # type: (Host, Policy) -> Facts
    """Look at everything; nothing is written. The agents' second reading comes after the host's."""
    system = attempt(nfs_mounted.read_system, host)
    if isinstance(system, HostproofError):
        return Facts(system, system, {}, {}, {})
    if system not in _PLATFORMS:
        problem = Absent(
            "command:uname -s",
            "flow control is judged on {0}, and this is {1}".format(
                ", ".join(sorted(_PLATFORMS)), system
            ),
        )
        return Facts(system, problem, {}, {}, {})
    platform = attempt(_PLATFORMS[system], host, policy)
    if isinstance(platform, HostproofError):
        return Facts(system, platform, {}, {}, {})
    interfaces = platform.interfaces
    nics = {
        name: platform.read_nic(name, interfaces.roles_of(name), _rule_of(name, policy, interfaces))
        for name in _that_matter(policy, interfaces)
    }
    agents, filers, unused = _match_filers(host, policy, interfaces)
    for address, agent in agents.items():
        filers[address] = attempt(_read_filer, host, policy, agent, interfaces, address)
    switches = _read_switches(host, policy, interfaces, nics, filers)
    if nics and policy.sample_seconds:
        if platform.take_sample is None:
            if filers or switches:
                host.pause(policy.sample_seconds)
        else:
            sample = attempt(platform.take_sample, sorted(nics), policy.sample_seconds)
            for name, one in nics.items():
                traffic = attempt(lambda each: platform.traffic_of(known(sample), each), name)
                nics[name] = one._replace(traffic=traffic)
        for address, agent in agents.items():
            filers[address] = attempt(_filer_again, host, policy, agent, filers[address])
        switches = {
            switch_target(policy, one).name: attempt(
                lambda target: switch_port.read_again(host, target, known(switches[target.name])),
                switch_target(policy, one),
            )
            for one in policy.switches
            if switch_target(policy, one).name in switches
        }
    return Facts(system, interfaces, nics, switches, filers, unused)


def _rule_of(name, policy, interfaces):
    # type: (str, Policy, Interfaces) -> Rule
    nic = interfaces.nics[name]
    return policy.rule_for(interfaces.roles_of(name), name, nic.driver, nic.bond)


def _that_matter(policy, interfaces):
    # type: (Policy, Interfaces) -> List[str]
    """The interfaces that are judged: of a bond always every member."""
    found = set()
    for name in interfaces.nics:
        roles = interfaces.roles_of(name)
        rule = _rule_of(name, policy, interfaces)
        if STORAGE in roles or INTERCONNECT in roles or not rule.keeps:
            found.add(name)
    bonds = {interfaces.nics[name].bond for name in found} - {None}
    found.update(name for name, nic in interfaces.nics.items() if nic.bond in bonds)
    return sorted(found)


# -- the other ends -------------------------------------------------------------------------------


def _match_filers(host, policy, interfaces):
    # type: (Host, Policy, Interfaces) -> Tuple[Dict[str, FilerAgent], Dict[str, Answer[Filer]], Tuple[str, ...]]
    """Whom the policy names for the other end of each path; those whose name has no address, with
    the reason; and those that no path leads to."""
    ends = {
        path.address: if_known(attempt(_addresses_of, host, path.address), {path.address})
        for path in interfaces.paths
        if path.role == STORAGE
    }
    agents = {}  # type: Dict[str, FilerAgent]
    filers = {}  # type: Dict[str, Answer[Filer]]
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


def _addresses_of(host, name):
    # type: (Host, str) -> Set[str]
    """Also of a name, where the system has getent."""
    found = attempt(network_interfaces.resolve, host, name)
    if isinstance(found, Absent):
        return {name}
    return {network_interfaces.plain(address) for address in known(found)} | {name}


def _read_filer(host, policy, agent, interfaces, address):
    # type: (Host, Policy, FilerAgent, Interfaces, str) -> Filer
    macs = [path.mac for path in interfaces.paths if path.address == address and path.mac]
    mac = macs[0] if macs else ""
    if not agent.ports:
        plain = network_interfaces.plain(address)
        return filer_port.read_filer(host, filer_target(policy, agent), plain, mac)
    ports = tuple(
        filer_port.from_policy(
            agent.address,
            one.name,
            one.pause,
            one.mac or mac,
            speed=one.speed,
            duplex=one.duplex,
            mtu=one.mtu,
        )
        for one in agent.ports
    )
    return Filer(agent.address, agent.address, ports, ())


def _filer_again(host, policy, agent, first):
    # type: (Host, Policy, FilerAgent, Answer[Filer]) -> Filer
    if agent.ports:
        return known(first)
    return filer_port.read_again(host, filer_target(policy, agent), known(first))


def _read_switches(host, policy, interfaces, nics, filers):
    # type: (Host, Policy, Interfaces, Dict[str, NicFacts], Dict[str, Answer[Filer]]) -> Dict[str, Answer[Switch]]
    """Each is asked for the ports of our interfaces and of what they lead to."""
    macs = {mac for one in nics.values() for mac in (one.nic.mac, one.nic.permanent_mac) if mac}
    macs.update(path.mac for path in interfaces.paths if path.mac and path.role == STORAGE)
    for filer in filers.values():
        ports = filer.ports if isinstance(filer, Filer) else ()
        macs.update(port.mac for port in ports if port.mac)
    if not nics:
        return {}
    return {
        switch_target(policy, one).name: attempt(
            switch_port.read_switch, host, switch_target(policy, one), sorted(macs)
        )
        for one in policy.switches
    }
