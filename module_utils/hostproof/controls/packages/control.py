# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""packages: required packages, their versions, cvuqdisk, and the package database."""

from ...evaluate.control import Control
from . import rules_host, rules_required
from .facts import Facts
from .plan import plan
from .policy import NAME, Policy, policy_from
from .simulation import read
from .subjects import applies

CONTROL = Control(
    NAME,
    policy=Policy,
    policy_from=policy_from,
    facts=Facts,
    read=read,
    applies=applies,
    rules=(rules_required.rules, rules_host.rules),
    plan=plan,
    requirements="requirements",
)
