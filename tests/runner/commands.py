"""Runs the commands of a stage, with their output in a log and their CPU time measured."""

import contextlib
import math
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from typing import IO

from .outcome import Counts, Ended, Result, judge
from .progress import count_so_far
from .stages import ALONE, CACHE, FIRST, LOGS, ROOT, Stage

#: Niceness of the stages that are not FIRST: where two processes compete for a processor, the lab
#: gets three quarters of it.
NICE = 5
#: The line in a log after which a command is interrupted.
STOPPED = "stopped: the stage took longer than its limit"
#: Exit status of a command that ran until its deadline.
HUNG = 124
#: Exit status of a command that was ended because the time of the whole run was up.
TIME_IS_UP = -1
#: Ends a command with the runner, also with one that is killed, and waits for everything that the
#: command left running: the CPU time of a virtual machine is counted that way.
BOUND = [sys.executable, str(ROOT / "tests/machines/bound.py"), "--reap", "--owner"]


def environment(stage: str = "") -> dict[str, str]:
    """The caller's environment without variables that would change a result."""
    unwanted = (
        "ANSIBLE_",
        "HOSTPROOF_REPORT",
        "HOSTPROOF_RECORD",
        "FORCE_COLOR",
        # Without bytecode, each of thousands of processes compiles the project again.
        "PYTHONDONTWRITEBYTECODE",
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    return {
        **kept,
        # Ansible ignores an ansible.cfg in a world-writable folder unless it is named.
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_NOCOLOR": "1",
        "NO_COLOR": "1",
        "PY_COLORS": "0",
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": str(ROOT / "tests/archives"),
        # The stage that tests/archives notes for each run of Ansible.
        "TESTS_STAGE": stage,
        # Tests never write into the user's own folders.
        "HOSTPROOF_REPORTS": str(CACHE / "reports"),
        "HOSTPROOF_RECORDS": str(CACHE / "evidence"),
    }


def run_stage(
    stage: Stage, stopping: threading.Event, log_name: str = "", until: float = math.inf
) -> Ended:
    """Run the commands of a stage one after the other, also after one has failed.

    ``until``: when the time of the whole run is up (monotonic seconds).
    """
    began = time.monotonic()
    cpu = 0.0
    results = []
    with (LOGS / f"{log_name or stage.name}.log").open("w+b", buffering=0) as log:
        for argv in stage.commands:
            result, seconds = run_command(stage, argv, log, began + stage.seconds, stopping, until)
            results.append(result)
            cpu += seconds
    return Ended(stage, results, time.monotonic() - began, cpu)


def run_command(
    stage: Stage,
    argv: list[str],
    log: IO[bytes],
    deadline: float,
    stopping: threading.Event,
    until: float,
) -> tuple[Result, float]:
    """The result of a command, and its seconds of CPU time."""
    log.write(f"$ {' '.join(argv)}\n".encode())
    start = log.tell()
    status, cpu = wait_for(stage, argv, log, min(deadline, until), stopping)
    log.seek(start)
    output = log.read().decode(errors="replace")
    log.seek(0, os.SEEK_END)
    if status == HUNG and until < deadline:
        return unfinished(argv, output), cpu
    return judge(argv, status, output), cpu


def unfinished(argv: list[str], output: str) -> Result:
    """The result of a command that was ended with the time of the whole run."""
    # Rows that the interruption ends say that they failed.
    so_far = count_so_far(output.partition(STOPPED)[0])
    counts = Counts(so_far.done - so_far.failed, so_far.failed, 1)
    reason = f"the time of the run was up; {' '.join(argv)} had run {so_far.done} tests"
    return Result(argv, TIME_IS_UP, counts, output, [reason])


def wait_for(
    stage: Stage, argv: list[str], log: IO[bytes], deadline: float, stopping: threading.Event
) -> tuple[int, float]:
    """The exit status and the seconds of CPU time. The status is HUNG where the deadline passed,
    127 where the command does not exist, 130 where the run was interrupted."""
    if shutil.which(argv[0], path=os.environ["PATH"]) is None and not (ROOT / argv[0]).exists():
        log.write(f"{argv[0]}: not found\n".encode())
        return 127, 0.0
    if stopping.is_set():
        return 130, 0.0
    if time.monotonic() >= deadline:
        return HUNG, 0.0
    nice = [] if stage.name in (*FIRST, *ALONE) else ["--nice", str(NICE)]
    process = subprocess.Popen(
        [*BOUND, str(os.getpid()), *nice, *argv],
        cwd=ROOT,
        env=environment(stage.name),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        while time.monotonic() < deadline and not stopping.is_set():
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                return process.returncode, usage.ru_utime + usage.ru_stime
            time.sleep(0.05)
        if stopping.is_set():
            return 130, 0.0
        log.write(f"{STOPPED}\n".encode())
        return HUNG, 0.0
    finally:
        end_group(process)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Interrupt what still runs, as Ctrl-C does; kill what is left a minute later."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=60)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
