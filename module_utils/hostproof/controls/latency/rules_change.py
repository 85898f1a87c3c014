# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the comparison of latency before and after a change.

An audit skips them, because it has no second measurement. ``latency compare`` and the gate create
findings of these checks.
"""

from ...evaluate.checking import Rules, Skip, Verdict
from .facts import Facts
from .policy import NAME, Policy

rules: Rules[Facts, Policy] = Rules(NAME)

_NO_BEFORE = (
    "There is no measurement before a change: run ./hostproof latency baseline before it and "
    "./hostproof latency compare after it."
)


@rules.check(
    "latency.change",
    "Change did not slow down this host",
    "Change slowed down this host",
    severity="high",
    takes_effect="now",
    why="A change that works can still be slow. It is easy to revert only while it is recent.",
    reference="Hodges and Lehmann 1963; Hollander, Wolfe and Chicken, Nonparametric Statistical "
    "Methods, 4.2",
)
def change(_facts: Facts, _policy: Policy) -> Verdict:
    raise Skip(_NO_BEFORE)


@rules.check(
    "latency.fleet_change",
    "Change did not slow down the hosts together",
    "Change slowed down the hosts together",
    severity="high",
    takes_effect="now",
    why="A loss of a few percent is visible only across many hosts.",
    reference="Wilcoxon 1945; Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, "
    "3.2 and 4.2",
)
def fleet_change(_facts: Facts, _policy: Policy) -> Verdict:
    raise Skip(_NO_BEFORE)


@rules.check(
    "latency.gate",
    "Change passed the gate and was kept",
    "Change was stopped or reverted by the gate",
    severity="critical",
    takes_effect="now",
    why="A change that slowed down hosts, or whose effect is unknown, must not reach the other "
    "hosts.",
    reference="docs/latency_gate.md, what the gate decides",
)
def gate(_facts: Facts, _policy: Policy) -> Verdict:
    raise Skip(_NO_BEFORE)
