# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that a check of a site may run without hostproof_own_commands.

Each of them only reads: none of the accepted arguments writes a file, changes a setting or starts
another program.
"""

from typing import Optional, Sequence, Tuple

#: Programs with any argument.
_ANY = frozenset(
    (
        *("cat", "df", "findmnt", "getconf", "getenforce", "getent", "groups", "head", "id"),
        *("ipcs", "ls", "lsblk", "lscpu", "lsmod", "lspci", "modinfo", "nproc", "numastat"),
        *("readlink", "sestatus", "stat", "tail", "uname", "uptime", "wc"),
    )
)
#: Beginnings of command lines. Only names without a leading dash may follow.
_BEGINNINGS: Tuple[Tuple[str, ...], ...] = (
    ("chronyc", "tracking"),
    ("chronyc", "sources"),
    ("dpkg-query", "-W"),
    ("ethtool", "-a"),
    ("ethtool", "-c"),
    ("ethtool", "-g"),
    ("ethtool", "-i"),
    ("ethtool", "-k"),
    ("ethtool", "-l"),
    ("ip", "addr", "show"),
    ("ip", "link", "show"),
    ("ip", "route", "show"),
    ("ip", "rule", "show"),
    ("rpm", "-q"),
    ("systemctl", "cat"),
    ("systemctl", "get-default"),
    ("systemctl", "is-active"),
    ("systemctl", "is-enabled"),
    ("systemctl", "is-failed"),
    ("systemctl", "show"),
    ("timedatectl", "show"),
    ("timedatectl", "status"),
    ("tuned-adm", "active"),
)


def refusal(argv: Sequence[str]) -> Optional[str]:
    """The reason why a command is not allowed, None if it is."""
    program = argv[0]
    if program in _ANY:
        return None
    beginnings = [beginning for beginning in _BEGINNINGS if beginning[0] == program]
    if not beginnings:
        return (
            f"{program!r} is not one of the commands that need no permission: set "
            "hostproof_own_commands to true to allow every command"
        )
    for beginning in beginnings:
        rest = argv[len(beginning) :]
        if tuple(argv[: len(beginning)]) == beginning and not any(
            word.startswith("-") for word in rest
        ):
            return None
    allowed = ", ".join(" ".join(beginning) for beginning in beginnings)
    return (
        f"{' '.join(argv)!r} is none of {allowed} with names behind it: set "
        "hostproof_own_commands to true to allow every command"
    )
