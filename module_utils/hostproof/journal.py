# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The change journal: what a host looked like before Hostproof changed it, kept on that host.

``/var/lib/hostproof/journal/<UTC>-<control>/0001.json`` is one prior state, on disk before the
change is made; a folder is one apply. A folder whose changes were put back moves to
``/var/lib/hostproof/reverted/``. The numbers and the times in the names give the order.

An entry: ``kind`` is file, folder, value, mount or command; ``path``, of a command its name;
``before`` is null where nothing was there, for a file {content (base64), mode, uid, gid}, for a
value its text, for a mount {source, fstype, options}, for a command {state, look, undo}; ``after``
is the sha256 of the new content, the new value, "source fstype options" of the new mount, or the
state that the command is to bring, null where that cannot be told in advance.
"""

import base64
import errno
import fcntl
import hashlib
import json
import os
import time
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

from . import command
from .change import Change, CommandChange, FileChange, MountChange, MountState, encode
from .errors import HostproofError
from .writer import Writer

ROOT = "/var/lib/hostproof"
SCHEMA = 1


class Entry(NamedTuple):
    """One prior state, as its file in the journal holds it."""

    kind: str
    path: str
    before: Any
    after: Optional[str]


class Transaction(NamedTuple):
    """The prior states of one apply, in the order of the changes."""

    name: str
    control: str
    entries: List[Entry]


class Journal:
    """The journal of one host. ``root`` holds journal/ and reverted/."""

    def __init__(self, writer, root=ROOT):
        # type: (Writer, str) -> None
        self._writer = writer
        self._open = os.path.join(root, "journal")
        self._closed = os.path.join(root, "reverted")
        self._root = root

    @contextmanager
    def alone(self):
        # type: () -> Iterator[None]
        """Keep any other apply or revert of this host out; HostproofError if one is at work.

        A mount that goes on after its apply was killed counts as one: it would be made over
        what a revert puts back.
        """
        for folder in missing_folders(self._root):
            self._writer.make_folder(folder)  # AIX has no /var/lib
        if not os.path.isdir(self._root):
            self._writer.make_folder(self._root, 0o700)
        handles = [os.open(self._root, os.O_RDONLY)]
        try:
            if not _lock(handles[0]):
                path = os.path.join(self._root, "lock")
                handles.append(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
                _lock(handles[1])
            self._writer.held = tuple(handles)
            yield
        finally:
            self._writer.held = ()
            for handle in handles:
                os.close(handle)

    def begin(self, control):
        # type: (str) -> str
        """Make the folder for one apply and return its name."""
        for folder in (self._root, self._open, self._closed):
            if not os.path.isdir(folder):
                self._writer.make_folder(folder, 0o700)
        now = time.time()
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now))
        name = "{0}.{1:06d}Z-{2}".format(stamp, int(now % 1 * 1000000), control)
        last = max(self._names() + self._reverted_names() + [""])
        if last >= name:
            # A clock that went back must not change the order in which states are put back.
            name = "{0}~-{1}".format(last.rsplit("-", 1)[0], control)
        self._writer.make_folder(os.path.join(self._open, name), 0o700)
        return name

    def record(self, name, change):
        # type: (str, Change) -> None
        """Keep the state that ``change`` is about to replace, on disk, before it is made."""
        if isinstance(change, FileChange):
            self.record_folders(name, missing_folders(change.path))
            after = None if change.content is None else digest(encode(change.content))
            self._keep(name, Entry("file", change.path, describe_file(change.path), after))
        elif isinstance(change, MountChange):
            before = None if change.before is None else dict(change.before._asdict())
            after = None if change.after is None else " ".join(change.after)
            self._keep(name, Entry("mount", change.path, before, after))
        elif isinstance(change, CommandChange):
            undone = {
                "state": change.before,
                "look": change.look.as_dict(),
                "undo": [one.as_dict() for one in change.undo],
            }
            self._keep(name, Entry("command", change.name, undone, change.after))
        else:
            self._keep(name, Entry("value", change.path, change.before, change.value))

    def record_folders(self, name, paths):
        # type: (str, List[str]) -> None
        """Keep that the folders do not exist, before they are made."""
        for path in paths:
            self._keep(name, Entry("folder", path, None, None))

    def _keep(self, name, entry):
        # type: (str, Entry) -> None
        folder = os.path.join(self._open, name)
        number = len([name for name in os.listdir(folder) if name.endswith(".json")]) + 1
        record = dict(entry._asdict(), schema=SCHEMA)
        text = json.dumps(record, indent=1, sort_keys=True) + "\n"
        path = os.path.join(folder, "{0:04d}.json".format(number))
        self._writer.write_file(path, text.encode("ascii"), 0o600)

    def transactions(self, control=None):
        # type: (Optional[str]) -> List[Transaction]
        """What can be put back, newest first."""
        found = [self.transaction(name) for name in sorted(self._names(), reverse=True)]
        return [one for one in found if control is None or one.control == control]

    def close(self, name):
        # type: (str) -> None
        """Note that everything in the folder was put back."""
        self._writer.move(os.path.join(self._open, name), os.path.join(self._closed, name))

    def _names(self):
        # type: () -> List[str]
        return os.listdir(self._open) if os.path.isdir(self._open) else []

    def _reverted_names(self):
        # type: () -> List[str]
        return os.listdir(self._closed) if os.path.isdir(self._closed) else []

    def transaction(self, name):
        # type: (str) -> Transaction
        """The states that one apply replaced; HostproofError if an entry cannot be understood."""
        folder = os.path.join(self._open, name)
        entries = []
        for file_name in sorted(os.listdir(folder)):
            if not file_name.endswith(".json"):
                continue  # the unfinished file of a write that was killed: nothing was changed yet
            path = os.path.join(folder, file_name)
            try:
                with open(path, "rb") as stream:
                    entries.append(_entry_of(json.loads(stream.read().decode("ascii"))))
            except (AttributeError, KeyError, TypeError, ValueError) as problem:
                raise HostproofError(
                    "change journal {0}: {1}; nothing was put back, look at it by hand".format(
                        path, problem
                    )
                ) from problem
        return Transaction(name, name.rsplit("-", 1)[-1], entries)


def _lock(handle):
    # type: (int) -> bool
    """Whether the file system locks what this is; HostproofError if somebody else has it.

    Where Python has to make flock out of fcntl (AIX), a folder cannot be locked, for it is never
    open for writing; and EACCES then says that somebody else has the lock.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno not in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES):
            return False  # or a file system that knows no locks (a root on NFS)
        raise HostproofError(
            "another apply or revert is at work on this host, or a mount that one of them began "
            "and that goes on: wait until it ends"
        ) from problem
    return True


