# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fixed schedule for requests that are timed, and a clock in whole nanoseconds.

A request is timed from when it was to begin, not from when it did: a stall that keeps the next
requests from beginning would else be seen once instead of once for each of them ("coordinated
omission").
"""

import contextlib
import ctypes
import gc
import os
import sys
import time
from typing import Callable, Iterator, Optional

_PR_SET_TIMERSLACK = 29
_PR_GET_TIMERSLACK = 30


def _from_seconds() -> int:
    return int(time.perf_counter() * 1e9)


#: A monotonic clock in nanoseconds. Python 3.6 has it in seconds only.
now_ns: Callable[[], int] = getattr(time, "perf_counter_ns", _from_seconds)


class Schedule:
    """When requests are to begin: every ``interval`` seconds, or without one back to back.

    Back to back, each begins when the one before has ended, so that stalls are under-counted.
    """

    def __init__(
        self,
        interval: float,
        clock: Callable[[], int] = now_ns,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._interval = int(interval * 1e9)
        self._clock = clock
        self._sleep = sleep
        self._next: Optional[int] = None

    def wait(self) -> int:
        """Sleep until the next request is to begin, and say when that is or was.

        In the past where the requests before took too long: the time to catch up is theirs.
        """
        now = self._clock()
        if not self._interval:
            return now
        begin = now + self._interval if self._next is None else self._next
        self._next = begin + self._interval
        while now < begin:
            self._sleep((begin - now) / 1e9)
            now = self._clock()
        return begin


@contextlib.contextmanager
def steady(cpu: Optional[int] = None) -> Iterator[None]:
    """No garbage collection, timers as exact as the kernel can, and on one CPU where requested.

    All three concern this process alone, need no privilege, and are restored at the end."""
    collecting = gc.isenabled()
    slack = _timer_slack()
    allowed = os.sched_getaffinity(0) if cpu is not None else None
    gc.disable()
    try:
        if slack is not None:
            _set_timer_slack(1)
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})
        yield
    finally:
        if allowed is not None:
            os.sched_setaffinity(0, allowed)
        if slack is not None:
            _set_timer_slack(slack)
        if collecting:
            gc.enable()


def _timer_slack() -> Optional[int]:
    """The timer slack of this thread in nanoseconds. None if the system has no timer slack.

    The kernel's usual 50 microseconds would be a large part of a round trip in a LAN.
    """
    if not sys.platform.startswith("linux"):
        return None
    slack = int(ctypes.CDLL(None).prctl(_PR_GET_TIMERSLACK, 0, 0, 0, 0))
    return slack if slack > 0 else None


def _set_timer_slack(nanoseconds: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, ctypes.c_ulong(nanoseconds), 0, 0, 0)
