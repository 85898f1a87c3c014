"""Hosts whose latencies are known, for tests of the control latency.

``slow_host`` and its parts are told with windows: those of disks and mounts are made of counters,
those of reads and round trips of samples, by the code that makes them of real ones.
"""

import functools
import json
from collections.abc import Sequence
from typing import Any

from ansible.module_utils.hostproof.collect.measured import Window, window_from_samples
from ansible.module_utils.hostproof.controls.latency.measurement import disk_counters, nfs_latency
from ansible.module_utils.hostproof.controls.latency.parsers import diskstats
from ansible.module_utils.hostproof.probes.nfs.nfs_traffic import MountTraffic, OpRates
from default_policies import changed_policy
from packs import FIXTURES, Machine

FILE = "/u02/oradata/users01.dbf"
READ = {"probe": "disk_read", "path": FILE}
RESPONDER = {"probe": "tcp", "host": "127.0.0.1", "port": 4100, "mode": "request_response"}
HANDSHAKE = {"probe": "tcp", "host": "127.0.0.1", "port": 4100}
READ_NAME = f"disk_read {FILE}"
RESPONDER_NAME = "tcp 127.0.0.1:4100 request_response"
HANDSHAKE_NAME = "tcp 127.0.0.1:4100 handshake"
PASSIVE: list[dict[str, Any]] = [{"probe": "disk"}, {"probe": "nfs"}]
NO_NFS = "nfs: no NFS file system is mounted here"


latency_policy = functools.partial(changed_policy, "latency")


@functools.cache
def recorded() -> dict[str, dict[str, Any]]:
    """What a real machine measured (tests/fixtures/latency/SOURCES.md)."""
    return json.loads((FIXTURES / "latency/windows-linux-6.18.json").read_text())


def recorded_windows(name: str) -> list[Window]:
    return [Window.from_json(entry) for entry in recorded()["windows:" + name]["windows"]]


def machine(*disks: str, rotational: bool = False) -> Machine:
    """A host with these disks and nothing measured; the first holds the file system of FILE."""
    host = Machine().folder("/sys/block")
    for disk in disks:
        host.folder(f"/sys/block/{disk}/slaves")
        host.file(f"/sys/block/{disk}/queue/rotational", f"{int(rotational)}\n")
        if rotational:
            host.link(f"/sys/block/{disk}/device", "/sys/devices/ata1").folder("/sys/devices/ata1")
    host.file("/proc/self/mountinfo", "25 1 8:0 / / rw - xfs /dev/sda rw\n")
    host.file(FILE, "")
    if disks:
        host.link("/sys/dev/block/8:0", f"/sys/block/{disks[0]}")
    return host


def real_host() -> Machine:
    """The machine of the recording, with its one virtio disk."""
    host = machine("vda")
    for key, reading in recorded().items():
        host.measured[key.removeprefix("windows:")] = dict(reading)
    return host


def disk(
    name: str,
    *intervals: tuple[int, int],
    write: Sequence[tuple[int, int]] = (),
    tick_us: float | None = None,
) -> list[Window]:
    """Windows of a disk: reads of each interval of 3 seconds and their milliseconds, and writes.

    ``tick_us`` for one that is counted in ticks.
    """
    writes = list(write) or [(0, 0)] * len(intervals)
    moved = [
        disk_counters.Interval(3.0, {name: _difference(*read, *other)})
        for read, other in zip(intervals, writes, strict=True)
    ]
    ticks = None if tick_us is None else {name: tick_us}
    return disk_counters.windows([name], moved, 1.0, ticks)[0]


def _difference(reads: int, read_ms: int, writes: int, write_ms: int) -> diskstats.Difference:
    known = dict.fromkeys(diskstats.Difference._fields, 0)
    counted = {"reads": reads, "read_ms": read_ms, "writes": writes, "write_ms": write_ms}
    return diskstats.Difference(**{**known, **counted})


def mount(path: str, *intervals: tuple[int, float, float]) -> list[Window]:
    """Windows of a mount that is read: requests, RTT and execute (ms) of each 3 seconds."""
    seen = [nfs_latency.Interval(3.0, {path: _traffic(path, *interval)}) for interval in intervals]
    return nfs_latency.windows([path], seen, 1.0)[0]


def _traffic(path: str, ops: int, rtt: float, execute: float) -> MountTraffic:
    known = ops > 0
    rates = OpRates(
        ops=ops,
        per_second=ops / 3,
        retransmissions=0,
        errors=0,
        queue_ms=0.0 if known else None,
        rtt_ms=rtt if known else None,
        execute_ms=execute if known else None,
        mib_per_second=1.0,
    )
    values: dict[str, Any] = dict.fromkeys(MountTraffic._fields)
    values.update(path=path, source="filer:/vol", version="3", connections=1, remounted=False)
    values.update(protos=("tcp",))
    return MountTraffic(**{**values, "ops": {"READ": rates}})


def samples(
    layer: str,
    *milliseconds: float,
    probe: str = "disk",
    subject: str = FILE,
    size: int | None = 8192,
    **conditions: Any,
) -> Window:
    """A window of single durations."""
    nanoseconds = [int(duration * 1e6) for duration in milliseconds]
    return window_from_samples(probe, subject, layer, size, 1.0, 3.0, nanoseconds, conditions)


def mean_only(layer: str, mean: float, n: int = 2000, size: int = 8192) -> Window:
    """A window of which the mean (milliseconds) alone is known, as of a device."""
    empty = samples(layer, size=size)
    return empty._replace(n=n, mean=mean * 1000, bins=None)


def event(name: str, waits: int, milliseconds: float, left_open: float, **told: Any) -> Window:
    """A wait event of a report; ``left_open`` is what its digits leave open (milliseconds)."""
    empty = samples("database", probe="database", subject=name, size=None)
    return empty._replace(
        n=waits,
        mean=milliseconds * 1000,
        bins=None,
        conditions={"uncertainty_us": left_open * 1000, **told},
    )


def network(layer: str, *times: float, **conditions: Any) -> Any:
    conditions.setdefault("mode", "request_response" if layer != "net" else "handshake")
    return samples(layer, *times, probe="tcp", subject="127.0.0.1:4100", size=12, **conditions)
