# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which mounts are judged: those that the policy lists, or those that hold Oracle files now."""

import re
from typing import Container, Dict, List, Optional, Set

from ...answer import if_known, known
from ...probes import direct_nfs
from ...probes.nfs_mounted import Mounted
from ...probes.nfs_persisted import Entry
from .facts import Facts, JudgedMount, is_beneath, not_mounted
from .policy import Policy, WantedMount

#: Online redo logs as Oracle, OMF and most sites name them.
_REDO = re.compile(r"(\.log|\.rdo|/(redo|onlinelog)[^/]*(/.*)?)$", re.IGNORECASE)
#: Folders of the Automatic Diagnostic Repository and of audit trails; what processes write there.
_DIAGNOSTICS = re.compile(r"(/diag/|/adump/|/[bcu]dump/|/trace/|/incident/|\.(trc|trm|aud)$)")
_REMOVED = " (deleted)"
#: Clusterware's group service, which holds the voting files, in its home.
_VOTER = "/bin/ocssd.bin"


def judged_mounts(facts, policy):
    # type: (Facts, Policy) -> List[JudgedMount]
    """Every mount to judge, by path; raises where what is mounted or used is not known."""
    if policy.wanted is None:
        return guessed_mounts(facts, policy)
    mounted = {mount.path: mount for mount in known(facts.mounted)}
    listed = [_judged(one, mounted.get(one.path), facts, False) for one in policy.wanted]
    return sorted(listed, key=lambda one: one.wanted.path)


def guessed_mounts(facts, policy):
    # type: (Facts, Policy) -> List[JudgedMount]
    """Every mount that holds Oracle files and that no policy lists, by path.

    Also those that a boot makes and that are missing now: what is open beneath such a path, or an
    Oracle home there, belongs on it.
    """
    mounted = {mount.path: mount for mount in known(facts.mounted)}
    sources = {mount.path: mount.source for mount in mounted.values()}
    sources.update({one.path: one.source for one in missing_mounts(facts)})
    listed = {one.path for one in policy.wanted or ()}
    if all(path in listed for path in sources):
        return []
    opened = _open_files(sources, facts)
    homes = _homes(facts)
    with_home = {_deepest(home, sources) for home in homes}
    named = direct_nfs.mount_points(facts.direct_nfs)
    voting = _voting_files(facts)
    found = []
    for path, source in sorted(sources.items()):
        file_class = _class_of(
            opened.get(path, []), voting, homes, path in with_home, path in named
        )
        if file_class is not None and path not in listed:
            wanted = WantedMount(path, source, file_class, policy.use, policy.version, {})
            found.append(_judged(wanted, mounted.get(path), facts, True))
    return found


def missing_mounts(facts):
    # type: (Facts) -> List[Entry]
    """What a boot mounts and is missing now, be it listed or not."""
    mounted = [mount.path for mount in known(facts.mounted)]
    missing = not_mounted(facts.persisted, mounted)
    return [one for one in missing if facts.links.get(one.path) not in mounted]


def _judged(wanted, mounted, facts, guessed):
    # type: (WantedMount, Optional[Mounted], Facts, bool) -> JudgedMount
    """Where the policy leaves the use open: Clusterware runs where hosts share their files."""
    stated = wanted.use is not None
    if not stated:
        wanted = wanted._replace(use="rac" if known(facts.clusterware) else "single")
    return JudgedMount(wanted, mounted, guessed, stated)


def why_none(facts):
    # type: (Facts) -> str
    """Why there is no mount to judge, for a skip."""
    others = sorted(mount.path for mount in if_known(facts.mounted, []))
    if not others:
        return "No NFS mount here, and nfs_mounts_wanted lists none."
    return (
        "nfs_mounts_wanted lists no mount. Without a list those are judged that hold an open "
        "database file, an Oracle home or a path of oranfstab; list what matters of: {0}.".format(
            ", ".join(others)
        )
    )


def mount_of(path, mounts):
    # type: (str, List[Mounted]) -> Optional[Mounted]
    """The NFS mount that a file lies on: the deepest one above it."""
    above = [mount for mount in mounts if is_beneath(path, mount.path)]
    return max(above, key=lambda mount: len(mount.path)) if above else None


def _homes(facts):
    # type: (Facts) -> List[str]
    """The paths of Oracle homes, as they are written and behind links, and of what ocssd runs."""
    homes = {home.path for home in known(facts.homes)}
    homes.update(if_known(home.path, home.home.path) for home in facts.direct_nfs.homes)
    for process in known(facts.database_files):
        if process.argv0.endswith(_VOTER):
            homes.add(process.argv0[: -len(_VOTER)])
    return sorted(homes - {""})


def _voting_files(facts):
    # type: (Facts) -> Set[str]
    """What Clusterware's group service holds open."""
    return {
        name
        for process in known(facts.database_files)
        if process.argv0.endswith("ocssd.bin")
        for name in process.paths
    }


def _deepest(name, points):
    # type: (str, Container[str]) -> Optional[str]
    """The mount point that a path leads to."""
    folder = name
    while folder and folder not in points:
        folder = folder.rpartition("/")[0]
    return folder or None


def _open_files(points, facts):
    # type: (Container[str], Facts) -> Dict[str, List[str]]
    """What database processes hold open, by the path of the mount that it lies on."""
    found = {}  # type: Dict[str, List[str]]
    for name in {name for process in known(facts.database_files) for name in process.paths}:
        folder = _deepest(name, points)
        if folder is not None:
            found.setdefault(folder, []).append(name)
    return found


def _class_of(opened, voting, homes, has_home, is_named):
    # type: (List[str], Set[str], List[str], bool, bool) -> Optional[str]
    """What lies on a mount, by what is seen there; None for nothing of Oracle.

    ``voting``: what the group service holds; ``has_home``: an Oracle home lies on it;
    ``is_named``: oranfstab names it. Voting files count first, database files before a home, and
    a home before diagnostics: the options of the first spoil none of the others, but not the
    other way round.
    """
    files = [path for path in opened if not any(is_beneath(path, home) for home in homes)]
    database = [path for path in map(_plain, files) if not _DIAGNOSTICS.search(path)]
    if any(path in voting and _plain(path) in database for path in files):
        return "crs_voting"
    if database:
        return "redo" if all(_REDO.search(path) for path in database) else "datafiles"
    if has_home or len(files) < len(opened):
        return "oracle_home"
    if is_named:
        return "datafiles"
    return "adr" if files else None


def _plain(name):
    # type: (str) -> str
    return name[: -len(_REMOVED)] if name.endswith(_REMOVED) else name
