#!/usr/bin/env python3
"""How exact the disk probes are, beside fio in the same run, and what the passive one costs.

Usage: tests/bench/latency_disk.py [ROUNDS [PATH]]   (at least 9 and a scratch file unless told)

PATH is a file or block device to read instead; nothing is written to it. fio and the active probe
take turns at one read at a time, before all other processes where this user may (SCHED_FIFO).
Beside each run of fio stands what the kernel counted meanwhile: in a run in which nobody else read
both counts are equal. The load of the default probes, which only look, is measured in a network
namespace of its own, where one may be made.

Each round gives one ratio, and all rounds an interval: "met" and "NOT MET" need the whole interval
on one side of the limit. More rounds are taken until it is; where a minute of them does not do, the
machine is too noisy to tell, which is said and is no pass. NOT MET is exit code 1.
"""

import contextlib
import functools
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / name) for name in ("module_utils", "plugin_utils", "tests")]

from hostproof.controls.latency.measurement import disk_latency  # noqa: E402
from hostproof.controls.latency.measurement import fio_reads as fio  # noqa: E402
from hostproof.controls.latency.parsers import diskstats  # noqa: E402
from hostproof.controls.latency.parsers import fio as fio_json  # noqa: E402
from hostproof.controls.latency.probes import direct_file  # noqa: E402
from hostproof_controller.latency.fleet import signed_rank_interval  # noqa: E402
from judging import (  # noqa: E402
    MET,
    NOISY,
    NOT_MET,
    Score,
    go_as_others,
    go_first,
    rounds,
    shown,
    within,
)
from machines.needs import CACHE, Skip, finish, install  # noqa: E402

SCRATCH_MIB = 256
COUNTED = 8192
SIZES = {COUNTED: 1500, 1 << 20: 100}
#: How long the rounds of one size may take.
SECONDS = 60.0
MOST_RATIO = 0.10
#: More requests than this for each read in every run are no foreign ones: something counts wrong.
MOST_FOREIGN = 1.5
#: Of one core, for the default probes at their own rhythm.
MOST_LOAD = 0.01
PASSIVE_INTERVALS = 5
ROW = "{:>8} {:>8} {:>9} {:>8} {:>8} {:>8} {:>7}  {:<24}  {}"

#: Runs in a process of its own: prints CPU seconds, seconds, bytes read and packets sent.
PASSIVE = """
import resource, sys, time
sys.path.insert(0, {path!r})
from hostproof.collect.host import LiveHost
from hostproof.controls.latency.measurement import measuring
from hostproof.latency.probe_list import check_probes

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
probes = check_probes([{{"probe": "disk"}}, {{"probe": "nfs"}}])
began, used, sent, moved = time.monotonic(), cpu(), packets(), blocks()
found = measuring.measure(host, probes, {intervals}, 3, 0)
assert found.windows, found.remarks
text = sum(len(whole) for one in host.evidence.values() if one["kind"] == "sample"
           for part in ("first", "second") for whole in one[part].values())
print(cpu() - used, time.monotonic() - began, text, packets() - sent, blocks() - moved)
"""


def main() -> int:
    least = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    score = Score()
    install({"fio": "fio"}, "the disk benchmark")
    with place() as path:
        try:
            file = direct_file.open_file(path)
        except direct_file.CannotRead as problem:
            raise Skip(str(problem)) from problem
        compare(file, least, score)
        os.close(file.descriptor)
    passive_load(score)
    return score.exit_code()


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


def compare(file: direct_file.DirectFile, least: int, score: Score) -> None:
    order = "before other processes" if go_first() else "beside other processes"
    print(
        f"Random direct reads, one at a time, fio and the probe in turn, {order}; "
        "medians of the rounds in us\n"
        "ratio: our p50 / fio's p50 of a round, in brackets its 95 % interval; fio/fio: fio beside "
        "itself"
    )
    titles = ("fio p50", "fio mean", "our p50", "device", "await", "rounds")
    print(ROW.format("bytes", *titles, "ratio", "fio/fio"))
    for size, count in SIZES.items():
        counts, word = compare_size(file, size, count, least)
        tell_counts(file, size, counts, score)
        if size == COUNTED:
            score.expect(f"the p50 of 8 KiB is within {MOST_RATIO:.0%} of fio's", word)
    go_as_others()


