# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans the pool, limits and transparent huge pages, and rejects plans that would harm the host."""

from typing import List, NamedTuple, Optional, Sequence, Tuple

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
from ...collect.answer import attempt, known, unless_absent
from ...errors import Absent
from ...evaluate.advice import apply_line, refusal_of
from ...parsers.size import human
from ...parsers.systemd import tmpfiles_d
from ...parsers.unix import getent, limits_conf
from ...probes.systemd import boot as boot_probe
from ...probes.unix import limits as limits_probe
from .capacity import most_pages, pages_set, pool_at_boot, taken_most
from .facts import POOL_FILE, SHM_GROUP_FILE, Facts
from .need import need
from .parsers import buddyinfo
from .policy import AUTO, NAME, UNMANAGED, Policy
from .probes import huge_page_pool as pool_probe
from .probes import transparent_hugepages as thp_probe
from .probes.huge_page_pool import in_pages
from .values import (
    NO_DATABASE,
    SHM_GROUP,
    groups_of,
    has_database,
    limit_text,
    wanted_memlock,
    wanted_page_size,
    wanted_transparent,
)

_HEADER = header(NAME)


#: Fix of a finding: a text and commands.
Remedy = Tuple[str, List[str]]


class Step(NamedTuple):
    """A part of the plan: changes, rejections, and texts about changes that take effect later."""

    files: Sequence[FileChange] = ()
    values: Sequence[ValueChange] = ()
    refusals: Sequence[Refusal] = ()
    pending: Sequence[str] = ()


def plan(facts: Facts, policy: Policy) -> Plan:
    """The changes that make the host match the policy. Raises if required facts are unknown."""
    known(facts.meminfo)
    target = _target_pages(facts, policy)
    steps = [
        _plan_sysctl(facts, policy, target),
        _plan_limits(facts, policy),
        _plan_transparent(facts, policy),
    ]
    files = [change for step in steps for change in step.files]
    values = [change for step in steps for change in step.values]
    refusals = [refusal for step in steps for refusal in step.refusals]
    pending = [words for step in steps for words in step.pending]
    if target is not None:
        refusals += _guard_pool(facts, policy, target)
    refusals += _guard_other_settings(files, policy)
    later = policy.activation == "reboot"
    if later and values:
        pending.append("A reboot sets: " + ", ".join(f"{v.path} = {v.value}" for v in values))
    if files:
        pending += [
            f"{instance.sid} keeps its limits and pages until it is restarted."
            for instance in known(facts.instances)
        ]
    if target is None and not (files or values or refusals or pending):
        return idle("No instance runs, and hugepages_instances lists none.")
    return Plan([*files, *([] if later else values)], refusals, pending, values if later else [])


def by_apply(facts: Facts, policy: Policy) -> Remedy:
    """(text, command) to apply the control, if apply would change something.

    If apply would reject the plan, the text contains its reasons."""
    planned = attempt(plan, facts, policy)
    reason = refusal_of(planned)
    if reason is not None:
        return reason, []
    if not known(planned).changes:
        return "the policy requires no change: see the other findings", []
    return "apply the control", [apply_line(NAME)]


def _target_pages(facts: Facts, policy: Policy) -> Optional[int]:
    """The pool to configure. None if no size is required.

    With "auto" only instances that are now on the host are known. The pool is never reduced then,
    because an instance that is now on another host can need it. It is also not reduced if the need
    is incomplete.
    """
    needed = need(facts, policy)
    if needed is None:
        return None
    if policy.instances is None or needed.unknown is not None:
        return max(needed.pages, pages_set(known(facts.pool)), pool_at_boot(facts).pages)
    return needed.pages


def _guard_other_settings(files: Sequence[FileChange], policy: Policy) -> List[Refusal]:
    """Rejections if a drop-in, which is replaced as a whole, contains settings of others."""
    refusals = []
    for change in files:
        if not (change.before or "").startswith(_HEADER):
            refusals += sysctl_file.lost_settings(change.path, _other_settings(change, policy))
    return refusals


def _other_settings(change: FileChange, policy: Policy) -> List[str]:
    """Settings in a file that this control does not manage."""
    text = change.before or ""
    if change.path == policy.sysctl_file:
        # sysctl_file has checked it.
        return []
    if change.path == policy.limits_file:
        entries = limits_conf.parse(text, change.path).entries
        return [f"{entry.domain} {entry.item}" for entry in entries if entry.item != "memlock"]
    return [
        line.target
        for line in tmpfiles_d.parse(text, change.path)
        if line.target != thp_probe.SYSFS
    ]


