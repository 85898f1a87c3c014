# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Subjects of the checks: the instances by SID."""

from typing import List

from ...collect.answer import known
from ...errors import Absent
from ...evaluate.checking import Skip, Subjects
from .facts import Facts, Subject, evidence_of
from .policy import Policy

REFERENCE = "Oracle Database Reference"


def _instances(facts: Facts, _policy: Policy) -> List[Subject]:
    if isinstance(facts.subjects, Absent):
        raise Skip("Not a Linux host.")
    return list(known(facts.subjects))


INSTANCES = Subjects(
    _instances,
    none="No instance is running, and neither pre_page_sga_instances nor oratab lists one.",
    name=lambda subject: str(subject.sid),
    evidence=evidence_of,
)
