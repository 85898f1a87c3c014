# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which mounts are judged: those that the policy lists, or those that hold Oracle files now."""

import re
from typing import Dict, List, Optional

from ...answer import if_known, known
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
    mounted = known(facts.mounted)
    listed = {one.path for one in policy.wanted or ()}
    if all(mount.path in listed for mount in mounted):
        return []
    opened = _open_files(mounted, facts)
    homes = [home.path for home in known(facts.homes)]
    with_home = {mount.path for mount in (mount_of(home, mounted) for home in homes) if mount}
    named = direct_nfs.mount_points(facts.direct_nfs)
    found = []
    for mount in mounted:
        path = mount.path
        file_class = _class_of(opened.get(path, []), homes, path in with_home, path in named)
        if file_class is not None and path not in listed:
            wanted = WantedMount(path, mount.source, file_class, policy.use, policy.version, {})
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


def _open_files(mounts, facts):
    # type: (List[Mounted], Facts) -> Dict[str, List[str]]
    """What database processes hold open, by the path of the mount that it lies on."""
    points = {mount.path for mount in mounts}
    found = {}  # type: Dict[str, List[str]]
    for name in {name for process in known(facts.database_files) for name in process.paths}:
        folder = name
        while folder and folder not in points:
            folder = folder.rpartition("/")[0]
        if folder:
            removed = name.endswith(_REMOVED)
            found.setdefault(folder, []).append(name[: -len(_REMOVED)] if removed else name)
    return found


def _class_of(paths, homes, has_home, is_named):
    # type: (List[str], List[str], bool, bool) -> Optional[str]
    """What lies on a mount, by what is seen there; None for nothing of Oracle.

    ``has_home``: an Oracle home lies on it; ``is_named``: oranfstab names it. Database files
    count before a home, and a home before diagnostics: the options of the first spoil none of the
    others, but not the other way round.
    """
    files = [path for path in paths if not any(is_beneath(path, home) for home in homes)]
    database = [path for path in files if not _DIAGNOSTICS.search(path)]
    if database:
        return "redo" if all(_REDO.search(path) for path in database) else "datafiles"
    if has_home or len(files) < len(paths):
        return "oracle_home"
    if is_named:
        return "datafiles"
    return "adr" if files else None
