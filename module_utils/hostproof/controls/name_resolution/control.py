# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""names: whether a host and its cluster are found by name, where they are, and by whom."""

from ...evaluate.control import Control
from . import rules_cluster, rules_files, rules_hosts, rules_own, rules_zeroconf
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
        rules_own.rules,
        rules_hosts.rules,
        rules_files.rules,
        rules_cluster.rules,
        rules_zeroconf.rules,
    ),
)
