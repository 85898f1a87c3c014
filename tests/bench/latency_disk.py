#!/usr/bin/env python3
"""How exact the disk probes are, beside fio in the same run, and what the passive one costs.

Usage: tests/bench/latency_disk.py [ROUNDS [PATH]]   (5 rounds and a scratch file unless told)

PATH is a file or block device to read instead; nothing is written to it. fio and the active probe
take turns at one read at a time; a ratio is the median of the rounds' ratios. Beside each run of
fio stands what the kernel counted meanwhile: with a disk that nobody else uses both counts are
equal. The passive probe's own load is measured in a network namespace of its own, where one may be
made. Latencies depend on the machine and its load: "met" and "NOT MET" are printed, and nothing
passes or fails by them.
"""

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "module_utils"), str(ROOT / "tests")]

from hostproof.parsers import diskstats  # noqa: E402
from hostproof.parsers import fio as fio_json  # noqa: E402
from hostproof.probes import direct_file, disk_latency, fio  # noqa: E402
from machines.needs import CACHE, Skip, finish, install  # noqa: E402

SCRATCH_MIB = 256
SIZES = {8192: 4000, 1 << 20: 200}
MOST_RATIO = 0.10
#: Of one core, for the passive probe at its own rhythm.
MOST_LOAD = 0.01
PASSIVE_INTERVALS = 5
ROW = "{:>8} {:>9} {:>9} {:>9} {:>9} {:>7} {:>10} {:>8} {:>8} {:>7}"

#: Runs in a process of its own: prints CPU seconds, seconds, bytes read and packets sent.
PASSIVE = """
import resource, sys, time
sys.path.insert(0, {path!r})
from hostproof.host import LiveHost
from hostproof.probes import disk_counters

def packets():
    with open("/proc/self/net/dev") as stream:
        rows = [line.split(":")[1].split() for line in stream.readlines()[2:]]
    return sum(int(row[1]) + int(row[9]) for row in rows)

def blocks():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_inblock + used.ru_oublock

def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime

host = LiveHost()
names = disk_counters.choose(host, disk_counters.DEVICES)
began, used, sent, moved = time.monotonic(), cpu(), packets(), blocks()
intervals = disk_counters.read_intervals(host, {intervals}, 3.0)
disk_counters.windows(names, intervals, None)
text = sum(len(one[part]["file:/proc/diskstats"]) for one in host.evidence.values()
           if one["kind"] == "sample" for part in ("first", "second"))
print(cpu() - used, time.monotonic() - began, text, packets() - sent, blocks() - moved)
"""


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    install({"fio": "fio"}, "the disk benchmark")
    with place() as path:
        try:
            file = direct_file.open_file(path)
        except direct_file.CannotRead as problem:
            raise Skip(str(problem)) from problem
        compare(file, rounds)
        os.close(file.descriptor)
    passive_load()
    return 0


@contextlib.contextmanager
def place() -> Iterator[str]:
    """The path that was given, or a scratch file in the checkout's cache."""
    if len(sys.argv) > 2:
        yield sys.argv[2]
        return
    CACHE.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=CACHE, prefix="latency_disk.") as scratch:
        for _ in range(SCRATCH_MIB):
            scratch.write(os.urandom(1 << 20))
        scratch.flush()
        os.fsync(scratch.fileno())
        yield scratch.name


def compare(file: direct_file.DirectFile, rounds: int) -> None:
    print(f"Random direct reads, one at a time, {rounds} rounds in turn; us")
    print(
        ROW.format(
            "bytes",
            "fio p50",
            "fio mean",
            "ours p50",
            "device",
            "ratio",
            "fio reads",
            "counted",
            "pieces",
            "await",
        )
    )
    for size, count in SIZES.items():
        rows = []
        counts = []
        for _ in range(rounds):
            before = disk_latency._counters(file)
            job = run_fio(file, size, count)
            after = disk_latency._counters(file)
            moved = diskstats.difference(before, after) if before and after else None
            pace = disk_latency.Pace(count, 0.0, time.monotonic() + 120)
            measured = disk_latency.one_at_a_time(file, size, pace, seed=1)
            p50, ours = job.percentiles[50.0] / 1e3, measured.windows[0].p50
            device = next((w.mean for w in measured.windows if w.layer == "device"), None)
            assert ours is not None
            waited = 1000 * moved.read_ms / moved.reads if moved and moved.reads else float("nan")
            rows.append((p50, job.mean / 1e3, ours, device or float("nan"), ours / p50, waited))
            counts.append((job.reads, moved.reads if moved else 0))
        columns = [statistics.median(column) for column in zip(*rows, strict=True)]
        made, seen = map(sum, zip(*counts, strict=True))
        pieces = disk_latency._pieces(file, size) if file.device else 1
        numbers = [f"{number:.1f}" for number in columns[:4]]
        print(
            ROW.format(size, *numbers, f"{columns[4]:.3f}", made, seen, pieces, f"{columns[5]:.1f}")
        )
        exact = "equal" if made * pieces == seen else f"{seen - made * pieces:+} by others"
        print(f"  requests that the kernel counted during fio's runs: {exact}")
        if size == 8192:
            word = "met" if abs(columns[4] - 1) <= MOST_RATIO else "NOT MET"
            print(f"  Expected: p50 of 8 KiB within {MOST_RATIO:.0%} of fio's: {word}")


def run_fio(file: direct_file.DirectFile, size: int, count: int) -> fio_json.Reads:
    """fio with one read under way, by the engine that does as the probe: pread."""

    def run(argv: list[str]) -> tuple[int, str, str]:
        argv = [word.replace("libaio", "psync") for word in argv]
        done = subprocess.run(argv, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    return fio.read(run, file, size, 1, count, 120, 1)


def passive_load() -> None:
    text = PASSIVE.format(path=str(ROOT / "module_utils"), intervals=PASSIVE_INTERVALS)
    command = [sys.executable, "-c", text]
    alone = ["unshare", "--net"]
    apart = subprocess.run([*alone, "true"], capture_output=True).returncode == 0
    told = subprocess.run(
        [*(alone if apart else []), *command], capture_output=True, text=True, check=True
    )
    cpu, seconds, read, packets, blocks = map(float, told.stdout.split())
    print(f"\nThe passive probe, {PASSIVE_INTERVALS} intervals of 3 s")
    print(f"  CPU      {cpu * 1e3:.1f} ms in {seconds:.1f} s: {cpu / seconds:.3%} of one core")
    print(f"  counters {read / seconds:.0f} bytes a second, {blocks:.0f} blocks of any disk")
    if apart:
        print(f"  packets  {packets:.0f}")
    else:
        print("SKIPPED its packets: no network namespace may be made here to count them in")
    met = cpu / seconds < MOST_LOAD and not blocks and (not apart or not packets)
    word = "met" if met else "NOT MET"
    print(f"Expected: below {MOST_LOAD:.0%} of one core, no I/O, no packet: {word}")


if __name__ == "__main__":
    finish(main)
