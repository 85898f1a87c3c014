# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel parameters that a profile requires."""

from typing import Dict, Iterator

from ...evaluate.comparing import AT_LEAST, AT_MOST, EXACTLY, OTHER_THAN, WITHIN
from ...evaluate.profiles import Profile
from ...evaluate.requirement import Requirement
from ...probes.oracle.releases import LONG_TERM
from .formulas import (
    Formula,
    free_for_receives,
    half_of_memory,
    pages_of_largest,
    pages_of_memory,
    process_numbers,
    requests,
    semaphores,
)
from .parameter_table import ADVICE, CLUSTER, DIRECT_NFS, ROWS, Row
from .policy import NAME, Policy
from .required_parameters import is_for

_WORDS = {
    AT_LEAST: "at least ",
    AT_MOST: "at most ",
    EXACTLY: "",
    OTHER_THAN: "not ",
    WITHIN: "within ",
}
#: The formulas of the releases that a profile names.
FORMULAS: Dict[Formula, str] = {
    semaphores: "250 32000 100 128, or what all instances need if that is more",
    requests: "1048576, or what all instances reserve if that is more",
    process_numbers: "32768, or what the host has if that is more",
    half_of_memory: "half of memory, or the largest SGA if that is more",
    pages_of_memory: "40% of memory in pages, or all SGAs if they are more",
    pages_of_largest: "kernel.shmmax in pages",
    free_for_receives: "0.4% of memory in kB for each NUMA node",
}


def requirements(policy: Policy) -> Iterator[Requirement]:
    profile = policy.profile
    if profile is None:
        return
    for row in ROWS:
        if is_for(row, profile.release or LONG_TERM) and _has(profile, row):
            value = row.value if isinstance(row.value, str) else FORMULAS[row.value]
            if row.compare == WITHIN:
                value = value.replace(" ", " to ")
            check = f"{NAME}.{row.family}"
            yield Requirement(check, row.name, _WORDS[row.compare] + value, row.source)


def _has(profile: Profile, row: Row) -> bool:
    only = {CLUSTER: profile.cluster, DIRECT_NFS: profile.direct_nfs}
    return row.only is None or only.get(row.only, row.only == ADVICE)
