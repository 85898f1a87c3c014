# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/PID/mountinfo and /proc/mounts: every mount of a mount namespace.

Sources: proc_pid_mountinfo(5); kernel fs/proc_namespace.c, show_mountinfo(), show_vfsmnt().
"""

import re
from typing import Dict, List, NamedTuple, Optional, Set, Tuple

from ...errors import ParseError, kind_of
from ..number import integer

_WHAT = "mountinfo"
_OCTAL = re.compile(r"\\([0-7]{3})")
_DEVICE = re.compile(r"^\d+:\d+$")
#: Suffixes of a mount point whose directory was removed.
_REMOVED = (" (deleted)", "//deleted")
#: Fields of a line of /proc/mounts.
_FIELDS = 6


class Mount(NamedTuple):
    """One mount. ``device`` is major:minor of its superblock, "" where the source does not tell.

    ``options`` are those of the mount, ``super_options`` those of the superblock, which all mounts
    of it share. ``root`` is the directory of the file system that is mounted."""

    id: int
    parent: int
    device: str
    root: str
    path: str
    options: str
    fstype: str
    source: str
    super_options: str


def parse(text: str) -> List[Mount]:
    """The mounts, in the order of the kernel."""
    mounts = []
    for number, line in enumerate(text.split("\n"), 1):
        if line:
            mounts.append(_mount(line, number))
    if not mounts:
        raise ParseError(_WHAT, "holds no mount")
    return mounts


def _mount(line: str, number: int) -> Mount:
    # Fields are parted by one space: the source can be empty.
    before, separator, after = line.partition(" - ")
    front, back = before.split(" "), after.split(" ", 2)
    if not separator or len(front) < 6 or len(back) != 3:
        raise ParseError(_WHAT, f"{kind_of(line)} is not a mount", number)
    if not (front[0].isdecimal() and front[1].isdecimal() and _DEVICE.match(front[2])):
        raise ParseError(_WHAT, f"{kind_of(line)} has no mount id or device", number)
    return Mount(
        id=integer(front[0]),
        parent=integer(front[1]),
        device=front[2],
        root=unescape(front[3]),
        path=unescape(front[4]),
        options=unescape(front[5]),
        fstype=unescape(back[0]),
        source=unescape(back[1]),
        super_options=unescape(back[2]),
    )


def parse_proc_mounts(text: str) -> List[Mount]:
    """The mounts of /proc/mounts, which shows no superblock and no root of any."""
    mounts = []
    for number, line in enumerate(text.split("\n"), 1):
        fields = [unescape(word) for word in line.split(" ")]
        if line and len(fields) != _FIELDS:
            raise ParseError("/proc/mounts", f"{kind_of(line)} has other than six fields", number)
        if line:
            mounts.append(without_superblock(number, *fields[:4]))
    if not mounts:
        raise ParseError("/proc/mounts", "holds no mount")
    return on_top(mounts)


def without_superblock(number: int, source: str, path: str, fstype: str, options: str) -> Mount:
    """A mount as /proc/mounts and mount(8) show it. No mount has the id 0."""
    return Mount(number, 0, "", "/", path, options, fstype, source, "")


def on_top(mounts: List[Mount]) -> List[Mount]:
    """The last mount of each path."""
    last = {mount.path: mount for mount in mounts}
    return [mount for mount in mounts if last[mount.path] is mount]


def unescape(text: str) -> str:
    r"""The text behind the kernel's octal escapes (\040 for a space); bytes stay UTF-8."""
    if "\\" not in text:
        return text
    raw = text.encode("utf-8", "surrogateescape").decode("latin-1")
    plain = _OCTAL.sub(lambda match: chr(integer(match.group(1), 8) & 0xFF), raw)
    return plain.encode("latin-1").decode("utf-8", "surrogateescape")


def holding(path: str, mounts: List[Mount]) -> Optional[Mount]:
    """The mount that a path without links is on; of two on one place the later."""
    best = None
    for mount in mounts:
        below = path == mount.path or path.startswith(mount.path.rstrip("/") + "/")
        if below and (best is None or len(mount.path) >= len(best.path)):
            best = mount
    return best


def visible(mounts: List[Mount]) -> List[Mount]:
    """The mounts that a path leads to: none that another one covers, none on a removed
    directory.

    A mount is covered by one on its own root, and hidden by one over a directory above it."""
    by_id = {mount.id: mount for mount in mounts}
    points = {(mount.parent, mount.path) for mount in mounts if mount.parent != mount.id}
    reached: Dict[int, bool] = {}
    return [
        mount
        for mount in mounts
        if not mount.path.endswith(_REMOVED)
        and (mount.id, mount.path) not in points
        and _is_reached(mount, by_id, points, reached)
    ]


def _is_reached(
    mount: Mount, by_id: Dict[int, Mount], points: Set[Tuple[int, str]], reached: Dict[int, bool]
) -> bool:
    chain = []
    step = mount
    while step.id not in reached:
        # True until shown otherwise: that also ends a circle in a text that is no kernel's.
        reached[step.id] = True
        chain.append(step)
        if step.parent not in by_id or step.parent == step.id:
            break
        step = by_id[step.parent]
    for link in reversed(chain):
        parent = by_id.get(link.parent)
        if parent is not None and parent is not link:
            reached[link.id] = reached[parent.id] and not _is_shadowed(link, parent, points)
    return reached[mount.id]


def _is_shadowed(mount: Mount, parent: Mount, points: Set[Tuple[int, str]]) -> bool:
    """Whether another mount of the same parent lies over a directory on the way to this one."""
    above = mount.path
    while len(above) > len(parent.path):
        above = above.rpartition("/")[0] or "/"
        if len(above) > len(parent.path) and (mount.parent, above) in points:
            return True
    return False
