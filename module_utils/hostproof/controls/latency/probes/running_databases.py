# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The databases that run: their parameters, and which of their sessions block others.

v$wait_chains is there since 11.1; the server refreshes it every few seconds by itself.
"""

from typing import List, NamedTuple

from ....collect.answer import Answer, attempt, known
from ....collect.host import Host
from ....errors import Absent, Unanswered
from ....probes.oracle import instances, next_start, oracle_parameters, sqlplus
from ....probes.oracle.oracle_parameters import Asked
from ..parsers import wait_chains
from ..parsers.wait_chains import Link

_CHAINS = "wait chains"
_SECONDS = 20.0
#: A cluster in which everything waits has thousands of them.
_MOST_ROWS = 2000
_SINCE = (11, 1)


class Running(NamedTuple):
    """A running database. ``links`` are Absent before 11.1."""

    sid: str
    asked: Answer[Asked]
    links: Answer[List[Link]]

    @property
    def key(self) -> str:
        return f"command:sqlplus {self.sid}: {_CHAINS}"


def read(host: Host) -> List[Running]:
    """Ask each database that runs here, as its owner."""
    running = next_start.running_databases(instances.find_instances(host))
    asking = next_start.Asking(_SECONDS, None)
    databases = []
    for sid, instance in sorted(running.items()):
        database = next_start.read_database(host, asking, sid, instance)
        links = attempt(_read_links, host, database)
        databases.append(Running(sid, database.asked, links))
    return databases


def _read_links(host: Host, database: next_start.Database) -> List[Link]:
    instance, target = known(database.asked), known(database.target)
    query = sqlplus.rows(
        target,
        _CHAINS,
        [
            sqlplus.select(
                wait_chains.KIND,
                wait_chains.COLUMNS,
                "v$wait_chains where (blocker_is_valid = 'TRUE' or num_waiters > 0) "
                f"and rownum <= {_MOST_ROWS + 1}",
            )
        ],
        _SECONDS,
    )
    key = "command:" + query.name
    if instance.version < _SINCE:
        raise Absent(key, "v$wait_chains is there since 11.1")
    fields = {wait_chains.KIND: len(wait_chains.COLUMNS)}
    links: List[Link] = wait_chains.parse(
        oracle_parameters.rows_of(host, database.sid, query, fields)
    )
    if len(links) > _MOST_ROWS:
        raise Unanswered(key, f"more than {_MOST_ROWS} sessions wait, not read")
    return links
