# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mount of an open directory, as reported by the kernel: its type, and the account that mounted
it.

A FUSE file system is a program of the account that mounted it, and can report any owner for any
file. A file system of the kernel (/proc, /sys, cgroups) contains no file of an account. The answer
belongs to the descriptor, not to a path: /proc/self/fdinfo contains the mount id, and
/proc/self/mountinfo describes that mount. Sources: proc_pid_fdinfo(5), proc_pid_mountinfo(5), Linux
fs/fuse/inode.c (fuse_show_options).
"""

import os
import re
from typing import Dict, NamedTuple, Optional, Tuple

from .child import Untrusted

#: File systems of the kernel, where no account can create a link or a file.
_OF_KERNEL = ("proc", "sysfs", "cgroup", "cgroup2")
#: Bytes of mountinfo: some 100,000 mounts.
_LIMIT = 32 * 1024 * 1024

#: Device number (st_dev) of each file system of the kernel that was met, to its type.
_KERNEL_DEVICES: Dict[int, str] = {}
#: By mount id and st_dev. The kernel can reuse an id after an unmount.
_KNOWN: Dict[Tuple[int, int], "Mount"] = {}


class Mount(NamedTuple):
    """``uid`` is who mounted it: of a FUSE file system its user_id, else root."""

    fstype: str
    uid: int


def kernel_type(device: int) -> Optional[str]:
    """The type of a file system of the kernel by its st_dev; None for all others.

    Known as soon as ``of_folder`` met it.
    """
    return _KERNEL_DEVICES.get(device)


def of_folder(handle: int, look: os.stat_result, path: str) -> Optional[Mount]:
    """The mount of an open directory; None on a system without /proc/self/fdinfo.

    Untrusted if it was unmounted: then its owner is unknown.
    """
    if look.st_dev in _KERNEL_DEVICES:
        return Mount(_KERNEL_DEVICES[look.st_dev], 0)
    try:
        number = _mount_number(handle)
    except FileNotFoundError:
        return None
    known = _KNOWN.get((number, look.st_dev))
    if known is None:
        known = _read_mount(number)
        if known is None:
            raise Untrusted(f"{path} was unmounted while it was read")
        _KNOWN[(number, look.st_dev)] = known
        if known.fstype in _OF_KERNEL:
            _KERNEL_DEVICES[look.st_dev] = known.fstype
    return known


def _mount_number(handle: int) -> int:
    match = re.search(rb"^mnt_id:\s*(\d{1,18})$", _content(f"/proc/self/fdinfo/{handle}"), re.M)
    if match is None:
        # Linux before 3.15.
        raise FileNotFoundError(2, "fdinfo names no mount")
    return int(match.group(1))


def _read_mount(number: int) -> Optional[Mount]:
    mount_id = str(number).encode()
    for line in _content("/proc/self/mountinfo").split(b"\n"):
        fields = line.split(b" ")
        if fields[0] != mount_id or b"-" not in fields[6:]:
            continue
        fstype, _source, options = fields[fields.index(b"-", 6) + 1 :][:3]
        name = fstype.decode("ascii", "replace")
        if name not in ("fuse", "fuseblk") and not name.startswith("fuse."):
            return Mount(name, 0)
        user = re.search(rb"(?:^|,)user_id=(\d{1,10})(?:,|$)", options)
        if user is None:
            raise Untrusted("a FUSE file system does not tell who mounted it")
        return Mount(name, int(user.group(1)))
    return None


def _content(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read(_LIMIT)
