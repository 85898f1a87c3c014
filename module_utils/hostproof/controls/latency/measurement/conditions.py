# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What else was true of the host while a probe measured: the ``conditions`` of a window.

Two windows compare only where these are alike. What the host does not tell is None.
"""

import os
import resource
import time
from typing import Any, Dict, List, NamedTuple, Optional

from ....parsers.number import clipped

_CPUFREQ = "/sys/devices/system/cpu/cpu{0}/cpufreq/scaling_governor"
_CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#: user nice system idle iowait irq softirq steal: proc(5). guest is counted in user already.
_CPU_COLUMNS = 8
_STEAL = 7
#: CLOCK_MONOTONIC_COARSE, which moves with the kernel's tick: its resolution is that tick.
_COARSE_CLOCK = 6
#: Microseconds of the longest tick that a kernel of a server is built with (HZ 100).
_LONGEST_TICK = 10000.0


class Before(NamedTuple):
    """What the counters said when the window began."""

    voluntary: int
    preempted: int
    cpu_seconds: float
    cpu_times: Optional[List[int]]


def start() -> Before:
    """Read the counters that ``since`` compares with."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return Before(usage.ru_nvcsw, usage.ru_nivcsw, usage.ru_utime + usage.ru_stime, _cpu_times())


def since(before: Before, cpu: Optional[int] = None) -> Dict[str, Any]:
    """The conditions of a window that began at ``before``.

    ``load`` is the average of the last minute. ``nvcsw`` are waits of the probe, ``nivcsw`` how
    often it was preempted, ``cpu_ms`` what it used. ``cpu`` is the one that it was bound to.
    ``steal_percent`` is what the hypervisor gave to others.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "load": _load(),
        "cpus": os.cpu_count(),
        "cpu": cpu,
        "governor": _word(_CPUFREQ.format(cpu or 0)),
        "clocksource": _word(_CLOCK),
        "kernel": os.uname().release,
        "steal_percent": _steal(before.cpu_times, _cpu_times()),
        "nvcsw": usage.ru_nvcsw - before.voluntary,
        "nivcsw": usage.ru_nivcsw - before.preempted,
        "cpu_ms": round((usage.ru_utime + usage.ru_stime - before.cpu_seconds) * 1000, 1),
    }


def tick_us() -> float:
    """Microseconds of a tick of this kernel, by its HZ; the longest there is if it does not tell.

    Source: posix_get_coarse_res() of the kernel's kernel/time/posix-timers.c.
    """
    try:
        tick = time.clock_getres(_COARSE_CLOCK) * 1e6
    except OSError:
        return _LONGEST_TICK
    # A clock of another kind behind that number is not a tick.
    return round(tick, 1) if 500 <= tick <= _LONGEST_TICK else _LONGEST_TICK


def _load() -> Optional[float]:
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def _cpu_times() -> Optional[List[int]]:
    """Ticks of all CPUs together, as far as the steal."""
    try:
        with open("/proc/stat") as stream:
            words = stream.readline().split()
    except OSError:
        return None
    if not words or words[0] != "cpu" or len(words) <= _CPU_COLUMNS:
        return None
    times = words[1 : 1 + _CPU_COLUMNS]
    return [clipped(word) for word in times] if all(word.isdecimal() for word in times) else None


def _steal(before: Optional[List[int]], after: Optional[List[int]]) -> Optional[float]:
    if before is None or after is None or sum(after) <= sum(before):
        return None
    return round(100.0 * (after[_STEAL] - before[_STEAL]) / (sum(after) - sum(before)), 2)


def _word(path: str) -> Optional[str]:
    try:
        with open(path) as stream:
            return stream.readline().strip() or None
    except OSError:
        return None
