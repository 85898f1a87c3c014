# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The change journal: the state of a host before Hostproof changed it, stored on that host.

Each ``/var/lib/hostproof/journal/<UTC>-<control>/0001.json`` contains one prior state. It is on
disk before the change is made. Each directory belongs to one apply. A directory whose changes were
restored moves to ``/var/lib/hostproof/reverted/``. The numbers and times in the names give the
order.

Fields of an entry:

- ``kind``: file, directory, value, mount or command.
- ``path``: path, or the name of a command.
- ``before``: null if the target did not exist. A file has {content (base64), mode, uid, gid,
  attributes (name to base64, not in schema 1)}, a value has its text, a mount has {source, fstype,
  options}, a command has {state, look, undo}.
- ``after``: SHA-256 of the new content of a file, the new value, "source fstype options" of the
  new mount, or the expected state after the command. Null if that state is not known in advance.
- ``of`` (only values of disks): identity of the disk, because its name can change until the
  restore.

Revert needs no additional space on the file system of the journal. ``0001.original`` is a hard link
to a file of root that is replaced or removed, if the file is on the same file system. Revert moves
it back. An empty directory in reverted/ reserves the space for the directory of the apply.
"""

import base64
import errno
import fcntl
import hashlib
import json
import os
import stat
import time
from contextlib import contextmanager, suppress
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

from ..collect import command, disk_names, guarded
from ..errors import HostproofError
from . import file_attributes
from .change import Change, CommandChange, FileChange, MountChange, MountState, encode
from .writer import Writer

ROOT = "/var/lib/hostproof"
SCHEMA = 2
_READABLE = (1, SCHEMA)

#: Describes the process that holds the lock; next to the lock.
_HOLDER = "holder.json"

#: Bytes of an entry: the largest file that is changed, as base64, and what stands around it.
_ENTRY_LIMIT = 2 * guarded.FILE_LIMIT

_ENTRY, _ORIGINAL = ".json", ".original"
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Entry(NamedTuple):
    """One prior state, as its file in the journal holds it.

    ``original``, which is not in that file, is the path of the old file itself where it was kept.
    """

    kind: str
    path: str
    before: Any
    after: Optional[str]
    of: Optional[str] = None
    original: Optional[str] = None


class Transaction(NamedTuple):
    """The prior states of one apply, in the order of the changes."""

    name: str
    control: str
    entries: List[Entry]


class Journal:
    """The journal of one host. ``root`` holds journal/ and reverted/."""

    def __init__(self, writer: Writer, root: str = ROOT) -> None:
        self._writer = writer
        self._open = os.path.join(root, "journal")
        self._closed = os.path.join(root, "reverted")
        self._root = root

    @contextmanager
    def exclusive_lock(self, purpose: str = "an apply or revert") -> Iterator[None]:
        """Keep any other apply or revert of this host out; HostproofError says who is at work.

        A mount that goes on after its apply was killed counts as one: it would be made over
        what a revert restores. The kernel holds the lock, so that none outlives a crash; the
        name next to it is for people alone.
        """
        for folder in missing_folders(self._root):
            self._writer.make_folder(folder)  # AIX has no /var/lib
        if not os.path.lexists(self._root):
            self._writer.make_folder(self._root, 0o700)
        self._check_root()
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)
        handles = [os.open(self._root, flags)]
        try:
            if not self._lock(handles[0]):
                path = os.path.join(self._root, "lock")
                flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
                handles.append(os.open(path, flags, 0o600))
                self._lock(handles[1])
            self._writer.held = tuple(handles)
            self._note_holder(purpose)
            yield
        finally:
            self._writer.held = ()
            for handle in handles:
                os.close(handle)

    def obstacles(self) -> List[str]:
        """Why nothing can be recorded here; check mode reports it as well."""
        try:
            self._check_root()
        except HostproofError as problem:
            return [str(problem)]
        return []

    def _check_root(self) -> None:
        """Revert runs the journal with our privileges, so no other account may write to it."""
        if not os.path.lexists(self._root):
            return
        look = os.lstat(self._root)
        if (
            guarded.actor(self._root) != os.geteuid()
            or not stat.S_ISDIR(look.st_mode)
            or look.st_uid != os.geteuid()
            or look.st_mode & 0o022
        ):
            raise HostproofError(
                f"the change journal {self._root} is not a directory that "
                f"{guarded.name_of(os.geteuid())} only may change: find out who changed "
                "it, and move it"
            )

    def _lock(self, handle: int) -> bool:
        """Whether the file system supports the lock; HostproofError if another process holds it."""
        try:
            return _lock(handle)
        except BlockingIOError:
            raise HostproofError(
                "another apply or revert is at work on this host, or a mount that one of them "
                f"began and that goes on: {self._holder()}; wait until it ends"
            ) from None

    def _note_holder(self, purpose: str) -> None:
        note = {
            "pid": os.getpid(),
            "purpose": purpose,
            "since": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "user": os.environ.get("SUDO_USER") or guarded.name_of(os.getuid()),
        }
        text = json.dumps(note, sort_keys=True) + "\n"
        path = os.path.join(self._root, _HOLDER)
        try:
            self._writer.write_file(path, text.encode("ascii"), 0o600)
        except OSError:
            # On a full disk the note is left out, but no other process may be there.
            with suppress(OSError):
                self._writer.remove_file(path)

    def _holder(self) -> str:
        """The process that holds the lock, as text."""
        try:
            description = describe_file(os.path.join(self._root, _HOLDER))
            if description is None:
                return "who it is was not noted yet"
            note = json.loads(base64.b64decode(description["content"]).decode("ascii"))
            pid = int(note["pid"])
            words = "{0} of {1}, process {2}, since {3}".format(
                *(str(note[name])[:60] for name in ("purpose", "user", "pid", "since"))
            )
        except (HostproofError, OSError, ValueError, KeyError, TypeError):
            return "its account is unknown"
        if _is_gone(pid):
            words += " (that process has ended, a command of it has not)"
        return words

    def begin(self, control: str) -> str:
        """Make the directory for one apply and return its name."""
        for folder in (self._root, self._open, self._closed):
            if not os.path.isdir(folder):
                self._writer.make_folder(folder, 0o700)
        now = time.time()
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now))
        name = f"{stamp}.{int(now % 1 * 1000000):06d}Z-{control}"
        last = max(self._names() + self._reverted_names() + [""])
        if last >= name:
            # A clock that went back must not change the order in which states are restored.
            name = "{0}~-{1}".format(last.rsplit("-", 1)[0], control)
        self._writer.make_folder(os.path.join(self._closed, name), 0o700)
        self._writer.make_folder(os.path.join(self._open, name), 0o700)
        return name

    def record(self, name: str, change: Change) -> None:
        """Keep the state that ``change`` is about to replace, on disk, before it is made."""
        if isinstance(change, FileChange):
            self.record_folders(name, missing_folders(change.path))
            after = None if change.content is None else digest(encode(change.content))
            before = describe_file(change.path, change.owner)
            number = self._keep(name, Entry("file", change.path, before, after))
            if before is not None:
                self._keep_original(name, number, change.path)
        elif isinstance(change, MountChange):
            old = None if change.before is None else dict(change.before._asdict())
            after = None if change.after is None else " ".join(change.after)
            self._keep(name, Entry("mount", change.path, old, after))
        elif isinstance(change, CommandChange):
            undone = {
                "state": change.before,
                "look": change.look.as_dict(),
                "undo": [step.as_dict() for step in change.undo],
            }
            self._keep(name, Entry("command", change.name, undone, change.after))
        else:
            of = disk_names.identity(change.path)
            self._keep(name, Entry("value", change.path, change.before, change.value, of))

    def record_folders(self, name: str, paths: List[str]) -> None:
        """Keep that the directories do not exist, before they are made."""
        for path in paths:
            self._keep(name, Entry("folder", path, None, None))

    def _keep(self, name: str, entry: Entry) -> int:
        """The number of the entry."""
        folder = os.path.join(self._open, name)
        number = len([name for name in os.listdir(folder) if name.endswith(_ENTRY)]) + 1
        record = dict(entry._asdict(), schema=SCHEMA)
        del record["original"]
        if entry.of is None:
            del record["of"]
        text = json.dumps(record, indent=1, sort_keys=True) + "\n"
        path = os.path.join(folder, f"{number:04d}{_ENTRY}")
        self._writer.write_file(path, text.encode("ascii"), 0o600)
        return number

    def _keep_original(self, name: str, number: int, path: str) -> None:
        """Without it (on another file system, or one without links) revert uses the entry alone.

        OSError where there is no space: revert would not have it either.
        """
        if guarded.actor(path) != os.geteuid():
            return
        try:
            self._writer.link(path, os.path.join(self._open, name, f"{number:04d}{_ORIGINAL}"))
        except OSError as problem:
            if problem.errno in _FULL:
                raise

    def originals_of(self, device: int, inode: int) -> int:
        """The number of names of a file are here: an apply that was killed leaves them."""
        count = 0
        for name in self._names():
            for path in self._originals(name):
                look = os.lstat(path)
                count += (look.st_dev, look.st_ino) == (device, inode)
        return count

    def _originals(self, name: str) -> List[str]:
        folder = os.path.join(self._open, name)
        originals = [
            original for original in sorted(os.listdir(folder)) if original.endswith(_ORIGINAL)
        ]
        return [os.path.join(folder, original) for original in originals]

    def transactions(self, control: Optional[str] = None) -> List[Transaction]:
        """Transactions that can be restored, newest first."""
        transactions = [self.transaction(name) for name in sorted(self._names(), reverse=True)]
        return [
            transaction
            for transaction in transactions
            if control is None or transaction.control == control
        ]

    def close(self, name: str) -> None:
        """Note that everything in the directory was restored."""
        for original in self._originals(name):
            self._writer.remove_file(original)
        folder = os.path.join(self._open, name)
        try:
            self._writer.move(folder, os.path.join(self._closed, name))
        except OSError as problem:
            if problem.errno not in _FULL:
                raise
            # An older version kept no place for it. The newest state goes first: what is left after
            # a crash is still right.
            for file_name in sorted(os.listdir(folder), reverse=True):
                self._writer.remove_file(os.path.join(folder, file_name))
            self._writer.remove_folder(folder)

    def _names(self) -> List[str]:
        self._check_root()
        return os.listdir(self._open) if os.path.isdir(self._open) else []

    def _reverted_names(self) -> List[str]:
        return os.listdir(self._closed) if os.path.isdir(self._closed) else []

    def transaction(self, name: str) -> Transaction:
        """The states that one apply replaced, under the names that disks have now; HostproofError
        if an entry cannot be understood."""
        folder = os.path.join(self._open, name)
        entries: List[Entry] = []
        for file_name in sorted(os.listdir(folder)):
            if not file_name.endswith(_ENTRY):
                continue  # an original, or the unfinished file of a write that was killed
            path = os.path.join(folder, file_name)
            try:
                text = guarded.as_owner(path, _read_entry, follow=False)
                entry = _entry_of(json.loads(text))
            except (AttributeError, KeyError, TypeError, ValueError) as problem:
                raise HostproofError(
                    f"change journal {path}: {problem}; nothing was restored, check it manually"
                ) from problem
            original = path[: -len(_ENTRY)] + _ORIGINAL
            if os.path.lexists(original):
                entry = entry._replace(original=original)
            places = disk_names.paths_of(entry.path, entry.of)
            entries += [entry._replace(path=place) for place in places]
        return Transaction(name, name.rsplit("-", 1)[-1], entries)


def _lock(handle: int) -> bool:
    """Whether the file system supports the lock; BlockingIOError if another process holds it.

    On AIX, Python emulates flock with fcntl. A directory cannot be locked there, because it is
    never open for writing. EACCES then means that another process holds the lock.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno not in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES):
            return False  # or a file system that knows no locks (a root on NFS)
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from problem
    return True


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _read_entry(place: guarded.Place) -> str:
    with guarded.open_file(place) as handle:
        return guarded.read_bounded(handle, place.path, _ENTRY_LIMIT).decode("ascii")


