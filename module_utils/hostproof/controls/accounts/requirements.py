# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The accounts and groups that a policy requires."""

from typing import Iterator

from ...evaluate.requirement import Requirement
from . import rules_environment, rules_identity
from .policy import Policy, wanted

_SOURCES = {
    rule.check.id: rule.check.reference
    for rule in (*rules_identity.rules.rules, *rules_environment.rules.rules)
}


def requirements(policy: Policy) -> Iterator[Requirement]:
    for account in wanted(policy):
        for check, value in (
            ("accounts.exists", "exists, with a login shell"),
            ("accounts.primary_group", account.group),
            ("accounts.groups", ", ".join(account.groups)),
            ("accounts.not_in_root", "not in the group root"),
            ("accounts.umask", "022"),
        ):
            if value:
                yield Requirement(check, account.name, value, _SOURCES[check])
