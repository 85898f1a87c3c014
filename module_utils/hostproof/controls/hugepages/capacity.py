# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pool of now and of the next reboot, and how large it can be next to what else takes memory.

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
    """The pool without surplus pages, which go when whoever holds them stops."""
    return pool.total - pool.surp


def pool_at_boot(facts: Facts) -> PoolAtBoot:
    return pool_probe.pool_at_boot(facts.boot, known(facts.pool).page_size)


class Taken(NamedTuple):
    """Bytes that huge pages take next to ``nr_hugepages``: of other sizes, and beyond the pool.

    ``unknown`` is the error of places that were not checked and could still add to it."""

    others: int
    beyond: int
    unknown: Optional[HostproofError] = None

    def settled(self) -> None:
        """Raise what is unknown: from here on this is taken to be all there is."""
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
    """Hugetlb counts the pages of all sizes. Older kernels do not have it; sysfs tells each."""
    rows, pool = known(facts.meminfo), known(facts.pool)
    allowed = max(unless_absent(facts.overcommit, 0) - pool.surp, 0) * pool.page_size
    # Where Hugetlb tells the pages, sysfs only adds what other sizes may still take.
    sizes = known(facts.page_sizes) if "Hugetlb" not in rows else if_known(facts.page_sizes, {})
    rest = [(size, one) for size, one in sizes.items() if size != pool.page_size]
    others = max(
        rows.get("Hugetlb", 0) - pool.total * pool.page_size,
        sum((one.pages + one.surplus) * size for size, one in rest),
    )
    allowed += sum(max(one.overcommit - one.surplus, 0) * size for size, one in rest)
    return Taken(max(others, 0), allowed)


def taken_at_boot(facts: Facts) -> Taken:
    page = known(facts.pool).page_size
    others = pool_probe.other_sizes_at_boot(facts.boot, page)
    beyond = pool_probe.overcommit_at_boot(facts.boot, page)
    allowed = 0 if beyond.winner is None else int(beyond.winner.value) * page
    return Taken(others.pages, others.beyond + allowed, others.unknown or beyond.unknown)


def taken_most(facts: Facts) -> int:
    """Bytes next to the pool that huge pages take, now or after a reboot."""
    at_boot = taken_at_boot(facts)
    at_boot.settled()
    return max(taken_now(facts).total, at_boot.total)


def most_pages(facts: Facts, policy: Policy, limit: Optional[int] = None) -> int:
    """The largest pool that leaves enough: what the rules check by, and the guards of apply."""
    share = limit or (100 if policy.allow_ram_share_over_limit else policy.ram_share_limit)
    most = known(facts.meminfo)["MemTotal"] * share // 100 - taken_most(facts)
    return max(most // known(facts.pool).page_size, 0)
