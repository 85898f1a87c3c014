# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""hugepages: the pool covers every SGA, survives the boot, and the instances really use it."""

from . import rules_kernel, rules_permission, rules_pool, rules_sga
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .subjects import rules

rules.files(rules_pool, rules_kernel, rules_permission, rules_sga)
CHECKS = rules.checks
judge = rules.judge

#: What rests on the host, whichever instances the policy lists.
_OF_THE_HOST = (
    rules_pool.one_owner,
    rules_kernel.page_size,
    rules_kernel.numa_split,
    rules_kernel.no_overcommit,
    rules_sga.sga_in_huge_pages,
)
#: All else rests on all of the listed instances: their sum, or whether there are any.
NEEDS_ALL = {
    "instances": tuple(one.id for one in CHECKS if one not in [rule.check for rule in _OF_THE_HOST])
}

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "policy_from", "read", "rules"]
