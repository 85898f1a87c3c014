# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""firewall: packet filter rules and local programs on ports that Oracle needs."""

from ...evaluate.control import Control
from . import rules_conflicts, rules_interconnect, rules_ports
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
    rules=(rules_ports.rules, rules_interconnect.rules, rules_conflicts.rules),
    requirements="requirements",
)
