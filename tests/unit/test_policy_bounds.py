"""The numbers that each variable accepts: between the smallest and the largest, and no other.

They are in policy_bounds.json; HOSTPROOF_WRITE_FIXTURES=1 pytest -k policy_bounds tests/unit
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.hostproof.controls.registry import CONTROLS, NAMES
from ansible.module_utils.hostproof.errors import PolicyError
from default_policies import default_policy
from stored import text_of

EXPECTED = Path(__file__).with_name("policy_bounds.json")
#: Numbers beyond these are not tried.
MOST = 10**15
STEP = 0.001


def accepts(control: str, field: str, value: Any) -> bool:
    try:
        CONTROLS[control].policy_from(default_policy(control, secrets=True) | {field: value})
    except PolicyError:
        return False
    return True


def edge(is_fine: Callable[[Any], bool], good: Any, bad: Any, step: float) -> Any:
    """The last good number on the way to a bad one."""
    while abs(bad - good) > step * 1.5:
        middle = (good + bad) // 2 if step == 1 else round((good + bad) / 2, 3)
        good, bad = (middle, bad) if is_fine(middle) else (good, middle)
    return good


def bounds(control: str, field: str, default: Any) -> list[Any] | None:
    """The smallest and the largest number; None where none is too large."""

    def is_fine(value: Any) -> bool:
        return accepts(control, field, value)

    if not is_fine(default):
        return None
    step = STEP if is_fine(default + 0.5) or is_fine(default - 0.5) else 1
    found = []
    for direction in (-1, 1):
        good, distance = default, 1
        while distance < MOST and is_fine(default + direction * distance):
            good, distance = default + direction * distance, distance * 2
        bad = default + direction * distance
        found.append(None if distance >= MOST else edge(is_fine, good, bad, step))
    return found


def of_control(control: str) -> dict[str, list[Any] | None]:
    return {
        field: bounds(control, field, value)
        for field, value in default_policy(control, secrets=True).items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    if os.environ.get("HOSTPROOF_WRITE_FIXTURES"):
        every = {name: found for name in NAMES if (found := of_control(name))}
        EXPECTED.write_text(text_of(every, 1))
    return dict(json.loads(EXPECTED.read_text()))


@pytest.mark.parametrize("control", NAMES)
def test_the_smallest_and_the_largest_number(control: str, expected: dict[str, Any]):
    """If others are meant: HOSTPROOF_WRITE_FIXTURES=1 pytest -k policy_bounds tests/unit"""
    assert of_control(control) == expected.get(control, {})
