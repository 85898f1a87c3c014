"""Prints which stages run, how long they have run and how far they are, and how each one ended.

On a terminal each running stage has one line at the bottom that is drawn again every second. Into a
file or a pipe the runner prints one line a minute for each running stage.
"""

import contextlib
import re
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from .outcome import OWN_SUMMARY, ROW, SKIP_LINE, STEP, Ended, Result
from .stages import LOGS, Stage

#: Lines of the output of a command that failed.
TAIL_LINES = 40
#: Seconds between two looks at the logs, on a terminal and elsewhere.
LIVE_SECONDS, LINE_SECONDS = 1.0, 60.0

#: A line of pytest -q, which may not have ended yet: one letter a test.
LETTERS = re.compile(r"(?P<letters>[.FEsxX]+)(?: +\[ *(?P<percent>\d+)%\])?")


class Count(NamedTuple):
    """How far a stage is. ``percent`` is pytest's own figure, -1 where there is none."""

    commands: int = 0
    done: int = 0
    failed: int = 0
    percent: int = -1

    def after(self, line: str) -> "Count":
        """The count after one more line of the log."""
        if line.startswith("$ "):
            return self._replace(commands=self.commands + 1, percent=-1)
        letters = LETTERS.fullmatch(line)
        if letters:
            failed = sum(letter in "FE" for letter in letters["letters"])
            percent = int(letters["percent"]) if letters["percent"] else self.percent
            done = self.done + len(letters["letters"])
            return self._replace(done=done, failed=self.failed + failed, percent=percent)
        step = STEP.fullmatch(line) or ROW.fullmatch(line)
        if step and step["word"] != "done":
            failed = step["word"].lower() in ("failed", "error")
            return self._replace(done=self.done + 1, failed=self.failed + failed)
        return self


def count_so_far(output: str) -> Count:
    """The count of everything in an output."""
    so_far = Count()
    for line in output.splitlines():
        so_far = so_far.after(line)
    return so_far


class Running:
    """A stage that runs, and what its log says so far."""

    def __init__(self, stage: Stage, log: Path) -> None:
        self._stage = stage
        self._log = log
        self._began = time.monotonic()
        self._read = 0
        self._rest = ""
        self._count = Count()

    def line(self) -> str:
        """Stage, minutes and seconds, tests done and failed."""
        count = self._look()
        minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
        words = [f"  {self._stage.name:<11}{minutes:3}:{seconds:02}"]
        if len(self._stage.commands) > 1:
            words.append(f"command {max(count.commands, 1)} of {len(self._stage.commands)}")
        if count.done:
            words.append(f"{count.done} done, {count.failed} failed")
        if count.percent >= 0:
            words.append(f"{count.percent} %")
        return "  ".join(words)

    def _look(self) -> Count:
        with contextlib.suppress(OSError), self._log.open("rb") as stream:
            stream.seek(self._read)
            text = stream.read()
            self._read += len(text)
            *lines, self._rest = (self._rest + text.decode(errors="replace")).split("\n")
            for line in lines:
                self._count = self._count.after(line)
        return self._count.after(self._rest)


class Progress:
    """The runner's output. Everything printed goes through here, so that lines do not mix."""

    def __init__(self, out: IO[str] | None = None, *, live: bool | None = None) -> None:
        self._out = out or sys.stdout
        self._live = self._out.isatty() if live is None else live
        self._lock = threading.Lock()
        self._running: list[Running] = []
        self._drawn = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> "Progress":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @contextlib.contextmanager
    def running(self, stage: Stage, log_name: str = "") -> Iterator[None]:
        """The stage runs meanwhile."""
        entry = Running(stage, LOGS / f"{log_name or stage.name}.log")
        with self._lock:
            self._running.append(entry)
        try:
            yield
        finally:
            with self._lock:
                self._running.remove(entry)

    def say(self, text: str) -> None:
        """Print lines above those of the running stages."""
        with self._lock:
            self._erase()
            print(text, file=self._out, flush=True)

    def say_stage(self, ended: Ended) -> None:
        """Print in one line how a stage ended, and below it the end of what failed."""
        counts, took = ended.counts, f"{ended.seconds:6.0f} s  {ended.cpu:6.0f} s CPU"
        word = "FAILED" if counts.failed else "ok" if counts.passed else "skipped"
        self.say(f"{ended.stage.name:<11}{word:<9}{counts!s:<40}{took}")
        for result in ended.results:
            if result.counts.failed:
                self.say(failure(ended.stage, result))
            elif ended.stage.table:
                self.say(table(result))

    def look(self) -> None:
        """Print the lines of the running stages once."""
        with self._lock:
            self._erase()
            lines = [entry.line() for entry in self._running]
            if self._live:
                width = shutil.get_terminal_size().columns - 1
                lines = [line[:width] for line in lines]
                self._drawn = len(lines)
            for line in lines:
                print(line, file=self._out)
            self._out.flush()

    def _follow(self) -> None:
        while not self._ended.wait(LIVE_SECONDS if self._live else LINE_SECONDS):
            self.look()
        with self._lock:
            self._erase()

    def _erase(self) -> None:
        """Remove the lines of the running stages from the terminal."""
        if self._drawn:
            # Cursor up to the first of them, then clear to the end of the screen.
            print(f"\x1b[{self._drawn}F\x1b[J", end="", file=self._out)
            self._drawn = 0


def table(result: Result) -> str:
    """The output without what the list of skips and the closing line repeat."""
    kept = OWN_SUMMARY.sub("", SKIP_LINE.sub("", result.output)).strip("\n")
    return "".join(f"  {line}\n" for line in kept.splitlines() if line)


def failure(stage: Stage, result: Result) -> str:
    """The command that failed and the end of its output."""
    lines = result.output.splitlines()
    report = ["", f"  {' '.join(result.argv)}"]
    if len(lines) > TAIL_LINES:
        report.append(f"  ... {len(lines) - TAIL_LINES} lines more in .cache/logs/{stage.name}.log")
    return "\n".join([*report, *(f"  | {line}" for line in lines[-TAIL_LINES:]), ""])
