# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The application servers to check, and the limits: the role's variables and their checks."""

import re
from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import (
    checked_by,
    decimal,
    entries,
    flag,
    matching,
    names,
    one_of,
    reader,
    whole_number,
)
from ...evaluate.policy import PolicyValues
from .validation_ways import BACKGROUND, FOREGROUND

NAME = "pool_validation"

STANDALONE, DOMAIN = "standalone", "domain"

_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}\Z")
_PLAIN = "a name of letters, digits, - _ and ."
_CONTROLLER = re.compile(r"^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}\Z")
_PROBE = re.compile(r"^tcp \S{1,280}:[0-9]{1,5} [a-z_]{1,32}\Z")
_CLASS = re.compile(r"^[A-Za-z_$][A-Za-z0-9_.$]{0,250}\Z")


def _folder(values: PolicyValues, name: str) -> str:
    return values.absolute(name, values[name]).rstrip("/") or "/"


class Server(NamedTuple):
    """An application server, or a domain's controller.

    ``base`` is jboss.server.base.dir or jboss.domain.base.dir; None for the default below ``home``.
    ``user`` runs the server and may query it.
    """

    name: str = matching(_NAME, _PLAIN)
    home: str = checked_by(_folder, "path")
    user: str = matching(_NAME, _PLAIN)
    mode: str = one_of(STANDALONE, DOMAIN).optional(STANDALONE)
    base: Optional[str] = checked_by(_folder, "path").optional()
    java: str = checked_by(_folder, "path").optional("/usr/bin/java")
    controller: str = matching(
        _CONTROLLER, "an address and a port, such as 127.0.0.1:9990"
    ).optional("127.0.0.1:9990")

    @property
    def folder(self) -> str:
        return self.base or f"{self.home}/{self.mode}"


def _pool_file(values: PolicyValues, name: str) -> str:
    path = values.absolute(name, values[name])
    if not path.endswith((".xml", ".properties")):
        raise values.error(name, f"must end in .xml or .properties, not {path[-80:]!r}")
    return path


class PoolFile(NamedTuple):
    """A file of Tomcat, of HikariCP or of Spring Boot that shows of pools."""

    name: str = matching(_NAME, _PLAIN)
    file: str = checked_by(_pool_file, "path")


class Wanted(NamedTuple):
    """Validation of a pool that apply configures; None keeps the value of the server.

    ``millis`` is the interval of background validation.
    """

    pool: str = matching(_NAME, _PLAIN)
    server: str = matching(_NAME, _PLAIN)
    validation: str = one_of(FOREGROUND, BACKGROUND)
    millis: int = whole_number(1000, 86400000).optional(10000)
    checker: Optional[str] = matching(_CLASS, "the name of a class").optional()
    sorter: Optional[str] = matching(_CLASS, "the name of a class").optional()
    flush: Optional[str] = one_of(
        "FailingConnectionOnly", "EntirePool", "InvalidIdleConnections", "IdleConnections"
    ).optional()


class Database(NamedTuple):
    """The database of pools on many hosts; only a run over all of them can add them up.

    ``hosts`` have its listeners and one instance each, ``clients`` have the pools: names of the
    inventory. ``pools`` are those of a host, each "server pool"; none for all. ``processes`` is the
    limit of each instance, None if it is unknown. ``reserve`` is the part of it that pools may not
    use.
    """

    name: str = matching(_NAME, _PLAIN)
    hosts: Tuple[str, ...] = names()
    clients: Tuple[str, ...] = names()
    pools: Tuple[str, ...] = names().optional(())
    processes: Optional[int] = whole_number(1, 1000000).optional()
    reserve: int = whole_number(0, 1000000).optional(100)


