"""Runs the tests of changed copies: which notice the change."""

import contextlib
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
from mutation.selecting import Code, Selection

NOTICED = "noticed"
SURVIVED = "survived"
TIMEOUT = "timeout"
PYTEST = ("-q", "--tb=no")
#: Seconds for the tests of one file.
LONGEST = 300
#: Exit codes of pytest: all passed, and no test was selected.
_PASSED = (0, 5)


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
    #: The number of test files that ran.
    files: int
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
    code: Code, mutants: list[Mutant], *, limit: int | None, jobs: int = 1
) -> Iterator[Result]:
    """The results in the order of MUTANTS; JOBS of them are tested at a time."""
    copies = [Copy(code, limit=limit) for _ in range(jobs)]
    idle: queue.SimpleQueue[Copy] = queue.SimpleQueue()
    for copy in copies:
        idle.put(copy)

    def result_of(mutant: Mutant) -> Result:
        copy = idle.get()
        try:
            return copy.result(mutant)
        finally:
            idle.put(copy)

    try:
        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(result_of, mutants)
    finally:
        for copy in copies:
            copy.close()


class Copy:
    """A copy of the checkout in which the changes are made."""

    def __init__(self, code: Code, *, limit: int | None) -> None:
        self._source = code
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
        ran = 0
        outcome = SURVIVED
        for files, words in self._runs(mutant):
            ran += len(files)
            outcome = self._outcome(mutant, files, words)
            if outcome != SURVIVED:
                break
        return Result(mutant, outcome, ran, time.monotonic() - started)

    def _runs(self, mutant: Mutant) -> Iterator[tuple[list[Path], list[str]]]:
        """The test files of each run, and options. Most changes are noticed by the first file."""
        path = self._code.root / mutant.path
        files = self._selection.test_files(path, self._limit)
        yield files[:1], []
        yield files[1:], []
        # Their tests are named after controls and parsers.
        folder = path.parts[path.parts.index("controls") + 1] if "controls" in path.parts else ""
        yield [self._code.root / name for name in self._code.broad], ["-k", folder or path.stem]

    def _outcome(self, mutant: Mutant, files: list[Path], words: list[str]) -> str:
        if not files:
            return SURVIVED
        names = [str(file.relative_to(self._code.root)) for file in files]
        seconds = LONGEST * len(files)
        with self._changed(mutant):
            status = self._pytest(["-x", *words, *names], seconds)
        if status is None:
            return TIMEOUT
        if status in _PASSED:
            return SURVIVED
        # The test that fails must pass without the change.
        status = self._pytest(["--last-failed", "--last-failed-no-failures=none", *names], seconds)
        return NOTICED if status == 0 else SURVIVED

    @contextlib.contextmanager
    def _changed(self, mutant: Mutant) -> Iterator[None]:
        path = self._code.root / mutant.path
        source = path.read_bytes()
        self._write(path, mutant.change.applied(source))
        try:
            yield
        finally:
            self._write(path, source)

    def _write(self, path: Path, text: bytes) -> None:
        path.write_bytes(text)
        self._clock += 2
        os.utime(path, (self._clock, self._clock))

    def _pytest(self, arguments: list[str], seconds: float) -> int | None:
        """The exit status, or None after SECONDS."""
        settings = {
            # Bytecode of a change would be used for the next one of the same second and size.
            "PYTHONDONTWRITEBYTECODE": "1",
            "ANSIBLE_CONFIG": str(self._code.root / "ansible.cfg"),
        }
        cache = f"cache_dir={self._folder / 'cache'}"
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *PYTEST, "-o", cache, *arguments],
            cwd=self._code.root,
            env={**os.environ, **settings},
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
