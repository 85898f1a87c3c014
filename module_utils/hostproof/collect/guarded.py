# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens files directory by directory from /, by descriptor, as the account that owns the path.

An account that can change a directory can replace everything below it at any time. So root itself
accesses a path only if no other account can change a part of it. From the first directory of
another account, a child with the rights of that account does the work (child.py). If a third
account can change a part of the path, access is rejected: Untrusted names the account and the
directory. Links are followed if trusted accounts created them.

Group members are read from the account lists of the host, access lists are those of POSIX (Linux).
NFSv4 access lists are not evaluated. A FUSE file system belongs to the account that mounted it, not
to the owner that it reports. File systems of the kernel (/proc, /sys, cgroups) cannot be changed.
But the links of a process there (/proc/PID/cwd, root, exe, fd) lead to any place that the process
chooses, and are not followed.

The rules for reading are in guarded_read.py.
"""

import errno
import grp
import os
import pwd
import re
import stat
import struct
from contextlib import contextmanager
from functools import partial
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from ..errors import kind_of
from . import child, mount_owner
from .child import Untrusted

#: Bytes of a file that we read to change it or to restore it.
FILE_LIMIT = 8 * 1024 * 1024

#: Seconds for one step that another account does.
STEP_LIMIT = 30.0

#: As the kernel has it (path_resolution(7)).
MOST_LINKS = 40

#: O_PATH needs no right to read a directory and opens no device; AIX has neither.
_LOOK = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_QUIET = os.O_NONBLOCK | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)

_ROOT = 0
#: Inode of the directory / of a /proc (Linux include/linux/proc_ns.h, PROC_ROOT_INO).
_PROC_ROOT = 1

#: Directories that one search keeps open: a process may have 1,024 files open.
_MOST_FOLDERS = 400

#: Of HOME/bin/NAME, what must be the owner's.
_IN_HOME = 3

#: Where root.sh of the first installation names the inventory and its group: Linux and AIX, others.
_INVENTORIES = ("/etc/oraInst.loc", "/var/opt/oracle/oraInst.loc")

#: Tags of a POSIX access list (kernel include/uapi/linux/posix_acl.h), and its write permission.
_ACL = "system.posix_acl_access"
_USER, _GROUP, _MASK, _WRITE = 0x02, 0x08, 0x10, 0x02
#: There is none, or the file system keeps none; ENOENT: there is no /proc.
_NO_LIST = (errno.ENODATA, errno.ENOTSUP, errno.ENOENT)


class Place(NamedTuple):
    """Where a path leads: an open directory and the name in it. ``found`` is None where the
    name does
    not exist; ``missing`` are the directories that do not exist either, outermost first."""

    folder: int
    name: str
    found: Optional[os.stat_result]
    missing: Tuple[str, ...]
    path: str


class Belongs(Exception):
    """The way goes on in what belongs to another account."""

    def __init__(self, uid: int) -> None:
        super().__init__(uid)
        self.uid = uid


class Shared(Untrusted):
    """Several accounts may change the way, all of them members of the group that root named when
    Oracle was installed."""

    def __init__(self, text: str, gid: int, members: FrozenSet[int]) -> None:
        super().__init__(text)
        self.gid = gid
        self.members = members


def as_owner(
    path: str, step: Callable[[Place], object], owner: Optional[int] = None, follow: bool = True
) -> Any:
    """The result of ``step`` for the place, run as the owner of the path.

    ``owner``: the required owner of the file; in root's directories, root. None accepts any owner.
    """
    uid = os.geteuid()
    try:
        with walked(path, uid, follow) as place:
            _check_owner(place, owner, uid)
            return step(place)
    except Belongs as belongs:
        acting = belongs.uid
    if uid != _ROOT:
        raise Untrusted(f"{path} leads through directories of {name_of(acting)}")
    if owner is not None and acting != owner:
        raise Untrusted(f"{path} is in directories of {name_of(acting)}, not of {name_of(owner)}")
    return child.call(partial(_step_alone, path, step, acting, follow), STEP_LIMIT, path, acting)


def actor(path: str) -> int:
    """The account that accesses the path: the current one, or the owner of its directories."""
    try:
        with walked(path, os.geteuid()):
            return os.geteuid()
    except Belongs as belongs:
        return belongs.uid


def check_mount_point(path: str) -> None:
    """Untrusted if another account could replace the mount point. The kernel and mount(8) require a
    path and root privileges."""
    above = os.path.dirname(path.rstrip("/"))
    if above in ("", "/"):
        return
    acting = child.call(partial(_actor_in, above), STEP_LIMIT, above)
    if acting not in (None, os.geteuid()):
        raise Untrusted(
            f"{path} is below a directory that {name_of(acting)} may change, who could make root "
            "mount or unmount another place: make root the owner of the directories above it"
        )


def kind(place: Place) -> str:
    """Type of the place: "missing", "file", "folder", "link" (if not followed), or "odd"."""
    if place.found is None:
        return "missing"
    for name, is_one in (("file", stat.S_ISREG), ("folder", stat.S_ISDIR), ("link", stat.S_ISLNK)):
        if is_one(place.found.st_mode):
            return name
    return "odd"


def missing(place: Place) -> List[str]:
    """The directories above the place that do not exist, outermost first."""
    return list(place.missing)


def is_empty_folder(place: Place) -> bool:
    if kind(place) != "folder":
        return False
    handle = os.open(place.name, os.O_RDONLY | _FOLDER, dir_fd=place.folder)
    try:
        return not os.listdir(handle)
    finally:
        os.close(handle)


@contextmanager
def open_file(place: Place) -> Iterator[int]:
    """A regular file to read, never anything that blocks or acts when it is opened."""
    if place.found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), place.path)
    if not stat.S_ISREG(place.found.st_mode):
        raise OSError(errno.EINVAL, f"{place.path} is not a regular file")
    handle = os.open(place.name, os.O_RDONLY | _NO_LINK | _QUIET, dir_fd=place.folder)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, f"{place.path} is not a regular file")
        yield handle
    finally:
        os.close(handle)


def read_bounded(handle: int, path: str, limit: int) -> bytes:
    """All of it in small pieces, whatever size it claims to have."""
    pieces: List[bytes] = []
    length = 0
    while True:
        piece = os.read(handle, 65536)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        length += len(piece)
        if length > limit:
            raise OSError(errno.EFBIG, f"{path} is longer than {limit} bytes, not read")


@contextmanager
def program(path: str, uid: int) -> Iterator[int]:
    """A program of an Oracle home (HOME/bin/NAME) for its owner, opened for execution.

    Home, bin and program must belong to this account or to root, and no other account may change
    them. None of the three may be a link: it could lead to a program that the owner does not intend
    to run here. Members of the group in Oracle's inventory are trusted like the account, because
    the Oracle installation gives them write access to the homes.
    """
    trusted = frozenset((uid, _ROOT)) | _installers(uid)
    try:
        with walked(path, uid, False, _IN_HOME, trusted) as place, open_file(place) as handle:
            look = os.fstat(handle)
            _check_owned(look, path, uid)
            if _others(look, handle, trusted):
                raise Untrusted(f"{path} may be changed by others than its owner: not run")
            yield handle
    except Belongs as belongs:
        raise Untrusted(
            f"{path} leads through a directory of {name_of(belongs.uid)}, not of "
            f"{name_of(uid)}: not "
            "run"
        ) from None


def _check_owned(look: os.stat_result, path: str, uid: int) -> None:
    if look.st_uid not in (uid, _ROOT):
        raise Untrusted(
            f"{path} belongs to {name_of(look.st_uid)}, not to {name_of(uid)}: no program is run "
            "from there"
        )


def _installers(uid: int) -> FrozenSet[int]:
    """The members of the group that root named when Oracle was installed, if it is one of them."""
    group = installing_group()
    return group[1] if group is not None and uid in group[1] else frozenset()


#: By the paths of the files that contain its name, so that it is read only once.
_GROUPS: Dict[Tuple[str, ...], Optional[Tuple[int, FrozenSet[int]]]] = {}
_INST_GROUP = re.compile(r"^[ \t]*inst_group[ \t]*=[ \t]*([^\s=]+)[ \t]*$", re.MULTILINE)


def installing_group() -> Optional[Tuple[int, FrozenSet[int]]]:
    """The group that root named when Oracle was installed (inst_group of oraInst.loc), with its
    members; None where none is named, or where another than root may write that file."""
    if _INVENTORIES not in _GROUPS:
        # The path of that file is checked without the group.
        _GROUPS[_INVENTORIES] = None
        _GROUPS[_INVENTORIES] = _read_installing_group()
    return _GROUPS[_INVENTORIES]


def _read_installing_group() -> Optional[Tuple[int, FrozenSet[int]]]:
    for path in _INVENTORIES:
        try:
            with walked(path, _ROOT) as place, open_file(place) as handle:
                look = os.fstat(handle)
                if look.st_uid != _ROOT or look.st_mode & 0o022:
                    continue
                text = read_bounded(handle, path, 65536).decode("utf-8", "replace")
            match = _INST_GROUP.search(text)
            if match is not None:
                gid = grp.getgrnam(match.group(1)).gr_gid
                return gid, members_of(gid)
        except (OSError, KeyError, Belongs, Untrusted):
            continue
    return None


def owner_of_program(path: str) -> int:
    """The one account that home, bin and program of HOME/bin/NAME belong to.

    Untrusted where they belong to several, or one of them is a link.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts or len(parts) < 3:
        raise Untrusted(f"{path} is not a program of an Oracle home")
    owners = set()
    for length in range(len(parts) - 2, len(parts) + 1):
        place = "/" + "/".join(parts[:length])
        look = os.lstat(place)
        if stat.S_ISLNK(look.st_mode):
            raise Untrusted(
                f"{place} is a link: name the place that it leads to, no program is run through a "
                "link"
            )
        owners.add(look.st_uid)
    if len(owners) > 1:
        raise Untrusted(
            "{0}, its directory and its home belong to {1}: they must have one owner".format(
                path, " and ".join(sorted(name_of(uid) for uid in owners))
            )
        )
    if not stat.S_ISREG(look.st_mode):
        raise Untrusted(f"{path} is not a regular file")
    return owners.pop()


