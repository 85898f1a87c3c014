# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Outputs of oratcptest, Orion, SLOB, ApacheBench and of Exadata's cells as windows."""

import operator
from typing import Any, Dict, List, Optional

from ....collect.measured import Window
from ..parsers import (
    apachebench,
    devio_stats,
    iolstats,
    oratcptest,
    orion,
    packet_sizes,
    slob,
)
from .median import median, spread
from .report import Report, octaves, window

#: Fewer I/Os in an interval do not tell its mean: the counters are whole milliseconds.
FEWEST = 30

_SHORTENED = "lines were removed: their content is unknown"


def from_oratcptest(text: str) -> Report:
    """One window per test. ``n`` is computed from the run time: oratcptest does not count."""
    windows = []
    remarks = []
    figures = []
    for test in oratcptest.parse(text):
        subject = _server(test)
        figures.append(
            {
                "subject": subject,
                "mode": test.mode,
                "payload_bytes": test.payload,
                "connections": test.connections,
                "throughput_bytes_per_second": test.throughput,
                "latency_us": test.latency,
                "intervals": [
                    {
                        "at": interval.at,
                        "throughput_bytes_per_second": interval.throughput,
                        "latency_us": interval.latency,
                    }
                    for interval in test.intervals
                ],
            }
        )
        if test.latency is None or test.mode != "SYNC":
            remarks.append(
                f"a test in mode {test.mode} tells no round trip: run it with -mode=sync"
            )
            continue
        if test.disk_write:
            remarks.append("the server wrote each message to disk: that is in the latency")
        count = 0
        if test.duration and test.latency:
            count = int(test.duration * 1e6 / test.latency) * test.connections
        windows.append(
            window(
                "tcp",
                subject,
                "user",
                count,
                test.latency,
                {
                    "tool": "oratcptest",
                    "connections": test.connections,
                    "uncertainty_us": (test.step or 0) / 2,
                    "n_from": "duration / latency" if count else "not told",
                    "disk_write": test.disk_write or None,
                },
                size=test.payload,
                seconds=test.duration,
            )
        )
    return Report("oratcptest", windows, {"tests": figures}, remarks)


def _server(test: oratcptest.Test) -> str:
    if test.server is None:
        return "oratcptest"
    return test.server if test.port is None else f"{test.server}:{test.port}"


def from_orion(text: str) -> Report:
    """A window a point of the matrix whose latency is printed."""
    windows: List[Window] = []
    remarks = []
    figures = []
    for place, run in enumerate(orion.parse(text), 1):
        name = run.file or ("orion" if place == 1 else f"orion run {place}")
        figures.append(
            {
                "subject": name,
                "large_mbps": _best(run.large_mbps),
                "small_iops": _best(run.small_iops),
                "small_latency_us": _best(run.small_latency),
            }
        )
        if run.missing:
            remarks.append(
                "{0} was cut off, it has no line '{1}='".format(name, "=', '".join(run.missing))
            )
        batch = _of_orion(name, run)
        windows += batch
        if not batch and not run.missing:
            remarks.append(f"{name} prints rates and no latency")
    return Report("orion", windows, {"runs": figures}, remarks)


def _of_orion(name: str, run: orion.Summary) -> List[Window]:
    """Those of one run; of a summary alone, the best of its small reads."""
    windows = [
        window(
            "disk",
            f"{name} {latency.direction} {latency.small}+{latency.large}",
            "user",
            sum(latency.bins.values()),
            latency.average,
            {
                "tool": "orion",
                "small_in_flight": latency.small,
                "large_in_flight": latency.large,
                "deviation_us": latency.deviation,
                "n_from": None if latency.bins else "not told",
            },
            size=run.small_size if latency.kind == "small" else run.large_size,
            bins=octaves(latency.bins),
            minimum=latency.minimum,
            maximum=latency.maximum,
        )
        for latency in run.latencies
    ]
    best = run.small_latency
    if best is not None and not windows:
        context = {
            "tool": "orion",
            "small_in_flight": best.small,
            "large_in_flight": best.large,
            "n_from": "not told",
        }
        subject = f"{name} read {best.small}+{best.large}"
        windows.append(window("disk", subject, "user", 0, best.value, context, size=run.small_size))
    return windows


