# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to change on AIX so that the host paces as the policy says, and what speaks against it."""

from typing import Dict, List, Tuple

from ... import aix_attributes
from ...answer import known
from ...change import Change, Plan, Refusal
from ...command import Command
from ...errors import HostproofError
from ...probes import sys_parm
from .facts import DEVICE, NAMES, Aix, Facts, odm_pair
from .judge import headroom_text, is_old, is_tight, powerha_text, powerha_version
from .policy import Pair, Policy


def plan(facts, policy):
    # type: (Facts, Policy) -> Plan
    """One chdev for both marks. On Linux the control only advises, so the plan is empty."""
    system = known(facts.system)
    if facts.aix is None:
        why = "io_pacing changes nothing on {0}.".format(system)
        return Plan([], [], [why], [])
    aix = facts.aix
    changes, pending = _changes(aix, policy)
    refusals = _guards(aix, policy) if changes else []
    return Plan(changes, refusals, pending, [])


def _changes(aix, policy):
    # type: (Aix, Policy) -> Tuple[List[Change], List[str]]
    odm = known(aix.odm)
    wanted = _values(policy.wanted)
    if odm_pair(odm) != policy.wanted:
        change = aix_attributes.change(
            odm, wanted, aix_attributes.BOTH, _undo_more(aix), together=True
        )
        return ([] if change is None else [change]), []
    if isinstance(aix.running, HostproofError):
        return [], [
            "The ODM holds {0}; whether the kernel goes by it is not known: {1}.".format(
                policy.wanted, aix.running
            )
        ]
    if aix.running == policy.wanted:
        return [], []
    change = aix_attributes.change_now(odm, wanted, _values(aix.running), sys_parm.look(NAMES))
    return [change], []


def _undo_more(aix):
    # type: (Aix) -> Tuple[Command, ...]
    """chdev makes the kernel go by the ODM; where it did not, revert must bring that back, too."""
    if isinstance(aix.running, HostproofError) or aix.running == odm_pair(known(aix.odm)):
        return ()
    return (aix_attributes.chdev(DEVICE, _values(aix.running), aix_attributes.NOW),)


def _values(pair):
    # type: (Pair) -> Dict[str, str]
    return {name: str(value) for name, value in zip(NAMES, pair)}


def _guards(aix, policy):
    # type: (Aix, Policy) -> List[Refusal]
    odm = known(aix.odm)
    refusals = [
        Refusal(problem, None) for problem in aix_attributes.problems(odm, _values(policy.wanted))
    ]
    if is_tight(policy.wanted) or policy.deadman_risk_ok or not _raises(aix, policy):
        return refusals
    if is_old(powerha_version(aix, policy)):
        refusals.append(
            Refusal(
                "{0} has a heartbeat that one writer can delay until the deadman switch halts the "
                "node, and {1} would raise the marks from {2}; {3}".format(
                    powerha_text(aix, policy),
                    policy.wanted,
                    odm_pair(odm),
                    headroom_text(aix, policy),
                ),
                "deadman_risk_ok",
            )
        )
    return refusals


def _raises(aix, policy):
    # type: (Aix, Policy) -> bool
    """Whether any layer gets looser marks than it has; no pacing is the loosest."""
    pairs = [odm_pair(known(aix.odm))]
    if not isinstance(aix.running, HostproofError):
        pairs.append(aix.running)
    return any(_looseness(policy.wanted) > _looseness(pair) for pair in pairs)


def _looseness(pair):
    # type: (Pair) -> float
    return float("inf") if pair == Pair(0, 0) else float(pair.maxpout)
