"""Runs the tests of changed copies: which notice the change."""

import contextlib
import json
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

from mutation.changes import Change, changes, is_python
from mutation.records import Record, Records, digest
from mutation.selecting import Code, Selection

NOTICED = "noticed"
SURVIVED = "survived"
TIMEOUT = "timeout"
#: No test runs the line.
UNTESTED = "untested"
PYTEST = ("-q", "-p", "no:cacheprovider", "-p", "mutation.contexts", "--tb=no")
#: Seconds for the tests of one file, while their lines are recorded and otherwise.
LONGEST = 1800
LONGEST_FILE = 300
#: Seconds that a run may take in addition to three times those of the first run.
GRACE = 60
TESTS = Path(__file__).resolve().parents[1]


class Mutant(NamedTuple):
    path: Path
    change: Change

    def diff(self, root: Path) -> str:
        old = (root / self.path).read_bytes()
        before, after = [
            content.decode().splitlines() for content in (old, self.change.applied(old))
        ]
        names = f"a/{self.path}", f"b/{self.path}"
        return "\n".join(unified_diff(before, after, *names, n=1, lineterm=""))


class Result(NamedTuple):
    mutant: Mutant
    outcome: str
    #: The number of tests that ran the line, or that failed in the first file.
    tests: int
    seconds: float


def draw(code: Code, paths: Iterable[str], sample: int, seed: int) -> list[Mutant]:
    """Random lines of the files below PATHS (default: all code), with one random change each."""
    places = [code.root / name for name in paths] or [code.root / folder for folder in code.folders]
    lines: dict[tuple[Path, int], list[Change]] = {}
    for place in places:
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            for candidate in changes(path.read_bytes()):
                lines.setdefault((path.relative_to(code.root), candidate.line), []).append(
                    candidate
                )
    chance = random.Random(seed)
    order = sorted(lines)
    chance.shuffle(order)
    mutants: list[Mutant] = []
    for path, line in order:
        if len(mutants) == sample:
            break
        change = chance.choice(lines[path, line])
        if is_python(change.applied((code.root / path).read_bytes())):
            mutants.append(Mutant(path, change))
    return mutants


def results(
    code: Code, records: Records, mutants: list[Mutant], *, limit: int | None, jobs: int = 1
) -> Iterator[Result]:
    """The results in the order of MUTANTS; JOBS of them are judged at a time."""
    copies = [Copy(code, records, limit=limit) for _ in range(jobs)]
    idle: queue.SimpleQueue[Copy] = queue.SimpleQueue()
    for copy in copies:
        idle.put(copy)

    def judge(mutant: Mutant) -> Result:
        copy = idle.get()
        try:
            return copy.result(mutant)
        finally:
            idle.put(copy)

    try:
        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(judge, mutants)
    finally:
        for copy in copies:
            copy.close()


