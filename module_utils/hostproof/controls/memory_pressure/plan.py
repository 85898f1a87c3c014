# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""There is nothing to plan."""

from ...apply.change import Plan
from .facts import Facts
from .policy import Policy


def plan(_facts: Facts, _policy: Policy) -> Plan:
    """This control only looks: a swap area takes a disk, and a smaller /dev/shm an instance."""
    return Plan(changes=[], refusals=[], pending=[], at_boot=[])
