# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kernel_parameters: what Oracle's documents ask of the kernel, now and after the next boot."""

from . import rules_owner, rules_parameters
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .subjects import rules

rules.files(rules_parameters, rules_owner)
CHECKS = rules.checks
judge = rules.judge

#: A value that is left out could be what another place is judged by.
NEEDS_ALL = {"values": ("kernel_parameters.one_owner",)}

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "policy_from", "read", "rules"]
