# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends an interrupted program with all processes that it started.

ansible-runner gives ansible-playbook a separate terminal, and Ansible gives each worker a separate
session. Ctrl-C on this terminal reaches neither of them. A worker would wait for its host, even
after its parent process ended. A process that is killed cannot end others; ``bind`` lets the kernel
interrupt its child.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

#: Seconds: polling interval, time for ansible-playbook to end its workers, time for its runner.
_LOOK, _GRACE, _AFTER = 0.2, 10.0, 5.0

_PROC = Path("/proc")
#: prctl(2): the signal that a process gets when its parent ends.
_SET_DEATH_SIGNAL = 1
_LIBC = ctypes.CDLL(None)
#: Signals that end a command: Ctrl-C, kill, a closed terminal.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Process(NamedTuple):
    """``began`` detects a later process with the same process id."""

    pid: int
    began: str


def wait(process: subprocess.Popen[bytes], interrupted: Sequence[int]) -> int:
    """Wait for a process and return its exit code; end it early if ``interrupted`` is not empty."""
    while not interrupted:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(_LOOK)
    return _end(process)


def bind() -> None:
    """In the child, before exec: get SIGINT, as by Ctrl-C, when this process ends (Linux only)."""
    if hasattr(_LIBC, "prctl"):
        _LIBC.prctl(_SET_DEATH_SIGNAL, signal.SIGINT, 0, 0, 0)


def wait_for_playbook(process: subprocess.Popen[bytes], interrupted: Sequence[int]) -> int:
    """The same for an ansible-playbook on this terminal, which gets Ctrl-C by itself."""
    while not interrupted:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(_LOOK)
    if interrupted[0] == signal.SIGINT:
        return process.wait()
    below = set(_below(process.pid))
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE)
    return _kill(process, below)


def _end(process: subprocess.Popen[bytes]) -> int:
    """Send SIGINT to ansible-playbook, as Ctrl-C does, and kill the processes that remain."""
    below = set(_below(process.pid))
    for child in _children(process.pid):
        _signal(child, signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE)
    below.update(_below(process.pid))
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_AFTER)
    return _kill(process, below)


def _kill(process: subprocess.Popen[bytes], below: set[_Process]) -> int:
    """Kill what remains of a process and its descendants, also of those that started meanwhile."""
    below.update(_below(process.pid))
    process.kill()
    for child in below:
        _signal(child, signal.SIGKILL)
    return process.wait()


def _signal(process: _Process, number: signal.Signals) -> None:
    if _began(process.pid) == process.began:
        with contextlib.suppress(OSError):
            os.kill(process.pid, number)


def _below(pid: int) -> Iterator[_Process]:
    """All descendants of a process."""
    for child in _children(pid):
        yield child
        yield from _below(child.pid)


def _children(pid: int) -> list[_Process]:
    """The children of a process; empty without the /proc of Linux, so only the runner is ended."""
    pids = []
    for path in _PROC.glob(f"{pid}/task/*/children"):
        with contextlib.suppress(OSError):
            pids += [int(word) for word in path.read_text().split()]
    return [_Process(child, began) for child in pids if (began := _began(child)) is not None]


def _began(pid: int) -> str | None:
    """Start time of a process in clock ticks (proc(5): starttime); None if it has ended."""
    try:
        fields = (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return fields[19] if fields[0] != "Z" else None
    except (OSError, IndexError):
        return None
