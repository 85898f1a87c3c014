# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which mounts are checked: those that the policy lists, or those that hold Oracle files now."""

import re
from typing import Container, Dict, List, Optional, Set

from ...collect.answer import attempt, if_known, known
from ...collect.host import OpenFiles
from ...errors import Absent, HostproofError
from ...probes.nfs.nfs_mounted import Mounted
from ...probes.nfs.nfs_persisted import Entry
from .facts import Facts, JudgedMount, is_beneath, not_mounted
from .policy import Policy, WantedMount
from .probes import direct_nfs

#: Online redo logs as Oracle, OMF and most sites name them.
_REDO = re.compile(r"(\.log|\.rdo|/(redo|onlinelog)[^/]*(/.*)?)$", re.IGNORECASE)
#: Directories of the Automatic Diagnostic Repository and of audit trails; what processes write
#: there.
_DIAGNOSTICS = re.compile(r"(/diag/|/adump/|/[bcu]dump/|/trace/|/incident/|\.(trc|trm|aud)$)")
_REMOVED = " (deleted)"
#: Clusterware's group service, which holds the voting files, in its home.
_VOTER = "/bin/ocssd.bin"


def judged_mounts(facts: Facts, policy: Policy) -> List[JudgedMount]:
    """Every mount to check, by path; raises where what is mounted or used is not known."""
    if policy.mounts is None:
        return guessed_mounts(facts, policy)
    mounted = {mount.path: mount for mount in known(facts.mounted)}
    listed = [_judged(mount, mounted.get(mount.path), facts, False) for mount in policy.mounts]
    return sorted(listed, key=lambda mount: mount.wanted.path)


def guessed_mounts(facts: Facts, policy: Policy) -> List[JudgedMount]:
    """Every mount that holds Oracle files and that no policy lists, by path.

    Also those that a reboot makes and that are missing now: what is open beneath such a path, or an
    Oracle home there, belongs on it. Where these are unknown (``unknown_mounts``) the mounts of now
    are checked, and if none of them is, this raises.
    """
    mounted = {mount.path: mount for mount in known(facts.mounted)}
    sources = {mount.path: mount.source for mount in mounted.values()}
    missing = attempt(missing_mounts, facts)
    sources.update({entry.path: entry.source for entry in if_known(missing, [])})
    listed = {mount.path for mount in policy.mounts or ()}
    if all(path in listed for path in sources):
        known(missing)
        return []
    mounts = []
    for path, file_class in sorted(_classes(sources, facts).items()):
        if path not in listed:
            required = WantedMount(
                path, sources[path], file_class, policy.sharing, policy.version, {}
            )
            mounts.append(_judged(required, mounted.get(path), facts, True))
    if not mounts:
        known(missing)
    return mounts


def _classes(points: Dict[str, str], facts: Facts) -> Dict[str, str]:
    """The class of each mount that Oracle uses, by its path."""
    opened = _by_mount(points, known(facts.database_files))
    # If these processes are unreadable, so are those of the database.
    backups = _by_mount(points, if_known(facts.backup_files, []))
    homes = _homes(facts)
    with_home = {_deepest(home, points) for home in homes}
    named = direct_nfs.mount_points(facts.direct_nfs)
    voting = _voting_files(facts)
    classes: Dict[str, str] = {}
    for path in points:
        file_class = _class_of(
            opened.get(path, []), voting, homes, path in with_home, path in named
        )
        if file_class is None and _holds_backups(backups.get(path, []), homes):
            file_class = "backup"
        if file_class is not None:
            classes[path] = file_class
    return classes


def unknown_mounts(facts: Facts) -> List[HostproofError]:
    """The error in place of the mounts that a reboot makes, where they are not known."""
    missing = attempt(missing_mounts, facts)
    return [missing] if isinstance(missing, HostproofError) else []


def missing_mounts(facts: Facts) -> List[Entry]:
    """Mounts that a reboot creates and that are missing now, listed or not."""
    mounted = [mount.path for mount in known(facts.mounted)]
    missing = not_mounted(facts.persisted, mounted)
    return [entry for entry in missing if facts.links.get(entry.path) not in mounted]


def _judged(
    mount: WantedMount, mounted: Optional[Mounted], facts: Facts, guessed: bool
) -> JudgedMount:
    """Where the policy leaves the use open: the nodes of a cluster share their files."""
    stated = mount.sharing is not None
    is_node = None if stated else known(facts.clusterware)
    if not stated:
        mount = mount._replace(sharing="rac" if is_node else "single")
    return JudgedMount(mount, mounted, guessed, stated, stated or is_node is not None)


def why_none(facts: Facts) -> str:
    """Why there is no mount to check, for a skip."""
    others = sorted(mount.path for mount in if_known(facts.mounted, []))
    if not others:
        return "No NFS mount here, and nfs_mounts_mounts lists none."
    return (
        "nfs_mounts_mounts lists no mount. Without a list those are checked that hold an open "
        "database file, an Oracle home or a path of oranfstab; list what matters of: {0}.".format(
            ", ".join(others)
        )
    )


def mount_of(path: str, mounts: List[Mounted]) -> Optional[Mounted]:
    """The NFS mount that a file is on: the deepest one above it."""
    above = [mount for mount in mounts if is_beneath(path, mount.path)]
    return max(above, key=lambda mount: len(mount.path)) if above else None


