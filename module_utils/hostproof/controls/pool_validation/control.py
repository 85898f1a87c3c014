# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""pool_validation: how WildFly and JBoss EAP validate pooled connections, and what it costs."""

from . import rules_pools, rules_servers, rules_sums
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .subjects import rules

rules.files(rules_servers, rules_pools, rules_sums)
CHECKS = rules.checks
judge = rules.judge

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "policy_from", "read", "rules"]
