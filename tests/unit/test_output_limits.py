"""What a host's connection left running is gone when the host has been given up."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hostproof_controller.remote import output_limits, transport

#: A child of the shell, and a child of that one in a session of its own; each says who it is.
TREE = """
{python} -c '
import os, time
if not os.fork():
    os.setsid()
with open("{pids}", "a") as stream:
    print(os.getpid(), file=stream)
time.sleep(600)
' &
wait
"""


class Connection:
    """As Ansible's local connection: it waits for a program that it started."""

    def __init__(self, command: str) -> None:
        self.command = command

    def exec_command(self) -> tuple[int, bytes, bytes]:
        process = subprocess.Popen(["sh", "-c", self.command], stdout=subprocess.PIPE)
        return 0, process.communicate()[0], b""


class Late(BaseException):
    """As ansible-core's, which stands above Exception."""


def test_a_task_s_own_time_is_over_once():
    """A second ring would come in the midst of what is written about the first."""
    rung = []

    def ring(number, frame):
        rung.append(number)
        raise Late

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(1)
    try:
        with pytest.raises(Late), output_limits.limit_output(Connection("sleep 600"), 30.0):
            time.sleep(20)
        time.sleep(0.5)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert rung == [signal.SIGALRM]


@pytest.mark.skipif(sys.platform != "linux", reason="what is read is counted in /proc")
def test_what_the_host_itself_reads_is_not_what_it_prints():
    """The kernel adds to a process what its children read, as soon as it has waited for them."""
    connection = Connection("head -c 200000000 /dev/zero >/dev/null")
    with output_limits.limit_output(connection, 60.0):
        connection.exec_command()
        time.sleep(1)


@pytest.mark.skipif(sys.platform != "linux", reason="what is read is counted in /proc")
def test_what_is_read_of_it_is_counted():
    connection = Connection("head -c 200000000 /dev/zero; sleep 60")
    too_much = pytest.raises(output_limits.LimitExceeded, match="printed more than 64 MiB")
    began = time.monotonic()
    with too_much, output_limits.limit_output(connection, 60.0):
        connection.exec_command()
    assert time.monotonic() - began < 50, "it was noticed only when the program had ended"


def test_no_second_alarm_takes_the_place_of_the_first():
    """On a busy machine, to end the wait takes longer than the time between two checks."""
    checks = []

    class Over(BaseException):
        pass

    def check(passed: float) -> None:
        checks.append(passed)
        if len(checks) > 2:
            raise Over

    with pytest.raises(Over), transport.shared_alarm(check, 0.01):
        try:
            time.sleep(60)
        finally:
            time.sleep(0.2)
    time.sleep(0.1)
    assert len(checks) == 3
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def runs(pid: int) -> bool:
    """Not when it is a zombie that nobody has asked about yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def ended(pids: list[int]) -> bool:
    for _ in range(300):
        if not any(map(runs, pids)):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
def test_nothing_that_a_silent_host_started_stays(tmp_path):
    pids = tmp_path / "pids"
    connection = Connection(TREE.format(pids=pids, python=sys.executable))
    with pytest.raises(output_limits.LimitExceeded), output_limits.limit_output(connection, 3.0):
        connection.exec_command()
    processes = sorted({int(line) for line in pids.read_text().split()})
    assert len(processes) == 2
    try:
        assert ended(processes)
    finally:
        for pid in filter(runs, processes):
            os.kill(pid, 9)


@pytest.fixture
def other():
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def test_what_others_started_stays(other):
    # What stands in a frame that waits is the host's.
    pid = other.pid
    del other
    connection = Connection("sleep 600")
    with pytest.raises(output_limits.LimitExceeded), output_limits.limit_output(connection, 1.0):
        connection.exec_command()
    assert runs(pid)


def test_what_is_read_between_commands_is_not_output_of_the_host(monkeypatch):
    """Ansible reads the sources of a module before it sends it."""
    monkeypatch.setattr(output_limits, "MOST_OUTPUT", 1 << 20)
    monkeypatch.setattr(output_limits, "_TICK", 0.01)
    connection = Connection("echo x")
    with output_limits.limit_output(connection, 60.0), open("/dev/zero", "rb", 0) as stream:
        for _ in range(50):
            stream.read(1 << 20)
        connection.exec_command()
        for _ in range(50):
            stream.read(1 << 20)
