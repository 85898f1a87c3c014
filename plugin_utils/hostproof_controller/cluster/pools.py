# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pools of all application hosts against the database that they share, from findings alone.

Pools report their database and size (pool_validation.sessions), and listeners the logons per second
that they accept (listener_rate_limit.rate_enabled). An unknown pool may have any number of
connections. The sum is then a lower bound: it can prove an excess, but not that all is in order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.controls.pool_validation import rules_sums
from ansible.module_utils.hostproof.evaluate.finding import (
    ERROR,
    FAIL,
    PASS,
    SKIP,
    WARN,
    Check,
    make_finding,
)

from .nodes import SESSIONS, State, is_same, plain

_RATE = "listener_rate_limit.rate_enabled"


class Terms(NamedTuple):
    """The policy of an application host for its database; names are those of the inventory.

    ``processes`` is per instance; ``reserve`` of these are not for pools. None means unknown.
    """

    hosts: tuple[str, ...]
    clients: tuple[str, ...]
    processes: int | None
    reserve: int


class Pool(NamedTuple):
    """The number of connections a pool has, and milliseconds that a request waits for one."""

    host: str
    minimum: float
    maximum: float
    wait_ms: float


class Database(NamedTuple):
    """``unknown`` are its application hosts of which a pool, or every one, is not known.

    There are several ``terms`` if the policies of application hosts differ.
    """

    name: str
    terms: tuple[Terms, ...]
    pools: tuple[Pool, ...]
    unknown: tuple[str, ...]

    def sums(self) -> tuple[float, float]:
        return sum(pool.minimum for pool in self.pools), sum(pool.maximum for pool in self.pools)


def databases_of(states: Iterable[State]) -> list[Database]:
    """The databases that pools were said to be of, by name."""
    terms: dict[str, dict[Terms, None]] = {}
    pools: dict[str, list[Pool]] = {}
    half_known = []
    for state in states:
        for finding in state.findings:
            if finding["check"] == SESSIONS and (finding["values"] or finding["status"] == ERROR):
                try:
                    name, term, pool = _parse_pool_values(state.name, finding["values"])
                except (AttributeError, KeyError, TypeError, ValueError):
                    half_known.append(state.name)
                    continue
                terms.setdefault(name, {})[term] = None
                pools.setdefault(name, []).append(pool)
    return [
        Database(
            name,
            tuple(terms[name]),
            tuple(pools[name]),
            tuple(_unknown(terms[name], pools[name], half_known)),
        )
        for name in sorted(pools)
    ]


def _parse_pool_values(host: str, values: dict[str, Any]) -> tuple[str, Terms, Pool]:
    """What a pool says; raises anything for what no pool says."""
    hosts, clients = (
        tuple(plain(word) for word in values[key].split(",") if word)
        for key in ("hosts", "clients")
    )
    processes = values["processes"]
    if processes is not None:
        processes = int(_number(processes))
    terms = Terms(hosts, clients, processes, int(_number(values["reserve"])))
    sizes = (_number(values[key]) for key in ("minimum", "maximum", "wait_ms"))
    return plain(values["database"]), terms, Pool(host, *sizes)


