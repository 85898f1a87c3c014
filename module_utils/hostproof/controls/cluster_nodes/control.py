# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""cluster_nodes: the cluster of a host, and traits that must be equal on all nodes. Read-only.

A host does not read its peers. The controller compares the findings of all nodes.
"""

from ...evaluate.control import Control
from . import rules_traits
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
    rules=(rules_traits.rules,),
)
