"""Virtualenvs with the oldest, the pinned and the newest ansible-core, kept by content.

They are in the cache that all checkouts of this account share (tests/shared_cache.py).
"""

import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))

import shared_cache  # noqa: E402 - found by the path above

#: What the unit tests import beside what a user's virtualenv holds.
TEST_PACKAGES = ("pytest", "pytest-xdist", "jsonschema", "prometheus-client")


class Controller(NamedTuple):
    """``core`` and ``python`` are release lines; the exact version is in ``requirements``."""

    core: str
    python: str
    requirements: str


OLDEST = Controller("2.16", "3.11", "requirements-python36-targets.txt")
PINNED = Controller("2.19", "3.11", "requirements.txt")
NEWEST = Controller("2.21", "3.13", "tests/matrix/requirements-newest.txt")


class Missing(Exception):
    """The row cannot run here; the message says what it needs."""


class Wrong(Exception):
    """The row ran and is wrong; the message says how."""


@functools.cache
def release_of(interpreter: Path) -> list[int]:
    """The numbers of pyenv's folder of an interpreter: 3.11.14 is newer than 3.11.7."""
    return [int(number) for number in re.findall(r"\d+", interpreter.parents[1].name)]


def find_python(version: str) -> str:
    """An interpreter of that release line which really starts."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    interpreters = pyenv.glob(f"versions/{version}.*/bin/python{version}")
    candidates = sorted(interpreters, key=release_of, reverse=True)
    on_path = [shutil.which(f"python{version}"), f"/usr/bin/python{version}"]
    for candidate in [*map(str, candidates), *filter(None, on_path)]:
        question = [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        try:
            answer = subprocess.run(question, capture_output=True, text=True, timeout=600)
        except OSError:
            continue
        if answer.stdout.strip() == version:
            return candidate
    raise Missing(f"no Python {version} here, neither pyenv's nor in PATH")


@functools.cache
def virtualenv(controller: Controller) -> Path | Wrong:
    """The bin folder of the controller's virtualenv, made on first use of that content.

    What went wrong is returned, not raised, so that it is not tried again for the next row.
    """
    python = find_python(controller.python)
    packages = pins(ROOT / controller.requirements)
    if controller is not PINNED:
        packages += test_pins()
    content = hashlib.sha256("\n".join([python, *packages]).encode()).hexdigest()
    kept = shared_cache.folder() / "matrix"
    home = kept / f"core-{controller.core}-{content[:16]}"
    kept.mkdir(exist_ok=True)
    # Another checkout may be at it. The stamp is written last: half a virtualenv is none.
    with (kept / f"{home.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "stamp").exists():
            shutil.rmtree(home, ignore_errors=True)
            for command in installation(python, home, packages):
                answer = subprocess.run(
                    command, capture_output=True, text=True, stdin=subprocess.DEVNULL
                )
                if answer.returncode:
                    return Wrong(f"{' '.join(command)} failed:\n{answer.stdout}{answer.stderr}")
            (home / "stamp").write_text(content)
    return home / "bin"


def installation(python: str, home: Path, wanted: list[str]) -> list[list[str]]:
    """The commands that make a virtualenv, also where Debian has split ensurepip from Python."""
    install = ["install", "--quiet", *wanted]
    if subprocess.run([python, "-c", "import ensurepip"], stderr=subprocess.DEVNULL).returncode:
        ours = [sys.executable, "-m", "pip", "--python", str(home / "bin/python")]
        return [[python, "-m", "venv", "--without-pip", str(home)], [*ours, *install]]
    return [[python, "-m", "venv", str(home)], [str(home / "bin/python"), "-m", "pip", *install]]


def pins(requirements: Path) -> list[str]:
    lines = [line.partition("#")[0].strip() for line in requirements.read_text().splitlines()]
    return [line for line in lines if line and not line.startswith("-")]


def test_pins() -> list[str]:
    packages = [
        pin
        for pin in pins(ROOT / "requirements-dev.txt")
        if pin.partition("==")[0] in TEST_PACKAGES
    ]
    assert len(packages) == len(TEST_PACKAGES)
    return packages
