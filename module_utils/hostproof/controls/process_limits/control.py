# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""process_limits: what a login, a unit and each running process of Oracle may open and lock."""

from ...evaluate.control import Control
from . import rules_host, rules_login, rules_processes, rules_realtime, rules_units
from .facts import Facts, read
from .plan import plan
from .policy import NAME, Policy, policy_from
from .subjects import skip_without_oracle

RULES = (
    rules_login.rules,
    rules_units.rules,
    rules_processes.rules,
    rules_realtime.rules,
    rules_host.rules,
)

#: An entry that is left out would be checked by the books' numbers instead.
NEEDS_ALL = {
    "values": tuple(
        rule.check.id
        for group in RULES
        for rule in group.rules
        if rule.check.id.endswith(("login", "units", "in_force"))
    )
}

CONTROL = Control(
    NAME,
    policy=Policy,
    policy_from=policy_from,
    facts=Facts,
    read=read,
    applies=skip_without_oracle,
    rules=RULES,
    plan=plan,
    needs_all=NEEDS_ALL,
    requirements="requirements",
)
