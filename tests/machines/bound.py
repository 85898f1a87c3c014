#!/usr/bin/env python3
"""Run a command that ends with its owner: bound.py [--owner PID] [--seconds N] [--reap] [--nice N]
COMMAND...

A process that is killed by SIGKILL cannot end what it started. This program watches its owner and
kills the command, with everything that the command started, as soon as the owner has ended. It also
does so after --seconds. Without --owner only the time counts.

With --reap it also waits for what the command left running when it ended, after killing it. The CPU
time of such processes (QEMU, for one) is then part of what the caller's wait reports.
--nice lowers its priority, also on kernels that share processors between sessions first.
The exit status is that of the command; 137 where the owner or the time ended first.
"""

import argparse
import contextlib
import ctypes
import math
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

#: Options of prctl(2).
SET_DEATH_SIGNAL, SET_CHILD_SUBREAPER = 1, 36
#: Seconds between two looks at the owner.
LOOK_SECONDS = 0.5
KILLED = 128 + signal.SIGKILL
INTERRUPTED = 128 + signal.SIGINT
#: Signals that this program takes from its queue instead of being interrupted by them.
TAKEN = (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM)

LIBC = ctypes.CDLL(None, use_errno=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--owner", type=int, help="a process ID")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--reap", action="store_true")
    parser.add_argument("--nice", type=int, default=0)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    born = None if options.owner is None else start_time(options.owner)
    if options.owner is not None and born is None:
        return KILLED
    if options.nice:
        os.nice(options.nice)
        # A session has a share of its own where the kernel has autogroups, whatever its processes'
        # nice values are.
        with contextlib.suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(options.nice))
    # What the command leaves behind becomes a child of this process and not of init.
    LIBC.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, TAKEN)
    if signal.SIGINT in signal.sigpending():
        # The command is not in the group yet, so it would never get the signal.
        return INTERRUPTED
    # Inherited files (a lock) belong to the command too.
    process = subprocess.Popen(options.command, close_fds=False, preexec_fn=prepare_child)
    deadline = time.monotonic() + options.seconds
    while True:
        status = reap_ended(process)
        if status is not None:
            break
        taken = signal.sigtimedwait(TAKEN, LOOK_SECONDS)
        # Ctrl-C reaches the whole group, so the command has it already.
        if taken is not None and taken.si_signo == signal.SIGTERM:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)
        owner_ended = options.owner is not None and start_time(options.owner) != born
        if owner_ended or time.monotonic() > deadline:
            kill_descendants()
            return KILLED
    if options.reap:
        kill_descendants()
    return status


def prepare_child() -> None:
    """Between fork and exec: were this program killed, the command would be too."""
    LIBC.prctl(SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    # A shell starts its background jobs with this signal ignored, and the runner ends stages by it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, TAKEN)


def start_time(pid: int) -> str | None:
    """When the process started, in the kernel's ticks; None if it has ended.

    The process ID alone can belong to another process later.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    state, *fields = text.rpartition(")")[2].split()
    return None if state in "ZX" else fields[18]


def reap_ended(process: subprocess.Popen[bytes]) -> int | None:
    """Wait for each child that has ended; the exit status of the command if it was among them."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return None
        if pid == 0:
            return None
        if pid == process.pid:
            code = os.waitstatus_to_exitcode(status)
            process.returncode = code
            return code if code >= 0 else 128 - code


def kill_descendants() -> None:
    """Kill every process below this one until none is left: one of them may have just forked."""
    while True:
        below = descendants()
        for pid in below:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not below:
            return
        time.sleep(0.02)


def descendants() -> list[int]:
    """The processes below this one that have not ended."""
    children = defaultdict(list)
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
            if state not in "ZX":
                children[int(parent)].append(int(path.parent.name))
    pids = list(children[os.getpid()])
    for pid in pids:
        pids += children[pid]
    return pids


if __name__ == "__main__":
    sys.exit(main())
