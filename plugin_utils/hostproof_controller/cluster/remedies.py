# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do about a trait that differs between the nodes: the trait, the nodes, the value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.hostproof.controls.cluster_nodes.facts import GRID_PATCHES

_WAIVE = "; waive a difference that is meant"

#: By the beginning of the trait. {name} is the rest of it, {hosts} are the nodes that differ from
#: the majority (all nodes without one), {value} is what most nodes have.
_REMEDIES = (
    ("kernel", "install the same kernel on {hosts}, and reboot one node after the other"),
    ("os", "update {hosts} to the same release, one node after the other"),
    (
        "core_",
        "set kernel.{trait} to one value on {hosts} (kernel_parameters_values), and apply "
        "kernel_parameters",
    ),
    (
        "oracle_homes",
        "install the missing home on {hosts}, or remove one that is not used from oratab and from "
        "the inventory",
    ),
    (
        "Grid home",
        "find out which home runs on each node (crsctl query crs softwareversion), and "
        "complete the change to the new home on {hosts}",
    ),
    ("cpu", "give {hosts} the same processors, or plan services for the smallest node"),
    ("memory_mib", "give {hosts} the same memory, or plan services for the smallest node"),
    (
        "huge_page",
        "list the instances that can run on each node in hugepages_instances, and apply hugepages "
        "on {hosts}",
    ),
    (
        "mtu ",
        "set the MTU of {name} on {hosts} as on the other nodes, first on its switch ports, and "
        "test it with interconnect_peers",
    ),
    ("bonding ", "set the mode of {name} on {hosts} as on the other nodes and on their switch"),
    ("driver ", "use the same card or driver for {name} on {hosts}"),
    ("firmware ", "update the firmware of {name} on {hosts}"),
    ("subnets", "correct the addresses and masks of {name} on {hosts}"),
    ("clock_source", "correct time_sync.clock_source on {hosts}"),
    ("time_daemon", "run the same time service on {hosts} as on the other nodes"),
    ("time_zone", "set the time zone of {hosts} with timedatectl, and restart Clusterware there"),
    (
        "TZ of",
        "correct TZ in crs/install/s_crsconfig_NODE_env.txt of the Grid home on {hosts}, and "
        "restart Clusterware on one node after the other",
    ),
    (
        "uid_gid ",
        "stop all processes of {name} on {hosts}, change its uid and gid (usermod, groupmod), and "
        "give its files to the new numbers before it starts again",
    ),
    ("groups ", "add {name} to the missing groups on {hosts} (usermod -a -G)"),
    ("gids ", "give the groups of {name} the same numbers on {hosts}, with their files"),
    ("disk ", "present the disk with the same size to {hosts}, before a disk group uses it"),
)


def remedy_of(trait: str, by_host: Mapping[str, Any], odd: list[str]) -> str:
    """The fix for a trait; ``odd`` are the nodes that differ from the majority."""
    hosts = ", ".join(odd) or "all nodes"
    if trait == GRID_PATCHES or trait.startswith("patches "):
        return _patches(trait, by_host)
    for begin, text in _REMEDIES:
        if trait.startswith(begin):
            name = trait[len(begin) :].strip()
            return text.format(trait=trait, name=name or "the interfaces", hosts=hosts) + _WAIVE
    return f"compare {trait} on the nodes, and correct it on {hosts}{_WAIVE}"


def _patches(trait: str, by_host: Mapping[str, Any]) -> str:
    """Which node lacks which patch."""
    home = "the Grid home" if trait == GRID_PATCHES else trait.removeprefix("patches ")
    tool = "opatchauto" if trait == GRID_PATCHES else "opatch"
    sets = {
        host: {patch for patch in str(value).split(", ") if patch.isdecimal()}
        for host, value in by_host.items()
    }
    every = set().union(*sets.values())
    missing = [
        f"{', '.join(sorted(every - patches))} on {host}"
        for host, patches in sorted(sets.items())
        if every - patches
    ]
    return (
        f"complete the patching of {home} with {tool}, one node after the other: missing "
        f"{'; '.join(missing) or 'nothing'}. A patch that a newer one replaces is not missing"
    )
