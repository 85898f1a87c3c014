#!/usr/bin/env python3
"""Record windows of this machine for latency_verdict.py, while nothing is changed.

Usage: tests/bench/record_windows.py FILE MINUTES      (as root)

Each round, by the probes that users get and at a pace that stays the same:

  first   before all other processes (SCHED_FIFO), so that a busy machine counts less:
          requests to a server that answers at once (tcp), to one that takes as long as a network
          does (far) and to one that takes longer by a fifth (farther, a real change), and direct
          reads of a file of 8 KiB and 1 MiB
  beside  as any other process: the first two kinds of requests, and reads of 8 KiB

Requests go over loopback, with the client on the first CPU and the servers on the last, as two
hosts would have it. FILE gets each figure's values, one a round, in order of time; what the
machine's load was stands beside them. It is written every minute, so that a recording can be ended
at any time.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "module_utils"), str(ROOT / "tests")]

from hostproof.collect.measured import Window  # noqa: E402
from hostproof.controls.latency.measurement import disk_latency, tcp_latency  # noqa: E402
from hostproof.controls.latency.probes import direct_file  # noqa: E402
from machines.needs import CACHE, Skip, finish, install  # noqa: E402

SOURCE = ROOT / "tests/bench/latency_peer.c"
CPUS = sorted(os.sched_getaffinity(0))
PERIOD = 5.2
PRIORITY = 45
#: Port, and nanoseconds that the server works before each answer.
SERVERS = {"tcp": (7412, 0), "far": (7413, 400_000), "farther": (7414, 490_000)}
#: Which server, samples of a window, and seconds from one request to the next. A sample takes two.
TCP = {
    "first": [("tcp", 250, 0.001), ("far", 150, 0.002), ("farther", 150, 0.002)],
    "beside": [("tcp", 250, 0.001), ("far", 150, 0.002)],
}
READS = {"first": [(8192, 600, 0.001), (1 << 20, 60, 0.005)], "beside": [(8192, 400, 0.001)]}
SCRATCH_MIB = 256

Found = dict[str, float | None]


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    target, end = Path(sys.argv[1]), time.monotonic() + 60 * float(sys.argv[2])
    install({"cc": "build-essential"}, "recording windows")
    CACHE.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.NamedTemporaryFile(dir=CACHE, prefix="record_windows.") as scratch,
    ):
        for _ in range(SCRATCH_MIB):
            scratch.write(os.urandom(1 << 20))
        scratch.flush()
        os.fsync(scratch.fileno())
        with Servers(Path(folder)):
            record(target, scratch.name, end)
    return 0


class Servers:
    """The servers, for as long as the recording takes."""

    def __init__(self, folder: Path) -> None:
        self._peer = str(folder / "latency_peer")
        self._started: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> None:
        subprocess.run(["cc", "-O2", "-Wall", "-o", self._peer, str(SOURCE)], check=True)
        for port, delay in SERVERS.values():
            words = [self._peer, "server", "127.0.0.1", str(port), str(CPUS[-1]), str(delay)]
            server = subprocess.Popen(words, stdout=subprocess.PIPE)
            self._started.append(server)
            assert server.stdout is not None
            if server.stdout.readline() != b"ready\n":
                raise Skip("the server in C does not start")

    def __exit__(self, *_: object) -> None:
        for server in self._started:
            server.terminate()
            server.wait()


def record(target: Path, path: str, end: float) -> None:
    file = direct_file.open_file(path)
    series: dict[str, list[float | None]] = {}
    started = saved = time.monotonic()
    begun = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    rounds = 0
    while time.monotonic() < end:
        time.sleep(max(0.0, started + rounds * PERIOD - time.monotonic()))
        figures: Found = {}
        order(os.SCHED_FIFO, PRIORITY)
        measure(file, "first", figures)
        order(os.SCHED_OTHER, 0)
        measure(file, "beside", figures)
        add(series, rounds, figures)
        rounds += 1
        if time.monotonic() - saved > 60:
            save(target, begun, series)
            saved = time.monotonic()
    save(target, begun, series)


def order(policy: int, priority: int) -> None:
    try:
        os.sched_setscheduler(0, policy, os.sched_param(priority))
    except PermissionError as problem:
        raise Skip("only root may go before other processes") from problem


def measure(file: direct_file.DirectFile, how: str, found: Found) -> None:
    """One window of each kind; what they told is added to ``found``."""
    windows: list[tuple[str, Window]] = []
    for name, samples, interval in TCP[how]:
        pace = tcp_latency.Pace(samples, interval, 5.0, time.monotonic() + 60)
        where = tcp_latency.resolve("127.0.0.1", SERVERS[name][0])
        series = tcp_latency.request_response(where, 12, 4, pace, CPUS[0])
        windows += [(name, window) for window in tcp_latency.windows(where, series)]
    for size, reads, interval in READS[how]:
        reading = disk_latency.Pace(reads, interval, time.monotonic() + 60)
        measured = disk_latency.one_at_a_time(file, size, reading, 1, CPUS[0])
        windows += [(f"disk {size}", window) for window in measured.windows]
    for name, window in windows:
        for figure in ("p50", "p99") if window.bins else ("mean",):
            value = getattr(window, figure)
            if value is not None:
                found[f"{how} {name} {window.layer} {figure}"] = value
        found["load"] = window.conditions["load"]
        found["steal_percent"] = window.conditions["steal_percent"]


def add(series: dict[str, list[float | None]], rounds: int, found: Found) -> None:
    """A round's figures at their place; what a round did not have is null."""
    for name in series.keys() | found.keys():
        values = series.setdefault(name, [])
        values += [None] * (rounds - len(values))
        value = found.get(name)
        values.append(None if value is None else float(f"{value:.4g}"))


def save(target: Path, begun: str, series: dict[str, list[float | None]]) -> None:
    """Whole or not at all, a figure a line."""
    head: dict[str, Any] = {
        "begun": begun,
        "kernel": os.uname().release,
        "cpus": os.cpu_count(),
        "period_seconds": PERIOD,
        "servers_work_us": {name: delay / 1000 for name, (_, delay) in SERVERS.items()},
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    rows = [
        f"{json.dumps(name)}: {json.dumps(values, separators=(',', ':'))}"
        for name, values in sorted(series.items())
    ]
    text = "{" + ",\n".join(lines) + ',\n"series": {\n' + ",\n".join(rows) + "\n}}\n"
    beside = target.with_suffix(".part")
    beside.write_text(text)
    beside.replace(target)


if __name__ == "__main__":
    finish(main)
