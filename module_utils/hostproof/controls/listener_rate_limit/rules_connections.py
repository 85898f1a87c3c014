# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the nodes that a listener accepts, and of connections that it lost."""

from typing import List, Tuple

from ...collect.answer import attempt, if_known, unless_absent
from ...evaluate.advice import Advice, Ask, Edit, Step
from ...evaluate.checking import Layer, Rules, Skip, Verdict, known_or_skip, layered
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.oracle.listener_log import LOST_CONTACT, NO_HANDOFF, TIMED_OUT
from .facts import Facts, key_of
from .policy import NAME, Policy
from .subjects import LISTENERS, NETAG, Subject, running, with_file
from .valid_nodes import Nodes

rules: Rules[Facts, Policy] = Rules(NAME)

_SQLNET = "Oracle Database Net Services Reference, sqlnet.ora"
#: Entries that a message names.
_MOST_NAMES = 12


@rules.check(
    "listener_rate_limit.valid_nodes",
    "Valid node checking accepts this host and names that resolve",
    "Valid node checking stops the next start or excludes this host",
    severity="critical",
    takes_effect="listener_restart",
    why="The listener runs with the lists that it read at its start. Its next start ends with "
    "TNS-00584, and no client connects.",
    reference=_SQLNET + ", TCP.VALIDNODE_CHECKING and TCP.INVITED_NODES; MOS 287500.1; TNS-00584",
    each=LISTENERS,
    because_of=("listener_rate_limit.config_file",),
)
def valid_nodes(subject: Subject, facts: Facts, _policy: Policy) -> Verdict:
    listener = with_file(subject)
    nodes: Nodes = known_or_skip(facts.nodes[key_of(listener)])
    if not nodes.is_on:
        raise Skip(f"{nodes.path} does not set TCP.VALIDNODE_CHECKING to yes.")
    if not nodes.invited and not nodes.excluded:
        raise Skip(f"{nodes.path} has no list of nodes.")
    accepts = attempt(nodes.invites_own) if nodes.invited else True
    own = if_known(nodes.own, "")[:80] or "this host"
    problems, steps = _start_problems(nodes, if_known(accepts, True), own)
    starts = not problems
    denied_by = attempt(nodes.denied_by)
    if if_known(denied_by, ()):
        names = ", ".join(entry[:80] for entry in if_known(denied_by, ()))
        problems.append(
            f"TCP.EXCLUDED_NODES has {names}: instances of {own} cannot register with the listener"
        )
        what = f"correct {names} in TCP.EXCLUDED_NODES of {nodes.path}, which excludes {own}"
        steps.append(Edit(nodes.path, what=what))
    next_start = (
        ""
        if starts
        else ". The next start ends with TNS-00584: do not restart the listener "
        "before the file is corrected"
    )
    return layered(
        persisted=Layer(
            f"{len(nodes.invited)} invited, {len(nodes.excluded)} excluded in {nodes.path}",
            FAIL if problems else PASS,
        ),
        also=[
            ("own entry", accepts),
            ("excluded entry", denied_by),
            *((name, found) for name, found in nodes.found.items()),
        ],
        why=f"{'; '.join(problems)}{next_start}.",
        advice=Advice(persisted=steps),
        desired="this host is invited, and each name resolves",
        evidence=[
            "command:cat " + nodes.path,
            *map("command:getent ahosts {}".format, nodes.found),
        ],
    )


def _start_problems(nodes: Nodes, accepts: bool, own: str) -> Tuple[List[str], List[Step]]:
    """The problems that make a start fail, and the steps that correct them.

    ``own`` is the name of this host.
    """
    problems: List[str] = []
    steps: List[Step] = []
    lost = nodes.unresolved()[:_MOST_NAMES]
    if lost:
        names = ", ".join(name[:80] for name in lost)
        problems.append(f"{names} {'does' if len(lost) == 1 else 'do'} not resolve")
        what = f"correct {names} in the lists of {nodes.path}, or remove it where it is obsolete"
        steps.append(Edit(nodes.path, what=what))
    if not accepts:
        problems.append(f"TCP.INVITED_NODES has no entry for {own}, the host of the listener")
        steps.append(Edit(nodes.path, what=f"add {own} to TCP.INVITED_NODES in {nodes.path}"))
    return problems, steps


@rules.check(
    "listener_rate_limit.lost_connections",
    "Listener hands its connections to servers",
    "Listener lost connections of clients",
    severity="high",
    takes_effect="now",
    why="A client that the listener cannot hand to a server gets an error (ORA-12518, ORA-12547 or "
    "ORA-12535).",
    reference=NETAG + ", Troubleshooting; TNS-12518, TNS-12547, TNS-12535; MOS 550859.1",
    each=LISTENERS,
    because_of=("listener_rate_limit.config_file", "process_limits.in_force"),
)
def lost_connections(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    listener = running(subject)
    seen = unless_absent(facts.logs[listener.pid], None)
    if seen is None:
        raise Skip(
            "No log of the listener was found. Logging can be off, or no client has connected."
        )
    counts = {code: seen.failures.get(code, 0) for code in (NO_HANDOFF, LOST_CONTACT, TIMED_OUT)}
    share = 100.0 * counts[TIMED_OUT] / max(1, seen.established + counts[TIMED_OUT])
    # Port scanners cause single timeouts.
    is_slow = share > policy.delayed_warn_percent
    problems = [
        f"{counts[code]} times TNS-{code}"
        for code in counts
        if counts[code] and (code != TIMED_OUT or is_slow)
    ]
    causes = ", ".join(f"{count} times {text}" for text, count in seen.system_errors.items())
    minutes = seen.seconds() / 60.0
    return layered(
        in_use=Layer(
            ", ".join(f"{count} times TNS-{code}" for code, count in counts.items())
            + f", and {seen.established} connections in {minutes:.0f} minutes",
            WARN if problems else PASS,
        ),
        why=f"The log has {', '.join(problems)} in {minutes:.0f} minutes"
        + (f". The errors of the operating system are {causes}." if causes else "."),
        advice=Advice(in_use=_steps(counts[NO_HANDOFF], list(seen.system_errors), problems)),
        desired="no TNS-12518 and no TNS-12547, at most "
        f"{policy.delayed_warn_percent:g}% TNS-12535",
        values={f"tns_{code}": count for code, count in counts.items()},
        evidence=list(facts.log_keys[listener.pid]),
    )


def _steps(no_handoff: int, errors: List[str], problems: List[str]) -> List[Step]:
    steps: List[Step] = []
    numbers = {error.partition(" ")[0] for error in errors}
    if "11" in numbers:
        steps.append(
            Ask(
                "find the limit of processes that the listener reached (nproc of its owner, "
                "TasksMax of its unit, kernel.pid_max), and raise it"
            )
        )
    if "12" in numbers:
        steps.append(Ask("find out what uses up the memory, and reduce it"))
    if no_handoff and not numbers & {"11", "12"}:
        steps.append(
            Ask(
                "compare processes and sessions in V$RESOURCE_LIMIT with their limits, and read "
                "the alert log for server processes that ended"
            )
        )
    if any(f"TNS-{LOST_CONTACT}" in problem for problem in problems):
        steps.append(Ask("read the alert log at these times for server processes that ended"))
    if any(f"TNS-{TIMED_OUT}" in problem for problem in problems):
        steps.append(
            Ask("find the clients in the log, and check the network and firewalls between them")
        )
    return steps
