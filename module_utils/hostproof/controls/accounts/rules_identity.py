# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Accounts, their numbers and their groups."""

from typing import List

from ...collect.answer import if_known, known
from ...errors import Absent
from ...evaluate.advice import Advice, Apply, Ask, Run, Step, apply_line
from ...evaluate.checking import Layer, Rules, Skip, Verdict, failing, layered
from ...evaluate.finding import FAIL, PASS, WARN
from .facts import PASSWD, Facts, Owner
from .policy import NAME, OINSTALL, Policy
from .subjects import OWNERS, entry_of, orphaned, wanted_of

rules = Rules(NAME)

_BOOK = "Oracle Database Installation Guide for Linux, Configuring Users, Groups and Environments"
_APPLY = [apply_line(NAME)]
#: Shells that end a login at once.
_NO_LOGIN = ("nologin", "false", "true", "sync", "shutdown", "halt")


@rules.check(
    "accounts.exists",
    "Account exists and can log in",
    "Account does not exist, cannot log in, or has another uid or no home",
    severity="high",
    takes_effect="login",
    why="The installer cannot run without the software owner (PRVG-00341).",
    reference=_BOOK + "; CVU User Existence",
    each=OWNERS,
)
def exists(owner: Owner, facts: Facts, policy: Policy) -> Verdict:
    account = wanted_of(owner, policy)
    uid = account.uid if account else None
    desired = "exists" + (f" with uid {uid}" if uid is not None else "") + " and a login shell"
    if isinstance(owner.entry, Absent):
        return _missing(owner, facts, policy, desired)
    passwd = entry_of(owner).passwd
    shell = passwd.shell or "/bin/sh"
    problems: List[str] = []
    steps: List[Step] = []
    if uid is not None and passwd.uid != uid:
        problems.append(f"its uid is {passwd.uid}, the policy requires {uid}")
        steps.append(
            Ask(
                f"set uid {passwd.uid} in accounts_accounts, or change the account and its files "
                "manually while no instance runs: Hostproof never changes a uid"
            )
        )
    if passwd.uid == 0:
        problems.append("its uid is 0: it is root")
        steps.append(Ask(f"give the software of {owner.name} to another account than root"))
    if shell.rpartition("/")[2] in _NO_LOGIN:
        problems.append(f"its shell {shell} ends a login")
        steps.append(Run("usermod", "-s", "/bin/bash", owner.name, text="set a login shell"))
    elif isinstance(owner.shell, Absent):
        problems.append(f"its shell {shell} does not exist")
        steps.append(
            Ask(f"install the package that has {shell}, or set another shell (usermod -s)")
        )
    if isinstance(owner.home, Absent):
        problems.append(f"its home {passwd.home} does not exist")
        steps.append(
            Ask(
                f"mount the file system of {passwd.home} if there is one; otherwise create the "
                f"directory with owner {owner.name} and mode 0700"
            )
        )
    elif if_known(owner.home, "") not in ("", "directory"):
        problems.append(f"its home {passwd.home} is not a directory")
        steps.append(Ask(f"set a directory as the home of {owner.name} (usermod -d)"))
    state = f"uid {passwd.uid}, shell {shell}"
    return layered(
        persisted=Layer(state, FAIL if problems else PASS),
        also=[
            (name, answer)
            for name, answer in (("shell", owner.shell), ("home", owner.home))
            if not isinstance(answer, Absent)
        ],
        why=("; ".join(problems) or state) + ".",
        advice=Advice(persisted=steps),
        desired=desired,
        values={"uid": passwd.uid, "gid": passwd.gid},
    )


def _missing(owner: Owner, facts: Facts, policy: Policy, desired: str) -> Verdict:
    """An account without an entry. With an instance of an unknown uid the name service is down."""
    steps: List[Step] = [Apply(NAME)] if policy.accounts is not None else []
    why = "The account does not exist."
    orphans = orphaned(facts)
    if orphans:
        why = f"The host has no account for uid {', '.join(orphans)}, and an instance runs with it."
        steps = [
            Ask(
                "is SSSD or LDAP down? Check the service of /etc/nsswitch.conf that has this uid "
                f"(systemctl status sssd, getent passwd {orphans[0]}), "
                "and start it again. Create no local account"
            )
        ]
    elif not steps:
        steps = [
            Ask(
                "check the directory service if the account is in one (getent passwd "
                f"{owner.name}); otherwise list it in accounts_accounts and apply the control"
            )
        ]
    return Verdict(
        FAIL,
        why,
        advice=Advice(steps),
        desired=desired,
        persisted="no account",
        evidence=[f"command:getent passwd {owner.name}"],
    )


