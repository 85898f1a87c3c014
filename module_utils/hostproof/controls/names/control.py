# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""names: whether a host and its cluster are found by name, where they are, and by whom."""

from . import rules_cluster, rules_files, rules_own
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .subjects import rules

rules.files(rules_own, rules_files, rules_cluster)
CHECKS = rules.checks
judge = rules.judge

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "policy_from", "read", "rules"]
