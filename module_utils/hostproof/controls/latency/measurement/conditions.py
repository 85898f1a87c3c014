# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of the host during a measurement: the ``conditions`` of a window.

Windows are comparable only if their conditions are equal. None: the host does not report a value.
"""

import os
import resource
import time
from typing import Any, Dict, List, NamedTuple, Optional

from ....parsers.number import clipped

_CPUFREQ = "/sys/devices/system/cpu/cpu{0}/cpufreq/scaling_governor"
_CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#: user nice system idle iowait irq softirq steal: proc(5). user includes guest.
_CPU_COLUMNS = 8
_STEAL = 7
#: CLOCK_MONOTONIC_COARSE advances once per kernel tick, so its resolution is the tick.
_COARSE_CLOCK = 6
#: The longest tick of a server kernel in microseconds (HZ 100).
_LONGEST_TICK = 10000.0


class Before(NamedTuple):
    """The counters at the start of the window."""

    voluntary: int
    preempted: int
    cpu_seconds: float
    cpu_times: Optional[List[int]]


def start() -> Before:
    """Read the counters that ``since`` compares with."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return Before(usage.ru_nvcsw, usage.ru_nivcsw, usage.ru_utime + usage.ru_stime, _cpu_times())


def since(before: Before, cpu: Optional[int] = None) -> Dict[str, Any]:
    """The conditions of a window that started at ``before``.

    ``load`` is the load average of the last minute. ``nvcsw`` and ``nivcsw`` are the voluntary and
    involuntary context switches of the probe, and ``cpu_ms`` is its CPU time. ``cpu`` is the CPU to
    which it was bound. ``steal_percent`` is the CPU time that the hypervisor gave to other guests.
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
    """The kernel tick (1/HZ) in microseconds. The longest possible tick if HZ is unknown.

    Source: posix_get_coarse_res() of the kernel's kernel/time/posix-timers.c.
    """
    try:
        tick = time.clock_getres(_COARSE_CLOCK) * 1e6
    except OSError:
        return _LONGEST_TICK
    # Another clock with this number does not have the resolution of a tick.
    return round(tick, 1) if 500 <= tick <= _LONGEST_TICK else _LONGEST_TICK


def _load() -> Optional[float]:
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def _cpu_times() -> Optional[List[int]]:
    """Ticks of all CPUs together: the columns up to steal."""
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
