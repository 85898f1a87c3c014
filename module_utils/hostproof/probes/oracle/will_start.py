# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The databases that run or can be started here, each with the parameters of its next start."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...collect.host import Host
from ...errors import Absent, HostproofError
from . import next_start
from .instances import Instance, find_instances
from .next_start import Asking, Database


class WillStart(NamedTuple):
    """``running`` are the databases that run, ``stopped`` the others of oratab; ``by_dbstart`` are
    those that dbstart starts. ``hidden`` is the error where Clusterware knows others."""

    running: Answer[List[Database]]
    stopped: Answer[List[Database]]
    by_dbstart: Answer[List[str]]
    hidden: Answer[None]


def read(host: Host, asking: Asking) -> WillStart:
    instances = attempt(lambda: next_start.running_databases(find_instances(host)))
    running = attempt(_running, host, asking, instances)
    stopped = attempt(_stopped, host, asking, instances)
    hidden = attempt(_check_hidden, host, running, stopped)
    return WillStart(running, stopped, attempt(_by_dbstart, host), hidden)


def read_stopped(host: Host, asking: Asking) -> WillStart:
    """As ``read``, without the parameters of those that run."""
    instances = attempt(lambda: next_start.running_databases(find_instances(host)))
    stopped = attempt(_stopped, host, asking, instances)
    return WillStart([], stopped, attempt(_by_dbstart, host), None)


def _running(host: Host, asking: Asking, running: Answer[Dict[str, Instance]]) -> List[Database]:
    return [
        next_start.look_at(host, asking, sid, one) for sid, one in sorted(known(running).items())
    ]


def _stopped(host: Host, asking: Asking, running: Answer[Dict[str, Instance]]) -> List[Database]:
    stopped = next_start.stopped_of_oratab(host, asking, known(running))
    listed = list(next_start.homes_of_oratab(host))
    databases = [
        next_start.look_at(host, asking, sid, None, home) for sid, home in sorted(stopped.items())
    ]
    return [database for database in databases if not _has_no_file(database, listed)]


def _has_no_file(database: Database, listed: List[str]) -> bool:
    """Whether a start finds no parameter file and fails; Clusterware may know one elsewhere."""
    return isinstance(database.file, Absent) and not any(sid.startswith("+") for sid in listed)


def _by_dbstart(host: Host) -> List[str]:
    entries = next_start.entries_of_oratab(host)
    return [entry.sid for entry in entries if entry.starts]


def _check_hidden(
    host: Host, running: Answer[List[Database]], stopped: Answer[List[Database]]
) -> None:
    sids = [database.sid for database in known(running) + known(stopped)]
    next_start.check_clusterware(host, sids, "list each in oratab")


class Sizes(NamedTuple):
    """Bytes of the SGAs in SysV segments, and processes, of databases that are down and start
    together: all that dbstart starts, or the largest of the others.

    ``unknown`` is the first error: the numbers are then without that database."""

    sga: int
    largest: int
    processes: Tuple[int, ...]
    sids: Tuple[str, ...]
    unknown: Optional[HostproofError]


def sizes_of_stopped(coming: WillStart) -> Sizes:
    """The sizes of databases that are down. Only one counts of those that a person or a cluster
    starts, because the others may run elsewhere."""
    databases = if_known(coming.stopped, [])
    boot = if_known(coming.by_dbstart, [])
    sizes = {database.sid: attempt(next_start.next_sga, database) for database in databases}
    known_sizes = {
        sid: size.size for sid, size in sizes.items() if not isinstance(size, HostproofError)
    }
    together = [sid for sid in known_sizes if sid in boot]
    others = sorted((sid for sid in known_sizes if sid not in boot), key=known_sizes.__getitem__)
    together += others[-1:]
    answers: List[object] = [coming.stopped, coming.by_dbstart, *sizes.values()]
    problems = [answer for answer in answers if isinstance(answer, HostproofError)]
    counts = [
        attempt(next_start.next_size, database, "processes")
        for database in databases
        if database.sid in together
    ]
    return Sizes(
        sga=sum(known_sizes[sid] for sid in together),
        largest=max([known_sizes[sid] for sid in together], default=0),
        processes=tuple(count for count in counts if isinstance(count, int)),
        sids=tuple(together),
        unknown=problems[0] if problems else None,
    )
