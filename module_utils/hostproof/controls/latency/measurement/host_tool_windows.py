# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Outputs of the host's own tools as windows: iostat, sar, nfsiostat, ping and fio."""

from typing import Any, Dict, List, Optional, Tuple

from ....collect.measured import Window
from ..parsers import fio, iostat, nfsiostat, ping
from .median import median
from .report import Report, window

_SINCE_BOOT = "the first report, of the time since the last reboot, is left out"


def from_iostat(text: str) -> Report:
    """A window per device: the median of the intervals."""
    reports = iostat.parse(text)
    remarks = []
    if len(reports) > 1:
        reports = reports[1:]
        remarks.append(_SINCE_BOOT)
    else:
        remarks.append("a single report may be of the whole time since the last reboot")
    return of_disks("iostat", reports, remarks)


def of_disks(tool: str, reports: List[List[iostat.Disk]], remarks: List[str]) -> Report:
    by_name: Dict[str, List[iostat.Disk]] = {}
    for report in reports:
        for disk in report:
            by_name.setdefault(disk.name, []).append(disk)
    windows = []
    figures = []
    idle = []
    for name, disks in by_name.items():
        busy = [(disk.latency, disk.requests) for disk in disks if disk.latency is not None]
        most = max((disk.utilisation or 0.0 for disk in disks), default=0.0)
        figures.append({"device": name, "intervals": len(disks), "most_utilisation": most})
        if not busy:
            idle.append(name)
        elif ":/" in name:
            # Solaris shows NFS mounts as devices.
            windows += _of_mount(name, [disk for disk in disks if disk.latency is not None], tool)
        else:
            windows.append(_of_intervals("disk", name, "device", busy, tool))
    if idle:
        remarks.append("without requests: {0}".format(", ".join(idle)))
    return Report(tool, windows, {"host_devices": figures}, remarks)


def _of_mount(name: str, disks: List[iostat.Disk], tool: str) -> List[Window]:
    queued = [(disk.queue or 0.0, disk.requests) for disk in disks]
    at_server = [((disk.latency or 0.0) - (disk.queue or 0.0), disk.requests) for disk in disks]
    return [
        _of_intervals("nfs", name, "server", at_server, tool),
        _of_intervals("nfs", name, "host", queued, tool),
    ]


def _of_intervals(
    probe: str, name: str, layer: str, intervals: List[Tuple[float, float]], tool: str
) -> Window:
    """Of milliseconds and requests per second in each interval."""
    times = sorted(1000.0 * latency for latency, _ in intervals)
    total = sum(rate for _, rate in intervals)
    mean = sum(1000.0 * latency * rate for latency, rate in intervals) / total if total else None
    return window(
        probe,
        name,
        layer,
        0,
        mean,
        {
            "tool": tool,
            "mode": "passive",
            "n_from": "not told",
            "intervals": len(intervals),
            "intervals_told": len(intervals),
        },
        minimum=times[0],
        maximum=times[-1],
        p50=median(times) if len(times) > 1 else None,
    )


def from_nfsiostat(text: str) -> Report:
    """Two windows per mount and direction: at the server, and in the queue of the host."""
    reports = nfsiostat.parse(text)
    remarks = []
    if len(reports) > 1:
        reports = reports[1:]
        remarks.append("the first report, of the time since the mount, is left out")
    else:
        remarks.append("a single report may be of the whole time since the mount")
    windows = []
    figures = []
    done: Dict[Tuple[str, str], List[nfsiostat.Operation]] = {}
    for report in reports:
        for mount, operations in report.items():
            for operation in operations:
                done.setdefault((mount, operation.name), []).append(operation)
    for (mount, name), operations in done.items():
        subject = f"{mount} {name}"
        again = sum(operation.retransmissions for operation in operations)
        figures.append({"subject": subject, "retransmissions": again})
        busy = [operation for operation in operations if operation.per_second]
        if not busy:
            remarks.append(f"{subject}: no requests")
            continue
        if again:
            remarks.append(f"{subject}: {again} requests were sent again")
        at_server = [(operation.round_trip, operation.per_second) for operation in busy]
        queued = [
            (max(0.0, operation.execution - operation.round_trip), operation.per_second)
            for operation in busy
        ]
        windows.append(_of_intervals("nfs", subject, "server", at_server, "nfsiostat"))
        windows.append(_of_intervals("nfs", subject, "host", queued, "nfsiostat"))
    return Report("nfsiostat", windows, {"nfs_operations": figures}, remarks)


def from_ping(text: str) -> Report:
    """A window per run. ``lost`` of its conditions is the number of packets without an answer."""
    windows = []
    remarks = []
    figures: List[Dict[str, Any]] = []
    for run in ping.parse(text):
        if not run.whole:
            remarks.append("the summary is missing: what was lost at the end is unknown")
        lost = run.sent - run.received
        figures.append({"target": run.target, "sent": run.sent, "lost": lost})
        windows.append(
            window(
                "tcp",
                run.target,
                "net",
                run.received,
                None if run.mean is None else 1000.0 * run.mean,
                {"tool": "ping", "sent": run.sent, "lost": lost or None},
                minimum=None if run.minimum is None else 1000.0 * run.minimum,
                maximum=None if run.maximum is None else 1000.0 * run.maximum,
                p50=_median_of(run),
            )
        )
    return Report("ping", windows, {"pings": figures}, remarks)


def _median_of(run: ping.Ping) -> Optional[float]:
    """Microseconds, where the text has the time of each answer."""
    if not run.answers or len(run.answers) != run.received:
        return None
    return 1000.0 * median(sorted(run.answers))


def from_fio(text: str) -> Report:
    """A window per job and direction."""
    windows = []
    for job in fio.parse(text, only_reads=False):
        shares = {share: value / 1000.0 for share, value in job.percentiles.items()}
        windows.append(
            window(
                "disk",
                f"fio {job.job} {job.direction}",
                "user",
                job.reads,
                job.mean / 1000.0 if job.reads else None,
                {"tool": "fio", "errors": job.errors or None},
                size=round(job.bytes / job.reads) if job.reads else None,
                seconds=job.runtime_ms / 1000.0,
                minimum=job.lowest / 1000.0,
                maximum=job.highest / 1000.0,
                p50=shares.get(50.0),
                p90=shares.get(90.0),
                p99=shares.get(99.0),
            )
        )
    return Report("fio", windows, {"jobs": len(windows)}, [])
