# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""pre_page_sga: parameters and page sizes that decide how an instance touches its SGA pages."""

from ...evaluate.control import Control
from . import rules_logon, rules_parameters, rules_start
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
        rules_start.rules,
        rules_logon.rules,
    ),
    plan=plan,
)
