# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""time_sync: one daemon keeps the clock, does not step it, and knows what time it is."""

from ...evaluate.control import Control
from . import rules_clock, rules_daemon
from .facts import Facts, read
from .plan import plan
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
        rules_daemon.rules,
        rules_clock.rules,
    ),
    plan=plan,
)
