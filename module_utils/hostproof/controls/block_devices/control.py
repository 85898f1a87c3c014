# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""block_devices: the disks below databases and ASM, their paths, queues and owners."""

from . import rules_multipath, rules_nodes, rules_queues
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .subjects import rules

rules.files(rules_nodes, rules_queues, rules_multipath)
CHECKS = rules.checks
judge = rules.judge

#: The first entry that names a device counts: one that is left out would leave it to another.
NEEDS_ALL = {"devices": tuple(check.id for check in CHECKS)}

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "policy_from", "read", "rules"]
