# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines of scripts that can set something, and of the scripts that they call."""

import errno
import fnmatch
import glob
import os
import re
import stat
from functools import partial
from typing import (
    Any,
    Dict,
    List,
    NamedTuple,
    Sequence,
    Set,
    Tuple,
)

from ...errors import (
    HostproofError,
)
from .. import guarded, guarded_read
from .answers import FoundLines
from .processes import read_trusted

#: A longer file is not a script.
_SCRIPT_LIMIT = 512 * 1024
#: Characters of the scripts that are kept for the next search of the same places.
_KEPT_LENGTH = 16 << 20


#: Depth to which a search follows calls from script to script.
_CALLS = 3


_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)


#: Streams and other links of a process: they lead to nothing that a reboot would run.
_OF_A_PROCESS = re.compile(
    r"/dev/(?:stdin|stdout|stderr|fd)(?=/|$)|/proc/(?:self|thread-self|\d+)/(?:fd|exe|ns)(?=/|$)"
)


_NETWORK = "nfs|cifs|smb|autofs|fuse|ceph|gluster|lustre|gpfs|afs|ocfs"


#: It begins with a letter, not with what may not be before it: re finds a letter fast.
_ABSOLUTE_PATH = re.compile(r"/(?<![\w.$}/]/)[\w.+@/-]*[\w+]")


#: A file that a shell reads, whatever it begins with: ". FILE", "source FILE", "sh FILE",
#: "sh < FILE"; and the variables of a unit.
SOURCED = re.compile(
    r"(?:(?:^|[\s;&|({'\"=@+!-])(?:\.|source|(?:/[\w./-]*/)?(?:(?:a|ba|da|k|z)?sh|python[\d.]*))"
    r"[ \t]+(?:-\w+[ \t]+)*(?:<[ \t]*)?|^[ \t]*EnvironmentFile[ \t]*=[ \t-]*)[\"']?"
    r"(/[\w.+@/-]*[\w+])",
    re.MULTILINE,
)
#: What each text with such a file has. Most texts have none, and this shows it in a quarter of the
#: time.
_MAY_SOURCE = re.compile(
    r"(?:sh|\.|source|python[\d.]*)[ \t]+(?:-\w+[ \t]+)*(?:<[ \t]*)?[\"']?/"
    r"|EnvironmentFile[ \t]*="
)


#: The working directory of a unit or a command, and scripts that commands run from there.
_IN_FOLDER = re.compile(
    r"(?:^[ \t]*WorkingDirectory[ \t]*=[ \t-]*|\bcd[ \t]+[\"']?)(/[^\s%;&\"']*)", re.MULTILINE
)
#: The same for these.
_MAY_BE_IN_FOLDER = re.compile(r"WorkingDirectory[ \t]*=|cd[ \t]")


_RELATIVE = re.compile(
    r"(?:(?:sh|source|python[\d.]*|[\s'\"]\.)[ \t]+(?:-\w+[ \t]+)*|[\s;&|'\"=]\./)(\w[\w.+@/-]*)"
)


#: A script whose name has a specifier of a unit: /opt/tune-%i.sh.
_SPECIFIED = re.compile(
    r"^[ \t]*Exec\w+[ \t]*=[ \t]*[-@:+!|]*(?:/\S*sh[ \t]+(?:-\w+[ \t]+)*)?"
    r"(/[\w./+@-]*%\w[\w.+@-]*)",
    re.MULTILINE,
)


#: The crontab of an account without root privileges, and the part of a line that runs as root.
OF_ACCOUNT = re.compile(r"/spool/cron/(?!atjobs/)(?:[^/]+/)?(?!root\Z)[^/]+\Z")


AS_ROOT = re.compile(
    r"\b(?:sudo|doas|dzdo|pbrun)\b(?![^|;&<>\n]{0,200}\s-u\s*(?!\s|root))[^|;&<>\n]*"
)


