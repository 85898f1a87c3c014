# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the windows of all probes in rounds, for a baseline, a comparison or an audit.

In each round, passive probes sample in parallel. Active probes, which cause I/O or traffic, follow
one after the other, so that no probe measures another. Rates depend only on the options: the same
probes with the same ``seconds`` run at the same rate before and after a change.
"""

import os
import re
import time
from typing import Any, Dict, List, Tuple

from ....collect.host import Host, LiveHost
from ....collect.measured import Measured, Window
from ....errors import HostproofError, PolicyError, Unanswered
from ....latency.probe_list import (
    ACTIVE,
    AUTO,
    DISK,
    DISK_READ,
    NFS,
    NO_DISK,
    NO_NFS,
    POOL,
    REPORT,
    REQUEST_RESPONSE,
    SQLNET,
    TCP,
    TNS_PING,
    TOO_FEW,
    Probe,
)
from ....parsers.nfs import mountstats
from ....probes.nfs import nfs_traffic
from ..parsers import diskstats
from . import conditions, disk_counters, nfs_latency, traffic

#: Limits of a probe: it must stay a probe.
MOST_WINDOWS = 100
MOST_SECONDS = 600
MOST_PAUSE = 3600

#: Exadata's cells count in intervals of this many seconds; a window holds as many as it has room.
_INTERVAL = 3.0

#: Seconds from one read to the next where the list does not say how many.
_READ_INTERVAL = 0.001
_TIMEOUT = 5.0
_MOST_READS = 2000
_MOST_BYTES = 256 << 20
#: Chooses where to read; the same places before and after a change.
_SEED = 1


def measure(
    host: Host, probes: List[Probe], windows: int, seconds: float, pause: float
) -> Measured:
    """``windows`` windows of about ``seconds`` of each probe, ``pause`` seconds between rounds.

    A probe that cannot be measured is a remark that names it and says why; the others go on. No
    window at all is for the caller to check. PolicyError for numbers out of range."""
    check_rounds(windows, seconds, pause)
    for probe in probes:
        if probe.options.get("payload") == AUTO:
            raise PolicyError(
                f"{probe.name}: windows compare only with the same sizes: set request_size and "
                f"reply_size instead of payload: {AUTO}"
            )
    traffic.check_probes(probes, windows, seconds)
    return _rounds(host, probes, windows, seconds, pause)


def measure_here(probes: List[Probe], seconds: float) -> Measured:
    """One window of each probe on this machine, where nothing of the counters it reads is kept.

    ``seconds`` are a share of an audit's window, which its policy has checked.
    """
    return _rounds(LiveHost(), probes, 1, seconds, 0)


def _rounds(
    host: Host, probes: List[Probe], windows: int, seconds: float, pause: float
) -> Measured:
    results: List[Window] = []
    remarks: List[str] = []
    for probe in probes:
        if probe.kind == REPORT:
            remarks.append(f"{probe.name}: a report is of the past, so it is not measured")
        if probe.kind == SQLNET:
            remarks.append(f"{probe.name}: it has sizes and no durations, so it is not measured")
    choices = _Chosen(host, probes, remarks)
    for number in range(windows):
        if number:
            host.pause(pause)
        results += _passive(host, choices, number, seconds, remarks)
        for probe in probes:
            if probe.kind in ACTIVE:
                results += _active(probe, (windows, number), seconds, remarks)
    remarks += _too_few(results, windows)
    return Measured(results, remarks)


def check_rounds(windows: int, seconds: float, pause: float) -> None:
    """PolicyError for a number of windows, seconds or a pause that no measurement may have."""
    for name, value, low, high in (
        ("windows", windows, 1, MOST_WINDOWS),
        ("seconds", seconds, 1, MOST_SECONDS),
        ("pause", pause, 0, MOST_PAUSE),
    ):
        if not low <= value <= high:
            raise PolicyError(f"{name} must be from {low} to {high}, not {value}")


_NUMBER = re.compile(r"(?<![\w.:/])\d+(?:\.\d+)?(?![\w.:/])")


def _remark(remarks: List[str], text: str) -> None:
    """Keep a remark, unless one says the same with other numbers: each round would add its own."""
    same = _NUMBER.sub("#", text)
    if all(_NUMBER.sub("#", remark) != same for remark in remarks):
        remarks.append(text)


# -- what only looks ------------------------------------------------------------------------------


class _Chosen:
    """The devices and mounts that the passive probes check; a remark for what there is not."""

    def __init__(self, host: Host, probes: List[Probe], remarks: List[str]) -> None:
        self.devices: List[str] = []
        #: The names in the policy of each device.
        self.given: Dict[str, List[str]] = {}
        #: Devices whose time is counted in ticks, with the length of a tick in microseconds.
        self.ticks: Dict[str, float] = {}
        self.every_mount = any(
            probe.kind == NFS and probe.options["mounts"] is None for probe in probes
        )
        self.mounts: List[str] = []
        for probe in probes:
            if probe.kind == NFS:
                self.mounts += probe.options["mounts"] or []
            if probe.kind == DISK:
                try:
                    self.devices += _devices_of(host, probe, self.given)
                    if not self.devices:
                        _remark(remarks, NO_DISK)
                except HostproofError as problem:
                    _remark(remarks, f"{probe.name}: {problem}")
        ticks = disk_counters.in_ticks(host, self.devices) if self.devices else {}
        if ticks:
            tick = conditions.tick_us()
            self.ticks = dict.fromkeys(ticks, tick)
            remarks += ["disk: " + text for text in disk_counters.tick_remarks(ticks, tick)]

    @property
    def nfs(self) -> bool:
        return self.every_mount or bool(self.mounts)

    def paths(self, intervals: List[nfs_latency.Interval]) -> List[str]:
        paths = (
            {path for interval in intervals for path in interval.mounts}
            if self.every_mount
            else set()
        )
        return self.mounts + sorted(paths - set(self.mounts))


def _devices_of(host: Host, probe: Probe, aliases: Dict[str, List[str]]) -> List[str]:
    """The kernel's names of the disks that a ``disk`` probe is about; fills ``aliases``."""
    if probe.options["devices"] is not None:
        devices = disk_counters.names_given(host, probe.options["devices"])
        aliases.update(devices)
        return list(devices)
    # The paths of NVMe below its own multipath are in /sys/block, and have no counters.
    counted = diskstats.parse(host.read_text(disk_counters.DISKSTATS))
    return [name for name in disk_counters.choose(host, probe.options["layer"]) if name in counted]


