# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Create missing groups and accounts, and add accounts to groups. A uid is never changed."""

import re
from functools import partial
from typing import Dict, Iterator, List

from ...apply.change import Change, CommandChange, Plan, Refusal, idle, independent
from ...collect.answer import known
from ...collect.command import Command
from ...errors import Absent
from ...evaluate.checking import Skip
from .facts import Entry, Facts, Owner
from .policy import Account, Group, Policy, wanted
from .subjects import absent_groups, applies, orphaned


def plan(facts: Facts, policy: Policy) -> Plan:
    """Plan the listed groups and accounts. Raises if required facts are unknown."""
    try:
        applies(facts, policy)
    except Skip as reason:
        return idle(reason.why)
    against = _against_groups(facts, policy)
    owners = {owner.name: owner for owner in known(facts.owners)}
    decided = independent(
        [
            *(
                (f"group {group.name}", partial(_plan_group, group, facts, against))
                for group in policy.groups
            ),
            *(
                (account.name, partial(_plan_account, account, owners, facts, against))
                for account in policy.accounts or ()
            ),
        ]
    )
    if policy.accounts is None and wanted(policy):
        decided.pending.append(
            "A profile creates no account: list the accounts in accounts_accounts."
        )
    return decided


def _against_groups(facts: Facts, policy: Policy) -> Dict[str, List[Refusal]]:
    """What speaks against each group: an account that needs it is not changed either."""
    against: Dict[str, List[Refusal]] = {}
    listed = {group.name for group in policy.groups}
    absent = [name for name in absent_groups(policy.accounts or (), facts) if name not in listed]
    many = len(absent) > 1
    reason = (
        f"The {'groups' if many else 'group'} {', '.join(absent)} {'do' if many else 'does'} not "
        f"exist: add {'them' if many else 'it'} to accounts_groups."
    )
    for name in absent:
        against[name] = [Refusal(reason, None)]
    for group in policy.groups:
        against[group.name] = _against_group(group, facts)
    return against


def _against_group(group: Group, facts: Facts) -> List[Refusal]:
    answer = facts.groups[group.name]
    if not isinstance(answer, Absent):
        gid = known(answer).gid
        if group.gid is None or gid == group.gid:
            return []
        reason = (
            f"The group {group.name} has gid {gid}, the policy requires {group.gid}. A gid is "
            "never changed: correct the policy, or the group and its files."
        )
        return [Refusal(reason, None)]
    if group.gid is None:
        return []
    holder = facts.group_of_gid[group.gid]
    if isinstance(holder, Absent):
        return []
    return [Refusal(f"gid {group.gid} belongs to the group {known(holder)}.", None)]


def _plan_group(group: Group, facts: Facts, against: Dict[str, List[Refusal]]) -> Plan:
    if not isinstance(facts.groups[group.name], Absent):
        return Plan([], against[group.name], [], [])
    number = [] if group.gid is None else ["-g", str(group.gid)]
    creation = CommandChange(
        f"group {group.name}",
        "",
        None if group.gid is None else str(group.gid),
        Command(
            f"look up the group {group.name}",
            ("getent", "group", group.name),
            expected=rf"\A(?:{re.escape(group.name)}:[^:\n]*:)?(\d*)",
            codes=(0, 2),
        ),
        (Command(f"create the group {group.name}", ("groupadd", *number, group.name)),),
        (Command(f"remove the group {group.name}", ("groupdel", group.name)),),
        atomic=True,
    )
    return Plan([creation], against[group.name], [], [])


def _plan_account(
    account: Account, owners: Dict[str, Owner], facts: Facts, against: Dict[str, List[Refusal]]
) -> Plan:
    refusals: List[Refusal] = []
    for name in (account.group, *account.groups):
        if name in against:
            refusals.extend(against[name])
        else:
            known(facts.groups[name])
    entry = owners[account.name].entry
    if isinstance(entry, Absent):
        refusals += _against_creation(account, facts)
        return Plan([_creation(account)], refusals, [], [])
    return _plan_existing(account, known(entry), refusals)


def _against_creation(account: Account, facts: Facts) -> Iterator[Refusal]:
    if account.uid is not None:
        holder = facts.account_of_uid[account.uid]
        if not isinstance(holder, Absent):
            reason = f"uid {account.uid} belongs to the account {known(holder)}."
            yield Refusal(reason, None)
    orphans = orphaned(facts)
    if orphans:
        reason = (
            f"An instance runs with uid {', '.join(orphans)}, which has no account: the name "
            "service can be down. No local account is created."
        )
        yield Refusal(reason, None)


def _plan_existing(account: Account, entry: Entry, refusals: List[Refusal]) -> Plan:
    """The plan for an account that exists: groups are added, and another uid is rejected."""
    pending: List[str] = []
    if account.uid is not None and entry.passwd.uid != account.uid:
        refusals.append(
            Refusal(
                f"The account {account.name} has uid {entry.passwd.uid}, the policy requires "
                f"{account.uid}. A uid is never changed: correct the policy, or the account and "
                "its files.",
                None,
            )
        )
    if entry.groups[:1] != (account.group,):
        pending.append(
            f"The primary group of {account.name} is {' '.join(entry.groups[:1])}, not "
            f"{account.group}. Apply does not change it."
        )
    added = [group for group in account.groups if group not in entry.groups]
    changes: List[Change] = [_membership(account.name, group) for group in added]
    if added:
        pending.append(f"Sessions and instances of {account.name} get new groups at a new login.")
    return Plan(changes, refusals, pending, [])


def _creation(account: Account) -> CommandChange:
    name, home = account.name, account.home or f"/home/{account.name}"
    argv = ["useradd", "-m", "-d", home, "-s", "/bin/bash", "-g", account.group]
    # No files of /etc/skel: revert removes the home only while it is empty.
    argv += ["-k", "/nonexistent"]
    if account.groups:
        argv += ["-G", ",".join(account.groups)]
    if account.uid is not None:
        argv += ["-u", str(account.uid)]
    return CommandChange(
        f"account {name}",
        "",
        None if account.uid is None else str(account.uid),
        Command(
            f"look up the account {name}",
            ("getent", "passwd", name),
            expected=rf"\A(?:{re.escape(name)}:[^:\n]*:)?(\d*)",
            codes=(0, 2),
        ),
        (Command(f"create the account {name}", (*argv, name)),),
        (
            Command(f"remove the account {name}", ("userdel", name)),
            _removal(home),
            _removal(f"/var/spool/mail/{name}"),
        ),
        atomic=True,
    )


def _removal(path: str) -> Command:
    """Remove an empty path. find ends with 1 if it does not exist."""
    argv = ("find", path, "-maxdepth", "0", "-empty", "-delete")
    return Command(f"remove {path} if it is empty", argv, codes=(0, 1))


def _membership(name: str, group: str) -> CommandChange:
    return CommandChange(
        f"{name} in group {group}",
        "",
        name,
        Command(
            f"look up {name} in {group}",
            ("getent", "group", group),
            expected=rf"\A(?:[^:\n]*:[^:\n]*:[^:\n]*:(?:[^\n]*,)?({re.escape(name)})(?=,|$))?",
            codes=(0, 2),
        ),
        (Command(f"add {name} to {group}", ("gpasswd", "-a", name, group)),),
        (Command(f"take {name} out of {group}", ("gpasswd", "-d", name, group)),),
        atomic=True,
    )
