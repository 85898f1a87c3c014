# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache: files that are made once and used by later runs. Only our own account can write it.

The content is run as code, here and as root on hosts, so owner, mode and checksum are verified.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from .layout import IS_CHECKOUT, ROOT


def get_or_create(path: Path, make: Callable[[], bytes]) -> bytes:
    """The content of a cached file; ``make`` creates it if it is not there yet."""
    content = read_verified(path)
    if content is not None:
        return content
    with _lock(path.parent):
        # The previous holder of the lock may have created the file.
        content = read_verified(path)
        if content is None:
            content = make()
            with contextlib.suppress(OSError):
                write(path, content)
    return content


def read_verified(path: Path) -> bytes | None:
    """The content, if it is complete and ours: a full disk or a crash may have cut it."""
    with _opened(path) as stream:
        if stream is None:
            return None
        digest, content = stream.read(32), stream.read()
    return content if hashlib.sha256(content).digest() == digest else None


def digest(path: Path) -> bytes | None:
    """The SHA-256 at the start of a cached file. The reader of the file must verify it."""
    with _opened(path) as stream:
        return None if stream is None else stream.read(32)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BinaryIO | None]:
    """A cached file; None if there is none, or if another account may write it."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        yield None
        return
    with os.fdopen(handle, "rb") as stream:
        yield stream if _is_ours(os.fstat(handle), stat.S_ISREG) else None


def write(path: Path, content: bytes) -> None:
    """Write a cached file, as a whole or not at all. Raises OSError."""
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(hashlib.sha256(content).digest() + content)
        # Whole under its name, or not there.
        os.replace(part, path)
    except OSError:
        os.unlink(part)
        raise


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Lock so that only one worker creates a file. Without the lock, each does: only slower."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            fcntl.flock(stack.enter_context(os.fdopen(handle, "rb")), fcntl.LOCK_EX)
        yield


@functools.cache
def folder_of(kind: str, version: str) -> Path:
    """The directory of the cached files of this kind and version; one of this run alone if need
    be."""
    for parent in _parents():
        with contextlib.suppress(OSError):
            folder = parent / kind / version
            parent.parent.mkdir(exist_ok=True)
            for path in (parent, folder.parent, folder):
                # Each by itself: the mode that mkdir is given is not that of parents it makes.
                path.mkdir(mode=0o700, exist_ok=True)
                if not _is_ours(path.lstat(), stat.S_ISDIR):
                    break
            else:
                _forget_others(folder)
                return folder
    folder = Path(tempfile.mkdtemp(prefix="hostproof-"))
    atexit.register(_remove, folder, os.getpid())
    return folder


def _parents() -> Iterator[Path]:
    if IS_CHECKOUT:
        yield ROOT / ".cache"
    # An account without a name, as in a container, has no home.
    with contextlib.suppress(RuntimeError):
        yield Path.home() / ".cache/hostproof"


def _is_ours(status: os.stat_result, is_kind: Callable[[int], bool]) -> bool:
    writable = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return is_kind(status.st_mode) and status.st_uid == os.geteuid() and not writable


#: Versions that stay: a checkout under development has a new one with every edit.
_VERSIONS = 5


def _forget_others(folder: Path) -> None:
    """Remove the files of old versions. A run that still uses one makes it again."""
    others = [path for path in folder.parent.iterdir() if path != folder]
    others.sort(key=lambda path: path.lstat().st_mtime, reverse=True)
    for directory in others[_VERSIONS - 1 :]:
        shutil.rmtree(directory, ignore_errors=True)


def _remove(folder: Path, maker: int) -> None:
    if os.getpid() == maker:
        shutil.rmtree(folder, ignore_errors=True)
