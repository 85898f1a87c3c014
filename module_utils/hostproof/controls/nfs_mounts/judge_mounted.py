# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges whether a mount is there, and what happens in its folder where it is not."""

import ipaddress
from typing import List, NamedTuple, Optional, Tuple

from ...answer import Answer, attempt, if_known, known
from ...errors import Absent, HostproofError
from ...finding import ERROR, FAIL, PASS, SKIP, WARN, Finding, found
from ...host import OpenFiles
from ...probes.nfs_persisted import Entry
from . import judge_direct_nfs
from .checks import MOUNTED
from .facts import Facts, JudgedMount, is_beneath
from .judging import for_each_and_unlisted
from .layers import NOT_MOUNTED, Layers, correct, persisted_source
from .policy import Policy
from .wanted import missing_mounts, mount_of


class _Instead(NamedTuple):
    """What is in the folder of a mount that is missing, and what to do about it."""

    in_use: str
    why: str
    fix: str
    evidence: Tuple[str, ...]


def judge_mounted(mounts, facts, policy):
    # type: (List[Layers], Facts, Policy) -> List[Finding]
    """The mounts to judge; of others that a boot makes those that are missing.

    Without a list of mounts nobody may know of a mount that Oracle uses: that is said too.
    """
    findings = for_each_and_unlisted(MOUNTED, _judge_mounted, mounts, facts, policy, _is_missing)
    if policy.wanted is not None:
        return findings
    judged = [layers.path for layers in mounts]
    unseen = [_judge_unseen(one) for one in missing_mounts(facts) if one.path not in judged]
    unseen += _judge_direct_nfs(mounts, facts)
    return unseen + (findings if mounts or not unseen else [])


def _is_missing(judged):
    # type: (JudgedMount) -> bool
    return judged.mounted is None


def _judge_unseen(entry):
    # type: (Entry) -> Finding
    """Nothing of Oracle is seen there: it may be down because the mount is missing."""
    return found(
        MOUNTED,
        WARN,
        title="{0}: {1}".format(entry.path, MOUNTED.title),
        why="{0} mounts it at boot, and it is not mounted. Whether Oracle files belong there is "
        "not known.".format(entry.place),
        fix="mount {0}; or take it out of {1}".format(entry.path, entry.place),
        desired="{0} on {1}".format(entry.source, entry.path),
        persisted="{0}: {1}".format(entry.place, entry.source),
        running=NOT_MOUNTED,
        evidence=entry.evidence,
    )


def _judge_direct_nfs(mounts, facts):
    # type: (List[Layers], Facts) -> List[Finding]
    """Direct NFS opens its files past the kernel: on which mount they lie nobody sees."""
    if any(layers.wanted.file_class in ("datafiles", "redo") for layers in mounts):
        return []
    others = sorted(
        {mount.path for mount in known(facts.mounted)} - {layers.path for layers in mounts}
    )
    channels = if_known(attempt(judge_direct_nfs.channels, facts), {})
    if not others or not channels:
        return []
    return [
        found(
            MOUNTED,
            ERROR,
            why="{0} reads and writes through Direct NFS (its own connections to {1}), where the "
            "kernel sees no open file: which of {2} it uses could not be determined.".format(
                sid, ", ".join(sorted(set(servers))), ", ".join(others)
            ),
            fix="list its mounts in nfs_mounts_wanted; they stand in: select dirname from "
            "v$dnfs_servers",
            evidence=["open_files:direct_nfs", "file:/proc/net/tcp"],
        )
        for sid, servers in sorted(channels.items())
    ]


def _judge_mounted(layers, facts, policy):
    # type: (Layers, Facts, Policy) -> Finding
    mounted = layers.judged.mounted
    if mounted is None:
        return _judge_missing(layers, facts)
    status, why = PASS, None  # type: str, Optional[str]
    wanted, there = source_parts(layers.wanted.source), source_parts(mounted.source)
    address = _one_spelling((layers.running or {}).get("addr", "").lower())
    if there[1] != wanted[1]:
        status = FAIL
        why = "{0} is mounted here, not {1}.".format(mounted.source, layers.wanted.source)
    elif wanted[0] not in (there[0], address):
        status = WARN
        why = "The export comes from {0}; whether that is {1} is not known.".format(
            there[0], wanted[0]
        )
    return found(
        MOUNTED,
        status,
        why=why,
        fix="correct the source in nfs_mounts_wanted, or: " + _correct_source(layers),
        desired=_desired(layers),
        persisted=persisted_source(layers),
        running="{0} ({1})".format(mounted.source, mounted.fstype),
        evidence=layers.evidence(),
    )


def _correct_source(layers):
    # type: (Layers) -> str
    """A mount brings back what the place that persists it names."""
    entry = (if_known(layers.entries, []) or [None])[0]
    if entry is None or source_parts(entry.source) == source_parts(layers.wanted.source):
        return correct(layers)
    return "write {0} in {1}, stop what uses {2}, then: umount {2} && mount {2}".format(
        layers.wanted.source, entry.place, layers.path
    )


def source_parts(text):
    # type: (str) -> Tuple[str, str]
    """(server, export) of "server:/export", as far as case and a last slash do not matter."""
    server, _, export = text.partition(":/")
    return _one_spelling(server.strip("[]").lower()), "/" + export.strip("/")


