# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Create missing groups and accounts, and add accounts to groups. A uid is never changed."""

import re
from typing import List

from ...apply.change import CommandChange, Plan, Refusal, idle
from ...collect.answer import known
from ...collect.command import Command
from ...errors import Absent
from ...evaluate.checking import Skip
from .facts import Facts, Owner
from .policy import Account, Group, Policy, wanted
from .subjects import absent_groups, applies, orphaned


def plan(facts: Facts, policy: Policy) -> Plan:
    """Plan the listed groups and accounts. Raises if required facts are unknown."""
    try:
        applies(facts, policy)
    except Skip as reason:
        return idle(reason.why)
    changes: List[CommandChange] = []
    refusals: List[Refusal] = []
    pending: List[str] = []
    for group in policy.groups:
        _plan_group(group, facts, changes, refusals)
    listed = {entry.name for entry in policy.groups}
    owners = {owner.name: owner for owner in known(facts.owners)}
    absent = [name for name in absent_groups(policy.accounts or (), facts) if name not in listed]
    if absent:
        many = len(absent) > 1
        refusals.append(
            Refusal(
                f"The {'groups' if many else 'group'} {', '.join(absent)} "
                f"{'do' if many else 'does'} not exist: add {'them' if many else 'it'} to "
                "accounts_groups.",
                None,
            )
        )
    for account in policy.accounts or ():
        for name in (account.group, *account.groups):
            if name not in listed and name not in absent:
                known(facts.groups[name])
        _plan_account(account, owners[account.name], facts, changes, refusals, pending)
    if policy.accounts is None and wanted(policy):
        pending.append("A profile creates no account: list the accounts in accounts_accounts.")
    return Plan(list(changes), refusals, pending, [])


def _plan_group(
    group: Group, facts: Facts, changes: List[CommandChange], refusals: List[Refusal]
) -> None:
    answer = facts.groups[group.name]
    if not isinstance(answer, Absent):
        gid = known(answer).gid
        if group.gid is not None and gid != group.gid:
            refusals.append(
                Refusal(
                    f"The group {group.name} has gid {gid}, the policy requires {group.gid}. "
                    "A gid is never changed: correct the policy, or the group and its files.",
                    None,
                )
            )
        return
    number = [] if group.gid is None else ["-g", str(group.gid)]
    if group.gid is not None:
        holder = facts.group_of_gid[group.gid]
        if not isinstance(holder, Absent):
            refusals.append(Refusal(f"gid {group.gid} belongs to the group {known(holder)}.", None))
    changes.append(
        CommandChange(
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
    )


def _plan_account(
    account: Account,
    owner: Owner,
    facts: Facts,
    changes: List[CommandChange],
    refusals: List[Refusal],
    pending: List[str],
) -> None:
    if isinstance(owner.entry, Absent):
        if account.uid is not None:
            holder = facts.account_of_uid[account.uid]
            if not isinstance(holder, Absent):
                reason = f"uid {account.uid} belongs to the account {known(holder)}."
                refusals.append(Refusal(reason, None))
        orphans = orphaned(facts)
        if orphans:
            reason = (
                f"An instance runs with uid {', '.join(orphans)}, which has no account: the name "
                "service can be down. No local account is created."
            )
            refusals.append(Refusal(reason, None))
        changes.append(_creation(account))
        return
    entry = known(owner.entry)
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
    changes.extend(_membership(account.name, group) for group in added)
    if added:
        pending.append(f"Sessions and instances of {account.name} get new groups at a new login.")


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
