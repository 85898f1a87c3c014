# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of memory: what databases, kernel and page cache take if all limits are reached.

Sources: Oracle Database Reference, PGA_AGGREGATE_LIMIT, PGA_AGGREGATE_TARGET and PROCESSES; ORAchk,
"Verify database memory allocation is not greater than physical memory" (two times the target, three
times for 11g); kernel Documentation/mm/page_tables.rst (8 bytes for each page); proc(5),
/proc/meminfo.
"""

from typing import Callable, List, NamedTuple, Optional, Tuple, TypeVar

from ...collect.answer import attempt, if_known, known
from ...errors import HostproofError, Unanswered
from ...parsers.kernel import meminfo
from ...probes.oracle import instances, next_start
from ...probes.oracle.next_start import Database
from .facts import Facts

T = TypeVar("T")
PARTS = ("huge_pages", "sga", "pga", "processes", "kernel", "page_cache")

_MIB, _GIB = 1 << 20, 1 << 30
#: Stack, stack in the kernel and page tables of one process, without those of the SGA.
_PROCESS = _MIB
_PAGE, _ENTRY = 4096, 8
#: The smallest limit of the PGA, and its part for each process.
_PGA_LEAST, _PGA_OF_PROCESS = 2 * _GIB, 3 * _MIB
#: Percent of memory for the page cache: files, programs and redo that is archived.
_CACHE = 2


class Taken(NamedTuple):
    """Memory of an instance in bytes, and the number of its processes.

    ``huge`` and ``small`` are its SGA by pages. ``assumed`` is what of the PGA no parameter sets.
    """

    huge: int
    small: int
    pga: int
    processes: int
    assumed: int = 0


class Budget(NamedTuple):
    """Bytes of each part in the order of PARTS, and the sum of what is assumed: processes,
    page cache, and a PGA without a limit above its target."""

    parts: Tuple[int, ...]
    assumed: int

    @property
    def sure(self) -> int:
        return self.total - self.assumed

    @property
    def total(self) -> int:
        return sum(self.parts)


def running_budget(facts: Facts) -> Budget:
    """With the instances that run."""
    page = _page_size(facts)
    return _budget(facts, [_running(database, page) for database in known(facts.databases)])


def next_budget(facts: Facts, least: bool = False) -> Budget:
    """After the next start of these, of those that are down and start at boot time, and of the
    largest of the others.

    ``least`` counts the SGAs alone of databases of which more is not known."""
    taken = [_next(database) for database in known(facts.databases)]
    read = _at_least if least else _next
    down = {database.sid: read(database) for database in known(facts.stopped)}
    at_boot = if_known(facts.at_boot, []) if least or len(down) < 2 else known(facts.at_boot)
    taken += [part for sid, part in down.items() if sid in at_boot]
    others = [part for sid, part in down.items() if sid not in at_boot]
    taken += sorted(others, key=lambda part: part.huge + part.small + part.pga)[-1:]
    # An SGA that finds too few huge pages gets ordinary ones.
    lacking = max(sum(part.huge for part in taken) - _pool(facts), 0)
    for number, current in enumerate(taken):
        moved = min(lacking, current.huge)
        taken[number] = current._replace(huge=current.huge - moved, small=current.small + moved)
        lacking -= moved
    return _budget(facts, taken)


def _budget(facts: Facts, taken: List[Taken]) -> Budget:
    page = _page_size(facts)
    tables = sum(
        part.processes * _ENTRY * (part.small // _PAGE + part.huge // page if page else 0)
        for part in taken
    )
    processes = sum(part.processes for part in taken) * _PROCESS + tables
    cache = known(facts.meminfo)["MemTotal"] * _CACHE // 100
    return Budget(
        (
            _pool(facts),
            sum(part.small for part in taken),
            sum(part.pga for part in taken),
            processes,
            _part("kernel", lambda: _kernel(facts)),
            cache,
        ),
        sum(part.assumed for part in taken) + processes + cache,
    )


def _part(name: str, reading: Callable[[], T], of: str = "") -> T:
    """A part, or the error that names the part that is unknown."""
    answer = attempt(reading)
    if isinstance(answer, HostproofError):
        key = getattr(answer, "key", "file:/proc/meminfo")
        owner = f" of {of}" if of else ""
        raise Unanswered(key, f"the part {name}{owner} is unknown: {answer}")
    return answer


def _page_size(facts: Facts) -> int:
    """Bytes of a huge page, 0 where the kernel has none."""
    memory = known(facts.meminfo)
    return meminfo.pool(memory).page_size if "Hugepagesize" in memory else 0


def _pool(facts: Facts) -> int:
    """Huge pages of all sizes, which nothing else can use."""
    memory = known(facts.meminfo)
    pool = memory.get("HugePages_Total", 0) * memory.get("Hugepagesize", 0)
    return max(pool, memory.get("Hugetlb", 0))


def _kernel(facts: Facts) -> int:
    memory = known(facts.meminfo)
    if "SUnreclaim" not in memory:
        raise Unanswered("file:/proc/meminfo", "the kernel shows no SUnreclaim")
    return memory["SUnreclaim"] + memory.get("Percpu", 0) + known(facts.min_free) * 1024


# -- an instance ----------------------------------------------------------------------------------


def _running(database: Database, page: int) -> Taken:
    target = _part("sga", lambda: _amm(database, next_start.running_size), database.sid)
    if target:
        return Taken(0, target, 0, _processes(database, next_start.running_size))
    pga, assumed = _part("pga", lambda: _running_pga(database), database.sid)
    return Taken(
        huge=_part("huge_pages", lambda: _pages(database, page).huge, database.sid),
        small=_part("sga", lambda: _pages(database, page).small, database.sid),
        pga=pga,
        processes=_processes(database, next_start.running_size),
        assumed=assumed,
    )


def _pages(database: Database, page: int) -> instances.SgaPages:
    if database.running is None:
        raise Unanswered("processes:pmon", f"{database.sid} does not run")
    return instances.sga_pages(known(database.running.segments), page)


def _running_pga(database: Database) -> Tuple[int, int]:
    """The most, and what of it no parameter sets."""
    limit = next_start.running_size(database, "pga_aggregate_limit")
    target = _parameter_size(database, "pga_aggregate_target")
    if limit:
        return limit, 0
    return target * _factor(database), target * (_factor(database) - 1)


def _parameter_size(database: Database, name: str) -> int:
    size = next_start.running_size(database, name)
    if size is None:
        raise Unanswered(known(database.asked).key, f"{database.sid} does not tell {name}")
    return size


def _factor(database: Database) -> int:
    """The PGA without a limit, as a multiple of its target."""
    return 3 if known(database.version) < (12,) else 2


def _next(database: Database) -> Taken:
    processes = _processes(database, next_start.next_size)
    target = _part("sga", lambda: _amm(database, next_start.next_size), database.sid)
    if target:
        return Taken(0, target, 0, processes)
    sga = _part("sga", lambda: _next_sga(database), database.sid)
    pga, assumed = _part("pga", lambda: _next_pga(database, sga, processes), database.sid)
    refuses = _part("sga", lambda: int(next_start.refuses_large_pages(database)), database.sid)
    return Taken(0 if refuses else sga, sga if refuses else 0, pga, processes, assumed)


def _at_least(database: Database) -> Taken:
    """What is known of a database: 0 for each part that is not."""
    whole = attempt(_next, database)
    if not isinstance(whole, HostproofError):
        return whole
    target = if_known(attempt(_amm, database, next_start.next_size), 0)
    size = 0 if target else if_known(attempt(lambda: next_start.next_sga(database).size), 0)
    refuses = if_known(attempt(next_start.refuses_large_pages, database), False)
    # The pool is no smaller for those that cannot use it.
    huge = 0 if refuses else size
    pgas = [
        if_known(attempt(next_start.next_size, database, name), None)
        for name in ("pga_aggregate_limit", "pga_aggregate_target")
    ]
    pga = 0 if target else pgas[0] or pgas[1] or 0
    return Taken(huge, target + size - huge, pga, 0)


def _next_sga(database: Database) -> int:
    coming = next_start.next_sga(database)
    if not coming.exact:
        raise Unanswered(
            "policy", f"size of {database.sid} at its next start unknown: {coming.source}"
        )
    return coming.size


def _next_pga(database: Database, sga: int, processes: int) -> Tuple[int, int]:
    """The most, and what of it no parameter sets."""
    limit = next_start.next_size(database, "pga_aggregate_limit")
    target = next_start.next_size(database, "pga_aggregate_target")
    if limit:
        return limit, 0
    set_by = target or 0
    if target is None:
        target = max(sga // 5, 10 * _MIB)
    used = target * _factor(database)
    if limit is None and known(database.version) >= (12,):
        used = max(used, _PGA_LEAST, processes * _PGA_OF_PROCESS)
    return used, used - set_by


def _amm(database: Database, size: Callable[[Database, str], Optional[int]]) -> int:
    return max(size(database, name) or 0 for name in ("memory_target", "memory_max_target"))


def _processes(database: Database, size: Callable[[Database, str], Optional[int]]) -> int:
    """The most processes; where no entry sets a number, the one in force stays."""
    return _part("processes", lambda: _limit(database, size), database.sid)


def _limit(database: Database, size: Callable[[Database, str], Optional[int]]) -> int:
    number = size(database, "processes")
    if number is None and database.running is not None:
        number = _parameter_size(database, "processes")
    if number is None:
        raise Unanswered("policy", f"no entry sets processes of {database.sid}, which does not run")
    return number
