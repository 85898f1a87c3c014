# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the judges of flow_control share."""

from typing import Any, Callable, List, Optional

from ...answer import if_known, known
from ...errors import Absent, Denied, HostError, HostproofError, Unanswered
from ...finding import ERROR, FAIL, SKIP, WARN, Check, Finding, found
from ...parsers.nfs_options import LINUX
from ...probes.nic_pause import argv_pause
from .facts import Facts, NicFacts
from .policy import Policy

JudgeNic = Callable[[NicFacts, Facts, Policy], Finding]


def for_each_nic(check, judge_one, facts, policy):
    # type: (Check, JudgeNic, Facts, Policy) -> List[Finding]
    """One finding for each interface; what is unknown of one does not hide the others."""
    findings = []
    for one in facts.nics.values():
        try:
            finding = judge_one(one, facts, policy)
        except HostproofError as problem:
            finding = undetermined(check, problem)
        findings.append(titled(finding, one.name))
    return findings


def titled(finding, name):
    # type: (Finding, str) -> Finding
    return finding._replace(title="{0}: {1}".format(name, finding.title))


def undetermined(check, problem):
    # type: (Check, HostproofError) -> Finding
    return found(
        check,
        ERROR,
        why="Could not be determined: {0}.".format(str(problem).rstrip(".")),
        fix="run again with --become (root may read it)" if isinstance(problem, Denied) else None,
        evidence=[problem.key] if isinstance(problem, HostError) else [],
    )


def skipped(check, why, evidence=()):
    # type: (Check, str, Any) -> Finding
    return found(check, SKIP, why=why, evidence=evidence)


def bad(policy):
    # type: (Policy) -> str
    """What contradicts a rule of the policy fails; our own default is an opinion."""
    return WARN if policy.wanted is None else FAIL


def why_left_alone(one):
    # type: (NicFacts) -> Optional[str]
    """Why no flow control is wanted of an interface; raises where that is not known."""
    if isinstance(one.pause, Absent):
        return "{0}: {1}.".format(one.name, one.pause)
    known(one.pause)
    return priority_in_use(one)


def has_link(one):
    # type: (NicFacts) -> bool
    """False where there is none, or somebody took the interface down; raises where nobody tells."""
    if one.nic.carrier is None and one.system == LINUX:
        raise Unanswered(
            "file:/sys/class/net/{0}/carrier".format(one.name),
            "whether {0} has a link is not known".format(one.name),
        )
    return one.nic.carrier is not False


def priority_in_use(one):
    # type: (NicFacts) -> Optional[str]
    """That PAUSE by priority is in use, in words; None where nothing says so."""
    priorities = if_known(one.priorities, [])
    if priorities:
        return "Priority flow control is in use ({0}): hands off.".format(
            ", ".join(
                "priority {0}".format(item) if isinstance(item, int) else item
                for item in priorities
            )
        )
    if not isinstance(one.priorities, Absent):
        known(one.priorities)
    traffic = if_known(one.traffic, None)
    if traffic is not None and traffic.priority and isinstance(one.priorities, Absent):
        return "Frames of priority flow control were counted: hands off."
    return None


def evidence_of(one):
    # type: (NicFacts) -> List[str]
    """What its flow control is from first, then what its speed is from."""
    if one.evidence:
        return list(one.evidence)
    return ["command:" + " ".join(argv_pause(one.name)), "command:ethtool " + one.name]


def capital(text):
    # type: (str) -> str
    """The text as a sentence begins; str.capitalize() would also write gi1/0/1 for Gi1/0/1."""
    return text[:1].upper() + text[1:]


def on_off(value):
    # type: (bool) -> str
    return "on" if value else "off"
