# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The limits of accounts that a profile requires."""

from typing import Iterator

from ...evaluate.requirement import Requirement
from .amounts import MEMLOCK
from .facts import announced_accounts
from .limit_table import BOOK, ROWS, UNLIMITED
from .policy import Policy


def requirements(policy: Policy) -> Iterator[Requirement]:
    for account in announced_accounts(policy):
        for row in ROWS:
            unit = " kB" if row.size > 1 else ""
            most = f", at most {row.most}" if row.most != UNLIMITED else ""
            value = f"soft at least {row.soft}, hard at least {row.hard}{most}{unit}"
            if row.soft is None:
                value = f"at least {MEMLOCK} kB; with huge pages 90% of memory"
            yield Requirement("process_limits.login", f"{account} {row.item}", value, BOOK)
