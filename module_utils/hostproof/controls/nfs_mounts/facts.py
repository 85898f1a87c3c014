# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the checks and the plan need to know of a host; the only file here that checks one."""

from typing import Dict, List, NamedTuple, Optional, Sequence

from ...collect import identity
from ...collect.answer import Answer, attempt, if_known, known, unless_absent, unless_newer
from ...collect.host import Host, OpenFiles
from ...errors import Absent, HostproofError, Unanswered
from ...evaluate import profiles
from ...parsers.mounts import mountinfo
from ...probes.kernel import mounts as mount_table
from ...probes.nfs import nfs_files, nfs_mounted, nfs_persisted, nfs_traffic
from ...probes.oracle import clusterware
from ...probes.oracle import oracle_homes as homes_probe
from .policy import Policy, WantedMount
from .probes import direct_nfs, rpc_slots

#: Processes that have database files or voting files open, by their first argument.
#: Server processes, which read and write for RMAN, and those of Data Pump.
BACKUP_PROCESSES = r"^(oracle[A-Za-z]\S*( \(.*)?|ora_d[mw]\w\w_\S+)$"
DATABASE_PROCESSES = r"^(ora|db|asm|mdb|apx)_(pmon|dbw\w|lgwr|ckpt|arc\w)_\S+$|(^|/)ocssd\.bin$"


class Facts(NamedTuple):
    """The state of the host. Every Answer may contain the error that replaces it.

    ``clusterware``: whether the host is a node of a cluster, where hosts share files; None without
    a sign of either (probes/oracle/clusterware.py).

    ``autofs`` are directories below which an access creates a mount. ``beneath`` has the content of
    the directory of each missing mount that is listed or created by a reboot. ``holders`` are the
    processes with open files where a listed mount is missing, or on a mount that may be changed.
    ``links`` are the missing paths that are links, with their targets. ``files`` are the texts of
    the drop-ins to write. ``all_mounts`` are the visible mounts of every file system."""

    system: Answer[str]
    mounted: Answer[List[nfs_mounted.Mounted]]
    autofs: Answer[List[str]]
    persisted: nfs_persisted.Persisted
    slots: rpc_slots.Slots
    traffic: Answer[nfs_traffic.Traffic]
    database_files: Answer[List[OpenFiles]]
    backup_files: Answer[List[OpenFiles]]
    clusterware: Answer[Optional[bool]]
    homes: Answer[List[homes_probe.OracleHome]]
    direct_nfs: direct_nfs.DirectNfs
    links: Dict[str, str]
    beneath: Dict[str, Answer[List[str]]]
    holders: Dict[str, Answer[List[OpenFiles]]]
    files: Dict[str, Answer[str]]
    all_mounts: Answer[List[mountinfo.Mount]]


def read(host: Host, policy: Policy) -> Facts:
    """Look at everything that the checks and the plan need; nothing is written.

    No file on an NFS mount is touched but through a command with a time limit: a server that
    does not answer would hang the audit.
    """
    system = attempt(nfs_mounted.read_system, host)
    mounted = attempt(lambda: nfs_mounted.read_mounted(host, known(system)))
    mounts = if_known(mounted, [])
    paths = [mount.path for mount in mounts]
    missing = [mount.path for mount in policy.mounts or () if mount.path not in paths]
    persisted = nfs_persisted.read_persisted(host, system)
    at_boot = [entry.path for entry in if_known(attempt(not_mounted, persisted, paths), [])]
    empty = missing + [path for path in at_boot if path not in missing]
    autofs = attempt(lambda: _read_autofs(host, known(system)))
    links = if_known(attempt(_read_links, host, empty, autofs, paths), {})
    homes = attempt(homes_probe.read_homes, host, policy.oracle_homes)
    return Facts(
        system=system,
        mounted=mounted,
        autofs=autofs,
        persisted=persisted,
        slots=rpc_slots.read_slots(host),
        traffic=attempt(lambda: _read_traffic(host, policy, known(system), paths)),
        database_files=attempt(_read_database_files, host, paths + empty),
        backup_files=attempt(_read_backup_files, host, paths),
        clusterware=attempt(_read_clusterware, host, policy),
        homes=homes,
        direct_nfs=direct_nfs.read_direct_nfs(host, if_known(homes, [])),
        links=links,
        beneath={path: attempt(_read_beneath, host, path, links, autofs, paths) for path in empty},
        holders=_read_holders(host, policy, missing),
        files={
            path: attempt(host.read_text, path)
            for path in (policy.modprobe_file, policy.sysctl_file)
        },
        all_mounts=attempt(lambda: _read_all(host, known(system))),
    )


def _read_clusterware(host: Host, policy: Policy) -> Optional[bool]:
    announced = profiles.announces_node(policy.profile)
    return unless_newer(attempt(clusterware.in_cluster, host, announced), None)


