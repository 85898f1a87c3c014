# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""pool_validation: how WildFly and JBoss EAP validate pooled connections, and what it costs."""

from ...evaluate.control import Control
from . import rules_pools, rules_servers, rules_sums
from .facts import Facts, read
from .plan import plan
from .policy import NAME, Policy, policy_from

CONTROL = Control(
    NAME,
    policy=Policy,
    policy_from=policy_from,
    facts=Facts,
    read=read,
    rules=(
        rules_servers.rules,
        rules_pools.rules,
        rules_sums.rules,
    ),
    plan=plan,
)
