"""A plugin of pytest: which tests run which lines, and a run of selected tests only.

MUTATION_RECORD names the file for the lines; MUTATION_ROOTS the folders of the code, separated by
colons. The file also lists the tests that passed. MUTATION_TESTS names a file with
the identifiers of the tests to run, one per line.
"""

import json
import os
import sys
import threading
from collections import defaultdict
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

RECORD = os.environ.get("MUTATION_RECORD")
TESTS = os.environ.get("MUTATION_TESTS")
ROOTS = tuple(root for root in os.environ.get("MUTATION_ROOTS", "").split(":") if root)


class _Recorder:
    def __init__(self) -> None:
        self._seen: dict[str, set[int]] = defaultdict(set)
        self._is_ours: dict[str, bool] = {}
        self.lines: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        self.passed: list[str] = []

    def call(self, frame: FrameType, _event: str, _value: Any) -> Any:
        name = frame.f_code.co_filename
        ours = self._is_ours.get(name)
        if ours is None:
            ours = self._is_ours[name] = os.path.realpath(name).startswith(ROOTS)
        if not ours:
            return None
        lines = self._seen[name]
        lines.add(frame.f_lineno)

        def line(frame: FrameType, _event: str, _value: Any) -> Any:
            lines.add(frame.f_lineno)
            return line

        return line

    def keep(self, test: str, *, passed: bool) -> None:
        if passed:
            self.passed.append(test)
        for name, numbers in self._seen.items():
            for number in numbers if passed else ():
                self.lines[os.path.realpath(name)][number].append(test)
            # Frames that are still open hold the set.
            numbers.clear()


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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if TESTS:
        selected = set(Path(TESTS).read_text().splitlines())
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in selected])
        items[:] = [item for item in items if item.nodeid in selected]


def pytest_sessionfinish() -> None:
    if RECORD:
        Path(RECORD).write_text(json.dumps({"passed": recorder.passed, "lines": recorder.lines}))
