# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts to which the checks of memory_pressure apply."""

from ...collect.answer import known
from ...errors import Absent
from ...evaluate.checking import Skip
from .facts import Facts
from .policy import Policy


def applies(facts: Facts, policy: Policy) -> None:
    if isinstance(facts.meminfo, Absent):
        raise Skip("Not a Linux host: it has no /proc/meminfo.")
    known(facts.meminfo)
    if policy.profile is None and policy.swap is None and not facts.software.is_there():
        raise Skip(
            "No Oracle software was found on this host, and neither hostproof_profile nor "
            "memory_pressure_swap is set."
        )


def skip_unmanaged(name: str, policy: Policy) -> None:
    if name in policy.skip_checks:
        raise Skip(f"{name} is in memory_pressure_skip_checks.")
