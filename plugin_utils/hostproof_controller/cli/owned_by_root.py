# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether only root can change the files that root runs or reads at fixed times.

``schedule`` imports this file, and writes a copy next to the units of root, which runs before each
audit with the interpreter of the system: python3 -I -S FILE PLACE... -- TREE... It must not depend
on anything that it checks, so it imports the standard library only (Python 3.6 or newer).
"""

import os
import re
import stat
import sys
from typing import List, NoReturn, Sequence, Set

_MOST_LINKS = 40
_MOUNTS = "/proc/self/mountinfo"


class Foreign(Exception):
    """Another account can change a place, or it cannot be checked; the text names the place."""


def refuse(places: Sequence[str], trees: Sequence[str]) -> None:
    """Raises Foreign for the first of them, their parents and their links' targets.

    ``places`` are files, and directories whose content is not read. ``trees`` are read with
    everything below them. Only root may be able to create a path that does not exist.
    """
    known: Set[str] = set()
    walked: Set[str] = set()
    try:
        mounts = _foreign_mounts()
        for place in places:
            _strict(_real(_existing(place), known))
        for tree in trees:
            there = _existing(tree)
            if there == tree:
                _walk(_real(tree, known), known, walked)
                _walk_interpreter(tree, known, walked)
            else:
                _strict(_real(there, known))
        for mount in sorted(mounts):
            if mount in known or mount in walked or os.path.dirname(mount) in walked:
                _foreign(mount)
    except OSError as problem:
        raise Foreign(f"{problem.filename} cannot be checked: {problem.strerror}") from None


def _foreign_mounts() -> Set[str]:
    """Where another account has mounted its own file system, which names any owner."""
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as stream:
            rows = [line.split(" - ") for line in stream]
    except OSError:
        return set()
    found = set()
    for row in rows:
        user = re.search(r"[ ,]user_id=(\d+)", row[-1])
        if len(row) > 1 and row[-1].startswith("fuse") and user and user.group(1) != "0":
            words = row[0].split(" ")
            found.add(re.sub(r"\\([0-7]{3})", lambda byte: chr(int(byte.group(1), 8)), words[4]))
    return found


def _walk_interpreter(path: str, known: Set[str], walked: Set[str]) -> None:
    """An inventory or a file of passwords can be a script: what runs it counts too."""
    if os.path.isfile(path) and os.access(path, os.X_OK):
        with open(path, "rb") as stream:
            first = stream.readline(4096)
        words = first[2:].decode("utf-8", "surrogateescape").split()
        for word in words if first.startswith(b"#!") else ():
            if word.startswith("/"):
                _strict(_real(_existing(word), known))


def _existing(path: str) -> str:
    """The path, or the nearest directory above it that exists; a link exists without a target."""
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return path


def _walk(path: str, known: Set[str], walked: Set[str]) -> None:
    """A directory with all that is below it, also below the targets of its links."""
    waiting = [path]
    while waiting:
        path = waiting.pop()
        if path in walked:
            continue
        walked.add(path)
        if not stat.S_ISDIR(_strict(path).st_mode):
            continue
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_symlink():
                    waiting.append(_real(entry.path, known))
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    _strict(entry.path)


def _real(path: str, known: Set[str]) -> str:
    """The path without links, after each directory and each link on the way was checked."""
    here, rest, links = "/", path.split("/")[::-1], 0
    if not path.startswith("/"):
        raise Foreign(f"{path} is not an absolute path")
    _on_the_way(here, os.lstat(here), known)
    while rest:
        part = rest.pop()
        if part in ("", "."):
            continue
        if part == "..":
            here = os.path.dirname(here)
            continue
        there = os.path.join(here, part)
        state = os.lstat(there)
        if stat.S_ISLNK(state.st_mode):
            links += 1
            if links > _MOST_LINKS:
                raise Foreign(f"{path} has too many links")
            if state.st_uid != 0:
                _foreign(there)
            target = os.readlink(there)
            here = "/" if target.startswith("/") else here
            rest.extend(target.split("/")[::-1])
            continue
        _on_the_way(there, state, known)
        here = there
    return here


def _on_the_way(path: str, state: os.stat_result, known: Set[str]) -> None:
    """In a directory like /tmp (sticky) others cannot replace what is root's."""
    if path not in known:
        is_sticky = stat.S_ISDIR(state.st_mode) and state.st_mode & stat.S_ISVTX
        _check(path, state, 0 if is_sticky else stat.S_IWGRP | stat.S_IWOTH)
        known.add(path)


def _strict(path: str) -> os.stat_result:
    """Others could add a file to a sticky directory too."""
    state = os.lstat(path)
    _check(path, state, stat.S_IWGRP | stat.S_IWOTH)
    return state


def _check(path: str, state: os.stat_result, bits: int) -> None:
    if state.st_uid != 0 or state.st_mode & bits:
        _foreign(path)


def _foreign(path: str) -> NoReturn:
    raise Foreign(f"another account can change {path}")


def main(words: List[str]) -> int:
    """The exit status: 0 if only root can change everything."""
    middle = words.index("--") if "--" in words else len(words)
    try:
        refuse(words[:middle], words[middle + 1 :])
    except Foreign as problem:
        text = str(problem).encode("ascii", "backslashreplace").decode()
        sys.stderr.write(f"hostproof: no audit by root, because {text}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
