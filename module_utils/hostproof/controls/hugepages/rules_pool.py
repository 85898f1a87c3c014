# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the pool's size, now and after reboot: large enough, and not too large."""

import re
from typing import List, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...collect.shell import line
from ...errors import HostproofError
from ...evaluate.advice import Advice, Apply, Ask, Step, Wait
from ...evaluate.checking import Layer, Rules, Skip, Verdict, failing, layered
from ...evaluate.finding import FAIL, PASS, WARN, status_for
from ...parsers.kernel import meminfo
from ...parsers.size import human
from ...probes.oracle import next_start
from .capacity import Taken, most_pages, pages_set, pool_at_boot, taken_at_boot, taken_now
from .facts import Facts
from .need import Need, least_need, need, pages_of, pages_that_run
from .plan import POOL, room_problems
from .policy import AUTO, NAME, Policy
from .policy_values import NO_DATABASE, has_database
from .probes.huge_page_pool import PoolAtBoot, in_pages
from .subjects import BOOT, INSTALLATION, KERNEL, MEMINFO, PMON

rules: Rules[Facts, Policy] = Rules(NAME)

#: One page may be missing, or one in as many: MOS 401749.1 rounds each segment up by one.
_SLIGHT = 1000

#: CVU requires huge pages above it.
_LITTLE_MEMORY = 4 << 30
#: More percent of memory in huge pages is a failure, unless so much memory is left (a choice, as
#: hugepages_memory_limit_percent).
_NO_ROOM = 85
_ROOM = 32 << 30


@rules.check(
    "hugepages.pool_covers_sga",
    "Huge page pool covers every SGA",
    "Huge page pool is too small for the SGA",
    severity="critical",
    takes_effect="instance_restart",
    why="The SGA falls back to 4 KiB pages, or the instance does not start (USE_LARGE_PAGES=ONLY).",
    reference="MOS 401749.1; Oracle Database Reference, USE_LARGE_PAGES",
    because_of=("hugepages.page_size",),
)
def pool_covers_sga(facts: Facts, policy: Policy) -> Verdict:
    pool = known(facts.pool)
    pages = pages_set(pool)
    needed = attempt(need, facts, policy)
    if isinstance(needed, HostproofError):
        # The next starts of the running databases can already exceed the pool.
        least = least_need(facts, policy, pool.page_size)
        needed = known(needed) if least.pages <= pages else least
    if needed is None:
        raise Skip(NO_DATABASE)
    at_boot = attempt(pool_at_boot, facts)
    return _judge_covers(facts, policy, pool, needed, at_boot)._replace(
        desired=needed.text,
        persisted="unknown" if isinstance(at_boot, HostproofError) else at_boot.text(),
        running=in_pages(pool.total) + (f" ({pool.surp} of them surplus)" if pool.surp else ""),
        in_use=f"{pool.committed} of {in_pages(pool.total)} committed (total {pool.total} - free "
        f"{pool.free} + reserved {pool.rsvd})",
        evidence=MEMINFO + PMON + _segments_evidence(policy) + _start_evidence(facts),
        values={"needed": needed.pages, "pool": pages, "unit": "pages"},
    )


def _judge_covers(
    facts: Facts, policy: Policy, pool: meminfo.Pool, needed: Need, at_boot: Answer[PoolAtBoot]
) -> Verdict:
    pages = pages_set(pool)
    if pages < needed.enough:
        is_right_later = isinstance(at_boot, PoolAtBoot) and at_boot.pages >= needed.enough
        return Verdict(
            WARN if _is_slight(needed, pages) else FAIL,
            _cost_of_small_pages(facts, needed, pages),
            failing_layer="running",
            wrong=frozenset(["running"] if is_right_later else ["running", "persisted"]),
            right=frozenset(["persisted"] if is_right_later else []),
            advice=_advice_of_pool(facts, policy, needed),
        )
    held = _held_by_others(facts, pool)
    if pages - held < needed.enough:
        return Verdict(
            FAIL if pages - held < needed.used else WARN,
            f"{in_pages(held)} of the pool are used by programs other than running instances.",
            "find the program that uses the pages, or enlarge the pool",
            ["grep -l huge /proc/[0-9]*/numa_maps"],
            failing_layer="in_use",
        )
    known(needed.unknown)
    missing = needed.enough + needed.stopped - pages + held
    return Verdict(
        WARN if missing > 0 else PASS,
        f"{in_pages(missing)} more are missing if all instances in oratab that are down start.",
        "list the instances that the host must be ready for in hugepages_instances",
    )