def _plan_sysctl(facts: Facts, policy: Policy, target: Optional[int]) -> Step:
    """The drop-in, and the values for the running kernel."""
    pool = known(facts.pool)
    size = pool.page_size
    sysctls: List[Sysctl] = []
    refusals: List[Refusal] = []
    if has_database(facts, policy) and policy.group is not None:
        if isinstance(facts.group, Absent):
            reason = f"the host has no group {policy.group}: create it, or set hugepages_group to "
            refusals.append(Refusal(reason + "the group of the instances' owner", None))
        else:
            group = known(facts.group)
            now = str(known(facts.shm_group))
            sysctls.append(Sysctl(SHM_GROUP, SHM_GROUP_FILE, str(group.gid), now))
            refusals += _guard_group(facts, group)
    if target is not None:
        files = pool_probe.sysfs_files(size)
        now = str(pages_set(pool))
        sysctls.append(Sysctl(pool_probe.KEY, POOL_FILE, str(target), now, files))
    path = policy.sysctl_file
    before = unless_absent(facts.files[path], None)
    planned = sysctl_file.plan(
        facts.boot,
        sysctl_file.File(path, _HEADER, before, "hugepages_sysctl_file"),
        sysctls,
        at_boot=lambda boot, key: _at_boot(boot, key, size),
    )
    return Step(planned.files, planned.values, refusals + planned.refusals)


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
        instance.sid for instance in known(facts.instances) if group.gid not in groups_of(instance)
    ]
    if not outsiders:
        return []
    reason = (
        f"{', '.join(outsiders)} does not run with the group {group.name} and would get no huge "
        "pages at its next start: set hugepages_group to a group that every owner is in, then "
        "restart it"
    )
    return [Refusal(reason, None)]


def _plan_limits(facts: Facts, policy: Policy) -> Step:
    """The drop-in with memlock limits for accounts that no other file grants enough."""
    if not has_database(facts, policy):
        return Step(pending=[NO_DATABASE + " The pool and memlock stay as they are."])
    if policy.memlock is None:
        return Step()
    accounts = known(facts.accounts)
    pending = [
        f"The host has no account {user}: its memlock limit waits for the account."
        for user in policy.users
        if user not in accounts
    ]
    required = wanted_memlock(facts, policy)
    entries = known(facts.limit_entries)
    if all(
        limits_probe.grants_memlock(entries, account, required) for account in accounts.values()
    ):
        return Step(pending=pending)
    path = policy.limits_file
    # Accounts with a sufficient limit in another file are excluded: the drop-in could lower it.
    others = limits_probe.with_file(entries, path, "")
    users = [
        accounts[user]
        for user in sorted(accounts)
        if not limits_probe.grants_memlock(others, accounts[user], required)
    ]
    content = _limits_content(policy, users, required)
    later = limits_probe.with_file(entries, path, content)
    return Step(
        files=[FileChange(path, content, unless_absent(facts.files[path], None))],
        refusals=[
            _guard_limits(later, path, user)
            for user in users
            if not limits_probe.grants_memlock(later, user, required)
        ],
        pending=pending,
    )


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
    )


def _plan_transparent(facts: Facts, policy: Policy) -> Step:
    if policy.transparent == UNMANAGED or isinstance(facts.thp_mode, Absent):
        return Step()
    required, _because = wanted_transparent(facts, policy)
    mode = known(facts.thp_mode)
    at_boot = thp_probe.at_boot(facts.boot, facts.thp_default)
    at_boot.settled()
    step = Step(values=[] if mode == required else [ValueChange(thp_probe.SYSFS, required, mode)])
    if at_boot.winner is not None and at_boot.winner.value == required:
        return step
    path = policy.tmpfiles_file
    content = f"{_HEADER}w! {thp_probe.SYSFS} - - - - {required}\n"
    step = step._replace(files=[FileChange(path, content, unless_absent(facts.files[path], None))])
    off = known(facts.boot.tmpfiles_off)
    if off:
        reason = f"{path} would not be applied at boot: {off}; start the service at boot"
        return step._replace(refusals=[Refusal(reason, None)])
    rivals = thp_probe.rivals(facts.boot, path)
    if not rivals:
        return step
    reason = (
        f"{path} would be overridden at boot: {', '.join(rivals)} also sets transparent huge "
        "pages; change it there, or set hugepages_transparent to unmanaged"
    )
    return step._replace(refusals=[Refusal(reason, None)])


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
        refusals.append(Refusal(reason, None))
    other_bytes = taken_most(facts)
    others = f", with {human(other_bytes)} of other huge pages" if other_bytes else ""
    requested = f"{in_pages(target)} ({human(target * pool.page_size)}{others})"
    if target > most_pages(facts, policy, 100):
        # No variable overrides this rejection, because the host could not boot.
        refusals.append(Refusal(f"{requested} do not fit into {memory} memory", None))
    elif target > most_pages(facts, policy):
        reason = (
            f"{requested} are more than {policy.memory_limit_percent} percent of {memory} memory"
        )
        refusals.append(Refusal(reason, "allow_over_memory_limit"))
    if target < pool.committed and not policy.allow_shrink_below_use:
        reason = (
            f"{in_pages(pool.committed)} of the pool are in use or reserved, but the policy "
            f"requires a pool of {target}"
        )
        refusals.append(Refusal(reason, "allow_shrink_below_use"))
    if policy.activation == "now":
        refusals += _guard_growth(facts, policy, target - pages_set(pool))
    return refusals


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
            "available memory: set hugepages_activation to reboot, or free memory"
        )
        refusals.append(Refusal(reason, "allow_low_memory"))
    order = (size // known(facts.base_page)).bit_length() - 1
    contiguous = buddyinfo.contiguous(known(facts.zones), order)
    if growth > contiguous and not policy.allow_compaction:
        reason = (
            f"only {contiguous} of {in_pages(growth)} more are available without memory "
            "compaction, which stalls a busy host: set hugepages_activation to reboot"
        )
        refusals.append(Refusal(reason, "allow_compaction"))
    return refusals