def name_of(uid: Optional[int]) -> str:
    """An account for people."""
    try:
        return "nobody" if uid is None else pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def names_of(uids: Iterable[Optional[int]]) -> str:
    """Names of accounts for messages; None is any account."""
    return ", ".join(sorted("any account" if uid is None else name_of(uid) for uid in uids))


def _step_alone(path: str, step: Callable[[Place], object], uid: int, follow: bool) -> Any:
    """In the child that runs as the owner: it checks the whole path itself."""
    try:
        with walked(path, uid, follow) as place:
            if place.found is not None and place.found.st_uid != uid:
                raise Untrusted(
                    f"{path} belongs to {name_of(place.found.st_uid)} in a directory of "
                    f"{name_of(uid)}: give it one owner"
                )
            return step(place)
    except Belongs as belongs:
        raise Untrusted(
            f"{path} goes through directories of {name_of(uid)} and of "
            f"{name_of(belongs.uid)}: give "
            "them one owner"
        ) from None


def _actor_in(path: str) -> Optional[int]:
    """The account that may change a directory, the current one or another; None if missing."""
    uid = os.geteuid()
    try:
        with walked(path, uid) as place:
            if place.found is None:
                return None
            handle = _open_folder(place.folder, place.name, place.found, path)
            try:
                if _check_folder(handle, path, frozenset((uid, _ROOT)), uid):
                    raise Untrusted(f"any account can create a directory in {path}")
            finally:
                os.close(handle)
            return uid
    except Belongs as belongs:
        return belongs.uid


