# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends a command of a host that prints without end, or that never ends.

Ansible's connections store all that a host prints, for as long as it prints. So a timer checks
the memory of the worker several times a second, and interrupts it where the limit is reached.
"""

from __future__ import annotations

import contextlib
import glob
import os
import resource
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator
from types import TracebackType

from .transport import shared_alarm, watched_output

#: Bytes of both streams that a host may print. The largest answer is 48 MiB.
MOST_OUTPUT = 64 << 20
#: Bytes that a worker may grow meanwhile if the kernel does not count its reads. Ansible holds
#: several copies of the largest answer.
MOST_GROWTH = 384 << 20
#: Seconds for an answer, in addition to the time for which a task waits or measures on the host.
SECONDS = 7200.0
#: A week: a longer limit is useless.
MOST_SECONDS = 604800

#: Seconds between two checks; output between two checks is not limited.
_TICK = 0.2

#: getrusage(2) has KiB, on macOS bytes.
_UNIT = 1 if sys.platform == "darwin" else 1024


class LimitExceeded(Exception):
    """A host printed too much, or took too long; the message says it in a sentence."""


class _LimitReached(BaseException):
    """No ``except Exception`` on the way is to take it: Ansible's ssh would try once more."""


_PRINTED = f"the host printed more than {MOST_OUTPUT >> 20} MiB; nothing of it was taken"


@contextlib.contextmanager
def limit_output(connection: object, seconds: float) -> Iterator[None]:
    """LimitExceeded where what goes through the connection takes more than memory or time allow."""
    most = _memory() + MOST_GROWTH
    # Between commands Ansible reads what it sends: for one module several times its sources.
    most_read: int | None = None

    def begin() -> None:
        nonlocal most_read
        most_read = _read() + MOST_OUTPUT

    def check_size(size: int) -> None:
        nonlocal most_read
        most_read = None
        if size > MOST_OUTPUT:
            raise LimitExceeded(_PRINTED)

    def check(passed: float) -> None:
        if _memory() > most or (most_read is not None and _read() > most_read):
            raise _LimitReached(_PRINTED)
        if passed > seconds:
            raise _LimitReached(
                f"the host gave no answer within {seconds:g} s; hostproof_host_timeout is the "
                "variable for more"
            )

    try:
        with watched_output(connection, begin, check_size), shared_alarm(check, _TICK):
            yield
    except _LimitReached as problem:
        # The program that was waited for is in the frame where the wait was interrupted.
        _end_all(problem.__traceback__)
        raise LimitExceeded(str(problem)) from None


def _memory() -> int:
    """The most bytes that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


def _read() -> int:
    """Bytes that this thread has read; 0 if the kernel does not count them (macOS).

    The counter of the process is unsuitable: it includes its children, and a module on this machine
    may read a disk.

    Ansible's ssh connection copies all output with each new part. Large output therefore uses up
    the time even if it fits in memory.
    """
    try:
        with open("/proc/thread-self/io", "rb") as stream:
            return int(stream.readline().split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _end_all(trace: TracebackType | None) -> None:
    """Kill the programs that are in the frames of a traceback, and all that they started."""
    for frame, _line in traceback.walk_tb(trace):
        for value in list(frame.f_locals.values()):
            if isinstance(value, subprocess.Popen) and value.poll() is None:
                for pid in _stopped(value.pid):
                    _send(pid, signal.SIGKILL)


def _stopped(root: int) -> list[int]:
    """A process and its descendants, each stopped, so that none starts another one meanwhile.

    The origin of orphaned processes is unknown, and children of sudo cannot be stopped.
    """
    pids: list[int] = []
    new = [root]
    while new:
        pids += new
        for pid in new:
            _send(pid, signal.SIGSTOP)
        parents = _parents()
        new = [pid for pid, parent in parents.items() if parent in pids and pid not in pids]
    return pids


def _parents() -> dict[int, int]:
    """The parent of each process; the answer of ps where no /proc tells it (macOS)."""
    parents = {}
    for path in glob.iglob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError), open(path, "rb") as stream:
            # The name in brackets may hold anything, brackets too.
            parents[int(path.split("/")[2])] = int(stream.read().rpartition(b")")[2].split()[1])
    if not parents:
        listed = subprocess.run(
            ["ps", "-A", "-o", "pid=", "-o", "ppid="], stdout=subprocess.PIPE, check=False
        )
        parents = {
            int(pid): int(parent) for pid, parent in map(bytes.split, listed.stdout.splitlines())
        }
    return parents


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)
