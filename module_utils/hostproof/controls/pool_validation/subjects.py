# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rules of pool_validation check one by one: application servers, and their pools."""

from typing import List, Tuple, Union

from ...collect.answer import known
from ...errors import HostproofError, Unanswered
from ...evaluate.checking import Subjects
from .facts import DEPLOYED, WAITING, App, Facts, Node, Pool, asked, is_old
from .file_pools import FilePool
from .ironjacamar import Known
from .policy import Policy

_NONE = "pool_validation_servers names no application server."
_NO_POOLS = "pool_validation_servers names no application server, pool_validation_files no file."


#: The schema urn:jboss:domain of WildFly 8 is 2.0; JBoss AS 7 and EAP 6 have 1.x.
_SINCE_IRONJACAMAR_1_2 = 2

#: What the rules on pools take.
AnyPool = Union[Known, FilePool]


def evidence_of(app: App) -> Tuple[str, ...]:
    files = () if app.file is None else ("file:" + app.file,)
    return ("command:" + asked(app.server),) + files


def _apps(facts: Facts, _policy: Policy) -> List[App]:
    return facts.apps


def _pools(facts: Facts, _policy: Policy) -> List[Union[AnyPool, HostproofError]]:
    pools: List[Union[AnyPool, HostproofError]] = []
    for app in facts.apps:
        try:
            pools += _pools_of(app)
        except HostproofError as problem:
            pools.append(problem)
    for place, sources in facts.files:
        if isinstance(sources, HostproofError):
            pools.append(sources)
        else:
            pools += [FilePool(place.name, place.file, source) for source in sources]
    return pools


def _by_file(app: App, running: HostproofError) -> List[Union[Known, HostproofError]]:
    """The pools of the next start, where only the file is known."""
    if app.file is None or isinstance(app.stored, HostproofError):
        raise running
    return [
        Known(
            app,
            Pool(
                source.profile or "",
                source.name,
                source.jndi,
                source.xa,
                # Only the server resolves an expression.
                {
                    name: None if "${" in value else value
                    for name, value in source.attributes.items()
                },
            ),
            None if source.schema is None else source.schema < _SINCE_IRONJACAMAR_1_2,
            ("file:" + app.file, "command:" + asked(app.server)),
            running,
        )
        for source in app.stored
        if source.enabled
    ]


def _pools_of(app: App) -> List[Union[Known, HostproofError]]:
    if isinstance(app.running, HostproofError):
        return _by_file(app, app.running)
    running = app.running
    key = "command:" + asked(app.server)
    pools: List[Union[Known, HostproofError]] = []
    for node in running.nodes:
        mine = [pool for pool in running.pools if pool.node == node.name]
        if mine and node.state in WAITING:
            # Its model has the new values, its pools have the old ones, which nothing shows.
            pools.append(_waits(key, app, node))
            continue
        pools += [Known(app, pool, is_old(node.product), (key,)) for pool in mine]
    for deployment in known(app.deployments):
        if deployment.state == DEPLOYED:
            old = is_old(running.nodes[0].product)
            place = ("file:" + deployment.path,)
            for source in known(deployment.sources):
                pool = Pool("", source.name, source.jndi, source.xa, dict(source.attributes))
                pools.append(Known(app, pool, old, place))
    return pools


def _waits(key: str, app: App, node: Node) -> Unanswered:
    name = " ".join(part for part in (app.server.name, node.name) if part)
    return Unanswered(
        key, f"{name} is {node.state}: what its pools work by until then, nothing shows"
    )


SERVERS = Subjects(_apps, none=_NONE, name=lambda app: str(app.server.name), evidence=evidence_of)
POOLS: Subjects[Facts, Policy, AnyPool] = Subjects(
    _pools,
    none=lambda facts, policy: (
        "No data source is enabled." if policy.servers or policy.files else _NO_POOLS
    ),
    name=lambda pool: str(pool.name),
    evidence=lambda pool: pool.evidence,
)
