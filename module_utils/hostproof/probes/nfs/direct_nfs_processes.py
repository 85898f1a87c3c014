# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The database processes with Direct NFS: the libraries that they mapped, and their sockets.

Apply needs this before it unmounts. The configuration of Direct NFS is in direct_nfs.py.
"""

import re
from typing import Iterable, List, NamedTuple, Optional, Sequence, Tuple

from ...collect import identity
from ...collect.host import Host, OpenFiles
from ...parsers.number import clipped
from .nfs_connections import read_connections

#: Processes of a database instance, by their first argument; they do its input and output.
BACKGROUND = r"^(ora|db)_[a-z0-9]+_\S+$"
#: The evidence key of what the processes hold.
PROCESSES_KEY = "open_files:direct_nfs"

#: In lib/ of a home: the library that oracle is linked with, and the one that is Direct NFS.
PLAIN = re.compile(r"libodm(\d*)\.so$")
DIRECT = re.compile(r"libnfsodm(\d*)\.so$")
_REMOVED = " (deleted)"


class DatabaseProcess(NamedTuple):
    """A process of an instance: its home if known, the ODM libraries it has mapped, its sockets."""

    sid: str
    pid: int
    home: str
    libraries: Tuple[str, ...]
    sockets: Tuple[int, ...]

    def has_direct_nfs(self, copies: Iterable[str]) -> Optional[bool]:
        """Whether it runs with Direct NFS; None where what it has mapped does not tell.

        ``copies`` are those of the libraries of all homes. A library that was replaced since the
        process started could be either.
        """
        names = [path.rpartition("/")[2].replace(_REMOVED, "") for path in self.libraries]
        if any(map(DIRECT.match, names)) or set(copies) & set(self.libraries):
            return True
        if not names or any(path.endswith(_REMOVED) for path in self.libraries):
            return None
        return False


def read_users(host: Host) -> List[Tuple[DatabaseProcess, str]]:
    """Database processes with connections that they made to NFS servers, with the addresses."""
    remotes = {
        connection.inode: connection.remote
        for connection in read_connections(host)
        if connection.inode
    }
    if not remotes:
        return []
    return [
        (process, remotes[inode])
        for process in read_processes(host, ())
        for inode in process.sockets
        if inode in remotes
    ]


def read_processes(host: Host, homes: Sequence[str]) -> List[DatabaseProcess]:
    """The processes of instances that hold something of ``homes`` (paths), or a socket."""
    processes = host.open_files("direct_nfs", BACKGROUND, (*homes, "socket:"), identity.ORACLE)
    return [_database_process(process, homes) for process in processes]


def _database_process(process: OpenFiles, homes: Sequence[str]) -> DatabaseProcess:
    libraries = tuple(path for path in process.paths if _is_odm(path))
    under = [home for home in homes if any(p.startswith(home + "/bin/") for p in process.paths)]
    return DatabaseProcess(
        sid=process.argv0.split("_", 2)[2],
        pid=process.pid,
        home=under[0] if under else "",
        libraries=libraries,
        sockets=tuple(clipped(p[8:-1]) for p in process.paths if re.match(r"socket:\[\d+\]$", p)),
    )


def _is_odm(path: str) -> bool:
    name = path.rpartition("/")[2].replace(_REMOVED, "")
    return bool(PLAIN.match(name) or DIRECT.match(name))
