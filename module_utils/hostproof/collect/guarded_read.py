# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Root reads a path with the rights of the account that can choose its target.

Guarantees for reads by root (another user reads with its own rights):

- The path is walked by descriptor from /. The object that was checked is the object that is read
  (guarded.py). The spelling of a path has no effect.
- If only root can change the path, root reads.
- If one other account can, a child with the rights of only that account reads.
- If several accounts can, the read is rejected. Exception: if all of them are members of the group
  that root specified when Oracle was installed, a child with the rights of only that group reads.
  Each of the accounts could have read that too.
- ``named_by`` are files that contained the path. An account that may write one of them can choose
  the path, and counts like an account that can change it.
- A failure is an answer. No read is repeated with more rights.
- Only regular files are read, and /dev/null: a link to it masks a file and reads as an empty one.

Limitations: NFSv4 access lists are not evaluated. Owners and modes that an NFS server returns are
trusted.
"""

import errno
import os
import re
import stat
from functools import lru_cache, partial
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import child, guarded, mount_owner
from .child import Untrusted

#: A file longer than this is not configuration; reading it whole would harm the host.
READ_LIMIT = 8 * 1024 * 1024
#: Names in a directory: /proc of a busy host has some 100,000.
NAMES_LIMIT = 1000000
#: Seconds for a read that another account does.
SECONDS = 10.0

_PIECE = 64 * 1024
_ROOT = 0
#: Whose rights a child has that reads for the members of a group: an account that owns nothing.
_NOBODY = 65534
_QUIET = os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = getattr(os, "O_DIRECTORY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_LOOK = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_CLOEXEC", 0)

#: Files of /proc and /sys outside of the directories of processes: no link there leads elsewhere.
_KERNELS = re.compile(r"/(proc|sys)/(?!self(?:/|$)|thread-self(?:/|$)|[0-9])(.+)$", re.DOTALL)


class Reader(NamedTuple):
    """The account that reads. ``gid`` is the only group of a child that reads for its members."""

    uid: int
    gid: Optional[int] = None


class Found(NamedTuple):
    """What a path leads to: the path without links, its stat, and how it is opened."""

    path: str
    look: Optional[os.stat_result]
    open: Callable[[int], int]


# -- what is read of it ----------------------------------------------------------------------------


def text(target: Found) -> str:
    """The content of a regular file; bytes that are not UTF-8 survive as surrogates."""
    handle = _open_regular(target)
    try:
        return content(handle)
    finally:
        os.close(handle)


def head(limit: int, first: bytes, target: Found) -> str:
    """The first ``limit`` bytes of a regular file, "" if it does not begin with ``first``."""
    handle = _open_regular(target)
    try:
        with os.fdopen(handle, "rb", closefd=False) as stream:
            begin = stream.read(len(first))
            if begin != first:
                return ""
            return (begin + stream.read(limit - len(first))).decode("utf-8", "surrogateescape")
    finally:
        os.close(handle)


def names(target: Found) -> List[str]:
    """The sorted names in a directory."""
    if not stat.S_ISDIR(_there(target).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), target.path)
    handle = target.open(_QUIET | _FOLDER)
    try:
        return _names_of(handle)
    finally:
        os.close(handle)


def about(target: Found) -> Dict[str, Any]:
    """Mode, owner, size and time (host.Stat)."""
    return _about(_there(target))


def real_path(target: Found) -> str:
    """The path with every link resolved."""
    _there(target)
    return target.path


def _nothing(_found: Found) -> None:
    """For callers that only need the reader, not the content."""


def _there(target: Found) -> os.stat_result:
    if target.look is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), target.path)
    return target.look


def _open_regular(target: Found) -> int:
    """Never anything that waits or acts when it is opened."""
    _check_regular(_there(target), target.path)
    handle = target.open(_QUIET)
    try:
        _check_regular(os.fstat(handle), target.path)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _check_regular(look: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(look.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(look.st_mode) and not _is_null_device(look):
        raise ValueError("is not a regular file, not read")


def _is_null_device(look: os.stat_result) -> bool:
    return stat.S_ISCHR(look.st_mode) and look.st_rdev == os.stat(os.devnull).st_rdev


def content(handle: int) -> str:
    """All that an open file gives, as text."""
    # In small pieces: for each read of /proc/sys the kernel allocates as much as is requested.
    # The size is not asked: files of /proc and /sys say 0.
    pieces: List[bytes] = []
    length = 0
    while True:
        piece = os.read(handle, _PIECE)
        if not piece:
            return b"".join(pieces).decode("utf-8", "surrogateescape")
        pieces.append(piece)
        length += len(piece)
        if length > READ_LIMIT:
            raise ValueError(f"longer than {READ_LIMIT} bytes, not read")


def _names_of(handle: int) -> List[str]:
    place = f"/proc/self/fd/{handle}"
    if not os.path.isdir(place):
        return sorted(os.listdir(handle))
    entry_names = []
    with os.scandir(place) as entries:
        for entry in entries:
            entry_names.append(entry.name)
            if len(entry_names) > NAMES_LIMIT:
                raise ValueError(f"holds more than {NAMES_LIMIT} names, not read")
    return sorted(entry_names)


def _about(look: os.stat_result) -> Dict[str, Any]:
    return {
        "mode": look.st_mode & 0o7777,
        "uid": look.st_uid,
        "gid": look.st_gid,
        "size": look.st_size,
        "mtime": look.st_mtime,
    }


# -- who reads -------------------------------------------------------------------------------------


def read(
    path: str,
    step: Callable[[Found], object],
    named_by: Sequence[str] = (),
    kept: Optional[guarded.OpenFolders] = None,
) -> Any:
    """The result of ``step`` for a path, run as the account that can choose its target.

    ``kept`` are the directories that a search keeps open."""
    return _read(path, step, named_by, kept)[1]


def reader_of(paths: Sequence[str], named_by: Sequence[str] = ()) -> Reader:
    """The account that may read all of these paths; Untrusted if there is none."""
    readers = [_read(path, _nothing, named_by)[0] for path in paths]
    result = Reader(os.geteuid())
    for reader, path in zip(readers, paths):
        result = _joined(result, reader, path)
    if len(set(readers)) > 1 and result.uid != _ROOT:
        # One of them was not requested as whom all are read.
        for path in paths:
            _as_reader(path, _nothing, result)
    return result


def _read(
    path: str,
    step: Callable[[Found], object],
    named_by: Sequence[str],
    kept: Optional[guarded.OpenFolders] = None,
) -> Tuple[Reader, Any]:
    reader = Reader(os.geteuid())
    if reader.uid != _ROOT:
        return reader, step(_as_we_are(path))
    for file in named_by:
        reader = _joined(reader, _writer_of(file), file)
    while True:
        try:
            return reader, _as_reader(path, step, reader, kept)
        except guarded.Belongs as belongs:
            other = Reader(belongs.uid)
        except guarded.Shared as shared:
            other = Reader(_NOBODY, shared.gid)
        joined = _joined(reader, other, path)
        if joined == reader:
            raise Untrusted(f"{path} may be changed by several accounts: not read")
        reader = joined


def _joined(reader: Reader, other: Reader, path: str) -> Reader:
    """The reader for both: root can already choose everything."""
    if reader.uid == _ROOT or reader == other:
        return other
    if other.uid == _ROOT:
        return reader
    group = guarded.installing_group()
    if group is not None and all(_is_of(each, group[0], group[1]) for each in (reader, other)):
        return Reader(_NOBODY, group[0])
    raise Untrusted(
        "{0} may be changed by several accounts ({1}), so that none of them can read it for all: "
        "let what is on the way belong to one".format(
            path, " and ".join(map(_named, (reader, other)))
        )
    )


def _is_of(reader: Reader, gid: int, members: Any) -> bool:
    return reader.gid == gid or (reader.gid is None and reader.uid in members)


def _named(reader: Reader) -> str:
    return guarded.name_of(reader.uid) if reader.gid is None else f"the group {reader.gid}"


@lru_cache(maxsize=1024)
def _writer_of(path: str) -> Reader:
    """The account that may write a file or choose its target; root if the file does not exist.

    A search calls this for each script that a file names. Only root can change the result "root".
    """
    try:
        with guarded.walked(path, _ROOT) as place:
            if place.found is None:
                return Reader(_ROOT)
            handle = os.open(place.name, _LOOK | _NO_LINK, dir_fd=place.folder)
            try:
                others = guarded.others_of(os.fstat(handle), handle, frozenset((_ROOT,)))
            finally:
                os.close(handle)
    except guarded.Belongs as belongs:
        return Reader(belongs.uid)
    except guarded.Shared as shared:
        return Reader(_NOBODY, shared.gid)
    if not others:
        return Reader(_ROOT)
    if len(others) == 1 and None not in others:
        return Reader(next(other for other in others if other is not None))
    group = None if None in others else guarded.installing_group()
    if group is not None and others <= group[1]:
        return Reader(_NOBODY, group[0])
    raise Untrusted(
        f"{path} may be written by {guarded.names_of(others)}: its content is not used as a path"
    )


def _as_reader(
    path: str,
    step: Callable[[Found], object],
    reader: Reader,
    kept: Optional[guarded.OpenFolders] = None,
) -> Any:
    """Belongs or Shared if another account can also choose the target of the path."""
    if reader.uid == _ROOT:
        return _walk(path, step, _ROOT, frozenset((_ROOT,)), kept)
    trusted = frozenset((_ROOT, reader.uid))
    if reader.gid is not None:
        group = guarded.installing_group()
        trusted = frozenset((_ROOT,)) | (group[1] if group is not None else frozenset())
    work = partial(_answer_of_child, path, step, reader.uid, trusted)
    answer = child.call(work, SECONDS, path, reader.uid, reader.gid)
    if "belongs" in answer:
        raise guarded.Belongs(int(answer["belongs"]))
    if "shared" in answer:
        group = guarded.installing_group()
        if group is None or reader.gid is not None:
            raise Untrusted(str(answer["text"]))
        raise guarded.Shared(str(answer["text"]), *group)
    return answer["value"]


def _answer_of_child(
    path: str, step: Callable[[Found], object], uid: int, trusted: object
) -> Dict[str, Any]:
    """In the child, as JSON holds it."""
    try:
        return {"value": _walk(path, step, uid, trusted)}
    except guarded.Belongs as belongs:
        return {"belongs": belongs.uid}
    except guarded.Shared as shared:
        return {"shared": True, "text": str(shared)}


def _walk(
    path: str,
    step: Callable[[Found], Any],
    uid: int,
    trusted: Any,
    kept: Optional[guarded.OpenFolders] = None,
) -> Any:
    with guarded.walked(path, uid, trusted=trusted, folders=True, kept=kept) as place:
        return step(Found(place.path, place.found, partial(_open_in, place)))


def _open_in(place: guarded.Place, flags: int) -> int:
    return os.open(place.name, flags | _NO_LINK, dir_fd=place.folder)


def _as_we_are(path: str) -> Found:
    """Without root privileges, the current account reads."""
    try:
        look: Optional[os.stat_result] = os.stat(path)
    except FileNotFoundError:
        look = None
    return Found(os.path.realpath(path), look, partial(os.open, path))


# -- files of the kernel ---------------------------------------------------------------------------

#: By "proc" and "sys": the process that opened it, its descriptor and its device.
_TOPS: Dict[str, Tuple[int, int, int]] = {}


def kernels(path: str, task: str) -> Optional[Tuple[Any]]:
    """The answer to "file", "dir" or "stat" about a path of /proc or /sys, outside of the
    directories
    of processes, in a tuple; None where it is not certain that the kernel itself serves it.

    Such a file answers at once, so that no child has to wait for it.
    """
    match = _KERNELS.match(path)
    # With "." or nothing as a part, _KERNELS does not see the directory of a process behind it.
    if match is None or any(part in ("", ".", "..") for part in path.split("/")[1:]):
        return None
    top = _top(match.group(1))
    if top is None:
        return None
    flags = {"file": _QUIET, "dir": _QUIET | _FOLDER, "stat": _LOOK}[task]
    handle = os.open(match.group(2).strip("/") or ".", flags, dir_fd=top[1])
    try:
        look = os.fstat(handle)
        if look.st_dev != top[2]:
            return None
        if task == "stat":
            return (_about(look),)
        if task == "dir":
            return (_names_of(handle),)
        _check_regular(look, path)
        return (content(handle),)
    finally:
        os.close(handle)


def _top(name: str) -> Optional[Tuple[int, int, int]]:
    """The open directory /proc or /sys; None where it is none of the kernel's."""
    known = _TOPS.get(name)
    # A child has closed what its parent had open.
    if known is not None and known[0] == os.getpid():
        return known
    if not hasattr(os, "O_PATH"):
        return None
    handle = os.open("/" + name, _LOOK | _FOLDER | _NO_LINK)
    look = os.fstat(handle)
    try:
        mount = mount_owner.of_folder(handle, look, "/" + name)
    except (OSError, Untrusted):
        mount = None
    if mount is None or mount_owner.kernel_type(look.st_dev) is None:
        os.close(handle)
        return None
    _TOPS[name] = os.getpid(), handle, look.st_dev
    return _TOPS[name]
