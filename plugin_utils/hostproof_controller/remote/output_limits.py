# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends what a host does to a connection: printing without end, or never coming to one.

Ansible's connections keep all that a host prints, for as long as it prints. So a timer looks again
and again at what the worker has become meanwhile; what is too much is cut off where it is.
"""

from __future__ import annotations

import contextlib
import glob
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any

#: Bytes of both streams that a host may print. The largest answer is 48 MiB.
MOST_OUTPUT = 64 << 20
#: Bytes that a worker may grow meanwhile, where nobody counts what it reads. Ansible holds the
#: largest answer several times over.
MOST_GROWTH = 384 << 20
#: Seconds for an answer; what a task has its host wait or measure comes on top.
SECONDS = 7200.0
#: A week: with more, nobody waits for the report.
MOST_SECONDS = 604800

#: Seconds between two looks: what is printed meanwhile is not bounded.
_TICK = 0.2

#: getrusage(2) has KiB, on macOS bytes.
_UNIT = 1 if sys.platform == "darwin" else 1024


class LimitExceeded(Exception):
    """A host printed too much, or took too long; the message says it in a sentence."""


class _LimitReached(BaseException):
    """No ``except Exception`` on the way is to take it: Ansible's ssh would try once more."""


@contextlib.contextmanager
def limit_output(connection: Any, seconds: float) -> Iterator[None]:
    """LimitExceeded where what goes through the connection takes more than memory or time allow."""
    plain = connection.exec_command

    def counted(*arguments: Any, **named: Any) -> Any:
        answer = plain(*arguments, **named)
        if sum(len(stream) for stream in answer[1:]) > MOST_OUTPUT:
            raise LimitExceeded(_PRINTED)
        return answer

    connection.exec_command = counted
    try:
        with _looking(seconds):
            yield
    except _LimitReached as problem:
        # Whoever was waited for stands where the wait was cut off.
        _end_all(problem.__traceback__)
        raise LimitExceeded(str(problem)) from None
    finally:
        connection.exec_command = plain


_PRINTED = f"the host printed more than {MOST_OUTPUT >> 20} MiB; nothing of it was taken"


@contextlib.contextmanager
def _looking(seconds: float) -> Iterator[None]:
    """Raises _LimitReached within, as soon as a check finds too much. A timer of Ansible's rings
    in its own time."""
    if threading.current_thread() is not threading.main_thread():
        # Signals are not for us: a plugin that runs workers as threads has its own limits.
        yield
        return
    most, most_read = _memory() + MOST_GROWTH, _read() + MOST_OUTPUT
    began = time.monotonic()
    theirs = signal.getitimer(signal.ITIMER_REAL)[0]
    handler: Callable[[int, FrameType | None], Any] | Any = signal.SIG_DFL
    rung = False

    def look(number: int, frame: FrameType | None) -> None:
        nonlocal rung
        passed = time.monotonic() - began
        if theirs and passed >= theirs and callable(handler) and not rung:
            rung = True
            handler(number, frame)
        if _memory() > most or _read() > most_read:
            raise _LimitReached(_PRINTED)
        if passed > seconds:
            raise _LimitReached(
                f"the host gave no answer within {seconds:g} s; hostproof_answer_seconds is the "
                "variable for more"
            )

    handler = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, min(_TICK, theirs or _TICK), _TICK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        # It rings once: a second time would be in the midst of what is done about the first.
        if theirs and not rung:
            left = theirs - (time.monotonic() - began)
            signal.setitimer(signal.ITIMER_REAL, max(0.001, left))


def _memory() -> int:
    """The most bytes that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


def _read() -> int:
    """Bytes that this thread has read from anywhere; 0 where no kernel counts them (macOS).

    Of the process the kernel also tells what its children read: a module on this machine may read
    a disk.

    Ansible's ssh copies all that it has with each piece that comes: what does not fill the memory
    fills the time.
    """
    try:
        with open("/proc/thread-self/io", "rb") as stream:
            return int(stream.readline().split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _end_all(trace: TracebackType | None) -> None:
    """Kill the programs that stand in the frames of a traceback, and all that they started."""
    for frame, _line in traceback.walk_tb(trace):
        for value in list(frame.f_locals.values()):
            if isinstance(value, subprocess.Popen) and value.poll() is None:
                for pid in _stopped(value.pid):
                    _send(pid, signal.SIGKILL)


def _stopped(root: int) -> list[int]:
    """A process and all below it, each stopped: none starts another one while we look.

    Whoever's parent is gone belongs to nobody that can be told, and sudo's are not ours to stop.
    """
    found: list[int] = []
    new = [root]
    while new:
        found += new
        for pid in new:
            _send(pid, signal.SIGSTOP)
        parents = _parents()
        new = [pid for pid, parent in parents.items() if parent in found and pid not in found]
    return found


def _parents() -> dict[int, int]:
    """The parent of each process; the answer of ps where no /proc tells it (macOS)."""
    found = {}
    for path in glob.iglob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError), open(path, "rb") as stream:
            # The name in brackets may hold anything, brackets too.
            found[int(path.split("/")[2])] = int(stream.read().rpartition(b")")[2].split()[1])
    if not found:
        listed = subprocess.run(
            ["ps", "-A", "-o", "pid=", "-o", "ppid="], stdout=subprocess.PIPE, check=False
        )
        found = {
            int(pid): int(parent) for pid, parent in map(bytes.split, listed.stdout.splitlines())
        }
    return found


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)
