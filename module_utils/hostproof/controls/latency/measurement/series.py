# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Windows of one probe, one after the other until a time limit: latency_disk, latency_tcp.

``options`` are the options of the module. An incomplete series is valid. Only a series without any
window is an error.
"""

import os
import shutil
import subprocess
import time
from functools import partial
from typing import Any, Dict, List, NamedTuple, Sequence

from ....collect import command
from ....collect.host import Host
from ....collect.measured import Window
from ....collect.options import decimal, whole
from ..probes import direct_file
from ..probes.direct_file import DirectFile
from . import conditions, disk_counters, disk_latency, tcp_latency

#: What both modules have.
OPTIONS = {"windows": whole(1, 100, 1), "pause": decimal(0, 3600, 0.0), "cpu": {"type": "int"}}

#: Seconds that fio has for its report when its time is over.
PARTING = 30.0

Given = Dict[str, Any]


class Measured(NamedTuple):
    """``first_pass``: of reads that no cache could have answered; they count in no window."""

    windows: List[Window]
    first_pass: List[Window]
    remarks: List[str]


def of_counters(host: Host, options: Given) -> Measured:
    """Windows of the kernel's disk counters."""
    called: Dict[str, List[str]] = {}
    if options["devices"] is not None:
        called = disk_counters.names_given(host, options["devices"])
        names = list(called)
    else:
        names = disk_counters.choose(host, options["layer"])
    if not names:
        raise ValueError("there is no disk to check; name one with devices")
    ticks, tick = disk_counters.in_ticks(host, names), conditions.tick_us()
    deadline = time.monotonic() + options["seconds"]
    duration = options["intervals"] * options["interval_seconds"]
    windows: List[Window] = []
    remarks = disk_counters.tick_remarks(ticks, tick)
    for number in range(options["windows"]):
        if not _time_is_left(number, options, deadline - duration, remarks):
            break
        before, started = conditions.start(), time.time()
        intervals = disk_counters.read_intervals(
            host, options["intervals"], options["interval_seconds"], number * options["intervals"]
        )
        # Conditions of the host meanwhile, with the cost of reading the counters.
        around = conditions.since(before)
        batch, missing = disk_counters.windows(
            names, intervals, started, dict.fromkeys(ticks, tick), called
        )
        for window in batch:
            window.conditions.update(around)
        windows += batch
        remarks += [remark for remark in missing if remark not in remarks]
    if not windows:
        raise ValueError(
            f"a window takes {duration:g} s, which seconds does not allow"
            if deadline - duration < time.monotonic()
            else "; ".join(remarks)
        )
    return Measured(windows, [], remarks)


def of_reads(options: Given) -> Measured:
    """Reads of a file; fio does them where more than one is under way."""
    deadline = time.monotonic() + options["seconds"]
    windows: List[Window] = []
    first_pass: List[Window] = []
    remarks: List[str] = []
    if options["queue_depth"] > 1 and shutil.which("fio") is None:
        raise ValueError(
            "a queue_depth above 1 needs fio, which is not on this host: install it, or take 1"
        )
    file = direct_file.open_file(options["path"])
    try:
        # The first pass reads from where no cache has been warmed by us.
        for number in range(-1, options["windows"]):
            if number > -1 and not _time_is_left(number, options, deadline, remarks):
                break
            for size in options["sizes"]:
                measured = _reads(options, file, size, deadline)
                (windows if number > -1 else first_pass).extend(measured.windows)
                remarks += [remark for remark in measured.remarks if remark not in remarks]
    except disk_latency.NoTime:
        remarks.append(f"{_so_many(max(0, number), options)} of {size} bytes")
    finally:
        os.close(file.descriptor)
    if not windows:
        raise ValueError(
            "the first pass took all of the time; give more seconds or a shorter interval"
        )
    return Measured(windows, first_pass, remarks)


def _reads(options: Given, file: DirectFile, size: int, deadline: float) -> disk_latency.Measured:
    if time.monotonic() >= deadline:
        raise disk_latency.NoTime(file.path)
    reads = max(1, min(options["reads"], options["most_bytes"] // size))
    pace = disk_latency.Pace(reads, options["interval"], deadline)
    if options["queue_depth"] == 1:
        return disk_latency.one_at_a_time(file, size, pace, options["seed"], options["cpu"])
    run = partial(_run_fio, deadline)
    return disk_latency.many_at_a_time(
        run, file, size, options["queue_depth"], pace, options["seed"]
    )


def _run_fio(deadline: float, argv: Sequence[str]) -> command.Output:
    """Bounded in what it prints, and in time: it is given the same end."""
    seconds = max(1.0, deadline - time.monotonic()) + PARTING
    # Found where shutil.which found it.
    path = {"PATH": os.environ.get("PATH", command.PATH)}
    try:
        return command.run(command.Command("fio", tuple(argv), environment=path, timeout=seconds))
    except subprocess.TimeoutExpired as problem:
        raise ValueError(f"fio did not end within {seconds:.0f} s") from problem


def of_round_trips(options: Given) -> Measured:
    """Round trips to the other side."""
    target = tcp_latency.resolve(options["host"], options["port"])
    deadline = time.monotonic() + options["seconds"]
    pace = tcp_latency.Pace(options["samples"], options["interval"], options["timeout"], deadline)
    windows: List[Window] = []
    remarks: List[str] = []
    for number in range(options["windows"]):
        _pause(number, options, deadline)
        try:
            if number and time.monotonic() >= deadline:
                raise tcp_latency.NoTime(target.name)
            series = _round_trips(options, target, pace)
        except tcp_latency.NoTime:
            if not windows:
                raise
            remarks.append(f"{target.name}: {_so_many(number, options)}")
            break
        windows += tcp_latency.windows(target, series)
        remarks += [remark for remark in series.remarks if remark not in remarks]
    return Measured(windows, [], remarks)


def _round_trips(
    options: Given, target: tcp_latency.Target, pace: tcp_latency.Pace
) -> tcp_latency.Series:
    if options["mode"] == "handshake":
        return tcp_latency.handshake(target, pace, options["cpu"])
    if options["mode"] == "tns_ping":
        return tcp_latency.tns_pings(target, pace, options["cpu"])
    sizes = (options["request_size"], options["reply_size"])
    return tcp_latency.request_response(target, sizes[0], sizes[1], pace, options["cpu"])


def _time_is_left(number: int, options: Given, deadline: float, remarks: List[str]) -> bool:
    """Wait for the next window; False, with a remark, where there is no time for it."""
    _pause(number, options, deadline)
    if time.monotonic() < deadline:
        return True
    remarks.append(_so_many(number, options))
    return False


def _pause(number: int, options: Given, deadline: float) -> None:
    if number:
        time.sleep(max(0.0, min(options["pause"], deadline - time.monotonic())))


def _so_many(number: int, options: Given) -> str:
    return "there was time for {0} of {1} windows".format(number, options["windows"])
