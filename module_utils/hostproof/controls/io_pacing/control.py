# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""io_pacing: how AIX holds back a program that writes faster than the disks; advice for Linux."""

from . import rules_filesystems, rules_linux, rules_marks, rules_powerha
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .subjects import rules

rules.files(rules_marks, rules_powerha, rules_filesystems, rules_linux)
CHECKS = rules.checks
judge = rules.judge

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "policy_from", "read", "rules"]
