# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are read past every cache: what a process waits, and the host's part of it."""

from typing import List

from ...collect.measured import Window
from ...errors import Unanswered
from ...evaluate.checking import Rules, Skip, Verdict
from ...latency.probe_list import DISK_READ, IN_TICKS
from ...parsers.size import human
from .facts import Facts
from .grading import Graded, around, grade_window, values_of, verdict_of
from .policy import NAME, Policy
from .subjects import FILES, IOSTATS, File
from .thresholds import Subject

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "latency.disk_read",
    "Latency of uncached file reads is within the limits",
    "Latency of uncached file reads exceeds the limits",
    severity="high",
    takes_effect="now",
    why="A server process waits this long for each block that is not in the buffer cache.",
    reference="open(2), O_DIRECT; Oracle Database 2 Day + Performance Tuning Guide, Setting the "
    "DBIO_EXPECTED Parameter",
    each=FILES,
)
def disk_read(file: File, _facts: Facts, policy: Policy) -> Verdict:
    measured, storage = file.known()
    key, path = file.subject.key, file.path
    windows = [window for window in measured.windows if window.layer == "user"]
    if not windows:
        raise Unanswered(key, "; ".join(measured.remarks) or "no read was made")
    graded: List[Graded] = []
    for window in windows:
        subject = Subject(DISK_READ, storage.kind, window.layer, window.size)
        graded += grade_window(window, subject, policy.thresholds, _label(window))
    cached = [_label(window) for window in windows if window.conditions.get("cached")]
    if cached:
        # Reads from a cache are not a measurement of the device.
        reasons = [remark for remark in measured.remarks if "a cache answered" in remark]
        raise Unanswered(
            key, "; ".join(reasons) or "a cache answered reads of {0}".format(", ".join(cached))
        )
    # A time in ticks affects only the device's figure, which host_gap reports.
    remarks = [
        remark
        for remark in measured.remarks
        if remark.startswith(DISK_READ) and IN_TICKS not in remark
    ]
    return verdict_of(
        disk_read.check,
        graded,
        f"{path} ({storage.kind})",
        "compare with latency.disk and latency.host_overhead, which separate the device from this "
        "host; then with the array's figures",
        (key,) + storage.evidence,
        remarks + around(windows),
    )._replace(values=values_of(path, windows) or None)


@rules.check(
    "latency.host_overhead",
    "Host overhead of disk reads is within the limit",
    "Host overhead of disk reads exceeds the limit",
    severity="medium",
    takes_effect="now",
    why="A process that waits for a CPU makes a fast disk look slow. Faster storage does not help.",
    reference=IOSTATS + ": the time of a request ends before the process that waits for it runs",
    each=FILES,
)
def host_overhead(file: File, _facts: Facts, policy: Policy) -> Verdict:
    """What a process waits for beyond the device."""
    measured, storage = file.known()
    key, path = file.subject.key, file.path
    windows = [window for window in measured.windows if window.layer == "host"]
    if not windows:
        reads = [window for window in measured.windows if window.layer == "user"]
        if not reads:
            raise Unanswered(key, "; ".join(measured.remarks) or "no read was made")
        why = "; ".join(measured.remarks) or "the device reports no separate time"
        raise Skip(f"The share of the host is unknown: {why}.", (key,))
    graded: List[Graded] = []
    for window in windows:
        subject = Subject(DISK_READ, storage.kind, "host", window.size)
        graded += grade_window(window, subject, policy.thresholds, _label(window))
    return verdict_of(
        host_overhead.check,
        graded,
        path,
        "check for busy, stolen or sleeping CPUs (load, steal, C-states): faster storage "
        "does not help",
        (key,),
        around(windows),
    )


def _label(window: Window) -> str:
    return human(window.size or 0)
