# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real-time priority of Oracle's processes, and whether the kernel allows it."""

from typing import List, Optional

from ...collect.answer import Answer, attempt, if_known
from ...evaluate.checking import Rules, Verdict, by_layers, failing
from ...evaluate.finding import FAIL, PASS, WARN
from .facts import Facts
from .parsers.pid_stat import Scheduling
from .policy import NAME, Policy
from .probes.realtime import PROCESSES, RELEASE, SHARE, SUBTREE, blocked_by

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "process_limits.realtime",
    "The kernel gives Oracle's processes real-time priority",
    "Oracle's processes have or will have no real-time priority",
    severity="high",
    takes_effect="reboot",
    why="OCSSD, LMS and VKTM wait behind other processes on a busy host. Then the node misses "
    "heartbeats and is evicted.",
    reference="kernel Documentation/admin-guide/cgroup-v2.rst, CPU; sched(7), SCHED_RR; Cluster "
    "Verification Utility, cgroup OS compatibility (PRVE-10390)",
    because_of=("space.oradism",),
)
def realtime(facts: Facts, _policy: Policy) -> Verdict:
    state = facts.realtime
    processes = if_known(state.processes, {})
    slow = [name for name, scheduling in processes.items() if _is_slow(scheduling)]
    blocked: Answer[Optional[str]] = attempt(blocked_by, state)
    reason = if_known(blocked, None)
    status, why = PASS, []
    if slow:
        status = WARN
        why.append(f"{', '.join(slow)} run without real-time priority")
    if reason:
        is_served = bool(processes) and not slow
        status = WARN if is_served else FAIL
        why.append(f"the kernel has CONFIG_RT_GROUP_SCHED, and {reason}")
    has_groups = if_known(state.groups, None)
    verdict = Verdict(
        status,
        f"{'; '.join(why)}.",
        fix="start a kernel without CONFIG_RT_GROUP_SCHED, or remove CPUWeight=, CPUQuota= and "
        "CPUAccounting= from all units and restart the host"
        if reason
        else "check that bin/oradism of the home is setuid root, and restart the process",
        desired="real-time class, which the kernel allows",
        running=_kernel(has_groups, reason),
        in_use="; ".join(_texts(facts)) or None,
        evidence=["file:" + RELEASE, "file:" + SUBTREE, "file:" + SHARE, "processes:" + PROCESSES],
        failing_layer=failing(in_use=bool(slow), running=bool(reason)),
    )
    layers = [("the kernel", blocked), ("the processes", state.processes)]
    return by_layers(
        verdict, layers + [(name, scheduling) for name, scheduling in processes.items()]
    )


def _is_slow(scheduling: Answer[Scheduling]) -> bool:
    return isinstance(scheduling, Scheduling) and not scheduling.is_realtime


def _kernel(has_groups: Optional[bool], reason: Optional[str]) -> Optional[str]:
    if has_groups is None:
        return None
    if not has_groups:
        return "built without CONFIG_RT_GROUP_SCHED"
    return "built with CONFIG_RT_GROUP_SCHED, " + (reason or "which blocks nothing now")


def _texts(facts: Facts) -> List[str]:
    return [
        f"{name} {scheduling.name} {scheduling.priority}"
        for name, scheduling in sorted(if_known(facts.realtime.processes, {}).items())
        if isinstance(scheduling, Scheduling)
    ]
