# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes of the machine, and the files that they have open."""

import errno
import os
import re
from typing import (
    Any,
    Dict,
    Iterator,
    List,
    Optional,
)

from .. import guarded_read, identity
from .answers import OpenFiles, Process, paths_under

#: Bytes of a path, as the kernel has it (limits.h).
_PATH_MAX = 4096


def read_trusted(path: str) -> str:
    """The text of a file with a trusted path: a file of /proc, of a process by its number."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0))
    try:
        return guarded_read.content(handle)
    finally:
        os.close(handle)


def argument_of(pid: int, number: int) -> str:
    arguments = read_trusted(f"/proc/{pid}/cmdline").split("\0")[:-1]
    if number >= len(arguments):
        raise FileNotFoundError(errno.ENOENT, "the process has no such argument")
    return arguments[number]


def environment_of(pid: int, names: List[str]) -> Dict[str, str]:
    pairs = [item.partition("=") for item in read_trusted(f"/proc/{pid}/environ").split("\0")]
    return {name: value for name, equals, value in pairs if equals and name in names}


def process_ids() -> List[int]:
    if not os.path.exists("/proc/self/cmdline"):
        # AIX and Solaris have a /proc too, of binary files.
        raise OSError(errno.ENOSYS, "processes are known on Linux only")
    names = os.listdir("/proc")
    if "1" not in names:
        # proc(5), hidepid: what this user may not see must not count as not running.
        raise PermissionError(errno.EACCES, "/proc hides the processes of other users (hidepid)")
    return sorted(int(name) for name in names if name.isdigit())


def find_processes(pattern: str, kind: identity.Kind) -> List[Process]:
    regex = re.compile(pattern)
    ticks = float(os.sysconf("SC_CLK_TCK"))
    looked_at = (_read_process(pid, regex, ticks, kind) for pid in process_ids())
    return [process for process in looked_at if process is not None]


def _read_process(pid: int, regex: Any, ticks: float, kind: identity.Kind) -> Optional[Process]:
    folder = f"/proc/{pid}"
    try:
        argv0 = _first_argument(folder)
        if not regex.search(argv0):
            return None
        owner = os.stat(folder)
        uid = _account_of(folder, owner.st_uid)
        if not identity.counts(pid, uid, argv0, kind):
            return None
        # The name in parentheses may hold spaces and parentheses: count from the last one.
        fields = read_trusted(folder + "/stat").rpartition(")")[2].split()
        started = int(fields[19]) / ticks
        return Process(
            pid, uid, owner.st_gid, started, argv0, _exe_of(folder), unit=identity.unit_of(pid)
        )
    except (FileNotFoundError, ProcessLookupError):
        return None  # ended while we looked


def _account_of(folder: str, uid: int) -> int:
    """The account of a process. /proc shows root as the owner of a process that may not be traced,
    such as a setuid program; then the real uid of its caller is used."""
    return uid if uid != 0 else _real_uid(read_trusted(folder + "/status"))


def counts_as(kind: identity.Kind, pid: int, argv0: str) -> bool:
    folder = f"/proc/{pid}"
    return identity.counts(pid, _account_of(folder, os.stat(folder).st_uid), argv0, kind)


def _first_argument(folder: str) -> str:
    """As much of it as a path can be long: any account can give its processes more to read."""
    with open(folder + "/cmdline", "rb", buffering=0) as stream:
        return stream.read(_PATH_MAX).split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def _exe_of(folder: str) -> Optional[str]:
    """The file that a process runs; to read the link touches no file."""
    try:
        return os.readlink(folder + "/exe")
    except (FileNotFoundError, PermissionError):
        return None


def owner_of_exe(pid: int, started: float) -> Optional[int]:
    """Owner of the file that a process runs; None if the pid belongs to another process now."""
    folder = f"/proc/{pid}"
    owner = os.stat(folder + "/exe").st_uid
    fields = read_trusted(folder + "/stat").rpartition(")")[2].split()
    return owner if int(fields[19]) / float(os.sysconf("SC_CLK_TCK")) == started else None


def _real_uid(status: str) -> int:
    """Whose process it is by /proc/PID/status: the account that started a setuid program."""
    match = re.search(r"^Uid:\s+(\d+)", status, re.MULTILINE)
    if match is None:
        raise ValueError("/proc/PID/status names no user")
    return int(match.group(1))


#: PF_KTHREAD of include/linux/sched.h, in the ninth field of /proc/PID/stat.
_KERNEL_THREAD = 0x00200000


def find_open_files(pattern: str, under: List[str], kind: identity.Kind) -> List[OpenFiles]:
    regex = re.compile(pattern)
    looked_at = (_read_open_files(pid, regex, under, kind) for pid in process_ids())
    return [process for process in looked_at if process is not None]


def _read_open_files(
    pid: int, regex: Any, under: List[str], kind: identity.Kind
) -> Optional[OpenFiles]:
    folder = f"/proc/{pid}"
    try:
        argv0 = _first_argument(folder)
        if not regex.search(argv0) or (not argv0 and _holds_nothing(folder)):
            return None
        if not kind.anybody and not counts_as(kind, pid, argv0):
            return None
        owner = os.stat(folder)
        names = [folder + "/fd/" + number for number in os.listdir(folder + "/fd")]
        names += [folder + "/" + name for name in ("cwd", "exe", "root")]
        # An account may have a million open files: keep only the requested ones.
        held = (target for target in map(_link_target, names) if target not in ("", "/"))
        paths = set(paths_under(held, under))
        paths.update(paths_under(_mapped_files(folder), under))
    except (FileNotFoundError, ProcessLookupError):
        return None  # ended while we looked
    except PermissionError as problem:
        raise PermissionError(
            errno.EACCES, f"this user may not see what process {pid} holds open"
        ) from problem
    return OpenFiles(pid, owner.st_uid, argv0, tuple(sorted(paths))) if paths else None


def _holds_nothing(folder: str) -> bool:
    """Whether a process without arguments is a thread of the kernel or has ended (zombie)."""
    fields = read_trusted(folder + "/stat").rpartition(")")[2].split()
    return fields[0] in "ZX" or bool(int(fields[6]) & _KERNEL_THREAD)


def _link_target(path: str) -> str:
    """Where a link of /proc leads, "" if it was closed while we looked."""
    try:
        return os.readlink(path)
    except FileNotFoundError:
        return ""


def _mapped_files(folder: str) -> Iterator[str]:
    with open(folder + "/maps", "rb") as stream:
        for line in stream:
            fields = line.rstrip(b"\n").split(None, 5)
            if len(fields) == 6 and fields[5].startswith(b"/"):
                yield fields[5].decode("utf-8", "surrogateescape")
