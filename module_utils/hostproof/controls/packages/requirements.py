# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The packages that the release of a policy requires, by distribution."""

from typing import Dict, Iterator, List, Tuple

from ...evaluate.requirement import Requirement
from ...probes.oracle.releases import name_of
from . import package_table
from .package_table import Row
from .policy import Policy

_CHECKS = {"installer": "packages.installer"}


def requirements(policy: Policy) -> Iterator[Requirement]:
    """The rows of one distribution apply."""
    profile = policy.profile
    if profile is None or not profile.release:
        return
    groups: Dict[Tuple[str, str], List[Row]] = {}
    for row in package_table.ROWS:
        if row.release == name_of(profile.release) and (profile.grid or row.need != "grid"):
            host = f"{row.distribution} {row.version} {row.architecture}"
            if row.need == "list":
                host += " (lists of others)"
            check = _CHECKS.get(row.need, "packages.required")
            groups.setdefault((check, host), []).append(row)
    for (check, host), rows in groups.items():
        words = sorted({row.package + (f" {row.minimum}" if row.minimum else "") for row in rows})
        sources = "; ".join(sorted({f"{row.source} (read on {row.seen})" for row in rows}))
        yield Requirement(check, host, ", ".join(words), sources)
