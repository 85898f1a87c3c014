# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Subjects of the checks: a Linux host and its instances; and the references."""

from typing import List

from ...collect.answer import known
from ...errors import Absent
from ...evaluate.checking import Skip, Subjects
from ...probes.oracle.instances import Instance
from ...probes.oracle.monitors import PMON_KEY
from .facts import Facts
from .policy import Policy

INSTALLATION = "Oracle Database Installation Guide for Linux"
KERNEL = "kernel Documentation/admin-guide/mm/hugetlbpage.rst"

MEMINFO = ("file:/proc/meminfo",)
PMON = (PMON_KEY,)
BOOT = ("dir:/etc/sysctl.d", "file:/proc/cmdline", "file:/etc/sysctl.conf", "lines:boot")

NO_INSTANCE = "No instance runs here."


def applies(facts: Facts, _policy: Policy) -> None:
    if isinstance(facts.meminfo, Absent):
        raise Skip("Not a Linux host: it has no /proc/meminfo.")


def _instances(facts: Facts, _policy: Policy) -> List[Instance]:
    # Without the size of a huge page, the pages of an SGA cannot be determined.
    known(facts.pool)
    return list(known(facts.instances))


INSTANCES = Subjects(
    _instances,
    none=NO_INSTANCE,
    name=lambda instance: str(instance.sid),
    evidence=Instance.evidence,
)
