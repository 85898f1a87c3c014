# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How large a pool a host should have, and who may use it: the role's variables and their checks.

Sizes are bytes unless a name says pages, here and in the whole control.
"""

import re
from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import (
    checked_by,
    drop_in,
    entries,
    flag,
    names,
    one_of,
    reader,
    size,
    whole_number,
)
from ...evaluate.policy import PolicyValues, is_whole, oracle_release
from ...parsers.systemd import sysctl_d, tmpfiles_d
from ...parsers.unix import limits_conf

NAME = "hugepages"

AUTO = "auto"
UNLIMITED = "unlimited"
UNMANAGED = "unmanaged"


def _sid(given: PolicyValues, name: str) -> str:
    value = given[name]
    if isinstance(value, (list, dict)) or not value or not re.match(r"\S+\Z", str(value)):
        raise given.error(name, f"{str(value)!r} is no sid")
    return str(value)


def _version(given: PolicyValues, name: str) -> int:
    """ "19", "19.3.0.0", "23ai": the first number decides."""
    release = oracle_release(given[name])
    if release is None:
        raise given.error(name, f"{given[name]!r} must be a number such as 19")
    return release[0]


class InstancePolicy(NamedTuple):
    """An instance that the host must be ready for. ``version`` is the database's first number."""

    sid: str = checked_by(_sid, "str")
    sga: int = size()
    version: Optional[int] = checked_by(_version, "str").optional()


def _power_of_two(given: PolicyValues, name: str, value: int) -> int:
    if value & (value - 1):
        raise given.error(name, f"must be a power of two, as 2M or 1G, not {given[name]!r}")
    return value


def _group(given: PolicyValues, name: str) -> Optional[str]:
    value = given[name]
    if value is not None and (not isinstance(value, str) or not value.isprintable()):
        raise given.error(name, f"must be a name, or empty to leave it, not {value!r}")
    return value or None


def _memlock(given: PolicyValues, name: str) -> Optional[str]:
    text = str(given[name])
    if text == UNMANAGED:
        return None
    if text in (AUTO, UNLIMITED) or (is_whole(given[name]) and int(text) > 0):
        return text
    raise given.error(name, f"must be auto, unlimited, unmanaged or a number of kB, not {text!r}")


class Policy(NamedTuple):
    """The role's variables (roles/hugepages/meta/argument_specs.yml).

    ``instances`` is None for "auto", whatever runs now; ``memlock`` is None where it is not
    managed, or "auto", "unlimited" or a number of kB as limits.conf takes it.
    """

    instances: Optional[Tuple[InstancePolicy, ...]] = entries(InstancePolicy, empty=False).none_for(
        AUTO
    )
    ask_instances: bool = flag()
    extra_pages_per_instance: int = whole_number()
    spare_pages: int = whole_number()
    page_size: int = size().then(_power_of_two)
    ram_share_limit: int = whole_number(1, 100)
    surplus_limit: int = whole_number()
    users: Tuple[str, ...] = names()
    group: Optional[str] = checked_by(_group, "str")
    memlock: Optional[str] = checked_by(_memlock, "str")
    transparent: str = one_of(AUTO, "never", "madvise", UNMANAGED)
    activation: str = one_of("now", "reboot")
    sysctl_file: str = drop_in(sysctl_d.DIRECTORIES[0])
    limits_file: str = drop_in(limits_conf.LIMITS_D)
    tmpfiles_file: str = drop_in(tmpfiles_d.DIRECTORIES[0])
    allow_ram_share_over_limit: bool = flag()
    allow_low_memory: bool = flag()
    allow_compaction: bool = flag()
    allow_shrink_below_use: bool = flag()


def _with_users(policy: Policy, given: PolicyValues) -> Policy:
    if not policy.users and policy.memlock is not None:
        raise given.error(
            "users", "must name at least one account, or hugepages_memlock must be unmanaged"
        )
    return policy


policy_from = reader(NAME, Policy, _with_users)
