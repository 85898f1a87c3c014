# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of running SGAs: their page size, and the cost of page tables."""

from typing import Optional

from ...collect.answer import attempt, if_known, known
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.size import human
from ...probes.oracle import instances as instances_probe
from ...probes.oracle import next_start
from ...probes.oracle.instances import Instance
from ...probes.oracle.next_start import Database
from .facts import Facts
from .policy import NAME, Policy
from .subjects import INSTANCES, MEMINFO

rules = Rules(NAME)

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
def sga_in_huge_pages(instance: Instance, facts: Facts, _policy: Policy) -> Verdict:
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
    return Verdict(
        status,
        why=why,
        fix=_fix_of_parameter(instance, database)
        + f"check hugepages.pool_covers_sga, memlock and shm_group, then restart {instance.sid}; "
        "its alert log shows requested and allocated pages",
        desired=f"{human(huge + small)} in huge pages" if huge + small else "in huge pages",
        in_use=f"{huge} bytes huge, {small} bytes in 4 KiB pages",
        values={"huge": huge, "small": small, "unit": "bytes"},
    )


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
    return f"first remove use_large_pages=FALSE from {instance.sid}: {how}; then "


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
        fix="in the spfile reset MEMORY_TARGET and MEMORY_MAX_TARGET (do not set them to 0: "
        "ORA-00849), set SGA_TARGET and PGA_AGGREGATE_TARGET, restart",
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
