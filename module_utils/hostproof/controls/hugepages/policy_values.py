# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of the policy on this host: page size, memlock limit, mode of transparent huge pages."""

import re
from typing import List, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known, unless_newer
from ...errors import HostproofError
from ...parsers.kernel import kernel_release
from ...parsers.unix import getent, limits_conf
from ...probes.oracle.instances import Instance
from ...probes.systemd import boot as boot_probe
from ...probes.unix.limits import Account
from .facts import Facts
from .policy import AUTO, UNLIMITED, Policy

SHM_GROUP = "vm.hugetlb_shm_group"

NO_DATABASE = "No instance runs here and hugepages_instances lists none."

#: The first Unbreakable Enterprise Kernel (UEK7) for which Oracle requires madvise.
UEK7 = (5, 15)
#: The first release of the database whose guide requires it.
MADVISE_SINCE = 19
#: Oracle AI Database 26ai, as an instance shows it.
AI26 = (23, 26)


#: The default huge page of s390x, and of no other architecture (arch/s390/include/asm/page.h,
#: HPAGE_SHIFT), and that of x86-64, which hugepages_page_size has by default.
S390X_PAGE, X86_PAGE = 1 << 20, 2 << 20


def wanted_page_size(facts: Facts, policy: Policy) -> int:
    """The page size that the policy requires. On s390x, 2 MiB also means 1 MiB."""
    if policy.page_size == X86_PAGE and known(facts.pool).page_size == S390X_PAGE:
        return S390X_PAGE
    return policy.page_size


#: From this kernel a memlock limit no longer permits SHM_HUGETLB (fs/hugetlbfs/inode.c).
GROUP_REQUIRED_SINCE = (5, 16)
#: Distribution kernels that backported that change: Red Hat's of EL9, and SUSE's of SLES 15 SP4 and
#: later. Oracle's UEK on EL9 (el9uek) is not among them.
_GROUP_BACKPORTED = re.compile(r"\.el9(?:_\d+)?(?:[.+]|$)|-150[4-9]00\.")
#: With this kernel and later, distributions can have backported the change.
FALLBACK_BEFORE = (5, 14)


def requires_group(release: kernel_release.Release) -> bool:
    """Whether a memlock limit no longer permits huge pages without the group."""
    version = (release.major, release.minor)
    return version >= GROUP_REQUIRED_SINCE or (
        version >= FALLBACK_BEFORE and _GROUP_BACKPORTED.search(release.text) is not None
    )


def has_database(facts: Facts, policy: Policy) -> bool:
    return bool(policy.instances or known(facts.instances) or unless_newer(facts.databases, []))


def wanted_memlock(facts: Facts, policy: Policy) -> Optional[int]:
    """The required memlock limit in kB. None means unlimited. Oracle requires 90% of memory."""
    if policy.memlock == UNLIMITED:
        return None
    if policy.memlock == AUTO:
        return known(facts.meminfo)["MemTotal"] // 1024 * 9 // 10
    return int(policy.memlock or 0)


def wanted_group(facts: Facts, policy: Policy) -> Optional[Answer[getent.Group]]:
    """The group to set for vm.hugetlb_shm_group, Absent if the host does not have it. None if
    nothing has to be set.

    The kernel accepts any group of which the owner is a member: values now and after a reboot that
    fit every instance and account stay.
    """
    if policy.group is None or not has_database(facts, policy):
        return None
    if fits_owners(facts, known(facts.shm_group)) and fits_owners(facts, _group_at_boot(facts)):
        return None
    return facts.group


def _group_at_boot(facts: Facts) -> int:
    at_boot = boot_probe.sysctl_at_boot(facts.boot, SHM_GROUP)
    at_boot.settled()
    return group_of(at_boot)


def group_of(at_boot: boot_probe.SysctlAtBoot) -> int:
    """The number that the kernel has after a reboot; -1 for a value that is no group."""
    if at_boot.winner is None:
        return 0
    return int(at_boot.winner.value) if at_boot.winner.value.isdecimal() else -1


