# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which mounts are judged: those that the policy lists, or those that hold Oracle files now."""

import re
from typing import List, Optional

from ...answer import if_known, known
from ...host import OpenFiles
from ...probes import direct_nfs
from ...probes.nfs_mounted import Mounted
from .facts import Facts, JudgedMount, is_beneath
from .policy import Policy, WantedMount

#: Online redo logs as Oracle, OMF and most sites name them.
_REDO = re.compile(r"(\.log|\.rdo|/(redo|onlinelog)[^/]*(/.*)?)$", re.IGNORECASE)
#: Folders of the Automatic Diagnostic Repository and of audit trails; what processes write there.
_DIAGNOSTICS = re.compile(r"(/diag/|/adump/|/[bcu]dump/|/trace/|/incident/|\.(trc|trm|aud)$)")
_REMOVED = " (deleted)"


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
    """Every mount that holds Oracle files and that no policy lists, by path."""
    listed = {one.path for one in policy.wanted or ()}
    found = []
    for mount in known(facts.mounted):
        file_class = None if mount.path in listed else _guess_class(mount, facts)
        if file_class is not None:
            wanted = WantedMount(
                mount.path, mount.source, file_class, policy.use, policy.version, {}
            )
            found.append(_judged(wanted, mount, facts, True))
    return sorted(found, key=lambda one: one.wanted.path)


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
        "No NFS mount holds an open database file, an Oracle home or a path of oranfstab; list "
        "those that matter in nfs_mounts_wanted: {0}.".format(", ".join(others))
    )


def mount_of(path, mounts):
    # type: (str, List[Mounted]) -> Optional[Mounted]
    """The NFS mount that a file lies on: the deepest one above it."""
    above = [mount for mount in mounts if is_beneath(path, mount.path)]
    return max(above, key=lambda mount: len(mount.path)) if above else None


def files_on(mount, facts):
    # type: (Mounted, Facts) -> List[OpenFiles]
    """What database processes hold open on a mount itself, not on another one beneath it."""
    mounts = known(facts.mounted)
    found = []
    for process in known(facts.database_files):
        paths = tuple(path for path in process.paths if mount_of(path, mounts) == mount)
        if paths:
            found.append(process._replace(paths=paths))
    return found


def _guess_class(mount, facts):
    # type: (Mounted, Facts) -> Optional[str]
    """What lies on a mount, by what is seen there; None for nothing of Oracle.

    Database files count before a home, and a home before diagnostics: the options of the first
    spoil none of the others, but not the other way round.
    """
    homes = [home.path for home in known(facts.homes)]
    paths = {
        path[: -len(_REMOVED)] if path.endswith(_REMOVED) else path
        for process in files_on(mount, facts)
        for path in process.paths
    }
    files = [path for path in paths if not any(is_beneath(path, home) for home in homes)]
    database = [path for path in files if not _DIAGNOSTICS.search(path)]
    if database:
        return "redo" if all(_REDO.search(path) for path in database) else "datafiles"
    mounts = known(facts.mounted)
    if len(files) < len(paths) or any(mount_of(home, mounts) == mount for home in homes):
        return "oracle_home"
    if mount.path in direct_nfs.mount_points(facts.direct_nfs):
        return "datafiles"
    return "adr" if files else None
