# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""interconnect: MTU, bonds, subnets, paths and packet loss of a cluster's private network."""

from ...evaluate.control import Control
from . import rules_devices, rules_losses, rules_networks, rules_way
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
    rules=(
        rules_devices.rules,
        rules_networks.rules,
        rules_way.rules,
        rules_losses.rules,
    ),
)
