# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where ASM searches for disks: ASM_DISKSTRING, and the paths of maps that it can find there.

A cluster keeps it in its profile, other hosts in the parameter file of ASM. Sources: Oracle
Automatic Storage Management Administrator's Guide, ASM_DISKSTRING and Disk Discovery Rules
("Multiple paths to the same disk": the disk group is not mounted); glob(7).
"""

import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from ....collect.answer import Answer, attempt, if_known, known, unless_absent
from ....collect.host import Host, Stat
from ....errors import Absent, NotRecorded, ParseError, Unanswered, kind_of
from ....parsers import glob_pattern
from ....parsers.oracle import pfile
from ....probes.nfs import nfs_files
from ....probes.oracle import clusterware, next_start, oracle_parameters
from ....probes.systemd import udev
from ..parsers import gpnp_profile
from .disks import Disk

_HOST_NAME = "/proc/sys/kernel/hostname"
_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}\Z")
_PATTERN = re.compile(r"[A-Za-z0-9_.:@+=/*?\[\]!^$-]{1,255}\Z")
_MOST = 64
_PARAMETER = "asm_diskstring"
_OF_PARTITION = re.compile(r"part(\d{1,4})-mpath-")


class DiskString(NamedTuple):
    """The patterns, none for the default of the platform, and the file that has them."""

    place: str
    patterns: Tuple[str, ...]

    def text(self) -> str:
        return f"{_PARAMETER} in {self.place} is '{','.join(self.patterns)}'"

    def finds(self, path: str) -> bool:
        return any(_fits(path, pattern) for pattern in self.patterns)

    def is_of_devices(self) -> bool:
        """Whether all patterns are names of device nodes. Others are of ASMLIB, ASMFD, files."""
        return bool(self.patterns) and all(one.startswith("/dev/") for one in self.patterns)


class PathNode(NamedTuple):
    """A path of a map. ``name`` is the name by which the disk string finds it."""

    name: str
    stat: Answer[Stat]


def read(host: Host, sids: Iterable[str]) -> Optional[DiskString]:
    """The disk string of the next start of ASM; None on a host without a known home of ASM."""
    first = attempt(host.read_text, clusterware.OLR[0])
    if isinstance(first, NotRecorded):
        raise first
    home = clusterware.read_home(host, lambda one, path: one.read_text(path))
    if home is not None:
        profile = _profile(host, home)
        if profile is not None:
            return profile
    for sid in sorted(sids):
        asm_home = home or next_start.homes_of_oratab(host).get(sid)
        if asm_home is not None:
            return _parameter(host, asm_home, sid)
    return None


def _profile(host: Host, home: str) -> Optional[DiskString]:
    node = host.read_text(_HOST_NAME).strip().partition(".")[0].lower()
    if not _NODE.match(node):
        return None
    path = f"{home}/gpnp/{node}/profiles/peer/profile.xml"
    text = unless_absent(attempt(nfs_files.read_text, host, path), None)
    value = None if text is None else gpnp_profile.disk_string(text)
    return None if value is None else DiskString(path, patterns(value))


def _parameter(host: Host, home: str, sid: str) -> DiskString:
    user = oracle_parameters.owner_of(host, home)
    file = attempt(oracle_parameters.read_parameter_file, host, home, sid, user)
    if isinstance(file, Absent):
        raise Unanswered(
            file.key, f"no parameter file of {sid} outside of ASM: {_PARAMETER} is unknown"
        )
    entry = pfile.effective(known(file).entries, _PARAMETER, sid)
    return DiskString(known(file).source, patterns("" if entry is None else entry.value))


def patterns(value: str) -> Tuple[str, ...]:
    """The patterns of a disk string. ParseError for text that is not a list of patterns."""
    parts = [part.strip(" \t'\"()") for part in value.split(",")]
    found = tuple(part for part in parts if part)
    wrong = [part for part in found if not _PATTERN.match(part)]
    if wrong or len(found) > _MOST:
        raise ParseError(_PARAMETER, f"{kind_of(value)} is not a list of patterns of paths")
    return found


def _fits(path: str, pattern: str) -> bool:
    """As glob(7): no sign of a pattern matches a slash."""
    parts, patterns = path.split("/"), pattern.split("/")
    return len(parts) == len(patterns) and all(map(glob_pattern.fits, parts, patterns))


def read_paths(
    host: Host,
    below: Iterable[Disk],
    pseudo: Answer[Dict[str, str]],
    name: str,
    string: Answer[DiskString],
) -> List[PathNode]:
    """The paths of the map or pseudo device below a device that the disk string can find.

    All of them if the string is unknown or the default.
    """
    has_patterns = bool(if_known(string, DiskString("", ())).patterns)
    found = []
    for path in _paths(list(below), if_known(pseudo, {}), name):
        node = "/dev/" + path
        names = [node]
        if has_patterns:
            links = if_known(attempt(udev.read_known, host, path), None)
            names += links.links if links is not None else ()
            names = [one for one in names if known(string).finds(one)]
            names = [one for one in names if one == node or _leads_to(host, one, node)]
        stat = attempt(host.stat, node) if names else Absent("stat:" + node, "")
        if not isinstance(stat, Absent):
            found.append(PathNode(names[0], stat))
    return found


def _leads_to(host: Host, link: str, node: str) -> bool:
    """Several paths and their map claim some links; the link is of one of them."""
    return if_known(attempt(host.real_path, link), "") == node


def _paths(below: List[Disk], pseudo: Dict[str, str], name: str) -> List[str]:
    """The paths, or their partitions if the device is a partition of the map."""
    maps = [disk for disk in below if disk.is_multipath]
    paths = [path for disk in maps for path in disk.slaves]
    paths += [path for path, own in sorted(pseudo.items()) if own in [one.name for one in below]]
    number = _partition_of(below[0], name, bool(maps)) if below else ""
    return [f"{path}{'p' if number and path[-1].isdigit() else ''}{number}" for path in paths]


def _partition_of(disk: Disk, name: str, has_maps: bool) -> str:
    if name != disk.name and not has_maps:
        return name[len(disk.name) :]
    match = _OF_PARTITION.match(disk.dm_uuid)
    return match.group(1) if match else ""
