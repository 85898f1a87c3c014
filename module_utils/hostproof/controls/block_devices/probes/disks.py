# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Block devices in sysfs: the devices below each, and its queue settings.

Sources: Linux, Documentation/ABI/stable/sysfs-block, Documentation/ABI/testing/sysfs-block-dm,
Documentation/scsi/scsi_mid_low_api.rst (the names of directories, H:C:T:L)."""

import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from ....collect.answer import Answer, attempt, if_known, known, unless_absent
from ....collect.host import Host
from ....errors import Absent, ParseError, kind_of
from ....parsers.number import integer
from ....parsers.systemd.udev_rules import Lookup
from ....probes.systemd import udev

CLASS = "/sys/class/block"
SCHEDULER, REQUESTS, DEPTH = "queue/scheduler", "queue/nr_requests", "device/queue_depth"
SECTORS, ROTATIONAL, CACHE = "queue/max_sectors_kb", "queue/rotational", "queue/write_cache"
DISCARD, OPTIMAL = "queue/discard_max_bytes", "queue/optimal_io_size"
LOGICAL, PHYSICAL = "queue/logical_block_size", "queue/physical_block_size"
_ATTRIBUTES = (
    *(SCHEDULER, REQUESTS, DEPTH, SECTORS, ROTATIONAL, CACHE, DISCARD, OPTIMAL, LOGICAL, PHYSICAL),
    *("size", "device/state"),
)
_NAME = re.compile(r"[A-Za-z0-9_.!-]{1,64}\Z")
#: The last directory of a SCSI device: host, channel, target, unit.
_ADDRESS = re.compile(r".*/(\d+):(\d+):(\d+):(\d+)\Z")
#: The directory of an iSCSI session above it.
_SESSION = re.compile(r"/(session\d{1,6})/")
#: Other parts of the path of a device in sysfs, and what multipath calls their protocol.
_PROTOCOLS = (("/rport-", "scsi:fcp"), ("/session", "scsi:iscsi"), ("/end_device-", "scsi:sas"))
_SECTOR = 512


class Disk(NamedTuple):
    """A whole device, or a map of the device mapper. ``slaves`` are the devices below it.

    ``values`` are the files in its directory in sysfs; ``host`` is its SCSI host, ``session`` its
    iSCSI session. ``protocol`` is as multipath names it, None where its place does not tell it."""

    name: str
    dm_name: Optional[str]
    dm_uuid: str
    slaves: Tuple[str, ...]
    values: Dict[str, Answer[str]]
    host: Optional[str]
    known: Answer[udev.Known]
    session: Optional[str] = None
    protocol: Optional[str] = None

    @property
    def is_multipath(self) -> bool:
        return self.dm_uuid.startswith("mpath-")

    @property
    def title(self) -> str:
        return self.name if self.dm_name is None else f"{self.dm_name} ({self.name})"

    def file(self, attribute: str) -> str:
        return f"/sys/block/{self.name}/{attribute}"

    def number(self, attribute: str) -> int:
        return integer(known(self.values[attribute]))

    def lookup(self, *actions: str) -> Lookup:
        return lookup(self.name, known(self.known), self.values, actions)


class Partition(NamedTuple):
    """A partition. ``start`` is its first byte. ``offset`` is its misalignment in bytes as the
    kernel reports it (-1: cannot be determined)."""

    start: int
    offset: int


def lookup(
    name: str, record: udev.Known, values: Dict[str, Answer[str]], actions: Tuple[str, ...]
) -> Lookup:
    texts = {key: if_known(value, None) for key, value in values.items()}
    return udev.lookup_of(name, record, texts, actions)


def names(host: Host) -> List[str]:
    """The kernel's names of all block devices and partitions."""
    return [name for name in unless_absent(attempt(host.list_dir, CLASS), []) if _NAME.match(name)]


def whole(host: Host, name: str) -> str:
    """The disk of a partition. For a whole disk the disk itself."""
    folder = host.real_path(f"{CLASS}/{name}")
    if isinstance(attempt(host.read_text, folder + "/partition"), Absent):
        return name
    return folder.split("/")[-2]


def read_partition(host: Host, name: str) -> Partition:
    folder = host.real_path(f"{CLASS}/{name}")
    start = host.read_number(folder + "/start") * _SECTOR
    text = host.read_text(folder + "/alignment_offset").strip()
    if not re.match(r"-?\d{1,20}\Z", text):
        raise ParseError("alignment_offset", f"{kind_of(text)} is not a number")
    return Partition(start, int(text))


def read_below(host: Host, name: str, by_name: Dict[str, Disk]) -> List[str]:
    """The disk and all devices below it, the disk first. Each is added to ``by_name``."""
    left, below = [whole(host, name)], []
    while left:
        current = left.pop(0)
        if current in below:
            continue
        if current not in by_name:
            by_name[current] = _read(host, current)
        below.append(current)
        left += [whole(host, slave) for slave in by_name[current].slaves]
    return below


def outside_maps(below: Iterable[str], by_name: Dict[str, Disk]) -> List[str]:
    """The lowest of these disks that are not below one of their multipath maps."""
    all_of_them = list(below)
    left = [name for name in all_of_them if by_name[name].is_multipath]
    inside: List[str] = []
    while left:
        slaves = by_name[left.pop()].slaves
        inside += slaves
        left += [name for name in slaves if name in all_of_them]
    return sorted(
        name
        for name in all_of_them
        if not by_name[name].slaves and not by_name[name].is_multipath and name not in inside
    )


def read_holder(host: Host, name: str) -> Optional[str]:
    """The multipath map that the kernel has above a disk; None without one."""
    for holder in unless_absent(attempt(host.list_dir, f"/sys/block/{name}/holders"), []):
        if re.match(r"dm-[0-9]{1,6}\Z", holder):
            folder = f"/sys/block/{holder}/dm"
            if host.read_text(folder + "/uuid").startswith("mpath-"):
                return f"{host.read_text(folder + '/name').strip()} ({holder})"
    return None


def _read(host: Host, name: str) -> Disk:
    folder = f"/sys/block/{name}"
    slaves = unless_absent(attempt(host.list_dir, folder + "/slaves"), [])
    is_map = name.startswith("dm-")
    dm_name, uuid = (
        (host.read_text(f"{folder}/dm/{field}").strip() for field in ("name", "uuid"))
        if is_map
        else (None, "")
    )
    values = {attribute: attempt(_text, host, f"{folder}/{attribute}") for attribute in _ATTRIBUTES}
    device = if_known(attempt(host.real_path, folder + "/device"), "")
    address, session = _ADDRESS.match(device), _SESSION.search(device)
    return Disk(
        name,
        dm_name,
        uuid,
        tuple(slave for slave in slaves if _NAME.match(slave)),
        values,
        None if address is None else address.group(1),
        attempt(udev.read_known, host, name),
        None if session is None else session.group(1),
        next((name for part, name in _PROTOCOLS if part in device), None),
    )


def _text(host: Host, path: str) -> str:
    return host.read_text(path).strip()
