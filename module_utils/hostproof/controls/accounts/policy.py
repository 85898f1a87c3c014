# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Required groups and accounts: validated role variables."""

import re
from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import (
    absolute_path,
    checked_by,
    entries,
    names,
    of_profile,
    reader,
    whole_number,
)
from ...evaluate.policy import PolicyValues
from ...evaluate.profiles import Profile

NAME = "accounts"

OINSTALL = "oinstall"
#: useradd(8) and groupadd(8) accept these names on every distribution.
_NAME = re.compile(r"^[a-z_][a-z0-9_-]{0,30}\Z")
#: Ids below are the system's own (login.defs(5), UID_MIN); the last one means "no id".
_LOWEST, _HIGHEST = 100, 4294967293


def _name(values: PolicyValues, name: str) -> str:
    return _check(values, name, values[name])


def _check(values: PolicyValues, name: str, value: object) -> str:
    if not isinstance(value, str) or not _NAME.match(value):
        raise values.error(name, f"{str(value)[:80]!r} must be a lower-case account or group name")
    if value == "root":
        raise values.error(name, "must not be root")
    return value


def _names(values: PolicyValues, name: str, value: Tuple[str, ...]) -> Tuple[str, ...]:
    return tuple(_check(values, name, item) for item in value)


def _home(values: PolicyValues, name: str, value: str) -> str:
    if not re.match(r"^(/[A-Za-z0-9_.-]+)+\Z", value) or "/.." in value:
        raise values.error(name, f"{value[:80]!r} must be a plain absolute path")
    return value


class Group(NamedTuple):
    """A group. gid is None where any free number will do."""

    name: str = checked_by(_name, "str")
    gid: Optional[int] = whole_number(_LOWEST, _HIGHEST).optional()


class Account(NamedTuple):
    """An account. uid is None for any free number; ``groups`` excludes the primary one."""

    name: str = checked_by(_name, "str")
    uid: Optional[int] = whole_number(_LOWEST, _HIGHEST).optional()
    group: str = checked_by(_name, "str").optional(OINSTALL)
    groups: Tuple[str, ...] = names().then(_names).optional(())
    home: Optional[str] = absolute_path().then(_home).optional()


class Policy(NamedTuple):
    """The role's variables."""

    profile: Optional[Profile] = of_profile()
    """The purpose of the host, for all controls that derive a policy from it. A variable of a
    control takes precedence.

    With C(none) the accounts C(oracle) and C(grid) are checked where they exist. With a
    profile of a single instance C(oracle) and its groups must exist, with the others C(grid) too.
    A profile creates nothing.

    Default: none
    """
    groups: Tuple[Group, ...] = entries(Group)
    """Groups that the host must have, each with C(name) and optionally C(gid). Apply creates
    missing groups. It never changes a gid.

    Default: []
    """
    accounts: Optional[Tuple[Account, ...]] = entries(Account).none_for("auto")
    """Accounts that the host must have, each with C(name) and optionally C(uid), C(group) (the
    primary group, default C(oinstall)), C(groups) (its other groups) and C(home) (default
    C(/home/NAME)). Apply creates missing accounts with a locked password, and adds existing
    accounts to missing groups. It never changes a uid or a primary group.

    C(auto) takes the accounts from C(hostproof_profile), and apply changes no account.

    Default: auto
    """


def _together(policy: Policy, values: PolicyValues) -> Policy:
    for what, ids in (
        ("groups", [group.gid for group in policy.groups if group.gid is not None]),
        ("accounts", [account.uid for account in policy.accounts or () if account.uid is not None]),
    ):
        if len(set(ids)) != len(ids):
            raise values.error(what, "gives two entries the same number")
    return policy


policy_from = reader(NAME, Policy, _together)

#: Oracle Database Installation Guide for Linux, Operating System Groups and Users.
DATABASE_GROUPS = ("dba", "oper", "backupdba", "dgdba", "kmdba")


def wanted(policy: Policy) -> Tuple[Account, ...]:
    """The accounts that must exist."""
    if policy.accounts is not None:
        return policy.accounts
    if policy.profile is None:
        return ()
    if not policy.profile.grid:
        return (Account("oracle", None, OINSTALL, DATABASE_GROUPS, None),)
    return (
        Account("oracle", None, OINSTALL, (*DATABASE_GROUPS, "racdba", "asmdba"), None),
        Account("grid", None, OINSTALL, ("racdba", "asmadmin", "asmdba"), None),
    )