def _is_slight(needed: Need, pages: int) -> bool:
    """Whether only a margin is missing, or so little that an instance takes it in small pages
    (MOS 1392497.1).

    A next start that certainly takes more is not slight."""
    if pages >= needed.used:
        return True
    missing = needed.pages - pages
    return not needed.only and not needed.raised and missing * _SLIGHT <= max(needed.pages, _SLIGHT)


def _held_by_others(facts: Facts, pool: meminfo.Pool) -> int:
    """Pages that are used or reserved by other programs than the running instances."""
    held = 0
    for instance in known(facts.instances):
        if isinstance(instance.segments, HostproofError):
            # Without root only their maximum is known: all segments in huge pages.
            held = pages_that_run(facts, pool.page_size).pages
            break
        huge = [segment for segment in instance.segments if segment.huge]
        held += pages_of(huge, pool.page_size).pages
    return int(max(pool.committed - held, 0))


def _cost_of_small_pages(facts: Facts, needed: Need, pages: int) -> str:
    missing = f"{in_pages(needed.pages - pages)} of {needed.pages} are missing"
    if needed.raised:
        missing += ": " + "; ".join(needed.raised)
    if pages >= needed.used:
        return (
            f"{missing}. The SGAs fit: the missing pages are the margin of "
            "hugepages_extra_pages_per_instance and hugepages_spare_pages."
        )
    if needed.only:
        return missing + ". With use_large_pages=ONLY the start fails (ORA-27102, ORA-27125)."
    page_tables = known(facts.meminfo).get("PageTables")
    cost = f"each process that touches all of it costs {human(needed.sga // 512)} of page tables"
    now = "" if page_tables is None else f" (PageTables is {human(page_tables)} now)"
    return f"{missing}; in 4 KiB pages {cost}{now}."


def _segments_evidence(policy: Policy) -> Tuple[str, ...]:
    """The segments of the host count where no instance is listed."""
    return ("file:/proc/sysvipc/shm",) if policy.instances is None else ()


def _start_evidence(facts: Facts) -> Tuple[str, ...]:
    return tuple(
        key
        for database in if_known(facts.databases, [])
        for key in next_start.evidence_of(database)
    )


@rules.check(
    "hugepages.reserved",
    "Huge pages are reserved before the first instance starts",
    "No huge pages are reserved for the planned database",
    severity="medium",
    takes_effect="now",
    why="An instance that is created without huge pages gets an SGA in 4 KiB pages. CVU warns "
    "above 4 GiB of memory.",
    reference="Cluster Verification Utility, PRVE-00021; "
    + INSTALLATION
    + ", Configuring HugePages",
)
def reserved(facts: Facts, policy: Policy) -> Verdict:
    memory = known(facts.meminfo)["MemTotal"]
    if policy.profile is None:
        raise Skip("hostproof_profile plans no database on this host.", MEMINFO)
    if has_database(facts, policy):
        raise Skip(
            "hugepages.pool_covers_sga compares the pool with the SGA of the instances.", MEMINFO
        )
    if memory <= _LITTLE_MEMORY:
        raise Skip(f"The host has {human(memory)} of memory, and CVU requires them above 4 GiB.")
    pool, at_boot = known(facts.pool), pool_at_boot(facts)
    missing = [pool.total == 0, at_boot.pages == 0]
    if not any(missing):
        at_boot.settled()
    return Verdict(
        WARN if any(missing) else PASS,
        f"The pool has {in_pages(pool.total)} now and {at_boot.pages} after a reboot. The required "
        "number depends on the SGA, which hugepages_instances does not state.",
        fix="list the planned instances with their SGA in hugepages_instances, and apply the "
        "control",
        desired="at least one page, now and after a reboot",
        persisted=at_boot.text(),
        running=in_pages(pool.total),
        evidence=MEMINFO + BOOT,
        failing_layer=failing(running=missing[0], persisted=missing[1]),
    )


