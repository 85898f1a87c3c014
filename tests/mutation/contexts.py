"""A plugin of pytest: which tests run which lines, and a run of selected tests only.

MUTATION_RECORD names the file for the lines; MUTATION_ROOTS the folders of the code, separated by
colons. The file also lists the tests that passed; a line has positions in that list. MUTATION_TESTS
names a file with the identifiers of the tests to run, one per line; MUTATION_FAILED one for the
identifiers of those that fail.
"""

import json
import os
import sys
import threading
from collections import defaultdict
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

RECORD = os.environ.get("MUTATION_RECORD")
TESTS = os.environ.get("MUTATION_TESTS")
FAILED = os.environ.get("MUTATION_FAILED")
ROOTS = tuple(root for root in os.environ.get("MUTATION_ROOTS", "").split(":") if root)


class _Body:
    """The code of a function: its file, its lines, and those that the current test has not run."""

    def __init__(self, code: CodeType, path: str) -> None:
        #: Keeps the object, so no other one gets its id.
        self.code = code
        self.path = path
        self.lines = {line for *_, line in code.co_lines() if line}
        self.left = set(self.lines)
        discard = self.left.discard

        def line(frame: FrameType, _event: str, _value: Any) -> Any:
            discard(frame.f_lineno)
            return line

        self.trace = line


class _Recorder:
    def __init__(self) -> None:
        #: By the id of the code, because a hash of the code takes longer.
        self._bodies: dict[int, _Body] = {}
        self._run: set[_Body] = set()
        self._paths: dict[str, str] = {}
        self.lines: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        self.passed: list[str] = []

    def call(self, frame: FrameType, _event: str, _value: Any) -> Any:
        code = frame.f_code
        body = self._bodies.get(id(code))
        if body is None:
            body = self._bodies[id(code)] = _Body(code, self._path(code.co_filename))
        if not body.path or not body.left:
            return None
        self._run.add(body)
        body.left.discard(frame.f_lineno)
        return body.trace

    def _path(self, name: str) -> str:
        """The file, or an empty text if it is none of the recorded ones."""
        if name not in self._paths:
            path = os.path.realpath(name)
            self._paths[name] = path if path.startswith(ROOTS) else ""
        return self._paths[name]

    def keep(self, test: str, *, passed: bool) -> None:
        if passed:
            self.passed.append(test)
        seen: dict[str, set[int]] = defaultdict(set)
        for body in self._run:
            seen[body.path] |= body.lines - body.left
            # Frames that are still open hold the set.
            body.left.update(body.lines)
        self._run.clear()
        for path, numbers in seen.items() if passed else ():
            for number in numbers:
                self.lines[path][number].append(len(self.passed) - 1)


recorder = _Recorder()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    if not RECORD:
        return (yield)
    failed = item.session.testsfailed
    sys.settrace(recorder.call)
    threading.settrace(recorder.call)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)
        recorder.keep(item.nodeid, passed=item.session.testsfailed == failed)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if FAILED and report.failed:
        with Path(FAILED).open("a") as failed:
            failed.write(f"{report.nodeid}\n")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if TESTS:
        selected = set(Path(TESTS).read_text().splitlines())
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in selected])
        items[:] = [item for item in items if item.nodeid in selected]


def pytest_sessionfinish() -> None:
    if RECORD:
        Path(RECORD).write_text(json.dumps({"passed": recorder.passed, "lines": recorder.lines}))
