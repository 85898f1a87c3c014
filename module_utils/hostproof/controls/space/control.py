# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""space: free space, inodes, mount options and modes of the paths that Oracle uses."""

from ...evaluate.control import Control
from . import rules_free, rules_mounts, rules_oracle
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .subjects import applies

CONTROL = Control(
    NAME,
    policy=Policy,
    policy_from=policy_from,
    facts=Facts,
    read=read,
    applies=applies,
    rules=(rules_free.rules, rules_mounts.rules, rules_oracle.rules),
    needs_all={"planned": ("space.free",)},
    requirements="requirements",
)