class Policy(NamedTuple):
    """The role's variables.

    ``round_trip_probe`` is the name of one of latency's probes. It, ``round_trip_ms`` and
    ``firewall_idle_minutes`` are None where they are not known.
    """

    servers: Tuple[Server, ...] = entries(Server)
    """The application servers (WildFly, JBoss EAP) of the host. Each is a dictionary with
    C(name), C(home) (the installation directory) and C(user) (the account that runs it).

    Optional keys are C(mode) (C(standalone), or C(domain) for a domain controller; default
    C(standalone)), C(base) (the base directory; default: that of the mode in C(home)), C(java)
    (default C(/usr/bin/java)) and C(controller) (address and port of the management interface;
    default C(127.0.0.1:9990)).

    Default: []
    """
    files: Tuple[PoolFile, ...] = entries(PoolFile)
    """Files of the host that configure pools, each a dictionary with C(name) and C(file).
    C(*.xml) is a file of Tomcat (C(server.xml), C(context.xml)), whose resources may be those
    of the JDBC pool of Tomcat, DBCP 2, HikariCP or UCP. C(*.properties) is a file of HikariCP,
    or C(application.properties) of Spring Boot.

    Default: []
    """
    round_trip_probe: Optional[str] = matching(
        _PROBE, "the name of a probe, such as tcp db1:1521 handshake"
    ).none_for("none")
    """Which probe of C(latency_probes) measures the round trip from this host to the database, by
    the name that its findings have, such as C(tcp db1.example.com:1521 handshake); C(none) for
    none. It is measured in the window of the same run.

    Default: none
    """
    round_trip_ms: Optional[float] = decimal(0.001, 60000).none_for(None)
    """Milliseconds of a round trip from this host to the database, used if no measurement
    exists. C(null) means unknown.

    Default: null
    """
    round_trip_warn_ms: float = decimal(0, 60000)
    """Validation in the foreground warns where the round trip is longer than this.

    Default: 1
    """
    firewall_idle_minutes: Optional[int] = whole_number(1, 100000).none_for(None)
    """Idle minutes after which a firewall drops a connection. C(null) means unknown.

    Default: null
    """
    answer_seconds: float = decimal(1, 600)
    """Maximum time of an answer of a server; then it is C(error).

    Default: 30
    """
    pools: Tuple[Wanted, ...] = entries(
        Wanted,
        key=lambda pool: (pool.server, pool.pool),
        twice="names a pool of a server twice: {0}",
    )
    """Validation that apply sets for pools of standalone servers. Each entry is a dictionary
    with C(pool) (the name of the data source), C(server) (of O(pool_validation_servers)) and
    C(validation) (C(foreground) or C(background)).

    Optional keys are C(millis) (the interval in the background, 10000), C(checker) and
    C(sorter) (class names) and C(flush) (the flush strategy). Attributes without a key are not
    changed.

    Default: []
    """
    databases: Tuple[Database, ...] = entries(Database)
    """The databases that pools of several hosts use. Each entry is a dictionary with C(name),
    C(hosts) (the database hosts, with one listener and one instance each) and C(clients) (the
    application hosts), both as inventory names. Set the same list for all application hosts of
    a database.

    Optional keys are C(pools), C(processes) (the parameter of each instance) and C(reserve)
    (processes that no pool uses, for background processes, jobs, parallel execution and
    administrators; 100). C(pools) are the pools of a host that connect to the database, each as
    C(server pool). The first matching entry applies. An entry without C(pools) contains all
    pools.

    Default: []
    """
    allow_reload: bool = flag()
    """Whether apply and its revert may reload a server, which ends its sessions. Otherwise the
    change is stored and waits for the next reload.

    Default: false
    """
    allow_stale_connections: bool = flag()
    """Whether apply may move validation to the background, which hands out connections that died in
    a failover.

    Default: false
    """


def _of_servers(policy: Policy, values: PolicyValues) -> Policy:
    """Reject requirements for a server that is not in the list: they would have no effect."""
    listed = {server.name for server in policy.servers if isinstance(server, Server)}
    if len(listed) < len(policy.servers):
        return policy  # one of them cannot be used, which is a separate error
    for pool in policy.pools:
        if isinstance(pool, Wanted) and pool.server not in listed:
            raise values.error("pools", f"names {pool.server}, which is none of the servers")
    return policy


policy_from = reader(NAME, Policy, _of_servers)
