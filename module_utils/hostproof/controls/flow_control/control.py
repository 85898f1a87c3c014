# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flow control (IEEE 802.3x PAUSE) from the host's interface over the switch to the filer."""

from ...evaluate.control import Control
from . import rules_adapter, rules_cable, rules_counted, rules_links, rules_path, rules_settings
from .facts import Facts, read
from .plan import plan
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
        rules_settings.rules,
        rules_cable.rules,
        rules_path.rules,
        rules_counted.rules,
        rules_links.rules,
        rules_adapter.rules,
    ),
    plan=plan,
)
