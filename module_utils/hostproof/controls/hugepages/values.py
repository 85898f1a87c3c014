# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of the policy on this host: page size, memlock limit, mode of transparent huge pages."""

import re
from typing import Optional, Tuple

from ...collect.answer import if_known, known
from ...parsers.unix import limits_conf
from ...probes.oracle.instances import Instance
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


def has_database(facts: Facts, policy: Policy) -> bool:
    return bool(policy.instances or known(facts.instances) or if_known(facts.databases, []))


def wanted_memlock(facts: Facts, policy: Policy) -> Optional[int]:
    """The required memlock limit in kB. None means unlimited. Oracle requires 90% of memory."""
    if policy.memlock == UNLIMITED:
        return None
    if policy.memlock == AUTO:
        return known(facts.meminfo)["MemTotal"] // 1024 * 9 // 10
    return int(policy.memlock or 0)


def wanted_transparent(facts: Facts, policy: Policy) -> Tuple[str, str]:
    """(required mode, reason).

    Oracle requires madvise on UEK7 and later, for 19c too, and never elsewhere (Grid Infrastructure
    Installation Guide 19c, "Setting and Disabling Transparent HugePages on UEK Kernels", in the
    edition F19136 of 2024; 21c and 23ai, "Setting Transparent HugePages to madvise"). For 26ai the
    preinstallation package sets madvise on every kernel of Oracle Linux and RHEL."""
    if policy.transparent != AUTO:
        return policy.transparent, "hugepages_transparent"
    release = known(facts.release)
    versions = [instance.version for instance in policy.instances or () if instance.version]
    newest = [version >= AI26[1] for version in versions]
    for database in if_known(facts.databases, []):
        version = if_known(database.version, None)
        if version is not None:
            versions.append(version[0])
            newest.append(version >= AI26)
    if release.is_uek and (release.major, release.minor) >= UEK7:
        if not versions or min(versions) >= MADVISE_SINCE:
            return "madvise", "UEK7 or later"
        return "never", f"UEK7 or later with database {min(versions)}"
    if newest and all(newest) and re.search(r"\.el[0-9]+", release.text):
        return "madvise", "26ai on Oracle Linux or RHEL"
    return "never", f"kernel {release.text}"


def groups_of(instance: Instance) -> Tuple[int, ...]:
    """All groups of the running process."""
    status = known(instance.status)
    return (int(status.gid),) + tuple(status.groups)


def limit_text(entry: Optional[limits_conf.Entry]) -> str:
    if entry is None:
        return "not set"
    return f"{entry.value} ({entry.path}:{entry.line})"
