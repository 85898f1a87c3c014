"""tests/machines/bound.py: nothing outlives its owner, whoever is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cases import cases

pytestmark = pytest.mark.one_core

BOUND = str(Path(__file__).resolve().parents[1] / "machines/bound.py")
#: Starts a process in a session of its own, as QEMU and podman do, notes both, and waits.
DAEMON = "setsid sleep 300 & echo $! > {folder}/daemon; echo $$ > {folder}/command; wait"
#: The same, but ends at once, and the daemon uses CPU time.
BURNER = "setsid sh -c 'while :; do :; done' & sleep 0.7; exit 3"


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def noted(folder: Path, name: str) -> int:
    """The process ID that the command wrote into the file."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        text = (folder / name).read_text() if (folder / name).exists() else ""
        if text.strip():
            return int(text)
        time.sleep(0.05)
    raise AssertionError(f"{name} did not start")


def gone(*pids: int) -> bool:
    until = time.monotonic() + 60
    while time.monotonic() < until and any(map(lives, pids)):
        time.sleep(0.05)
    return not any(map(lives, pids))


def bound(*options: object, command: str) -> list[str]:
    return [sys.executable, BOUND, *map(str, options), "sh", "-c", command]


@cases("command status", ("exit 0", 0), ("exit 77", 77), ("kill -9 $$", 137))
def test_the_exit_status_is_that_of_the_command(command, status):
    argv = bound("--owner", os.getpid(), command=command)
    assert subprocess.run(argv, timeout=60).returncode == status


def test_the_priority_is_that_of_the_command_and_of_its_session():
    shown = "nice; cat /proc/self/autogroup 2>/dev/null || true"
    done = subprocess.run(
        bound("--nice", 5, command=shown),
        start_new_session=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    nice, *group = done.stdout.split("\n", 1)
    assert int(nice) >= 5
    # Kernels without autogroups have no such file.
    assert not group[0] or group[0].endswith(" nice 5\n")


def test_a_killed_owner_leaves_nothing_behind(tmp_path):
    owner = subprocess.Popen(["sleep", "300"])
    keeper = subprocess.Popen(
        bound("--owner", owner.pid, command=DAEMON.format(folder=tmp_path)), start_new_session=True
    )
    started = [noted(tmp_path, name) for name in ("command", "daemon")]
    assert all(map(lives, started))
    owner.send_signal(signal.SIGKILL)
    # Nobody has waited for the owner yet: a zombie has ended, too.
    assert gone(*started)
    assert keeper.wait(timeout=60) == 137
    owner.wait()


def test_an_owner_that_ended_before_the_start_starts_nothing(tmp_path):
    owner = subprocess.Popen(["true"])
    owner.wait()
    argv = bound("--owner", owner.pid, command=f"touch {tmp_path}/started")
    assert subprocess.run(argv, timeout=60).returncode == 137
    assert not (tmp_path / "started").exists()


def test_the_command_ends_if_its_keeper_is_killed(tmp_path):
    keeper = subprocess.Popen(
        bound("--owner", os.getpid(), command=DAEMON.format(folder=tmp_path)),
        start_new_session=True,
    )
    command, daemon = (noted(tmp_path, name) for name in ("command", "daemon"))
    keeper.send_signal(signal.SIGKILL)
    keeper.wait()
    assert gone(command)
    os.kill(daemon, signal.SIGKILL)


def test_the_time_is_limited(tmp_path):
    keeper = subprocess.Popen(
        bound("--seconds", 1, command=DAEMON.format(folder=tmp_path)), start_new_session=True
    )
    started = [noted(tmp_path, name) for name in ("command", "daemon")]
    assert keeper.wait(timeout=60) == 137
    assert gone(*started)


def test_what_the_command_left_is_killed_and_its_cpu_time_counted():
    process = subprocess.Popen(
        bound("--reap", "--owner", os.getpid(), command=BURNER), start_new_session=True
    )
    _pid, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 3
    # The shell that loops takes what it gets of 0.7 s; without it there are two starts of Python.
    own = subprocess.Popen(bound("--owner", os.getpid(), command="sleep 0.7"))
    _pid, status, idle = os.wait4(own.pid, 0)
    own.returncode = os.waitstatus_to_exitcode(status)
    assert usage.ru_utime + usage.ru_stime > idle.ru_utime + idle.ru_stime


def test_a_command_may_end_in_its_own_way_after_sigterm(tmp_path):
    clean = f"trap 'touch {tmp_path}/clean; exit 5' TERM; touch {tmp_path}/ready; "
    keeper = subprocess.Popen(
        bound("--owner", os.getpid(), command=clean + "while :; do sleep 0.05; done"),
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while not (tmp_path / "ready").exists() and time.monotonic() < until:
        time.sleep(0.05)
    keeper.send_signal(signal.SIGTERM)
    assert keeper.wait(timeout=60) == 5
    assert (tmp_path / "clean").exists()


@cases("ignored", False, True)
def test_an_interruption_ends_the_command_of_a_background_job_too(tmp_path, ignored):
    """A shell ignores SIGINT in its background jobs, and programs inherit that."""
    text = f"echo $$ > {tmp_path}/command; sleep 60 & wait"
    with subprocess.Popen(
        [sys.executable, BOUND, "--reap", "sh", "-c", text],
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN) if ignored else None,
    ) as bound:
        command = noted(tmp_path, "command")
        os.killpg(bound.pid, signal.SIGINT)
        bound.wait(timeout=60)
    assert gone(command)


def test_an_interruption_before_the_command_starts_is_not_lost(tmp_path):
    """The signal is pending when the program blocks it."""
    command = [sys.executable, BOUND, "touch", str(tmp_path / "started")]

    def interrupted():
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        os.kill(os.getpid(), signal.SIGINT)

    done = subprocess.run(command, preexec_fn=interrupted)
    assert done.returncode == 128 + signal.SIGINT
    assert not (tmp_path / "started").exists()
