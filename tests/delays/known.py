#!/usr/bin/env python3
"""The latency probes on a way and on disks of known delay; prints JSON, in microseconds.

The way is way.py's. The disks are one of scsi_debug, whose timer is exact, and one of dm-delay,
which waits in ticks of the kernel: with one of 4 ms, 5 ms are 8 to 12. Beside each probe stands a
client without any of its code: latency_peer in C (tests/bench), and a reader by hand. Runs as root
in a machine of its own (tests/run_delays). Standard library only.
"""

import json
import mmap
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import way
from hostproof.controls.latency.measurement import disk_latency, measuring, pacing, tcp_latency
from hostproof.controls.latency.probes import direct_file
from hostproof.latency.probe_list import check_probes

#: netem's words to samples, and the seconds from one request to the next. A sample takes two.
WAYS = {
    "0": (100, 0.004),
    "1ms": (100, 0.006),
    "6ms": (100, 0.016),
    "6ms 1ms": (100, 0.016),
    "6ms loss 8%": (100, 0.016),
}
BURDENED = (200, 0.008)
BUSY_NS = 200_000
#: In real time, as Oracle's LMS and VKTM: others wait until it waits. 3 ms of 10.
HOG = """
import os, time
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
while True:
    end = time.monotonic() + 0.003
    while time.monotonic() < end:
        pass
    time.sleep(0.007)
"""

IMAGE, DM = Path("/run/slow.img"), "slow"
MEGABYTES = 8
BLOCK = 8192
READS = 60
#: No multiple of a tick, so that reads begin at all phases of it.
READ_INTERVAL = 0.0253

Layers = dict[str, dict[str, float]]


def main() -> None:
    way.start()
    results = {"network": network(), "burden": burden(), "disks": disks()}
    way.stop()
    print(json.dumps(results))


# -- the way --------------------------------------------------------------------------------------


def network() -> dict[str, Layers]:
    results = {}
    for words, (samples, interval) in WAYS.items():
        way.delay(words)
        results[words] = by_probe(samples, interval)
        results[words]["net"] = figures(handshakes())
        # What is lost or spread makes the one after it late on a schedule.
        if " " not in words:
            results[words]["C"] = by_peer(samples, interval)
    way.delay("0")
    return results


def by_probe(samples: int, interval: float, clock: Callable[[], int] = pacing.now_ns) -> Layers:
    pace = tcp_latency.Pace(samples, interval, 10.0, time.monotonic() + 600)
    target = tcp_latency.resolve(way.FAR, way.PORT)
    series = tcp_latency.request_response(target, way.REQUEST, way.REPLY, pace, way.CPUS[0], clock)
    if "kernel" not in series.layers:
        sys.exit(f"no kernel layer: {series.remarks}")
    return {layer: figures(times) for layer, times in series.layers.items()}


def handshakes() -> list[int]:
    pace = tcp_latency.Pace(30, 0.1, 5.0, time.monotonic() + 600)
    return tcp_latency.handshake(tcp_latency.resolve(way.FAR, way.PORT), pace).layers["net"]


def by_peer(samples: int, interval: float) -> dict[str, float]:
    words = [way.FAR, way.PORT, way.CPUS[0], way.REQUEST, way.REPLY, samples, int(interval * 1e9)]
    output = way.run("./latency_peer", "client", *map(str, words))
    p50, p99 = map(int, output.split())
    return {"p50": p50 / 1e3, "p99": p99 / 1e3}


def figures(times: list[int]) -> dict[str, float]:
    ordered = sorted(times)
    shares = {"p10": 0.1, "p50": 0.5, "p90": 0.9, "p99": 0.99}
    quantiles = {name: ordered[int(len(ordered) * share)] / 1e3 for name, share in shares.items()}
    return {**quantiles, "longest": ordered[-1] / 1e3}


def burden() -> dict[str, Layers]:
    """The same way with a client that works, and beside a process that goes before it."""
    way.delay("1ms")
    results = {"quiet": by_probe(*BURDENED)}
    schedule = pacing.Schedule

    def slow() -> int:
        end = pacing.now_ns() + BUSY_NS
        while pacing.now_ns() < end:
            pass
        return pacing.now_ns()

    # The schedule keeps the real clock: the work comes between the answer and the last look.
    pacing.Schedule = lambda every, _clock: schedule(every)
    results["busy"] = by_probe(*BURDENED, slow)
    pacing.Schedule = schedule
    hog = subprocess.Popen([sys.executable, "-c", HOG])
    time.sleep(0.5)
    results["hog"] = by_probe(*BURDENED)
    hog.kill()
    hog.wait()
    way.delay("0")
    return results


