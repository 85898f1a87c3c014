# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a comparison of latency before and after a change is judged by.

In a file of their own, for every audit needs them to name what it does not judge, and none needs
the mathematics of a comparison.
"""

from ..finding import Check

CHANGE = Check(
    "latency.change",
    "The change did not make this host slower",
    "high",
    "now",
    "A change that works can still be slow, and is easily undone only as long as it is fresh.",
    "Hodges and Lehmann 1963; Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 4.2",
)
FLEET_CHANGE = Check(
    "latency.fleet_change",
    "The change did not make the hosts slower together",
    "high",
    "now",
    "A few per cent that no single host can show are seen over many.",
    "Wilcoxon 1945; Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3.2 and 4.2",
)
GATE = Check(
    "latency.gate",
    "The change was measured and kept",
    "critical",
    "now",
    "A change that made hosts slower, or of which that cannot be told, must not reach the others.",
    "docs/latency_gate.md, what the gate decides",
)
