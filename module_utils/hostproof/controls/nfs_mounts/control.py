# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""nfs_mounts: the options asked for, granted and in use, Direct NFS, and the health of the wire."""

from . import (
    rules_connections,
    rules_direct_nfs,
    rules_locks,
    rules_mounted,
    rules_options,
    rules_oranfstab,
    rules_persisted,
    rules_programs,
    rules_sizes,
    rules_wire,
)
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .subjects import rules

rules.files(
    rules_mounted,
    rules_locks,
    rules_options,
    rules_persisted,
    rules_sizes,
    rules_connections,
    rules_wire,
    rules_programs,
    rules_direct_nfs,
    rules_oranfstab,
)
CHECKS = rules.checks
judge = rules.judge

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "policy_from", "read", "rules"]
