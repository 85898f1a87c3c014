# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""process_limits: what a login, a unit and each running process of Oracle may open and lock."""

from . import rules_host, rules_login, rules_processes, rules_units
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .subjects import rules

rules.files(rules_login, rules_units, rules_processes, rules_host)
CHECKS = rules.checks
judge = rules.judge

#: An entry that is left out would be judged by the books' numbers instead.
NEEDS_ALL = {
    "values": tuple(one.id for one in CHECKS if one.id.endswith(("login", "units", "in_force")))
}

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "policy_from", "read", "rules"]
