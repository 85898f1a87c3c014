# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the NFS mounts of a host should be: the role's variables, checked."""

import re
from typing import Dict, NamedTuple, Optional, Tuple

from ...evaluate.fields import (
    Field,
    checked_by,
    decimal,
    drop_in,
    entries,
    flag,
    of_profile,
    one_of,
    reader,
    size,
    whole_number,
    window,
)
from ...evaluate.policy import PolicyValues
from ...evaluate.profiles import Profile
from ...parsers.kernel import modprobe_d
from ...parsers.nfs import nfs_options
from ...parsers.systemd import sysctl_d

NAME = "nfs_mounts"

#: What is on a mount decides its options (options_table.py).
CLASSES = ("datafiles", "redo", "oracle_home", "crs_voting", "adr", "backup")
#: Use of the files: by one host, by several at the same time, by one at a time (cold standby).
USES = ("single", "rac", "failover")
VERSIONS = ("3", "4.0", "4.1", "4.2")
ANY_VERSION = "any"
AUTO = "auto"
#: Fields that an entry leaves out have the value of the variable with the same name.
_AS_ALL = "as all"


def _version(values: PolicyValues, name: str) -> str:
    """YAML makes a number of 4.1; "4" alone leaves the minor version to the server."""
    text = str(values[name])
    if text not in VERSIONS:
        raise values.error(
            name,
            "must be any, {0}, not {1!r} (name the minor version)".format(
                ", ".join(VERSIONS), values[name]
            ),
        )
    return text


def _path(values: PolicyValues, name: str) -> str:
    path = str(values[name])
    if not path.startswith("/") or _clean_path(path) == "/":
        raise values.error(name, f"path {path!r} must be absolute, and not /")
    return _clean_path(path)


def _clean_path(path: str) -> str:
    """As the kernel writes a mount point: no slash at the end, none doubled."""
    return re.sub("/+", "/", path).rstrip("/") or "/"


def _export(values: PolicyValues, name: str) -> str:
    source = str(values[name])
    if not re.match(r"^(\[[^\]]+\]|[^:/]+):/", source) or re.search(r"\s", source):
        raise values.error(name, f"{source!r} must be SERVER:/EXPORT")
    return source


def _overrides(values: PolicyValues, name: str) -> Dict[str, str]:
    """Options as mount takes them ("nconnect=4,actimeo=0") that replace those of the table."""
    text = values[name]
    if not isinstance(text, str):
        raise values.error(name, f"must be a text such as nconnect=4, not {text!r}")
    settings = nfs_options.parse(text)
    unknown = sorted(setting for setting in settings if setting not in nfs_options.KNOWN)
    if unknown:
        raise values.error(name, "has unknown {0}".format(", ".join(unknown)))
    return settings


_USE = one_of(AUTO, *USES).none_for(AUTO)
_VERSION = Field(_version, "str", choices=(ANY_VERSION,) + VERSIONS).none_for(ANY_VERSION)


class WantedMount(NamedTuple):
    """A mount that the host must have.

    ``sharing`` is None where the policy leaves it to what runs on the host. ``version`` is None
    where any will do. ``overrides`` are canonical settings (parsers.nfs.nfs_options) that replace
    those of the options table.
    """

    path: str = checked_by(_path, "str")
    source: str = checked_by(_export, "str")
    file_class: str = one_of(*CLASSES).called("class")
    sharing: Optional[str] = _USE.optional(_AS_ALL)
    version: Optional[str] = _VERSION.optional(_AS_ALL)
    overrides: Dict[str, str] = checked_by(_overrides, "str").optional({}).called("options")


def _whole_kib(values: PolicyValues, name: str, value: int) -> int:
    if value % 1024 or not 1024 <= value <= 1048576:
        raise values.error(name, "must be a multiple of 1024 up to 1M (nfs(5), rsize)")
    return value


def _paths(values: PolicyValues, name: str) -> Tuple[str, ...]:
    return values.entries(name, lambda path: _clean_path(values.absolute(name, path)))


