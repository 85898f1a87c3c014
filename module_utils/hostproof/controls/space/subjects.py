# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The checked file systems, each with the demands of the paths on it."""

from typing import Dict, List, NamedTuple, Tuple

from ...collect.answer import Answer, if_known, known, unless_absent
from ...errors import Absent, HostproofError
from ...evaluate.checking import Skip, Subjects
from ...parsers.mounts.mountinfo import Mount
from . import demands
from .demands import Demand
from .facts import FSTAB, MOUNTINFO, NETWORK, Facts, options_of
from .policy import Policy

#: File systems that Clusterware, ZFS or an automounter mounts, each by its own configuration.
MOUNTED_BY_OTHERS = ("acfs", "zfs", "autofs", "overlay")


class FileSystem(NamedTuple):
    """``shared`` are demands of paths on other mounts of its device: bind mounts, subvolumes."""

    mount: Mount
    demands: Tuple[Demand, ...]
    shared: Tuple[Demand, ...]

    @property
    def paths(self) -> str:
        return ", ".join(demand.text for demand in self.demands + self.shared)


def applies(facts: Facts, policy: Policy) -> None:
    if isinstance(facts.mounts, Absent):
        raise Skip("Not a Linux host: it has no " + MOUNTINFO + ".")
    known(facts.mounts)
    if policy.profile is None and not policy.planned and not if_known(facts.homes, True):
        raise Skip(
            "The host has no Oracle home, and neither hostproof_profile nor space_planned is set."
        )


def _file_systems(facts: Facts, policy: Policy) -> List[Answer[FileSystem]]:
    """By mount point. An unknown mount point is an error."""
    by_path = {mount.path: mount for mount in known(facts.mounts)}
    by_place: Dict[str, List[Demand]] = {}
    unknown: List[Answer[FileSystem]] = [
        answer
        for answer in (facts.homes, facts.inventory, *facts.destinations)
        if isinstance(answer, HostproofError)
    ]
    required = demands.of_installer(policy) + demands.planned(policy)
    required += demands.installed(facts.homes, facts.inventory)
    required += [demand for demand in facts.destinations if isinstance(demand, Demand)]
    for demand in required:
        place = facts.places[demand.path]
        if isinstance(place, HostproofError):
            unknown.append(place)
        else:
            by_place.setdefault(place, []).append(demand)
    systems: List[Answer[FileSystem]] = []
    for path in sorted(by_place):
        shared = [
            demand
            for other in by_place
            if other != path and by_path[other].device == by_path[path].device
            for demand in by_place[other]
        ]
        systems.append(FileSystem(by_path[path], tuple(by_place[path]), tuple(shared)))
    return systems + unknown


FILE_SYSTEMS = Subjects(
    _file_systems,
    name=lambda file_system: file_system.mount.path,
    evidence=lambda _one: ("file:" + MOUNTINFO,),
    unknown="file system",
)


def at_boot(facts: Facts, path: str) -> Tuple[str, ...]:
    """The options of the last entry of fstab for a mount point; () without one."""
    return options_of(unless_absent(facts.fstab, []), path)


def _with_software(facts: Facts, policy: Policy) -> List[Answer[FileSystem]]:
    """File systems of homes, the inventory and planned paths, except / and those of a network."""
    return [
        system
        for system in _file_systems(facts, policy)
        if not isinstance(system, FileSystem)
        or (
            system.mount.path != "/"
            and system.mount.fstype not in (*NETWORK, *MOUNTED_BY_OTHERS)
            and any(demand.is_of_oracle or demand.what == "planned" for demand in system.demands)
        )
    ]


WITH_SOFTWARE = Subjects(
    _with_software,
    name=lambda file_system: file_system.mount.path,
    none="All paths of Oracle are on the root file system, on a network, or on a file system that "
    "another program mounts (ACFS, ZFS, overlay).",
    evidence=lambda _one: ("file:" + MOUNTINFO, "file:" + FSTAB),
    unknown="file system",
)
EVIDENCE = ("file:" + MOUNTINFO, "file:" + FSTAB)
