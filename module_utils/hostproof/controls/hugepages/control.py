# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""hugepages: the pool covers every SGA, persists across reboots, and is used by the instances."""

from ...evaluate.control import Control
from . import rules_kernel, rules_permission, rules_pool, rules_sga
from .facts import Facts, read
from .plan import plan
from .policy import NAME, Policy, policy_from
from .subjects import applies

RULES = (rules_pool.rules, rules_kernel.rules, rules_permission.rules, rules_sga.rules)

#: Checks of the host, independent of the instances in the policy.
_OF_THE_HOST = (
    rules_pool.single_source,
    rules_kernel.page_size,
    rules_kernel.numa_split,
    rules_kernel.no_overcommit,
    rules_sga.sga_in_huge_pages,
)
#: All other checks need every listed instance: the sum of their sizes, or their number.
NEEDS_ALL = {
    "instances": tuple(
        rule.check.id for group in RULES for rule in group.rules if rule not in _OF_THE_HOST
    )
}

CONTROL = Control(
    NAME,
    policy=Policy,
    policy_from=policy_from,
    facts=Facts,
    read=read,
    applies=applies,
    rules=RULES,
    plan=plan,
    needs_all=NEEDS_ALL,
)
