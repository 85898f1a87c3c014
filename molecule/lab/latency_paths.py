#!/usr/bin/env python3
"""A way and two disks of known delay in the lab's machine, and the latency probes run on them.

The way is a cable to a network namespace in which Hostproof's responder answers; netem delays what
comes back from there. The disks are dm-delay's on a loop device, and one of scsi_debug, whose
timer is exact: dm-delay waits in ticks, so that 5 ms are 8 to 12 with a tick of 4 ms. Beside each
probe stands a client that does the same without any of its code. Rounds are taken in turn, so that
a drift of the machine is in all of them. Runs as root. Standard library only.

    latency_paths.py start             the way and the responder (10.9.9.2, port 7500)
    latency_paths.py delay TEXT        netem's words for the way back (6ms 1ms), or 0
    latency_paths.py noise             JSON: medians of windows of the way as it is
    latency_paths.py network ROUNDS    JSON: condition to its rounds
    latency_paths.py burden ROUNDS     JSON: the same beside busy waiting and CPU hogs
    latency_paths.py disks ROUNDS      JSON: disk to delay to its rounds
    latency_paths.py stop
"""

import json
import mmap
import os
import select
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hostproof.latency import measuring
from hostproof.probes import (
    direct_file,
    disk_latency,
    latency_hello,
    latency_responder,
    pacing,
    tcp_latency,
)

SPACE, LINK = "latency-far", "lat0"
NEAR, FAR, PORT = "10.9.9.1", "10.9.9.2", 7500
REQUEST, REPLY = 12, 4

#: The client has the first processor, the responder the other.
CLIENT_CPU, FAR_CPU = 0, 1
BUSY_NS = 200_000
HOGS = 3
HOG = "import os; os.sched_setaffinity(0, {0})\nwhile True: pass"

IMAGE, DM = Path("/var/tmp/latency-disk.img"), "latency-slow"
MEGABYTES = 8
BLOCK = 8192
READS = 30
#: No multiple of a tick, so that reads begin at all phases of it.
READ_INTERVAL = 0.0253

Round = dict[str, Any]


def run(*command: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout}")
    return done.stdout


# -- the way --------------------------------------------------------------------------------------


def start() -> None:
    run("modprobe", "--all", "veth", "sch_netem")
    run("ip", "netns", "add", SPACE)
    run("ip", "link", "add", LINK, "type", "veth", "peer", "name", "eth0", "netns", SPACE)
    run("ip", "address", "add", f"{NEAR}/24", "dev", LINK)
    run("ip", "link", "set", LINK, "up")
    run("ip", "-n", SPACE, "address", "add", f"{FAR}/24", "dev", "eth0")
    for device in ("eth0", "lo"):
        run("ip", "-n", SPACE, "link", "set", device, "up")
    run("ip", "netns", "exec", SPACE, sys.executable, __file__, "respond")


def respond() -> None:
    os.sched_setaffinity(0, {FAR_CPU})
    wanted = latency_responder.Settings(FAR, PORT, [f"{NEAR}/32"], 3600, 8, 1 << 30)
    latency_responder.start(wanted)


def delay(*words: str) -> None:
    """Disturb what the responder sends, from now on."""
    device = ("dev", "eth0", "root")
    if words == ("0",):
        subprocess.run(["tc", "-n", SPACE, "qdisc", "del", *device], capture_output=True)
    else:
        netem = [part for word in words for part in word.split()]
        run("tc", "-n", SPACE, "qdisc", "replace", *device, "netem", "delay", *netem)


def stop() -> None:
    for one in latency_responder.running(PORT):
        latency_responder.stop(one)
    run("ip", "link", "del", LINK)
    run("ip", "netns", "del", SPACE)


def by_probe(samples: int, interval: float, clock: Callable[[], int] = pacing.now_ns) -> Round:
    """Each layer's p10, p50, p90, p99 and longest, in microseconds."""
    tcp_latency.WARM_UP = 20
    pace = tcp_latency.Pace(samples, interval, 10.0, time.monotonic() + 60)
    target = tcp_latency.resolve(FAR, PORT)
    series = tcp_latency.request_response(target, REQUEST, REPLY, pace, CLIENT_CPU, clock)
    if "kernel" not in series.layers:
        sys.exit(f"no kernel layer: {series.remarks}")
    found = {layer: figures(times) for layer, times in series.layers.items()}
    return {**found, "interval_us": series.conditions["interval_us"]}


