# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The limits that a new login gets from pam_limits (limits.conf(5))."""

from typing import Dict, List, Optional

from ..answer import attempt, unless_absent
from ..errors import Unanswered
from ..host import Host
from ..parsers import limits_conf

CONF = "/etc/security/limits.conf"
FOLDER = "/etc/security/limits.d"


def read_groups(host, users):
    # type: (Host, List[str]) -> Dict[str, List[str]]
    """The names of all groups of each user that exists on the host."""
    return {user: groups_of(host, user) for user in users if exists(host, user)}


def read_entries(host):
    # type: (Host) -> List[limits_conf.Entry]
    """Every entry in the order in which pam_limits reads it."""
    entries = []  # type: List[limits_conf.Entry]
    names = unless_absent(attempt(host.list_dir, FOLDER), [])
    for path in limits_conf.effective_paths(names):
        text = unless_absent(attempt(host.read_text, path), "")
        entries.extend(limits_conf.parse(text, path).entries)
    return entries


def grants_memlock(entries, user, groups, wanted):
    # type: (List[limits_conf.Entry], str, List[str], Optional[int]) -> bool
    """Whether a login of the user gets ``wanted`` kB (None: unlimited), soft and hard."""
    limits = limits_conf.resolve(entries, user, groups, "memlock")
    for entry in (limits.soft, limits.hard):
        if entry is None:
            return False
        granted = limits_conf.kilobytes(entry.value)
        if granted is not None and (wanted is None or granted < wanted):
            return False
    return True


def with_file(entries, path, content):
    # type: (List[limits_conf.Entry], str, str) -> List[limits_conf.Entry]
    """The entries as pam_limits would read them if the file at ``path`` held ``content``."""
    others = [entry for entry in entries if entry.path != path]
    return sorted(
        others + list(limits_conf.parse(content, path).entries),
        key=lambda entry: (entry.path != CONF, entry.path.rsplit("/", 1)[-1]),
    )


def exists(host, user):
    # type: (Host, str) -> bool
    """Whether the host's name service knows the account (getent answers 2 if it does not)."""
    argv = ["getent", "passwd", user]
    output = host.run(argv)
    if output.rc not in (0, 2):
        raise Unanswered(
            "command:" + " ".join(argv),
            "getent answered {0}: {1}".format(output.rc, output.stderr.strip()),
        )
    return output.rc == 0


def groups_of(host, user):
    # type: (Host, str) -> List[str]
    """The names of all groups of an account that exists."""
    argv = ["id", "-Gn", user]
    output = host.run(argv)
    if output.rc != 0:
        raise Unanswered("command:" + " ".join(argv), "id answered: " + output.stderr.strip())
    return output.stdout.split()
