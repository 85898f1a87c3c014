# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Subjects of the checks: a Linux host, an AIX host, and each instance."""

from typing import List

from ...collect.answer import known
from ...evaluate.checking import Skip, Subjects
from . import facts as look
from .facts import Facts, Subject, evidence_of
from .policy import Policy

REFERENCE = "Oracle Database Reference"
LINUX_GUIDE = (
    "Oracle Database Administrator's Reference for Linux and UNIX, Administering Oracle Database "
    "on Linux (Asynchronous Input-Output, Direct Input-Output Support)"
)
KERNEL = "kernel Documentation/admin-guide/sysctl/fs.rst, aio-nr & aio-max-nr"
MOS = "My Oracle Support 579108.1"
AIX_GUIDE = "Oracle Database Installation Guide for AIX, Configuring Asynchronous I/O"


NO_INSTANCE = "No instance runs here, and neither async_io_instances nor oratab lists one."


def _linux(facts: Facts, _policy: Policy) -> List[look.Linux]:
    system = known(facts.system)
    if facts.linux is None:
        raise Skip(f"Not a Linux host ({system}).")
    if not known(facts.subjects):
        raise Skip(NO_INSTANCE)
    return [facts.linux]


def _aix(facts: Facts, _policy: Policy) -> List[look.Aix]:
    system = known(facts.system)
    if facts.aix is None:
        raise Skip(f"Not an AIX host ({system}).")
    return [facts.aix]


def _instances(facts: Facts, _policy: Policy) -> List[Subject]:
    return list(known(facts.subjects))


LINUX = Subjects(_linux)
AIX = Subjects(_aix)
INSTANCES = Subjects(
    _instances,
    none=NO_INSTANCE,
    name=lambda subject: str(subject.sid),
    evidence=evidence_of,
)
