# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges what was measured, in the order of the report. There is nothing to plan."""

from typing import List

from ...change import Plan
from ...finding import SKIP, Finding, found
from . import checks
from .facts import Facts
from .judge_network import judge_budget, judge_scheduling_delay, judge_tcp
from .judge_reports import judge_database, judge_log_write
from .judge_storage import judge_disk, judge_disk_read, judge_host_gap, judge_nfs
from .policy import Policy

_NO_BEFORE = "There is no before to compare with: ./hostproof baseline, then ./hostproof compare."

_JUDGES = (
    judge_disk,
    judge_disk_read,
    judge_host_gap,
    judge_nfs,
    judge_tcp,
    judge_scheduling_delay,
    judge_database,
    judge_log_write,
    judge_budget,
)


def judge(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    """At least one finding for each check."""
    findings = []  # type: List[Finding]
    for judge_one in _JUDGES:
        findings += judge_one(facts, policy)
    for check in (checks.CHANGE, checks.FLEET_CHANGE, checks.GATE):
        findings.append(found(check, SKIP, why=_NO_BEFORE))
    return findings


def plan(_facts, _policy):
    # type: (Facts, Policy) -> Plan
    """This control only looks."""
    return Plan(changes=[], refusals=[], pending=[], at_boot=[])
