# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""latency: how long disks, NFS mounts, the network and a database's waits take, against limits.

``read`` looks, ``judge`` and ``plan`` only think. Each file holds one part; this one names them.
"""

from .checks import CHECKS
from .facts import Facts, read
from .judge import judge, plan
from .policy import NAME, Policy, policy_from

__all__ = ["CHECKS", "NAME", "Facts", "Policy", "judge", "plan", "policy_from", "read"]
