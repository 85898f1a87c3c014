# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kernel_parameters: the kernel parameters that Oracle requires, now and after a reboot."""

from ...evaluate.control import Control
from . import rules_aix, rules_owner, rules_parameters
from .facts import Facts, read
from .plan import plan
from .policy import NAME, Policy, policy_from

#: A value that is left out could be what another place is checked by.
NEEDS_ALL = {"values": ("kernel_parameters.consistent_sources",)}

CONTROL = Control(
    NAME,
    policy=Policy,
    policy_from=policy_from,
    facts=Facts,
    read=read,
    rules=(
        rules_parameters.rules,
        rules_owner.rules,
        rules_aix.rules,
    ),
    plan=plan,
    needs_all=NEEDS_ALL,
    requirements="requirements",
)
