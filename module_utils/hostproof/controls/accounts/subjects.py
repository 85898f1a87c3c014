# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The accounts that the rules check one by one."""

from typing import List, Optional, Sequence, Tuple

from ...collect.answer import if_known, known
from ...errors import Absent, NotRecorded
from ...evaluate.checking import Skip, Subjects
from .facts import Entry, Facts, Owner
from .policy import Account, Policy, wanted


def applies(facts: Facts, policy: Policy) -> None:
    if isinstance(facts.meminfo, Absent):
        raise Skip("Not a Linux host: it has no /proc/meminfo.")
    known(facts.meminfo)
    requested = policy.profile is not None or policy.groups or policy.accounts is not None
    if isinstance(facts.shared, NotRecorded) and not requested:
        raise Skip(f"{facts.shared}.")


def _owners(facts: Facts, _policy: Policy) -> Tuple[Owner, ...]:
    return known(facts.owners)


def entry_of(owner: Owner) -> Entry:
    """The account; Skip where it does not exist, which accounts.exists reports."""
    if isinstance(owner.entry, Absent):
        raise Skip(f"The account {owner.name} does not exist: see accounts.exists.")
    return known(owner.entry)


def wanted_of(owner: Owner, policy: Policy) -> Optional[Account]:
    """The requirement of the policy or the profile for the account, or None."""
    return next((account for account in wanted(policy) if account.name == owner.name), None)


def absent_groups(accounts: Sequence[Account], facts: Facts) -> List[str]:
    """The groups of the accounts that the host does not have."""
    names = dict.fromkeys(name for account in accounts for name in (account.group, *account.groups))
    return [name for name in names if isinstance(facts.groups.get(name), Absent)]


def orphaned(facts: Facts) -> Tuple[str, ...]:
    """The uids of running instances that have no account: the name service does not answer, or the
    account was removed."""
    owners = if_known(facts.owners, ())
    return tuple(
        owner.name for owner in owners if owner.name.isdigit() and isinstance(owner.entry, Absent)
    )


OWNERS = Subjects(
    _owners,
    none="No account oracle or grid, no running instance, and no policy or profile names accounts.",
    name=lambda owner: owner.name,
    evidence=lambda owner: [f"command:getent passwd {owner.name}", f"command:id -Gn {owner.name}"],
)
