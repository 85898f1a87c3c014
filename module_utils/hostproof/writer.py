# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The only code that changes a host. Each method is one step that a crash can fall on either
side of, and leaves the host as it was or as it should be, never between."""

import errno
import os
import signal
import subprocess
import time
from typing import List, Optional, Tuple

from . import command
from .errors import HostproofError

#: The unfinished file of a write that was killed; it ends so that no .conf reader takes it.
UNFINISHED = ".hostproof-unfinished"


#: Seconds. An NFS mount whose server does not answer ends by itself after three minutes.
MOUNT_LIMIT = 200
UNMOUNT_LIMIT = 120
RELOAD_LIMIT = 120

#: There where systemd runs (sd_booted(3)).
_SYSTEMD = "/run/systemd/system"


class Writer:
    """Writes files so that they survive a power cut, values under /proc and /sys, mounts, and
    runs commands.

    ``held`` are descriptors that its commands keep open for as long as they or their helpers run.
    """

    held = ()  # type: Tuple[int, ...]

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

    def mount(self, source, path, fstype, options):
        # type: (str, str, str, str) -> None
        """HostproofError with what mount says, or after a time limit."""
        self._run(["mount", "-t", fstype, "-o", options, source, path], MOUNT_LIMIT)

    def unmount(self, path):
        # type: (str) -> None
        """Never lazily or by force: a database that still writes there would lose its files."""
        self._run(["umount", path], UNMOUNT_LIMIT)

    def reload_units(self):
        # type: () -> None
        """Let systemd, where it runs, read fstab and its units again."""
        if os.path.isdir(_SYSTEMD):
            self._run(["systemctl", "daemon-reload"], RELOAD_LIMIT)

    def run(self, wanted):
        # type: (command.Command) -> str
        """Run a command that changes something; HostproofError says how it failed.

        It does not hold the journal: what it starts may live on for years.
        """
        try:
            return command.state_of(wanted, command.run(wanted))
        except subprocess.TimeoutExpired as problem:
            raise HostproofError(
                "{0}: no end after {1:g} seconds, stopped".format(wanted.name, wanted.timeout)
            ) from problem
        except (OSError, subprocess.SubprocessError, ValueError) as problem:
            raise HostproofError("{0}: {1}".format(wanted.name, problem)) from problem

    def _run(self, argv, limit):
        # type: (List[str], float) -> None
        """Run a command to its end; HostproofError says how it failed."""
        environment = dict(os.environ, LC_ALL="C", LANG="C")
        environment["PATH"] = environment.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            pass_fds=self.held,
            start_new_session=True,
        )
        try:
            output, _none = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired as problem:
            _end_group(process)
            raise HostproofError(
                "{0}: no end after {1} seconds, stopped".format(" ".join(argv), limit)
            ) from problem
        if process.returncode != 0:
            said = " ".join(output.decode("utf-8", "replace").split())
            raise HostproofError(
                "{0}: {1}".format(
                    " ".join(argv), said or "ended with {0}".format(process.returncode)
                )
            )


def _end_group(process):
    # type: (subprocess.Popen[bytes]) -> None
    """End a command with its helpers: mount.nfs must not finish a mount behind our back."""
    for _ in range(100):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            break
        process.poll()
        time.sleep(0.1)
    process.poll()
    if process.stdout is not None:
        process.stdout.close()


def _remove_if_there(path):
    # type: (str) -> None
    # A read-only file system refuses the removal even of what is not there (unlink(2), EROFS).
    if os.path.lexists(path):
        os.unlink(path)


def _sync_folder(path):
    # type: (str) -> None
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(handle)
    except OSError as problem:
        if problem.errno not in (errno.EBADF, errno.EINVAL):
            raise
        # Only what is open for writing can be synced on some systems (AIX), and no folder is.
        os.sync()
    finally:
        os.close(handle)


def _copy_security_label(path, descriptor):
    # type: (str, int) -> None
    """Give the new file the SELinux label of the one that it replaces, where there is one."""
    try:
        os.setxattr(descriptor, "security.selinux", os.getxattr(path, "security.selinux"))
    except (OSError, AttributeError):
        pass
