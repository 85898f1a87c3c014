# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flow control (IEEE 802.3x PAUSE) from the host's interface over the switch to the filer."""

from . import rules_cable, rules_counted, rules_links, rules_path, rules_settings
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .subjects import rules

rules.files(
    rules_settings,
    rules_cable,
    rules_path,
    rules_counted,
    rules_links,
)
CHECKS = rules.checks
judge = rules.judge

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "policy_from", "read", "rules"]
