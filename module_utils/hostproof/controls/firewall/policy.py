# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Required ports: validated role variables."""

from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import (
    checked_by,
    entries,
    names,
    of_profile,
    one_of,
    reader,
    whole_number,
)
from ...evaluate.policy import PolicyValues
from ...evaluate.profiles import Profile

NAME = "firewall"


def _label(values: PolicyValues, name: str) -> str:
    value = values[name]
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) < 41:
        raise values.error(name, "must be a text of 1 to 40 characters")
    return value


def _networks(values: PolicyValues, name: str, items: Tuple[str, ...]) -> Tuple[str, ...]:
    import ipaddress  # few policies have one, and each import costs an audit time

    try:
        return tuple(str(ipaddress.ip_network(item, strict=False)) for item in items)
    except ValueError as problem:
        raise values.error(name, str(problem)) from problem


class Port(NamedTuple):
    """``direction`` is "in" for a port of this host, "out" for one of a server. ``sources`` are the
    networks that must reach it, () for any."""

    name: str = checked_by(_label, "str")
    port: int = whole_number(1, 65535)
    protocol: str = one_of("tcp", "udp").optional("tcp")
    direction: str = one_of("in", "out").optional("in")
    sources: Tuple[str, ...] = names().then(_networks).optional(())


class Policy(NamedTuple):
    """The role's variables. ``ports`` is None for "auto"."""

    profile: Optional[Profile] = of_profile()
    """The purpose of the host, for all controls that derive a policy from it. A variable of a
    control takes precedence.

    A profile adds the listener port 1521. A profile of a cluster adds the ports of ONS, CTSS and
    the ASM listener. A profile with Direct NFS adds port 2049 of the NFS server.

    Default: none
    """
    ports: Optional[Tuple[Port, ...]] = entries(Port).none_for("auto")
    """The ports that must be open. Each entry has C(name) and C(port), and optionally C(protocol)
    (C(tcp) or C(udp)), C(direction) (C(in), or C(out) for a port of a server) and C(sources), the
    networks that must reach the port, such as C(10.1.0.0/16). Without C(sources) rules may accept
    some sources only.

    C(auto) takes the ports of running listeners and of C(hostproof_profile).

    Default: auto
    """


policy_from = reader(NAME, Policy)

LISTENER = Port("listener", 1521, "tcp", "in", ())
#: Oracle Grid Infrastructure Installation Guide for Linux, Port Numbers and Protocols of Oracle
#: Components; CTSS is UDP in the guides, and CVU 19c tests it with TCP.
CLUSTER: Tuple[Port, ...] = (
    Port("ONS", 6200, "tcp", "in", ()),
    Port("CTSS", 42424, "udp", "in", ()),
    Port("ASM listener", 1525, "tcp", "in", ()),
)
#: Those of the interconnect.
PRIVATE = CLUSTER[1:]
NFS = Port("NFS server", 2049, "tcp", "out", ())


def wanted(policy: Policy, listening: Tuple[int, ...]) -> Tuple[Port, ...]:
    """The ports to check. ``listening`` are those of running listeners."""
    if policy.ports is not None:
        return policy.ports
    ports = [LISTENER._replace(port=number) for number in listening]
    if policy.profile is not None:
        ports += [] if ports else [LISTENER]
        ports += CLUSTER if policy.profile.cluster else ()
        ports += (NFS,) if policy.profile.direct_nfs else ()
    taken = {(port.port, port.protocol, port.direction): port for port in reversed(ports)}
    return tuple(reversed(list(taken.values())))
