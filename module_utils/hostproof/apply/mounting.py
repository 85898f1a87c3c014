# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Creates, undoes and restores NFS mounts for apply.py, and reads back the options that the kernel
granted.

This module never reads a file on an NFS mount: the read would hang if the server does not answer.
Sources: nfs(5); mount(8) and umount(8) of util-linux; kernel fs/nfs/super.c, nfs_show_options().
"""

import os
from typing import Dict, List, Optional, Set, Tuple

from ..collect import guarded, identity
from ..collect.answer import attempt, unless_absent
from ..collect.host import LiveHost
from ..errors import HostproofError
from ..parsers.mounts import mountinfo
from ..parsers.nfs import nfs_options
from ..parsers.number import clipped
from ..parsers.systemd import systemd_unit
from ..probes.nfs import direct_nfs_processes, nfs_mounted
from ..probes.nfs.nfs_mounted import Mounted
from .change import TRANSFER_SIZES, MountChange, MountState
from .difference import mount_text, normal_source
from .mount_state import server_of, state_of
from .writer import Writer

#: Seconds after which a server that does not return a directory counts as unreachable.
LOOK_LIMIT = 5.0

#: A mount that was journaled: its path, and what was mounted there (None: nothing).
Before = Tuple[str, Optional[MountState]]


def mounted_now() -> Dict[str, Mounted]:
    """The NFS mounts of this machine by path."""
    mounts = nfs_mounted.read_mounted(LiveHost(), nfs_options.LINUX)
    return {mount.path: mount for mount in mounts}


def is_in_state(mounted: Optional[Mounted], state: Optional[MountState]) -> bool:
    if mounted is None or state is None:
        return mounted is None and state is None
    return mount_text(state_of(mounted)) == mount_text(state)


def changed_since(changes: List[MountChange]) -> List[str]:
    """The paths to unmount where another mount is now than the changes start from."""
    now = mounted_now() if changes else {}
    return [
        change.path
        for change in changes
        if change.before is not None
        and change.path in now
        and not is_in_state(now[change.path], change.before)
    ]


def is_remote(path: str) -> bool:
    """Whether a server answers for the path, which may hang, and whose directories are not ours."""
    return any(_is_at_or_beneath(path, point) for point in mounted_now())


def _is_at_or_beneath(path: str, point: str) -> bool:
    return path == point or path.startswith(point + "/")


def not_granted(must: Dict[str, str], options: str) -> List[str]:
    """Required settings that the mount does not have, as text. ``options``: as the kernel shows."""
    granted = nfs_options.effective(nfs_options.parse(options), nfs_options.LINUX)
    return [
        "{0}: requested {1}, granted {2}".format(name, requested, granted.get(name, "nothing"))
        for name, requested in sorted(must.items())
        if not _fulfils(name, requested, granted.get(name))
    ]


def _fulfils(name: str, requested: str, granted: Optional[str]) -> bool:
    if name in TRANSFER_SIZES:
        return _bytes(granted) >= int(requested)
    return granted == requested


def _bytes(size: Optional[str]) -> int:
    return clipped(size) if size is not None and size.isdecimal() else 0


# -- what speaks against a change, beyond what a control knows ------------------------------------


def obstacles(changes: List[MountChange]) -> List[str]:
    """Reasons why the host cannot make the changes, as text. Mount points are checked only where
    nothing is mounted yet."""
    if not changes:
        return []
    everything = mountinfo.parse(LiveHost().read_text(nfs_mounted.MOUNTINFO))
    mounts = mountinfo.visible(everything)
    unmounted = {change.path for change in changes if change.after is None}
    reasons: List[str] = []
    for path in sorted({change.path for change in changes}):
        reasons.extend(_insecure(path))
    for path in sorted(unmounted):
        reasons.extend(
            f"{mount.path} ({mount.fstype}) is mounted beneath {path}: unmount it first"
            for mount in _beneath(mounts, path, unmounted)
        )
        reasons.extend(_stacked(everything, path))
    for path in sorted({change.path for change in changes} - unmounted):
        reasons.extend(
            f"{path} would hide the mount of {mount.path} ({mount.fstype}): unmount that first"
            for mount in _beneath(mounts, path, unmounted)
        )
        reasons.extend(
            f"{path} is a mount of {mount.source} ({mount.fstype}) already: unmount it first"
            for mount in mounts
            # An automounter's own mount is there to be mounted over.
            if mount.path == path and mount.fstype != "autofs"
        )
        reasons.extend(_still_trying(path))
        reasons.extend(_odd_mount_point(path, mounts))
    return reasons


def _beneath(
    mounts: List[mountinfo.Mount], path: str, unmounted: Set[str]
) -> List[mountinfo.Mount]:
    """The mounts below a path that the plan does not unmount."""
    return [
        mount
        for mount in mounts
        if mount.path.startswith(path + "/") and mount.path not in unmounted
    ]


def _stacked(mounts: List[mountinfo.Mount], path: str) -> List[str]:
    """Only the upper one is journaled: the lower one would be lost."""
    sources = [mount.source for mount in mounts if mount.path == path and mount.fstype != "autofs"]
    if len(sources) < 2:
        return []
    return [
        "{0} is mounted {1} times, one over the other ({2}): leave one".format(
            path, len(sources), ", ".join(sources)
        )
    ]


def _still_trying(path: str) -> List[str]:
    """A mount in the background (bg) that waits for its server would come on top of ours."""
    host = LiveHost()
    reasons = []
    for process in host.processes("mounts", r"(^|/)mount\.nfs4?$", identity.OF_ROOT):
        key = f"/proc/{process.pid}/cmdline"
        arguments = unless_absent(attempt(host.read_text, key), "")
        if path in arguments.split("\0"):
            reasons.append(
                f"{process.argv0} (pid {process.pid}) still tries to mount {path}: let it end, or "
                f"stop it (systemctl stop {systemd_unit.unit_name(path)})"
            )
    return reasons


def _insecure(path: str) -> List[str]:
    try:
        guarded.check_mount_point(path)
    except (HostproofError, OSError) as problem:
        return [str(problem)]
    return []


def _odd_mount_point(path: str, mounts: List[mountinfo.Mount]) -> List[str]:
    """``mounts``: if the directory is on a server, a command with a time limit reads it."""
    far = [mount.path for mount in mounts if mount.fstype in ("nfs", "nfs4", "autofs")]
    if any(path.startswith(point + "/") for point in far):
        try:
            output = LiveHost().run(["readlink", "-e", path], timeout=LOOK_LIMIT)
        except HostproofError as problem:
            return [f"{path} cannot be read: {problem}"]
        real = output.stdout.rstrip("\n") if output.rc == 0 else path
    elif os.path.lexists(path) and not os.path.isdir(path):
        return [f"{path} is not a directory: move it, or mount elsewhere"]
    else:
        real = os.path.realpath(path)
    if real != path:
        # The kernel would name the mount after the place that the link leads to.
        return [f"{path} leads to {real} by a link: use that path instead"]
    return []


# -- apply ----------------------------------------------------------------------------------------


def carry_out(change: MountChange, old: Optional[MountState], writer: Writer) -> None:
    """Unmount or mount, and read back; HostproofError says what was queried and what came.

    ``old`` is what was mounted there before this plan, if anything.
    """
    if change.after is None:
        _unmount(change.path, writer)
        return
    _mount(change.path, change.after, writer)
    mounted = mounted_now()[change.path]
    problems = not_granted(change.must, mounted.options)
    if normal_source(mounted.source) != normal_source(change.after.source):
        problems.insert(0, f"it is {mounted.source}, not {change.after.source}")
    if problems:
        problems.extend(_lowered(change.after, mounted, old))
        raise HostproofError("{0}: {1}".format(change.path, "; ".join(problems)))


def _unmount(path: str, writer: Writer) -> None:
    """Unmount the path if it is mounted. A busy mount is left alone: never by force."""
    if path not in mounted_now():
        return
    guarded.check_mount_point(path)
    try:
        writer.unmount(path)
    except HostproofError as problem:
        if path in mounted_now():
            raise HostproofError(f"{problem}{_held_by(path)}") from problem
    left = mounted_now().get(path)
    if left is not None:
        raise HostproofError(
            f"{path}: unmounted, but {left.source} is mounted there still (mounted twice, or an "
            "automounter was quicker)"
        )


def _mount(path: str, state: MountState, writer: Writer) -> None:
    """Mount it unless an automounter already did. The caller must check the granted options.

    A background mount would report success and continue to retry after the command has ended.
    """
    if path in mounted_now():
        return
    guarded.check_mount_point(path)
    options = nfs_options.edit(state.options, {"background": "fg", "retry": "0"})
    try:
        writer.mount(state.source, path, state.fstype, options)
    except HostproofError:
        if path not in mounted_now():
            raise
    if path not in mounted_now():
        raise HostproofError(f"{path}: mount reported success, but nothing is mounted")


def _held_by(path: str) -> str:
    """Processes that keep a mount busy, as far as they are visible."""
    try:
        holders = LiveHost().open_files("holders", "", [path], identity.ANYBODY)
    except HostproofError:
        return ""
    names = [f"{holder.argv0} (pid {holder.pid}, {holder.paths[0]})" for holder in holders[:5]]
    return "; in use by " + ", ".join(names) if names else ""


def _lowered(requested: MountState, mounted: Mounted, old: Optional[MountState]) -> List[str]:
    """A server that grants less than it did has had its maximum lowered: other mounts suffer."""
    before = {} if old is None else nfs_options.parse(old.options)
    options, granted = nfs_options.parse(requested.options), nfs_options.parse(mounted.options)
    names = [
        name
        for name in TRANSFER_SIZES
        if _bytes(granted.get(name)) < _bytes(before.get(name))
        and _bytes(granted.get(name)) < _bytes(options.get(name, before.get(name)))
    ]
    if not names:
        return []
    server = server_of(mounted.source)
    larger = []
    for path, other in sorted(mounted_now().items()):
        has = nfs_options.parse(other.options)
        if server_of(other.source) == server and any(
            _bytes(has.get(name)) > _bytes(granted.get(name)) for name in names
        ):
            larger.append(path)
    message = "the old mount had {0}: the maximum of {1} was lowered".format(
        ", ".join(f"{name}={before[name]}" for name in names), server
    )
    if larger:
        message += (
            ", and {0} with larger requests can hang or corrupt files: unmount and mount".format(
                ", ".join(larger)
            )
        )
    return [message]


# -- restoring ---------------------------------------------------------------------------------


def unmount_changed(mounts: List[Before], writer: Writer) -> List[str]:
    """Unmount what is not as it was, deepest first; what went wrong, in words."""
    problems = []
    try:
        changed = _changed(mounts)
    except HostproofError as problem:
        return [str(problem)]
    for path in sorted(changed, key=lambda mount_point: (-mount_point.count("/"), mount_point)):
        try:
            _unmount(path, writer)
        except (HostproofError, OSError) as problem:
            problems.append(str(problem))
    return problems


def used_by_direct_nfs(mounts: List[Before]) -> List[str]:
    """Direct NFS processes that may use mounts that unmount_changed would unmount, as text. They
    have no open files there."""
    changed = _changed(mounts)
    users = direct_nfs_processes.read_users(LiveHost()) if changed else []
    if not users:
        return []
    now = mounted_now()
    return [
        f"{path} by Direct NFS of {process.sid} (pid {process.pid}, {remote})"
        for path in sorted(changed)
        for process, remote in users
        if remote == nfs_options.parse(now[path].options).get("addr")
    ]


def others(mounts: List[Before], sources: Dict[str, Set[str]]) -> List[str]:
    """Current mounts whose source was never journaled for their path."""
    now = mounted_now() if mounts else {}
    return [
        f"the mount of {now[path].source} on {path}"
        for path, _before in mounts
        if path in now and normal_source(now[path].source) not in sources[path]
    ]


def _changed(mounts: List[Before]) -> Set[str]:
    """Mounts that differ from their journaled state, and mounts below them or with the same
    superblock."""
    now = mounted_now() if mounts else {}
    changed = {
        path for path, before in mounts if path in now and not is_in_state(now[path], before)
    }
    growing = bool(changed)
    while growing:
        bound = {
            path
            for path, _before in mounts
            if path in now
            and path not in changed
            and any(
                path.startswith(other + "/") or now[path].superblock == now[other].superblock
                for other in changed
            )
        }
        changed |= bound
        growing = bool(bound)
    return changed


def mount_missing(mounts: List[Before], writer: Writer) -> List[str]:
    """Mount again what was mounted and is not, shallowest first; what went wrong, in words."""
    problems = []
    for path, before in sorted(mounts, key=lambda mount: mount[0].count("/")):
        if before is None:
            continue
        try:
            if path not in mounted_now():
                _mount(path, before, writer)
                _check_old_state(path, before)
        except (HostproofError, OSError) as problem:
            problems.append(str(problem))
    return problems


def _check_old_state(path: str, before: MountState) -> None:
    mounted = mounted_now()[path]
    if not is_in_state(mounted, before):
        old, new = mount_text(before).split("\n"), mount_text(state_of(mounted)).split("\n")
        raise HostproofError(
            "{0} is mounted again, but not as it was: {1}; it was {2}".format(
                path,
                ", ".join(line for line in new if line not in old) or "less",
                ", ".join(line for line in old if line not in new) or "less",
            )
        )
