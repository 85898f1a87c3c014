# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""nfs_mounts: requested, granted and used options, Direct NFS, and the health of the network."""

from ...evaluate.control import Control
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
from .plan import plan
from .policy import NAME, Policy, policy_from
from .subjects import mounts

CONTROL = Control(
    NAME,
    policy=Policy,
    policy_from=policy_from,
    facts=Facts,
    read=read,
    applies=mounts,
    rules=(
        rules_mounted.rules,
        rules_locks.rules,
        rules_options.rules,
        rules_persisted.rules,
        rules_sizes.rules,
        rules_connections.rules,
        rules_wire.rules,
        rules_programs.rules,
        rules_direct_nfs.rules,
        rules_oranfstab.rules,
    ),
    plan=plan,
)
