# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Attributes of a file in addition to content, owner and mode, and obstacles to replacing it.

A file is replaced by a new file (writer.py). The new file must get the access list, the SELinux
label, the capabilities and every other extended attribute of the old file (xattr(7)). Attributes
that a new file cannot have, such as a signature or a second hard link, are obstacles: the change is
rejected.
"""

import array
import base64
import errno
import fcntl
import os
import sys
from typing import Any, Dict, List, NamedTuple, Optional

from ..collect import guarded
from ..errors import HostproofError

#: Bytes of all names and values of a file; the kernel allows 64 KiB for each value.
LIMIT = 1024 * 1024

#: Signatures of the content or of the inode (Linux, security/integrity): a new file has another.
_SIGNATURES = ("security.ima", "security.evm")
_CAPABILITY = "security.capability"

#: Only the kernel sets and removes what a security module keeps here.
_SECURITY = "security."

#: FS_IOC_GETFLAGS and its flags (include/uapi/linux/fs.h). Some architectures encode it otherwise.
_GET_FLAGS = 0x80086601
_GET_FLAGS_OTHERS = 0x40086601
_OTHERS = ("ppc", "mips", "sparc", "alpha", "parisc")
_IMMUTABLE, _APPEND_ONLY, _VERITY = 0x10, 0x20, 0x100000

#: S_IXACL in st_mode on AIX (sys/mode.h): an extended access list, which Python cannot copy.
_AIX_ACCESS_LIST = 0o200000000

_ABSENT = (errno.ENODATA, getattr(errno, "ENOATTR", errno.ENODATA))
_UNKNOWN = (errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


class HardLinks(NamedTuple):
    """A file with more than one name. ``device`` and ``inode`` tell which file it is."""

    number: int
    device: int
    inode: int


def describe(place: guarded.Place) -> Optional[Dict[str, Any]]:
    """Content (base64), mode, owner and extended attributes; None if there is no file."""
    if place.found is None:
        return None
    with guarded.open_file(place) as handle:
        look = os.fstat(handle)
        return {
            "content": base64.b64encode(
                guarded.read_bounded(handle, place.path, guarded.FILE_LIMIT)
            ).decode("ascii"),
            "mode": look.st_mode & 0o7777,
            "uid": look.st_uid,
            "gid": look.st_gid,
            "attributes": read(handle),
        }


def is_as(now: Optional[Dict[str, Any]], before: Dict[str, Any]) -> bool:
    """Whether a file is as it was described; older descriptions have no attributes."""
    if now is None or any(now[name] != before[name] for name in ("content", "mode", "uid", "gid")):
        return False
    return "attributes" not in before or not _different(now["attributes"], before["attributes"])


def read(handle: int) -> Dict[str, str]:
    """All extended attributes of an open file: name to value (base64).

    HostproofError if there are more than ``LIMIT`` bytes.
    """
    try:
        names = os.listxattr(handle)
    except AttributeError:
        return {}  # Python only has them on Linux
    except OSError as problem:
        if problem.errno in _UNKNOWN:
            return {}
        raise
    attributes: Dict[str, str] = {}
    size = 0
    for name in sorted(names):
        try:
            value = os.getxattr(handle, name)
        except OSError as problem:
            if problem.errno in _ABSENT:
                continue
            raise
        size += len(name) + len(value)
        if size > LIMIT:
            raise HostproofError(f"its extended attributes have more than {LIMIT} bytes")
        attributes[name] = base64.b64encode(value).decode("ascii")
    return attributes


def give(handle: int, expected: Dict[str, str], path: str) -> None:
    """Make the extended attributes of a new file those that are required.

    HostproofError names one that it cannot have, OSError says that the disk is full. The mode is
    set after this: the access list contains it.
    """
    now = read(handle)
    problem: Optional[OSError] = None
    for name in _different(now, expected):
        try:
            if name in expected:
                os.setxattr(handle, name, base64.b64decode(expected[name]))
            else:
                os.removexattr(handle, name)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise
            problem = error
    check(handle, expected, path, problem)


def check(
    handle: int, expected: Dict[str, str], path: str, problem: Optional[OSError] = None
) -> None:
    """HostproofError if the file has other extended attributes than wanted."""
    different = _different(read(handle), expected)
    if different:
        reason = "" if problem is None else f" ({problem.strerror})"
        raise HostproofError(
            f"{path}: {guarded.name_of(os.geteuid())} cannot keep its attribute {different[0]}"
            f"{reason}; remove that attribute, or change the file manually"
        )


def _different(now: Dict[str, str], expected: Dict[str, str]) -> List[str]:
    """Names whose values differ. A label that only the new file has is the kernel's own."""
    names = set(expected) | {name for name in now if not name.startswith(_SECURITY)}
    return sorted(name for name in names if now.get(name) != expected.get(name))


def obstacle(place: guarded.Place) -> Optional[str]:
    """Why the file cannot be replaced, made or removed with all that it has; None if it can."""
    return _folder_obstacle(place) or (None if place.found is None else _file_obstacle(place))


def _folder_obstacle(place: guarded.Place) -> Optional[str]:
    path = os.path.dirname(place.missing[0] if place.missing else place.path) or "/"
    try:
        handle = os.open(".", os.O_RDONLY | getattr(os, "O_DIRECTORY", 0), dir_fd=place.folder)
    except PermissionError:
        return None  # the write itself tells
    try:
        if os.fstatvfs(handle).f_flag & getattr(os, "ST_RDONLY", 1):
            return f"{path} is on a file system that is mounted read-only"
        return _flagged(handle, path)
    finally:
        os.close(handle)


def _file_obstacle(place: guarded.Place) -> Optional[str]:
    path = place.path
    with guarded.open_file(place) as handle:
        if os.fstat(handle).st_mode & _AIX_ACCESS_LIST:
            return f"{path} has an extended access list (aclget), which would be lost: remove it"
        try:
            names = read(handle)
        except HostproofError as problem:
            return f"{path}: {problem}"
        for name in _SIGNATURES:
            if name in names:
                return (
                    f"{path} is signed ({name}), and a changed file would not be: change and sign "
                    "it manually"
                )
        if _CAPABILITY in names and os.geteuid() != 0:
            return (
                f"{path} has capabilities ({_CAPABILITY}), which "
                f"{guarded.name_of(os.geteuid())} cannot keep: remove them with setcap -r"
            )
        return _flagged(handle, path)


def _flagged(handle: int, path: str) -> Optional[str]:
    flags = _flags(handle)
    if flags & _IMMUTABLE:
        return f"{path} is immutable: remove that with chattr -i {path}"
    if flags & _APPEND_ONLY:
        return f"{path} is append-only: remove that with chattr -a {path}"
    if flags & _VERITY:
        return f"{path} is protected by fs-verity, and a changed file would not be"
    return None


def _flags(handle: int) -> int:
    """The inode flags of chattr(1); 0 where the file system has none."""
    if not sys.platform.startswith("linux"):
        return 0
    request = _GET_FLAGS_OTHERS if os.uname().machine.startswith(_OTHERS) else _GET_FLAGS
    answer = array.array("i", [0, 0])
    try:
        fcntl.ioctl(handle, request, answer, True)
    except OSError:
        return 0
    return answer[0]


def hard_links(place: guarded.Place) -> Optional[HardLinks]:
    """The names of a file that has several (hard links); None for any other."""
    if place.found is None or place.found.st_nlink < 2:
        return None
    return HardLinks(place.found.st_nlink, place.found.st_dev, place.found.st_ino)
