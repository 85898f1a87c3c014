# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every mount of a Linux host, from the first source that answers.

/proc/self/mountinfo tells everything. /proc/mounts and mount(8) name the same mounts without their
superblocks: archives of hosts and records of others often hold these alone.
"""

from typing import Callable, List, NamedTuple, Tuple

from ...collect.answer import attempt
from ...collect.host import Host
from ...errors import Absent, HostproofError, Unanswered
from ...parsers.mounts import mount_command, mountinfo
from ...parsers.nfs.nfs_options import LINUX

MOUNTINFO = "/proc/self/mountinfo"
MOUNTS = "/proc/mounts"
_MOUNT = ["mount"]


class Table(NamedTuple):
    """The mounts in the order of the kernel, and the evidence key of where they are from."""

    mounts: List[mountinfo.Mount]
    key: str


def read_all(host: Host) -> List[mountinfo.Mount]:
    """Every mount, also those that no path leads to. Absent on a system other than Linux."""
    return read(host).mounts


def read(host: Host) -> Table:
    """Every mount with its source. Absent on a system other than Linux."""
    first = attempt(host.read_text, MOUNTINFO)
    if isinstance(first, str):
        return Table(mountinfo.parse(first), "file:" + MOUNTINFO)
    if isinstance(first, Absent):
        raise first
    others: Tuple[Tuple[str, Callable[[], List[mountinfo.Mount]]], ...] = (
        ("file:" + MOUNTS, lambda: mountinfo.parse_proc_mounts(host.read_text(MOUNTS))),
        ("command:" + " ".join(_MOUNT), lambda: _printed(host)),
    )
    for key, look in others:
        mounts = attempt(look)
        if not isinstance(mounts, HostproofError):
            return Table(mounts, key)
    raise first


def _printed(host: Host) -> List[mountinfo.Mount]:
    output = host.run(_MOUNT)
    mounts = mount_command.parse(LINUX, output.stdout)
    if output.rc != 0 or not mounts:
        # Every host has mounts: no line means that the command did not work.
        raise Unanswered("command:mount", f"mount ended with {output.rc} and {len(mounts)} mounts")
    return mountinfo.on_top(
        [
            mountinfo.without_superblock(
                number, mount.source, mount.path, mount.fstype, mount.options
            )
            for number, mount in enumerate(mounts, 1)
        ]
    )
