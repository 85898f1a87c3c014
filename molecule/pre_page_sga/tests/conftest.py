"""The container as its story's tests see it, and modules run in it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from machines.box import Box  # noqa: E402

SCENARIO = "pre_page_sga"


@pytest.fixture(scope="session")
def box() -> Box:
    return Box(SCENARIO)


@pytest.fixture(scope="session")
def module() -> Callable[..., dict[str, Any]]:
    """Runs a module inside the container; what it returns."""

    def run(which: str, *options: str, **arguments: Any) -> dict[str, Any]:
        command = [str(Path(sys.executable).with_name("ansible")), "container", *options]
        command += ["-i", str(ROOT / "molecule" / SCENARIO / "inventory")]
        command += ["-m", which, "-a", json.dumps(arguments)]
        kept = {name: value for name, value in os.environ.items() if "ANSIBLE_" not in name}
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**kept, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        print(done.stdout, done.stderr)
        result: dict[str, Any] = json.loads(
            re.split(r"(?:SUCCESS|CHANGED|FAILED!) => ", done.stdout)[-1]
        )
        return result

    return run


@pytest.fixture(scope="session")
def oracle_parameter(module: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    return partial(module, "oracle_parameter")
