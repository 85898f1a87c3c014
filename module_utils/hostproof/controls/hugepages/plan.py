# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans the pool, limits and transparent huge pages, and rejects plans that would harm the host."""

from itertools import chain
from typing import Iterable, List, NamedTuple, Optional, Sequence, Tuple

from ...apply import sysctl_file
from ...apply.change import (
    FileChange,
    Plan,
    Refusal,
    ValueChange,
    header,
    idle,
)
from ...apply.sysctl_file import Sysctl
from ...collect.answer import attempt, if_known, known, unless_absent
from ...errors import Absent
from ...parsers.size import human
from ...parsers.systemd import tmpfiles_d
from ...parsers.unix import getent, limits_conf
from ...probes.systemd import boot as boot_probe
from ...probes.unix import limits as limits_probe
from .capacity import most_pages, pages_set, pool_at_boot, taken_most
from .facts import POOL_FILE, SHM_GROUP_FILE, Facts
from .need import need, sga_floor
from .parsers import buddyinfo
from .policy import AUTO, NAME, OLD_LIMITS_FILE, UNMANAGED, Policy
from .policy_values import (
    NO_DATABASE,
    SHM_GROUP,
    enough_memlock,
    has_database,
    limit_text,
    may_use,
    wanted_group,
    wanted_memlock,
    wanted_page_size,
    wanted_transparent,
)
from .probes import huge_page_pool as pool_probe
from .probes import transparent_hugepages as thp_probe
from .probes.huge_page_pool import in_pages

_HEADER = header(NAME)


#: The independent parts of the plan.
POOL, GROUP, MEMLOCK, TRANSPARENT = "pool", "group", "memlock", "transparent"


class Changes(NamedTuple):
    """A part of the plan: changes, rejections, and texts about changes that take effect later.

    ``later`` are values that only the reboot sets."""

    files: Sequence[FileChange] = ()
    values: Sequence[ValueChange] = ()
    refusals: Sequence[Refusal] = ()
    pending: Sequence[str] = ()
    later: Sequence[ValueChange] = ()


def plan(facts: Facts, policy: Policy) -> Plan:
    """The changes that make the host match the policy. Raises if required facts are unknown."""
    known(facts.meminfo)
    target = _target_pages(facts, policy)
    parts = [
        _plan_sysctl(facts, policy, target),
        _without_refused(_plan_limits(facts, policy), policy),
        _without_refused(_plan_transparent(facts, policy), policy),
    ]
    # The fields of Changes, each of all parts.
    files, values, refusals, pending, later = (
        list(chain.from_iterable(field)) for field in zip(*parts)
    )
    if policy.activation == "reboot":
        values, later = [], later + values
    if later:
        pending.append("A reboot sets: " + ", ".join(f"{v.path} = {v.value}" for v in later))
    if files:
        pending += [
            f"{instance.sid} keeps its limits and pages until it is restarted."
            for instance in known(facts.instances)
        ]
    if target is None and not any((files, values, later, refusals, pending)):
        return idle("No instance runs, and hugepages_instances lists none.")
    return Plan([*files, *values], refusals, pending, later)


def _without_refused(part: Changes, policy: Policy) -> Changes:
    """A part whose drop-in would lose settings of others, or that is rejected, changes nothing."""
    refusals = [*part.refusals, *_guard_other_settings(part.files, policy)]
    return Changes(refusals=refusals, pending=part.pending) if refusals else part


def _target_pages(facts: Facts, policy: Policy) -> Optional[int]:
    """The pool to configure. None if no size is required.

    With "auto" only instances that are now on the host are known. The pool is never reduced then,
    because an instance that is now on another host can need it. It is also not reduced if the need
    is incomplete, or by the margin of listed instances: one that has started needs none any more.
    """
    needed = need(facts, policy)
    if needed is None:
        return None
    if policy.instances is None or needed.unknown is not None:
        most = max(pages_set(known(facts.pool)), pool_at_boot(facts).pages)
        return most if most >= needed.enough else needed.pages
    listed = {instance.sid for instance in policy.instances}
    started = [running for running in known(facts.instances) if running.sid in listed]
    margin = policy.extra_pages_per_instance * len(started)
    pages = pages_set(known(facts.pool))
    return pages if needed.enough <= pages <= needed.pages + margin else needed.pages


