# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Accounts, their numbers and their groups."""

from typing import Callable, Dict, List, NamedTuple, Optional, Sequence

from ...collect.answer import known
from ...errors import Absent, HostproofError
from ...evaluate.advice import Advice, Apply, Ask, Step
from ...evaluate.checking import Layer, Rules, Skip, Verdict, layered
from ...evaluate.finding import FAIL, PASS, WARN, status_for, worst
from ...parsers.unix import getent
from .facts import PASSWD, Facts, File, Owner, Running
from .policy import NAME, OINSTALL, Account, Policy
from .subjects import OWNERS, absent_groups, entry_of, orphaned, wanted_of

rules: Rules[Facts, Policy] = Rules(NAME)

_BOOK = "Oracle Database Installation Guide for Linux, Configuring Users, Groups and Environments"
#: Shells that end a login at once.
_NO_LOGIN = ("nologin", "false", "true", "sync", "shutdown", "halt")


@rules.check(
    "accounts.exists",
    "Account exists and can log in",
    "Account does not exist, cannot log in, or has a wrong uid or home",
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
    faults = [
        *_faults_of_uid(owner, passwd.uid, uid),
        *_faults_of_shell(owner, shell),
        *_faults_of_home(owner, passwd),
    ]
    state = f"uid {passwd.uid}, shell {shell}"
    return layered(
        persisted=Layer(state, worst([PASS, *(fault.status for fault in faults)])),
        also=[
            (name, answer)
            for name, answer in (("shell", owner.shell), ("home", owner.home))
            if not isinstance(answer, Absent)
        ],
        why=("; ".join(fault.text for fault in faults) or state) + ".",
        advice=Advice(persisted=[Ask(fault.fix) for fault in faults if fault.fix]),
        desired=desired,
        values={"uid": passwd.uid, "gid": passwd.gid},
    )


class _Fault(NamedTuple):
    status: str
    text: str
    fix: str


def _faults_of_uid(owner: Owner, uid: int, required: Optional[int]) -> List[_Fault]:
    faults = []
    if required not in (None, uid):
        fix = (
            f"set uid {uid} in accounts_accounts, or change the account and its files manually "
            "while no instance runs, because apply never changes a uid"
        )
        text = f"its uid is {uid}, the policy requires {required}"
        faults.append(_Fault(FAIL, text, fix if uid else ""))
    if uid == 0:
        fix = f"give the software of {owner.name} to another account than root"
        faults.append(_Fault(FAIL, "its uid is 0: it is root", fix))
    return faults


def _faults_of_shell(owner: Owner, shell: str) -> List[_Fault]:
    """What sshd and login reject: a shell that ends at once, is not there, or cannot be run."""
    name, file = owner.name, owner.shell
    change = f"set a login shell (usermod -s /bin/bash {name})"
    if shell.rpartition("/")[2] in _NO_LOGIN:
        return [_Fault(FAIL, f"its shell {shell} ends a login", change)]
    if isinstance(file, Absent):
        fix = f"install the package that has {shell}, or set another shell (usermod -s)"
        return [_Fault(FAIL, f"its shell {shell} does not exist", fix)]
    if isinstance(file, File) and not (file.kind == "regular file" and file.mode & 0o111):
        return [_Fault(FAIL, f"its shell {shell} is not a program", change)]
    return []


def _faults_of_home(owner: Owner, passwd: getent.Passwd) -> List[_Fault]:
    name, file, home = owner.name, owner.home, passwd.home
    if isinstance(file, Absent):
        fix = (
            f"mount the file system of {home} if there is one, and otherwise create the directory "
            f"with owner {name} and mode 0700"
        )
        return [_Fault(FAIL, f"its home {home} does not exist", fix)]
    if not isinstance(file, File):
        return []
    if file.kind != "directory":
        fix = f"set a directory as the home of {name} (usermod -d)"
        return [_Fault(FAIL, f"its home {home} is not a directory", fix)]
    if passwd.uid not in (0, file.uid):
        fix = (
            f"set the owner of {home} (chown {name} {home}) if it belongs to no other account, and "
            f"otherwise another directory as the home of {name} (usermod -d)"
        )
        # sshd accepts the keys in a home of root.
        status = WARN if file.uid == 0 else FAIL
        return [_Fault(status, f"its home {home} belongs to uid {file.uid}", fix)]
    return []


def _missing(owner: Owner, facts: Facts, policy: Policy, desired: str) -> Verdict:
    """An account without an entry. With an instance of an unknown uid the name service is down."""
    steps: List[Step] = [Apply(NAME, owner.name)] if policy.accounts is not None else []
    why = "The account does not exist."
    orphans = orphaned(facts)
    if orphans:
        why = f"The host has no account for uid {', '.join(orphans)}, and an instance runs with it."
        steps = [
            Ask(
                "find out whether the service of /etc/nsswitch.conf that has this uid, such as "
                f"SSSD or LDAP, is down (systemctl status sssd, getent passwd {orphans[0]}), and "
                "start it again, but create no local account"
            )
        ]
    elif not steps:
        account = wanted_of(owner, policy)
        steps = [
            Ask(
                "check the directory service if the account is in one (getent passwd "
                f"{owner.name}), and otherwise list it in accounts_accounts"
                f"{_with_groups(account, facts) if account else ''}, and apply the control"
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


def _with_groups(account: Account, facts: Facts) -> str:
    groups = [account.group, *account.groups]
    absent = absent_groups([account], facts)
    text = f" with the groups {', '.join(groups)}"
    if absent:
        names = "these groups" if absent == groups else f"the missing groups {', '.join(absent)}"
        text += f", and {names} in accounts_groups"
    return text


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
    others = [
        (process.name, process.gid)
        for process in owner.running
        if isinstance(process, Running) and process.gid != entry.passwd.gid
    ]
    is_other = primary != group
    problems = [f"the primary group is {primary or entry.passwd.gid}, not {group}"] * is_other
    problems += [f"{name} runs with gid {gid}" for name, gid in others]
    change: Step = Ask(
        f"stop what the account runs, change the primary group (usermod -g {group} {owner.name}), "
        "and start it again from a new login"
    )
    # Hosts with one owner often use dba. Only a policy makes that wrong.
    if account is None:
        change = Ask(
            f"keep {primary or entry.passwd.gid} if all software of this host was installed with "
            "it, and set it as group of the account in accounts_accounts"
        )
    names = ", ".join(name for name, _gid in others)
    again = Ask(
        f"stop the instance or listener of {names}, and start it from a new login of {owner.name}, "
        "without newgrp"
    )
    return layered(
        persisted=Layer(
            f"{primary} (gid {entry.passwd.gid})",
            status_for(is_other and account, is_other),
        ),
        in_use=_in_use(owner, others, lambda process: f"{process.name} gid {process.gid}", FAIL),
        why=("; ".join(problems) or f"{group} is the primary group") + ".",
        advice=Advice(both=[change], persisted=[change], in_use=[again]),
        desired=group,
    )


def _in_use(
    owner: Owner, wrong: Sequence[object], shown: Callable[[Running], str], status: str
) -> Optional[Layer]:
    """The layer of the running instances; None where nothing runs. A process that is unknown hides
    none that is wrong."""
    if not owner.running:
        return None
    unknown = next((one for one in owner.running if isinstance(one, HostproofError)), None)
    known_ones = [one for one in owner.running if isinstance(one, Running)]
    text = ", ".join(map(shown, known_ones))
    if unknown is not None and not wrong:
        return Layer(unknown, PASS, "running instances")
    return Layer(text, status if wrong else PASS, "running instances")


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
    stale = _stale(owner, {name: gid for name, gid in gids.items() if name not in missing})
    problems = [f"the host has no group {group}" for group in absent]
    problems += [f"not in {group}" for group in missing] + stale
    add = _list_in_policy(owner, absent, missing)
    if policy.accounts is not None:
        add = Apply(NAME, owner.name)
    again = Ask(f"restart the instances of {owner.name} from a new login in a maintenance window")
    return layered(
        persisted=Layer(", ".join(entry.groups), status_for(absent + missing)),
        in_use=_in_use(owner, stale, lambda process: process.name, WARN),
        why=("; ".join(problems) or "All groups are there") + ".",
        advice=Advice(both=[add], persisted=[add], in_use=[again]),
        desired=", ".join(account.groups) or "no other group",
    )


def _stale(owner: Owner, gids: Dict[str, int]) -> List[str]:
    """The instances that run without one of the groups of their account."""
    stale = []
    for process in owner.running:
        if isinstance(process, Running):
            lost = [name for name, gid in gids.items() if gid not in process.gids]
            stale += [f"{process.name} runs without {', '.join(lost)}"] * bool(lost)
    return stale


def _list_in_policy(owner: Owner, absent: List[str], missing: List[str]) -> Step:
    names = ", ".join([*absent, *missing])
    return Ask(
        f"list {owner.name} with the groups {names} in accounts_accounts"
        + (f", and the missing groups {', '.join(absent)} in accounts_groups" if absent else "")
        + ", and apply the control"
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
    running = [
        process.name
        for process in owner.running
        if isinstance(process, Running) and 0 in process.gids
    ]
    is_member = entry.has("root", 0)
    problems = ["it is in the group root"] * is_member
    problems += [f"{', '.join(running)} runs with the group root"] * bool(running)
    remove: Step = Ask(f"take the account out of the group (gpasswd -d {owner.name} root)")
    if entry.passwd.gid == 0:
        remove = Ask(f"give {owner.name} another primary group (usermod -g), and its files too")
    again = Ask(
        f"stop the instance or listener of {', '.join(running)}, and start it from a new login of "
        f"{owner.name}"
    )
    return layered(
        persisted=Layer(", ".join(entry.groups), FAIL if is_member else PASS),
        in_use=_in_use(owner, running, lambda process: process.name, FAIL),
        why=("; ".join(problems) or "Neither the account nor an instance is in the group") + ".",
        advice=Advice(both=[remove], persisted=[remove], in_use=[again]),
        desired="not in the group root",
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
        advice=Advice(
            [Ask("give the account that owns no Oracle software another uid, and its files too")]
        ),
        desired="one account for each of uid 0 and " + ", ".join(map(str, sorted(uids))),
        persisted=text or "one account each",
        evidence=["file:" + PASSWD],
    )
