# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""platform: whether Oracle lists this distribution, kernel and architecture for the release."""

from ...evaluate.control import Control
from . import rules_books, rules_history, rules_host
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
    rules=(rules_books.rules, rules_host.rules, rules_history.rules),
    requirements="requirements",
)
