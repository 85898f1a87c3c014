# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""memory_pressure: swap, /dev/shm for automatic memory management, memory of NUMA nodes."""

from . import rules_memory, rules_swap
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .subjects import rules

rules.files(rules_swap, rules_memory)
CHECKS = rules.checks
judge = rules.judge

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "policy_from", "read", "rules"]