def _guard_other_settings(files: Sequence[FileChange], policy: Policy) -> List[Refusal]:
    """Rejections if a drop-in, which is replaced as a whole, contains settings of others."""
    return [
        refusal._replace(part=MEMLOCK if change.path == policy.limits_file else TRANSPARENT)
        for change in files
        if not (change.before or "").startswith(_HEADER)
        for refusal in sysctl_file.lost_settings(change.path, _other_settings(change, policy))
    ]


def _other_settings(change: FileChange, policy: Policy) -> List[str]:
    """Settings in a file that this control does not manage."""
    text = change.before or ""
    if change.path == policy.limits_file:
        entries = limits_conf.parse(text, change.path).entries
        return [f"{entry.domain} {entry.item}" for entry in entries if entry.item != "memlock"]
    return [
        line.target
        for line in tmpfiles_d.parse(text, change.path)
        if line.target != thp_probe.SYSFS
    ]


def _plan_sysctl(facts: Facts, policy: Policy, target: Optional[int]) -> Changes:
    """The drop-in, and the values for the running kernel."""
    pool = known(facts.pool)
    size = pool.page_size
    sysctls, refusals = _plan_group(facts, policy)
    growth = 0
    if target is not None:
        files = pool_probe.sysfs_files(size)
        now = str(pages_set(pool))
        growth = target - pages_set(pool)
        sysctls.append(Sysctl(pool_probe.KEY, POOL_FILE, str(target), now, files, POOL))
        refusals += _guard_pool(facts, policy, target)
    refused = {refusal.part for refusal in refusals}
    keys = {GROUP: SHM_GROUP, POOL: pool_probe.KEY}
    kept = [key for part, key in keys.items() if part in refused]
    path = policy.sysctl_file
    before = unless_absent(facts.files[path], None)
    planned = sysctl_file.plan(
        facts.boot,
        sysctl_file.File(path, _HEADER, before, "hugepages_sysctl_file", kept),
        [sysctl for sysctl in sysctls if sysctl.part not in refused],
        at_boot=lambda boot, key: _at_boot(boot, key, size),
    )
    later: List[ValueChange] = []
    pending: List[str] = []
    if policy.activation == AUTO and any(value.path == POOL_FILE for value in planned.values):
        pending = room_problems(facts, policy, growth)
        later = [value for value in planned.values if pending and value.path == POOL_FILE]
    return Changes(
        planned.files,
        [value for value in planned.values if value not in later],
        refusals + planned.refusals,
        [f"The pool grows at the next reboot: {'; '.join(pending)}."] if pending else [],
        later,
    )


def _plan_group(facts: Facts, policy: Policy) -> Tuple[List[Sysctl], List[Refusal]]:
    wanted = wanted_group(facts, policy)
    if isinstance(wanted, Absent):
        reason = f"the host has no group {policy.group}: create it, or set hugepages_group to "
        return [], [Refusal(reason + "the group of the instances' owner", None, GROUP)]
    if wanted is None and (policy.group is None or not has_database(facts, policy)):
        return [], []
    now = str(known(facts.shm_group))
    if wanted is None:
        # It fits, and stays: also where it is this file that sets it.
        return [Sysctl(SHM_GROUP, SHM_GROUP_FILE, now, now, (), GROUP)], []
    group = known(wanted)
    sysctl = Sysctl(SHM_GROUP, SHM_GROUP_FILE, str(group.gid), now, (), GROUP)
    return [sysctl], _guard_group(facts, group)


def _at_boot(boot: boot_probe.Boot, key: str, page_size: int) -> Optional[str]:
    """The value of a sysctl key of this control after reboot. None if nothing sets it."""
    if key == pool_probe.KEY:
        pool = pool_probe.pool_at_boot(boot, page_size)
        pool.settled()
        return None if pool.place is None else str(pool.pages)
    return sysctl_file.value_at_boot(boot, key)


