# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kind of disk that a block device or a file is on, as the kernel reports it.

``virtual`` is a disk of a hypervisor or a cloud. The kernel does not know the physical disk below
it, and gets the rotation flag from the hypervisor. For a stack (multipath, LVM, RAID), the slowest
disk below counts. A rotation flag of 1 is the default of the kernel: arrays and RAID controllers
often do not report the medium, so it proves a hard disk only where the host itself has the disk.
Sources: kernel Documentation/ABI/stable/sysfs-block (queue/rotational), drivers/scsi/sd.c (only
page B1 of the disk clears the flag); the names that QEMU, VMware, Hyper-V, VirtualBox, Xen, Google,
Amazon, Alibaba, Oracle Cloud and IBM VIOS set for their disks.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ...collect.answer import attempt, known
from ...collect.host import Host
from ...errors import Absent, NotRecorded, Unanswered
from ...parsers.mounts import mountinfo
from . import mounts as mount_table

HDD, SSD, NVME, VIRTUAL, NFS, OTHER = "hdd", "ssd", "nvme", "virtual", "nfs", "other"

#: The slowest first.
_SLOWEST = (HDD, OTHER, VIRTUAL, SSD, NVME)

_BLOCK = "/sys/block"
_NUMBERED = "/sys/dev/block/{0}"
_VIRTUAL_NAME = re.compile(r"^(vd|xvd|ubd)[a-z]")
_VIRTUAL_MAKER = re.compile(
    r"\b(QEMU|VMware|Msft|VBOX|VirtualBox|Virtual|Xen|Google|PersistentDisk|Amazon Elastic|Bochs"
    r"|Nutanix|nvme_card-pd|Alibaba Cloud Elastic|BlockVolume|VDASD)\b",
    re.IGNORECASE,
)
#: Logical disks of a RAID controller, by vendor or model.
_RAID = re.compile(r"RAID|\bPERC\b|\bLOGICAL VOLUME\b|\bMR\d{4}", re.IGNORECASE)
#: Parts of the path of a disk that Fibre Channel or iSCSI leads to.
_REMOTE = re.compile(r"/(rport-|session)\d")


class Storage(NamedTuple):
    """``name`` is the device, or the server's export.

    ``kind`` is HDD, SSD, NVME, VIRTUAL, NFS, or OTHER for a file system that does not tell on
    which disks it is (ZFS, overlay), and for a device that does not tell its medium.
    """

    kind: str
    name: str
    evidence: Tuple[str, ...]


def of_device(host: Host, name: str) -> Storage:
    """The kind of a device by its kernel name ("sda", "dm-3", "sda1"); Unanswered if not told."""
    disks = disks_below(host, name)
    kinds = [_kind(host, disk) for disk in disks]
    slowest = min(kinds, key=lambda storage: _SLOWEST.index(storage.kind))
    return slowest._replace(name=name)


def of_path(host: Host, path: str) -> Storage:
    """The kind of storage below a file or block device, without touching the file itself."""
    place = place_of(host, path)
    if place.kind is not None:
        return Storage(place.kind, place.name, place.evidence)
    storage = of_device(host, place.name)
    return storage._replace(evidence=place.evidence + storage.evidence)


class Place(NamedTuple):
    """The location of a path: a block device by its kernel name (``kind`` is None), or an export of
    a server or a file system without a disk name (NFS, OTHER)."""

    kind: Optional[str]
    name: str
    evidence: Tuple[str, ...]


def place_of(host: Host, path: str) -> Place:
    """The device below a file, or the device itself; the file is not touched."""
    if path.startswith("/dev/"):
        return Place(None, host.real_path(path).split("/")[-1], ())
    table = mount_table.read(host)
    mounts = mountinfo.visible(table.mounts)
    # A link to another mount is followed if that does not access a server.
    mount = mountinfo.holding(path, mounts)
    if mount is not None and not mount.fstype.startswith("nfs"):
        mount = mountinfo.holding(host.real_path(path), mounts)
    evidence = (table.key,)
    if mount is None:
        raise Unanswered(evidence[0], f"no mount holds {path}")
    if mount.fstype.startswith("nfs"):
        return Place(NFS, mount.source, evidence)
    if not mount.device or mount.device.startswith("0:"):
        # btrfs and others number their superblocks themselves, and name the device. /proc/mounts
        # does not tell the number.
        if not mount.source.startswith("/dev/"):
            return Place(OTHER, f"{mount.fstype} {mount.source}", evidence)
        return Place(None, host.real_path(mount.source).split("/")[-1], evidence)
    return Place(None, host.real_path(_NUMBERED.format(mount.device)).split("/")[-1], evidence)


def disks_below(host: Host, name: str, counted: Sequence[str] = ()) -> List[str]:
    """The disks below a device, or the device itself. Devices in ``counted`` are taken as disks."""
    names = host.list_dir(_BLOCK)
    left: List[str] = [name]
    disks: List[str] = []
    seen: Dict[str, bool] = {}
    while left:
        device = left.pop()
        if device not in names:
            # A partition: the longest disk whose name it begins with.
            holding = [disk for disk in names if device.startswith(disk)]
            if not holding:
                raise Unanswered("dir:" + _BLOCK, f"{_BLOCK} does not know the disk of {device}")
            device = max(holding, key=len)
        if device in seen:
            continue
        seen[device] = True
        if device in counted:
            disks.append(device)
            continue
        slaves = attempt(host.list_dir, f"{_BLOCK}/{device}/slaves")
        parts = [] if isinstance(slaves, Absent) else list(known(slaves))
        left += parts
        if not parts:
            disks.append(device)
    return sorted(disks)


def _kind(host: Host, disk: str) -> Storage:
    if _VIRTUAL_NAME.match(disk):
        return Storage(VIRTUAL, disk, ("dir:" + _BLOCK,))
    makers: List[str] = []
    is_raid = False
    for part in ("vendor", "model"):
        path = f"{_BLOCK}/{disk}/device/{part}"
        text = attempt(host.read_text, path)
        if not isinstance(text, Absent):
            makers.append("file:" + path)
            if _VIRTUAL_MAKER.search(known(text)):
                return Storage(VIRTUAL, disk, ("file:" + path,))
            is_raid = is_raid or bool(_RAID.search(known(text)))
    if disk.startswith("nvme"):
        return Storage(NVME, disk, tuple(makers) or ("dir:" + _BLOCK,))
    path = f"{_BLOCK}/{disk}/queue/rotational"
    if not host.read_number(path):
        return Storage(SSD, disk, ("file:" + path,))
    link = f"{_BLOCK}/{disk}/device"
    place = attempt(host.real_path, link)
    # A pseudo device (PowerPath, loop) has no such link.
    is_own = not _REMOTE.search(place) if isinstance(place, str) else isinstance(place, NotRecorded)
    kind = HDD if is_own and not is_raid else OTHER
    return Storage(kind, disk, (*makers, "file:" + path, "link:" + link))
