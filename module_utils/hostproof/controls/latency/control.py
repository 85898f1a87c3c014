# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""latency: how long disks, NFS mounts, the network and a database's waits take, against limits."""

from . import (
    rules_budget,
    rules_change,
    rules_counted,
    rules_files,
    rules_lobs,
    rules_network,
    rules_pools,
    rules_reports,
    rules_work,
)
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .subjects import rules

rules.files(
    rules_counted,
    rules_files,
    rules_network,
    rules_pools,
    rules_reports,
    rules_lobs,
    rules_work,
    rules_budget,
    rules_change,
)
CHECKS = rules.checks
judge = rules.judge

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "policy_from", "read", "rules"]
