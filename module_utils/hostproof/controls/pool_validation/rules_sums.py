# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a pool adds to the load of its database. Whether all of them are too many only a whole run
can tell: the controller adds up these ``values``, and its findings on the database are of the same
checks (plugin_utils/hostproof_controller/cluster/pools.py)."""

from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import SKIP
from .facts import Facts
from .policy import NAME, Policy
from .subjects import POOLS, AnyPool

rules: Rules[Facts, Policy] = Rules(NAME)

LATER = "Pools are added up when the run has ended: see the database."


@rules.check(
    "pool_validation.sessions",
    "Pools of all hosts fit in the database process limit",
    "Pools of all hosts can exceed the database process limit",
    severity="high",
    takes_effect="service_restart",
    why="Pools that grow to their maximum together use up the process limit (ORA-00020). "
    "Administrators cannot log in either.",
    reference="Oracle Database Reference, PROCESSES (background processes count too)",
    each=POOLS,
)
def sessions(pool: AnyPool, _facts: Facts, policy: Policy) -> Verdict:
    for database in policy.databases:
        if not database.pools or pool.policy_name in database.pools:
            sizes = pool.sizes()
            return Verdict(
                SKIP,
                LATER,
                values={
                    "database": database.name,
                    "hosts": ",".join(database.hosts),
                    "clients": ",".join(database.clients),
                    "processes": database.processes,
                    "reserve": database.reserve,
                    "minimum": sizes.minimum,
                    "maximum": sizes.maximum,
                    "wait_ms": sizes.wait_ms,
                },
            )
    raise Skip("pool_validation_databases has no database for it.")


@rules.check(
    "pool_validation.logon_storm",
    "All pools can log in before their requests time out",
    "Pools cannot log in before their requests time out",
    severity="high",
    takes_effect="service_restart",
    why="After a failover all pools log in at once, at the listener's rate limit. Requests "
    "that wait longer than blocking-timeout-wait-millis fail.",
    reference="Oracle white paper, Oracle Net Listener Connection Rate Limiter",
    each=POOLS,
    because_of=("listener_rate_limit.rate_enabled",),
)
def logon_storm(_pool: AnyPool, _facts: Facts, _policy: Policy) -> Verdict:
    raise Skip(LATER)
