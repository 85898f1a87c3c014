"""The container as its story's tests see it, and the module listener_probe run in it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import testinfra

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from machines.box import Box  # noqa: E402

SCENARIO = "listener_rate_limit"


@pytest.fixture(scope="session")
def box() -> Box:
    return Box(SCENARIO)


@pytest.fixture
def host(box: Box, monkeypatch: pytest.MonkeyPatch) -> testinfra.host.Host:
    return box.host(monkeypatch)


@pytest.fixture(scope="session")
def probe() -> Callable[..., dict[str, Any]]:
    """Runs listener_probe inside the container; what it returns."""

    def run(**arguments: Any) -> dict[str, Any]:
        command = [str(Path(sys.executable).with_name("ansible")), "container"]
        command += ["-i", str(ROOT / "molecule" / SCENARIO / "inventory")]
        command += ["-m", "listener_probe", "-a", json.dumps(arguments)]
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
        assert done.returncode == 0
        result: dict[str, Any] = json.loads(done.stdout.partition("=>")[2])
        return result

    return run
