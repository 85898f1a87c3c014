# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Oracle homes of a host: in oratab, in the inventory, of running instances, of the policy."""

from collections import OrderedDict
from typing import Dict, List, NamedTuple, Optional, Set, Tuple

from ...collect.answer import attempt, unless_absent
from ...collect.host import Host
from ...parsers.oracle import oracle_inventory, oratab
from ..nfs import nfs_files
from .monitors import monitors

#: The place that names the homes of the policy.
LISTED = "nfs_mounts_oracle_homes"

_PROGRAM = "/bin/oracle"
_REMOVED = " (deleted)"


class OracleHome(NamedTuple):
    """A home. ``sids`` are those that oratab lists or that run; ``places`` say who names it.

    ``clusterware`` is whether the inventory has it as a home of Grid Infrastructure. ``named_by``
    are the files that name it, none where the kernel or the policy does: who may write one of them
    has its files read with no more rights than that (guarded_read.py).
    """

    path: str
    sids: Tuple[str, ...]
    places: Tuple[str, ...]
    clusterware: bool
    named_by: Tuple[str, ...] = ()


def read_homes(host: Host, extra: Tuple[str, ...]) -> List[OracleHome]:
    """Every home that something on the host names, by path; ``extra`` are those of the policy.

    No file in a home is touched. Raises where a place that names homes cannot be read.
    """
    sids: Dict[str, List[str]] = {}
    places: Dict[str, List[str]] = {}
    clusterware: Set[str] = set()
    #: None where something names it that no account can write.
    files: Dict[str, Optional[List[str]]] = {}

    def add(path: str, place: str, sid: str = "", file: Tuple[str, ...] = ()) -> None:
        sids.setdefault(path, []).extend([sid] if sid else [])
        places.setdefault(path, []).append(place)
        before = files.get(path, [])
        files[path] = [*before, *file] if file and before is not None else None

    listed: Set[str] = set()
    for path in oratab.PATHS:
        text = unless_absent(attempt(host.read_text, path), "")
        for entry in oratab.parse(text):
            sid = "" if entry.sid == "*" else entry.sid
            add(entry.home, f"{path}:{entry.line}", sid, (path,))
            listed.add(sid)
    inventory, installed = _installed(host)
    for home in installed:
        add(home.path, f"the inventory ({home.name})", "", (inventory,))
        if home.clusterware:
            clusterware.add(home.path)
    for sid, path in _running(host, listed):
        add(path, "the running instance " + sid, sid)
    for path in extra:
        add(path, LISTED)
    return [
        OracleHome(
            path,
            _unique(sids[path]),
            _unique(places[path]),
            clusterware=path in clusterware,
            named_by=_unique(files[path] or []),
        )
        for path in sorted(places)
    ]


def are_listed(host: Host) -> bool:
    """Whether oratab or the inventory names a home, on a host whose processes are not known."""
    texts = [unless_absent(attempt(host.read_text, path), "") for path in oratab.PATHS]
    return any(oratab.parse(text) for text in texts) or bool(_installed(host)[1])


def _installed(host: Host) -> Tuple[str, List[oracle_inventory.Home]]:
    """The inventory's file, and the homes that it lists."""
    for pointer in oracle_inventory.POINTERS:
        text = unless_absent(attempt(host.read_text, pointer), None)
        if text is None:
            continue
        path = f"{oracle_inventory.parse_pointer(text)}/{oracle_inventory.FILE}"
        inventory = unless_absent(attempt(nfs_files.read_text, host, path, None, (pointer,)), None)
        if inventory is not None:
            return path, oracle_inventory.parse(inventory)
    return "", []


def _running(host: Host, listed: Set[str]) -> List[Tuple[str, str]]:
    """SID and home of each running instance that oratab does not list by its SID."""
    instances = []
    for process in monitors(host):
        sid = process.argv0.split("_pmon_", 1)[1]
        if sid in listed:
            continue
        link = f"/proc/{process.pid}/exe"
        program = unless_absent(attempt(nfs_files.link_target, host, link), "")
        if program.endswith(_REMOVED):
            program = program[: -len(_REMOVED)]
        if program.endswith(_PROGRAM):
            instances.append((sid, program[: -len(_PROGRAM)]))
    return instances


def _unique(names: List[str]) -> Tuple[str, ...]:
    return tuple(OrderedDict.fromkeys(names))
