"""The launcher before its virtualenv exists: what it installs and what it prints."""

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cases import cases

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


@cases(
    "answer installs",
    (None, False),
    ("\n", False),
    ("n\n", False),
    ("y\n", True),
    ids=["no terminal", "nothing", "no", "yes"],
)
@cases("words", ["audit"], ["test", "lint"], ids=["audit", "test"])
def test_a_missing_venv_module_is_installed_only_after_a_yes(tmp_path, answer, installs, words):
    programs = tmp_path / "bin"
    programs.mkdir()
    shutil.copy(ROOT / "hostproof", tmp_path)
    (tmp_path / "requirements.txt").write_text("")
    (tmp_path / "requirements-dev.txt").write_text("")
    # A Debian Python without its venv package, on a machine where the caller is root.
    python = """case "$2" in *ensurepip*) exit 1 ;; *-venv*) echo python3.13-venv ;; esac
case "$1" in -m) exit 1 ;; --version) echo Python 3.13.1 ;; esac
"""
    for name, text in (
        ("python3", python),
        ("id", "echo 0\n"),
        ("apt-get", f'echo "$*" >>{tmp_path}/installed\n'),
    ):
        (programs / name).write_text(f"#!/bin/sh\n{text}")
        (programs / name).chmod(0o755)
    terminal, other_end = pty.openpty()
    if answer:
        os.write(terminal, answer.encode())
    ended = subprocess.run(
        [tmp_path / "hostproof", *words],
        env={"PATH": f"{programs}:{os.defpath}", "HOSTPROOF_PYTHON": str(programs / "python3")},
        stdin=other_end if answer else subprocess.DEVNULL,
        stderr=other_end if answer else subprocess.PIPE,
        timeout=60,
    )
    said = os.read(terminal, 100_000).decode() if answer else ended.stderr.decode()
    os.close(terminal)
    os.close(other_end)
    assert ended.returncode == 1
    assert (tmp_path / "installed").exists() == installs, said
    if not installs:
        assert "run as root: apt-get install python3.13-venv" in said
        assert not list(tmp_path.glob(".venv*/"))


def test_a_virtualenv_of_another_checkout_is_not_cleared(tmp_path):
    other, checkout = tmp_path / "other", tmp_path / "checkout"
    for folder in (other, checkout):
        folder.mkdir()
    (other / "kept").touch()
    (checkout / "requirements.txt").write_text("")
    (checkout / ".venv").symlink_to(other)
    ended = start(checkout, "version")
    assert (ended.returncode, [path.name for path in other.iterdir()]) == (1, ["kept"])
    assert ended.stderr.endswith("is a symbolic link to another virtualenv: remove the link\n")


@pytest.mark.long
def test_the_first_start_prints_one_line_and_keeps_the_errors_of_pip(tmp_path):
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(f"no-such-package @ file://{tmp_path}/absent.whl\n")
    ended = start(tmp_path, "version")
    assert ended.returncode == 1
    first, *rest = ended.stderr.splitlines()
    assert first.startswith("hostproof: first start: creating .venv with Python 3.")
    assert any("absent.whl" in line for line in rest), ended.stderr
    assert rest[-1] == (
        "hostproof: could not install requirements.txt; see above. Without Internet access: "
        "docs/installation.md"
    )
    assert "## Without Internet access" in (ROOT / "docs/installation.md").read_text()

    requirements.write_text("# nothing is required\n")
    ended = start(tmp_path, "version")
    printed = [line for line in ended.stderr.splitlines() if "hostproof_controller" not in line]
    assert printed == [first]


@cases("name", "a b", "a:b", "a'b", "a$b", "a,b")
@cases("words", ["audit"], ["test", "--help"])
def test_a_path_that_cannot_work_is_said_before_anything_else(tmp_path, name, words):
    (tmp_path / name).mkdir()
    ended = start(tmp_path / name, *words)
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith("hostproof: the path of this checkout has a space or another character")
    assert line.endswith(f"move it ({tmp_path / name})")
