# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""asm_drivers: whether the kernels support the installed drivers of ASM disks."""

from ...evaluate.control import Control
from . import rules_asmfd, rules_asmlib
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
    rules=(rules_asmfd.rules, rules_asmlib.rules),
)
