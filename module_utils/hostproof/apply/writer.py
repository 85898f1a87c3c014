# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The only code that changes a host. Each method is one step that a crash can fall on either
side of, and leaves the host as it was or as it should be, never between."""

import errno
import os
import signal
import stat
import subprocess
import time
from functools import partial
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ..collect import command, guarded
from ..errors import HostproofError
from . import file_attributes

#: The unfinished file of a write that was killed; it ends so that no .conf reader takes it.
UNFINISHED = ".hostproof-unfinished"


#: Seconds. An NFS mount whose server does not answer ends by itself after three minutes.
MOUNT_LIMIT = 200
UNMOUNT_LIMIT = 120
RELOAD_LIMIT = 120
#: Bytes of what a command said that a message holds.
_SAID = 4096

_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)

#: There where systemd runs (sd_booted(3)).
_SYSTEMD = "/run/systemd/system"


class Writer:
    """Writes files so that they survive a power cut, values under /proc and /sys, mounts, and
    runs commands.

    ``held`` are descriptors that its commands keep open for as long as they or their helpers run.
    """

    held: Tuple[int, ...] = ()

    def make_folder(self, path: str, mode: int = 0o755) -> None:
        guarded.as_owner(path, partial(_make_folder, mode))

    def remove_folder(self, path: str) -> None:
        guarded.as_owner(path, _remove_folder, follow=False)

    def write_file(
        self,
        path: str,
        content: bytes,
        mode: int,
        uid: Optional[int] = None,
        gid: Optional[int] = None,
        attributes: Optional[Dict[str, str]] = None,
    ) -> None:
        """Replace the file as a whole. A link is followed: its target is replaced.

        ``attributes`` are the extended attributes of the new file (file_attributes.py); None keeps
        those of the old file. The write runs as the owner of the directories on the path
        (guarded.py).
        """
        new = _New(content, mode, uid, gid, attributes)
        guarded.as_owner(path, partial(_write_file, new))

    def link(self, path: str, other: str) -> None:
        """Give the file per second name on the same file system."""
        guarded.as_owner(path, partial(_link, other))

    def put_original(self, original: str, path: str, before: Dict[str, Any]) -> bool:
        """Move the original of a replaced or removed file back, which needs no space.

        False, with nothing changed, where it is not as described or cannot be moved there.
        """
        try:
            current = guarded.as_owner(original, file_attributes.describe, follow=False)
            if not file_attributes.is_as(current, before):
                return False
            guarded.as_owner(path, partial(_put_original, original))
        except OSError:
            return False
        return True

    def remove_file(self, path: str) -> None:
        guarded.as_owner(path, _remove_file, follow=False)

    def remove_unfinished(self, path: str) -> None:
        """Remove what a killed write of the file left next to it."""
        guarded.as_owner(path, _remove_unfinished)

    def move(self, source: str, target: str) -> None:
        os.rename(source, target)
        _sync_folder(os.path.dirname(source))
        _sync_folder(os.path.dirname(target))

    def write_value(self, path: str, value: str) -> None:
        """One write(2), as the kernel requires it: errors come back from exactly that call."""
        handle = os.open(path, os.O_WRONLY)
        try:
            os.write(handle, value.encode("ascii") + b"\n")
        finally:
            os.close(handle)

    def mount(self, source: str, path: str, fstype: str, options: str) -> None:
        """HostproofError with what mount says, or after a time limit."""
        self._run(["mount", "-t", fstype, "-o", options, source, path], MOUNT_LIMIT)

    def unmount(self, path: str) -> None:
        """Never lazily or by force: a database that still writes there would lose its files."""
        self._run(["umount", path], UNMOUNT_LIMIT)

    def reload_units(self) -> None:
        """Let systemd, where it runs, read fstab and its units again."""
        if os.path.isdir(_SYSTEMD):
            self._run(["systemctl", "daemon-reload"], RELOAD_LIMIT)

    def run(self, step: command.Command) -> str:
        """Run a command that changes something; HostproofError says how it failed.

        It does not hold the journal: what it starts may live on for years.
        """
        try:
            return command.state_of(step, command.run(step))
        except subprocess.TimeoutExpired as problem:
            raise HostproofError(
                f"{step.name}: no end after {step.timeout:g} seconds, stopped"
            ) from problem
        except (OSError, subprocess.SubprocessError, ValueError) as problem:
            raise HostproofError(f"{step.name}: {problem}") from problem

    def _run(self, argv: List[str], limit: float) -> None:
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
        until = time.monotonic() + limit
        try:
            (output,) = command.read_streams([process.stdout], argv, limit)
            # It may close its streams and live on.
            process.wait(max(0.001, until - time.monotonic()))
        except subprocess.TimeoutExpired as problem:
            _end_group(process)
            raise HostproofError(
                "{0}: no end after {1} seconds, stopped".format(" ".join(argv), limit)
            ) from problem
        except ValueError as problem:
            _end_group(process)
            raise HostproofError("{0}: {1}, stopped".format(" ".join(argv), problem)) from problem
        if process.stdout is not None:
            process.stdout.close()
        if process.returncode != 0:
            message = " ".join(output[-_SAID:].decode("utf-8", "replace").split())
            raise HostproofError(
                "{0}: {1}".format(" ".join(argv), message or f"ended with {process.returncode}")
            )


def _end_group(process: "subprocess.Popen[bytes]") -> None:
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


def _make_folder(mode: int, place: guarded.Place) -> None:
    os.mkdir(place.name, mode, dir_fd=place.folder)
    # The umask reduces the mode that mkdir gets.
    made = os.open(place.name, os.O_RDONLY | _FOLDER, dir_fd=place.folder)
    try:
        os.fchmod(made, mode)
    finally:
        os.close(made)
    _sync(place)


def _remove_folder(place: guarded.Place) -> None:
    os.rmdir(place.name, dir_fd=place.folder)
    _sync(place)


class _New(NamedTuple):
    """A file to write, as Writer.write_file takes it."""

    content: bytes
    mode: int
    uid: Optional[int]
    gid: Optional[int]
    attributes: Optional[Dict[str, str]]


def _write_file(new: _New, place: guarded.Place) -> None:
    if place.missing:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), place.missing[0])
    unfinished = place.name + UNFINISHED
    _remove_if_there(unfinished, place.folder)
    try:
        _write_unfinished(new, unfinished, place)
        os.rename(unfinished, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except (OSError, HostproofError):
        # On a full disk it would keep the space that the next file needs.
        _remove_if_there(unfinished, place.folder)
        raise
    _sync(place)


def _write_unfinished(new: _New, unfinished: str, place: guarded.Place) -> None:
    """Everything is set before the file has its name. Until the end only its owner has access."""
    attributes = new.attributes
    if attributes is None and place.found is not None:
        with guarded.open_file(place) as old:
            attributes = file_attributes.read(old)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    # Root needs no right to it, and its owner may have less than reading and writing.
    first = 0 if os.geteuid() == 0 else 0o600
    handle = os.open(unfinished, flags, first, dir_fd=place.folder)
    with os.fdopen(handle, "w+b") as stream:
        # Whose it is comes first: what cannot be given to its owner is not for others to read.
        if new.uid is not None and new.gid is not None:
            _give(handle, new.uid, new.gid)
        stream.write(new.content)
        stream.flush()
        # A new owner or new content takes capabilities away, so attributes come after them. The
        # access list contains the mode, so the mode is set last.
        if attributes is not None:
            file_attributes.give(handle, attributes, place.path)
        os.fchmod(handle, new.mode)
        _check_mode(handle, new, place.path)
        if attributes is not None:
            file_attributes.check(handle, attributes, place.path)
        os.fsync(handle)


def _check_mode(handle: int, new: _New, path: str) -> None:
    """The kernel drops setgid where the account is not in the group, and FAT has no modes."""
    mode = stat.S_IMODE(os.fstat(handle).st_mode)
    if mode != new.mode:
        raise HostproofError(
            f"{path}: {guarded.name_of(os.geteuid())} cannot create a file of mode {new.mode:04o} "
            f"there, it gets {mode:04o}; change the file manually"
        )


def _link(other: str, place: guarded.Place) -> None:
    os.link(place.name, other, src_dir_fd=place.folder, follow_symlinks=False)
    _sync_folder(os.path.dirname(other))


def _put_original(original: str, place: guarded.Place) -> None:
    if place.missing:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), place.missing[0])
    _remove_if_there(place.name + UNFINISHED, place.folder)
    os.rename(original, place.name, dst_dir_fd=place.folder)
    _sync(place)


def _give(handle: int, uid: int, gid: int) -> None:
    """The owner and group that it must have; only root may give a file away."""
    look = os.fstat(handle)
    if (look.st_uid, look.st_gid) == (uid, gid):
        return
    try:
        os.fchown(handle, uid, gid)
    except PermissionError:
        raise HostproofError(
            f"{guarded.name_of(os.geteuid())} cannot create a file of user {uid} and group {gid}, "
            "as the old one is: give it an owner and group of that account"
        ) from None


def _remove_file(place: guarded.Place) -> None:
    if place.missing:
        return
    _remove_if_there(place.name + UNFINISHED, place.folder)
    _remove_if_there(place.name, place.folder)
    _sync(place)


def _remove_unfinished(place: guarded.Place) -> None:
    if not place.missing:
        _remove_if_there(place.name + UNFINISHED, place.folder)


def _remove_if_there(name: str, folder: int) -> None:
    # A read-only file system rejects the removal even of what is not there (unlink(2), EROFS).
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    os.unlink(name, dir_fd=folder)


def _sync(place: guarded.Place) -> None:
    _sync_folder(".", place.folder)


def _sync_folder(path: str, folder: Optional[int] = None) -> None:
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0), dir_fd=folder)
    try:
        os.fsync(handle)
    except OSError as problem:
        if problem.errno not in (errno.EBADF, errno.EINVAL):
            raise
        # Only what is open for writing can be synced on some systems (AIX), and no directory is.
        os.sync()
    finally:
        os.close(handle)
