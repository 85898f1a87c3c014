# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""time_sync: one daemon keeps the clock, does not step it, and knows what time it is."""

from . import rules_clock, rules_daemon
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .subjects import rules

rules.files(rules_daemon, rules_clock)
CHECKS = rules.checks
judge = rules.judge

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "policy_from", "read", "rules"]