def _one_spelling(server):
    # type: (str) -> str
    """An IPv6 address has several."""
    try:
        return str(ipaddress.ip_address(server))
    except ValueError:
        return server


def _desired(layers):
    # type: (Layers) -> str
    return "{0} on {1}".format(layers.wanted.source, layers.path)


def _judge_missing(layers, facts):
    # type: (Layers, Facts) -> Finding
    link = facts.links.get(layers.path)
    if link in [mount.path for mount in known(facts.mounted)]:
        return found(
            MOUNTED,
            ERROR,
            why="{0} is a link to {1}, which is mounted: nothing of it was judged.".format(
                layers.path, link
            ),
            fix="write {0} in place of {1} in nfs_mounts_wanted".format(link, layers.path),
            desired=_desired(layers),
            evidence=layers.evidence(),
        )
    maker = _maker_on_access(layers, facts)
    if maker is not None:
        return found(
            MOUNTED,
            SKIP,
            why="Not mounted now: {0} mounts it when somebody looks.".format(maker),
            desired=_desired(layers),
            persisted=persisted_source(layers),
            running=NOT_MOUNTED,
            evidence=layers.evidence(),
        )
    instead = _what_is_there(layers.path, facts)
    entries = if_known(layers.entries, [])
    why = instead.why
    if entries and "bg" in entries[0].options.split(","):
        why += " With bg, mount returns 0 also when it failed."
    return found(
        MOUNTED,
        FAIL,
        why=why,
        fix=instead.fix if entries else "{0}; before it: {1}".format(instead.fix, correct(layers)),
        desired=_desired(layers),
        persisted=persisted_source(layers),
        running=NOT_MOUNTED,
        in_use=instead.in_use,
        evidence=layers.evidence() + instead.evidence,
    )


def _maker_on_access(layers, facts):
    # type: (Layers, Facts) -> Optional[str]
    """What mounts the path as soon as somebody looks: autofs, be it its daemon or systemd.

    Raises where that is unknown: a folder of the automounter has only what its map names.
    """
    if not any(is_beneath(layers.path, folder) for folder in if_known(facts.autofs, [])):
        return None
    makers = [entry.place for entry in known(layers.entries) if entry.on_access]
    return makers[0] if makers else None


def _what_is_there(path, facts):
    # type: (str, Facts) -> _Instead
    databases = attempt(_open_beneath, path, facts, facts.database_files)
    others = attempt(_open_beneath, path, facts, facts.holders.get(path, []))
    names = facts.beneath.get(path, [])
    beneath = sorted(if_known(names, []))
    if if_known(databases, []):
        held = _held(databases)
        return _Instead(
            held,
            "Not mounted, and a database writes into the file system beneath: {0}.".format(held),
            "stop the database now, move what it wrote out of {0} (a mount hides it), mount {0} "
            "and recover".format(path),
            ("open_files:database",),
        )
    if if_known(others, []):
        held = _held(others)
        return _Instead(
            held,
            "Not mounted, and the empty mount point is in use: {0}.".format(held),
            "stop these processes, move their files out of {0}, then: mount {0}".format(path),
            ("open_files:all",),
        )
    if beneath:
        listed = ", ".join(beneath[:3]) + (", ..." if len(beneath) > 3 else "")
        return _Instead(
            "in the folder itself: " + listed,
            "Not mounted, and files lie beneath, which a mount hides: {0}.".format(listed),
            "find out who wrote them and move them out of {0}, then: mount {0}".format(path),
            ("dir:" + path,),
        )
    if isinstance(names, Absent):
        why, fix = "Not mounted, and there is no such folder.", "mkdir -p {0} && mount {0}"
    else:
        why, fix = "Not mounted.", "mount {0}"
    unknown = next((one for one in (databases, others, names) if _is_unknown(one)), None)
    if unknown is None:
        return _Instead("nothing is open or lies there", why, fix.format(path), ())
    why += " What is open or lies there is not known: {0}.".format(unknown)
    return _Instead("unknown", why, fix.format(path), ())


def _is_unknown(answer):
    # type: (Answer[object]) -> bool
    return isinstance(answer, HostproofError) and not isinstance(answer, Absent)


def _open_beneath(path, facts, answer):
    # type: (str, Facts, Answer[List[OpenFiles]]) -> List[OpenFiles]
    """Who has files open below a path, but not on a mount that lies deeper."""
    mounts = known(facts.mounted)
    found_processes = []
    for process in known(answer):
        paths = []
        for name in process.paths:
            mount = mount_of(name, mounts)
            if is_beneath(name, path) and not (mount and is_beneath(mount.path, path)):
                paths.append(name)
        if paths:
            found_processes.append(process._replace(paths=tuple(paths)))
    return found_processes


def _held(processes):
    # type: (List[OpenFiles]) -> str
    """Who holds what: the first three processes with their first file each."""
    parts = [
        "{0} (pid {1}) holds {2}".format(
            process.argv0.rpartition("/")[2] or "a process", process.pid, process.paths[0]
        )
        for process in processes[:3]
    ]
    if len(processes) > 3:
        parts.append("and {0} more".format(len(processes) - 3))
    return ", ".join(parts)
