# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""I/O mode of an instance in /proc and in its parameters, and the storage of its files."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, if_known, known
from ...errors import HostproofError, Unanswered
from ...evaluate.checking import Skip
from ...parsers.mounts import mountinfo
from ...parsers.oracle import pfile
from ...parsers.size import human
from ...probes.oracle import io_writers
from ...probes.oracle.io_writers import DEVICE, OpenFile, Writer
from ...probes.oracle.next_start import next_entries, next_place
from .facts import MEMINFO, Facts, Linux, Subject

OPTIONS = "filesystemio_options"
ASYNC = "disk_asynch_io"
SLAVES = "dbwr_io_slaves"

#: I/O mode of each value: (asynchronous, direct).
MODES: Dict[str, Tuple[bool, bool]] = {
    "none": (False, False),
    "asynch": (True, False),
    "directio": (False, True),
    "setall": (True, True),
}

FILES, NFS, DEVICES, DRIVER, DIRECT_NFS = (
    "a file system",
    "an NFS mount of the kernel",
    "block devices (ASM or raw)",
    "a driver of Oracle (ASMLIB, AFD)",
    "Direct NFS",
)
_NFS_TYPES = ("nfs", "nfs4")


# -- parameters -----------------------------------------------------------------------------------


def running(subject: Subject, name: str) -> str:
    """The value in force, in lower case. Raises if it is unknown.

    The default depends on release and platform, so a value that the instance does not return is
    unknown.
    """
    if subject.database.running is None:
        raise Skip(f"{subject.sid} is not running.")
    answer = known(subject.database.asked)
    value = answer.running.get(name)
    if value is None:
        raise Unanswered(answer.key, f"{subject.sid} does not show {name}")
    return str(value).lower()


def persisted(subject: Subject, name: str) -> Tuple[Optional[str], str]:
    """(value at the next start in lower case, None if nothing sets it; text with its source)."""
    entry = pfile.effective(next_entries(subject.database), name, subject.sid)
    if entry is None:
        return None, f"nothing sets it in {next_place(subject.database)}"
    text = f"{entry.value} ({entry.sid}.{name} in {next_place(subject.database)})"
    return entry.value.lower(), text


# -- what the writers do --------------------------------------------------------------------------


def writers(subject: Subject) -> List[Writer]:
    """The writing processes of a running instance. Raises if they are unknown."""
    if subject.database.running is None:
        raise Skip(f"{subject.sid} is not running.")
    return list(known(subject.writers))


def files(subject: Subject) -> Dict[str, List[OpenFile]]:
    """The open files of a running instance, by kind. Raises if they are unknown."""
    writers(subject)
    return dict(known(subject.files))


class Mode(NamedTuple):
    """I/O mode of an instance. None: no open file or context shows it."""

    asynchronous: bool
    direct: Optional[bool]
    synced: Optional[bool]

    def name(self) -> str:
        """The value of filesystemio_options with this mode."""
        for name, (asynchronous, direct) in MODES.items():
            if (asynchronous, direct) == (self.asynchronous, bool(self.direct)):
                return name
        raise ValueError("no such mode")

    def text(self) -> str:
        words = ["asynchronous" if self.asynchronous else "synchronous (no AIO context)"]
        if self.direct is not None:
            words.append("past the page cache" if self.direct else "through the page cache")
        if self.synced is not None:
            words.append("each write to disk" if self.synced else "writes not synchronised")
        return ", ".join(words)


def has_context(writer: Writer) -> bool:
    return bool(writer.rings) or writer.urings > 0


def mode(subject: Subject) -> Mode:
    """The mode from /proc: contexts of each writing process, flags of each database file."""
    ones = writers(subject)
    held = [open_file for some in files(subject).values() for open_file in some]
    return Mode(
        all(map(has_context, ones)),
        all(open_file.flags.direct for open_file in held) if held else None,
        all(open_file.flags.sync for open_file in held) if held else None,
    )


# -- storage of the files -------------------------------------------------------------------------


def places(subject: Subject, linux: Linux) -> List[str]:
    """Kinds of storage of the writing processes' open files. Raises if they are unknown or none."""
    ones = writers(subject)
    folders = {folder for writer in ones for folder in writer.folders}
    kinds = {_place(folder, linux) for folder in folders}
    if DEVICE in files(subject):
        kinds.add(DEVICES)
    if any(writer.drivers for writer in ones):
        kinds.add(DRIVER)
    if has_direct_nfs(subject, linux):
        kinds.add(DIRECT_NFS)
    if not kinds:
        raise Unanswered(
            io_writers.KEYS[0],
            f"DBWR and LGWR of {subject.sid} hold no file of a database: is it mounted?",
        )
    return sorted(kinds)


def has_direct_nfs(subject: Subject, linux: Linux) -> bool:
    inodes = {inode for writer in writers(subject) for inode in writer.sockets}
    return bool(inodes and inodes & set(known(linux.nfs_inodes)))


def _place(folder: str, linux: Linux) -> str:
    mount = mount_of(folder, linux)
    return NFS if mount is not None and mount.fstype in _NFS_TYPES else FILES


def mount_of(folder: str, linux: Linux) -> Optional[mountinfo.Mount]:
    """The mount of a directory: the longest mount point above it."""
    return mountinfo.holding(folder, known(linux.mounts))


def is_governed(where: List[str]) -> bool:
    """Whether filesystemio_options has an effect on any of these kinds of storage."""
    return FILES in where or NFS in where


# -- the page cache -------------------------------------------------------------------------------


def page_cache(linux: Linux) -> int:
    """Bytes of files in the page cache of the host, without shared memory.

    The share of one file is unknown: reading it would require to open the file.
    """
    rows = known(linux.memory)
    if "Cached" not in rows:
        raise Unanswered("file:" + MEMINFO, "there is no row Cached")
    return max(rows["Cached"] + rows.get("Buffers", 0) - rows.get("Shmem", 0), 0)


def examples(some: List[OpenFile]) -> str:
    """Up to three paths, and the number of further ones."""
    paths = [open_file.path for open_file in some[:3]]
    more = len(some) - len(paths)
    return ", ".join(paths) + (f" and {more} more" if more else "")


def cache_text(linux: Linux) -> str:
    return f"the page cache of the host holds {human(page_cache(linux))}"


def linux_of(facts: Facts) -> Linux:
    """Facts of a Linux host. Skip on other systems."""
    known(facts.system)
    if facts.linux is None:
        raise Skip("Processes are only known on Linux.")
    return facts.linux


def expected(subject: Subject, required: Optional[str]) -> Tuple[bool, bool, str]:
    """(asynchronous, direct, source): from the parameters in force, otherwise from the policy."""
    options: Answer[str] = _known_or_error(subject, OPTIONS)
    value = if_known(options, required)
    if value not in MODES:
        known(options)
        raise Unanswered("policy", f"{value!r} is not a value of {OPTIONS}")
    asynchronous, direct = MODES[str(value)]
    if if_known(_known_or_error(subject, ASYNC), "true") == "false":
        asynchronous = False
    by = "the policy requires" if isinstance(options, HostproofError) else f"{OPTIONS} is"
    return asynchronous, direct, f"{by} {value}"


def _known_or_error(subject: Subject, name: str) -> Answer[str]:
    try:
        return running(subject, name)
    except HostproofError as problem:
        return problem