def _homes(facts: Facts) -> List[str]:
    """The paths of Oracle homes, as they are written and behind links, and of what ocssd runs."""
    homes = {home.path for home in known(facts.homes)}
    homes.update(if_known(home.path, home.home.path) for home in facts.direct_nfs.homes)
    for process in known(facts.database_files):
        if process.argv0.endswith(_VOTER):
            homes.add(process.argv0[: -len(_VOTER)])
    return sorted(homes - {""})


def oracle_homes(facts: Facts) -> List[str]:
    """Every Oracle home where it really lies; raises where homes are not known."""
    real = {home.home.path: if_known(home.path, home.home.path) for home in facts.direct_nfs.homes}
    known_homes = {real.get(home.path, home.path) for home in known(facts.homes)}
    for process in if_known(facts.database_files, []):
        if process.argv0.endswith(_VOTER):
            known_homes.add(process.argv0[: -len(_VOTER)])
    return sorted(known_homes - {""})


def homes_on(path: str, facts: Facts) -> List[str]:
    """The Oracle homes that are on a mount, as far as homes are known."""
    points = {mount.path for mount in if_known(facts.mounted, [])} | {path}
    return [home for home in if_known(attempt(_homes, facts), []) if _deepest(home, points) == path]


def needs_own_cache(mount: WantedMount, facts: Facts, policy: Policy) -> bool:
    """Whether Direct NFS is on and the mount is one of several nested mounts of its volume.

    Then the shared cache of the kernel leads Direct NFS through the wrong path, and I/O fails.
    Raises an error if there are such mounts and it is unknown whether Direct NFS is on.
    """
    return bool(_nested_of_volume(mount, facts)) and _has_direct_nfs(facts, policy)


def _nested_of_volume(mount: WantedMount, facts: Facts) -> List[str]:
    """The mounts of now and of the next reboot that share the volume and are above or beneath."""
    # A bind mount is not a separate mount to Direct NFS.
    mounts = [
        (entry.path, entry.source) for entry in if_known(facts.mounted, []) if entry.root == "/"
    ]
    mounts += [
        (entry.path, entry.source)
        for entry in if_known(facts.persisted.entries, [])
        if entry.at_boot
    ]
    return sorted(
        {
            path
            for path, source in mounts
            if path != mount.path
            and (is_beneath(path, mount.path) or is_beneath(mount.path, path))
            and _is_one_volume(source, mount.source)
        }
    )


def _is_one_volume(left: str, right: str) -> bool:
    """Whether one export is the other, or is within it, on one server."""
    (server, _, export), (other_server, _, other) = (
        source.partition(":/") for source in (left, right)
    )
    export, other = "/" + export.strip("/"), "/" + other.strip("/")
    if server.lower() != other_server.lower() or "/" in (export, other):
        return False  # a path below the root of a server may be any volume
    return is_beneath(export, other) or is_beneath(other, export)


def _has_direct_nfs(facts: Facts, policy: Policy) -> bool:
    if policy.direct_nfs == "unmanaged":
        return False
    databases = [home for home in facts.direct_nfs.homes if not home.home.clusterware]
    if policy.direct_nfs == "required" or any(
        getattr(if_known(home.library, None), "linked", False) for home in databases
    ):
        return True
    if not databases:
        known(facts.homes)
    for home in databases:
        if not isinstance(home.library, Absent):
            known(home.library)
    return False


def _voting_files(facts: Facts) -> Set[str]:
    """What Clusterware's group service holds open."""
    return {
        name
        for process in known(facts.database_files)
        if process.argv0.endswith("ocssd.bin")
        for name in process.paths
    }


def _deepest(name: str, points: Container[str]) -> Optional[str]:
    """The mount point that a path leads to."""
    folder = name
    while folder and folder not in points:
        folder = folder.rpartition("/")[0]
    return folder or None


def _by_mount(points: Container[str], processes: List[OpenFiles]) -> Dict[str, List[str]]:
    """The files that processes hold open, by the path of their mount."""
    names: Dict[str, List[str]] = {}
    for name in {name for process in processes for name in process.paths}:
        folder = _deepest(name, points)
        if folder is not None:
            names.setdefault(folder, []).append(name)
    return names


def _outside(paths: List[str], homes: List[str]) -> List[str]:
    return [path for path in paths if not any(is_beneath(path, home) for home in homes)]


def _holds_backups(opened: List[str], homes: List[str]) -> bool:
    """Whether a server process writes or reads something else than programs and diagnostics."""
    return any(not _DIAGNOSTICS.search(_plain(path)) for path in _outside(opened, homes))


def _class_of(
    opened: List[str], voting: Set[str], homes: List[str], has_home: bool, is_named: bool
) -> Optional[str]:
    """The class of a mount, by its visible use; None if Oracle does not use it.

    ``voting``: files of the group service. ``has_home``: an Oracle home is on it. ``is_named``:
    oranfstab contains it. Voting files come first, then database files, then a home, then
    diagnostics: the options for the former do not affect the latter, but the reverse is not true.
    """
    files = _outside(opened, homes)
    database = [path for path in map(_plain, files) if not _DIAGNOSTICS.search(path)]
    if any(_plain(path) in database for path in voting.intersection(files)):
        return "crs_voting"
    if database:
        return "redo" if all(_REDO.search(path) for path in database) else "datafiles"
    if has_home or len(files) < len(opened):
        return "oracle_home"
    if is_named:
        return "datafiles"
    return "adr" if files else None


def _plain(name: str) -> str:
    return name[: -len(_REMOVED)] if name.endswith(_REMOVED) else name