@rules.check(
    "accounts.primary_group",
    "Primary group is the inventory group",
    "Primary group is not the inventory group",
    severity="high",
    takes_effect="instance_restart",
    why="Files of another group keep patches and other owners out of the inventory (PRVF-07567).",
    reference=_BOOK + "; CVU Group Membership (PRVF-07567), Current Group ID (PRVF-04309)",
    each=OWNERS,
)
def primary_group(owner: Owner, _facts: Facts, policy: Policy) -> Verdict:
    entry = entry_of(owner)
    account = wanted_of(owner, policy)
    group = account.group if account else OINSTALL
    primary = entry.groups[0] if entry.groups else ""
    running = [known(process) for process in owner.running]
    others = [
        f"{process.name} runs with gid {process.gid}"
        for process in running
        if process.gid != entry.passwd.gid
    ]
    problems = list(others)
    if primary != group:
        problems.insert(0, f"the primary group is {primary or entry.passwd.gid}, not {group}")
    # Hosts with one owner often use dba. Only a policy makes that wrong.
    status = PASS
    if problems:
        status = FAIL if others or account else WARN
    return Verdict(
        status,
        ("; ".join(problems) or f"{group} is the primary group") + ".",
        fix=f"stop what the account runs, then usermod -g {group} {owner.name}; start instances "
        "from a new login, without newgrp",
        desired=group,
        persisted=f"{primary} (gid {entry.passwd.gid})",
        in_use=", ".join(f"{process.name} gid {process.gid}" for process in running) or None,
        failing_layer=failing(in_use=bool(others), persisted=True),
    )


@rules.check(
    "accounts.groups",
    "Account is in the groups that it needs",
    "Account or instance lacks a group that it needs",
    severity="high",
    takes_effect="instance_restart",
    why="Without its group an account cannot connect as SYSDBA, SYSBACKUP or SYSASM, or use ASM.",
    reference=_BOOK + "; CVU Group Existence, Group Membership (PRVG-10460)",
    each=OWNERS,
)
def groups(owner: Owner, facts: Facts, policy: Policy) -> Verdict:
    account = wanted_of(owner, policy)
    if account is None:
        raise Skip("No policy or profile names the groups of this account.")
    entry = entry_of(owner)
    absent = [group for group in account.groups if isinstance(facts.groups[group], Absent)]
    gids = {
        group: known(facts.groups[group]).gid for group in account.groups if group not in absent
    }
    missing = [group for group, gid in gids.items() if not entry.has(group, gid)]
    stale: List[str] = []
    for process in [known(running) for running in owner.running]:
        lost = [
            name for name, gid in gids.items() if name not in missing and gid not in process.gids
        ]
        if lost:
            stale.append(f"{process.name} runs without {', '.join(lost)}")
    problems = [f"the host has no group {group}" for group in absent]
    problems += [f"not in {group}" for group in missing] + stale
    status = WARN if stale else PASS
    if absent or missing:
        status = FAIL
    return Verdict(
        status,
        ("; ".join(problems) or "All groups are there") + ".",
        fix="list the account and its groups in accounts_accounts, apply the policy, then restart "
        "what the account runs from a new login",
        commands=_APPLY if policy.accounts is not None and (absent or missing) else (),
        desired=", ".join(account.groups) or "no other group",
        persisted=", ".join(entry.groups),
        in_use="; ".join(stale) or None,
        failing_layer=failing(in_use=bool(stale), persisted=True),
    )


@rules.check(
    "accounts.not_in_root",
    "Account is not in the group root",
    "Account or instance is in the group root",
    severity="high",
    takes_effect="login",
    why="A member of root can change files that root trusts.",
    reference='CVU User Not In Group "root"',
    each=OWNERS,
)
def not_in_root(owner: Owner, _facts: Facts, _policy: Policy) -> Verdict:
    entry = entry_of(owner)
    running = [process.name for process in map(known, owner.running) if 0 in process.gids]
    is_member = entry.has("root", 0)
    return Verdict(
        FAIL if is_member or running else PASS,
        "It is in the group root."
        if is_member
        else f"{', '.join(running) or 'None of its instances'} runs with the group root.",
        fix=f"gpasswd -d {owner.name} root, then restart what the account runs",
        desired="not in the group root",
        persisted=", ".join(entry.groups),
        in_use=", ".join(running) or None,
        failing_layer=failing(in_use=bool(running), persisted=True),
    )


@rules.check(
    "accounts.one_account_per_uid",
    "No second account has the same uid",
    "Two accounts have the same uid",
    severity="high",
    takes_effect="login",
    why="Two accounts of one uid share files and processes, and OS authentication takes either.",
    reference="CVU Users With Same UID",
)
def one_account_per_uid(facts: Facts, _policy: Policy) -> Verdict:
    owners = known(facts.owners)
    uids = {entry_of(owner).passwd.uid for owner in owners if not isinstance(owner.entry, Absent)}
    if not uids:
        raise Skip("None of the accounts exists.")
    shared = {uid: names for uid, names in known(facts.shared).items() if uid in uids or uid == 0}
    text = "; ".join(f"uid {uid}: {', '.join(names)}" for uid, names in sorted(shared.items()))
    return Verdict(
        FAIL if shared else PASS,
        f"{text or 'Each of these accounts and root has a separate uid'}.",
        fix="give the second account another uid, and its files too",
        desired="one account for each of uid 0 and " + ", ".join(map(str, sorted(uids))),
        persisted=text or "one account each",
        evidence=["file:" + PASSWD],
    )
