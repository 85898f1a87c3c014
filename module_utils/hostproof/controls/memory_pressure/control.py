# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""memory_pressure: swap, /dev/shm for automatic memory management, memory of NUMA nodes."""

from ...evaluate.control import Control
from . import rules_amount, rules_budget, rules_memory, rules_swap
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
    rules=(
        rules_amount.rules,
        rules_budget.rules,
        rules_swap.rules,
        rules_memory.rules,
    ),
)
