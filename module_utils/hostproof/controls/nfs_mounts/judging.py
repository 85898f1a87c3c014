# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the judges of nfs_mounts share: one finding for each mount, and what stays unknown."""

from typing import Callable, List

from ...errors import Denied, HostError, HostproofError
from ...finding import ERROR, FAIL, SKIP, WARN, Check, Finding, found
from .facts import Facts, JudgedMount
from .layers import Layers, layers_of
from .policy import Policy
from .wanted import guessed_mounts, why_none

#: Judges one mount in all its layers. The path is put before the title for it.
JudgeMount = Callable[[Layers, Facts, Policy], Finding]


def for_each_mount(check, judge_one, mounts, facts, policy):
    # type: (Check, JudgeMount, List[Layers], Facts, Policy) -> List[Finding]
    """One finding for each mount. What is unknown of one does not hide the verdict on another."""
    if not mounts:
        return [found(check, SKIP, why=why_none(facts))]
    return [_judge_mount(check, judge_one, layers, facts, policy) for layers in mounts]


def for_each_and_unlisted(check, judge_one, mounts, facts, policy, is_judged=lambda _: True):
    # type: (Check, JudgeMount, List[Layers], Facts, Policy, Callable[[JudgedMount], bool]) -> List[Finding]
    """Also each mount that holds Oracle files and that the policy's list does not have.

    ``is_judged`` picks those of the latter that matter for the check.
    """
    findings = for_each_mount(check, judge_one, mounts, facts, policy)
    if policy.wanted is None:
        return findings
    try:
        others = [
            layers_of(one, facts, policy) for one in guessed_mounts(facts, policy) if is_judged(one)
        ]
    except HostproofError as problem:
        return findings + [undetermined(check, problem)]
    if not others:
        return findings
    found_there = for_each_mount(check, judge_one, others, facts, policy)
    return found_there if not mounts else findings + found_there


def _judge_mount(check, judge_one, layers, facts, policy):
    # type: (Check, JudgeMount, Layers, Facts, Policy) -> Finding
    try:
        finding = judge_one(layers, facts, policy)
    except HostproofError as problem:
        finding = undetermined(check, problem)
    why = finding.why
    if layers.judged.guessed and finding.status in (WARN, FAIL):
        why += " Judged as {0} of use {1}, a guess from what is open on it.".format(
            layers.wanted.file_class, layers.wanted.use
        )
    return finding._replace(title="{0}: {1}".format(layers.path, finding.title), why=why)


def undetermined(check, problem):
    # type: (Check, HostproofError) -> Finding
    denied = isinstance(problem, Denied)
    return found(
        check,
        ERROR,
        why="Could not be determined: {0}.".format(str(problem).rstrip(".")),
        fix="run again with --become (root may read it)" if denied else None,
        evidence=[problem.key] if isinstance(problem, HostError) else [],
    )
