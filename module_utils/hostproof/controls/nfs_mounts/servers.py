# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The transfer sizes that servers granted, and which mount a lowered maximum puts in danger."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...errors import HostproofError
from ...evaluate.checking import Skip
from ...evaluate.finding import FAIL, PASS, WARN, worst
from ...parsers.nfs import nfs_options
from ...parsers.nfs.nfs_options import LINUX
from ...parsers.number import clipped
from ...parsers.size import human
from ...probes.nfs import nfs_persisted
from ...probes.nfs.nfs_mounted import Mounted
from .agreement import SIZES
from .facts import Facts
from .mount_layers import Layers, source_parts
from .probes import persisted_options

#: Why a lowered maximum matters.
DANGER = (
    "A server whose maximum was lowered below what a mount uses can hang or corrupt that mount."
)


class Granted(NamedTuple):
    """Current and requested transfer sizes of one mount (None: the maximum), and its age in
    seconds."""

    path: str
    superblock: Optional[str]
    sizes: Dict[str, Optional[int]]
    requested: Answer[Dict[str, Optional[int]]]
    age: Optional[int]

    def __str__(self) -> str:
        return ",".join(f"{name}={self.sizes[name]}" for name in SIZES)


#: A server and a version of the protocol: each has its own limits.
Servers = Dict[Tuple[str, Optional[str]], List[Granted]]


def granted_by_server(facts: Facts) -> Servers:
    """Every mount of the host; only Linux shows what was granted."""
    servers: Servers = {}
    for mount in known(facts.mounted) if known(facts.system) == LINUX else ():
        servers.setdefault(_server(mount), []).append(_granted(mount, facts))
    return servers


def mounts_alike(mount: Mounted, servers: Servers) -> Tuple[Granted, List[Granted]]:
    """Sizes of a mount, and those of all mounts of its server and version, itself included."""
    alike = servers[_server(mount)]
    return next(other for other in alike if other.path == mount.path), alike


def _server(mount: Mounted) -> Tuple[str, Optional[str]]:
    settings = nfs_options.parse(mount.options)
    return settings.get("addr") or source_parts(mount.source)[0], settings.get("vers")


def _granted(mount: Mounted, facts: Facts) -> Granted:
    settings = nfs_options.parse(mount.options)
    traffic = if_known(facts.traffic, None)
    counted = traffic.mounts.get(mount.path) if traffic else None
    return Granted(
        path=mount.path,
        superblock=mount.superblock,
        sizes={name: size_of(settings, name) for name in SIZES},
        requested=attempt(_requested_sizes, mount, facts),
        age=counted.age if counted else None,
    )


def size_of(settings: Dict[str, str], name: str) -> Optional[int]:
    text = settings.get(name, "")
    return clipped(text) if text.isdecimal() else None


def _requested_sizes(mount: Mounted, facts: Facts) -> Dict[str, Optional[int]]:
    requested: Dict[str, str] = {}
    for entry in nfs_persisted.of_path(facts.persisted, mount.path)[:1]:
        requested = nfs_options.effective(persisted_options.asked(facts.persisted, entry), LINUX)
    return {name: size_of(requested, name) for name in SIZES}


# -- lowered under a mount ------------------------------------------------------------------------


class Lowered(NamedTuple):
    """Whether others of a server got less than ``own``; ``words`` say which, and what it means."""

    status: str
    words: str
    own: Granted
    others: List[Granted]


def lowered(layers: Layers, servers: Servers) -> Lowered:
    """Whether a younger mount of the server got less, which puts an older one in danger."""
    mount = layers.mount
    if layers.system != LINUX:
        raise Skip("Only Linux shows what a server granted.")
    own, alike = mounts_alike(mount, servers)
    others = [other for other in alike if other.superblock != own.superblock]
    if not others:
        raise Skip("No other mount of this server shows what it grants now.", mount.evidence)
    less = [(other, name) for other in others for name in SIZES if _has_less(other, own, name)]
    statuses = [PASS]
    parts: List[str] = []
    unknown: Optional[HostproofError] = None
    for other, name in less:
        if isinstance(other.requested, HostproofError):
            unknown = other.requested
        elif not _requested_as_much(own, other.requested, name):
            continue
        elif own.age is None or other.age is None:
            statuses.append(WARN)
            parts.append(_less(own, other, name, "which of the two is older is not known"))
        elif other.age < own.age:
            statuses.append(FAIL)
            parts.append(_less(own, other, name, f"it is {own.age - other.age} s younger"))
    status = worst(statuses)
    if unknown is not None and status == PASS:
        raise unknown
    return Lowered(status, " ".join(parts[:4] + [DANGER]), own, others)


def _has_less(other: Granted, own: Granted, name: str) -> bool:
    return (other.sizes[name] or 0) < (own.sizes[name] or 0)


def _requested_as_much(own: Granted, requested: Dict[str, Optional[int]], name: str) -> bool:
    size = requested[name]
    return size is None or size >= (own.sizes[name] or 0)


def _less(own: Granted, other: Granted, name: str, age: str) -> str:
    return (
        f"{other.path} requested as much {name} and got {human(other.sizes[name] or 0)}, this "
        f"one has {human(own.sizes[name] or 0)}; {age}."
    )