def _check_owner(place: Place, owner: Optional[int], uid: int) -> None:
    if owner is None or place.found is None or place.found.st_uid in (owner, _ROOT, uid):
        return
    raise Untrusted(
        f"{place.path} belongs to {name_of(place.found.st_uid)}, not to {name_of(owner)}"
    )


# -- the way ---------------------------------------------------------------------------------------


class OpenFolders:
    """Directories that a search keeps open after their check.

    Only for walks of root through what no other account may change (``walked``)."""

    def __init__(self, most: int = _MOST_FOLDERS) -> None:
        self._most = most
        #: Open directories from / on, their names, and what ``_check_folder`` said of the last one.
        self._ways: Dict[Tuple[str, ...], Tuple[List[int], List[str], bool]] = {}
        self._handles: Set[int] = set()

    def __enter__(self) -> "OpenFolders":
        return self

    def __exit__(self, *_problem: object) -> None:
        for handle in self._handles:
            os.close(handle)

    def nearest(self, parts: Sequence[str]) -> Tuple[int, List[int], List[str], bool]:
        """The number of leading parts that lead to an open directory, and its way; 0 for none."""
        for count in range(len(parts) - 1, -1, -1):
            known = self._ways.get(tuple(parts[:count]))
            if known is not None:
                return count, list(known[0]), list(known[1]), known[2]
        return 0, [], [], False

    def keep(self, parts: Sequence[str], way: List[int], names: List[str], open_to: bool) -> None:
        """Keep the directory to which the parts led."""
        if len(self._handles) < self._most and tuple(parts) not in self._ways:
            self._ways[tuple(parts)] = list(way), list(names), open_to
            self._handles.update(way)

    def close(self, handle: int) -> None:
        """Close a directory that is not kept."""
        if handle not in self._handles:
            os.close(handle)


