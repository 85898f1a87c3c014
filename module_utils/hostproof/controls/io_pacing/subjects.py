# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rules of io_pacing check: the host, if it is of their system; and what they quote."""

from typing import List, Union

from ...collect.answer import known
from ...evaluate.checking import Skip, Subjects
from . import facts as look
from .facts import Facts
from .policy import Policy

PACING = "AIX Performance Management, Disk I/O pacing"
TUNABLES = "AIX Performance Management, Synchronous I/O tunable parameters"
ARTICLE = "J. Wartak, AIX disk I/O pacing vs PowerHA, 2011"


def _aix(facts: Facts, _policy: Policy) -> List[look.Aix]:
    system = known(facts.system)
    if facts.aix is None:
        raise Skip(f"Not an AIX host ({system}).")
    return [facts.aix]


def _linux(facts: Facts, _policy: Policy) -> List[look.Linux]:
    system = known(facts.system)
    if facts.linux is None:
        raise Skip(f"Not a Linux host ({system}).")
    return [facts.linux]


def _hosts(facts: Facts, _policy: Policy) -> List[Union[look.Aix, look.Linux]]:
    system = known(facts.system)
    host = facts.aix or facts.linux
    if host is None:
        raise Skip(f"The CPU is not watched on {system}.")
    return [host]


AIX = Subjects(_aix)
HOSTS: Subjects[Facts, Policy, Union[look.Aix, look.Linux]] = Subjects(_hosts)
LINUX = Subjects(_linux)
