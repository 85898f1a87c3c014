"""The lab as its story's tests see it."""

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import testinfra

ROOT = Path(__file__).resolve().parents[3]
#: Steps by what became of them.
ENDED: set[str] = set()
FAILED: set[str] = set()
#: A line a step: seconds, and seconds of CPU time of the machine.
COSTS = ROOT / ".cache/logs/lab-costs.txt"
sys.path.insert(0, str(ROOT / "tests"))

from flow_lab import FlowLab  # noqa: E402
from lab_machine import HugePagesLab  # noqa: E402
from machines import stories, vm  # noqa: E402
from nfs_lab import NfsLab  # noqa: E402


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the stories that tests/run_lab names, all where it names none.

    NFS mounts come late: after them the filers start at each boot, which takes a minute. Flow
    control comes last: it reboots, and the story of huge pages begins with a pool that prepare.yml
    left and that no file persists.
    """
    late = ("nfs_mounts", "flow_control")
    items.sort(key=lambda item: [name in item.path.name for name in reversed(late)])
    names = os.environ.get("HOSTPROOF_LAB_STORIES", "").split() or stories.names()
    left_out = [item for item in items if stories.name_of(item.path) not in names]
    if "HOSTPROOF_LAB_SHORT" in os.environ:
        left_out += [item for item in items if item.get_closest_marker("long")]
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember which steps went through."""
    if report.failed:
        FAILED.add(report.nodeid)
    elif report.when == "teardown":
        ENDED.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Note the stories that failed or did not run: tests/run_lab --last-failed runs those."""
    ended = ENDED - FAILED
    stories.write_open({item.path for item in session.items if item.nodeid not in ended})


@pytest.fixture(scope="session")
def tools() -> None:
    """What the tests use on the machine is there."""
    NfsLab().send(
        ROOT / "tests/standins/instance.py",
        ROOT / "molecule/lab/filer.py",
        ROOT / "molecule/lab/lab-filer.service",
        ROOT / "molecule/lab/wires.py",
        ROOT / "molecule/lab/lab-wires.service",
        ROOT / "molecule/lab/lab-agent@.service",
        ROOT / "molecule/lab/agent_table.py",
        ROOT / "molecule/lab/traffic.py",
        ROOT / "module_utils/hostproof",
    )


@pytest.fixture(scope="session")
def lab(tools: None) -> HugePagesLab:
    return HugePagesLab()


@pytest.fixture(scope="session")
def nfs(tools: None) -> NfsLab:
    return NfsLab()


@pytest.fixture(scope="session")
def nfs_untouched(nfs: NfsLab) -> dict[str, object]:
    """The machine with mounts that an administrator made, before Hostproof changed anything."""
    nfs.start_filers(at_boot=True)
    nfs.mount_as_an_administrator()
    return nfs.state()


@pytest.fixture(scope="session")
def flow(tools: None) -> Iterator[FlowLab]:
    """The machine with a filer behind real cards, which is gone again afterwards."""
    machine = FlowLab()
    machine.connect()
    yield machine
    machine.disconnect()


@pytest.fixture(scope="session")
def flow_untouched(flow: FlowLab) -> dict[str, object]:
    """The machine and its cards before Hostproof changed anything."""
    return flow.state()


@pytest.fixture
def host() -> testinfra.host.Host:
    """The machine as testinfra sees it, over the connection that Ansible uses too."""
    state = json.loads(vm.STATE.read_text())
    return testinfra.get_host(
        f"ssh://{state['user']}@{state['address']}:{state['port']}",
        ssh_identity_file=state["key"],
        ssh_extra_args=state["ssh_arguments"],
    )


@pytest.fixture(autouse=True)
def cpu_time(request: pytest.FixtureRequest) -> Iterator[None]:
    """Note what each step costs the machine, where most of the lab's time goes."""
    began, cpu = time.monotonic(), vm.cpu_seconds()
    yield
    took, cost = time.monotonic() - began, vm.cpu_seconds() - cpu
    with COSTS.open("a") as stream:
        stream.write(f"{took:7.1f} s {cost:7.1f} s CPU  {request.node.name}\n")
