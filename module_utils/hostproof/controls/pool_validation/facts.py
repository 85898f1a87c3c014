# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Data sources of application servers: as the servers report them, and as files contain them.

Passwords and URLs are never read.
"""

import posixpath
import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt
from ...collect.command import Command, state_of
from ...collect.host import Host
from ...errors import Absent, HostproofError, Unanswered, kind_of
from ...latency import budget
from ...parsers.jboss import cli_answers
from ...parsers.jboss.cli_answers import Item
from ...parsers.number import integer
from ...probes.jboss import cli
from .parsers import datasources_xml, pool_properties, pools, tomcat_resources
from .parsers.datasources_xml import ATTRIBUTES, DataSource
from .parsers.pools import PoolSource
from .policy import DOMAIN, Policy, PoolFile, Server

#: Begins the key of what a probe measured.
MEASURED = "windows:"

#: A server that has changes which it does not work by yet.
WAITING = ("reload-required", "restart-required")

#: Reports of jboss-cli on a server that does not run, and of Java on a home without a server.
_STOPPED = r"Connection re\w+ed\b|WFLYPRT0053|JBAS012174|Unable to access jarfile"

DEPLOYED, FAILED, NOT_DEPLOYED = "deployed", "failed", "not deployed"

_STATE = "server-state,product-name,product-version"
_POOL = ",".join(("enabled", "jndi-name") + ATTRIBUTES)


class Node(NamedTuple):
    """A server that runs. ``name`` is "" where it is not a part of a domain.

    ``state`` is its server-state ("running"); ``profile`` the domain's. ``deployments`` are the
    names of *-ds.xml that it knows.
    """

    name: str
    state: str
    product: Tuple[str, str]
    profile: Optional[str]
    deployments: Tuple[str, ...]


class Pool(NamedTuple):
    """A data source as the server's model has it, or as a deployment's file does.

    ``node`` is the name of the server. ``values`` are those of ATTRIBUTES that are set, None for
    an expression that only the server resolves.
    """

    node: str
    name: str
    jndi: Optional[str]
    xa: bool
    values: Dict[str, Optional[str]]


class Running(NamedTuple):
    """What the management says. ``config`` is the file that it started from, of a standalone.

    ``java`` is the program that asked, without links.
    """

    config: Optional[str]
    nodes: Tuple[Node, ...]
    pools: Tuple[Pool, ...]
    java: str


class Deployment(NamedTuple):
    """A *-ds.xml in the directory that the server watches."""

    path: str
    state: str
    sources: Answer[List[DataSource]]


class App(NamedTuple):
    """An entry of the policy; ``stored`` is what ``file`` says."""

    server: Server
    running: Answer[Running]
    file: Optional[str]
    stored: Answer[List[DataSource]]
    deployments: Answer[List[Deployment]]


class Facts(NamedTuple):
    """One App for each server of the policy, the pools of each of its files, and the milliseconds
    that a probe measured.

    ``round_trip`` is None where no probe is named.
    """

    apps: List[App]
    files: List[Tuple[PoolFile, Answer[List[PoolSource]]]]
    round_trip: Optional[Answer[float]] = None


def asked(server: Server) -> str:
    """The name of the server's answer in the evidence."""
    return f"jboss-cli {server.name}: data sources"


def read(host: Host, policy: Policy) -> Facts:
    probe = policy.round_trip_probe
    trip = None if probe is None else attempt(_round_trip, host, probe)
    files = [(entry, attempt(_read_pools, host, entry.file)) for entry in policy.files]
    return Facts([_read_app(host, server, policy) for server in policy.servers], files, trip)


def _read_pools(host: Host, path: str) -> List[PoolSource]:
    parse = tomcat_resources.parse if path.endswith(".xml") else pool_properties.parse
    sources = pools.from_kept(host.read_text(path, lambda text: pools.kept(parse(text))))
    if not sources:
        raise Unanswered(
            "file:" + path,
            f"{path} has no data source that is known here: name the file that sets the pool in "
            "pool_validation_files",
        )
    return sources


def _round_trip(host: Host, probe: str) -> float:
    latency = budget.felt(host.measured_by_another(probe))
    if latency is None:
        raise Unanswered(MEASURED + probe, f"{probe} saw no round trip")
    return latency[1] / 1000.0


def measured_by(facts: Facts, policy: Policy) -> List[str]:
    """The evidence key of the measured round trip, if there is one."""
    return [f"{MEASURED}{policy.round_trip_probe}"] if isinstance(facts.round_trip, float) else []


def round_trip(facts: Facts, policy: Policy) -> Optional[float]:
    """Milliseconds: as measured, otherwise from the policy; None if neither is available."""
    if isinstance(facts.round_trip, float):
        return facts.round_trip
    if policy.round_trip_ms is None and facts.round_trip is not None:
        raise facts.round_trip
    return policy.round_trip_ms


def _read_app(host: Host, server: Server, policy: Policy) -> App:
    running = attempt(_ask, host, server, policy.answer_seconds)
    file: Optional[str] = f"{server.folder}/configuration/domain.xml"
    deployments: Answer[List[Deployment]] = []
    if server.mode != DOMAIN:
        file = running.config if isinstance(running, Running) else None
        deployments = attempt(_read_deployments, host, server)
    stored: Answer[List[DataSource]] = []
    if file is not None:
        stored = attempt(_read_sources, host, file)
    elif isinstance(running, HostproofError):
        file, stored = _next_start(host, server, running)
    return App(server, running, file, stored, deployments)