def figures(times: list[int]) -> dict[str, float]:
    ordered = sorted(times)
    shares = {"p10": 0.1, "p50": 0.5, "p90": 0.9, "p99": 0.99}
    found = {name: ordered[int(len(ordered) * share)] / 1e3 for name, share in shares.items()}
    return {**found, "longest": ordered[-1] / 1e3}


def by_hand(samples: int, interval: float) -> Round:
    """The same requests as anybody would write them: the reference."""
    took = []
    with socket.create_connection((FAR, PORT), 10) as stream, pacing.steady(CLIENT_CPU):
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream.sendall(latency_hello.hello(REQUEST, REPLY))
        stream.recv(64)
        for number in range(-20, samples):
            time.sleep(interval / 2 if number > 0 else 0)
            begin = time.monotonic()
            stream.sendall(b"\x55" * REQUEST)
            stream.recv(REPLY)
            if number >= 0:
                took.append(int((time.monotonic() - begin) * 1e9))
    return figures(took)


def noise() -> None:
    """How much the medians of windows differ by themselves; microseconds."""
    found = [round(by_hand(15, 0.1)["p50"]) for _ in range(6)]
    print(json.dumps({"p50": found, "range": max(found) - min(found)}))


#: netem's words to samples and the seconds from one to the next.
STEADY = {"0": (50, 0.004), "1ms": (50, 0.006), "6ms": (30, 0.016)}
ONCE = {"6ms 1ms": (120, 0.016), "6ms loss 8%": (120, 0.016)}


def network(rounds: str) -> None:
    found: dict[str, list[Round]] = {words: [] for words in (*STEADY, *ONCE)}
    for _ in range(int(rounds)):
        for words, (samples, interval) in STEADY.items():
            delay(words)
            before = by_hand(samples, interval)
            one = by_probe(samples, interval)
            after = by_hand(samples, interval)
            one["hand"] = {"p50": statistics.mean([before["p50"], after["p50"]])}
            found[words].append(one)
    for words, (samples, interval) in ONCE.items():
        delay(words)
        found[words].append(by_probe(samples, interval))
    delay("0")
    print(json.dumps(found))


#: Samples and the seconds from one to the next.
BURDENED = (120, 0.008)


def burden(rounds: str) -> None:
    """The same way with a client that works, and beside processes that never wait."""
    delay("1ms")
    found: dict[str, list[Round]] = {"quiet": [], "busy": [], "hogs": []}
    schedule = pacing.Schedule

    def slow() -> int:
        end = pacing.now_ns() + BUSY_NS
        while pacing.now_ns() < end:
            pass
        return pacing.now_ns()

    for _ in range(int(rounds)):
        found["quiet"].append(by_probe(*BURDENED))
        # The schedule keeps the real clock: the work comes between the answer and the last look.
        pacing.Schedule = lambda every, _clock: schedule(every)
        found["busy"].append(by_probe(*BURDENED, slow))
        pacing.Schedule = schedule
        with hogs():
            found["hogs"].append(by_probe(*BURDENED))
    delay("0")
    print(json.dumps(found))


@contextmanager
def hogs() -> Iterator[None]:
    """Processes that never wait, on the client's processor alone."""
    text = HOG.format({CLIENT_CPU})
    beside = [subprocess.Popen([sys.executable, "-c", text]) for _ in range(HOGS)]
    try:
        time.sleep(0.5)
        yield
    finally:
        for one in beside:
            one.kill()
            one.wait()


# -- the disks ------------------------------------------------------------------------------------


def disks(rounds: str) -> None:
    found: dict[str, dict[str, list[Round]]] = {}
    with dm_delay() as (path, change):
        found["dm-delay"] = alternate(path, change, (5,), int(rounds))
    with scsi_debug() as (path, change):
        found["scsi_debug"] = alternate(path, change, (0, 5), int(rounds))
    print(json.dumps(found))


Disk = tuple[str, Callable[[int], None]]


