# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How bad it is that an interface is not as required, and what to do about it."""

from typing import Tuple

from ...evaluate.finding import FAIL, WARN
from ...evaluate.remedy import apply_line
from .nics import NicFacts
from .policy import NAME, Policy


def bad(policy: Policy) -> str:
    """What contradicts a rule of the policy fails; our own default is an opinion."""
    return WARN if policy.wanted is None else FAIL


def fix_of(one: NicFacts, policy: Policy) -> str:
    if one.by_hand:
        return one.by_hand
    if policy.wanted is None:
        return "give a rule in flow_control_wanted, and apply it"
    return "apply the policy; the link goes down for a moment"


def commands_of(one: NicFacts, policy: Policy) -> Tuple[str, ...]:
    """Without a rule apply changes nothing, so there is nothing to run yet."""
    if one.by_hand:
        return one.by_hand_commands
    return () if policy.wanted is None else (apply_line(NAME),)