@rules.check(
    "hugepages.pool_persisted",
    "Huge page pool persists across reboots",
    "Huge page pool is too small or changes at the next reboot",
    severity="high",
    takes_effect="reboot",
    why="A pool that is set only in the running kernel is lost at reboot, and another file can "
    "override a persistent setting. The SGA then falls back to 4 KiB pages.",
    reference="sysctl.d(5), CONFIGURATION DIRECTORIES AND PRECEDENCE; " + KERNEL,
    because_of=("hugepages.single_source",),
)
def pool_persisted(facts: Facts, policy: Policy) -> Verdict:
    at_boot = pool_at_boot(facts)
    pool = known(facts.pool)
    needed = need(facts, policy)
    running = pages_set(pool)
    least = 0 if needed is None else needed.pages
    status = PASS if at_boot.pages == running else WARN
    why = f"A reboot changes the pool from {in_pages(running)} to {at_boot.pages}."
    if needed is not None and at_boot.pages < needed.enough:
        status = WARN if _is_slight(needed, at_boot.pages) else FAIL
        why = f"A reboot makes {in_pages(at_boot.pages)}, {least - at_boot.pages} too few."
    else:
        at_boot.settled()
        known(None if needed is None else needed.unknown)
    waits = _waits_for_reboot(at_boot, running, needed, policy)
    return layered(
        persisted=Layer(at_boot.text(), PASS if waits else status),
        running=Layer(in_pages(pool.total), status if waits else PASS),
        why=why,
        advice=Advice(
            persisted=_steps_of_persisted(facts, policy, at_boot, needed),
            running=[Wait("reboot")],
        ),
        desired=needed.text if needed is not None else "as the running kernel has it",
        values={"running": running, "next_boot": at_boot.pages, "least": least, "unit": "pages"},
        evidence=BOOT + _place_evidence(at_boot.place) + MEMINFO,
    )


def _waits_for_reboot(
    at_boot: PoolAtBoot, running: int, needed: Optional[Need], policy: Policy
) -> bool:
    """Whether the setting is right and only the reboot is missing."""
    if needed is None:
        is_ours = (at_boot.place or "").startswith(policy.sysctl_file + ":")
        return is_ours and at_boot.pages > running
    return at_boot.pages > running and at_boot.pages >= needed.enough > running


def _advice_of_pool(facts: Facts, policy: Policy, needed: Need) -> Advice:
    """The steps for a pool that is too small. They never propose what apply would reject."""
    small = _too_small_for(facts, policy, needed)
    if small is not None:
        return Advice([small], running=[small])
    restart = Wait("instance_restart")
    more = attempt(room_problems, facts, policy, needed.pages - pages_set(known(facts.pool)))
    if policy.activation == "reboot" or (policy.activation == AUTO and if_known(more, [])):
        return Advice([_apply(needed), Wait("reboot")], running=[Wait("reboot")])
    return Advice([_apply(needed), restart], running=[_apply(needed), restart])


def _apply(needed: Need) -> Apply:
    return Apply(NAME, POOL, f"the pool must have {in_pages(needed.pages)}")


def _too_small_for(facts: Facts, policy: Policy, needed: Need) -> Optional[Step]:
    """The step if the host has too little memory for the pool."""
    page = known(facts.pool).page_size
    # If other huge pages are unknown, assume none: the result is an upper limit.
    share = 100 if policy.allow_over_memory_limit else policy.memory_limit_percent
    whole = known(facts.meminfo)["MemTotal"] * share // 100 // page
    most = if_known(attempt(most_pages, facts, policy), whole)
    if needed.pages <= most:
        return None
    smaller = (
        "reduce hugepages_spare_pages or hugepages_extra_pages_per_instance"
        if needed.used <= most
        else "make the SGAs smaller (sga_max_size and sga_target), or add memory"
    )
    return Ask(
        f"the host has memory for at most {in_pages(most)} ({human(most * page)}): {smaller}"
    )


def _steps_of_persisted(
    facts: Facts, policy: Policy, at_boot: PoolAtBoot, needed: Optional[Need]
) -> List[Step]:
    place = _fix_of_place(at_boot)
    if needed is None:
        running = pages_set(known(facts.pool))
        where = at_boot.place or policy.sysctl_file
        default = f"put 'vm.nr_hugepages = {running}', as the kernel has it, into {where}"
        if where.startswith("kernel command line"):
            default = f"set hugepages={running}, as the kernel has it, on the kernel command line"
        return [Ask(place if at_boot.refused and place else default)]
    small = _too_small_for(facts, policy, needed)
    if small is not None:
        return [small]
    return [*([Ask(place)] if place else []), _apply(needed)]


