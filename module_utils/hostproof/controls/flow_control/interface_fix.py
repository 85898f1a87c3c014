# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Status and fix for an interface that does not match the requirement."""

from typing import Tuple

from ...evaluate.advice import apply_line
from ...evaluate.finding import FAIL, WARN
from .nics import NicFacts
from .policy import NAME, Policy


def bad(policy: Policy) -> str:
    """The status: fail for a rule of the policy, warn for the built-in default rules."""
    return WARN if policy.rules is None else FAIL


def fix_of(nic: NicFacts, policy: Policy) -> str:
    if nic.by_hand:
        return nic.by_hand
    if policy.rules is None:
        return "add a rule to flow_control_rules, and apply the policy"
    return "apply the policy; the link goes down for a moment"


def commands_of(nic: NicFacts, policy: Policy) -> Tuple[str, ...]:
    """The commands of the fix. Without a rule in the policy, apply changes nothing."""
    if nic.by_hand:
        return nic.by_hand_commands
    return () if policy.rules is None else (apply_line(NAME),)
