# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the checks and the plan need to know of a host; the only file here that looks at one."""

from typing import Dict, List, NamedTuple, Optional

from ...answer import Answer, attempt, if_known, known, unless_absent
from ...errors import Absent, HostproofError, Unanswered
from ...host import Host, OpenFiles
from ...parsers import mountinfo
from ...probes import direct_nfs, nfs_mounted, nfs_persisted, nfs_traffic, rpc_slots
from ...probes import oracle_homes as homes_probe
from .policy import Policy, WantedMount

#: Background processes that hold the files of a database open, by their first argument.
DATABASE_PROCESSES = r"^(ora|db|asm|mdb|apx)_(pmon|dbw\w|lgwr|ckpt|arc\w)_\S+$"
#: What Clusterware runs only in a cluster: where it runs, files are shared with other hosts.
#: ocssd.bin runs on a single host too (Oracle Restart).
CLUSTERWARE = r"(^|/)(crsd|octssd)\.bin$"


class Facts(NamedTuple):
    """What the host showed. Every Answer may hold the error that stands in its place.

    ``autofs`` are the folders below which a mount is made when somebody looks. ``beneath`` holds
    what lies where a listed mount is missing, ``holders`` who holds files open there or on a
    listed mount that may be changed. ``files`` are the texts of the drop-ins to write.
    """

    system: Answer[str]
    mounted: Answer[List[nfs_mounted.Mounted]]
    autofs: Answer[List[str]]
    persisted: nfs_persisted.Persisted
    slots: rpc_slots.Slots
    traffic: Answer[nfs_traffic.Traffic]
    database_files: Answer[List[OpenFiles]]
    clusterware: Answer[bool]
    homes: Answer[List[homes_probe.OracleHome]]
    direct_nfs: direct_nfs.DirectNfs
    beneath: Dict[str, Answer[List[str]]]
    holders: Dict[str, Answer[List[OpenFiles]]]
    files: Dict[str, Answer[str]]


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
    autofs = attempt(lambda: _read_autofs(host, known(system)))
    homes = attempt(homes_probe.read_homes, host, policy.oracle_homes)
    return Facts(
        system=system,
        mounted=mounted,
        autofs=autofs,
        persisted=nfs_persisted.read_persisted(host, system),
        slots=rpc_slots.read_slots(host),
        traffic=attempt(lambda: _read_traffic(host, policy, known(system), paths)),
        database_files=attempt(_read_database_files, host, paths + missing),
        clusterware=attempt(lambda: bool(host.processes("clusterware", CLUSTERWARE))),
        homes=homes,
        direct_nfs=direct_nfs.read_direct_nfs(host, if_known(homes, [])),
        beneath={path: attempt(_read_beneath, host, path, autofs, paths) for path in missing},
        holders=_read_holders(host, policy, missing),
        files={
            path: attempt(host.read_text, path)
            for path in (policy.modprobe_file, policy.sysctl_file)
        },
    )


def _read_autofs(host, system):
    # type: (Host, str) -> List[str]
    if system != nfs_mounted.LINUX:
        raise Absent("command:uname -s", "autofs is only known on Linux, not on " + system)
    mounts = mountinfo.visible(mountinfo.parse(host.read_text(nfs_mounted.MOUNTINFO)))
    return [mount.path for mount in mounts if mount.fstype == "autofs"]


def _read_beneath(host, path, autofs, mounts):
    # type: (Host, str, Answer[List[str]], List[str]) -> List[str]
    """What lies in the folder over which a mount is missing.

    Not where the look itself would make a mount, and not on a server that may hang.
    """
    for kind, above in (("autofs", unless_absent(autofs, [])), ("NFS mount", mounts)):
        for folder in above:
            if is_beneath(path, folder):
                raise Unanswered(
                    "dir:" + path,
                    "{0} lies below the {1} {2}: not looked at".format(path, kind, folder),
                )
    return host.list_dir(path)


def _read_traffic(host, policy, system, paths):
    # type: (Host, Policy, str, List[str]) -> nfs_traffic.Traffic
    if system != nfs_mounted.LINUX:
        raise Absent("file:/proc/self/mountstats", "only Linux counts the traffic of a mount")
    if not paths:
        raise Absent("file:/proc/self/mountstats", "no NFS mount")
    if policy.sample_seconds == 0:
        raise Absent("policy", "nfs_mounts_sample_seconds is 0: the traffic is not judged")
    return nfs_traffic.read_traffic(host, policy.sample_seconds)


def _read_database_files(host, paths):
    # type: (Host, List[str]) -> List[OpenFiles]
    """What databases hold open on the mounts or where they should be, and their sockets."""
    return host.open_files("database", DATABASE_PROCESSES, tuple(paths) + ("socket:",))


def _read_holders(host, policy, missing):
    # type: (Host, Policy, List[str]) -> Dict[str, Answer[List[OpenFiles]]]
    """Every process with files open on a listed mount, or where one is missing.

    This looks at each process of the host, so only where a mount may be changed or is missing.
    """
    wanted = [one.path for one in policy.wanted or ()]
    looked_at = [path for path in wanted if path in missing or policy.remount_ok]
    if not looked_at:
        return {}
    everybody = attempt(host.open_files, "all", "", tuple(looked_at))
    if isinstance(everybody, HostproofError):
        return dict.fromkeys(looked_at, everybody)
    return {path: _holding(everybody, path) for path in looked_at}


def _holding(everybody, path):
    # type: (List[OpenFiles], str) -> List[OpenFiles]
    return [one for one in everybody if any(is_beneath(name, path) for name in one.paths)]


def is_beneath(name, path):
    # type: (str, str) -> bool
    return name == path or name.startswith(path.rstrip("/") + "/")


class JudgedMount(NamedTuple):
    """A mount to judge: what is wanted of it, and what is mounted there, if anything.

    ``guessed``: no policy lists it, so its class follows from the files that are open on it.
    ``use_stated``: the policy says who uses it, so that it need not be guessed.
    """

    wanted: WantedMount
    mounted: Optional[nfs_mounted.Mounted]
    guessed: bool
    use_stated: bool