def _fix_of_place(at_boot: PoolAtBoot) -> Optional[str]:
    """The fix where the kernel rejects a setting. None without such a place."""
    if at_boot.refused:
        refused = (text.partition(" (the kernel rejects it")[0] for text in at_boot.refused)
        rejected = " and ".join(refused)
        return f"set vm.nr_hugepages to a number that the kernel accepts instead of {rejected}"
    return None


def _place_evidence(place: Optional[str]) -> Tuple[str, ...]:
    """The evidence key of "/path:line"."""
    if place is None or not place.startswith("/"):
        return ()
    return ("file:" + place.rsplit(":", 1)[0],)


@rules.check(
    "hugepages.single_source",
    "Only one place sets the huge page pool",
    "Several places set the huge page pool",
    severity="medium",
    takes_effect="reboot",
    why="An update or a TuneD profile switch can change which value applies.",
    reference="sysctl.d(5); tuned-main.conf(5), reapply_sysctl",
)
def single_source(facts: Facts, policy: Policy) -> Verdict:
    at_boot = pool_at_boot(facts)
    count = len(at_boot.losers) + bool(at_boot.place)
    profile = known(facts.boot.tuned).names
    if not at_boot.losers:
        at_boot.settled()
    return Verdict(
        WARN if at_boot.losers else PASS,
        why=f"{count} places set the pool; {at_boot.place or 'none'} is effective.",
        fix=_fix_of_owners(at_boot, if_known(attempt(need, facts, policy), None)),
        commands=_show_losers(at_boot.losers),
        desired="at most one place",
        persisted=at_boot.text(),
        running="tuned profile " + " ".join(profile) if profile else "no tuned profile",
        evidence=BOOT + _place_evidence(at_boot.place) + ("file:/etc/tuned/active_profile",),
        failing_layer="persisted",
    )


def _fix_of_owners(at_boot: PoolAtBoot, needed: Optional[Need]) -> str:
    """The fix for several settings. An overridden setting can be the right one, so remove it only
    if the effective one is large enough."""
    losers = ", ".join(at_boot.losers)
    if needed is None or needed.unknown is not None:
        return f"keep the one with the number that the host needs, and remove the others: {losers}"
    if at_boot.pages < needed.enough:
        places = f"{at_boot.place}, {losers}" if at_boot.place else losers
        return (
            f"{at_boot.place or 'no place'} is effective and sets {in_pages(at_boot.pages)}, "
            f"{needed.pages} are needed: keep one place with that number of {places}; remove the "
            "others"
        )
    return "remove the setting from: " + losers


def _show_losers(losers: List[str]) -> List[str]:
    """Commands that show the setting in the files of the overridden places."""
    paths: List[str] = []
    for loser in losers:
        place = loser.partition(" = ")[0]
        if place.startswith("tuned profile "):
            place = place[len("tuned profile ") :]
        path = re.sub(":[0-9]+$", "", place)
        if path.startswith("/") and path not in paths:
            paths.append(path)
    return [line("grep", "-n", "nr_hugepages", path) for path in paths]


