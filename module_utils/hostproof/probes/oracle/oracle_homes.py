# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Oracle homes of a host: in oratab, in the inventory, of running instances, of the policy."""

from collections import OrderedDict
from typing import Dict, List, NamedTuple, Set, Tuple

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


class _Naming(NamedTuple):
    """One place that names a home; ``file`` is "" where no account can write the place."""

    path: str
    place: str
    sid: str
    file: str


def read_homes(host: Host, extra: Tuple[str, ...]) -> List[OracleHome]:
    """Every home that something on the host names, by path; ``extra`` are those of the policy.

    No file in a home is touched. Raises where a place that names homes cannot be read.
    """
    named = _in_oratab(host)
    listed = {naming.sid for naming in named}
    inventory, installed = _installed(host)
    for home in installed:
        named.append(_Naming(home.path, f"the inventory ({home.name})", "", inventory))
    for sid, path in _running(host, listed):
        named.append(_Naming(path, "the running instance " + sid, sid, ""))
    named += [_Naming(path, LISTED, "", "") for path in extra]
    clusterware = {home.path for home in installed if home.clusterware}
    by_path: Dict[str, List[_Naming]] = {}
    for naming in named:
        by_path.setdefault(naming.path, []).append(naming)
    return [_home(path, by_path[path], path in clusterware) for path in sorted(by_path)]


def _in_oratab(host: Host) -> List[_Naming]:
    named = []
    for path in oratab.PATHS:
        for entry in oratab.parse(unless_absent(attempt(host.read_text, path), "")):
            sid = "" if entry.sid == "*" else entry.sid
            named.append(_Naming(entry.home, f"{path}:{entry.line}", sid, path))
    return named


def _home(path: str, named: List[_Naming], clusterware: bool) -> OracleHome:
    files = [naming.file for naming in named]
    return OracleHome(
        path,
        _unique([naming.sid for naming in named if naming.sid]),
        _unique([naming.place for naming in named]),
        clusterware,
        _unique(files) if all(files) else (),
    )


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
