# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sampling window: the seconds in which rates are measured. All controls share one window.

Counters are read when the window opens and when it closes. Measurements run in between, and nothing
else is read during that time, so that reads do not distort measurements.
"""

import subprocess
import threading
import time
from typing import Any, Callable, Dict, List, NamedTuple, Sequence, Tuple, Union

#: How a measurement goes with others. QUIET only looks: it lasts as long as the window. TRAFFIC
#: sends requests: one at a time, or they would measure each other. LOAD makes I/O that the counters
#: of disks, mounts and network cards hold too: one at a time, after all that looks has ended.
QUIET, TRAFFIC, LOAD = "quiet", "traffic", "load"

#: Seconds that the second readings wait for a measurement that takes longer than it should.
_LATE = 1.0
#: A measurement fails after _TIMES its own seconds plus _MORE seconds.
_TIMES, _MORE = 3.0, 30.0

#: Monotonic clock in seconds, and the matching sleep.
now = time.monotonic
sleep = time.sleep


class Waits(BaseException):
    """The read of a control needs the window, which opens when all controls need it or are done.

    Not an Exception, because it is not an error and must not be handled as one.
    """


class Task:
    """A reading that needs the window; ``key`` and ``kind`` are those of the reading.

    ``begin`` is called when the window opens, and ``end``, which returns the answer, when it
    closes.
    """

    def __init__(self, key: str, kind: str) -> None:
        self.key = key
        self.kind = kind

    def begin(self) -> None:
        """The first reading."""

    def end(self) -> Dict[str, Any]:
        """The second reading; the answer is of both."""
        return {}


class Measurement(Task):
    """``measure`` runs while the window is open; it takes the seconds that it shall last."""

    def __init__(
        self, key: str, kind: str, how: str, measure: Callable[[float], Dict[str, Any]]
    ) -> None:
        super().__init__(key, kind)
        self.how = how
        self._measure = measure
        self._ended = threading.Event()
        self._outcome: Outcome = ValueError("was not measured")

    def run(self, seconds: float) -> None:
        try:
            self._outcome = _outcome_of(lambda: self._measure(seconds))
        finally:
            self._ended.set()

    def wait(self, until: float) -> bool:
        """Whether it has ended by then."""
        return self._ended.wait(max(0.0, until - now()))

    def end(self) -> Dict[str, Any]:
        if not self._ended.is_set():
            raise ValueError("did not end in time; the wait was ended")
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


#: An answer, or what was raised in its place.
Outcome = Union[Dict[str, Any], Exception]


class Shares(NamedTuple):
    """How a window is divided: for all that looks, and for each that makes traffic or load."""

    looking: float
    turn: float


def shares(kinds: Sequence[str], seconds: float) -> Shares:
    """What measurements of these kinds get of this number of seconds.

    Traffic takes turns while others look, and load when they have ended: unless there is load,
    what looks has all of the window.
    """
    traffic, load = kinds.count(TRAFFIC), kinds.count(LOAD)
    # Load leaves a turn to what looks also where there is no traffic.
    turn = float(seconds) / (max(1, traffic) + load)
    return Shares(seconds - load * turn, turn)


def _begin(reading: Sequence[Task]) -> Dict[str, Exception]:
    """Begin each of them; the problem of those that could not."""
    failed: Dict[str, Exception] = {}
    for task in reading:
        problem = _outcome_of(task.begin)
        if isinstance(problem, Exception):
            failed[task.key] = problem
    return failed


def run(tasks: Sequence[Task], seconds: float) -> List[Tuple[Task, Outcome]]:
    """Run one window for all tasks and return the outcome of each; tasks do not affect each other.

    It is as long as ``seconds``, or longer if a task needs longer to read. Divide counters by the
    time that really passed.
    """
    measuring = [task for task in tasks if isinstance(task, Measurement)]
    reading = [task for task in tasks if not isinstance(task, Measurement)]
    quiet, traffic, load = [
        [measurement for measurement in measuring if measurement.how == how]
        for how in (QUIET, TRAFFIC, LOAD)
    ]
    share = shares([measurement.how for measurement in measuring], seconds)
    failed = _begin(reading)
    opened = now()
    for task in quiet:
        _in_turn([task], share.looking)
    _in_turn(traffic, share.turn)
    sleep(share.looking)
    for task in quiet + traffic:
        task.wait(opened + share.looking + _LATE)
    outcomes = {task.key: failed.get(task.key) or _outcome_of(task.end) for task in reading}
    outcomes.update(_ended(quiet + traffic, seconds))
    _in_turn(load, share.turn)
    outcomes.update(_ended(load, seconds))
    return [(task, outcomes[task.key]) for task in tasks]


def _in_turn(measurements: Sequence[Measurement], seconds: float) -> None:
    """Begin them one after the other, in a separate thread: some never end."""

    def measure() -> None:
        for measurement in measurements:
            measurement.run(seconds)

    if measurements:
        threading.Thread(target=measure, daemon=True).start()


def _ended(measurements: Sequence[Measurement], seconds: float) -> Dict[str, Outcome]:
    """Their outcomes; a measurement that exceeds its time limit is a failure."""
    latest = now() + _TIMES * seconds + _MORE
    outcomes: Dict[str, Outcome] = {}
    for measurement in measurements:
        measurement.wait(latest)
        outcomes[measurement.key] = _outcome_of(measurement.end)
    return outcomes


def _outcome_of(ask: Callable[[], object]) -> Any:
    try:
        return ask()
    except (OSError, subprocess.SubprocessError, ValueError) as problem:
        return problem
    except Exception as problem:  # a fault of one must not take the answers of the others
        return ValueError(f"{type(problem).__name__}: {problem}")
