# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""block_devices: the disks below databases and ASM, their paths, queues and owners."""

from ...evaluate.control import Control
from . import (
    rules_adapters,
    rules_iscsi,
    rules_multipath,
    rules_nodes,
    rules_paths,
    rules_queues,
)
from .facts import Facts, read
from .plan import plan
from .policy import NAME, Policy, policy_from
from .required_values import skip_elsewhere

RULES = (
    rules_nodes.rules,
    rules_queues.rules,
    rules_multipath.rules,
    rules_paths.rules,
    rules_iscsi.rules,
)

#: The first matching entry applies: without an invalid one, a later entry would match instead.
NEEDS_ALL = {"devices": tuple(rule.check.id for group in RULES for rule in group.rules)}

CONTROL = Control(
    NAME,
    policy=Policy,
    policy_from=policy_from,
    facts=Facts,
    read=read,
    applies=skip_elsewhere,
    rules=(*RULES, rules_adapters.rules),
    plan=plan,
    needs_all=NEEDS_ALL,
)