@rules.check(
    "hugepages.ram_share",
    "Huge page pool leaves enough memory for the host",
    "Huge page pool takes too much memory",
    severity="high",
    takes_effect="now",
    why="PGA, processes and page cache run short of memory. The host swaps, then the OOM "
    "killer ends processes.",
    reference="Hostproof, hugepages_memory_limit_percent: a choice, not a value of Oracle",
)
def ram_share(facts: Facts, policy: Policy) -> Verdict:
    memory = known(facts.meminfo)["MemTotal"]
    pool = known(facts.pool)
    limit = memory * policy.memory_limit_percent // 100
    beside = taken_now(facts)
    at_boot = attempt(pool_at_boot, facts)
    beside_later = attempt(taken_at_boot, facts)
    needed = attempt(need, facts, policy)
    unknown = [answer for answer in (at_boot, beside_later) if isinstance(answer, HostproofError)]
    # The known part is a minimum of the pool after reboot.
    later_beside = if_known(beside_later, Taken(0, 0))
    later_pages = 0 if isinstance(at_boot, HostproofError) else at_boot.pages
    now = pool.total * pool.page_size + beside.total
    later = later_pages * pool.page_size + later_beside.total
    # The need of the policy and the running instances; pool_covers_sga checks the next starts.
    required = 0
    if isinstance(needed, Need):
        required = needed.now * pool.page_size + max(beside.total, later_beside.total)
    sizes = {
        "huge pages now": now,
        "huge pages after reboot": later,
        "huge pages that policy and instances require": required,
    }
    over = [words for words, size in sizes.items() if size > limit]
    if not over:
        # A known part that is too large fails, even if the rest is unknown.
        known(at_boot).settled()
        known(beside_later).settled()
        known(needed)
    most = attempt(most_pages, facts, policy, policy.memory_limit_percent)
    taken = max(sizes.values())
    has_no_room = taken * 100 > memory * _NO_ROOM and memory - taken < _ROOM
    return Verdict(
        status_for(has_no_room, over),
        why=f"Too much of memory: {', '.join(over)}. {ram_share.check.why}",
        fix=_fix_of_share(pool, most, beside, required),
        desired=f"at most {policy.memory_limit_percent} percent of memory ({human(limit)})",
        persisted="unknown" if unknown else _share(later, memory) + later_beside.text(),
        running=_share(now, memory) + beside.text(),
        in_use=None if not required else _share(required, memory) + " requested",
        evidence=MEMINFO + BOOT,
        values={
            "limit": limit,
            "now": now,
            "next_boot": None if unknown else later,
            "wanted": required,
            "unit": "bytes",
        },
        failing_layer=failing(running=now > limit, persisted=later > limit) or "in_use",
    )


def _fix_of_share(pool: meminfo.Pool, most: Answer[int], beside: Taken, required: int) -> str:
    words = []
    if beside.others:
        words.append("free the pages of other sizes (hugepagesz= on the kernel command line)")
    if beside.beyond:
        words.append("forbid surplus pages (vm.nr_overcommit_hugepages=0)")
    if isinstance(most, int) and most * pool.page_size < required:
        words.append(f"make the SGAs smaller: the pool can have at most {in_pages(most)}")
    elif isinstance(most, int):
        words.append(f"reduce the pool to at most {in_pages(most)}")
    return ", or ".join(filter(None, (" and ".join(words), "add memory")))


def _share(size: int, memory: int) -> str:
    return f"{100.0 * size / memory:.0f} percent ({human(size)})"


@rules.check(
    "hugepages.pool_not_wasted",
    "Huge page pool is not larger than required",
    "Huge page pool is larger than required",
    severity="medium",
    takes_effect="now",
    why="Huge pages that no SGA uses are not available to anything else on the host.",
    reference=INSTALLATION + ", Configuring HugePages; " + KERNEL,
)
def pool_not_wasted(facts: Facts, policy: Policy) -> Verdict:
    pool = known(facts.pool)
    needed = need(facts, policy)
    required = needed.pages + needed.stopped if needed is not None else 0
    kept = max(required, pool.committed)
    surplus = pool.total - kept
    # A smaller surplus is caused by the rounding of segments and granules.
    allowed = max(required * policy.surplus_limit // 100, policy.spare_pages)
    wasteful = surplus > allowed
    if wasteful and needed is not None:
        known(needed.unknown)  # the surplus can be the need of an unknown next start
    return Verdict(
        WARN if wasteful else PASS,
        f"{in_pages(surplus)} ({human(surplus * pool.page_size)}) are not required.",
        advice=_smaller_pool(policy, kept),
        wrong=frozenset(["running"]),
        desired=f"at most {in_pages(kept + allowed)}",
        running=in_pages(pool.total),
        in_use=f"{pool.committed} committed, {in_pages(pool.unpromised)} neither used nor reserved",
        values={"pool": pool.total, "wanted": kept, "surplus": surplus, "unit": "pages"},
        evidence=MEMINFO + PMON,
        failing_layer="running",
    )


def _smaller_pool(policy: Policy, kept: int) -> Advice:
    """The fix for a pool that is too large. An instance that is not listed can need its pages."""
    if policy.instances is None:
        step: Step = Ask(
            f"list every instance of this host in hugepages_instances; if {in_pages(kept)} cover "
            "them, apply the control to reduce the pool"
        )
    else:
        step = Apply(NAME, POOL, f"the pool can have {in_pages(kept)}")
    return Advice([step])
