"""The runner of Molecule scenarios (tests/machines/scenario.py): no test is no success."""

import os
import shutil
import subprocess
import sys

import pytest
from cases import cases
from machines import scenario
from machines.needs import ROOT

SUMMARY = "===== 2 passed in 0.10s ====="


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs a scenario whose last command prints a text; its exit code, and what was said."""
    monkeypatch.setattr(scenario, "LOGS", tmp_path)

    def run(printed, status=0):
        code = f"print({printed!r}); raise SystemExit({status})"
        with (tmp_path / "lock").open("w") as lock:
            ended = scenario.tell("lab", {"": [sys.executable, "-c", code]}, {}, lock.fileno())
        return ended, capsys.readouterr().out

    return run


def test_a_scenario_whose_tests_passed_is_a_success(run):
    code, output = run(SUMMARY)
    assert code == 0
    assert "2 passed" in output


def test_a_scenario_in_which_no_test_ran_has_failed(run):
    code, output = run("INFO     [lab > verify] Executed: Missing playbook")
    assert code == 1
    assert "lab ended without an error, but no test ran" in output


def test_a_scenario_that_failed_stays_failed(run):
    assert run(SUMMARY, status=2)[0] == 1


# Molecule belongs to the development environment; the virtualenvs of the matrix do not have it.
@pytest.mark.one_core
@cases("shared", True, False)
def test_the_shared_configuration_is_used_without_git(tmp_path, shared):
    """An unpacked release has no .git: Molecule does not look for the file itself there."""
    for name in ("hugepages", "containers"):
        shutil.copytree(ROOT / "molecule" / name, tmp_path / "molecule" / name)
    command = scenario.molecule() if shared else scenario.molecule()[:1]
    kept = {key: text for key, text in os.environ.items() if not key.startswith("MOLECULE_")}
    shown = subprocess.run(
        [*command, "matrix", "-s", "hugepages", "test"],
        cwd=tmp_path,
        env={**kept, "MOLECULE_PROJECT_DIRECTORY": str(tmp_path), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert shown.returncode == 0, shown.stderr
    # The playbooks of all scenarios are named in the shared configuration alone.
    assert ("molecule/containers/create.yml" in shown.stdout) == shared
