# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Other names of a disk: paths without a map, by the kernel's wwid, and paths of PowerPath.

Sources: Linux, drivers/scsi/scsi_sysfs.c and drivers/nvme/host/core.c (wwid); PowerPath for Linux,
powermt display dev=all.
"""

import re
from typing import Dict, List, Optional, Tuple

from ....collect.answer import Answer, attempt, if_known, unless_absent
from ....collect.host import Host
from ....errors import HostproofError
from . import disks

POWERMT = ["powermt", "display", "dev=all"]
PSEUDO = re.compile(r"emcpower[a-z]{1,4}\d{0,3}\Z")
#: A path of native NVMe multipath: subsystem, controller, namespace.
NVME_PATH = re.compile(r"nvme(\d+)c\d+(n\d+)\Z")
_SCSI, _NVME = re.compile(r"sd[a-z]{1,4}\Z"), re.compile(r"nvme\d{1,5}n\d{1,5}\Z")
#: Names that are unique. Others can come from a disk without a serial number.
_UNIQUE = re.compile(r"(?:naa|eui|uuid|nvme)\.[0-9A-Za-z-]{12,}\Z")
_OF_PSEUDO = re.compile(r"Pseudo name=(emcpower[a-z]{1,4}\d{0,3})(?![\w])")
_OF_PATH = re.compile(r"\s+\d+\s+\S.*?\s(sd[a-z]{1,4})\s+\S")
#: More disks than any host has.
_MOST = 4096


def read_paths(host: Host) -> Dict[str, str]:
    """The pseudo device of PowerPath by the name of each path. Empty without pseudo devices."""
    if not any(PSEUDO.match(name) for name in disks.names(host)):
        return {}
    return powermt(host.read_output(POWERMT, record=kept_powermt))


def powermt(text: str) -> Dict[str, str]:
    """Parse ``powermt display dev=all``: the pseudo device by the name of each path."""
    pseudo, found = "", {}
    for line in text.splitlines():
        device, path = _OF_PSEUDO.match(line.strip()), _OF_PATH.match(line)
        if device is not None:
            pseudo = device.group(1)
        elif path is not None and pseudo:
            found[path.group(1)] = pseudo
    return found


def kept_powermt(text: str) -> str:
    """The part that is recorded: names of pseudo devices and lines of paths."""
    return "\n".join(
        line
        for line in text.split("\n")
        if _OF_PSEUDO.match(line.strip()) or _OF_PATH.match(line) or not line.strip()
    )


def read_twins(host: Host, names: List[str]) -> Dict[str, Answer[Tuple[str, Tuple[str, ...]]]]:
    """(wwid, other disks with the same wwid) of each disk that has such a wwid."""
    found: Dict[str, Answer[Tuple[str, Tuple[str, ...]]]] = {}
    all_names: List[str] = []
    for name in names:
        own = attempt(lambda one=name: unless_absent(attempt(_wwid, host, one), None))
        if isinstance(own, HostproofError):
            found[name] = own
        if isinstance(own, HostproofError) or own is None:
            continue
        all_names = all_names or disks.names(host)[:_MOST]
        kind = _SCSI if _SCSI.match(name) else _NVME
        others = [one for one in all_names if one != name and kind.match(one)]
        same = tuple(one for one in others if if_known(attempt(_wwid, host, one), None) == own)
        found[name] = (own, same)
    return found


def _wwid(host: Host, name: str) -> Optional[str]:
    """The kernel's wwid; None for a disk of another kind, or one that is not unique."""
    if not (_SCSI.match(name) or _NVME.match(name)):
        return None
    place = "device/wwid" if _SCSI.match(name) else "wwid"
    text = host.read_text(f"/sys/block/{name}/{place}").strip()
    return text if _UNIQUE.match(text) else None
