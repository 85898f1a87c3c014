# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Since which release a check is checked. An id is never given to another check."""

#: The release that is being made: a check that no list names came with it.
NEXT = "0.2.0"

#: Release to the checks that came with it. A new release moves what NEXT means here.
RELEASED = {
    "0.1.0": tuple(
        f"hugepages.{name}"
        for name in (
            "pool_covers_sga",
            "sga_in_huge_pages",
            "pool_persisted",
            "single_source",
            "ram_share",
            "pool_not_wasted",
            "page_size",
            "numa_split",
            "no_overcommit",
            "memlock_persisted",
            "memlock_in_force",
            "shm_group",
            "no_amm",
            "transparent_hugepages",
            "page_table_cost",
        )
    )
    + (
        "host.reachable",
        "host.audited",
        "run.hosts_matched",
        "run.finished",
        "waiver.expired",
        "waiver.expires_soon",
        "waiver.unknown_check",
        "waiver.matches_nothing",
    ),
}


def since(check: str) -> str:
    return next((release for release, ids in RELEASED.items() if check in ids), NEXT)