def from_iolstats(text: str) -> Report:
    """A window a cell disk, direction and size: bins alone, as a cell keeps no sums."""
    windows = []
    remarks: List[str] = []
    figures = []
    for disk in iolstats.parse(text):
        counts = {
            str(size): {"reads": both[0], "writes": both[1]} for size, both in disk.counts.items()
        }
        figures.append({"cell_disk": disk.name, "ios_by_size": counts, "whole": not disk.shortened})
        directions = [table.direction for table in disk.latencies]
        for place, direction in enumerate(("read", "write")):
            number = sum(both[place] for both in disk.counts.values())
            if number and direction not in directions:
                remarks.append(
                    f"{disk.name}: the latencies of {number} {direction}s are not in the text"
                )
        if disk.shortened:
            remarks.append(f"{disk.name}: {_SHORTENED}")
        for table in disk.latencies:
            for size, bins in sorted(table.bins.items()):
                windows.append(
                    window(
                        "disk",
                        disk.name,
                        table.direction,
                        sum(bins.values()),
                        None,
                        {"tool": "iolstats", "since": "start or reset of cellsrv's statistics"},
                        size=size,
                        bins=octaves(bins),
                    )
                )
    return Report("iolstats", windows, {"cell_disks": figures}, remarks)


def from_devio_stats(text: str) -> Report:
    """A window a device, as the passive probe of this host's disks gives."""
    windows = []
    remarks = []
    figures = []
    fewer: Dict[str, List[str]] = {}
    for device in devio_stats.parse(text):
        counts = [interval.reads + interval.writes for interval in device.intervals]
        latency = _mean([interval.latency for interval in device.intervals], counts)
        figures.append(
            {
                "device": device.name,
                "requests": sum(counts),
                "intervals": len(device.intervals),
                "confined_intervals": sum(interval.confined for interval in device.intervals),
                "latency_us": latency,
                "service_us": _mean([interval.service for interval in device.intervals], counts),
                "whole": not device.shortened and len(device.intervals) >= device.expected,
            }
        )
        of_device = _of_device(device, counts, latency)
        windows.append(of_device)
        if of_device.p50 is None:
            remarks.append(f"{device.name}: too few I/Os, no interval has {FEWEST}")
        if device.shortened:
            remarks.append(f"{device.name}: {_SHORTENED}")
        elif len(device.intervals) < device.expected:
            has = f"{len(device.intervals)} of {device.expected}"
            fewer.setdefault(has, []).append(device.name)
    for has, names in fewer.items():
        remarks.append(
            "only {0} intervals are there, the dump was cut off or the cell had just begun: "
            "{1}".format(has, ", ".join(names))
        )
    return Report("devio_stats", windows, {"devices": figures}, remarks)


def _mean(values: List[float], counts: List[int]) -> Optional[float]:
    """The mean of the values, each weighted by its count."""
    total = sum(counts)
    return sum(map(operator.mul, values, counts)) / total if total else None


def _of_device(device: devio_stats.Device, counts: List[int], latency: Optional[float]) -> Window:
    counted = zip(device.intervals, counts)
    means = sorted(interval.latency for interval, count in counted if count >= FEWEST)
    of_means = spread(means)
    total = sum(counts)
    size = _mean([interval.size for interval in device.intervals], counts)
    return window(
        "disk",
        device.name,
        "device",
        total,
        latency if means else None,
        {
            "tool": "devio_stats",
            "intervals": len(device.intervals),
            "intervals_told": len(means),
            "interval_s": devio_stats.STEP_SECONDS,
            "request_bytes": None if size is None else int(size),
            "resolution_us": round(1000.0 * len(counts) / total, 1) if total else None,
        },
        seconds=float(len(device.intervals) * devio_stats.STEP_SECONDS),
        minimum=of_means.minimum,
        p50=of_means.median,
        maximum=of_means.maximum,
    )


def from_slob_grep(text: str) -> Report:
    """A window a report of which grep found the line of an event."""
    events, rates = slob.parse_grep(text)
    windows = [
        window(
            "database",
            event.name,
            "database",
            event.waits,
            None if event.average is None else event.average.value,
            {
                "file": event.file,
                "slob_sessions": event.sessions,
                "wait_class": event.wait_class,
                "average_from": None if event.average is None else event.average.by,
                "uncertainty_us": None
                if event.average is None
                else round(event.average.uncertainty, 3),
                "name_may_go_on": event.cut or None,
            },
        )
        for event in events
    ]
    figures = {
        "rates": [
            {
                "file": rate.file,
                "slob_sessions": rate.sessions,
                "name": rate.name,
                "per_second": rate.per_second,
                "per_transaction": rate.per_transaction,
            }
            for rate in rates
        ]
    }
    remarks = [] if windows else ["the lines are of the load profile and tell no latency"]
    return Report("slob_grep", windows, figures, remarks)


