# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The free space that a policy requires."""

from typing import Iterator

from ...evaluate.requirement import Requirement
from ...parsers.size import human
from .demands import of_installer
from .policy import Policy

_SOURCE = "Cluster Verification Utility 19c and 26ai, Free Space"


def requirements(policy: Policy) -> Iterator[Requirement]:
    for demand in of_installer(policy):
        yield Requirement("space.free", demand.path, f"{human(demand.free)} free", _SOURCE)
