# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of running SGAs: their page size, and the cost of page tables."""

from typing import Dict, List, Optional

from ...collect.answer import attempt, if_known, known
from ...errors import HostproofError
from ...evaluate.advice import Advice, Ask, Step, Wait
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.size import human
from ...probes.oracle import instances as instances_probe
from ...probes.oracle import next_start
from ...probes.oracle.instances import Instance
from ...probes.oracle.next_start import Database
from .capacity import pages_set
from .facts import Facts
from .need import need
from .policy import NAME, Policy
from .policy_values import may_use, requires_group
from .subjects import INSTANCES, MEMINFO

rules: Rules[Facts, Policy] = Rules(NAME)

#: Share of memory above which page tables are a finding.
PAGE_TABLES_SHARE = 0.01


@rules.check(
    "hugepages.sga_in_huge_pages",
    "Running SGA is in huge pages",
    "Running SGA is partly or entirely in 4 KiB pages",
    severity="critical",
    takes_effect="instance_restart",
    why="Every process needs page tables for the SGA, and the unused pool is wasted memory.",
    reference="proc(5), /proc/PID/numa_maps; Oracle Database Reference, USE_LARGE_PAGES",
    each=INSTANCES,
    because_of=(
        "hugepages.pool_covers_sga",
        "hugepages.shm_group",
        "hugepages.memlock_in_force",
        "hugepages.no_amm",
        "pre_page_sga.memory_target",
    ),
)
def sga_in_huge_pages(instance: Instance, facts: Facts, policy: Policy) -> Verdict:
    pages = instances_probe.sga_pages(known(instance.segments), known(facts.pool).page_size)
    huge, small = pages.huge, pages.small
    status = WARN if instance.kind == "asm" and not huge else FAIL
    why = f"The whole SGA ({human(small)}) is in 4 KiB pages."
    if not huge + small:
        why = "It has no SysV segment of a huge page or more: Automatic Memory Management?"
    elif huge and small:
        why = f"{human(small)} of the SGA fell back to 4 KiB pages, {human(huge)} are huge."
    elif huge:
        status = PASS
    database = _database_of(instance, facts)
    if not huge and database is not None and next_start.runs_without_large_pages(database):
        why = f"It runs with use_large_pages=FALSE: {why[0].lower()}{why[1:]}"
    causes = _causes(instance, facts, policy, huge + small)
    return Verdict(
        status,
        why=why,
        advice=Advice(in_use=_steps_of_sga(instance, database, causes)),
        wrong=frozenset(["in_use"]),
        because_of=tuple(
            check for check in sga_in_huge_pages.check.because_of if causes.get(check) is not False
        ),
        desired=f"{human(huge + small)} in huge pages" if huge + small else "in huge pages",
        in_use=f"{huge} bytes huge, {small} bytes in 4 KiB pages",
        values={"huge": huge, "small": small, "unit": "bytes"},
    )


#: What keeps an SGA out of huge pages, in the order in which it is corrected without an outage.
_CAUSES = {
    "hugepages.memlock_in_force": "allow memlock where it is started",
    "hugepages.shm_group": "set the group that may use huge pages",
    "hugepages.no_amm": "end Automatic Memory Management",
    "hugepages.pool_covers_sga": "size the pool",
}


def _causes(
    instance: Instance, facts: Facts, policy: Policy, sga: int
) -> Dict[str, Optional[bool]]:
    """Whether each of _CAUSES keeps this SGA out of huge pages; None: not known."""
    limits = if_known(instance.limits, {}).get("Max locked memory")
    soft = None if limits is None else limits.soft
    covers = attempt(_pool_covers, facts, policy)
    group = attempt(_is_outside, instance, facts)
    return {
        "hugepages.memlock_in_force": None if limits is None else soft is not None and soft < sga,
        "hugepages.shm_group": if_known(group, None),
        "hugepages.no_amm": not sga,
        "hugepages.pool_covers_sga": None if isinstance(covers, HostproofError) else not covers,
    }


def _pool_covers(facts: Facts, policy: Policy) -> bool:
    needed = need(facts, policy)
    return needed is not None and pages_set(known(facts.pool)) >= needed.enough


def _is_outside(instance: Instance, facts: Facts) -> bool:
    """Whether the kernel requires the group, and the instance is not in it."""
    if not requires_group(known(facts.release)):
        return False
    return not may_use(instance, known(facts.shm_group))


