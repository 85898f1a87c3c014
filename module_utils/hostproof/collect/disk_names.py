# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which disk a file of sysfs is about: after a reboot another one may have the kernel's name.

Source: Linux, Documentation/ABI/stable/sysfs-block, testing/sysfs-block-dm (dm/uuid).
"""

import os
import re
from typing import List, Optional

#: Folder of all disks, the kernel's name, the attribute.
_OF_DISK = re.compile(r"(.*/sys/block)/([^/]+)/(.+)\Z")
#: What a disk shows of itself whatever its name is: maps, NVMe, SCSI, virtio, MMC.
_IDENTITIES = ("dm/uuid", "wwid", "device/wwid", "serial", "device/serial")
_LIMIT = 4096


def identity(path: str) -> Optional[str]:
    """Identity of the disk of this file, "device/wwid naa.600..."; None if it is not a file of a
    disk, or the disk has no identity."""
    match = _OF_DISK.match(path)
    return None if match is None else _identity(os.path.join(match.group(1), match.group(2)))


def paths_of(path: str, of: Optional[str]) -> List[str]:
    """Current paths of the same file of the same disk; [] if the disk does not exist. All paths of
    one unit have one identity: if none of them has the old name, all of them are returned."""
    if of is None or identity(path) == of:
        return [path]
    match = _OF_DISK.match(path)
    if match is None:
        return [path]
    folder, _name, attribute = match.groups()
    disks = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    return [os.path.join(disk, attribute) for disk in disks if _identity(disk) == of]


def _identity(disk: str) -> Optional[str]:
    for name in _IDENTITIES:
        try:
            with open(os.path.join(disk, name), errors="surrogateescape") as stream:
                text = " ".join(stream.read(_LIMIT).split())
        except OSError:
            continue
        if text:
            return ascii(f"{name} {text}")
    return None
