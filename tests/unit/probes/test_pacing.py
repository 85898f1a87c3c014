"""The schedule by a clock that the test moves, and what is put back at the end."""

import gc
import os
import random

import pytest
from ansible.module_utils.hostproof.controls.latency.measurement import pacing

MS = 1_000_000


class Clock:
    """Time that passes only where somebody sleeps or works; a timer wakes up ``late``."""

    def __init__(self, late: int = 0) -> None:
        self.now = 5 * MS
        self.late = late

    def __call__(self) -> int:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += round(seconds * 1e9) + self.late


def test_begins_are_an_interval_apart_whatever_the_work_took():
    clock = Clock(late=70_000)
    schedule = pacing.Schedule(0.01, clock, clock.sleep)
    begins = []
    for work in (3, 9, 1):
        begins.append(schedule.wait())
        clock.now += work * MS
    assert [begin - begins[0] for begin in begins] == [0, 10 * MS, 20 * MS]


def test_a_late_timer_is_counted():
    clock = Clock(late=70_000)
    begin = pacing.Schedule(0.01, clock, clock.sleep).wait()
    assert clock() - begin == 70_000


def test_after_a_stall_the_missed_ones_begin_at_once_and_are_timed_from_when_they_were_to():
    clock = Clock()
    schedule = pacing.Schedule(0.01, clock, clock.sleep)
    first = schedule.wait()
    clock.now += 35 * MS
    waits = []
    for _ in range(5):
        begin = schedule.wait()
        waits.append(clock() - begin)
    assert waits == [25 * MS, 15 * MS, 5 * MS, 0, 0]
    assert clock() == first + 50 * MS


def test_back_to_back():
    clock = Clock()
    schedule = pacing.Schedule(0, clock, clock.sleep)
    assert schedule.wait() == schedule.wait() == 5 * MS


def test_a_freeze_is_seen_by_each_request_that_it_delayed():
    """The fact sheet's simulation: 1 s of freeze in 30 s, a request every 10 ms."""
    clock = Clock()
    schedule = pacing.Schedule(0.01, clock, clock.sleep)
    begin_of_all, took = clock(), []
    chance = random.Random(1)
    for _ in range(3000):
        begin = schedule.wait()
        clock.now += 100_000 + chance.randrange(50_000)
        if 15_000 * MS <= clock.now - begin_of_all < 16_000 * MS:
            clock.now = begin_of_all + 16_000 * MS
        took.append(clock() - begin)
    took.sort()
    assert took[2970] == pytest.approx(713 * MS, rel=0.03)
    assert took[2997] == pytest.approx(980 * MS, rel=0.03)


def test_everything_is_put_back():
    slack, allowed = pacing._timer_slack(), os.sched_getaffinity(0)
    assert slack and slack > 1
    with pytest.raises(ZeroDivisionError), pacing.steady(min(allowed)):
        assert not gc.isenabled()
        assert pacing._timer_slack() == 1
        assert os.sched_getaffinity(0) == {min(allowed)}
        raise ZeroDivisionError
    assert gc.isenabled()
    assert (pacing._timer_slack(), os.sched_getaffinity(0)) == (slack, allowed)
