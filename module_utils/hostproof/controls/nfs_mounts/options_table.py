# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which options a mount needs, by system, by what is on it and by who uses it, and who says so.

Sources: NetApp, Oracle Database on ONTAP, "NFS mount options" of the pages Linux, AIX, Solaris and
HP-UX; My Oracle Support 359515.1. Options of which the system takes no notice (intr on Linux) are
not requested. Names and values are those of parsers/nfs/nfs_options.py."""

from typing import Dict, List, NamedTuple, Tuple

from ...parsers.nfs import nfs_options
from ...parsers.nfs.nfs_options import AIX, HPUX, LINUX, SOLARIS
from ...parsers.number import clipped
from .policy import Policy, WantedMount

EXACTLY = "exactly"
AT_LEAST = "at least"
NOT = "not"

#: Cache times of file and directory attributes: actimeo sets all four.
CACHE_TIMES = tuple(nfs_options.ATTRIBUTE_CACHE)
#: Options that send each access and each write to the server.
CACHING = ("noac", "sync") + CACHE_TIMES
#: Options that control whether a lock excludes other hosts, and whether an open reads the server.
LOCKS = ("lock", "local_lock", "llock", "cto")

#: What the programs of an Oracle home need of the mount that they are on. Data, backups and
#: diagnostics need neither, and nothing of Oracle needs device files (nodev is always fine).
PROGRAMS = ("suid", "exec")

_PAGE = {LINUX: "Linux", AIX: "AIX", SOLARIS: "Solaris", HPUX: "HP-UX"}
_MOS = "MOS 359515.1"
_NFS5 = "nfs(5), lock/nolock and cto/nocto"
POLICY = "nfs_mounts_mounts"


class Requirement(NamedTuple):
    """One setting that a mount must have. ``relation`` is EXACTLY, AT_LEAST or NOT."""

    name: str
    value: str
    relation: str
    source: str


_SETUID = (
    "Oracle Database Installation Guide for Linux, root.sh: bin/oracle, oradism, extjob are setuid"
)

_NESTED = "NetApp, Oracle Database on Linux: Linux Direct NFS, nested mounts of one volume"

#: A row of the table: what is required beyond what every mount needs.
Row = Dict[str, str]

_ZERO = dict.fromkeys(CACHE_TIMES, "0")
_NOAC: Row = {"noac": "yes"}

_SINGLE_LINUX: Row = {}
_SINGLE_AIX: Row = {}
_SINGLE_SOLARIS: Row = {"intr": "no", "llock": "yes", "suid": "yes"}
_SINGLE_HPUX: Row = {"intr": "no", "forcedirectio": "yes", "suid": "yes"}
_RAC_AIX: Row = dict(_NOAC, intr="no")
_RAC_SOLARIS: Row = dict(_NOAC, intr="no", forcedirectio="yes")
_RAC_HPUX: Row = dict(_RAC_SOLARIS, suid="yes")

#: One database instance uses the files: database files, home, diagnostics.
_SINGLE: Dict[str, Dict[str, Row]] = {
    LINUX: {"datafiles": _SINGLE_LINUX, "oracle_home": {}, "adr": {}},
    AIX: {"datafiles": _SINGLE_AIX, "oracle_home": {"intr": "yes"}, "adr": {}},
    SOLARIS: {"datafiles": _SINGLE_SOLARIS, "oracle_home": {"suid": "yes"}, "adr": {}},
    HPUX: {"datafiles": _SINGLE_HPUX, "oracle_home": {"suid": "yes"}, "adr": {"suid": "yes"}},
}

#: Several hosts use the files at the same time. A home of one host, also with RAC, is "single".
_RAC: Dict[str, Dict[str, Row]] = {
    LINUX: {
        "datafiles": _ZERO,
        "crs_voting": dict(_ZERO, noac="yes"),
        "oracle_home": _ZERO,
        "adr": _ZERO,
    },
    AIX: {"datafiles": _RAC_AIX, "crs_voting": _RAC_AIX, "oracle_home": {"intr": "no"}, "adr": {}},
    SOLARIS: {
        "datafiles": _RAC_SOLARIS,
        "crs_voting": _RAC_SOLARIS,
        "oracle_home": dict(_NOAC, intr="no", suid="yes"),
        "adr": _NOAC,
    },
    HPUX: {
        "datafiles": _RAC_HPUX,
        "crs_voting": _RAC_HPUX,
        "oracle_home": dict(_NOAC, intr="no", suid="yes"),
        "adr": dict(_NOAC, suid="yes"),
    },
}


def requirements(
    system: str,
    mount: WantedMount,
    policy: Policy,
    holds_home: bool = False,
    own_cache: bool = False,
) -> List[Requirement]:
    """All that the policy requires of a mount (checked_mounts.py) whose ``sharing`` is known.

    ``holds_home``: the mount contains an Oracle home, with or without other files. ``own_cache``:
    Direct NFS is on, and this is one of several nested mounts of one volume.

    A setting of the policy for the mount replaces that of the table, also if the table has none.
    Requirements that contradict it are removed: noac is not compatible with the writes of an async
    mount.
    """
    by_name = {requirement.name: requirement for requirement in _every_mount(system, policy)}
    source = f"NetApp, Oracle Database on {_PAGE[system]}: NFS mount options"
    for name, value in _row(system, mount, policy).items():
        by_name[name] = Requirement(name, value, EXACTLY, source)
    if holds_home or mount.file_class == "oracle_home":
        for name in PROGRAMS:
            # A requirement of the table stays: some systems default to nosuid.
            by_name.setdefault(name, Requirement(name, "no", NOT, _SETUID))
    if own_cache:
        by_name["sharecache"] = Requirement("sharecache", "no", EXACTLY, _NESTED)
    for requirement in _caching(mount, policy, by_name) + lock_requirements(system, mount):
        by_name[requirement.name] = requirement
    if mount.version is not None:
        by_name["vers"] = Requirement("vers", mount.version, EXACTLY, "nfs_mounts_version")
    return _overridden(by_name, mount.overrides)


def _every_mount(system: str, policy: Policy) -> List[Requirement]:
    source = f"NetApp, Oracle Database on {_PAGE[system]}: NFS mount options"
    settings = (
        ("access", "rw"),
        ("background", "bg"),
        ("recovery", "hard"),
        ("proto", "tcp"),
        ("timeo", "600"),
    )
    size = str(policy.transfer_size)
    return [Requirement(name, value, EXACTLY, source) for name, value in settings] + [
        Requirement(name, size, AT_LEAST, "nfs_mounts_transfer_size; NetApp, NFS transfer sizes")
        for name in ("rsize", "wsize")
    ]


def _row(system: str, mount: WantedMount, policy: Policy) -> Row:
    """What the table states beyond what every mount needs."""
    if mount.file_class == "crs_voting":
        # Voting files are for several hosts, whatever the database does.
        return _RAC[system]["crs_voting"]
    if mount.file_class == "backup":
        row = dict(_SINGLE[system]["datafiles"])
    else:
        rows = _RAC if mount.sharing == "rac" else _SINGLE
        if mount.file_class == "adr" and not policy.adr_actimeo_zero:
            rows = _SINGLE
        name = "datafiles" if mount.file_class == "redo" else mount.file_class
        row = dict(rows[system][name])
    if is_shared(mount):
        row.pop("llock", None)
    return row


def _caching(
    mount: WantedMount, policy: Policy, by_name: Dict[str, Requirement]
) -> List[Requirement]:
    """Where the table does not switch caching off: whether it must be on."""
    if any(name in by_name for name in CACHING):
        return []
    if mount.file_class == "backup":
        return cached(_MOS + ": no noac for RMAN and Data Pump")
    if mount.file_class in ("datafiles", "redo"):
        if mount.sharing == "rac":
            return []
        if policy.single_actimeo_zero:
            source = "nfs_mounts_single_actimeo_zero; " + _MOS
            return [Requirement(name, "0", EXACTLY, source) for name in CACHE_TIMES]
        return cached("nfs_mounts_single_actimeo_zero is false; NetApp, NFS mount options")
    if mount.file_class == "adr":
        return cached("nfs_mounts_adr_actimeo_zero is false; NetApp: no noac for ADR")
    # A home that several hosts share needs some way of agreeing, of which AIX's row names none.
    return (
        [] if mount.sharing == "rac" else cached("NetApp: no noac where no host shares the files")
    )


def cached(source: str) -> List[Requirement]:
    """What attribute caching requires: none of the options that switch it off."""
    return [Requirement(name, "yes", NOT, source) for name in ("noac", "sync")] + [
        Requirement(name, "0", NOT, source) for name in CACHE_TIMES
    ]


def lock_requirements(system: str, mount: WantedMount) -> List[Requirement]:
    """Files that more than one host may open need locks that reach the server.

    That holds whatever the policy requires; no requirement where only one host uses the files."""
    if not is_shared(mount):
        return []
    needs = [Requirement("cto", "no", NOT, _NFS5)]
    if system == LINUX:
        needs.append(Requirement("lock", "no", NOT, _NFS5))
        needs.append(Requirement("local_lock", "none", EXACTLY, _NFS5))
    else:
        needs.append(Requirement("llock", "yes", NOT, "NetApp, Oracle Database on Solaris: llock"))
    return needs


def is_shared(mount: WantedMount) -> bool:
    """Whether more than one host may open the files, be it at once or after a failover."""
    return mount.sharing != "single" or mount.file_class == "crs_voting"


def _overridden(by_name: Dict[str, Requirement], overrides: Dict[str, str]) -> List[Requirement]:
    for name, value in overrides.items():
        by_name[name] = Requirement(name, value, EXACTLY, POLICY)
    for name in _silenced(overrides):
        if name not in overrides:
            by_name.pop(name, None)
    return list(by_name.values())


def _silenced(overrides: Dict[str, str]) -> Tuple[str, ...]:
    """The requirements that go because an override decides them too."""
    names: Tuple[str, ...] = ()
    if overrides.get("noac") == "yes":
        names += ("sync",) + CACHE_TIMES
    if overrides.get("lock") == "no":
        names += ("local_lock",)
    if overrides.get("local_lock", "none") != "none":
        names += ("lock",)
    return names


def shown_by_kernel(requirements: List[Requirement]) -> List[Requirement]:
    """Those that a mount has in the kernel: mount(8) keeps the others to itself (bg)."""
    return [
        requirement
        for requirement in requirements
        if requirement.name not in nfs_options.NEVER_GRANTED
    ]


def is_fulfilled(requirement: Requirement, settings: Dict[str, str]) -> bool:
    """Whether effective settings (nfs_options.effective) are as required.

    A size that is not set is negotiated as the largest size of client and server, so it does not
    contradict a requirement until the kernel shows one. An option without a negation (llock) is off
    if it is not set.
    """
    value = settings.get(requirement.name, "no" if requirement.value == "yes" else None)
    if requirement.relation == NOT:
        return value != requirement.value
    if (requirement.name, requirement.value, value) == (
        "proto",
        "tcp",
        "rdma",
    ) and requirement.source != POLICY:
        return True  # RDMA keeps order and loses nothing, as TCP: who has it chose it
    if requirement.relation == AT_LEAST:
        return value is None or (value.isdecimal() and clipped(value) >= int(requirement.value))
    return value == requirement.value


def corrections(needs: List[Requirement], requested: Dict[str, str], system: str) -> Dict[str, str]:
    """What to change in a mount's options (nfs_options.edit) so that it fulfils every requirement.

    ``requested`` are the settings as they are written. One correction can bring about others (ac
    also ends sync), so each is checked with those before it. A value that must not be becomes the
    system's default."""
    defaults = nfs_options.effective({}, system)
    changed: Dict[str, str] = {}
    for requirement in needs:
        if not is_fulfilled(requirement, nfs_options.effective(dict(requested, **changed), system)):
            value = (
                defaults.get(requirement.name, "no")
                if requirement.relation == NOT
                else requirement.value
            )
            changed[requirement.name] = value
    return changed


def new_options(needs: List[Requirement]) -> str:
    """The options of an entry that does not exist yet: all that is required, in this number of
    words."""
    settings = {
        requirement.name: requirement.value for requirement in needs if requirement.relation != NOT
    }
    if settings.get("local_lock") == "none":
        del settings["local_lock"]  # the default, which is not written
    return ",".join(nfs_options.words(settings))
