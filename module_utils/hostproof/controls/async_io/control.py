# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""async_io: asynchronous and direct I/O of the database, and the limits of the host for it."""

from ...evaluate.control import Control
from . import rules_aix, rules_files, rules_limit, rules_messages, rules_parameters
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
        rules_parameters.rules,
        rules_files.rules,
        rules_limit.rules,
        rules_messages.rules,
        rules_aix.rules,
    ),
    plan=plan,
)
