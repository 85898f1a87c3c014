# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ports that a profile requires."""

from typing import Iterator

from ...evaluate.requirement import Requirement
from .policy import Policy, wanted
from .rules_ports import BOOK
from .subjects import label


def requirements(policy: Policy) -> Iterator[Requirement]:
    for port in wanted(policy, ()):
        value = "accepted" if port.direction == "in" else "accepted, outgoing"
        yield Requirement("firewall.ports", label(port), value, BOOK)
