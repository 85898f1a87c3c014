# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixes of findings. A fix never proposes a change that apply would reject."""

from typing import List, Optional, Tuple

from ...collect.answer import if_known
from ...evaluate.advice import Ask
from ...evaluate.finding import FAIL, PASS, WARN
from ...probes.oracle.listeners import Listener
from .endpoints import drain_seconds, endpoints, inbound_timeout, missing_ports
from .facts import Facts, grid_reasons, key_of
from .policy import Policy, WantedListener
from .subjects import Subject

#: The first release without bug 16409926.
LEAK_FIXED = (11, 2, 0, 4)


#: Fix for a listener that Grid Infrastructure manages.
INSTEAD = (
    "run a listener of the database home on a separate port, with its own listener.ora and "
    "RATE_LIMIT, register the services there (LISTENER_NETWORKS or LOCAL_LISTENER) and connect the "
    "pools to it; or share sessions (DRCP)"
)


def before_a_start(listener: Listener, facts: Facts) -> List[Ask]:
    """What to correct before a start or restart, after which the listener would not run.

    A file that cannot be parsed needs no step: what a restart would change is not known then.
    """
    nodes = if_known(facts.nodes[key_of(listener)], None)
    if nodes is None or not nodes.stops_the_start():
        return []
    return [Ask("correct listener_rate_limit.valid_nodes first: the listener would not start")]


def version_problem(release: Tuple[int, ...], cluster: bool) -> Tuple[str, str]:
    """Status and reason."""
    text = ".".join(str(number) for number in release)
    if release[:2] == (11, 2) and cluster:
        return FAIL, f"RATE_LIMIT is not supported in a cluster of 11gR2 ({text})."
    if release < LEAK_FIXED:
        return WARN, (
            f"The listener of release {text} leaks memory each time that the limit is reached (bug "
            "16409926, fixed in 11.2.0.4 and 12.1.0.1), and can stop accepting connections (MOS "
            "1085546.1)."
        )
    return PASS, ""


def drain_problems(rate: int, subject: Subject, listener: Listener) -> Tuple[List[str], float]:
    """Texts about timeouts shorter than a connection burst, and the seconds that a burst takes."""
    pools = subject.pools
    drain = drain_seconds(rate, tuple(pool.connections for pool in pools))
    inbound = inbound_timeout(listener)
    problems = [
        f"pool {pool.name} waits {pool.timeout_seconds} s for a connection, and a burst of all "
        f"pools takes {drain:g} s"
        for pool in pools
        if drain >= pool.timeout_seconds
    ]
    if pools and inbound and drain >= inbound:
        problems.append(
            f"INBOUND_CONNECT_TIMEOUT_{listener.name} is {inbound} s, and a burst of all pools "
            f"takes {drain:g} s"
        )
    return problems, drain


def least_rate(subject: Subject, listener: Listener) -> int:
    times = [pool.timeout_seconds for pool in subject.pools]
    inbound = inbound_timeout(listener)
    shortest = min(times + ([inbound] if inbound else []))
    return subject.burst // shortest + 1


def why_refused(
    subject: Subject, listener: Listener, required: WantedListener, facts: Facts, policy: Policy
) -> Optional[str]:
    """The fix if apply would reject the change. None if it would not."""
    if subject.listener is None:
        return f"start the listener {subject.name}, then apply the policy"
    clusterware = if_known(facts.clusterware, None)
    release = if_known(listener.release, None)
    if clusterware is None or (required.rate and release is None):
        return "resolve the errors of this control, then apply the policy"
    if grid_reasons(listener, clusterware):
        return INSTEAD
    ones = endpoints(listener)
    if not ones or missing_ports(ones, required):
        return "add the addresses that must be limited to the file, then apply the policy"
    if not required.rate or release is None:
        return None
    of_version = version_problem(release, clusterware.cluster)
    return _fix_of_risk(required.rate, of_version, subject, listener, policy)


def _fix_of_risk(
    rate: int, of_version: Tuple[str, str], subject: Subject, listener: Listener, policy: Policy
) -> Optional[str]:
    """None where the policy accepts every risk that there is."""
    status, why = of_version
    if status != PASS and not policy.allow_leaking_version:
        return "upgrade, or accept the risk with listener_rate_limit_allow_leaking_version: " + why
    problems, _drain = drain_problems(rate, subject, listener)
    if problems and not policy.allow_drain_beyond_timeout:
        return "set a rate of at least {0}, or accept the risk with {1}: {2}".format(
            least_rate(subject, listener),
            "listener_rate_limit_allow_drain_beyond_timeout",
            "; ".join(problems),
        )
    return None
