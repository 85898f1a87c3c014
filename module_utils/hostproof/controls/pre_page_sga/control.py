# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""pre_page_sga: whether an instance touches its SGA page by page, when, and in which pages."""

from . import rules_parameters, rules_start
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .subjects import rules

rules.files(rules_parameters, rules_start)
CHECKS = rules.checks
judge = rules.judge

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "policy_from", "read", "rules"]
