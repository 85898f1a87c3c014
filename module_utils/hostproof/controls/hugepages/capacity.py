# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pool now and after reboot, and the largest pool that leaves enough memory for the host.

Source: kernel Documentation/admin-guide/mm/hugetlbpage.rst.
"""

from typing import NamedTuple, Optional

from ...collect.answer import if_known, known, unless_absent
from ...errors import HostproofError
from ...parsers.kernel import meminfo
from ...parsers.size import human
from .facts import Facts
from .policy import Policy
from .probes import huge_page_pool as pool_probe
from .probes.huge_page_pool import PoolAtBoot


def pages_set(pool: meminfo.Pool) -> int:
    """The pool without surplus pages, which the kernel frees when their process ends."""
    return pool.total - pool.surp


def pool_at_boot(facts: Facts) -> PoolAtBoot:
    return pool_probe.pool_at_boot(facts.boot, known(facts.pool).page_size)


class Taken(NamedTuple):
    """Bytes in huge pages in addition to ``nr_hugepages``: other sizes, and surplus pages.

    ``unknown`` is the error if places that can add to it were not read."""

    others: int
    beyond: int
    unknown: Optional[HostproofError] = None

    def settled(self) -> None:
        """Raise if it is incomplete. Call it before the numbers are used as complete."""
        known(self.unknown)

    @property
    def total(self) -> int:
        return self.others + self.beyond

    def text(self) -> str:
        words = ""
        if self.others:
            words += f", {human(self.others)} of it in pages of other sizes"
        if self.beyond:
            words += f", {human(self.beyond)} of it allowed beyond the pool"
        return words


def taken_now(facts: Facts) -> Taken:
    """Bytes now. Hugetlb counts pages of all sizes; without it, sysfs shows each size."""
    rows, pool = known(facts.meminfo), known(facts.pool)
    allowed = max(unless_absent(facts.overcommit, 0) - pool.surp, 0) * pool.page_size
    # With Hugetlb, only surplus pages that are still allowed are taken from sysfs.
    sizes = known(facts.page_sizes) if "Hugetlb" not in rows else if_known(facts.page_sizes, {})
    rest = [(size, counts) for size, counts in sizes.items() if size != pool.page_size]
    others = max(
        rows.get("Hugetlb", 0) - pool.total * pool.page_size,
        sum((counts.pages + counts.surplus) * size for size, counts in rest),
    )
    allowed += sum(max(counts.overcommit - counts.surplus, 0) * size for size, counts in rest)
    return Taken(max(others, 0), allowed)


def taken_at_boot(facts: Facts) -> Taken:
    page = known(facts.pool).page_size
    others = pool_probe.other_sizes_at_boot(facts.boot, page)
    beyond = pool_probe.overcommit_at_boot(facts.boot, page)
    allowed = 0 if beyond.winner is None else int(beyond.winner.value) * page
    return Taken(others.pages, others.beyond + allowed, others.unknown or beyond.unknown)


def taken_most(facts: Facts) -> int:
    """Bytes in huge pages in addition to the pool: the larger value of now and after reboot."""
    at_boot = taken_at_boot(facts)
    at_boot.settled()
    return max(taken_now(facts).total, at_boot.total)


def most_pages(facts: Facts, policy: Policy, limit: Optional[int] = None) -> int:
    """The largest pool that leaves enough memory. Checks and apply use the same value."""
    share = limit or (100 if policy.allow_over_memory_limit else policy.memory_limit_percent)
    most = known(facts.meminfo)["MemTotal"] * share // 100 - taken_most(facts)
    return max(most // known(facts.pool).page_size, 0)
