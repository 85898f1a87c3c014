# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ports that the rules check one by one."""

from typing import List, NamedTuple, Tuple

from ...collect.answer import Answer, if_known
from ...errors import Absent, HostproofError, NotRecorded
from ...evaluate.checking import Skip, Subjects
from .facts import KERNEL, NFT, Facts
from .parsers.sockets import ARGV
from .policy import Policy, Port, wanted
from .probes.loaders import SHOW
from .rule_outcomes import Interface, known_cluster, private_interfaces

SOCKETS = "command:" + " ".join(ARGV)
RULES = ("command:" + " ".join(NFT), "command:" + " ".join(SHOW))


def applies(facts: Facts, policy: Policy) -> None:
    if isinstance(facts.kernel, Absent):
        raise Skip("Not a Linux host: it has no " + KERNEL + ".")
    if isinstance(facts.running, NotRecorded) and policy.profile is None and policy.ports is None:
        raise Skip(f"{facts.running}.")
    is_idle = not isinstance(facts.sockets, HostproofError) and not _wanted(facts, policy)
    if is_idle and not known_cluster(facts):
        raise Skip(
            "No listener runs, and neither hostproof_profile nor firewall_ports names a port."
        )


def _wanted(facts: Facts, policy: Policy) -> Tuple[Port, ...]:
    """Listeners that run only for local clients need no rule."""
    listening = {
        socket.port
        for socket in if_known(facts.sockets, [])
        if "tnslsnr" in socket.programs and not socket.address.startswith(("127.", "[::1]"))
    }
    return wanted(policy, tuple(sorted(listening)))


def _ports(facts: Facts, policy: Policy) -> List[Answer[Port]]:
    subjects: List[Answer[Port]] = list(_wanted(facts, policy))
    if isinstance(facts.sockets, HostproofError) and policy.ports is None:
        subjects.append(facts.sockets)
    return subjects


def label(port: Port) -> str:
    return f"{port.name} {port.port}/{port.protocol}"


PORTS = Subjects(
    _ports,
    name=label,
    evidence=lambda _one: RULES,
    unknown="listener",
    none="No listener runs, and neither hostproof_profile nor firewall_ports names a port.",
)


def _private_interfaces(facts: Facts, policy: Policy) -> List[Interface]:
    announced = policy.profile is not None and policy.profile.cluster
    if not announced and not known_cluster(facts):
        raise Skip("No Clusterware was found here, and the profile is not one of a cluster.")
    return list(private_interfaces(facts)) or [Interface("")]


WAYS = Subjects(
    _private_interfaces,
    name=lambda way: way.name,
    evidence=lambda _one: RULES,
    unknown="private interface",
)


class Reserved(NamedTuple):
    """A port of Oracle and the programs that may have it."""

    port: Port
    programs: Tuple[str, ...]


#: Names as the kernel cuts them, at 15 characters.
_OF_CLUSTER: Tuple[Reserved, ...] = (
    Reserved(Port("CTSS", 42424, "udp", "in"), ("octssd.bin", "octssd")),
    Reserved(Port("CTSS", 42424, "tcp", "in"), ("octssd.bin", "octssd")),
    Reserved(Port("ONS local", 6100, "tcp", "in"), ("ons",)),
    Reserved(Port("ONS remote", 6200, "tcp", "in"), ("ons",)),
    Reserved(Port("ASM listener", 1525, "tcp", "in"), ("tnslsnr",)),
    Reserved(Port("mDNS", 5353, "udp", "in"), ("mdnsd.bin", "mdnsd")),
)


def _reserved(_facts: Facts, policy: Policy) -> List[Reserved]:
    if policy.profile is None:
        return []
    listener = Reserved(Port("listener", 1521, "tcp", "in"), ("tnslsnr",))
    time = Reserved(Port("NTP", 123, "udp", "in"), ("chronyd", "ntpd"))
    return [listener, time, *(_OF_CLUSTER if policy.profile.cluster else ())]


RESERVED = Subjects(
    _reserved,
    none="hostproof_profile is not set, so the ports of Oracle are not known.",
    name=lambda reserved: label(reserved.port),
    evidence=lambda _one: (SOCKETS,),
)


def services_at_boot(facts: Facts) -> str:
    loaders = if_known(facts.loaders, None)
    return ", ".join(loaders.at_boot if loaders is not None else ()) or "no unit loads rules"