def _passive(
    host: Host, chosen: _Chosen, number: int, seconds: float, remarks: List[str]
) -> List[Window]:
    """One round of all that only looks: one sample serves disks and mounts."""
    files = [disk_counters.DISKSTATS] if chosen.devices else []
    files += [nfs_traffic.MOUNTSTATS] if chosen.nfs else []
    if not files:
        return []
    count = max(1, int(seconds / _INTERVAL))
    before, started = conditions.start(), time.time()
    disks: List[disk_counters.Interval] = []
    mounts: List[nfs_latency.Interval] = []
    for interval in range(number * count, (number + 1) * count):
        key = f"latency_{interval}"
        sample = host.sample(key, files, [], seconds / count)
        try:
            if chosen.devices:
                disks.append(disk_counters.interval_of(key, sample))
        except HostproofError as problem:
            _remark(remarks, f"disk: {problem}")
        try:
            if chosen.nfs:
                mounts.append(_mounts_of(key, sample))
        except HostproofError as problem:
            _remark(remarks, f"nfs: {problem}")
    around = conditions.since(before)
    results = _disk_windows(chosen, disks, started, remarks) if disks else []
    results += _nfs_windows(chosen, mounts, started, remarks) if mounts else []
    for window in results:
        window.conditions.update(around)
    return results


def _disk_windows(
    chosen: _Chosen, disks: List[disk_counters.Interval], started: float, remarks: List[str]
) -> List[Window]:
    windows, _ = disk_counters.windows(chosen.devices, disks, started, chosen.ticks, chosen.given)
    for name in chosen.devices:
        if all(window.subject != name for window in windows):
            _remark(remarks, f"disk {name}: has no counters, or was replaced")
    return windows


def _nfs_windows(
    chosen: _Chosen, mounts: List[nfs_latency.Interval], started: float, remarks: List[str]
) -> List[Window]:
    paths = chosen.paths(mounts)
    if not paths:
        _remark(remarks, NO_NFS)
    windows, missing = nfs_latency.windows(paths, mounts, started)
    for text in missing:
        _remark(remarks, "nfs " + text)
    return windows


def _mounts_of(key: str, sample: Any) -> nfs_latency.Interval:
    source = "file:" + nfs_traffic.MOUNTSTATS
    if source in sample.errors:
        raise Unanswered("sample:" + key, sample.errors[source])
    first, second = [mountstats.parse(reading[source]) for reading in (sample.first, sample.second)]
    between = nfs_traffic.between(first, second, sample.seconds, {})
    return nfs_latency.Interval(sample.seconds, between)