def from_slob_info(text: str) -> Report:
    """One window per report and event. awr_info.sh does not print the number of waits."""
    windows = []
    figures = []
    for info in slob.parse_info(text):
        figures.append(
            {
                "file": info.file,
                "slob_sessions": info.sessions,
                "figures": info.figures,
                "latencies_us": info.latencies,
                "top_wait": info.top_wait,
            }
        )
        for event, latency in sorted(info.latencies.items()):
            conditions = {
                "file": info.file,
                "slob_sessions": info.sessions,
                "n_from": "not told",
                "uncertainty_us": 0.5,
            }
            windows.append(
                window(
                    "database",
                    event,
                    "database",
                    0,
                    latency,
                    conditions,
                    seconds=info.figures.get("ELAPSED"),
                )
            )
    remarks = []
    if any(entry.subject == "log file parallel write" for entry in windows):
        remarks.append(
            "'log file parallel write' is not an I/O latency in a multitenant database since 12.2, "
            "and awr_info does not show whether this is one"
        )
    return Report("slob_awr_info", windows, {"reports": figures}, remarks)


def from_slob_db_stats(text: str) -> Report:
    """The run time of each schema. The file contains no latency."""
    figures = [
        {
            "schema": session.schema,
            "elapsed_seconds": session.elapsed / 100.0,
            "cpu_seconds": session.cpu / 100.0,
            "cpu_percent": session.percent,
        }
        for session in slob.parse_db_stats(text)
    ]
    return Report(
        "slob_db_stats",
        [],
        {"schemas": figures},
        ["db_stats.out tells how busy the schemas were, and no latency"],
    )


def from_apachebench(text: str) -> Report:
    """One window of HTTP requests: percentiles in whole milliseconds."""
    source = apachebench.parse(text)
    result = window(
        "http",
        "ApacheBench",
        "user",
        source.requests or 0,
        source.mean,
        {
            "tool": "ApacheBench",
            "n_from": None if source.requests else "not told",
            "uncertainty_us": 500.0,
        },
        minimum=source.minimum,
        maximum=source.maximum,
        p50=source.served.get(50),
        p90=source.served.get(90),
        p99=source.served.get(99),
    )
    figures = {
        "requests_per_second": source.rate,
        "served_us": {str(share): value for share, value in sorted(source.served.items())},
    }
    return Report("apachebench", [result], figures, [])


def from_tcpdump(text: str) -> Report:
    """One window of responses, with the mean sizes of requests and responses."""
    dialog = packet_sizes.parse_packets(text)
    request = sum(dialog.requests) / len(dialog.requests)
    response = sum(dialog.responses) / len(dialog.responses)
    times = sorted(dialog.times)
    windows = []
    if times:
        result = window(
            "tcp",
            dialog.server,
            "user",
            len(times),
            sum(times) / len(times),
            {"tool": "tcpdump", "reply_size": round(response)},
            size=round(request),
            minimum=times[0],
            maximum=times[-1],
            p50=median(times),
        )
        windows.append(result)
    figures = {
        "server": dialog.server,
        "requests": len(dialog.requests),
        "request_bytes": request,
        "responses": len(dialog.responses),
        "response_bytes": response,
    }
    return Report("tcpdump", windows, {"traffic": figures}, [])


def from_tcpstat(text: str) -> Report:
    """The mean payload of a packet, from the mean frame; there is no latency in it."""
    summaries = packet_sizes.parse_summaries(text)
    rate = sum(summary.per_second for summary in summaries)
    mean = sum(summary.mean * summary.per_second for summary in summaries) / rate if rate else 0.0
    payload = max(0.0, mean - packet_sizes.HEADERS)
    figures = {"packets_per_second": rate / len(summaries), "packet_bytes": payload}
    return Report(
        "tcpstat", [], {"traffic": figures}, ["tcpstat tells sizes of packets, and no latency"]
    )


def _best(best: Optional[orion.Best]) -> Optional[Dict[str, Any]]:
    return None if best is None else dict(best._asdict())
