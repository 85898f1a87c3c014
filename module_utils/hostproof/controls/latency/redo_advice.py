# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fix of waits for the redo log: storage only where the log writes themselves are slow."""

from typing import Iterable, Optional

from ...collect.measured import Measured
from .measurement.report import LOG_WRITE

#: Microseconds of a log write below which storage is not what sessions wait for.
_FAST_LOG_WRITE = 1000.0


def log_write_us(measured: Measured) -> Optional[float]:
    """The mean of a log write in the report. None where it is not an I/O latency or not known."""
    means = [
        each.mean
        for each in measured.windows
        if each.subject.startswith(LOG_WRITE) and each.conditions.get("io_latency") == "yes"
    ]
    return max((float(mean) for mean in means if mean is not None), default=None)


def fix_of_redo(events: Iterable[str], log_write: Optional[float]) -> str:
    """What to do about waits for these events, with the mean of a log write in microseconds."""
    names = list(events)
    steps = []
    if log_write is None:
        steps.append(
            f"compare with '{LOG_WRITE}', which this report does not show as an I/O latency: if it "
            "is slow, latency.redo_members names the slowest redo log member"
        )
    elif log_write >= _FAST_LOG_WRITE:
        steps.append(
            f"a log write takes {log_write / 1000:.3g} ms: latency.redo_members names the slowest "
            "redo log member; give redo fast storage"
        )
    else:
        steps.append(
            f"a log write takes only {log_write / 1000:.3g} ms, so faster storage does not help: "
            "check CPU and run queue of LGWR, a synchronous standby, and commit less often"
        )
    if any(name.startswith("log file switch") for name in names):
        steps.append("make the online logs larger and add groups")
    if any(name.startswith("log buffer space") for name in names):
        steps.append("check the size of log_buffer")
    return "; ".join(steps)