def not_mounted(
    persisted: nfs_persisted.Persisted, mounted: Sequence[str]
) -> List[nfs_persisted.Entry]:
    """What a reboot mounts by NFS and what is not mounted now, but for what waits for an access."""
    by_path: Dict[str, nfs_persisted.Entry] = {}
    for entry in known(persisted.entries):
        if entry.at_boot and not entry.on_access and entry.path not in mounted:
            by_path.setdefault(entry.path, entry)
    return [by_path[path] for path in sorted(by_path)]


def _read_all(host: Host, system: str) -> List[mountinfo.Mount]:
    if system != nfs_mounted.LINUX:
        raise Absent("command:uname -s", "other mounts are only known on Linux, not on " + system)
    return mountinfo.visible(mount_table.read_all(host))


def _read_autofs(host: Host, system: str) -> List[str]:
    if system != nfs_mounted.LINUX:
        raise Absent("command:uname -s", "autofs is only known on Linux, not on " + system)
    return [mount.path for mount in _read_all(host, system) if mount.fstype == "autofs"]


def _read_links(
    host: Host, paths: List[str], autofs: Answer[List[str]], mounts: List[str]
) -> Dict[str, str]:
    """Where a link leads may be a server that hangs: asked with a time limit."""
    targets = {
        path: attempt(nfs_files.real_path, host, path)
        for path in paths
        if _is_hidden(path, autofs, mounts) is None
    }
    return {path: real for path, real in targets.items() if isinstance(real, str) and real != path}


def _read_beneath(
    host: Host, path: str, links: Dict[str, str], autofs: Answer[List[str]], mounts: List[str]
) -> List[str]:
    """Entries of the directory whose mount is missing.

    Not read if the access would create a mount, or if the directory is on a server.
    """
    if path in links:
        raise Unanswered("dir:" + path, f"{path} is a link to {links[path]}")
    hidden = _is_hidden(path, autofs, mounts)
    if hidden:
        raise Unanswered("dir:" + path, f"{path} is below {hidden}: not checked")
    return host.list_dir(path)


def _is_hidden(path: str, autofs: Answer[List[str]], mounts: List[str]) -> Optional[str]:
    """The mount of the automounter or of NFS that a path is below, in words."""
    for kind, above in (("autofs", unless_absent(autofs, [])), ("NFS mount", mounts)):
        for directory in above:
            if is_beneath(path, directory):
                return f"the {kind} {directory}"
    return None


def _read_traffic(host: Host, policy: Policy, system: str, paths: List[str]) -> nfs_traffic.Traffic:
    if system != nfs_mounted.LINUX:
        raise Absent("file:/proc/self/mountstats", "only Linux counts the traffic of a mount")
    if not paths:
        raise Absent("file:/proc/self/mountstats", "no NFS mount")
    if policy.window_seconds == 0:
        raise Absent("policy", "hostproof_window_seconds is 0: the traffic is not checked")
    return nfs_traffic.read_traffic(host, policy.window_seconds)


def _read_database_files(host: Host, paths: List[str]) -> List[OpenFiles]:
    """Open files of databases on the mounts or their directories, and their sockets."""
    return host.open_files("database", DATABASE_PROCESSES, (*paths, "socket:"), identity.ORACLE)


def _read_backup_files(host: Host, paths: List[str]) -> List[OpenFiles]:
    """What RMAN and Data Pump hold open on the mounts; there can be thousands of processes."""
    if not paths:
        return []
    return host.open_files("backup", BACKUP_PROCESSES, paths, identity.ORACLE)


def _read_holders(
    host: Host, policy: Policy, missing: List[str]
) -> Dict[str, Answer[List[OpenFiles]]]:
    """Every process with files open on a listed mount, or where one is missing.

    This checks each process of the host, so only where a mount may be changed or is missing."""
    paths = [mount.path for mount in policy.mounts or ()]
    looked_at = [path for path in paths if path in missing or policy.allow_remount]
    if not looked_at:
        return {}
    processes = attempt(host.open_files, "all", "", tuple(looked_at), identity.ANYBODY)
    if isinstance(processes, HostproofError):
        return dict.fromkeys(looked_at, processes)
    return {path: _holding(processes, path) for path in looked_at}


def _holding(processes: List[OpenFiles], path: str) -> List[OpenFiles]:
    return [
        process for process in processes if any(is_beneath(name, path) for name in process.paths)
    ]


def is_beneath(name: str, path: str) -> bool:
    return name == path or name.startswith(path.rstrip("/") + "/")


class JudgedMount(NamedTuple):
    """A mount to check: what is required of it, and what is mounted there, if anything.

    ``guessed``: no policy lists it, so its class follows from the files that are open on it.
    ``sharing_stated``: the policy states who uses it, so that it need not be guessed.
    ``sharing_known``: it does, or the host shows whether it is a node of a cluster.
    """

    wanted: WantedMount
    mounted: Optional[nfs_mounted.Mounted]
    guessed: bool
    sharing_stated: bool
    sharing_known: bool
