# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the interconnect should be: the role's variables and their checks."""

from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import (
    checked_by,
    decimal,
    entries,
    names,
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
#: Bytes: what IPv4 must take, and the longest that an Ethernet device of Linux can be set to.
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


def _address(given: PolicyValues, name: str) -> str:
    try:
        return whole_packets.address_of_another(str(given[name]))
    except ValueError as problem:
        raise given.error(name, str(problem)) from problem


def _modes(given: PolicyValues, name: str, value: Tuple[str, ...]) -> Tuple[str, ...]:
    for one in value:
        if one not in _MODES:
            raise given.error(name, f"{one[:80]!r} must be one of {', '.join(_MODES)}")
    return value


class Peer(NamedTuple):
    """A node by an address of its interconnect. ``mtu`` None: that of the way's device here."""

    address: str = checked_by(_address, "str")
    mtu: Optional[int] = whole_number(_LEAST, _MOST).optional()


class Policy(NamedTuple):
    """The role's variables.

    ``interfaces`` None asks Clusterware; ``mtu`` None leaves it to the host; ``loopback_mtu``
    None does not check it. ``losses_limit`` is per second.
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
    """The devices of the interconnect, by name or by network such as C(192.168.10.0/24). C(auto)
    asks Clusterware (C(oifcfg getif)) where it runs.

    Default: auto
    """
    mtu: Optional[int] = whole_number(_LEAST, _MOST).none_for(AUTO)
    """The MTU that each of them must have, in bytes, such as C(9000). C(auto) wants the same of all
    devices of this host, and proves the one that they have.

    Default: auto
    """
    peers: Tuple[Peer, ...] = entries(Peer)
    """Other nodes that packets of the whole MTU are sent to, each with C(address), an IP address of
    its interconnect, and C(mtu) where it is another than C(interconnect_mtu).

    One list serves all nodes, since an address of the host itself is skipped. Nothing is sent to
    anybody else, and without a list nothing is sent.

    Default: []
    """
    bonding_modes: Tuple[str, ...] = names().then(_modes)
    """The modes that a bond of the interconnect may have, as the kernel names them.

    Default: [active-backup, 802.3ad]
    """
    loopback_mtu: Optional[int] = whole_number(_LEAST, 65536).none_for(UNMANAGED)
    """The most that the loopback device should have on a node of a cluster, in bytes. C(unmanaged)
    does not check it.

    Default: 16436
    """
    losses_limit: float = decimal(0)
    """Packets per second that may be lost of what is counted in the window, each kind by itself,
    before a loss is a failure. Fewer are a warning.

    Default: 1
    """
    window_seconds: float = window()
    """Time to measure the kernel counters of lost packets if an interconnect is known.
    One window of 1 to 600 seconds serves every control that needs rates; C(0) does not watch
    them.

    Default: 10
    """


policy_from = reader(NAME, Policy)