@contextmanager
def walked(
    path: str,
    uid: int,
    follow: bool = True,
    at_end: int = 0,
    trusted: FrozenSet[int] = frozenset(),
    folders: bool = False,
    kept: Optional[OpenFolders] = None,
) -> Iterator[Place]:
    """Walk from / to the place for an account.

    ``follow``: whether a link at the end is followed. ``at_end``: number of parts at the end that
    must belong to the account or to root and must not be links. ``trusted``: accounts that may
    change the path, if others than the account and root. ``folders``: whether the path may end with
    / or "..", which results in the place ".". ``kept``: directories of the same search, used only
    where no account but root may change the path."""
    if not path.startswith("/"):
        raise Untrusted(f"{kind_of(path)} is not an absolute path")
    trusted = trusted or frozenset((uid, _ROOT))
    if kept is None or trusted != {_ROOT} or at_end or ".." in path:
        kept = OpenFolders(most=0)
    way: List[int] = []
    try:
        yield _walk(path, way, trusted, uid, follow, at_end, folders, kept)
    finally:
        for handle in way:
            kept.close(handle)


def _walk(
    path: str,
    way: List[int],
    trusted: FrozenSet[int],
    uid: int,
    follow: bool,
    at_end: int,
    folders: bool,
    kept: OpenFolders,
) -> Place:
    """``way`` gets the directories that are open, from / on."""
    parts = _parts(path)
    begun, known, names, open_to = kept.nearest(parts)
    way.extend(known or [os.open("/", _LOOK | getattr(os, "O_DIRECTORY", 0))])
    open_to = open_to if known else _check_folder(way[-1], "/", trusted, uid)
    left = parts[begun:]
    # ``own`` parts of the path are left. Those of a link are before them.
    own, links = len(left), 0
    while left:
        if len(left) == own:
            kept.keep(parts[: len(parts) - own], way, names, open_to)
            own -= 1
        name = left.pop(0)
        if name == "..":
            _leave(way, names, max(1, len(way) - 1), kept)
            open_to = _check_folder(way[-1], "/" + "/".join(names), trusted, uid)
            continue
        here = "/" + "/".join(names + [name])
        try:
            look = os.stat(name, dir_fd=way[-1], follow_symlinks=False)
        except FileNotFoundError:
            _check_entry(None, here, open_to, trusted, uid)
            return _absent(path, here, way[-1], name, left)
        _check_entry(look, here, open_to, trusted, uid)
        if stat.S_ISLNK(look.st_mode):
            if len(left) < at_end:
                raise Untrusted(f"{here} is a link, through which no program is run")
            if left or follow:
                links += 1
                target = _target_of(path, look, way[-1], here, links)
                left = _parts(target) + left
                if target.startswith("/"):
                    _leave(way, names, 1, kept)
                    open_to = _check_folder(way[-1], "/", trusted, uid)
                continue
        if not left:
            _check_mounted_end(look, way[-1], name, here, trusted)
            return Place(way[-1], name, look, (), here)
        if not stat.S_ISDIR(look.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), here)
        way.append(_open_folder(way[-1], name, look, here))
        _check_mount(way[-1], way[-2], here, trusted)
        if len(left) < at_end:
            _check_owned(os.fstat(way[-1]), here, uid)
        names.append(name)
        open_to = _check_folder(way[-1], here, trusted, uid)
    if not folders:
        raise OSError(errno.EISDIR, f"{path} is a directory")
    return Place(way[-1], ".", os.fstat(way[-1]), (), "/" + "/".join(names))


