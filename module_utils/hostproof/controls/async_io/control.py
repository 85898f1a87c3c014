# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""async_io: whether the database writes asynchronously and past the page cache, and can."""

from . import rules_aix, rules_files, rules_limit, rules_messages, rules_parameters
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .subjects import rules

rules.files(rules_parameters, rules_files, rules_limit, rules_messages, rules_aix)
CHECKS = rules.checks
judge = rules.judge

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "policy_from", "read", "rules"]
