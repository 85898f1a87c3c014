# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans how the pools of standalone servers validate: one batch a server, without the pools of
which a change is rejected.

The server writes its own file; it is never edited. Sources: WildFly Admin Guide, Management API
reference and CLI, batch; measured on WildFly 26.1.3: each attribute of validation waits for a
reload, a batch of which one operation fails has no effect.
"""

import json
import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...apply.change import (
    Change,
    CommandChange,
    Plan,
    Refusal,
    idle,
)
from ...collect.answer import known
from ...collect.command import Command
from ...errors import Unanswered, kind_of
from .facts import App, Facts, Pool, asked, command
from .policy import BACKGROUND, DOMAIN, Policy, Wanted
from .sides import (
    AFTER_FAILURE,
    BEHIND,
    BOTH_SIDES,
    CHECKER,
    FLUSH,
    MATCH,
    MILLIS,
    SORTER,
    SQL,
    both_sides,
)

Values = Dict[str, Optional[str]]

#: What goes into an operation as it is: no blank, comma, quote or bracket.
_PLAIN = re.compile(r"^[A-Za-z0-9_.$-]{1,250}\Z")
#: Those that the model holds as text; the others are truth values and numbers.
_TEXTS = (CHECKER, SORTER, FLUSH)
#: A reload ends when the server answers again.
_RELOAD_SECONDS = 300.0


class _Step(NamedTuple):
    """Current and new values of one pool, for the attributes that change; None is not set."""

    pool: Pool
    before: Values
    after: Values


def plan(facts: Facts, policy: Policy) -> Plan:
    """The changes that make pools as required; raises what it would have to guess."""
    changes: List[Change] = []
    refusals: List[Refusal] = []
    pending: List[str] = []
    for app in facts.apps:
        targets = [target for target in policy.pools if target.server == app.server.name]
        if targets:
            refused = _server_guards(app)
            of_app = Plan([], refused, [], []) if refused else _plan_app(app, targets, policy)
            changes += of_app.changes
            refusals += of_app.refusals
            pending += of_app.pending
    if not (changes or refusals or pending or policy.pools):
        return idle("pool_validation_pools names no pool.")
    return Plan(changes, refusals, pending, [])


def _plan_app(app: App, targets: List[Wanted], policy: Policy) -> Plan:
    """The changes of the pools of one server."""
    name = app.server.name
    refusals: List[Refusal] = []
    steps: List[_Step] = []
    for target in targets:
        against = _plan_pool(app, target, policy, steps)
        refusals += [one._replace(part=f"{name} {target.pool}") for one in against]
    changes: List[Change] = []
    state = known(app.running).nodes[0].state
    if steps and state != "running":
        reason = f"{name} is {state}: a reload would bring others' changes too"
        refusals.append(Refusal(reason + "; reload it first", None, name))
    elif steps:
        groups = [steps] if policy.allow_reload else [[step] for step in steps]
        changes = [_change(app, group, policy) for group in groups]
    pending = []
    if state != "running" or (steps and not policy.allow_reload):
        pending.append(
            f"{name} works by its old values until it is reloaded: reload in a "
            "quiet hour (its sessions end), or pool_validation_allow_reload: true."
        )
    return Plan(changes, refusals, pending, [])


def _server_guards(app: App) -> List[Refusal]:
    if app.server.mode == DOMAIN:
        reason = "is a domain, whose profiles belong to many hosts: set it in its profile manually"
    elif app.server.user == "root":
        reason = "runs as root, and as root nothing of others is run: give it an account"
    else:
        return []
    return [Refusal(f"{app.server.name} {reason}", None, app.server.name)]


def _plan_pool(app: App, target: Wanted, policy: Policy, steps: List[_Step]) -> List[Refusal]:
    """Adds the step of a pool that is not as required; or why it must not be made."""
    pools = [pool for pool in known(app.running).pools if pool.name == target.pool]
    if len(pools) != 1:
        many = "several data sources" if pools else "no enabled data source (of a file: edit it)"
        return [Refusal(f"{target.server} has {many} of the name {target.pool}", None)]
    pool, after = pools[0], _wanted(target)
    now: Values = {name: _value(app, pool, name) for name in after}
    changed = [name for name in after if not _is_equal(now[name], after[name])]
    if not changed:
        return []
    refused = _guards(app, target, pool, {**pool.values, **after}, policy)
    if refused:
        return refused
    steps.append(
        _Step(pool, {name: now[name] for name in changed}, {name: after[name] for name in changed})
    )
    return []


def _wanted(target: Wanted) -> Values:
    behind = target.validation == BACKGROUND
    values: Values = {MATCH: _truth(not behind), BEHIND: _truth(behind)}
    if behind:
        values[MILLIS] = str(target.millis)
    settings = ((CHECKER, target.checker), (SORTER, target.sorter), (FLUSH, target.flush))
    values.update({name: value for name, value in settings if value is not None})
    return {name: values[name] for name in sorted(values)}


def _truth(value: bool) -> str:
    return "true" if value else "false"


def _is_equal(now: Optional[str], then: Optional[str]) -> bool:
    """A switch that is not set is off; what both unset do is decided by the other one."""
    return now == then or (now is None and then == "false")


def _value(app: App, pool: Pool, name: str) -> Optional[str]:
    """The value that revert must restore; Unanswered if that is not possible."""
    value = pool.values.get(name)
    if name in pool.values and (value is None or not _PLAIN.match(value)):
        raise Unanswered(
            "command:" + asked(app.server),
            f"{name} of {pool.name} is an expression or a text that could not be restored",
        )
    return value


def _guards(app: App, target: Wanted, pool: Pool, then: Values, policy: Policy) -> List[Refusal]:
    name = f"{app.server.name} {pool.name}"
    if not re.match(r"^[A-Za-z0-9_.:/-]{1,250}\Z", pool.jndi or ""):
        return [
            Refusal(f"{name}: its JNDI name {kind_of(pool.jndi or '')} does not identify it", None)
        ]
    refused = []
    if not then.get(CHECKER) and not then.get(SQL):
        refused.append(
            Refusal(f"{name} has neither checker nor statement, so it would validate nothing", None)
        )
    if target.validation != BACKGROUND:
        return refused
    if not then.get(SORTER):
        reason = f"{name} has no exception sorter: each dead connection would go back into the pool"
        refused.append(Refusal(reason + "; give sorter", None))
    if not policy.allow_stale_connections:
        sides = both_sides(
            policy.round_trip_ms,
            pool.values.get("max-pool-size") or "20",
            BOTH_SIDES,
            AFTER_FAILURE,
        )
        refused.append(
            Refusal(
                f"{name}: the background hands out dead connections: {sides}",
                "allow_stale_connections",
            )
        )
    return refused


# -- the change ------------------------------------------------------------------------------------


def _change(app: App, steps: List[_Step], policy: Policy) -> CommandChange:
    """``atomic``: a batch changes all or nothing. A reload follows it as a separate command.

    Where none does, each answer of a server that waits has a header more, and a look tells the
    result of one pool alone.
    """
    names = " ".join(step.pool.name for step in steps)
    return CommandChange(
        name=f"pools {names} of {app.server.name} at {app.server.controller}",
        before=_state([(step.pool, step.before) for step in steps], policy.allow_reload),
        after=_state([(step.pool, step.after) for step in steps], policy.allow_reload),
        look=_look(app, steps, policy),
        make=_batch(app, [(step.pool, step.after) for step in steps], policy),
        undo=_batch(app, [(step.pool, step.before) for step in steps], policy),
        atomic=True,
    )


def _address(pool: Pool) -> str:
    return '/subsystem=datasources/{0}="{1}"'.format(
        "xa-data-source" if pool.xa else "data-source", pool.name
    )


def _batch(app: App, pools: List[Tuple[Pool, Values]], policy: Policy) -> Tuple[Command, ...]:
    operations = []
    for pool, values in pools:
        for name, value in values.items():
            what = f"undefine-attribute(name={name})"
            if value is not None:
                what = f"write-attribute(name={name},value={value})"
            operations.append(f"{_address(pool)}:{what}")
    commands = [_command(app, "set pools", ["batch"] + operations + ["run-batch"], policy)]
    if policy.allow_reload:
        commands.append(
            _command(app, "reload", ["reload"], policy)._replace(timeout=_RELOAD_SECONDS)
        )
    return tuple(commands)


def _look(app: App, steps: List[_Step], policy: Policy) -> Command:
    """Its state is what the server prints of the attributes, between two that always are there."""
    operations = [
        "{0}:query(select=[jndi-name,{1},use-fast-fail])".format(
            _address(step.pool), ",".join(step.before)
        )
        for step in steps
    ]
    if policy.allow_reload:
        operations.append(":query(select=[process-type,server-state])")
    query = _command(app, "check pools", operations, policy)
    expected = (
        r"\A(\{[\s\S]*^\})" if policy.allow_reload else r'\A[^{}]*\{[^{}]*"result" : (\{[^{}]*\})'
    )
    return query._replace(expected=expected, squeezed=True)


def _state(pools: List[Tuple[Pool, Values]], reloaded: bool) -> str:
    """The expected output of the look command if pools have these values, with single blanks."""
    shown = []
    for pool, values in pools:
        lines = [("jndi-name", json.dumps(pool.jndi))]
        lines += [
            (name, json.dumps(value) if name in _TEXTS else value)
            for name, value in values.items()
            if value is not None
        ]
        shown.append(lines + [("use-fast-fail", pool.values.get("use-fast-fail") or "false")])
    if reloaded:
        shown.append([("process-type", '"Server"'), ("server-state", '"running"')])
    results = []
    for lines in shown:
        inner = ",\n".join(f'"{name}" : {value}' for name, value in lines)
        results.append("{\n" + inner + "\n}")
    if not reloaded:
        return "\n".join(results)
    return "\n".join(
        '{\n"outcome" : "success",\n"result" : ' + result + "\n}" for result in results
    )


def _command(app: App, purpose: str, operations: List[str], policy: Policy) -> Command:
    return command(
        app.server,
        f"jboss-cli {app.server.name}: {purpose}",
        known(app.running).java,
        operations,
        policy.answer_seconds,
    )
