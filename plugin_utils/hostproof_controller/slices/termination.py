# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a program ends that somebody interrupts, with all that it started.

ansible-runner gives ansible-playbook a separate terminal, and Ansible gives each worker a session
of its own: what is typed at ours reaches neither, and a worker waits for its host for as long as
that takes, even if nobody is left to hear of it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

#: Seconds: between two looks, for ansible-playbook to end its workers, for its runner to end then.
_LOOK, _GRACE, _AFTER = 0.2, 10.0, 5.0

_PROC = Path("/proc")


class _Process(NamedTuple):
    """``began`` tells it from another that has its number later."""

    pid: int
    began: str


def wait(process: subprocess.Popen[bytes], interrupted: Sequence[int]) -> int:
    """The exit code; ``interrupted`` is no longer empty when it is to end early."""
    while not interrupted:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(_LOOK)
    return _end(process)


def _end(process: subprocess.Popen[bytes]) -> int:
    """ansible-playbook is queried first, as by Ctrl-C; what is left of it after a while is
    killed."""
    below = set(_below(process.pid))
    for one in _children(process.pid):
        _signal(one, signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE)
    # What began in the meantime.
    below.update(_below(process.pid))
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_AFTER)
    process.kill()
    for one in below:
        _signal(one, signal.SIGKILL)
    return process.wait()


def _signal(process: _Process, number: signal.Signals) -> None:
    if _began(process.pid) == process.began:
        with contextlib.suppress(OSError):
            os.kill(process.pid, number)


def _below(pid: int) -> Iterator[_Process]:
    """All that a process started, and they in turn."""
    for one in _children(pid):
        yield one
        yield from _below(one.pid)


def _children(pid: int) -> list[_Process]:
    """None where the system has no /proc of Linux: there the runner alone is told."""
    found = []
    for path in _PROC.glob(f"{pid}/task/*/children"):
        with contextlib.suppress(OSError):
            found += [int(word) for word in path.read_text().split()]
    return [_Process(child, began) for child in found if (began := _began(child)) is not None]


def _began(pid: int) -> str | None:
    """When a process began, in ticks of the clock (proc(5): starttime); None: it has ended."""
    try:
        fields = (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return fields[19] if fields[0] != "Z" else None
    except (OSError, IndexError):
        return None
