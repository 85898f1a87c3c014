# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the checks and the plan need to know of a host; the only file here that looks at one."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...answer import Answer, attempt, if_known, known
from ...errors import Absent
from ...host import Host, OpenFiles
from ...probes import direct_nfs, nfs_mounted, nfs_persisted, nfs_traffic, rpc_slots
from ...probes import instances as instances_probe
from ...probes import oracle_homes as homes_probe
from .policy import Policy, WantedMount

#: Background processes that hold the files of a database open, by their first argument.
DATABASE_PROCESSES = r"^(ora|db|asm|mdb|apx)_(pmon|dbw\w|lgwr|ckpt|arc\w)_\S+$"
#: Clusterware's group service: where it runs, files are shared with other hosts.
CLUSTERWARE = r"(^|/)ocssd\.bin$"


class Facts(NamedTuple):
    """What the host showed. Every Answer may hold the error that stands in its place."""

    system: Answer[str]
    mounted: Answer[List[nfs_mounted.Mounted]]
    persisted: nfs_persisted.Persisted
    slots: rpc_slots.Slots
    traffic: Answer[nfs_traffic.Traffic]
    database_files: Answer[List[OpenFiles]]
    clusterware: Answer[bool]
    homes: Answer[List[homes_probe.OracleHome]]
    direct_nfs: direct_nfs.DirectNfs
    beneath: Dict[str, Answer[List[str]]]
    holders: Dict[str, Answer[List[OpenFiles]]]


def read(host, policy):
    # type: (Host, Policy) -> Facts
    """Look at everything that the checks and the plan need; nothing is written.

    No file on an NFS mount is touched but through a command with a time limit: a server that
    does not answer would hang the audit.
    """
    system = attempt(nfs_mounted.read_system, host)
    mounted = attempt(lambda: nfs_mounted.read_mounted(host, known(system)))
    mounts = if_known(mounted, [])
    paths = [mount.path for mount in mounts]
    missing = [one.path for one in policy.wanted or () if one.path not in paths]
    linux = system == nfs_mounted.LINUX
    homes = attempt(homes_probe.read_homes, host, policy.oracle_homes)
    return Facts(
        system=system,
        mounted=mounted,
        persisted=nfs_persisted.read_persisted(host, system),
        slots=rpc_slots.read_slots(host),
        traffic=attempt(_read_traffic, host, policy, paths if linux else []),
        database_files=attempt(_read_database_files, host, paths + missing),
        clusterware=attempt(lambda: bool(host.processes("ocssd", CLUSTERWARE))),
        homes=homes,
        direct_nfs=direct_nfs.read_direct_nfs(host, if_known(homes, []), mounts),
        beneath={path: attempt(host.list_dir, path) for path in missing},
        holders=_read_holders(host, policy, paths, missing),
    )


def _read_traffic(host, policy, paths):
    # type: (Host, Policy, List[str]) -> nfs_traffic.Traffic
    if not paths:
        raise Absent("file:/proc/self/mountstats", "no NFS mount")
    if policy.sample_seconds == 0:
        raise Absent("policy", "nfs_mounts_sample_seconds is 0: the traffic is not judged")
    return nfs_traffic.read_traffic(host, policy.sample_seconds)


def _read_database_files(host, paths):
    # type: (Host, List[str]) -> List[OpenFiles]
    """What databases hold open on the mounts or where they should be, and their sockets."""
    return host.open_files("database", DATABASE_PROCESSES, tuple(paths) + ("socket:",))


def _read_holders(host, policy, paths, missing):
    # type: (Host, Policy, List[str], List[str]) -> Dict[str, Answer[List[OpenFiles]]]
    """Every process with files open on a listed mount, or where one is missing.

    This looks at each process of the host, so only where a mount may be changed or is missing.
    """
    wanted = [one.path for one in policy.wanted or ()]
    looked_at = [path for path in wanted if path in missing or policy.remount_ok]
    if not looked_at:
        return {}
    everybody = attempt(host.open_files, "all", "", tuple(looked_at))
    return {path: attempt(lambda: _holding(known(everybody), path)) for path in looked_at}


def _holding(everybody, path):
    # type: (List[OpenFiles], str) -> List[OpenFiles]
    return [one for one in everybody if any(is_beneath(name, path) for name in one.paths)]


def is_beneath(name, path):
    # type: (str, str) -> bool
    return name == path or name.startswith(path.rstrip("/") + "/")


class JudgedMount(NamedTuple):
    """A mount to judge: what is wanted of it, and what is mounted there, if anything."""

    wanted: WantedMount
    mounted: Optional[nfs_mounted.Mounted]


#: (file_class, use) of a mount that no policy lists, or None if nothing of Oracle lies there.
Guess = Optional[Tuple[str, str]]