def _entry_of(record):
    # type: (Any) -> Entry
    """The entry that a record holds; KeyError, TypeError or ValueError if it holds none."""
    if not isinstance(record, dict):
        raise ValueError("no entry")
    fields = dict(record)
    if fields.pop("schema") != SCHEMA:
        raise ValueError("written by another version of Hostproof")
    entry = Entry(**fields)
    before = entry.before
    if entry.kind == "command":
        _check_command(entry)
        return entry
    if entry.kind not in ("file", "folder", "value", "mount") or not entry.path.startswith("/"):
        raise ValueError("no entry")
    if entry.kind == "value" and not isinstance(before, str):
        raise ValueError("no old value")
    if entry.kind == "file" and before is not None:
        base64.b64decode(before["content"], validate=True)
        if not all(isinstance(before[name], int) for name in ("mode", "uid", "gid")):
            raise ValueError("no owner and mode")
    if entry.kind == "mount" and not _is_mount(before):
        raise ValueError("no old mount")
    return entry


def _check_command(entry):
    # type: (Entry) -> None
    for text in (entry.before["state"], entry.after):
        if text is not None and not isinstance(text, str):
            raise ValueError("no state")
    command.from_dict(entry.before["look"])
    if not [command.from_dict(one) for one in entry.before["undo"]]:
        raise ValueError("no command")


def _is_mount(before):
    # type: (Any) -> bool
    return before is None or all(isinstance(text, str) for text in MountState(**before))


def describe_file(path):
    # type: (str) -> Optional[Dict[str, Any]]
    """Content and owner of a file, or None if there is none."""
    try:
        with open(path, "rb") as stream:
            content = stream.read()
            found = os.fstat(stream.fileno())
    except FileNotFoundError:
        return None
    return {
        "content": base64.b64encode(content).decode("ascii"),
        "mode": found.st_mode & 0o7777,
        "uid": found.st_uid,
        "gid": found.st_gid,
    }


def missing_folders(path):
    # type: (str) -> List[str]
    """The folders above ``path`` that do not exist yet, outermost first."""
    missing = []
    folder = os.path.dirname(path)
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return list(reversed(missing))


def digest(content):
    # type: (bytes) -> str
    return hashlib.sha256(content).hexdigest()
