# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""listener_rate_limit: connection rate limits of listeners, in the file, in use and in the log."""

from ...evaluate.control import Control
from . import rules_connections, rules_file, rules_queue, rules_rate
from .facts import Facts, read
from .plan import plan
from .policy import NAME, Policy, policy_from

CONTROL = Control(
    NAME,
    policy=Policy,
    policy_from=policy_from,
    facts=Facts,
    read=read,
    rules=(
        rules_file.rules,
        rules_rate.rules,
        rules_queue.rules,
        rules_connections.rules,
    ),
    plan=plan,
)