def _leave(way: List[int], names: List[str], count: int, kept: OpenFolders) -> None:
    """Close the directories of the way, except the first ``count``."""
    while len(way) > count:
        kept.close(way.pop())
        names.pop()


def _parts(path: str) -> List[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _target_of(path: str, look: os.stat_result, folder: int, here: str, links: int) -> str:
    """Only links in the root of /proc (self, net, mounts) are followed, not those of a process."""
    if links > MOST_LINKS:
        raise OSError(errno.ELOOP, f"{path}: too many links")
    if mount_owner.kernel_type(look.st_dev) == "proc" and os.fstat(folder).st_ino != _PROC_ROOT:
        raise Untrusted(f"{here} is a link that leads wherever a process wants: not followed")
    return os.readlink(os.path.basename(here), dir_fd=folder)


def _check_mount(handle: int, above: int, here: str, trusted: FrozenSet[int]) -> None:
    """Belongs if an account mounted a separate file system (FUSE) there."""
    look = os.fstat(handle)
    if look.st_dev == os.fstat(above).st_dev:
        return
    mount = mount_owner.of_folder(handle, look, here)
    if mount is not None and mount.uid not in trusted:
        raise Belongs(mount.uid)


def _check_mounted_end(
    look: os.stat_result, folder: int, name: str, here: str, trusted: FrozenSet[int]
) -> None:
    """As _check_mount for what the path ends at: FUSE can be mounted over a file, too."""
    if look.st_dev == os.fstat(folder).st_dev or not hasattr(os, "O_PATH"):
        return
    handle = os.open(name, _LOOK | _NO_LINK, dir_fd=folder)
    try:
        _check_mount(handle, folder, here, trusted)
    finally:
        os.close(handle)


def _absent(path: str, here: str, folder: int, name: str, left: List[str]) -> Place:
    missing = [here]
    if ".." in left:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    for part in left:
        missing.append(missing[-1] + "/" + part)
    return Place(folder, name, None, tuple(missing[:-1]), missing[-1])


def _open_folder(folder: int, name: str, look: os.stat_result, here: str) -> int:
    handle = os.open(name, _LOOK | _FOLDER, dir_fd=folder)
    status = os.fstat(handle)
    if (status.st_dev, status.st_ino) != (look.st_dev, look.st_ino) and not _is_mounted_now(
        folder, status
    ):
        os.close(handle)
        raise Untrusted(f"{here} was replaced while it was read")
    return handle


def _is_mounted_now(folder: int, status: os.stat_result) -> bool:
    """Whether an automounter has mounted a file system when the directory was entered."""
    return stat.S_ISDIR(status.st_mode) and status.st_dev != os.fstat(folder).st_dev


def _check_folder(handle: int, path: str, trusted: FrozenSet[int], uid: int) -> bool:
    """Whether all accounts may add entries, but not change those of others (sticky bit).

    Untrusted if other accounts may change its entries, Belongs if only one other account may.
    """
    look = os.fstat(handle)
    if mount_owner.kernel_type(look.st_dev) is not None:
        return False
    others = set(_others(look, handle, trusted))
    if look.st_uid not in trusted:
        others.add(look.st_uid)
    if not others:
        return False
    if look.st_mode & stat.S_ISVTX and look.st_uid in trusted:
        return True
    if len(others) == 1 and None not in others and uid == _ROOT:
        raise Belongs(next(other for other in others if other is not None))
    if uid != _ROOT and others == {look.st_uid}:
        raise Belongs(look.st_uid)
    raise _changed_by(path, others)


def _changed_by(path: str, others: Set[Optional[int]]) -> Untrusted:
    """The error for a directory that others may change."""
    who = names_of(others)
    text = f"{path} may be changed by {who}, and so may its content: remove that permission"
    group = None if None in others else installing_group()
    if group is not None and others <= group[1]:
        return Shared(text, *group)
    return Untrusted(text)


def _check_entry(
    look: Optional[os.stat_result], path: str, open_to_all: bool, trusted: FrozenSet[int], uid: int
) -> None:
    """Only its owner can change an entry of a sticky directory; any account can create one."""
    if not open_to_all:
        return
    if look is None:
        raise Untrusted(f"{path} does not exist, and any account may create it")
    if look.st_uid not in trusted:
        raise Belongs(look.st_uid)
    if stat.S_ISREG(look.st_mode) and not look.st_mode & stat.S_IROTH:
        # A hard link needs no access to the file, and a directory's owner can move its entries.
        raise Untrusted(f"any account could have created {path}, and not all accounts may read it")


def others_of(look: os.stat_result, handle: int, trusted: FrozenSet[int]) -> Set[Optional[int]]:
    """Untrusted accounts that may write a file or directory, including its owner; None is any
    account."""
    uids = set(_others(look, handle, trusted))
    return uids if look.st_uid in trusted else uids | {look.st_uid}


def _others(look: os.stat_result, handle: int, trusted: FrozenSet[int]) -> FrozenSet[Optional[int]]:
    """Accounts other than the trusted ones and the owner that may write; None is any account."""
    uids: Set[Optional[int]] = set()
    if look.st_mode & stat.S_IWOTH:
        uids.add(None)
    if look.st_mode & stat.S_IWGRP:
        # With an access list, these bits are its mask, the maximum that it grants.
        listed = _access_list(handle)
        if listed is None:
            uids.update(members_of(look.st_gid))
        else:
            uids.update(_writers(listed, look.st_gid))
    return frozenset(uids - trusted - {look.st_uid})


def _access_list(handle: int) -> Optional[List[Tuple[int, int, int]]]:
    """Tag, permissions and number of each entry; None where there is no access list."""
    if not hasattr(os, "getxattr"):
        return None
    try:
        # A descriptor of O_PATH has no attributes, but its name under /proc leads to them.
        raw = os.getxattr(f"/proc/self/fd/{handle}", _ACL)
    except OSError as problem:
        if problem.errno in _NO_LIST:
            return None
        raise
    return [struct.unpack_from("<HHI", raw, place) for place in range(4, len(raw) - 7, 8)]


def _writers(listed: List[Tuple[int, int, int]], gid: int) -> List[int]:
    masks = [permissions for tag, permissions, _number in listed if tag == _MASK]
    mask = masks[0] if masks else 7
    uids: List[int] = []
    for tag, permissions, number in listed:
        if not permissions & mask & _WRITE:
            continue
        if tag == _USER:
            uids.append(number)
        elif tag == _GROUP:
            uids.extend(members_of(number))
        elif tag == 0x04:
            uids.extend(members_of(gid))
    return uids


_MEMBERS: Dict[int, FrozenSet[int]] = {}


def members_of(gid: int) -> FrozenSet[int]:
    """The accounts of a group, by the host's account lists: listed there, or by their own entry."""
    if gid not in _MEMBERS:
        accounts = pwd.getpwall()
        uids = {account.pw_uid for account in accounts if account.pw_gid == gid}
        try:
            listed = grp.getgrgid(gid).gr_mem
        except KeyError:
            listed = []
        for name in listed:
            try:
                uids.add(pwd.getpwnam(name).pw_uid)
            except KeyError:
                continue  # a member that has no account cannot log in
        _MEMBERS[gid] = frozenset(uids)
    return _MEMBERS[gid]
