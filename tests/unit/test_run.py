"""The test runner itself: what it counts, and that nothing it cannot judge passes for a pass."""

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

RUN = Path(__file__).resolve().parents[1] / "run"


@pytest.fixture(scope="module")
def run() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("hostproof_tests_run", str(RUN))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("12 passed in 0.31s\n", (12, 0, 0)),
        ("==== 1 failed, 2 passed, 3 skipped in 61.20s (0:01:01) ====\n", (2, 1, 3)),
        ("2 errors in 0.50s\n", (0, 2, 0)),
        ("3 passed, 1 xfailed, 2 warnings in 0.50s\n", (3, 0, 1)),
        ("1 passed in 1.00s\nthen\n2 passed, 1 error in 2.00s\n", (3, 1, 0)),
        ("1 passed in 1.00s\nhostproof: 5 passed, 1 failed, 2 skipped\n", (5, 1, 2)),
        ("ok=3 changed=1 unreachable=0 failed=0 skipped=0\n", (0, 0, 0)),
    ],
)
def test_counts_what_a_command_sums_up(run, output, expected):
    assert run.count(output) == expected


@pytest.mark.parametrize(
    ("status", "output", "expected"),
    [
        (0, "fine\n", (1, 0, 0)),
        (1, "broken\n", (0, 1, 0)),
        (1, "4 passed in 1.00s\n", (4, 1, 0)),
        (5, "no tests ran in 0.01s\n", (0, 1, 0)),
        (77, "trying\nno container engine can run here\n", (0, 0, 1)),
    ],
)
def test_judges_the_exit_status_before_the_words(run, status, output, expected):
    assert run.judge(["command"], status, output).counts == expected


def test_reasons_of_skips(run):
    output = "SKIPPED [2] tests/unit/test_x.py:7: needs root\nSKIPPED no python3.6 here\n"
    assert run.judge(["command"], 0, output).skips == [
        "tests/unit/test_x.py:7: needs root",
        "no python3.6 here",
    ]
    assert run.judge(["command"], 77, "trying\nno engine\n").skips == ["no engine"]


def test_missing_command_is_a_failure_and_the_next_stage_still_runs(
    run, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(run, "LOGS", tmp_path)
    broken = run.Stage("first", [["tests/run_nothing_of_that_name"]], 10)
    sound = run.Stage("second", [[sys.executable, "-c", "print('3 passed in 0.10s')"]], 10)
    assert run.run([broken, sound], ["lab"]) == 1
    printed = capsys.readouterr().out
    assert "tests/run_nothing_of_that_name: not found" in printed
    assert "lab: all of it left out by --quick" in printed
    assert printed.splitlines()[-1] == "hostproof: 3 passed, 1 failed, 1 skipped"


def test_hung_command_is_ended_with_its_children_and_fails(run, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "LOGS", tmp_path)
    child = tmp_path / "child"
    script = f"sleep 60 & echo $! > {child}; wait"
    assert run.run([run.Stage("hangs", [["sh", "-c", script]], 1)], []) == 1
    assert "the stage took longer than it may" in capsys.readouterr().out
    with pytest.raises(ProcessLookupError):
        for _ in range(50):
            os.kill(int(child.read_text()), 0)
            run.time.sleep(0.1)


def test_ansible_settings_of_the_caller_do_not_reach_a_stage(run, monkeypatch):
    monkeypatch.setenv("ANSIBLE_STDOUT_CALLBACK", "json")
    environment = run.environment()
    assert "ANSIBLE_STDOUT_CALLBACK" not in environment
    assert environment["ANSIBLE_CONFIG"].endswith("/ansible.cfg")