#: Functions for scripts of SysV: what one of them sets depends on its call.
_LIBRARY = re.compile(r"/(?:init-)?functions\Z|/rc\.status\Z")


class _Script(NamedTuple):
    """A file that a search reads. ``by_root``: whether root runs it."""

    path: str
    callers: Tuple[str, ...]
    by_root: bool
    text: str


#: Several searches of an audit have the same places: what they read, by places.
_SEARCHED: Dict[Tuple[bool, Tuple[str, ...]], Tuple[List[_Script], List[str]]] = {}


def search_lines(places: Sequence[str], pattern: str, only_as_root: bool = False) -> FoundLines:
    scripts, unread = _searched(tuple(places), only_as_root)
    regex = re.compile(pattern, re.MULTILINE)
    result = FoundLines({}, {}, list(unread))
    for path, callers, by_root, text in scripts:
        # Most files have no match: do not split them into lines.
        if regex.search(text) and (by_root or path not in result.lines):
            result.lines[path] = [
                (number, line)
                for number, line in _joined_lines(text)
                if regex.search(line) and (by_root or AS_ROOT.search(line))
            ]
            if callers:
                result.callers[path] = callers[0]
    return result


def _searched(places: Tuple[str, ...], only_as_root: bool) -> Tuple[List[_Script], List[str]]:
    """The scripts of some places, and what cannot be read."""
    known = _SEARCHED.get((only_as_root, places))
    if known is None:
        with guarded.OpenFolders() as folders:
            known = _read_scripts(places, only_as_root, folders)
        kept = [script for scripts, _unread in (*_SEARCHED.values(), known) for script in scripts]
        if sum(len(script.text) for script in kept) <= _KEPT_LENGTH:
            _SEARCHED[only_as_root, places] = known
    return known


def _read_scripts(
    places: Sequence[str], only_as_root: bool, kept: guarded.OpenFolders
) -> Tuple[List[_Script], List[str]]:
    """Breadth first: the files of ``places``, then the scripts that they call, and so on."""
    scripts: List[_Script] = []
    unreadable: List[str] = []
    # A path, its callers, whether it counts without "#!", and whether root runs it.
    waiting: List[Tuple[str, Tuple[str, ...], bool, bool]]
    paths = _files_of(places, unreadable)
    waiting = [(path, (), True, not (only_as_root and OF_ACCOUNT.search(path))) for path in paths]
    remote = _network_mounts()
    seen: Dict[bool, Set[Tuple[int, int]]] = {True: set(), False: set()}
    for depth in range(_CALLS):
        called: List[Tuple[str, Tuple[str, ...], bool, bool]] = []
        for path, callers, is_script, by_root in waiting:
            if (path + "/").startswith(remote):
                continue
            unread = unreadable if by_root or not callers else []
            text = _text_of(path, callers, is_script, seen[by_root], unread, kept)
            if not text:
                continue
            scripts.append(_Script(path, callers, by_root, text))
            names, sourced = _named(path, text, unread)
            powerful = text if by_root else "\n".join(AS_ROOT.findall(text))
            called.extend(
                (name, (*callers, path), name in sourced, by_root or name in powerful)
                for name in dict.fromkeys(names)
            )
        waiting = called if depth < _CALLS - 1 else []
    return scripts, unreadable


def _named(path: str, text: str, unread: List[str]) -> Tuple[List[str], Set[str]]:
    """The files that a script names, and those that count without "#!"."""
    names = [n for n in _ABSOLUTE_PATH.findall(text) if not _OF_A_PROCESS.match(n)]
    sourced = {name for name in _sourced(text) if not _LIBRARY.search(name)}
    for folder in _folders(text):
        inside = [f"{folder}/{name}" for name in _RELATIVE.findall(text)]
        names.extend(inside)
        sourced.update(inside)
    if "/systemd/" in path:
        patterns = {re.sub("%.", "*", name) for name in _SPECIFIED.findall(text)}
        names.extend(_files_of(sorted(patterns), unread))
    return names, sourced


