# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the checks and the plan need to know of a host and of the ports that it is connected to."""

from typing import Dict, List, NamedTuple, Tuple

from ...answer import Answer, attempt, if_known, known
from ...errors import Absent, HostproofError
from ...host import Host
from ...parsers.ethtool_pause import Direction, PauseSettings
from ...parsers.ethtool_settings import Settings
from ...probes import filer_port, network_interfaces, nfs_mounted, nic_pause, switch_port
from ...probes.filer_port import Filer
from ...probes.network_interfaces import Interfaces, Nic
from ...probes.nic_pause import Traffic
from ...probes.pause_persisted import Persisted, read_persisted
from ...probes.switch_port import Switch
from .policy import (
    INTERCONNECT,
    STORAGE,
    FilerAgent,
    Policy,
    Rule,
    filer_target,
    switch_target,
)

#: Where to look on a system that is not judged.
_BY_HAND = {
    nfs_mounted.AIX: ": see lsattr -El entN -a flow_ctrl, and entstat -d entN",
    nfs_mounted.SOLARIS: ": see dladm show-linkprop -p flowctrl",
}

LINK_FOLDER = "/etc/systemd/network"
RULE_FOLDER = "/etc/udev/rules.d"


class NicFacts(NamedTuple):
    """One interface that is judged. Every Answer may hold the error that stands in its place.

    ``pause`` is Absent where the driver has none. ``priorities`` are those that pause by
    themselves (802.1Qbb), Absent where nothing tells of any.
    """

    nic: Nic
    roles: Tuple[str, ...]
    rule: Rule
    pause: Answer[PauseSettings]
    settings: Answer[Settings]
    in_force: Answer[Direction]
    priorities: Answer[List[int]]
    persisted: Persisted
    traffic: Answer[Traffic]

    @property
    def name(self):
        # type: () -> str
        return self.nic.name


class Facts(NamedTuple):
    """What was seen. ``nics`` are the judged interfaces by name; ``switches`` are by the name of
    the agent and ``filers`` by the address that the host mounts from, in the policy's order."""

    system: Answer[str]
    interfaces: Answer[Interfaces]
    nics: Dict[str, NicFacts]
    switches: Dict[str, Answer[Switch]]
    filers: Dict[str, Answer[Filer]]


def link_path(nic):
    # type: (str) -> str
    """Our own .link file: its name comes before all that somebody would choose."""
    return "{0}/00-hostproof-{1}.link".format(LINK_FOLDER, nic)


def rule_path(nic):
    # type: (str) -> str
    """Our own udev rule, for a systemd whose .link files know no flow control."""
    return "{0}/99-hostproof-pause-{1}.rules".format(RULE_FOLDER, nic)


def read(host, policy):
    # type: (Host, Policy) -> Facts
    """Look at everything; nothing is written. The agents' second reading comes after the host's."""
    system = attempt(nfs_mounted.read_system, host)
    if isinstance(system, HostproofError) or system != nfs_mounted.LINUX:
        problem = (
            system
            if isinstance(system, HostproofError)
            else Absent(
                "command:uname -s",
                "flow control is judged on Linux alone, and this is {0}{1}".format(
                    system, _BY_HAND.get(system, "")
                ),
            )
        )
        return Facts(system, problem, {}, {}, {})
    interfaces = attempt(
        network_interfaces.read_interfaces, host, policy.interconnect, policy.names_interfaces
    )
    if isinstance(interfaces, HostproofError):
        return Facts(system, interfaces, {}, {}, {})
    nics = {}
    for name in sorted(interfaces.nics):
        roles = interfaces.roles_of(name)
        nic = interfaces.nics[name]
        rule = policy.rule_for(roles, name, nic.driver, nic.bond)
        if STORAGE in roles or INTERCONNECT in roles or not rule.keeps:
            nics[name] = _read_nic(host, nic, roles, rule)
    filers = _read_filers(host, policy, interfaces)
    switches = _read_switches(host, policy, interfaces, nics, filers)
    if nics and policy.sample_seconds:
        sample = attempt(nic_pause.take_sample, host, sorted(nics), policy.sample_seconds)
        for name, one in nics.items():
            traffic = attempt(_traffic, sample, name, one.nic)
            nics[name] = one._replace(traffic=traffic)
        filers = {
            agent.address: attempt(_filer_again, host, policy, agent, filers[agent.address])
            for agent in policy.filers
        }
        switches = {
            switch_target(policy, one).name: attempt(
                lambda target: switch_port.read_again(host, target, known(switches[target.name])),
                switch_target(policy, one),
            )
            for one in policy.switches
            if switch_target(policy, one).name in switches
        }
    return Facts(system, interfaces, nics, switches, filers)


def _traffic(sample, name, nic):
    # type: (Answer[object], str, Nic) -> Traffic
    return nic_pause.traffic_of(known(sample), name, nic.driver)


def _read_nic(host, nic, roles, rule):
    # type: (Host, Nic, Tuple[str, ...], Rule) -> NicFacts
    pause = attempt(nic_pause.read_pause, host, nic.name, nic.driver)
    settings = attempt(nic_pause.read_settings, host, nic.name)
    return NicFacts(
        nic=nic,
        roles=roles,
        rule=rule,
        pause=pause,
        settings=settings,
        in_force=attempt(lambda: nic_pause.in_force(known(pause), settings, nic.driver)),
        priorities=attempt(nic_pause.read_priorities, host, nic.name),
        persisted=read_persisted(host, nic, (link_path(nic.name), rule_path(nic.name))),
        traffic=Absent("policy", "flow_control_sample_seconds is 0: nothing is counted"),
    )


# -- the other ends -------------------------------------------------------------------------------


def _read_filers(host, policy, interfaces):
    # type: (Host, Policy, Interfaces) -> Dict[str, Answer[Filer]]
    """Those of the policy that the host has a path to."""
    macs = {path.address: path.mac or "" for path in interfaces.paths if path.role == STORAGE}
    return {
        agent.address: attempt(_read_filer, host, policy, agent, macs.get(agent.address, ""))
        for agent in policy.filers
    }


def _read_filer(host, policy, agent, mac):
    # type: (Host, Policy, FilerAgent, str) -> Filer
    if not agent.ports:
        return filer_port.read_filer(host, filer_target(policy, agent), agent.address, mac)
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


def of_bond(facts, name):
    # type: (Facts, str) -> List[NicFacts]
    """The judged members of the bond that an interface is in, itself too."""
    bond = facts.nics[name].nic.bond
    if bond is None:
        return [facts.nics[name]]
    return [one for one in facts.nics.values() if one.nic.bond == bond]


def agents_asked(facts):
    # type: (Facts) -> bool
    """Whether any agent answered."""
    answers = list(facts.switches.values()) + list(facts.filers.values())
    return any(if_known(one, None) is not None for one in answers)