@contextmanager
def dm_delay() -> Iterator[Disk]:
    """A disk and what changes its delay (milliseconds)."""
    run("modprobe", "--all", "loop", "dm-delay")
    run("dd", "if=/dev/urandom", f"of={IMAGE}", "bs=1M", f"count={MEGABYTES}", "conv=fsync")
    loop = run("losetup", "--find", "--show", str(IMAGE)).strip()
    sectors = run("blockdev", "--getsz", loop).strip()
    run("dmsetup", "create", DM, "--table", f"0 {sectors} delay {loop} 0 0")

    def change(milliseconds: int) -> None:
        run("dmsetup", "suspend", DM)
        run("dmsetup", "reload", DM, "--table", f"0 {sectors} delay {loop} 0 {milliseconds}")
        run("dmsetup", "resume", DM)

    try:
        yield f"/dev/mapper/{DM}", change
    finally:
        run("dmsetup", "remove", "--retry", DM)
        run("losetup", "--detach", loop)
        IMAGE.unlink()


@contextmanager
def scsi_debug() -> Iterator[Disk]:
    run("modprobe", "scsi_debug", f"dev_size_mb={MEGABYTES}", "delay=0")
    run("udevadm", "settle")
    driver = Path("/sys/bus/pseudo/drivers/scsi_debug")
    name = next(driver.glob("adapter*/host*/target*/*/block/*")).name

    def change(milliseconds: int) -> None:
        # Nothing in "ndelay" is a tick; nothing in "delay" is nothing.
        name = "ndelay" if milliseconds else "delay"
        (driver / name).write_text(str(milliseconds * 1_000_000))

    try:
        yield f"/dev/{name}", change
    finally:
        run("modprobe", "--remove", "scsi_debug")


def alternate(
    path: str, change: Callable[[int], None], delays: tuple[int, ...], rounds: int
) -> dict[str, list[Round]]:
    found: dict[str, list[Round]] = {str(milliseconds): [] for milliseconds in delays}
    for _ in range(rounds):
        for milliseconds in delays:
            change(milliseconds)
            found[str(milliseconds)].append(read_round(path))
    return found


def read_round(path: str) -> Round:
    """The passive probe while the reference reads, and then the active one; microseconds."""
    reader = subprocess.Popen(
        [sys.executable, __file__, "read", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert reader.stdout is not None
    reader.stdout.readline()
    probes = measuring.check_probes([{"probe": "disk", "devices": [path]}])
    looked = measuring.measure_here(probes, 1, 1.5 * READS * READ_INTERVAL, 0)
    # It reads until its input ends, so that all of the interval has reads in it.
    reference = json.loads(reader.communicate()[0])
    seen = [one for one in looked.windows if one.p50 is not None and one.layer == "read"]
    file = direct_file.open_file(path)
    pace = disk_latency.Pace(READS, READ_INTERVAL, time.monotonic() + 60)
    asked = disk_latency.one_at_a_time(file, BLOCK, pace, 1)
    os.close(file.descriptor)
    if len(seen) != 1:
        sys.exit(f"the passive probe saw {[one.layer for one in seen]}: {looked.remarks}")
    layers = {one.layer: one for one in asked.windows}
    return {
        "reference": reference,
        "passive": seen[0].mean,
        "passive_n": seen[0].n,
        "user": layers["user"].p50,
        "device": layers["device"].mean if "device" in layers else None,
        "remarks": asked.remarks,
    }


def read(path: str) -> None:
    """Reads as anybody would write them, until the input ends.

    ``p50`` is from when each was to begin, ``mean`` from when it did: that of the device.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    size = os.lseek(descriptor, 0, os.SEEK_END)
    buffer = mmap.mmap(-1, BLOCK)
    took: list[float] = []
    waited: list[float] = []
    begin = time.monotonic()
    while not select.select([sys.stdin], [], [], 0)[0]:
        offset = len(took) * 37 * BLOCK % (size - BLOCK)
        due = begin + len(took) * READ_INTERVAL
        time.sleep(max(0.0, due - time.monotonic()))
        first = time.monotonic()
        if os.preadv(descriptor, [buffer], offset) != BLOCK:
            sys.exit("a short read")
        took.append((time.monotonic() - first) * 1e6)
        waited.append((time.monotonic() - due) * 1e6)
        if len(took) == 1:
            print("reading", flush=True)
    mean = statistics.mean(took)
    print(json.dumps({"p50": statistics.median(waited), "mean": mean, "least": min(took)}))


ACTIONS = (start, respond, delay, stop, noise, network, burden, disks, read)

if __name__ == "__main__":
    name, *given = sys.argv[1:]
    {action.__name__: action for action in ACTIONS}[name](*given)