# -- the disks ------------------------------------------------------------------------------------


def disks() -> dict[str, dict[str, float]]:
    with scsi_debug() as (path, change):
        change(0)
        results = {"scsi_debug 0": read_round(path, READ_INTERVAL)}
        change(5)
        results["scsi_debug 5"] = read_round(path, READ_INTERVAL)
    with dm_delay(5) as path:
        # Each read begins where the one before ended, at a tick.
        results["dm-delay 5"] = read_round(path, 0)
    return results


@contextmanager
def dm_delay(milliseconds: int) -> Iterator[str]:
    way.run("modprobe", "--all", "loop", "dm-delay")
    way.run("dd", "if=/dev/urandom", f"of={IMAGE}", "bs=1M", f"count={MEGABYTES}")
    loop = way.run("losetup", "--find", "--show", str(IMAGE)).strip()
    sectors = way.run("blockdev", "--getsz", loop).strip()
    table = f"0 {sectors} delay {loop} 0 {milliseconds}"
    way.run("dmsetup", "create", DM, "--table", table)
    words = ("--columns", "--noheadings", "-o", "blkdevname", DM)
    yield "/dev/" + way.run("dmsetup", "info", *words).strip()
    way.run("dmsetup", "remove", DM)
    way.run("losetup", "--detach", loop)


@contextmanager
def scsi_debug() -> Iterator[tuple[str, Callable[[int], None]]]:
    """A disk and what changes its delay (milliseconds)."""
    way.run("modprobe", "sd_mod")
    way.run("modprobe", "scsi_debug", f"dev_size_mb={MEGABYTES}", "delay=0")
    driver = Path("/sys/bus/pseudo/drivers/scsi_debug")
    while not (disk := list(driver.glob("adapter*/host*/target*/*/block/*"))):
        time.sleep(0.1)

    def change(milliseconds: int) -> None:
        # Nothing in "ndelay" is a tick; nothing in "delay" is nothing.
        name = "ndelay" if milliseconds else "delay"
        (driver / name).write_text(str(milliseconds * 1_000_000))

    yield f"/dev/{disk[0].name}", change
    way.run("modprobe", "--remove", "scsi_debug")


def read_round(path: str, interval: float) -> dict[str, Any]:
    """The passive probe while somebody reads by hand, and then the active one."""
    argv = [sys.executable, __file__, path, str(interval)]
    reader = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert reader.stdout is not None
    reader.stdout.readline()
    probes = check_probes([{"probe": "disk", "devices": [path]}])
    looked = measuring.measure_here(probes, max(1.0, READS * interval))
    # It reads until its input ends, so that all of the interval has reads in it.
    by_hand = json.loads(reader.communicate()[0])
    seen = [
        window for window in looked.windows if window.p50 is not None and window.layer == "read"
    ]
    if len(seen) != 1:
        sys.exit(f"the passive probe saw {[window.layer for window in seen]}: {looked.remarks}")
    file = direct_file.open_file(path)
    pace = disk_latency.Pace(READS, interval, time.monotonic() + 600)
    active = disk_latency.one_at_a_time(file, BLOCK, pace, 1)
    os.close(file.descriptor)
    [user] = [window.p50 for window in active.windows if window.layer == "user"]
    return {**by_hand, "passive": seen[0].mean, "active": user, "remarks": active.remarks}


def read(path: str, interval: float) -> None:
    """Read as anybody would, until the input ends."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    size = os.lseek(descriptor, 0, os.SEEK_END)
    buffer = mmap.mmap(-1, BLOCK)
    os.set_blocking(sys.stdin.fileno(), False)
    took: list[float] = []
    begin = time.monotonic()
    while input_goes_on():
        offset = len(took) * 37 * BLOCK % (size - BLOCK)
        time.sleep(max(0.0, begin + len(took) * interval - time.monotonic()))
        first = time.monotonic()
        if os.preadv(descriptor, [buffer], offset) != BLOCK:
            sys.exit("a short read")
        took.append((time.monotonic() - first) * 1e6)
        if len(took) == 1:
            print("reading", flush=True)
    p50 = statistics.median(took)
    print(json.dumps({"reads": len(took), "by hand": p50, "least": min(took)}))


def input_goes_on() -> bool:
    try:
        return os.read(sys.stdin.fileno(), 1) != b""
    except BlockingIOError:
        return True


if __name__ == "__main__":
    if len(sys.argv) > 1:
        read(sys.argv[1], float(sys.argv[2]))
    else:
        main()
