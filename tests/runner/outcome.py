"""What a command printed: how many tests passed, failed and were skipped, and which were slow.

A command that exits with 77 was skipped, and its last line gives the reason. Tests are counted by
pytest's summary, or by a last line "N passed, N failed, N skipped"; a command with neither counts
as one test. A summary of no test is a failure. A line "SKIPPED reason" names what the command left
out.
"""

import re
from typing import NamedTuple

from .stages import SLOWEST, Stage

#: Exit status of a program that cannot run here (as in automake).
SKIPPED = 77

PYTEST_SUMMARY = re.compile(r"^=*\s*((?:\d+ [a-z]+(?:, )?)+) in \d+\.\d+s", re.MULTILINE)
OWN_SUMMARY = re.compile(
    r"^(?:[a-z]+: )?(\d+) passed, (\d+) failed, (\d+) skipped\s*$", re.MULTILINE
)
SKIP_LINE = re.compile(r"^SKIPPED (?:\[\d+\] )?(.+)$", re.MULTILINE)
#: pytest's short summary. The lab prints it indented, so there the word must precede a test's id.
FAILED_LINE = re.compile(r"^(?: +(?=[A-Z]+ \S+::))?(?:FAILED|ERROR) (.+)$", re.MULTILINE)
#: What tests/machines/needs.py prints where a program of the tests gives up.
GAVE_UP = re.compile(r"^failed: (.+)$", re.MULTILINE)
#: Times of tests: pytest's --durations, steps of a story, rows of the matrix.
DURATION = re.compile(
    r"^(?P<seconds>\d+\.\d+)s (?:call|setup|teardown) +(?P<name>\S+)", re.MULTILINE
)
STEP = re.compile(
    r"^ *(?P<word>passed|failed|error|skipped|done) +(?P<seconds>[\d.]+) s  (?P<name>.+)$",
    re.MULTILINE,
)
ROW = re.compile(r"^(?P<name>\S.*?) +(?P<word>ok|FAILED) +(?P<seconds>\d+) s$", re.MULTILINE)


class Counts(NamedTuple):
    """Numbers of tests."""

    passed: int
    failed: int
    skipped: int

    def __add__(self, other: object) -> "Counts":
        assert isinstance(other, Counts)
        return Counts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def __str__(self) -> str:
        words = zip(self, ("passed", "failed", "skipped"), strict=True)
        return ", ".join(f"{number} {word}" for number, word in words if number) or "nothing ran"


class Result(NamedTuple):
    """What one command did. ``status`` is its exit status. ``output`` includes standard error."""

    argv: list[str]
    status: int
    counts: Counts
    output: str
    skips: list[str]

    @property
    def failures(self) -> list[str]:
        """The names of the tests that failed. Where it names none, the command and its reason, if
        it gave one: it could not set up what it needs."""
        reasons = [f": {reason}" for reason in GAVE_UP.findall(self.output)]
        return FAILED_LINE.findall(self.output) or [" ".join(self.argv) + "".join(reasons[-1:])]


class Ended(NamedTuple):
    """A stage that ran. ``cpu``: seconds of CPU time of all its processes, virtual machines
    included."""

    stage: Stage
    results: list[Result]
    seconds: float
    cpu: float

    @property
    def counts(self) -> Counts:
        return sum((result.counts for result in self.results), Counts(0, 0, 0))

    def slowest(self) -> list[tuple[float, str]]:
        """Seconds and names of the slowest tests, as far as the stage prints times."""
        text = "\n".join(result.output for result in self.results)
        tests = {
            (float(match["seconds"]), match["name"])
            for form in (DURATION, STEP, ROW)
            for match in form.finditer(text)
        }
        return sorted(tests, reverse=True)[:SLOWEST]


def judge(argv: list[str], status: int, output: str) -> Result:
    """The result of a command by its exit status and its output."""
    if status == SKIPPED:
        lines = [line for line in output.splitlines() if line.strip()]
        return Result(argv, status, Counts(0, 0, 1), output, lines[-1:] or ["gave no reason"])
    counts = count(output)
    if status != 0 and not counts.failed:
        counts += Counts(0, 1, 0)
    elif counts == (0, 0, 0):
        counts = Counts(0, 1, 0) if OWN_SUMMARY.search(output) else Counts(1, 0, 0)
    return Result(argv, status, counts, output, SKIP_LINE.findall(output))


def count(output: str) -> Counts:
    """The numbers in the summaries of an output."""
    own = OWN_SUMMARY.findall(output)
    if own:
        return Counts(*map(int, own[-1]))
    total = Counts(0, 0, 0)
    for summary in PYTEST_SUMMARY.findall(output):
        numbers = {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", summary)}
        bad = sum(numbers.get(word, 0) for word in ("failed", "error", "errors"))
        left_out = sum(numbers.get(word, 0) for word in ("skipped", "xfailed"))
        total += Counts(numbers.get("passed", 0), bad, left_out)
    return total