def _sourced(text: str) -> List[str]:
    return SOURCED.findall(text) if _MAY_SOURCE.search(text) else []


def _folders(text: str) -> List[str]:
    return _IN_FOLDER.findall(text) if _MAY_BE_IN_FOLDER.search(text) else []


def _network_mounts() -> Tuple[str, ...]:
    """Where a look could wait for another machine, each with a slash behind."""
    try:
        rows = [line.split(" ") for line in read_trusted("/proc/self/mounts").splitlines()]
    except OSError:
        return ()
    return tuple(
        row[1].rstrip("/") + "/"
        for row in rows
        if len(row) > 2 and re.match(_NETWORK, row[2]) and row[1] != "/"
    )


def _files_of(places: Sequence[str], unread: List[str]) -> List[str]:
    """The files of some places by name. glob says nothing of directories that may not be read."""
    paths: List[str] = []
    for place in places:
        folder, _, name = place.rpartition("/")
        for directory in sorted(glob.glob(folder)) if glob.has_magic(folder) else [folder]:
            try:
                names = sorted(os.listdir(directory)) if glob.has_magic(name) else [name]
            except PermissionError:
                unread.append(directory)
                continue
            except OSError:
                continue
            paths.extend(
                directory + "/" + each for each in names if fnmatch.fnmatchcase(each, name)
            )
    return paths


def _text_of(
    path: str,
    callers: Tuple[str, ...],
    is_script: bool,
    seen: Set[Tuple[int, int]],
    unread: List[str],
    kept: guarded.OpenFolders,
) -> str:
    """The text of a file; "" for what was seen already, is not text or not a script.

    ``callers`` lead from a file of the places that began to it: who may write one of them chose
    the path.
    """
    try:
        step = partial(_read_script, is_script, seen)
        text, *number = guarded_read.read(path, step, callers, kept)
        # A file that is no script here may be one for another caller.
        seen.update([(number[0], number[1])] if number and (text or is_script) else [])
    except (ValueError, IsADirectoryError):
        return ""  # no regular file
    except (OSError, HostproofError) as problem:
        # What is not there holds nothing; what cannot be read may hold anything.
        if getattr(problem, "errno", None) not in _NOT_THERE and not _is_no_file(path):
            unread.append(path)
        return ""
    if "\0" in text:
        return ""
    if len(text) > _SCRIPT_LIMIT:
        unread.append(path)
        return ""
    return text


def _is_no_file(path: str) -> bool:
    """Whether a directory that is reached without links has no such name, or no file or link of it.

    A rejected walk (/tmp is writable by all) shows nothing: ``mktemp /tmp/x.XXXXXX`` in a script
    names a file that never exists.
    """
    folder = os.path.dirname(path)
    if os.path.realpath(folder) != folder:
        return False
    try:
        mode = os.lstat(path).st_mode
    except OSError as problem:
        return problem.errno in _NOT_THERE
    return not stat.S_ISREG(mode) and not stat.S_ISLNK(mode)


def _read_script(
    is_script: bool, seen: Set[Tuple[int, int]], target: guarded_read.Found
) -> List[Any]:
    """The text of a file, or a bit more of it than a script has, with its device and inode; ""
    if it was seen already. Without ``is_script`` it must begin as a script."""
    look = target.look
    if look is None or (look.st_dev, look.st_ino) in seen:
        return [""]
    text = guarded_read.head(_SCRIPT_LIMIT + 2, b"" if is_script else b"#!", target)
    return [text, look.st_dev, look.st_ino]


def _joined_lines(text: str) -> List[Tuple[int, str]]:
    lines: List[Tuple[int, str]] = []
    continued = False
    for number, line in enumerate(text.split("\n"), 1):
        if continued:
            lines[-1] = (lines[-1][0], lines[-1][1][:-1] + " " + line.strip())
        else:
            lines.append((number, line))
        continued = line.endswith("\\") and not line.lstrip().startswith("#")
    return lines
