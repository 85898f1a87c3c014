# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requirements for the interconnect: validated role variables."""

from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import (
    checked_by,
    decimal,
    entries,
    flag,
    names_of,
    networks,
    of_profile,
    reader,
    whole_number,
    window,
)
from ...evaluate.policy import PolicyValues
from ...evaluate.profiles import Profile
from ...probes.net import whole_packets

NAME = "interconnect"

AUTO = "auto"
UNMANAGED = "unmanaged"
#: Minimum MTU of IPv4 and maximum MTU of an Ethernet device on Linux, in bytes.
_LEAST, _MOST = 576, 65535

_MODES = (
    "balance-rr",
    "active-backup",
    "balance-xor",
    "broadcast",
    "802.3ad",
    "balance-tlb",
    "balance-alb",
)


def _address(values: PolicyValues, name: str) -> str:
    try:
        return whole_packets.address_of_another(str(values[name]))
    except ValueError as problem:
        raise values.error(name, str(problem)) from problem


def _seconds(values: PolicyValues, name: str, value: float) -> float:
    if 0 < value < 2:
        raise values.error(name, "must be 0 or from 2 to 60 seconds")
    return value


class Peer(NamedTuple):
    """Another node. ``mtu`` None means the MTU of the local device that routes to it."""

    address: str = checked_by(_address, "str")
    mtu: Optional[int] = whole_number(_LEAST, _MOST).optional()


class Policy(NamedTuple):
    """The role's variables.

    ``interfaces`` None: read them from Clusterware. ``mtu`` None: any value, but equal on all
    devices. ``loopback_mtu`` None: not checked. ``max_losses_per_second`` is per second.
    """

    profile: Optional[Profile] = of_profile()
    """The purpose of the host, for all controls that take a policy from it. Variables of a
    control override it.

    C(none) checks the requirements of the releases that are installed on the host.

    Any other value requires that the host is ready before software is installed, and also
    checks recommendations (swappiness, NUMA balancing, dirty pages).

    C(oracle_RELEASE_KIND) announces the release C(19c), C(23ai) or C(26ai) for a single instance
    (C(single)), a cluster node with ASM (C(rac)) or Oracle Restart (C(restart)). C(rac_nfs) is a
    cluster node with Direct NFS, C(rac_asm) one with ASM: their release is that of the host, or
    19c if none is installed.

    Default: none
    """
    interfaces: Optional[Tuple[str, ...]] = networks().none_for(AUTO)
    """The devices of the interconnect, by name or by network such as C(192.168.10.0/24). With
    C(auto) they are read from Clusterware (C(oifcfg getif)) if it runs.

    Default: auto
    """
    mtu: Optional[int] = whole_number(_LEAST, _MOST).none_for(AUTO)
    """The MTU that each device must have, in bytes, such as C(9000). C(auto) requires the same MTU
    on all devices of this host, and tests packets of that size.

    Default: auto
    """
    peers: Tuple[Peer, ...] = entries(Peer)
    """Other nodes to which packets of the full MTU are sent. Each has C(address), an IP address of
    its interconnect, and C(mtu) if it differs from C(interconnect_mtu).

    The same list can be used on all nodes, because addresses of the host itself are skipped.
    Packets are sent only to these addresses, unless C(interconnect_test_nodes) is C(true).
    C(interconnect_multicast_seconds) adds multicast and broadcast packets.

    Default: []
    """
    test_nodes: bool = flag()
    """C(true) also sends packets to the other nodes that this host knows: the neighbors on the
    private interfaces, and the public addresses of the nodes that Clusterware names.

    Default: false
    """
    multicast_seconds: float = decimal(0, 60).then(_seconds)
    """Seconds in which this host sends multicast, broadcast and unicast packets on the private
    interfaces and listens for those of the other nodes (UDP port 42425), such as C(10); from 2 to
    60. Audit all nodes in one run, with C(--forks) of at least their number. C(0) sends nothing.

    Default: 0
    """
    bonding_modes: Tuple[str, ...] = names_of(_MODES)
    """Accepted modes of an interconnect bond, with the kernel's names.

    Default: [active-backup, 802.3ad]
    """
    loopback_mtu: Optional[int] = whole_number(_LEAST, 65536).none_for(UNMANAGED)
    """Maximum MTU of the loopback device on a cluster node, in bytes. C(unmanaged) disables the
    check.

    Default: 16436
    """
    max_losses_per_second: float = decimal(0)
    """Maximum number of lost packets per second in the window, for each counter. A higher rate is a
    failure, a lower one a warning.

    Default: 1
    """
    window_seconds: float = window()
    """Time to measure the kernel counters of lost packets if an interconnect is known.
    All controls share one sampling window of 1 to 600 seconds. C(0) disables it.

    Default: 10
    """


policy_from = reader(NAME, Policy)
