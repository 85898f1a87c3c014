"""The container as its story's tests see it."""

import sys
from pathlib import Path

import pytest

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