class Policy(NamedTuple):
    """The role's variables.

    ``mounts`` is None for "auto": the mounts that hold Oracle files now. Sizes are bytes, times
    milliseconds or seconds as the name states, ratios percent.
    """

    profile: Optional[Profile] = of_profile()
    """The purpose of the host, for all controls that take a policy from it. Variables of a
    control override it.

    A profile states whether the host is a node of a cluster, whose mounts other hosts share.

    Default: none
    """
    mounts: Optional[Tuple[WantedMount, ...]] = entries(WantedMount).none_for(AUTO)
    """The mounts of the host, each with C(path), C(source) (C(SERVER:/EXPORT)) and C(class)
    (C(datafiles), C(redo), C(oracle_home), C(crs_voting), C(adr) or C(backup)). Optional keys
    are C(sharing) and C(version), as the two variables below, and C(options), which replace those
    of the table (such as C(nconnect=4)).

    C(auto) checks the mounts that contain Oracle files now, by the type of these files, and
    apply changes no mount.

    Default: auto
    """
    sharing: Optional[str] = _USE
    """The hosts that use the files. C(single) is one host, C(rac) several hosts at the same
    time, C(failover) several hosts in turn.

    C(auto) is C(rac) on a node of a cluster (its Clusterware or its RAC instances run, its
    C(local_only) is C(FALSE), or the profile states it), else C(single). Where nothing states
    whether it is a node, no fix removes an option that protects shared
    files.

    Default: auto
    """
    version: Optional[str] = _VERSION
    """The NFS version that mounts must have; C(any) checks none.

    Default: any
    """
    transfer_size: int = size().then(_whole_kib)
    """What C(rsize) and C(wsize) must be at least, up to C(1M). More is fine; less than C(32K)
    Oracle rejects.

    Default: 256K
    """
    single_actimeo_zero: bool = flag()
    """Whether datafiles and redo of a single instance need C(actimeo=0) too, as copies of MOS
    359515.1 say.

    Default: false
    """
    adr_actimeo_zero: bool = flag()
    """Whether diagnostics (ADR) under RAC need C(actimeo=0), which NetApp advises against.

    Default: false
    """
    slot_table_entries: int = whole_number(0, 65536)
    """RPC slots of a TCP connection, initial and maximum. C(0) does not manage them.

    Default: 128
    """
    direct_nfs: str = one_of(AUTO, "required", "forbidden", "unmanaged")
    """Whether the databases use Direct NFS. C(auto) checks it where a home has it linked in or an
    C(oranfstab) is there.

    Default: auto
    """
    oracle_homes: Tuple[str, ...] = checked_by(_paths, "list", elements="path")
    """Oracle homes beyond those that C(oratab) and the inventory name.

    Default: []
    """
    window_seconds: float = window()
    """Time to measure traffic on a host with NFS mounts. All controls share one sampling window
    of 1 to 600 seconds. C(0) disables it.

    Default: 10
    """
    sample_minimum_ops: int = whole_number(1)
    """Minimum number of reads and writes of a mount in that time for a latency verdict; with fewer,
    unless they took half of that time, there is no verdict.

    Default: 50
    """
    retransmission_warn_percent: float = decimal(0, 100)
    """Retransmitted requests in percent of all requests, at which the check warns.

    Default: 0.5
    """
    retransmission_fail_percent: float = decimal(0, 100)
    """The same, at which the check fails.

    Default: 2
    """
    tcp_retransmission_warn_percent: float = decimal(0, 100)
    """Retransmitted TCP segments to the server in percent of all segments, at which the check
    warns.

    Default: 0.1
    """
    tcp_retransmission_fail_percent: float = decimal(0, 100)
    """The same, at which the check fails.

    Default: 1
    """
    rtt_warn_ms: float = decimal()
    """Average time from request to answer of reads or writes in milliseconds, at which the
    check warns.

    Default: 20
    """
    rtt_fail_ms: float = decimal()
    """The same, at which the check fails.

    Default: 30
    """
    queue_warn_ms: float = decimal()
    """Average time that reads or writes wait in the client in milliseconds, at which the check
    warns. The time must also be at least twice the time to the answer.

    Default: 5
    """
    allow_remount: bool = flag()
    """Whether apply may unmount and mount the mounts of O(nfs_mounts_mounts) whose options differ.
    It never forces that; a mount in use is rejected, naming the processes.

    Default: false
    """
    modprobe_file: str = drop_in(modprobe_d.DIRECTORIES[0])
    """The drop-in in C(/etc/modprobe.d) that sets the RPC slots when the module is loaded.

    Default: /etc/modprobe.d/zz-hostproof-nfs_mounts.conf
    """
    sysctl_file: str = drop_in(sysctl_d.DIRECTORIES[0])
    """The drop-in in C(/etc/sysctl.d) that sets the RPC slots; its name must sort behind all others
    that do.

    Default: /etc/sysctl.d/99-zz-hostproof-nfs_mounts.conf
    """
    allow_version_change: bool = flag()
    """Accept a mount of another NFS version than before (NFSv4 has leases and needs the same idmapd
    domain).

    Default: false
    """
    allow_source_change: bool = flag()
    """Accept a mount of another server or export than before (other files appear under the same
    path).

    Default: false
    """
    allow_local_locks_on_shared_files: bool = flag()
    """Accept locks that only this host sees (C(nolock), C(local_lock)) on files that several hosts
    use.

    Default: false
    """
    allow_lowered_transfer_size: bool = flag()
    """Accept the C(rsize) and C(wsize) that the server grants, also less than asked or than a mount
    has now.

    Default: false
    """
    allow_hidden_files: bool = flag()
    """Accept a mount on a directory that holds files, which the mount will hide.

    Default: false
    """


def _together(policy: Policy, values: PolicyValues) -> Policy:
    for low, high in (
        ("retransmission_warn_percent", "retransmission_fail_percent"),
        ("tcp_retransmission_warn_percent", "tcp_retransmission_fail_percent"),
        ("rtt_warn_ms", "rtt_fail_ms"),
    ):
        if getattr(policy, low) > getattr(policy, high):
            raise values.error(low, f"must not be above {NAME}_{high}")
    if policy.mounts is None:
        return policy
    return policy._replace(mounts=tuple(_as_all(mount, policy) for mount in policy.mounts))


def _as_all(mount: WantedMount, policy: Policy) -> WantedMount:
    return mount._replace(
        sharing=policy.sharing if mount.sharing == _AS_ALL else mount.sharing,
        version=policy.version if mount.version == _AS_ALL else mount.version,
    )


policy_from = reader(NAME, Policy, _together)
