# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to change on AIX so that the host paces as the policy requires, and what speaks against
it."""

from typing import Dict, List, Tuple

from ...apply import aix_attributes
from ...apply.change import Change, Plan, Refusal, idle
from ...collect.answer import known
from ...errors import HostproofError
from ...probes.unix import sys_parm
from .facts import NAMES, Aix, Facts, odm_pair
from .heartbeat import require_certain, why_not_raise
from .policy import Pair, Policy


def plan(facts: Facts, policy: Policy) -> Plan:
    """One chdev for both marks. On Linux the control only advises, so the plan is empty."""
    system = known(facts.system)
    if facts.aix is None:
        why = f"io_pacing changes nothing on {system}."
        return idle(why)
    aix = facts.aix
    policy = require_certain(aix, policy)
    changes, pending = _changes(aix, policy)
    refusals = _guards(aix, policy) if changes else []
    return Plan(changes, refusals, pending, [])


def _changes(aix: Aix, policy: Policy) -> Tuple[List[Change], List[str]]:
    odm = known(aix.odm)
    required = _values(policy.wanted)
    if odm_pair(odm) != policy.wanted:
        running = None if isinstance(aix.running, HostproofError) else _values(aix.running)
        change = aix_attributes.change(odm, required, aix_attributes.BOTH, running)
        return ([] if change is None else [change]), []
    if isinstance(aix.running, HostproofError):
        return [], [
            f"The ODM holds {policy.wanted}; whether the kernel uses it is not known: "
            f"{aix.running}."
        ]
    if aix.running == policy.wanted:
        return [], []
    change = aix_attributes.change_now(
        odm, required, _values(aix.running), sys_parm.values_command(NAMES)
    )
    return [change], []


def _values(pair: Pair) -> Dict[str, str]:
    return {name: str(value) for name, value in zip(NAMES, pair)}


def _guards(aix: Aix, policy: Policy) -> List[Refusal]:
    odm = known(aix.odm)
    refusals = [
        Refusal(problem, None) for problem in aix_attributes.problems(odm, _values(policy.wanted))
    ]
    risk = why_not_raise(aix, policy)
    return refusals + ([] if risk is None else [Refusal(risk, "allow_deadman_risk")])