def compare_size(
    file: direct_file.DirectFile, size: int, count: int, least: int
) -> tuple[list[tuple[int, int]], str]:
    """A row; reads that fio made and requests that the kernel counted of each run of fio."""
    rows: list[list[float]] = []
    again: list[float] = []
    counts: list[tuple[int, int]] = []
    awaits: list[float] = []

    def by_fio() -> fio_json.Requests:
        before = disk_latency._counters(file)
        job = run_fio(file, size, count)
        after = disk_latency._counters(file)
        moved = diskstats.difference(before, after) if before and after else None
        if moved is not None and moved.reads:
            counts.append((job.reads, moved.reads))
            awaits.append(1000 * moved.read_ms / moved.reads)
        return job

    def one_round() -> float:
        # fio before and after the probe, so that a drift is in both.
        first = by_fio()
        pace = disk_latency.Pace(count, 0.0, time.monotonic() + 120)
        measured = disk_latency.one_at_a_time(file, size, pace, seed=1)
        second = by_fio()
        p50s = [job.percentiles[50.0] / 1e3 for job in (first, second)]
        ours = measured.windows[0].p50
        assert ours is not None
        device = [
            window.mean for window in measured.windows if window.layer == "device" and window.mean
        ]
        rows.append([statistics.mean(p50s), first.mean / 1e3, ours, *(device or [math.nan])])
        again.append(p50s[1] / p50s[0])
        return ours / statistics.mean(p50s)

    judge = functools.partial(within, share=MOST_RATIO)
    interval, number, word = rounds(one_round, judge, least, SECONDS)
    medians = []
    for column in [*zip(*rows, strict=True), awaits]:
        known = [value for value in column if not math.isnan(value)]
        medians.append(f"{statistics.median(known):.1f}" if known else "-")
    twice = shown(signed_rank_interval(again))
    print(ROW.format(size, *medians, number, shown(interval), twice), flush=True)
    return counts, word


def tell_counts(
    file: direct_file.DirectFile, size: int, counts: list[tuple[int, int]], score: Score
) -> None:
    """Whether the kernel counted what fio made, in the runs in which nobody else read."""
    if not counts:
        print("SKIPPED counts: the file is on no block device that this kernel counts")
        return
    lowest = min(seen / made for made, seen in counts)
    pieces = disk_latency._pieces(file, size, lowest)
    extra = [seen - made * pieces for made, seen in counts]
    equal, fewer = extra.count(0), sum(difference < 0 for difference in extra)
    print(
        f"  counted by the kernel during {len(counts)} runs of fio, {pieces} a read: equal in "
        f"{equal}, more in {len(counts) - equal - fewer} (others read too), fewer in {fewer}"
    )
    if size != COUNTED:
        return
    # Somebody's reads are not in every run, unless this disk is never at rest.
    word = NOT_MET if fewer or lowest > MOST_FOREIGN else MET if equal else NOISY
    score.expect("the passive probe's counter has the same requests as fio", word)


def run_fio(file: direct_file.DirectFile, size: int, count: int) -> fio_json.Requests:
    """fio with one read under way, by the engine that does as the probe: pread."""

    def run(argv: list[str]) -> tuple[int, str, str]:
        argv = [word.replace("libaio", "psync") for word in argv]
        done = subprocess.run(argv, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    return fio.read(run, file, size, 1, count, 120, 1)


def passive_load(score: Score) -> None:
    text = PASSIVE.format(path=str(ROOT / "module_utils"), intervals=PASSIVE_INTERVALS)
    command = [sys.executable, "-c", text]
    alone = ["unshare", "--net"]
    apart = subprocess.run([*alone, "true"], capture_output=True).returncode == 0
    result = subprocess.run(
        [*(alone if apart else []), *command], capture_output=True, text=True, check=True
    )
    cpu, seconds, read, packets, blocks = map(float, result.stdout.split())
    print(f"\nThe default probes (disk and nfs, passive), {PASSIVE_INTERVALS} windows of 3 s")
    print(f"  CPU      {cpu * 1e3:.1f} ms in {seconds:.1f} s: {cpu / seconds:.3%} of one core")
    print(f"  counters {read / seconds:.0f} bytes a second, {blocks:.0f} blocks of any disk")
    if apart:
        print(f"  packets  {packets:.0f}")
    else:
        print("SKIPPED its packets: no network namespace may be made here to count them in")
    met = cpu / seconds < MOST_LOAD and not blocks and (not apart or not packets)
    score.expect(
        f"the default probes take below {MOST_LOAD:.0%} of one core, no I/O and no packet",
        MET if met else NOT_MET,
    )


if __name__ == "__main__":
    finish(main)
