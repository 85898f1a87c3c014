# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which accounts are to have which limits: the role's variables and their checks."""

import re
from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import checked_by, drop_in, entries, names, of_profile, one_of, reader
from ...evaluate.policy import PolicyValues, is_whole
from ...evaluate.profiles import Profile
from ...parsers.unix.limits_conf import LIMITS_D
from .table import ITEMS, UNLIMITED

NAME = "process_limits"

AUTO = "auto"
#: What limits.conf takes for one account: neither a group, a range, nor everybody.
ACCOUNT = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}\Z")


def _amount(given: PolicyValues, name: str) -> int:
    value = given[name]
    if value == "unlimited":
        return UNLIMITED
    if not is_whole(value) or not 0 < int(value) < 1 << 54:
        raise given.error(name, f"must be unlimited or a number, not {str(value)[:80]!r}")
    return int(value)


class Wanted(NamedTuple):
    """A limit of this host's own: the least, in the units of limits.conf."""

    name: str = one_of(*ITEMS)
    soft: int = checked_by(_amount, "str")
    hard: int = checked_by(_amount, "str")


def _no_crossing(wanted: Wanted, given: PolicyValues) -> Wanted:
    if wanted.soft > wanted.hard:
        raise given.error("soft", "must not be above hard, where the kernel would cut it off")
    return wanted


def _accounts(given: PolicyValues, name: str, value: Tuple[str, ...]) -> Tuple[str, ...]:
    for one in value:
        if not ACCOUNT.match(one) or one == "root":
            raise given.error(name, f"{one[:80]!r} must be the name of an account other than root")
    return value


def _items(given: PolicyValues, name: str, value: Tuple[str, ...]) -> Tuple[str, ...]:
    for one in value:
        if one not in ITEMS:
            raise given.error(name, f"{one[:80]!r} must be one of {', '.join(ITEMS)}")
    return value


class Policy(NamedTuple):
    """The role's variables (roles/process_limits/meta/argument_specs.yml).

    ``accounts`` is None for "auto".
    """

    profile: Optional[Profile] = of_profile()
    accounts: Optional[Tuple[str, ...]] = names().then(_accounts).none_for(AUTO)
    values: Tuple[Wanted, ...] = entries(Wanted, together=_no_crossing)
    unmanaged: Tuple[str, ...] = names().then(_items)
    limits_file: str = drop_in(LIMITS_D)


policy_from = reader(NAME, Policy)