def _steps_of_sga(
    instance: Instance, database: Optional[Database], causes: Dict[str, Optional[bool]]
) -> List[Step]:
    parameter = _fix_of_parameter(instance, database)
    steps: List[Step] = [Ask(parameter)] if parameter else []
    steps += [Ask(f"{_CAUSES[cause]} ({cause})") for cause in _CAUSES if causes[cause]]
    if not steps:
        steps = [Ask("compare its alert log, which shows requested and allocated pages")]
    return [*steps, Wait("instance_restart", instance.sid)]


def _database_of(instance: Instance, facts: Facts) -> Optional[Database]:
    databases = [
        database for database in if_known(facts.databases, []) if database.running is instance
    ]
    return databases[0] if databases else None


def _fix_of_parameter(instance: Instance, database: Optional[Database]) -> str:
    """The first step of the fix if a parameter of the instance disables huge pages."""
    if database is None:
        return ""
    refuses = if_known(attempt(next_start.refuses_large_pages, database), False)
    if not refuses:
        return ""
    how = next_start.change_of_parameter(database, "use_large_pages", "TRUE")
    return f"remove use_large_pages=FALSE from {instance.sid}: {how}"


@rules.check(
    "hugepages.no_amm",
    "Automatic Memory Management is not in use",
    "Automatic Memory Management is in use",
    severity="high",
    takes_effect="instance_restart",
    why="The instance cannot use huge pages and the pool stays unused (ORA-00845, ORA-27138).",
    reference="Oracle Database Reference, USE_LARGE_PAGES; ORA-27138",
    because_of=("pre_page_sga.memory_target",),
)
def no_amm(facts: Facts, policy: Policy) -> Verdict:
    names = known(facts.amm_files)
    pool = known(facts.pool)
    status = PASS
    if names:
        status = FAIL if pool.total or policy.instances else WARN
    return Verdict(
        status,
        fix="size the pool for the SGA first (hugepages.pool_covers_sga); then in the spfile reset "
        "MEMORY_TARGET and MEMORY_MAX_TARGET (do not set them to 0: ORA-00849), and set SGA_TARGET "
        "and PGA_AGGREGATE_TARGET; then restart the instance",
        desired="no /dev/shm/ora_* files",
        in_use=f"{len(names)} files, such as {names[0]}" if names else "none",
        evidence=["dir:/dev/shm"],
    )


@rules.check(
    "hugepages.page_table_cost",
    "Page tables use at most 1% of memory",
    "Page tables use more than 1% of memory",
    severity="medium",
    takes_effect="instance_restart",
    why="Memory is lost to page tables: with 4 KiB pages, each process needs 1/512 of the SGA "
    "that it touches.",
    reference="proc(5), /proc/meminfo PageTables",
    because_of=("hugepages.sga_in_huge_pages",),
)
def page_table_cost(facts: Facts, policy: Policy) -> Verdict:
    memory = known(facts.meminfo)
    if "PageTables" not in memory:
        raise Skip("The kernel does not report PageTables.")
    now, total = memory["PageTables"], memory["MemTotal"]
    return Verdict(
        WARN if now > total * PAGE_TABLES_SHARE else PASS,
        why=f"Page tables take {100.0 * now / total:.1f} percent of memory.",
        fix="put the SGA in huge pages (hugepages.sga_in_huge_pages)",
        desired=f"at most {human(int(total * PAGE_TABLES_SHARE))} (1% of memory)",
        running=human(now),
        in_use=_cost_if_small(facts, policy),
        values={"page_tables": now, "memory": total, "unit": "bytes"},
        evidence=MEMINFO + ("file:/proc/sysvipc/shm",),
        failing_layer="running",
    )


def _cost_if_small(facts: Facts, policy: Policy) -> Optional[str]:
    """Size of page tables with 4 KiB pages: processes x SGA / 512."""
    uids = {instance.uid for instance in if_known(facts.instances, [])}
    segments = if_known(facts.segments, [])
    cost = sum(segment.nattch * segment.size // 512 for segment in segments if segment.uid in uids)
    if cost:
        return f"with 4 KiB pages it would be up to {human(cost)} (processes attached x SGA / 512)"
    sga = sum(instance.sga for instance in policy.instances or ())
    if not sga:
        return None
    return f"with 4 KiB pages {human(sga // 512)} for each process that touches the whole SGA"
