"""The launcher before its virtualenv exists: what it installs and what it prints."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def start(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a copy of the launcher that has no virtualenv yet."""
    shutil.copy(ROOT / "hostproof", folder)
    environment = {"PATH": os.defpath, "HOSTPROOF_PYTHON": sys.executable}
    return subprocess.run(
        [folder / "hostproof", *words],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=environment,
    )


def test_the_help_of_the_tests_installs_nothing(tmp_path):
    shutil.copytree(ROOT / "tests/runner", tmp_path / "tests/runner")
    shutil.copy(ROOT / "tests/run", tmp_path / "tests/run")
    (tmp_path / "requirements-dev.txt").write_text("")
    for words in (["test", "--help"], ["test", "-h"], ["test", "--quick", "--help"]):
        ended = start(tmp_path, *words)
        assert ended.returncode == 0, ended.stderr
        assert ended.stdout.startswith("usage: ./hostproof test"), ended.stdout
        assert ended.stderr == ""
        assert not list(tmp_path.glob(".venv*"))


@pytest.mark.long
def test_the_first_start_prints_one_line_and_keeps_the_errors_of_pip(tmp_path):
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(f"no-such-package @ file://{tmp_path}/absent.whl\n")
    ended = start(tmp_path, "version")
    assert ended.returncode == 1
    first, *rest = ended.stderr.splitlines()
    assert first.startswith("hostproof: first start: creating .venv with Python 3.")
    assert any("absent.whl" in line for line in rest), ended.stderr
    assert rest[-1] == "hostproof: could not install requirements.txt; see above"

    requirements.write_text("# nothing is required\n")
    ended = start(tmp_path, "version")
    printed = [line for line in ended.stderr.splitlines() if "hostproof_controller" not in line]
    assert printed == [first]
