# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Listener rate limits: written where they count, known to the listener that runs, seen at work."""

from . import rules_file, rules_queue, rules_rate
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .subjects import rules

rules.files(rules_file, rules_rate, rules_queue)
CHECKS = rules.checks
judge = rules.judge

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "policy_from", "read", "rules"]
