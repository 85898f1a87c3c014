# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The limits that a new login gets from pam_limits (limits.conf(5))."""

from typing import Dict, List, NamedTuple, Optional, Sequence

from ...collect.answer import Answer, attempt, unless_absent
from ...collect.host import Host
from ...errors import HostproofError, Unanswered
from ...parsers.unix import getent, limits_conf
from ...parsers.unix.limits_conf import LIMITS_CONF, LIMITS_D

#: The evidence of limits of logins.
LOGIN_EVIDENCE = ("file:" + LIMITS_CONF, "dir:" + LIMITS_D)


class Account(NamedTuple):
    """An account of the host, with the names of all its groups.

    ``unknown`` is the error of what its ids and groups were to be read from.
    """

    name: str
    uid: int
    gid: int
    groups: List[str]
    unknown: Optional[HostproofError] = None


def read_accounts(host: Host, users: List[str]) -> Dict[str, Account]:
    """Those of the users that exist on the host, by name."""
    accounts = [_read_account(host, user) for user in users]
    return {account.name: account for account in accounts if account is not None}


def by_name(
    accounts: Answer[Dict[str, Account]], names: Sequence[str]
) -> Answer[Dict[str, Account]]:
    """The accounts. If they are unknown: the named ones, with nothing but their names."""
    if not isinstance(accounts, HostproofError) or not names:
        return accounts
    return {name: Account(name, -1, -1, [], accounts) for name in names}


def limits_of(account: Account, entries: List[limits_conf.Entry], item: str) -> limits_conf.Limits:
    """What a login of the account gets; raises if that depends on an unknown group or number."""
    if account.unknown is not None and any(
        entry.item in (item, "") and limits_conf.is_of_group_or_id(entry) for entry in entries
    ):
        raise account.unknown
    return limits_conf.resolve(
        entries, account.name, account.groups, item, account.uid, account.gid
    )


def read_entries(host: Host) -> List[limits_conf.Entry]:
    """Every entry in the order in which pam_limits reads it."""
    entries: List[limits_conf.Entry] = []
    names = unless_absent(attempt(host.list_dir, LIMITS_D), [])
    for path in limits_conf.effective_paths(names):
        text = unless_absent(attempt(host.read_text, path), "")
        entries.extend(limits_conf.parse(text, path).entries)
    return entries


def grants_memlock(entries: List[limits_conf.Entry], account: Account, size: Optional[int]) -> bool:
    """Whether a login of the account gets ``size`` kB (None: unlimited), soft and hard."""
    limits = limits_of(account, entries, "memlock")
    for entry in (limits.soft, limits.hard):
        if entry is None:
            return False
        granted = limits_conf.kilobytes(entry.value)
        if granted is not None and (size is None or granted < size):
            return False
    return True


def with_file(entries: List[limits_conf.Entry], path: str, content: str) -> List[limits_conf.Entry]:
    """The entries as pam_limits would read them if the file at ``path`` held ``content``."""
    others = [entry for entry in entries if entry.path != path]
    return sorted(
        others + list(limits_conf.parse(content, path).entries),
        key=lambda entry: (entry.path != LIMITS_CONF, entry.path.rsplit("/", 1)[-1]),
    )


def _read_account(host: Host, user: str) -> Optional[Account]:
    """The account as the host's name service knows it (getent answers 2 if it does not)."""
    argv = ["getent", "passwd", user]
    output = host.run(argv)
    if output.rc not in (0, 2):
        raise Unanswered(
            "command:" + " ".join(argv),
            f"getent answered {output.rc}: {output.stderr.strip()}",
        )
    if output.rc == 2:
        return None
    entry = getent.parse_passwd(output.stdout)[0]
    return Account(user, entry.uid, entry.gid, _groups_of(host, user))


def _groups_of(host: Host, user: str) -> List[str]:
    argv = ["id", "-Gn", user]
    return host.read_output(argv).split()
