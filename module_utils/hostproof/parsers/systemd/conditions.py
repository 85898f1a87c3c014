# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Condition and Assert settings of a systemd unit: whether they let it start.

Source: systemd.unit(5), "Conditions and Asserts"; condition_test_list() in src/shared/condition.c.
"""

from typing import Callable, List, NamedTuple, Optional, Sequence

from . import systemd_unit

#: What a condition of that name (without Condition or Assert) says; None: it is not known.
Evaluate = Callable[[str, str], Optional[bool]]


class Outcome(NamedTuple):
    """``holds`` is None where it is not known. ``by`` is the setting that decides, if one does."""

    holds: Optional[bool]
    by: Optional[systemd_unit.Assignment]


class _Tested(NamedTuple):
    assignment: systemd_unit.Assignment
    triggers: bool
    holds: Optional[bool]


def test(units: Sequence[systemd_unit.Unit], evaluate: Evaluate) -> Outcome:
    """Whether a unit starts, by the settings of its file and its drop-ins in their order."""
    for kind in systemd_unit.CONDITIONS:
        outcome = _test_kind(units, kind, evaluate)
        if outcome.holds is not True:
            return outcome
    return Outcome(True, None)


def _test_kind(units: Sequence[systemd_unit.Unit], kind: str, evaluate: Evaluate) -> Outcome:
    tested = [_tested(assignment, kind, evaluate) for assignment in _settings(units, kind)]
    plain = [condition for condition in tested if not condition.triggers]
    for state in (False, None):
        for condition in plain:
            if condition.holds is state:
                return Outcome(state, condition.assignment)
    # At least one of those with | has to hold.
    triggers = [condition for condition in tested if condition.triggers]
    if not triggers or any(condition.holds for condition in triggers):
        return Outcome(True, None)
    unknown = [condition for condition in triggers if condition.holds is None]
    return Outcome(None if unknown else False, (unknown or triggers)[0].assignment)


def _settings(units: Sequence[systemd_unit.Unit], kind: str) -> List[systemd_unit.Assignment]:
    """An empty setting of the kind resets all settings of the kind before it."""
    settings: List[systemd_unit.Assignment] = []
    for unit in units:
        for assignment in unit.assignments:
            if assignment.section == "Unit" and assignment.key.startswith(kind):
                if assignment.value:
                    settings.append(assignment)
                else:
                    settings = []
    return settings


def _tested(assignment: systemd_unit.Assignment, kind: str, evaluate: Evaluate) -> _Tested:
    value = assignment.value
    triggers = value.startswith("|")
    value = value[1:].lstrip() if triggers else value
    negated = value.startswith("!")
    value = value[1:].lstrip() if negated else value
    holds = evaluate(assignment.key[len(kind) :], value)
    return _Tested(
        assignment, triggers, (not holds if negated else holds) if holds is not None else None
    )
