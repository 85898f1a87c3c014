# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""io_pacing: how AIX holds back a program that writes faster than the disks; advice for Linux."""

from ...evaluate.control import Control
from . import rules_filesystems, rules_linux, rules_marks, rules_powerha
from .facts import Facts, read
from .plan import plan
from .policy import NAME, Policy, policy_from

CONTROL = Control(
    NAME,
    policy=Policy,
    policy_from=policy_from,
    facts=Facts,
    read=read,
    rules=(
        rules_marks.rules,
        rules_powerha.rules,
        rules_filesystems.rules,
        rules_linux.rules,
    ),
    plan=plan,
)
