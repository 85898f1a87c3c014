# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which judge answers for which check, and in which order the findings stand."""

from typing import List

from ...answer import attempt
from ...errors import Absent, HostproofError
from ...finding import Check, Finding
from . import checks, judge_links, judge_nic, judge_path
from .facts import Facts
from .judging import for_each_nic, skipped, titled, undetermined
from .policy import Policy

_EACH = {
    checks.SUPPORTED: judge_nic.judge_supported,
    checks.WANTED: judge_nic.judge_wanted,
    checks.NEGOTIATED: judge_nic.judge_negotiated,
    checks.PERSISTED: judge_nic.judge_persisted,
    checks.LINK_FILE_INVERTED: judge_nic.judge_link_file_inverted,
    checks.IGNORED_SETTINGS: judge_nic.judge_ignored_settings,
    checks.SPEED_DUPLEX: judge_nic.judge_speed_duplex,
    checks.HALF_DUPLEX: judge_nic.judge_half_duplex,
    checks.PAUSE_FRAMES: judge_nic.judge_pause_frames,
    checks.DROPS: judge_nic.judge_drops,
    checks.PRIORITY_FLOW_CONTROL: judge_nic.judge_priority,
}
_WHOLE = {
    checks.BOND_MEMBERS_ALIKE: judge_path.judge_bonds,
    checks.PATH_SPEED: judge_path.judge_path_speed,
    checks.PATH_MTU: judge_path.judge_path_mtu,
}
_LINKS = (checks.SWITCH_PORT, checks.FILER_PORT, checks.LINK)

_NOTHING = (
    "No interface carries storage or the interconnect, and flow_control_wanted names no other. "
    "Paths that oranfstab alone names are not followed."
)


def _sentence(problem):
    # type: (Absent) -> str
    text = str(problem)
    return text[:1].upper() + text[1:] + "."


def judge(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    """Every check, in the order of the report. What needs an unknown fact becomes an error."""
    interfaces = facts.interfaces
    if isinstance(interfaces, Absent):
        return [skipped(check, _sentence(interfaces)) for check in checks.CHECKS]
    if isinstance(interfaces, HostproofError):
        return [undetermined(check, interfaces) for check in checks.CHECKS]
    unread = [
        titled(undetermined(checks.SUPPORTED, problem), "interfaces that matter")
        for problem in interfaces.unknown
    ]
    if not facts.nics:
        first = unread or [skipped(checks.SUPPORTED, _NOTHING)]
        why = "See flow_control.supported." if unread else _NOTHING
        return first + [skipped(check, why) for check in checks.CHECKS[1:]]
    links = attempt(judge_links.judge_links, facts, policy)
    findings = []  # type: List[Finding]
    for check in checks.CHECKS:
        findings += _judge(check, facts, policy, links)
        if check is checks.SUPPORTED:
            findings += unread
    return findings


def _judge(check, facts, policy, links):
    # type: (Check, Facts, Policy, object) -> List[Finding]
    if check in _LINKS:
        if isinstance(links, HostproofError):
            return [undetermined(check, links)]
        assert isinstance(links, list)
        return [one for one in links if one.check == check.id]
    try:
        if check in _EACH:
            return for_each_nic(check, _EACH[check], facts, policy)
        return _WHOLE[check](facts, policy)
    except HostproofError as problem:
        return [undetermined(check, problem)]
