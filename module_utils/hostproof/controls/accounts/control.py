# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""accounts: groups and accounts that own Oracle software, their logins, and the inventory."""

from ...evaluate.control import Control
from . import rules_environment, rules_identity
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
    rules=(rules_identity.rules, rules_environment.rules),
    plan=plan,
    requirements="requirements",
)