def _entry_of(record: object) -> Entry:
    """The entry that a record holds; KeyError, TypeError or ValueError if it holds none."""
    if not isinstance(record, dict):
        raise ValueError("no entry")
    fields = dict(record)
    if fields.pop("schema") not in _READABLE:
        raise ValueError("written by another version of Hostproof")
    if "original" in fields:
        raise ValueError("no entry")
    entry = Entry(**fields)
    if entry.kind == "command":
        _check_command(entry)
        return entry
    if entry.kind not in ("file", "folder", "value", "mount") or not entry.path.startswith("/"):
        raise ValueError("no entry")
    if not (entry.of is None or isinstance(entry.of, str)):
        raise ValueError("no disk")
    _check_before(entry.kind, entry.before)
    return entry


def _check_before(kind: str, before: Any) -> None:
    if kind == "value" and not isinstance(before, str):
        raise ValueError("no old value")
    if kind == "mount" and not _is_mount(before):
        raise ValueError("no old mount")
    if kind == "file" and before is not None:
        _check_file(before)


def _check_file(before: Any) -> None:
    base64.b64decode(before["content"], validate=True)
    if not all(isinstance(before[name], int) for name in ("mode", "uid", "gid")):
        raise ValueError("no owner and mode")
    for value in before.get("attributes", {}).values():
        base64.b64decode(value, validate=True)


def _check_command(entry: Entry) -> None:
    for text in (entry.before["state"], entry.after):
        if text is not None and not isinstance(text, str):
            raise ValueError("no state")
    command.from_dict(entry.before["look"])
    if not [command.from_dict(step) for step in entry.before["undo"]]:
        raise ValueError("no command")


def _is_mount(before: Any) -> bool:
    return before is None or all(isinstance(text, str) for text in MountState(**before))


def describe_file(path: str, owner: Optional[int] = None) -> Optional[Dict[str, Any]]:
    """A file as file_attributes.py describes it, or None if there is none."""
    description = guarded.as_owner(path, file_attributes.describe, owner)
    return None if description is None else dict(description)


def missing_folders(path: str) -> List[str]:
    """The directories above ``path`` that do not exist yet, outermost first; of one that ends in a
    slash itself too."""
    inside = path + "." if not path.endswith("/") else path + "in it"
    return [str(folder) for folder in guarded.as_owner(inside, guarded.missing)]


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
