# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How processes do I/O: the flags of their open files, and their AIO rings.

Only names and flags are read, never an open file of a process. So an unreachable server does not
block the read, and files that a database writes are not opened. Sources: proc_pid_fdinfo(5),
proc_pid_maps(5); Linux, fs/aio.c (aio_private_file, "[aio]") and io_uring/io_uring.c.
"""

import os
import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Set, Tuple

#: Descriptors of all processes together: some hundred instances with thousands of files each.
DESCRIPTORS_LIMIT = 1000000

#: How the kernel names a ring of io_setup(2), and what io_uring_setup(2) gives.
_RING = re.compile(
    rb"^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ (\d+) +/\[aio\](?: \(deleted\))?$", re.MULTILINE
)
_URING = "anon_inode:[io_uring]"
_KEPT = ("/", "socket:")
#: pos, flags, mnt_id and ino are the first lines; locks may follow.
_HEAD = 160
_FLAGS = re.compile(rb"^flags:\s+([0-7]+)$", re.MULTILINE)


class Held(NamedTuple):
    """A process. ``rings``: inode and bytes of each context of io_setup; a forked child shows
    those of its parent, with the same inode.

    ``files`` maps flags, in octal as the kernel writes them, to the paths and sockets that are
    open with them; None of a process that was not requested, ``urings`` too.
    """

    pid: int
    uid: int
    argv0: str
    rings: Tuple[Tuple[int, int], ...]
    files: Optional[Dict[str, Tuple[str, ...]]]
    urings: int


class Holders(NamedTuple):
    """``unseen`` are other processes that this user may not inspect."""

    processes: List[Held]
    unseen: int


def look(pids: List[int], pattern: str, counts: Callable[[int, str], bool]) -> Dict[str, Any]:
    """The requested processes (first argument matches, and ``counts`` accepts them) with all open
    files, and the AIO rings of all other processes. ``counts`` takes pid and first argument.

    PermissionError if this user may not inspect a requested process."""
    regex = re.compile(pattern)
    processes: List[Dict[str, Any]] = []
    unseen = left = 0
    for pid in pids:
        folder, is_wanted = f"/proc/{pid}", False
        try:
            with open(folder + "/cmdline", "rb") as stream:
                argv0 = stream.read(4096).split(b"\0", 1)[0].decode("utf-8", "surrogateescape")
            is_wanted = bool(regex.search(argv0)) and counts(pid, argv0)
            process = _rings(pid, folder, argv0) if argv0 else None
            if process is not None and is_wanted:
                process.update(_descriptors(folder, DESCRIPTORS_LIMIT - left))
                left += sum(map(len, process["files"].values()))
        except PermissionError:
            if is_wanted:
                raise
            unseen += 1
            continue
        except (FileNotFoundError, ProcessLookupError):
            continue  # ended while we looked
        if process is not None and (is_wanted or process["rings"]):
            processes.append(process)
    return {"pattern": pattern, "processes": processes, "unseen": unseen}


def _rings(pid: int, folder: str, argv0: str) -> Dict[str, Any]:
    with open(folder + "/maps", "rb") as stream:
        text = stream.read()
    rings = [] if b"/[aio]" not in text else _RING.findall(text)
    return {
        "pid": pid,
        "uid": os.stat(folder).st_uid,
        "argv0": argv0,
        "rings": [[int(inode), int(end, 16) - int(start, 16)] for start, end, inode in rings],
        "files": None,
        "urings": 0,
    }


def _descriptors(directory: str, most: int) -> Dict[str, Any]:
    """Open files of one process, by flags. Each name is listed once, because a duplicated
    descriptor is not another file."""
    names = os.open(directory + "/fd", os.O_RDONLY | os.O_DIRECTORY)
    infos = -1
    by_flags: Dict[str, Set[str]] = {}
    urings = 0
    try:
        infos = os.open(directory + "/fdinfo", os.O_RDONLY | os.O_DIRECTORY)
        for number in os.listdir(names):
            try:
                path = os.readlink(number, dir_fd=names)
                urings += path == _URING
                if not path.startswith(_KEPT):
                    continue
                info = os.open(number, os.O_RDONLY, dir_fd=infos)
                text = os.read(info, _HEAD)
                os.close(info)
            except FileNotFoundError:
                continue  # closed while we looked
            flags = _FLAGS.search(text)
            if flags is None:
                raise ValueError(f"{directory}/fdinfo/{number} has no flags")
            by_flags.setdefault(flags.group(1).decode(), set()).add(path)
            most -= 1
            if most < 0:
                raise ValueError(f"more than {DESCRIPTORS_LIMIT} descriptors, not read")
    finally:
        os.close(names)
        if infos >= 0:
            os.close(infos)
    return {"files": {flags: sorted(paths) for flags, paths in by_flags.items()}, "urings": urings}


def is_reading(reading: Dict[str, Any]) -> bool:
    """Whether a reading that a person may have edited has the shape of ``look``."""
    return isinstance(reading["unseen"], int) and all(
        _is_process(process) for process in reading["processes"]
    )


def _is_process(process: Dict[str, Any]) -> bool:
    numbers = [process["pid"], process["uid"], process["urings"]]
    numbers += [number for ring in process["rings"] for number in ring]
    files = process["files"]
    return (
        all(isinstance(number, int) and 0 <= number < 2**64 for number in numbers)
        and all(len(ring) == 2 for ring in process["rings"])
        and isinstance(process["argv0"], str)
        and (files is None or all(_are_paths(*item) for item in files.items()))
    )


def _are_paths(flags: str, paths: object) -> bool:
    return (
        re.match(r"[0-7]{1,22}$", flags) is not None
        and isinstance(paths, list)
        and all(isinstance(path, str) for path in paths)
    )


def of_reading(reading: Dict[str, Any]) -> Holders:
    processes = []
    for process in reading["processes"]:
        files = process["files"]
        processes.append(
            Held(
                process["pid"],
                process["uid"],
                process["argv0"],
                tuple((ring[0], ring[1]) for ring in process["rings"]),
                None if files is None else {flags: tuple(files[flags]) for flags in files},
                process["urings"],
            )
        )
    return Holders(processes, reading["unseen"])
