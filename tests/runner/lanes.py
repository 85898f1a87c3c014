"""Runs stages in two lanes side by side, and gives stages that failed a second try."""

import math
import queue
import threading
import time

from .commands import run_stage
from .outcome import Ended, Result
from .progress import Progress
from .stages import APART, ASKED_ONCE, SECOND_LANE, Stage

#: Seconds after the start in which a second try must have ended. A CI job has 5,400 seconds, and
#: the set-up takes about 100 of them.
AGAIN_WITHIN = 5100
#: Exit status of a command that ran all its tests, some of which failed. After another status the
#: tests that were left are not among those that failed, so the second try runs all of them.
TESTS_FAILED = 1
#: Expected seconds of a second try that runs only the tests that failed.
FAILED_ONLY = 300


def lanes_of(wanted: list[Stage]) -> list[list[Stage]]:
    """The two lanes, without a lane that has no stage."""
    lanes = (
        [stage for stage in wanted if stage.name not in SECOND_LANE],
        [stage for stage in wanted if stage.name in SECOND_LANE],
    )
    return [lane for lane in lanes if lane]


def run_lanes(lanes: list[list[Stage]], progress: Progress, until: float = math.inf) -> list[Ended]:
    """Run the lanes side by side, and report each stage as soon as it has ended.

    ``until``: when the time of the run is up (monotonic seconds). Stages that run then are ended,
    and the rest does not start.
    """
    stopping = threading.Event()
    ended_stages: queue.Queue[Ended | BaseException] = queue.Queue()
    waiting = Waiting(lanes)

    def follow(lane: list[Stage]) -> None:
        try:
            while not stopping.is_set():
                stage = waiting.take(lane)
                if stage is None:
                    break
                with progress.running(stage):
                    ended = run_stage(stage, stopping, until=until)
                ended_stages.put(ended)
        except BaseException as problem:
            ended_stages.put(problem)

    threads = [threading.Thread(target=follow, args=(lane,)) for lane in lanes]
    ended: list[Ended] = []
    try:
        for thread in threads:
            thread.start()
        for _ in range(sum(map(len, lanes))):
            outcome = ended_stages.get()
            if isinstance(outcome, BaseException):
                raise outcome
            progress.say_stage(outcome)
            ended.append(outcome)
        return ended
    finally:
        # After an interruption nothing that a stage started may go on.
        stopping.set()
        for thread in threads:
            thread.join()


class Waiting:
    """The stages that have not begun."""

    def __init__(self, lanes: list[list[Stage]]) -> None:
        self._stages = [stage for lane in lanes for stage in lane]
        self._changed = threading.Condition()
        #: The stage that each lane runs now, by the identity of the lane.
        self._running: dict[int, Stage] = {}

    def take(self, lane: list[Stage]) -> Stage | None:
        """The lane's next stage. A lane without stages takes the longest stage of the other lane.

        A stage that must not run beside the other lane's stage is left to that lane, or waited for.
        """
        with self._changed:
            self._running.pop(id(lane), None)
            self._changed.notify_all()
            while True:
                own = [stage for stage in self._stages if stage in lane]
                rest = sorted(self._stages, key=lambda stage: -stage.budget)
                choice = next(filter(self._may_run, own or rest), None)
                if choice is not None:
                    self._stages.remove(choice)
                    self._running[id(lane)] = choice
                if choice is not None or not own:
                    return choice
                self._changed.wait()

    def _may_run(self, stage: Stage) -> bool:
        running = {other.name for other in self._running.values()}
        return stage.name not in APART or not running & APART


class Again:
    """Gives what failed beside other work a second try when nothing else runs.

    A busy machine can miss a deadline although nothing is wrong. What is broken fails again.
    """

    def __init__(self, deadline: float, progress: Progress) -> None:
        self._deadline = deadline
        self._progress = progress
        self.unsteady: list[str] = []

    def ask(self, ended: Ended) -> Ended:
        """The stage with the results of a second try in place of commands that failed."""
        if not ended.counts.failed or ended.stage.name in ASKED_ONCE:
            return ended
        results = [self._second(ended.stage, result, ended.seconds) for result in ended.results]
        return ended._replace(results=results)

    def _second(self, stage: Stage, first: Result, needs: float) -> Result:
        failed_only = stage.failed_only if first.status == TESTS_FAILED else ()
        if failed_only:
            needs = min(FAILED_ONLY, needs)
        left = int(self._deadline - time.monotonic())
        if not first.counts.failed or left <= needs:
            return first
        argv = [*first.argv, *failed_only]
        within = stage._replace(commands=[argv], seconds=min(stage.seconds, left))
        name = f"{stage.name}-again"
        with self._progress.running(within, name):
            alone = run_stage(within, threading.Event(), name)
        shown = stage._replace(name=f"{stage.name} again", table=False)
        self._progress.say_stage(alone._replace(stage=shown))
        if alone.counts.failed or not alone.counts.passed:
            return first
        self.unsteady += [f"{stage.name}: {failure}" for failure in first.failures]
        counts = alone.counts
        if failed_only:
            counts += first.counts._replace(failed=0)
        return first._replace(counts=counts)
