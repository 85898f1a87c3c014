# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Size of the pool and accounts that may use it: validated role variables.

In this control sizes are bytes, unless a name contains pages.
"""

import re
from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import (
    checked_by,
    drop_in,
    entries,
    flag,
    names,
    of_profile,
    one_of,
    reader,
    size,
    whole_number,
)
from ...evaluate.policy import PolicyValues, is_whole, oracle_release
from ...evaluate.profiles import Profile
from ...parsers.systemd import sysctl_d, tmpfiles_d
from ...parsers.unix import limits_conf

NAME = "hugepages"

#: The default of hugepages_limits_file in earlier releases. Oracle's preinstallation package, whose
#: file begins with "oracle", is read after it.
OLD_LIMITS_FILE = limits_conf.LIMITS_D + "/99-zz-hostproof-hugepages.conf"

AUTO = "auto"
UNLIMITED = "unlimited"
UNMANAGED = "unmanaged"


def _sid(values: PolicyValues, name: str) -> str:
    value = values[name]
    if isinstance(value, (list, dict)) or not value or not re.match(r"\S+\Z", str(value)):
        raise values.error(name, f"{str(value)!r} is not a SID")
    return str(value)


def _version(values: PolicyValues, name: str) -> int:
    """The first number of a version such as "19", "19.3.0.0" or "23ai"."""
    release = oracle_release(values[name])
    if release is None:
        raise values.error(name, f"{values[name]!r} must be a number such as 19")
    return release[0]


class InstancePolicy(NamedTuple):
    """An instance that the host must be ready for. ``version`` is the number before the dot."""

    sid: str = checked_by(_sid, "str")
    sga: int = size()
    version: Optional[int] = checked_by(_version, "str").optional()


def _power_of_two(values: PolicyValues, name: str, value: int) -> int:
    if value & (value - 1):
        raise values.error(name, f"must be a power of two, as 2M or 1G, not {values[name]!r}")
    return value


def _group(values: PolicyValues, name: str) -> Optional[str]:
    value = values[name]
    if value is not None and (not isinstance(value, str) or not value.isprintable()):
        raise values.error(name, f"must be a name, or empty to leave it, not {value!r}")
    return value or None


def _memlock(values: PolicyValues, name: str) -> Optional[str]:
    text = str(values[name])
    if text == UNMANAGED:
        return None
    if text in (AUTO, UNLIMITED) or (is_whole(values[name]) and int(text) > 0):
        return text
    raise values.error(name, f"must be auto, unlimited, unmanaged or a number of kB, not {text!r}")


class Policy(NamedTuple):
    """The role's variables.

    ``instances`` is None for "auto": the instances of the host. ``memlock`` is None if it is not
    managed, otherwise "auto", "unlimited" or a number of kB as in limits.conf.
    """

    instances: Optional[Tuple[InstancePolicy, ...]] = entries(InstancePolicy, empty=False).none_for(
        AUTO
    )
    """The instances that the host must be ready for, each with C(sid), C(sga) (a size such as
    C(60G)) and optionally C(version) (such as C(19)).

    C(auto) takes the instances that run now, and those of oratab that are down; where the instance
    or its parameter file is not known, the need is not known. It never shrinks a pool, since an
    instance may be elsewhere.

    Default: auto
    """
    profile: Optional[Profile] = of_profile()
    """The purpose of the host, for all controls that take a policy from it. Variables of a control
    override it.

    With a profile huge pages are required before the first instance exists.

    Default: none
    """
    query_instances: bool = flag()
    """Whether the SGA of the next start is read, from running instances with C(sqlplus / as
    sysdba) as their owner, and from parameter files of instances that are down.

    If C(false), list each running database in O(hugepages_instances). Its running and its
    listed SGA count.

    Default: true
    """
    extra_pages_per_instance: int = whole_number()
    """Pages beyond its SGA for each listed instance (its number of segments is not known yet).

    Default: 4
    """
    spare_pages: int = whole_number()
    """Pages to keep beyond what the instances need.

    Default: 0
    """
    page_size: int = size().then(_power_of_two)
    """The huge page that the database uses; the host's default size must be the same.

    C(2M) also accepts the 1 MiB of s390x.

    Default: 2M
    """
    memory_limit_percent: int = whole_number(1, 100)
    """The largest share of memory, in percent, that the pool may take.

    It is Hostproof's choice, not Oracle's: PGA, processes and the kernel need the rest. A larger
    pool is a warning. It is a failure above 85% if less than 32 GiB are left.

    Default: 70
    """
    surplus_limit: int = whole_number()
    """Tolerated excess of the pool over its required size, in percent.

    Default: 10
    """
    users: Tuple[str, ...] = names()
    """The accounts that own instances and must be allowed to lock memory.

    Default: [oracle]
    """
    group: Optional[str] = checked_by(_group, "str")
    """The group of all these accounts, for C(vm.hugetlb_shm_group); empty leaves that setting
    alone.

    Default: oinstall
    """
    memlock: Optional[str] = checked_by(_memlock, "str")
    """C(auto) (90% of memory, as Oracle recommends), C(unlimited), a number of kB, or
    C(unmanaged).

    Default: auto
    """
    transparent: str = one_of(AUTO, "never", "madvise", UNMANAGED)
    """Transparent huge pages. C(auto) is C(madvise) on UEK7 and later with database 19 and later,
    else C(never).

    Default: auto
    """
    activation: str = one_of(AUTO, "now", "reboot")
    """Whether to change the running kernel now, or only the values after reboot.

    C(auto) changes now what the kernel can grant now without harm, and leaves a pool that has no
    room now to the reboot. C(now) rejects such a pool.

    Default: auto
    """
    sysctl_file: str = drop_in(sysctl_d.DIRECTORIES[0])
    """The drop-in in C(/etc/sysctl.d) that sets the pool; its name must sort behind all others that
    do.

    Default: /etc/sysctl.d/99-zz-hostproof-hugepages.conf
    """
    limits_file: str = drop_in(limits_conf.LIMITS_D)
    """The drop-in in C(/etc/security/limits.d) that sets memlock. Its name must sort behind those
    of others, for example Oracle's preinstallation package.

    Default: /etc/security/limits.d/zz-hostproof-hugepages.conf
    """
    tmpfiles_file: str = drop_in(tmpfiles_d.DIRECTORIES[0])
    """The drop-in in C(/etc/tmpfiles.d) that sets transparent huge pages at boot.

    Default: /etc/tmpfiles.d/hostproof-hugepages.conf
    """
    allow_over_memory_limit: bool = flag()
    """Accept a pool that is larger than O(hugepages_memory_limit_percent).

    Default: false
    """
    allow_low_memory: bool = flag()
    """Accept growing the pool beyond the memory that is available now (swapping, OOM killer).

    Default: false
    """
    allow_compaction: bool = flag()
    """Accept that the kernel compacts memory for the pool, which stalls a busy host.

    Default: false
    """
    allow_shrink_below_use: bool = flag()
    """Accept a pool smaller than what is in use; the pages go when their instances stop.

    Default: false
    """


def _with_users(policy: Policy, values: PolicyValues) -> Policy:
    if not policy.users and policy.memlock is not None:
        raise values.error(
            "users", "must name at least one account, or hugepages_memlock must be unmanaged"
        )
    return policy


policy_from = reader(NAME, Policy, _with_users)
