# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits and usage of the cgroups of a process (cgroups(7); cgroup-v2.rst).

The limit of each parent group applies too. In version 1, each controller has a separate tree.
"""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ....collect.answer import attempt, if_known, unless_absent
from ....collect.host import Host
from ....errors import Absent, Unanswered
from ....parsers.kernel import proc_cgroup
from ....parsers.number import integer

ROOT = "/sys/fs/cgroup"
#: What version 1 shows for memory where nothing limits it: LONG_MAX in whole pages, of any size.
_NO_MEMORY_LIMIT = (1 << 63) - (1 << 20)


class Bound(NamedTuple):
    """A limit and the file that holds it; ``used`` is None where the kernel does not count."""

    limit: int
    path: str
    used: Optional[int]


class Room(NamedTuple):
    """The tightest bounds, None if there is none; ``refused`` is the number of failed forks."""

    tasks: Optional[Bound]
    memory: Optional[Bound]
    refused: int
    evidence: Tuple[str, ...]


def name_of(groups: Dict[str, str]) -> str:
    """The group, for people: the path of systemd's units."""
    return proc_cgroup.path_of_unit(groups) or groups.get("pids", "/")


def read_room(host: Host, groups: Dict[str, str]) -> Room:
    tasks = _folders(host, groups, "pids")
    memory = _folders(host, groups, "memory")
    bounds = [_bound(host, folder, "pids.max", "pids.current") for folder in tasks]
    sizes = [_bound(host, folder, "memory.max", "memory.current") for folder in memory]
    # Above memory.high the kernel slows the processes down instead of killing one.
    sizes += [_bound(host, folder, "memory.high", "memory.current") for folder in memory]
    sizes += [
        _bound(host, folder, "memory.limit_in_bytes", "memory.usage_in_bytes") for folder in memory
    ]
    events = [
        unless_absent(attempt(host.read_text, folder + "/pids.events"), "") for folder in tasks
    ]
    lines = [line for text in events for line in text.split("\n")]
    refused = [_number(line[4:]) for line in lines if line.startswith("max ")]
    return Room(
        tasks=_tightest(bounds),
        memory=_tightest(sizes),
        refused=sum(refused),
        evidence=tuple(f"dir:{folder}" for folder in sorted({*tasks[:1], *memory[:1]})),
    )


def _folders(host: Host, groups: Dict[str, str], controller: str) -> List[str]:
    """Directories of a group and of all its parents, the group first."""
    path = groups.get(controller, groups.get(proc_cgroup.UNIFIED))
    tree = f"{ROOT}/{controller}" if controller in groups else ROOT
    if path is None:
        return []
    parts = [part for part in path.split("/") if part]
    leaf = "/".join([tree, *parts])
    if ".." in parts or isinstance(attempt(host.list_dir, leaf), Absent):
        raise Unanswered("dir:" + leaf, f"the group {path} cannot be seen from here")
    return ["/".join([tree, *parts[:count]]) for count in range(len(parts), -1, -1)]


def _bound(host: Host, folder: str, limit: str, used: str) -> Optional[Bound]:
    text = unless_absent(attempt(host.read_text, f"{folder}/{limit}"), "max").strip()
    if text == "max" or _number(text) >= _NO_MEMORY_LIMIT:
        return None
    return Bound(
        _number(text),
        f"{folder}/{limit}",
        if_known(attempt(host.read_number, f"{folder}/{used}"), None),
    )


def _number(text: str) -> int:
    return integer(text.strip() or "x")


def _tightest(bounds: List[Optional[Bound]]) -> Optional[Bound]:
    limits = [bound for bound in bounds if bound is not None]
    return (
        min(limits, key=lambda bound: (bound.limit - (bound.used or 0), bound.limit))
        if limits
        else None
    )
