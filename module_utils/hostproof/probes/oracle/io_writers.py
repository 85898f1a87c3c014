# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The processes that write for an instance (DBWn, BWnn, LGWR, LGnn), and how they do it.

All of it is from /proc: nothing is queried of the instance, no file of it is opened. Sources:
Oracle Database Reference, Background Processes; Oracle Database Administrator's Guide, Using Oracle
Managed Files (names); proc_pid_fdinfo(5).
"""

import re
from typing import Dict, Iterable, List, NamedTuple, Set, Tuple

from ...collect import identity
from ...collect.held import Held, Holders
from ...collect.host import Host
from ...errors import Unanswered
from ...parsers.kernel import open_flags
from ...parsers.kernel.open_flags import OpenFlags
from ...parsers.number import clipped
from . import monitors

PATTERN = r"^(ora|db)_(dbw[0-9a-z]|bw\d\d|lgwr|lg\d\d)_\S+$"
NAME = "writers"
KEYS = ("held:" + NAME, "processes:" + NAME)

DATA, REDO, CONTROL, TEMPORARY, DEVICE = "data", "redo", "control", "temporary", "device"

_SOCKET = re.compile(r"socket:\[(\d+)\]$")
#: Drivers of Oracle whose descriptors say nothing of how they write.
_DRIVERS = ("/dev/oracleasm/", "/dev/oracleafd/")
#: Files that a writer has open for reading and writing, but that are not database files.
_NO_FILE = re.compile(
    r"/(?:[^/]*\.(?:trc|trm|aud|xml|log\.xml)|alert_[^/]*\.log|hc_[^/]*\.dat|lk[^/]*)$"
    r"|^/(?:proc|sys)/|^/dev/(?:null|zero|shm/|pts/|tty)"
)
_CONTROL = re.compile(r"/(?:[^/]*\.ctl|controlfile/[^/]*|control\d*\.[^/]*)$", re.IGNORECASE)
_TEMPORARY = re.compile(r"/(?:(?:tempfile/|te?mp)[^/]*\.dbf|[^/]*_temp_[^/]*\.tmp)$", re.IGNORECASE)
_REDO = re.compile(r"/(?:onlinelog/[^/]*|[^/]*redo[^/]*|[^/]*\.(?:log|rdo))$", re.IGNORECASE)
#: How nearly all of thousands of data files end.
_PLAIN = ".dbf"


class OpenFile(NamedTuple):
    """``kind`` is DATA, REDO, CONTROL, TEMPORARY or DEVICE."""

    path: str
    kind: str
    flags: OpenFlags


class Writer(NamedTuple):
    """``process`` is dbw0, lgwr, ...; ``rings`` as held.Held has them."""

    process: str
    pid: int
    rings: Tuple[Tuple[int, int], ...]
    urings: int
    files: Tuple[OpenFile, ...]
    sockets: Tuple[int, ...]
    drivers: Tuple[str, ...]

    @property
    def folders(self) -> Set[str]:
        """Where its files lie: of thousands of files they are a few."""
        return {
            open_file.path.rpartition("/")[0]
            for open_file in self.files
            if open_file.kind != DEVICE
        }


def files_of(ones: Iterable[Writer]) -> Dict[str, List[OpenFile]]:
    """The files that writers hold open, by kind; each with the descriptor that does least."""
    least: Dict[str, OpenFile] = {}
    for writer in ones:
        for open_file in writer.files:
            other = least.get(open_file.path)
            if other is None or open_file.flags[1:] < other.flags[1:]:
                least[open_file.path] = open_file
    files: Dict[str, List[OpenFile]] = {}
    for path in sorted(least):
        files.setdefault(least[path].kind, []).append(least[path])
    return files


def read_holders(host: Host) -> Holders:
    """Processes with AIO rings, and open files of processes that have the name of a writer."""
    return host.holders(NAME, PATTERN, identity.ORACLE)


def writers(host: Host, holders: Holders, machine: str) -> Dict[str, List[Writer]]:
    """The writers of each instance by SID; not those that only have the name of one."""
    programs = {process.pid: process for process in host.processes(NAME, PATTERN, identity.ORACLE)}
    by_sid: Dict[str, List[Writer]] = {}
    for held in holders.processes:
        program = programs.get(held.pid)
        if held.files is None or program is None or program.argv0 != held.argv0:
            continue
        if program.runs(monitors.PROGRAM) is not False:
            sid = held.argv0.split("_", 2)[2]
            by_sid.setdefault(sid, []).append(_writer(held, machine))
    return by_sid


def of_instance(by_sid: Dict[str, List[Writer]], sid: str) -> List[Writer]:
    """Those of one instance; Unanswered where one has none: every instance that runs has both."""
    ones = by_sid.get(sid, [])
    if not any(is_dbwr(writer) for writer in ones) or not any(
        not is_dbwr(writer) for writer in ones
    ):
        raise Unanswered(KEYS[1], f"no DBWR and LGWR of {sid} are seen: is it just starting?")
    return ones


def is_dbwr(writer: Writer) -> bool:
    return not writer.process.startswith("lg")


def machine_of(host: Host) -> str:
    """What uname -m prints: the flags of open files are of the architecture."""
    argv = ["uname", "-m"]
    name = host.run(argv).stdout.strip()
    if not name:
        raise Unanswered("command:" + " ".join(argv), "uname -m names no machine")
    return name


def _writer(held: Held, machine: str) -> Writer:
    process = held.argv0.split("_", 2)[1]
    files: List[OpenFile] = []
    sockets: List[int] = []
    drivers: List[str] = []
    for octal, paths in sorted((held.files or {}).items()):
        flags = open_flags.parse(octal, machine)
        for path in paths:
            if path.startswith("socket:"):
                socket = _SOCKET.match(path)
                sockets += [clipped(socket.group(1))] if socket is not None else []
            elif path.startswith(_DRIVERS):
                drivers.append(path)
            elif flags.updates and (path.endswith(_PLAIN) or not _NO_FILE.search(path)):
                files.append(OpenFile(path, kind_of(path, process), flags))
    return Writer(
        process, held.pid, held.rings, held.urings, tuple(files), tuple(sockets), tuple(drivers)
    )


def kind_of(path: str, process: str) -> str:
    """The kind of a file by its name, otherwise by the process that writes it."""
    path = path.replace(" (deleted)", "")
    if path.startswith("/dev/"):
        return DEVICE
    if path.endswith(_PLAIN):
        return TEMPORARY if _TEMPORARY.search(path) else DATA
    for kind, pattern in ((CONTROL, _CONTROL), (TEMPORARY, _TEMPORARY), (REDO, _REDO)):
        if pattern.search(path):
            return kind
    return REDO if process.startswith("lg") else DATA
