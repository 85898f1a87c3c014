"""The container as its story's tests see it."""

import json
import os
import sys
from pathlib import Path

import pytest
import testinfra

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from machines import container  # noqa: E402
from machines.machine import Machine  # noqa: E402

#: No login: pam_limits may not raise memlock in an unprivileged container, and refuses the session.
IDENTITY = "setpriv --reuid=54321 --regid=54321 --clear-groups sh -c"


class Box(Machine):
    """The container."""

    def start(self, sid: str, sga: str) -> None:
        """Start a stand-in of an instance. Its pages are small: the pool belongs to the host."""
        self.start_instance(sid, sga, "4k", login=IDENTITY)


@pytest.fixture(scope="session")
def box() -> Box:
    machine = Box(container.command, ROOT / "molecule/hugepages/inventory")
    machine.send(ROOT / "tests/standins/instance.py")
    return machine


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> testinfra.host.Host:
    """The container as testinfra sees it, straight through the engine that runs it."""
    state = json.loads(container.STATE.read_text())
    # testinfra calls the engine by name; here that may have to be our wrapper of it.
    monkeypatch.setenv("PATH", str(Path(state["executable"]).parent), prepend=os.pathsep)
    return testinfra.get_host(f"{state['engine']}://{state['name']}")
