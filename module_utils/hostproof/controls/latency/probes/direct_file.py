# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A file or block device that is read past the page cache, and never opened for writing.

Only where its file system keeps data is read: a hole answers at once, from no disk.
"""

import bisect
import errno
import io
import mmap
import os
import random
import stat
from typing import Callable, List, NamedTuple, Optional, Tuple

from ....errors import HostproofError
from ....parsers.mounts import mountinfo
from ....parsers.size import human

#: Reads begin and end at multiples of this: the largest block of a disk that is in use.
ALIGNMENT = 4096
_MOUNTINFO = "/proc/self/mountinfo"
#: A file in more pieces than this is read in its first ones.
_MOST_EXTENTS = 10000


class CannotRead(HostproofError):
    """The file cannot be read as it must be; the message says why."""


class DirectFile(NamedTuple):
    """An open file. ``extents`` are where it has data: begin and end, aligned.

    ``device`` is major and minor of the block device below, None where there is none (NFS).
    ``fstype`` is that of the mount, None for a block device and where it is unknown. ``sparse``:
    it has holes.
    """

    path: str
    descriptor: int
    size: int
    extents: Tuple[Tuple[int, int], ...]
    device: Optional[Tuple[int, int]]
    fstype: Optional[str]
    sparse: bool


def open_file(path: str) -> DirectFile:
    """Open for reading alone, with O_DIRECT; CannotRead says what is in the way.

    Nothing but a regular file or a block device is opened: reading others can have effects.
    """
    try:
        known = os.stat(path)
        if not (stat.S_ISREG(known.st_mode) or stat.S_ISBLK(known.st_mode)):
            raise CannotRead(f"{path} is neither a file nor a block device")
        descriptor = _open(path)
    except OSError as problem:
        if problem.errno == errno.EINVAL:
            raise CannotRead(
                f"{path} is on a file system without direct I/O (O_DIRECT), so that the memory "
                "would answer and not the disk"
            ) from problem
        raise CannotRead(f"{path}: {problem.strerror}") from problem
    try:
        return _described(path, descriptor, known)
    except BaseException:
        os.close(descriptor)
        raise


def _described(path: str, descriptor: int, known: os.stat_result) -> DirectFile:
    now = os.fstat(descriptor)
    if (now.st_dev, now.st_ino) != (known.st_dev, known.st_ino):
        raise CannotRead(f"{path} became another file meanwhile")
    block = stat.S_ISBLK(now.st_mode)
    number = now.st_rdev if block else now.st_dev
    size = os.lseek(descriptor, 0, os.SEEK_END)
    extents = [(0, size)] if block else _extents(descriptor, size)
    # Major 0 is not a block device, but a virtual or a network file system.
    major, minor = os.major(number), os.minor(number)
    return DirectFile(
        path=path,
        descriptor=descriptor,
        size=size,
        extents=tuple(_aligned(extents)),
        device=(major, minor) if major else None,
        fstype=None if block else _fstype(major, minor),
        sparse=sum(end - begin for begin, end in extents) < size,
    )


def _open(path: str) -> int:
    """Open without an update of the access time, if this user has the permission."""
    flags = os.O_RDONLY | os.O_DIRECT | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(path, flags | os.O_NOATIME)
    except PermissionError:
        return os.open(path, flags)


def _extents(descriptor: int, size: int) -> List[Tuple[int, int]]:
    """Where a file has data. A file system that does not tell says that all is data."""
    extents: List[Tuple[int, int]] = []
    at = 0
    try:
        while at < size and len(extents) < _MOST_EXTENTS:
            begin = os.lseek(descriptor, at, os.SEEK_DATA)
            at = os.lseek(descriptor, begin, os.SEEK_HOLE)
            extents.append((begin, at))
    except OSError as problem:
        if problem.errno == errno.EINVAL:
            return [(0, size)]
        if problem.errno != errno.ENXIO:
            raise
    return extents


def _aligned(extents: List[Tuple[int, int]]) -> List[Tuple[int, int]]:
    whole = [
        (-(-begin // ALIGNMENT) * ALIGNMENT, end // ALIGNMENT * ALIGNMENT) for begin, end in extents
    ]
    return [(begin, end) for begin, end in whole if begin < end]


def _fstype(major: int, minor: int) -> Optional[str]:
    try:
        with open(_MOUNTINFO, errors="surrogateescape") as stream:
            mounts = mountinfo.parse(stream.read())
    except (OSError, HostproofError):
        return None
    device = f"{major}:{minor}"
    types = [mount.fstype for mount in mounts if mount.device == device]
    return types[0] if types else None


def offsets(file: DirectFile, size: int, count: int, seed: int) -> List[int]:
    """Where to read: the same for the same file, size and seed, on every Python.

    CannotRead where no extent holds one read of ``size`` bytes.
    """
    passed: List[int] = []
    blocks = 0
    for begin, end in file.extents:
        blocks += (end - begin) // size
        passed.append(blocks)
    if not blocks:
        raise CannotRead(
            f"{file.path} has {human(sum(end - begin for begin, end in file.extents))} of data, "
            f"and no piece of it holds a read of {human(size)}"
        )
    # random() is the one method whose numbers no release of Python changes.
    chance = random.Random(seed).random
    chosen = []
    for _ in range(count):
        block = int(chance() * blocks)
        extent = bisect.bisect_right(passed, block)
        before = passed[extent - 1] if extent else 0
        chosen.append(file.extents[extent][0] + (block - before) * size)
    return chosen


def reader(file: DirectFile, size: int) -> Callable[[int], int]:
    """A function that reads ``size`` bytes at an offset into one buffer and returns their number.

    The buffer is separate and page-aligned, because direct I/O requires alignment.
    """
    buffer = mmap.mmap(-1, size)
    if hasattr(os, "preadv"):
        parts, descriptor, preadv = [buffer], file.descriptor, os.preadv
        return lambda offset: preadv(descriptor, parts, offset)
    # Python 3.6.
    raw = io.FileIO(file.descriptor, "r", closefd=False)
    seek, readinto = raw.seek, raw.readinto

    def read(offset: int) -> int:
        seek(offset)
        return readinto(buffer) or 0

    return read