def _number(value: object) -> float:
    """ValueError for what is no number of connections, processes, logons or milliseconds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        raise ValueError(f"no count: {value!r}")
    return value


def _unknown(terms: Iterable[Terms], pools: list[Pool], half_known: list[str]) -> list[str]:
    clients = dict.fromkeys(client for term in terms for client in term.clients)
    lost = [name for name in clients if not any(is_same(name, pool.host) for pool in pools)]
    seen = dict.fromkeys(pool.host for pool in pools)
    return lost + [name for name in half_known if name in seen]


def findings_on(
    database: Database, state_of: Callable[[str], State | None]
) -> list[dict[str, Any]]:
    """The findings on a database; ``state_of`` gives the host of a name, None where none is."""
    if len(database.terms) > 1:
        why = f"Application hosts differ in what pool_validation_databases says of {database.name}."
        checks = (rules_sums.sessions.check, rules_sums.logon_storm.check)
        return [
            _cluster_finding(check, ERROR, why, fix="give all of them the same") for check in checks
        ]
    terms = database.terms[0]
    return [_sessions(database, terms), _judge_logon_storm(database, terms, state_of)]


def _sessions(database: Database, terms: Terms) -> dict[str, Any]:
    check = rules_sums.sessions.check
    _, most = database.sums()
    demand = f"{_pools(database)} may have {most:g} connections"
    if terms.processes is None or not terms.hosts:
        why = f"{demand}; processes and hosts of {database.name} are not known."
        fix = "give processes (select value from v$parameter where name = 'processes') and hosts"
        return _cluster_finding(check, ERROR, why, fix=f"{fix} in pool_validation_databases")
    each, count = max(0, terms.processes - terms.reserve), len(terms.hosts)
    room, limit = each * count, terms.processes * count
    status, why = PASS, ""
    if most > limit:
        status, why = FAIL, f"{demand}; {database.name} has {limit} processes on all hosts."
    elif most > room and not database.unknown:
        # The number of processes of the database itself is an assumption.
        status = WARN
        why = (
            f"{demand}: of {limit} processes, {limit - room} are assumed to be for the database "
            f"itself and others (reserve of pool_validation_databases). Room is for {room}."
        )
    elif database.unknown:
        status, why = ERROR, _not_known(database)
    elif count > 1 and most > room - each:
        status = WARN
        why = f"{demand}: when one of {count} hosts is lost, there is room for {room - each}."
    return _cluster_finding(
        check,
        status,
        why,
        fix="smaller maximum sizes (a session that waits in the pool is cheaper than one that "
        "waits in the database), or more processes",
        desired=f"at most {room}: {count} x ({terms.processes} processes - {terms.reserve} for "
        "others)",
        running=demand,
        values={"connections": most, "room": room},
    )


def _judge_logon_storm(
    database: Database, terms: Terms, state_of: Callable[[str], State | None]
) -> dict[str, Any]:
    check = rules_sums.logon_storm.check
    rates = {host: _rate_of(state_of(host)) for host in terms.hosts}
    lost = [host for host, rate in rates.items() if rate is None]
    if lost or not rates:
        why = f"Which rate the listeners of {', '.join(lost) or database.name} have is not known."
        return _cluster_finding(
            check,
            ERROR,
            why,
            fix="audit listener_rate_limit there, in this run or in a joined report",
        )
    limits = [rate for rate in rates.values() if rate]
    if not limits:
        why = f"No listener of {', '.join(rates)} has a limit: no client waits."
        return _cluster_finding(check, SKIP, why)
    # The listener with the lowest rate has done its share last.
    least, most = (math.ceil(total / len(rates)) / min(limits) for total in database.sums())
    wait = min(pool.wait_ms for pool in database.pools) / 1000
    log_on = (
        f"{_pools(database)} log on in {least:.3g} s with their minimum and {most:.3g} s with "
        f"their maximum, at {min(limits):g} a second on each of {len(rates)} hosts"
    )
    status, why = PASS, ""
    if least >= wait:
        status, why = FAIL, f"{log_on}; a request waits {wait:g} s."
    elif database.unknown:
        status, why = ERROR, _not_known(database)
    elif most >= wait:
        status, why = WARN, f"{log_on}; a request waits {wait:g} s, if all were full before."
    return _cluster_finding(
        check,
        status,
        why,
        fix="smaller pools, a longer blocking-timeout-wait-millis, or a higher rate, as far as the "
        "processors of the database bear it",
        desired=f"less than {wait:g} s",
        running=log_on,
        values={"least_s": round(least, 3), "most_s": round(most, 3), "wait_s": wait},
    )


def _rate_of(state: State | None) -> float | None:
    """Logons a second of the slowest limited listener, 0 for no limit; None is not known."""
    findings = [finding for finding in state.findings if finding["check"] == _RATE] if state else []
    try:
        rates = [_number(finding["values"]["rate_per_second"]) for finding in findings]
    except (KeyError, TypeError, ValueError):
        return None
    return min((rate for rate in rates if rate), default=0) if rates else None


def _pools(database: Database) -> str:
    hosts = len({pool.host for pool in database.pools})
    return f"{len(database.pools)} pools of {hosts} hosts"


def _not_known(database: Database) -> str:
    return (
        f"The pools of {', '.join(database.unknown)} are not all known, so it is unknown "
        "whether those "
        f"of {database.name} fit."
    )


def _cluster_finding(check: Check, status: str, why: str = "", **more: Any) -> dict[str, Any]:
    return make_finding(check, status, why=why or None, **more).as_dict()
