# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""interconnect: whether the private network of a cluster carries what its nodes send each other."""

from . import rules_devices, rules_losses, rules_way
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .subjects import rules

rules.files(rules_devices, rules_way, rules_losses)
CHECKS = rules.checks
judge = rules.judge

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "policy_from", "read", "rules"]
