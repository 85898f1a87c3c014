# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a server works by what its files state, and which of them wins."""

from typing import Dict, List, Optional, Tuple

from ...collect.answer import known
from ...errors import HostproofError
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Skip, Verdict, verdict_or_error
from ...evaluate.finding import FAIL, PASS, WARN
from .facts import (
    DEPLOYED,
    FAILED,
    WAITING,
    App,
    Deployment,
    Facts,
    Node,
    Pool,
    Running,
    is_stopped,
)
from .parsers.datasources_xml import DataSource
from .policy import DOMAIN, NAME, Policy
from .subjects import SERVERS, evidence_of

rules: Rules[Facts, Policy] = Rules(NAME)

_GUIDE = "WildFly Admin Guide, Management API reference; JBoss EAP Configuration Guide, Datasources"


@rules.check(
    "pool_validation.running",
    "Running configuration matches the file",
    "Running configuration differs from the file or awaits a reload",
    severity="medium",
    takes_effect="service_restart",
    why="Pools use old settings although the server shows new ones. Edits of the file are "
    "overwritten, or take effect at the next start.",
    reference=_GUIDE,
    each=SERVERS,
)
def running(app: App, _facts: Facts, _policy: Policy) -> Verdict:
    model = _running(app)
    stored = known(app.stored)
    waiting = [node.name or "the server" for node in model.nodes if node.state in WAITING]
    wrong = [
        "{0}is {1}: it shows what will be, its pools work by what was".format(
            node.name + " " if node.name else "", node.state
        )
        for node in model.nodes
        if node.state in WAITING
    ]
    if not wrong:
        wrong = _unlike_file(app, model, stored)
    return Verdict(
        WARN if wrong else PASS,
        why="; ".join(wrong) + "." if wrong else None,
        advice=Advice(
            [
                Ask(
                    f"reload {' and '.join(waiting)} in a quiet hour: its sessions end"
                    if waiting
                    else "set the values that must be in use with the management of the server "
                    "(jboss-cli.sh), then reload it in a quiet hour: an edit of the file of a "
                    "running server is lost"
                )
            ]
        ),
        persisted=app.file,
        running="; ".join(
            " ".join(part for part in (node.name, node.state) if part) for node in model.nodes
        ),
    )


def _unlike_file(app: App, model: Running, stored: List[DataSource]) -> List[str]:
    differing = [
        difference for node in model.nodes for difference in _differences(app, model, node, stored)
    ]
    wins = "the server wins until it starts again, and writes its file again when it is changed"
    return [*differing[:20], wins] if differing else []


def _running(app: App) -> Running:
    """What the server shows; Skip if it does not run."""
    if isinstance(app.running, HostproofError) and app.file and is_stopped(app.running):
        raise Skip(
            f"The server does not run: its pools are checked by {app.file}.", evidence_of(app)
        )
    return known(app.running)


def _differences(app: App, model: Running, node: Node, stored: List[DataSource]) -> List[str]:
    """Between the model of a server and its file, where the server runs at all."""
    if node.name and node.state != "running":
        return []
    mine = {_key(pool): pool for pool in model.pools if pool.node == node.name}
    files = {
        (source.name, source.xa): source
        for source in stored
        if source.enabled and (app.server.mode != DOMAIN or source.profile == node.profile)
    }
    place = node.name + " " if node.name else ""
    differences = [
        f"{place}{name} is only in the file" for name, _xa in sorted(set(files) - set(mine))
    ]
    differences += [
        f"{place}{name} is in the server alone" for name, _xa in sorted(set(mine) - set(files))
    ]
    for key in sorted(set(mine) & set(files)):
        differences += [
            f"{place}{key[0]}: {name} is {now or 'not set'} in the server, {then or 'not set'} in "
            "the file"
            for name, now, then in _differing(mine[key], files[key])
        ]
    return differences


def _key(pool: Pool) -> Tuple[str, bool]:
    return (pool.name, pool.xa)


#: Values that the server reports for attributes that are not set.
_DEFAULTS = {"use-fast-fail": "false"}


def _differing(pool: Pool, source: DataSource) -> List[Tuple[str, Optional[str], Optional[str]]]:
    differences = []
    for name in sorted(set(pool.values) | set(source.attributes)):
        now = pool.values.get(name, _DEFAULTS.get(name))
        then: Optional[str] = source.attributes.get(name, _DEFAULTS.get(name))
        is_expression = then is not None and "${" in then
        if now != then and not (is_expression and now is None):
            differences.append((name, now, then))
    return differences


@rules.check(
    "pool_validation.deployments",
    "Data sources deployed as files are in effect",
    "A data source deployed as a file failed or is ignored",
    severity="medium",
    takes_effect="service_restart",
    why="If two data sources have the same JNDI name, the server uses its own, and the "
    "settings in the file have no effect.",
    reference=_GUIDE,
    each=SERVERS,
)
def deployments(app: App, _facts: Facts, _policy: Policy) -> List[Verdict]:
    model = _running(app)
    entries = known(app.deployments)
    own: Dict[str, Pool] = {pool.jndi: pool for pool in model.pools if pool.jndi}
    verdicts = [verdict_or_error(_judge, app, deployment, own) for deployment in entries]
    files = {deployment.path.rpartition("/")[2] for deployment in entries}
    for node in model.nodes:
        for name in sorted(set(node.deployments) - files):
            verdicts.append(
                Verdict(
                    WARN,
                    why=f"{name} was deployed through the management"
                    f"{' of ' + node.name if node.name else ''}: no file shows how it validates.",
                    advice=Advice(
                        [
                            Ask(
                                f"create the data source of {name} with the management of the "
                                f"server, which then shows it, and undeploy {name}"
                            )
                        ]
                    ),
                )
            )
    if not verdicts:
        raise Skip("No *-ds.xml is deployed.", evidence_of(app)[:1])
    return verdicts


def _judge(app: App, deployment: Deployment, own: Dict[str, Pool]) -> Verdict:
    sources = known(deployment.sources)
    both = [source for source in sources if source.jndi in own]
    status, why = PASS, None
    if both:
        first = both[0]
        status, why = (
            FAIL if deployment.state == DEPLOYED else WARN,
            (
                f"{deployment.path} has {first.jndi}, which {own[first.jndi].name} of the server "
                "has too: the server's own wins."
            ),
        )
    elif deployment.state != DEPLOYED:
        how = "failed" if deployment.state == FAILED else "is not deployed"
        status, why = WARN, f"{deployment.path} {how}: nothing of it works."
    return Verdict(
        status,
        why=why,
        advice=Advice(
            [
                Ask(
                    f"decide: remove {deployment.path}, or give its data source a separate JNDI "
                    "name"
                    if both
                    else f"read in server.log why {deployment.path} is not deployed, and correct it"
                )
            ]
        ),
        persisted=deployment.path,
        running=f"{deployment.state}: " + ", ".join(source.jndi for source in sources),
        evidence=("file:" + deployment.path,) + evidence_of(app)[:1],
    )
