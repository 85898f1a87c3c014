# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The disk behind a device node of any name: mknod, raw devices, labels of ASMLIB and of the filter
driver. A node is identified by its major and minor number.

Sources: stat(1), %t and %T; raw(8); Oracle Automatic Storage Management Administrator's Guide,
Oracle ASM Filter Driver, disk labels.
"""

import re
from typing import Optional

from ....collect.host import Host
from ....errors import Unanswered
from ....parsers.number import integer

_RAW_MAJOR = 162
_STAT = re.compile(r"(block|character) special file ([0-9a-f]{1,8}) ([0-9a-f]{1,8})\Z")
_BOUND = re.compile(r"/dev/raw/raw\d+:\s+bound to major (\d{1,10}), minor (\d{1,10})\s*\Z")
_PATH = re.compile(r"/dev/[A-Za-z0-9_.:@+=/-]{1,256}\Z")


def disk_of(host: Host, path: str) -> Optional[str]:
    """The kernel's name of the block device behind a node. None if it is not a disk."""
    argv = ["stat", "-L", "-c", "%F %t %T", path]
    output = host.run(argv)
    match = _STAT.match(output.stdout.strip())
    if output.rc != 0 or not (match or output.stdout.strip()):
        raise Unanswered("command:" + " ".join(argv), f"the numbers of {path} are not told")
    if match is None:
        return None
    major, minor = (integer(match.group(number), 16) for number in (2, 3))
    if match.group(1) == "block":
        return _by_number(host, path, f"{major}:{minor}")
    return _behind_raw(host, path) if major == _RAW_MAJOR and minor else None


def disk_of_label(host: Host, path: str) -> str:
    """The disk of a label. The label of ASMLIB is a block device with the numbers of the disk; the
    label of the filter driver is a file with the path of the disk."""
    name = disk_of(host, path)
    if name is None:
        target = host.read_text(path).strip()
        if not _PATH.match(target) or ".." in target:
            raise Unanswered("file:" + path, f"{path} names no device")
        name = disk_of(host, target)
    if name is None:
        raise Unanswered("file:" + path, f"{path} is not a link to a disk")
    return name


def _behind_raw(host: Host, path: str) -> str:
    argv = ["raw", "-q", path]
    output = host.run(argv)
    match = _BOUND.match(output.stdout)
    if output.rc != 0 or match is None:
        raise Unanswered("command:" + " ".join(argv), f"the disk behind {path} is not told")
    return _by_number(host, path, f"{match.group(1)}:{match.group(2)}")


def _by_number(host: Host, path: str, number: str) -> str:
    link = f"/sys/dev/block/{number}"
    name = host.real_path(link).split("/")[-1]
    if not name:
        raise Unanswered("link:" + link, f"the disk behind {path} is not told")
    return name
