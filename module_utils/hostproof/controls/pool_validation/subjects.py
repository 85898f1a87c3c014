# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rules of pool_validation judge one by one: application servers, and their pools."""

from typing import List, NamedTuple, Optional, Tuple, Union

from ...answer import known
from ...checking import Rules, Subjects
from ...errors import HostproofError, Unanswered
from ...parsers.number import decimal
from .facts import DEPLOYED, WAITING, App, Facts, Node, Pool, asked, is_old
from .policy import NAME, Policy

_NONE = "pool_validation_servers names no application server."

rules = Rules(NAME)


class Known(NamedTuple):
    """A pool of a server that works by what it shows. ``old``: see facts.is_old."""

    app: App
    pool: Pool
    old: Optional[bool]
    evidence: Tuple[str, ...]

    @property
    def name(self) -> str:
        return " ".join(
            one for one in (self.app.server.name, self.pool.node, self.pool.name) if one
        )

    def value(self, name: str) -> Optional[str]:
        """What is set; Unanswered for an expression, of which the server alone knows the value."""
        if name in self.pool.values and self.pool.values[name] is None:
            raise Unanswered(
                self.evidence[0], f"{name} of {self.pool.name} is an expression, not a value"
            )
        return self.pool.values.get(name)

    def number(self, name: str, default: str) -> float:
        text = self.value(name) or default
        try:
            return decimal(text)
        except ValueError:
            raise Unanswered(self.evidence[0], f"{name} is {text[:40]!r}") from None

    def is_set(self, name: str) -> bool:
        return self.value(name) == "true"


def evidence_of(app: App) -> Tuple[str, ...]:
    files = () if app.file is None else ("file:" + app.file,)
    return ("command:" + asked(app.server),) + files


def _apps(facts: Facts, _policy: Policy) -> List[App]:
    return facts.apps


def _pools(facts: Facts, _policy: Policy) -> List[Union[Known, HostproofError]]:
    found: List[Union[Known, HostproofError]] = []
    for app in facts.apps:
        try:
            found += _pools_of(app)
        except HostproofError as problem:
            found.append(problem)
    return found


def _pools_of(app: App) -> List[Union[Known, HostproofError]]:
    running = known(app.running)
    key = "command:" + asked(app.server)
    found: List[Union[Known, HostproofError]] = []
    for node in running.nodes:
        mine = [pool for pool in running.pools if pool.node == node.name]
        if mine and node.state in WAITING:
            # Its model has the new values, its pools have the old ones, which nothing shows.
            found.append(_waits(key, app, node))
            continue
        found += [Known(app, pool, is_old(node.product), (key,)) for pool in mine]
    for deployment in known(app.deployments):
        if deployment.state == DEPLOYED:
            old = is_old(running.nodes[0].product)
            place = ("file:" + deployment.path,)
            for one in known(deployment.sources):
                pool = Pool("", one.name, one.jndi, one.xa, dict(one.attributes))
                found.append(Known(app, pool, old, place))
    return found


def _waits(key: str, app: App, node: Node) -> Unanswered:
    name = " ".join(one for one in (app.server.name, node.name) if one)
    return Unanswered(
        key, f"{name} is {node.state}: what its pools work by until then, nothing shows"
    )


SERVERS = Subjects(_apps, none=_NONE, name=lambda app: str(app.server.name), evidence=evidence_of)
POOLS = Subjects(
    _pools,
    none=lambda facts, policy: "No data source is enabled." if policy.servers else _NONE,
    name=lambda one: str(one.name),
    evidence=lambda one: one.evidence,
)