def _guard_group(facts: Facts, group: getent.Group) -> List[Refusal]:
    """Rejection if the new group would exclude running instances: the kernel allows one group."""
    outsiders = [
        instance.sid for instance in known(facts.instances) if not may_use(instance, group.gid)
    ]
    if not outsiders:
        return []
    reason = (
        f"{', '.join(outsiders)} does not run with the group {group.name} and would get no huge "
        "pages at its next start: set hugepages_group to a group that every owner is in, then "
        "restart it"
    )
    return [Refusal(reason, None, GROUP)]


def _plan_limits(facts: Facts, policy: Policy) -> Changes:
    """The drop-in with memlock limits for accounts that no other file grants enough."""
    if not has_database(facts, policy):
        return Changes(pending=[NO_DATABASE + " The pool and memlock stay as they are."])
    if policy.memlock is None:
        return Changes()
    accounts = known(facts.accounts)
    pending = [
        f"The host has no account {user}: its memlock limit waits for the account."
        for user in policy.users
        if user not in accounts
    ]
    required = enough_memlock(facts, policy)
    entries = known(facts.limit_entries)
    path = policy.limits_file
    before = unless_absent(facts.limits_files[path], None)
    moved = _old_limits(facts, policy)
    # Accounts with a sufficient limit in another file are excluded: the drop-in could lower it.
    others = limits_probe.with_file(entries, path, "")
    for change in moved:
        others = limits_probe.with_file(others, change.path, "")
    if not _accounts_below(required, others if moved else entries, accounts.values()):
        return Changes(files=moved, pending=pending)
    users = _accounts_below(required, others, [accounts[user] for user in sorted(accounts)])
    content = _limits_content(policy, users, wanted_memlock(facts, policy))
    later = limits_probe.with_file(others, path, content)
    losing = _accounts_below(required, later, users)
    short = losing
    floor = if_known(attempt(sga_floor, facts, policy), 0)
    if floor:
        # A limit that covers every SGA is not worth a rejection.
        short = _accounts_below(-(-floor // 1024), later, losing)
    refusals = [_guard_limits(later, path, user) for user in short]
    if len(losing) == len(users) and not refusals:
        return Changes(pending=pending)
    files = [FileChange(path, content, before)] if content != before else []
    return Changes(files=[*files, *moved], refusals=refusals, pending=pending)


def _accounts_below(
    required: Optional[int],
    entries: List[limits_conf.Entry],
    accounts: Iterable[limits_probe.Account],
) -> List[limits_probe.Account]:
    """The accounts that have a lower limit than the required one, in kB."""
    return [
        account
        for account in accounts
        if not limits_probe.grants_memlock(entries, account, required)
    ]


def _old_limits(facts: Facts, policy: Policy) -> List[FileChange]:
    """Removes the drop-in of earlier releases, which Oracle's preinstallation package overrides."""
    text = unless_absent(facts.limits_files[OLD_LIMITS_FILE], None)
    if policy.limits_file == OLD_LIMITS_FILE or not (text or "").startswith(_HEADER):
        return []
    return [FileChange(OLD_LIMITS_FILE, None, text)]


def _limits_content(
    policy: Policy, users: Sequence[limits_probe.Account], required: Optional[int]
) -> str:
    value = "unlimited" if required is None else str(required)
    if policy.memlock == AUTO:
        # MemTotal varies slightly between boots: rounding up to GiB keeps the limit above 90%.
        value = str(-(-int(value) // 1048576) * 1048576)
    return _HEADER + "".join(
        f"{user.name} {kind} memlock {value}\n" for user in users for kind in ("soft", "hard")
    )


def _guard_limits(
    entries: List[limits_conf.Entry], path: str, user: limits_probe.Account
) -> Refusal:
    limits = limits_probe.limits_of(user, entries, "memlock")
    rivals = [
        limit_text(entry)
        for entry in (limits.exempt, limits.soft, limits.hard)
        if entry is not None and entry.path != path
    ]
    return Refusal(
        f"{path} would be overridden for {user.name}: {' and '.join(rivals)} is read later; remove "
        "it, or choose a hugepages_limits_file that is read after it",
        None,
        MEMLOCK,
    )


def _plan_transparent(facts: Facts, policy: Policy) -> Changes:
    if policy.transparent == UNMANAGED or isinstance(facts.thp_mode, Absent):
        return Changes()
    required, _because = wanted_transparent(facts, policy)
    mode = known(facts.thp_mode)
    at_boot = thp_probe.at_boot(facts.boot, facts.thp_default)
    at_boot.settled()
    step = Changes(
        values=[] if mode == required else [ValueChange(thp_probe.SYSFS, required, mode)]
    )
    if at_boot.winner is not None and at_boot.winner.value == required:
        return step
    path = policy.tmpfiles_file
    content = f"{_HEADER}w! {thp_probe.SYSFS} - - - - {required}\n"
    step = step._replace(files=[FileChange(path, content, unless_absent(facts.files[path], None))])
    off = known(facts.boot.tmpfiles_off)
    if off:
        reason = f"{path} would not be applied at boot: {off}; start the service at boot"
        return step._replace(refusals=[Refusal(reason, None, TRANSPARENT)])
    rivals = thp_probe.rivals(facts.boot, path)
    if not rivals:
        return step
    reason = (
        f"{path} would be overridden at boot: {', '.join(rivals)} also sets transparent huge "
        "pages; change it there, or set hugepages_transparent to unmanaged"
    )
    return step._replace(refusals=[Refusal(reason, None, TRANSPARENT)])


def _guard_pool(facts: Facts, policy: Policy, target: int) -> List[Refusal]:
    """Reasons why a pool of ``target`` pages would harm the host."""
    memory = human(known(facts.meminfo)["MemTotal"])
    pool = known(facts.pool)
    refusals = []
    if pool.page_size != wanted_page_size(facts, policy):
        reason = (
            f"the default huge page is {human(pool.page_size)}, the policy counts pages of "
            f"{human(policy.page_size)}: remove default_hugepagesz= from the kernel command line"
        )
        refusals.append(Refusal(reason, None, POOL))
    other_bytes = taken_most(facts)
    others = f", with {human(other_bytes)} of other huge pages" if other_bytes else ""
    requested = f"{in_pages(target)} ({human(target * pool.page_size)}{others})"
    if target > most_pages(facts, policy, 100):
        # No variable overrides this rejection, because the host could not boot.
        refusals.append(Refusal(f"{requested} do not fit into {memory} memory", None, POOL))
    elif target > most_pages(facts, policy):
        reason = (
            f"{requested} are more than {policy.memory_limit_percent} percent of {memory} memory"
        )
        refusals.append(Refusal(reason, "allow_over_memory_limit", POOL))
    if target < pool.committed and not policy.allow_shrink_below_use:
        reason = (
            f"{in_pages(pool.committed)} of the pool are in use or reserved, but the policy "
            f"requires a pool of {target}"
        )
        refusals.append(Refusal(reason, "allow_shrink_below_use", POOL))
    if policy.activation == "now":
        refusals += _guard_growth(facts, policy, target - pages_set(pool))
    return refusals


def room_problems(facts: Facts, policy: Policy, growth: int) -> List[str]:
    """Why the running kernel cannot give ``growth`` more pages now without harm."""
    return [refusal.reason.partition(":")[0] for refusal in _guard_growth(facts, policy, growth)]


def _guard_growth(facts: Facts, policy: Policy, growth: int) -> List[Refusal]:
    """Reasons against taking ``growth`` more pages from a running host."""
    refusals = []
    memory = known(facts.meminfo)
    size = known(facts.pool).page_size
    # Kernels before 3.14 have no MemAvailable: use MemFree. A missing row counts as 0.
    available = memory.get("MemAvailable", memory.get("MemFree", 0))
    if growth <= 0:
        return []
    if growth * size > available and not policy.allow_low_memory:
        reason = (
            f"{in_pages(growth)} more ({human(growth * size)}) exceed the {human(available)} of "
            "available memory: set hugepages_activation to auto, or free memory"
        )
        refusals.append(Refusal(reason, "allow_low_memory", POOL))
    order = (size // known(facts.base_page)).bit_length() - 1
    contiguous = buddyinfo.contiguous(known(facts.zones), order)
    if growth > contiguous and not policy.allow_compaction:
        reason = (
            f"only {contiguous} of {in_pages(growth)} more are available without memory "
            "compaction (which stalls a busy host): set hugepages_activation to auto"
        )
        refusals.append(Refusal(reason, "allow_compaction", POOL))
    return refusals
