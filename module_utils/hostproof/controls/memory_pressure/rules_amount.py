# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Amounts of memory: the minimum for the software, and what is available now."""

from ...collect.answer import known
from ...errors import Unanswered
from ...evaluate.checking import Rules, Verdict
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.size import human
from .facts import Facts
from .policy import NAME, Policy

rules: Rules[Facts, Policy] = Rules(NAME)

_GIB = 1 << 30
_GRID, _DATABASE = 8 * _GIB, 1 * _GIB
#: Percentage of the minimum that firmware and kernel can reserve. CVU 23.26.1 accepts 7.75 GiB.
_TOLERANCE = 5
_LEAST_AVAILABLE = 50 << 20
#: Percent of memory.
_ENOUGH_AVAILABLE = 3
_MEMINFO = "file:/proc/meminfo"


@rules.check(
    "memory_pressure.physical",
    "Memory meets the minimum of the Oracle software",
    "Memory is less than the minimum of the Oracle software",
    severity="high",
    takes_effect="reboot",
    why="The installer and the Cluster Verification Utility reject the host (PRVF-7530). "
    "Processes of Grid Infrastructure are killed when memory runs out.",
    reference="Oracle Grid Infrastructure Installation Guide, Server Configuration Checklist; "
    "Cluster Verification Utility, Physical Memory",
)
def physical(facts: Facts, policy: Policy) -> Verdict:
    is_grid = policy.profile is not None and policy.profile.grid
    if not is_grid:
        is_grid = any(home.clusterware for home in known(facts.homes))
    least, purpose = (_GRID, "Grid Infrastructure") if is_grid else (_DATABASE, "a database")
    total = known(facts.meminfo)["MemTotal"]
    return Verdict(
        PASS if total * 100 >= least * (100 - _TOLERANCE) else FAIL,
        f"The host has {human(total)}, and {purpose} needs {human(least)}.",
        fix="add memory to the host or to the virtual machine",
        desired=f"at least {human(least)} for {purpose}, tolerance {_TOLERANCE}%",
        running=human(total),
        evidence=[_MEMINFO],
        values={"wanted": least, "running": total, "unit": "bytes"},
        failing_layer="running",
    )


@rules.check(
    "memory_pressure.available",
    "Enough memory is available",
    "Little memory is available",
    severity="high",
    takes_effect="now",
    why="New sessions get their memory only after the kernel has written other memory to swap. "
    "Without swap the OOM killer stops a process.",
    reference="proc(5), /proc/meminfo (MemAvailable); ORAchk, Free Physical Memory; Cluster "
    "Verification Utility, Available Physical Memory",
    because_of=("memory_pressure.physical", "hugepages.pool_covers_sga"),
)
def available(facts: Facts, _policy: Policy) -> Verdict:
    memory = known(facts.meminfo)
    if "MemAvailable" not in memory:
        raise Unanswered(_MEMINFO, "the kernel shows no MemAvailable")
    free = memory["MemAvailable"]
    required = max(memory["MemTotal"] * _ENOUGH_AVAILABLE // 100, _LEAST_AVAILABLE)
    return Verdict(
        FAIL if free < _LEAST_AVAILABLE else WARN if free < required else PASS,
        f"{human(free)} of {human(memory['MemTotal'])} are available.",
        fix="find the processes that use the memory (ps -eo pid,rss,args --sort=-rss), and free "
        "unused huge pages",
        desired=f"at least {human(required)} ({_ENOUGH_AVAILABLE}% of memory)",
        running=human(free),
        evidence=[_MEMINFO],
        values={"wanted": required, "running": free, "unit": "bytes"},
        failing_layer="running",
    )
