# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flow control (IEEE 802.3x PAUSE) from the host's interface over the switch to the filer.

``read`` looks, ``judge`` and ``plan`` only think. Each file holds one part; this one names them.
"""

from .checks import CHECKS
from .facts import Facts
from .judge import judge
from .plan import plan
from .policy import NAME, Policy, policy_from
from .reading import read

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "plan", "policy_from", "read"]
