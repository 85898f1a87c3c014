"""What rounds of a benchmark say about an expectation, on a machine that may be busy.

Each round gives one ratio, of two measurements taken right after each other. Whether the ratio
keeps a limit is told by the interval of all rounds' (Wilcoxon's, 95 %): wholly within is met,
wholly beyond is not, and across the limit the machine was too noisy to tell, which is no pass. What
the hypervisor took of the processors meanwhile is said, and changes no word.
"""

import math
import os
import time
from collections.abc import Callable, Sequence

from hostproof_controller.latency.fleet import signed_rank_interval
from hostproof_controller.latency.verdict import Interval

MET, NOT_MET, NOISY = "met", "NOT MET", "too noisy to tell"

#: Fewer rounds have no interval.
FEWEST = 6

#: A hundredth of the time of all processors is a p99 of its own.
MUCH_STOLEN = 0.01


def at_most(interval: Interval, limit: float) -> str:
    """Whether a ratio is at most ``limit``."""
    if interval.high <= limit:
        return MET
    return NOT_MET if interval.low > limit else NOISY


def at_least(interval: Interval, limit: float) -> str:
    """Whether a ratio is at least ``limit``."""
    if interval.low >= limit:
        return MET
    return NOT_MET if interval.high < limit else NOISY


def within(interval: Interval, share: float) -> str:
    """Whether a ratio is off from 1 by at most ``share`` (0.05)."""
    low, high = 1.0 - share, 1.0 + share
    if low <= interval.low and interval.high <= high:
        return MET
    return NOT_MET if interval.low > high or interval.high < low else NOISY


def rounds(
    one: Callable[[], float], judge: Callable[[Interval], str], least: int, seconds: float
) -> tuple[Interval, int, str]:
    """Take ``least`` rounds, and more until they decide or the time is over.

    The interval, how many rounds it took, and the word. Looking after each round makes a wrong
    word likelier than the interval says, so that a decision must hold for three looks in a row.
    """
    ratios: list[float] = []
    words: list[str] = []
    end = time.monotonic() + seconds
    before = processor_times()
    while True:
        ratios.append(one())
        if len(ratios) < max(FEWEST, least - 2):
            continue
        interval = signed_rank_interval(ratios)
        words.append(judge(interval))
        decided = len(words) >= 3 and len(set(words[-3:])) == 1 and words[-1] != NOISY
        if decided or time.monotonic() > end:
            word = words[-1] if decided else NOISY
            stolen = share_stolen(before, processor_times())
            if stolen > MUCH_STOLEN:
                print(f"The hypervisor took {stolen:.1%} of the processors in these rounds:")
            return interval, len(ratios), word


def processor_times() -> list[int]:
    """Ticks of all processors by what they were spent on (/proc/stat)."""
    with open("/proc/stat") as counters:
        return [int(number) for number in counters.readline().split()[1:9]]


def share_stolen(before: Sequence[int], after: Sequence[int]) -> float:
    """Of the time between two looks, the part that the hypervisor gave to others (steal)."""
    spent = [late - early for early, late in zip(before, after, strict=True)]
    return spent[7] / sum(spent) if any(spent) else 0.0


def shown(interval: Interval) -> str:
    """The ratio and its interval."""
    if math.isinf(interval.high):
        return f"x {interval.ratio:.3f}"
    return f"x {interval.ratio:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def go_first() -> bool:
    """Before other processes, where this user may: then their load is no part of a ratio."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(30))
    except OSError:
        return False
    return True


def go_as_others() -> None:
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


class Score:
    """The words of a whole benchmark, and what it exits with."""

    def __init__(self) -> None:
        self._words: list[str] = []

    def expect(self, what: str, word: str) -> None:
        """Print one expectation with its word; a skip is a line of its own for the summary."""
        self._words.append(word)
        print(f"Expected: {what}: {word}")
        if word == NOISY:
            print(f"SKIPPED {what}: too noisy to tell here, or right at the limit", flush=True)

    def together(self, what: str, words: Sequence[str]) -> None:
        """Several that must be met together."""
        worst = next((word for word in (NOT_MET, NOISY) if word in words), MET)
        self.expect(what, worst)

    def summary(self) -> str:
        """The line that ./hostproof test counts by."""
        count = self._words.count
        return f"{count(MET)} passed, {count(NOT_MET)} failed, {count(NOISY)} skipped"

    def exit_code(self) -> int:
        return 1 if NOT_MET in self._words else 0