class Copy:
    """A copy of the checkout in which the changes are made."""

    def __init__(self, code: Code, records: Records, *, limit: int | None) -> None:
        self._source = code
        self._records = records
        self._limit = limit
        self._folder = Path(tempfile.mkdtemp(prefix="mutation-")).resolve()
        self._code = code._replace(root=self._folder / "tree")
        self._copy()
        self._selection = Selection(self._code)
        #: A changed file gets a time of its own, so no compiled file of another change is used.
        self._clock = int(time.time())

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _copy(self) -> None:
        names = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=self._source.root,
            check=True,
            capture_output=True,
        ).stdout.decode()
        for name in filter(None, names.split("\0")):
            old, new = self._source.root / name, self._code.root / name
            if old.is_file() or old.is_symlink():
                new.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(old, new, follow_symlinks=False)

    def result(self, mutant: Mutant) -> Result:
        started = time.monotonic()
        outcome, tests = self._outcome(mutant)
        return Result(mutant, outcome, tests, time.monotonic() - started)

    def _outcome(self, mutant: Mutant) -> tuple[str, int]:
        path = self._code.root / mutant.path
        files = self._selection.test_files(path, self._limit)
        # Most changes are noticed by this file, so that the lines of no test are recorded.
        outcome, failed = self._by_whole_files(mutant, files[:1])
        if outcome != SURVIVED:
            return outcome, failed
        covering = [(record, _tests_of(record, mutant)) for record in map(self._record, files)]
        found = [(record, tests) for record, tests in covering if tests]
        if not found:
            # Lines of other processes are not recorded.
            outcome, failed = self._by_whole_files(mutant, files[1:])
            return (UNTESTED if outcome == SURVIVED else outcome), failed
        records = [record for record, _ in found]
        with self._changed(mutant):
            outcome = self._run(records, [test for _, tests in found for test in tests])
            # A fixture of several tests runs its lines in the first one alone.
            if outcome == SURVIVED:
                outcome = self._run(records, [test for record in records for test in record.passed])
        return outcome, sum(len(tests) for _, tests in found)

    def _by_whole_files(self, mutant: Mutant, files: list[Path]) -> tuple[str, int]:
        """The outcome of all their tests. One that notices the change passes without it."""
        with self._changed(mutant):
            outcome, failed = self._run_whole(files)
        if outcome == NOTICED and self._run_whole(files, failed)[0] != SURVIVED:
            outcome = SURVIVED
        return outcome, len(failed)

    @contextlib.contextmanager
    def _changed(self, mutant: Mutant) -> Iterator[None]:
        path = self._code.root / mutant.path
        source = path.read_bytes()
        self._write(path, mutant.change.applied(source))
        try:
            yield
        finally:
            self._write(path, source)

    def _run_whole(self, files: list[Path], tests: Iterable[str] = ()) -> tuple[str, list[str]]:
        """The outcome of test files, or of these tests of them, and the tests that failed."""
        if not files:
            return SURVIVED, []
        written = self._folder / "failed"
        written.write_text("")
        names = [*tests] or [str(file.relative_to(self._code.root)) for file in files]
        status = self._pytest(
            [*names, "-x"], {"MUTATION_FAILED": str(written)}, LONGEST_FILE * len(files)
        )
        if status is None:
            return TIMEOUT, []
        return NOTICED if status else SURVIVED, written.read_text().splitlines()

    def _write(self, path: Path, text: bytes) -> None:
        path.write_bytes(text)
        self._clock += 2
        os.utime(path, (self._clock, self._clock))

    def _run(self, records: list[Record], tests: list[str]) -> str:
        listed = self._folder / "tests"
        listed.write_text("\n".join(tests))
        seconds = GRACE + 3 * sum(record.seconds for record in records)
        names = [record.file for record in records]
        status = self._pytest([*names, "-x"], {"MUTATION_TESTS": str(listed)}, seconds)
        if status is None:
            return TIMEOUT
        return NOTICED if status else SURVIVED

    def _record(self, file: Path) -> Record:
        """The lines that the tests of a file run, recorded or from one run of it."""
        name = str(file.relative_to(self._code.root))
        return self._records.of(
            self._code.root, name, self._selection.sources(file), self._measured
        )

    def _measured(self, name: str) -> Record:
        written = self._folder / "lines.json"
        written.write_text(json.dumps({"passed": [], "lines": {}}))
        roots = ":".join(str(self._code.root / folder) + "/" for folder in self._code.folders)
        started = time.monotonic()
        variables = {"MUTATION_RECORD": str(written), "MUTATION_ROOTS": roots}
        self._pytest([name], variables, LONGEST)
        result = json.loads(written.read_text())
        lines = {
            str(Path(path).relative_to(self._code.root)): lines
            for path, lines in result["lines"].items()
        }
        code = {path: digest(self._code.root / path) for path in lines}
        return Record(name, result["passed"], lines, time.monotonic() - started, code)

    def _pytest(
        self, arguments: list[str], variables: dict[str, str], seconds: float
    ) -> int | None:
        """The exit status, or None after SECONDS."""
        paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
        settings = {
            "PYTHONPATH": os.pathsep.join(paths),
            # Bytecode of a change would be used for the next one of the same second and size.
            "PYTHONDONTWRITEBYTECODE": "1",
            "ANSIBLE_CONFIG": str(self._code.root / "ansible.cfg"),
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *PYTEST, *arguments],
            cwd=self._code.root,
            env={**os.environ, **settings, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _tests_of(record: Record, mutant: Mutant) -> list[str]:
    lines = record.lines.get(str(mutant.path), {})
    if not mutant.change.statement:
        found = {test for tests in lines.values() for test in tests}
        return [record.passed[test] for test in sorted(found)]
    for line in (mutant.change.line, mutant.change.statement):
        if str(line) in lines:
            return [record.passed[test] for test in lines[str(line)]]
    return []
