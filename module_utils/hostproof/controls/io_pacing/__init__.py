# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""io_pacing: how AIX holds back a program that writes faster than the disks; advice for Linux.

``read`` looks, ``judge`` and ``plan`` only think. Each file holds one part; this one names them.
"""

from .checks import CHECKS
from .facts import Facts, read
from .judge import judge
from .plan import plan
from .policy import NAME, Policy, policy_from

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "plan", "policy_from", "read"]