def _next_start(
    host: Host, server: Server, running: HostproofError
) -> Tuple[Optional[str], Answer[List[DataSource]]]:
    """The file of a start without options, where the server does not tell which one it uses.

    If only one other standalone*.xml exists, it is that one.
    """
    folder = server.folder + "/configuration"
    path = folder + "/standalone.xml"
    stored = attempt(_read_sources, host, path)
    if not isinstance(stored, Absent):
        return path, stored
    names = attempt(host.list_dir, folder)
    files = [
        name
        for name in ([] if isinstance(names, HostproofError) else names)
        if re.match(r"standalone[A-Za-z0-9_.-]{0,200}\.xml\Z", name)
    ]
    if len(files) != 1:
        return None, running
    path = f"{folder}/{files[0]}"
    return path, attempt(_read_sources, host, path)


def is_stopped(running: HostproofError) -> bool:
    """Whether nothing listens for the management, or the home has no server to start."""
    return re.search(_STOPPED, str(running)) is not None


def _read_sources(host: Host, path: str) -> List[DataSource]:
    return datasources_xml.from_kept(host.read_text(path, datasources_xml.kept))


def _read_deployments(host: Host, server: Server) -> List[Deployment]:
    folder = server.folder + "/deployments"
    names = _or_none(attempt(host.list_dir, folder))
    deployments = []
    for name in names:
        if name.endswith("-ds.xml"):
            state = NOT_DEPLOYED
            if name + ".failed" in names:
                state = FAILED
            elif name + ".deployed" in names:
                state = DEPLOYED
            path = f"{folder}/{name}"
            deployments.append(Deployment(path, state, attempt(_read_sources, host, path)))
    return deployments


def _or_none(names: Answer[List[str]]) -> List[str]:
    """A server without such a directory watches none; what may not be read is unknown."""
    if isinstance(names, Absent):
        return []
    if isinstance(names, HostproofError):
        raise names
    return names


def command(server: Server, name: str, java: str, operations: List[str], seconds: float) -> Command:
    """Ask or tell the server, as the account that runs it."""
    at = cli.Management(server.home, server.user, server.controller, java)
    return cli.command(at, name, operations, seconds)


def _operations(server: Server) -> List[str]:
    root = "/host=*/server=*" if server.mode == DOMAIN else ""
    more = ",profile-name" if server.mode == DOMAIN else ""
    operations = [f"{root}:query(select=[{_STATE}{more}])"]
    for kind in ("data-source", "xa-data-source"):
        operations.append(f"{root}/subsystem=datasources/{kind}=*:query(select=[{_POOL}])")
    operations.append(f"{root}/deployment=*:query(select=[name])")
    if server.mode != DOMAIN:
        operations.append("/core-service=server-environment:query(select=[config-file])")
    return operations


def _ask(host: Host, server: Server, seconds: float) -> Running:
    operations = _operations(server)
    # No program is run through a link, which /usr/bin/java mostly is.
    java = host.real_path(server.java)
    query = command(server, asked(server), java, operations, seconds)
    output = host.ask(query)
    state_of(query, output)  # raises what it states where it could not ask
    results = cli_answers.parse(output.stdout, len(operations))
    pairs = [_pool(item) for result in results[1:3] for item in cli_answers.items(result)]
    shown = tuple(pool for pool, enabled in pairs if enabled)
    deployed = cli_answers.items(results[3])
    if server.mode == DOMAIN:
        states = [(_node_of(item), item.values) for item in cli_answers.items(results[0])]
        return Running(None, tuple(_node(*state, deployed) for state in states), shown, java)
    config = cli_answers.values(results[4]).get("config-file")
    if config is not None and not _is_own(config, server):
        # The account that is queried must not choose what root reads.
        raise Unanswered(
            "command:" + query.name,
            f"it reports that it started from {kind_of(config)}, which is not below "
            f"{server.folder}",
        )
    return Running(config, (_node("", cli_answers.values(results[0]), deployed),), shown, java)


def _is_own(path: str, server: Server) -> bool:
    return path == posixpath.normpath(path) and path.startswith(
        (server.folder + "/", server.home + "/")
    )


def _node_of(item: Item) -> str:
    """ "master/server-one" in a domain, "" elsewhere."""
    address = item.address
    return f"{address['host']}/{address['server']}" if "server" in address else ""


def _node(name: str, values: Dict[str, Optional[str]], deployed: List[Item]) -> Node:
    names = sorted(
        item.address.get("deployment", "") for item in deployed if _node_of(item) == name
    )
    return Node(
        name,
        values.get("server-state") or "unknown",
        (values.get("product-name") or "", values.get("product-version") or ""),
        values.get("profile-name"),
        tuple(deployment for deployment in names if deployment.endswith("-ds.xml")),
    )


def _pool(item: Item) -> Tuple[Pool, bool]:
    xa = "xa-data-source" in item.address
    name = item.address.get("xa-data-source" if xa else "data-source", "")
    values = {key: value for key, value in item.values.items() if key in ATTRIBUTES}
    pool = Pool(_node_of(item), name, item.values.get("jndi-name"), xa, values)
    return pool, item.values.get("enabled") != "false"


def is_old(product: Tuple[str, str]) -> Optional[bool]:
    """Whether its IronJacamar is older than 1.2, which does not validate where nothing says how.

    JBoss EAP 6 and AS 7 have 1.0 and 1.1; EAP XP counts its own versions. None where the
    product does not tell.
    """
    name, version = product
    major = re.match(r"[0-9]{1,6}", version)
    if major is None or not name:
        return None
    return "XP" not in name and integer(major.group()) < (7 if "EAP" in name else 8)
