# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cluster a host is a node of, and what should be the same on all of them. Only looks.

A host cannot say what its peers are: the comparison is made on the controller, from the findings.
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
