# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The platforms that Oracle lists for the release of a policy."""

from typing import Iterator

from ...evaluate.requirement import Requirement
from ...probes.oracle.releases import name_of
from . import supported_systems
from .policy import Policy


def requirements(policy: Policy) -> Iterator[Requirement]:
    """One of these rows has to match."""
    release = policy.release
    if release is None and policy.profile is not None and policy.profile.release:
        release = name_of(policy.profile.release)
    for row in supported_systems.ROWS:
        if row.release == release:
            update = f", release update {row.update}" if row.update else ""
            yield Requirement(
                "platform.kernel",
                f"{row.distribution} {row.version} {row.architecture} {row.line}",
                f"at least {row.kernel}{update}",
                f"{row.source} (read on {row.seen})",
            )
