# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The only code that changes a host. Each method is one step that a crash can fall on either
side of, and leaves the host as it was or as it should be, never between."""

import os
from typing import Optional

#: The unfinished file of a write that was killed; it ends so that no .conf reader takes it.
UNFINISHED = ".hostproof-unfinished"


class Writer:
    """Writes files so that they survive a power cut, and values under /proc and /sys."""

    def make_folder(self, path, mode=0o755):
        # type: (str, int) -> None
        os.mkdir(path, mode)
        os.chmod(path, mode)
        _sync_folder(os.path.dirname(path))

    def remove_folder(self, path):
        # type: (str) -> None
        os.rmdir(path)
        _sync_folder(os.path.dirname(path))

    def write_file(self, path, content, mode, uid=None, gid=None):
        # type: (str, bytes, int, Optional[int], Optional[int]) -> None
        """Replace the file as a whole. A link is written through: its target is what counts."""
        path = os.path.realpath(path)
        unfinished = path + UNFINISHED
        _remove_if_there(unfinished)
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            if uid is not None and gid is not None:
                os.fchown(stream.fileno(), uid, gid)
            os.fchmod(stream.fileno(), mode)
            _copy_security_label(path, stream.fileno())
            stream.flush()
            os.fsync(stream.fileno())
        os.rename(unfinished, path)
        _sync_folder(os.path.dirname(path))

    def remove_file(self, path):
        # type: (str) -> None
        _remove_if_there(path + UNFINISHED)
        _remove_if_there(path)
        _sync_folder(os.path.dirname(path))

    def remove_unfinished(self, path):
        # type: (str) -> None
        """Remove what a killed write of the file left beside it."""
        _remove_if_there(os.path.realpath(path) + UNFINISHED)

    def move(self, source, target):
        # type: (str, str) -> None
        os.rename(source, target)
        _sync_folder(os.path.dirname(source))
        _sync_folder(os.path.dirname(target))

    def write_value(self, path, value):
        # type: (str, str) -> None
        """One write(2), as the kernel wants it: errors come back from exactly that call."""
        handle = os.open(path, os.O_WRONLY)
        try:
            os.write(handle, value.encode("ascii") + b"\n")
        finally:
            os.close(handle)


def _remove_if_there(path):
    # type: (str) -> None
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _sync_folder(path):
    # type: (str) -> None
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _copy_security_label(path, descriptor):
    # type: (str, int) -> None
    """Give the new file the SELinux label of the one that it replaces, where there is one."""
    try:
        os.setxattr(descriptor, "security.selinux", os.getxattr(path, "security.selinux"))
    except (OSError, AttributeError):
        pass
