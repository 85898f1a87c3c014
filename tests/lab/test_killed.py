"""A lab whose owner is killed: tests/run_lab runs this after its scenario, with the lock held."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from machines import vm  # noqa: E402

#: What tests/run_lab does, and then it waits until it is killed.
OWNER = f"""
import os, sys, time
sys.path.insert(0, {str(ROOT / "tests")!r})
from machines import vm
os.environ[vm.OWNER] = str(os.getpid())
vm.start()
print("started", flush=True)
time.sleep(600)
"""


@pytest.fixture
def owner():
    process = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)
    yield process
    process.kill()
    process.wait()
    vm.stop()


def test_a_killed_run_leaves_no_virtual_machine_behind(owner):
    assert owner.stdout is not None
    assert "started\n" in iter(owner.stdout.readline, "")
    assert vm.run("uname -s").stdout == "Linux\n"
    machine = vm.running()
    assert machine is not None
    owner.send_signal(signal.SIGKILL)
    until = time.monotonic() + 60
    # Until its parent has waited for it, too: a process that has ended keeps its number until then.
    while Path(f"/proc/{machine}").exists() and time.monotonic() < until:
        time.sleep(0.1)
    assert not Path(f"/proc/{machine}").exists()
    assert vm.running() is None
