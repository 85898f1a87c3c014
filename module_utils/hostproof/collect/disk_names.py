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
    """What shows the disk of this file from all others, "device/wwid naa.600..."; None where it
    is not a file of a disk, or the disk shows nothing."""
    found = _OF_DISK.match(path)
    return None if found is None else _identity(os.path.join(found.group(1), found.group(2)))


def paths_of(path: str, of: Optional[str]) -> List[str]:
    """Where the same file of the same disk is now; [] where the disk is gone. Paths of one unit
    are known by one identity: where none of them has its old name, all of them are meant."""
    if of is None or identity(path) == of:
        return [path]
    found = _OF_DISK.match(path)
    if found is None:
        return [path]
    folder, _name, attribute = found.groups()
    disks = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    return [os.path.join(disk, attribute) for disk in disks if _identity(disk) == of]


def _identity(disk: str) -> Optional[str]:
    for name in _IDENTITIES:
        try:
            with open(os.path.join(disk, name), errors="surrogateescape") as stream:
                told = " ".join(stream.read(_LIMIT).split())
        except OSError:
            continue
        if told:
            return ascii(f"{name} {told}")
    return None
