# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""custom: checks that a site defines as YAML (docs/controls/custom.md)."""

from typing import List, Optional

from ...evaluate.checking import Crashed, judge_rules
from ...evaluate.control import Control
from ...evaluate.finding import Finding
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .rules_custom import rules_of


class _Custom(Control[Facts, Policy]):
    """The only control whose rules are created from its policy."""

    def judge(
        self, facts: Facts, policy: Policy, crashed: Optional[Crashed] = None
    ) -> List[Finding]:
        return judge_rules(rules_of(policy), None, facts, policy, crashed)


CONTROL = _Custom(
    NAME,
    policy=Policy,
    policy_from=policy_from,
    facts=Facts,
    read=read,
    rules=(),
)
