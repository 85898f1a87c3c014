# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a comparison of latency before and after a change is judged by.

An audit has nothing to compare: ``compare`` and the gate make findings of these checks.
"""

from ...evaluate.checking import Rules, Skip, Verdict
from .facts import Facts
from .policy import NAME, Policy

rules = Rules(NAME)

_NO_BEFORE = "There is no before to compare with: ./hostproof baseline, then ./hostproof compare."


@rules.check(
    "latency.change",
    "The change did not make this host slower",
    severity="high",
    takes_effect="now",
    why="A change that works can still be slow, and is easily undone only as long as it is fresh.",
    reference="Hodges and Lehmann 1963; Hollander, Wolfe and Chicken, Nonparametric Statistical "
    "Methods, 4.2",
)
def change(_facts: Facts, _policy: Policy) -> Verdict:
    raise Skip(_NO_BEFORE)


@rules.check(
    "latency.fleet_change",
    "The change did not make the hosts slower together",
    severity="high",
    takes_effect="now",
    why="A few per cent that no single host can show are seen over many.",
    reference="Wilcoxon 1945; Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, "
    "3.2 and 4.2",
)
def fleet_change(_facts: Facts, _policy: Policy) -> Verdict:
    raise Skip(_NO_BEFORE)


@rules.check(
    "latency.gate",
    "The change was measured and kept",
    severity="critical",
    takes_effect="now",
    why="A change that made hosts slower, or of which that cannot be told, must not reach the "
    "others.",
    reference="docs/latency_gate.md, what the gate decides",
)
def gate(_facts: Facts, _policy: Policy) -> Verdict:
    raise Skip(_NO_BEFORE)
