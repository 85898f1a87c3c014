# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Accounts and their limits: the role's variables and their checks."""

import re
from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import (
    checked_by,
    drop_in,
    entries,
    names,
    names_of,
    of_profile,
    one_of,
    reader,
)
from ...evaluate.policy import PolicyValues, is_whole
from ...evaluate.profiles import Profile
from ...parsers.unix.limits_conf import LIMITS_D
from .limit_table import ITEMS, UNLIMITED

NAME = "process_limits"

AUTO = "auto"
#: The name of one account in limits.conf: not a group, a range or "*".
ACCOUNT = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}\Z")


def _is_user(name: str) -> bool:
    return name != "root" and ACCOUNT.match(name) is not None


def _amount(values: PolicyValues, name: str) -> int:
    value = values[name]
    if value == "unlimited":
        return UNLIMITED
    if not is_whole(value) or not 0 < int(value) < 1 << 54:
        raise values.error(name, f"must be unlimited or a number, not {str(value)[:80]!r}")
    return int(value)


class Wanted(NamedTuple):
    """A limit of this host's own: the least, in the units of limits.conf."""

    name: str = one_of(*ITEMS)
    soft: int = checked_by(_amount, "str")
    hard: int = checked_by(_amount, "str")


def _no_crossing(limit: Wanted, values: PolicyValues) -> Wanted:
    if limit.soft > limit.hard:
        raise values.error("soft", "must not be above hard, where the kernel would cut it off")
    return limit


class Policy(NamedTuple):
    """The role's variables.

    ``accounts`` is None for "auto".
    """

    profile: Optional[Profile] = of_profile()
    """The purpose of the host, for all controls that take a policy from it. Variables of a
    control override it.

    C(none) checks the accounts C(oracle) and C(grid) if they exist, and each account that runs
    an instance or a listener. C(oracle_19c_single) requires the account C(oracle), the other
    profiles also C(grid).

    Default: none
    """
    accounts: Optional[Tuple[str, ...]] = names(
        _is_user, "the name of an account other than root"
    ).none_for(AUTO)
    """The accounts that run Oracle's software, or will, such as C([oracle, grid]). They have to
    exist.

    C(auto) takes them from C(hostproof_profile). Owners of processes that run count in any case.

    Default: auto
    """
    values: Tuple[Wanted, ...] = entries(Wanted, together=_no_crossing)
    """Limits that replace Oracle's for this host. Each entry has C(name) (C(nofile), C(nproc),
    C(stack) or C(memlock)), C(soft) and C(hard). Both are minimums in the units of limits.conf
    (C(stack) and C(memlock) in kB), or C(unlimited).

    Default: []
    """
    unmanaged: Tuple[str, ...] = names_of(ITEMS)
    """Limits that another tool manages, such as C(memlock). They are neither checked nor
    written. Lines that an earlier apply wrote stay.

    Default: []
    """
    limits_file: str = drop_in(LIMITS_D)
    """The file that is written. Of lines for one account those of the file count that is read last,
    in the order of the bytes of names; the default comes after Oracle's preinstallation
    packages.

    Default: /etc/security/limits.d/zz-hostproof-process_limits.conf
    """


policy_from = reader(NAME, Policy)
