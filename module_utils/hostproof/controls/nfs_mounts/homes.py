# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Oracle homes and what runs from them, as far as Direct NFS goes."""

from typing import Dict, List, Optional, Set

from ...collect.answer import if_known, known
from ...errors import Absent, HostproofError
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Skip, Verdict
from ...evaluate.finding import ERROR
from ...probes.nfs.nfs_mounted import LINUX
from ...probes.oracle.oracle_homes import LISTED
from .facts import Facts
from .policy import Policy
from .probes import direct_nfs
from .probes.direct_nfs import GLOBAL_FILE, HomeDirectNfs

REQUIRED, FORBIDDEN = "required", "forbidden"
DESIRED = {
    REQUIRED: "Direct NFS (nfs_mounts_direct_nfs is required)",
    FORBIDDEN: "no Direct NFS (nfs_mounts_direct_nfs is forbidden)",
}


def skip_unless_judged(facts: Facts, policy: Policy) -> None:
    if policy.direct_nfs == "unmanaged":
        raise Skip("nfs_mounts_direct_nfs is unmanaged.")
    system = known(facts.system)
    if system != LINUX:
        raise Skip(f"Direct NFS is checked on Linux only, this is {system}.")


def database_homes(facts: Facts) -> List[HomeDirectNfs]:
    """The homes to check: those of Clusterware have no database, those of clients no libnfsodm.

    A home that the policy lists is checked, so that a wrong path does not go unnoticed."""
    known(facts.homes)
    return [
        home
        for home in facts.direct_nfs.homes
        if not home.home.clusterware
        and (not isinstance(home.library, Absent) or LISTED in home.home.places)
    ]


def no_home(policy: Policy) -> Verdict:
    """A skip if no home is known, or an error if the policy requires Direct NFS."""
    text = (
        "No Oracle home with a database is known: none in oratab, in the inventory, of a running "
        "instance or in nfs_mounts_oracle_homes."
    )
    if policy.direct_nfs == REQUIRED:
        return Verdict(
            ERROR,
            why=text,
            advice=Advice([Ask("list the Oracle homes in nfs_mounts_oracle_homes")]),
            desired=DESIRED[REQUIRED],
        )
    raise Skip(text)


def first_file(home: HomeDirectNfs, facts: Facts) -> Optional[str]:
    """The oranfstab that counts for a home, as far as it is known."""
    order = if_known(home.order, direct_nfs.Order((GLOBAL_FILE,), ()))
    there = [
        path
        for path in order.places
        if not isinstance(facts.direct_nfs.files[path], HostproofError)
    ]
    return there[0] if there else None


def copies_of_library(facts: Facts) -> Set[str]:
    libraries = [if_known(home.library, None) for home in facts.direct_nfs.homes]
    return {library.copy for library in libraries if library is not None} - {""}


def channels(facts: Facts) -> Dict[str, List[str]]:
    """The addresses of the servers that each instance is connected to, one for each channel."""
    processes = [process for process in known(facts.direct_nfs.processes) if process.sockets]
    if not processes:
        return {}
    connections = {
        connection.inode: connection
        for connection in known(facts.direct_nfs.connections)
        if connection.inode
    }
    found_there: Dict[str, List[str]] = {}
    for process in processes:
        for inode in process.sockets:
            if inode in connections:
                found_there.setdefault(process.sid, []).append(connections[inode].remote)
    return found_there