def fits_owners(facts: Facts, gid: int) -> bool:
    """Whether every instance and account may use huge pages by the group; raises what is unknown.

    Without any of them the group is that of the policy."""
    found, unknown = outsiders(facts, gid)
    if not found and unknown is not None:
        raise unknown
    if not known(facts.instances) and not known(facts.accounts):
        group = if_known(facts.group, None)
        return group is not None and gid == group.gid
    return not found


def outsiders(facts: Facts, gid: int) -> Tuple[List[str], Optional[HostproofError]]:
    """The running instances that are not in the group, and the accounts without an instance; and
    the first whose groups are not known."""
    running, accounts = known(facts.instances), known(facts.accounts)
    owners = {instance.user for instance in running}
    members = [(instance.sid, attempt(may_use, instance, gid)) for instance in running] + [
        (user, attempt(_is_member, account, gid, facts))
        for user, account in sorted(accounts.items())
        if user not in owners
    ]
    unknown = [answer for _name, answer in members if isinstance(answer, HostproofError)]
    return [name for name, answer in members if answer is False], unknown[0] if unknown else None


def _is_member(account: Account, gid: int, facts: Facts) -> bool:
    """By name where the name of the group is known, else by number; raises what is unknown."""
    if gid == account.gid:
        return True
    group = if_known(facts.group, None)
    if group is not None and group.gid == gid:
        return group.name in account.groups
    if gid == 0:
        return "root" in account.groups
    return gid in known(facts.gids[account.name])


def enough_memlock(facts: Facts, policy: Policy) -> Optional[int]:
    """The limit in kB that needs no change. MemTotal varies a little from boot to boot, and other
    tools round: 1% less than 90% of memory is enough."""
    required = wanted_memlock(facts, policy)
    if required is None or policy.memlock != AUTO:
        return required
    return required * 99 // 100


def wanted_transparent(facts: Facts, policy: Policy) -> Tuple[str, str]:
    """(required mode, reason).

    Oracle requires madvise on UEK7 and later, for 19c too, and never elsewhere (Grid Infrastructure
    Installation Guide 19c, "Setting and Disabling Transparent HugePages on UEK Kernels", in the
    edition F19136 of 2024; 21c and 23ai, "Setting Transparent HugePages to madvise"). For 26ai the
    preinstallation package sets madvise on every kernel of Oracle Linux and RHEL."""
    if policy.transparent != AUTO:
        return policy.transparent, "hugepages_transparent"
    release = known(facts.release)
    versions, newest = _database_versions(facts, policy)
    if release.is_uek and (release.major, release.minor) >= UEK7:
        if not versions or min(versions) >= MADVISE_SINCE:
            return "madvise", "UEK7 or later"
        return "never", f"UEK7 or later with database {min(versions)}"
    if newest and all(newest) and re.search(r"\.el[0-9]+", release.text):
        return "madvise", "26ai on Oracle Linux or RHEL"
    return "never", f"kernel {release.text}"


def _database_versions(facts: Facts, policy: Policy) -> Tuple[List[int], List[bool]]:
    """The versions of the databases, and whether each is 26ai or later."""
    versions = [instance.version for instance in policy.instances or () if instance.version]
    newest = [version >= AI26[1] for version in versions]
    for database in if_known(facts.databases, []):
        version = if_known(database.version, None)
        if version is not None:
            versions.append(version[0])
            newest.append(version >= AI26)
    return versions, newest


#: The capability that permits huge pages without the group (fs/hugetlbfs/inode.c,
#: can_do_hugetlb_shm).
_IPC_LOCK = 1 << 14


def may_use(instance: Instance, gid: int) -> bool:
    """Whether the kernel lets the running process use huge pages with this group."""
    return bool(known(instance.status).capabilities & _IPC_LOCK) or gid in groups_of(instance)


def groups_of(instance: Instance) -> Tuple[int, ...]:
    """All groups of the running process."""
    status = known(instance.status)
    return (int(status.gid),) + tuple(status.groups)


def limit_text(entry: Optional[limits_conf.Entry]) -> str:
    if entry is None:
        return "not set"
    return f"{entry.value} ({entry.path}:{entry.line})"