def _too_few(results: List[Window], rounds: int) -> List[str]:
    """A remark for each figure that too few requests left open, with the numbers."""
    silent: Dict[Tuple[str, str], List[int]] = {}
    for window in results:
        # The layers of an NFS operation are of the same requests: its server's serves for all.
        counted = window.probe == "disk" or window.layer == "server"
        if window.conditions.get("mode") == "passive" and window.p50 is None and counted:
            layer = window.layer if window.probe == "disk" else ""
            name = f"{window.probe} {window.subject} {layer}".strip()
            silent.setdefault((name, window.subject), []).append(window.n)
    return [
        f"{name}: {TOO_FEW} in {len(counts)} of {rounds} windows (at most {max(counts)}; it needs "
        f"{disk_counters.FEWEST} in an interval)"
        for (name, _), counts in sorted(silent.items())
    ]


# -- what makes I/O or traffic --------------------------------------------------------------------
# Their probes are imported where they are used: most audits only look, and pay for each import.


def _active(
    probe: Probe, turn: Tuple[int, int], seconds: float, remarks: List[str]
) -> List[Window]:
    """``turn``: number of rounds, and index of this round."""
    try:
        if probe.kind == TCP:
            return _tcp(probe.options, turn[0], seconds, remarks)
        if probe.kind == POOL:
            return _checkouts(probe, seconds, turn[1] == 0, remarks)
        return _disk_read(probe.options, seconds, turn[1] == 0, remarks)
    except (HostproofError, OSError) as problem:
        _remark(remarks, f"{probe.kind}: {problem}")
        return []


def _tcp(options: Dict[str, Any], windows: int, seconds: float, remarks: List[str]) -> List[Window]:
    from . import tcp_latency

    mode = options["mode"]
    if options["payload"] == AUTO:
        from . import sqlnet_sizes

        # Half of the time shows the sizes.
        seconds /= 2
        sizes = sqlnet_sizes.payload(LiveHost(), options["payload_port"], seconds)
        options = dict(options, request_size=sizes[0], reply_size=sizes[1])
    samples = traffic.samples_of(options, windows, seconds)
    interval = seconds / samples
    if mode == REQUEST_RESPONSE:
        interval /= traffic.requests_a_sample(options["request_size"], options["reply_size"])
    else:
        interval = max(interval, traffic.LEAST_CONNECT_INTERVAL)
    target = tcp_latency.resolve(options["host"], options["port"])
    # A network that got slower may take longer, but not for ever.
    deadline = time.monotonic() + 2 * max(seconds, samples * interval) + _TIMEOUT
    pace = tcp_latency.Pace(samples, interval, _TIMEOUT, deadline)
    if mode == REQUEST_RESPONSE:
        sizes = (options["request_size"], options["reply_size"])
        series = tcp_latency.request_response(target, sizes[0], sizes[1], pace)
        if options["payload"] == AUTO:
            series.conditions["payload_port"] = options["payload_port"]
    elif mode == TNS_PING:
        series = tcp_latency.tns_pings(target, pace)
    else:
        series = tcp_latency.handshake(target, pace)
    for text in series.remarks:
        _remark(remarks, f"{TCP}: {text}")
    return tcp_latency.windows(target, series)


def _checkouts(probe: Probe, seconds: float, first: bool, remarks: List[str]) -> List[Window]:
    from . import pool_checkouts

    if first:
        for text in pool_checkouts.check_room(probe.options):
            _remark(remarks, f"{probe.name}: {text}")
    return [pool_checkouts.window(probe.options, seconds)]


def _disk_read(
    options: Dict[str, Any], seconds: float, first: bool, remarks: List[str]
) -> List[Window]:
    from ..probes import direct_file

    results: List[Window] = []
    share = seconds / len(options["sizes"])
    file = direct_file.open_file(options["path"])
    try:
        for size in options["sizes"]:
            try:
                if first:
                    # Warm the caches first, so that later reads of the same places are comparable.
                    _read_once(file, size, options, share)
                measured = _read_once(file, size, options, share)
            except HostproofError as problem:
                # A file may be too small for the larger reads only.
                _remark(remarks, f"{DISK_READ}: {problem}")
                continue
            results += measured.windows
            for text in measured.remarks:
                _remark(remarks, f"{DISK_READ}: {text}")
    finally:
        os.close(file.descriptor)
    return results


def _read_once(file: Any, size: int, options: Dict[str, Any], share: float) -> Any:
    """The windows and remarks of one size of a file that direct_file opened."""
    from . import disk_latency

    reads = options["reads"] or min(_MOST_READS, max(1, int(share / _READ_INTERVAL)))
    reads = max(1, min(reads, _MOST_BYTES // size))
    deadline = time.monotonic() + 2 * share + _TIMEOUT
    pace = disk_latency.Pace(reads, share / reads, deadline)
    return disk_latency.one_at_a_time(file, size, pace, _SEED)
