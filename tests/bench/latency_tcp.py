#!/usr/bin/env python3
"""How exact the TCP probe is, beside a client in C in the same run.

Usage: tests/bench/latency_tcp.py [ROUNDS]   (at least 9 unless told)

Two paths: loopback on one CPU, where nothing but the work itself counts, and a veth pair between
two network namespaces of the benchmark's own, gone with it, with client and server on a CPU each.
Client in C and probe take turns, each with the server in C and with our responder, before all
other processes where this user may (SCHED_FIFO). Across veth a server that takes 0.4 ms to answer
stands for a way between two machines: without, the work is nearly all there is. Then the probe
alone, on a schedule: with 200 us of busy waiting put into it, as any other process beside CPU hogs,
and behind netem's 6 ms where the kernel has netem.

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
import unittest.mock
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / name) for name in ("module_utils", "plugin_utils", "tests")]

from hostproof.controls.latency.measurement import pacing, tcp_latency  # noqa: E402
from hostproof_controller.latency.fleet import signed_rank_interval  # noqa: E402
from judging import (  # noqa: E402
    MET,
    NOT_MET,
    Score,
    at_least,
    at_most,
    go_as_others,
    go_first,
    rounds,
    shown,
    within,
)
from machines.needs import Skip, finish, install  # noqa: E402

SOURCE = ROOT / "tests/bench/latency_peer.c"
INSIDE = "HOSTPROOF_BENCH_NAMESPACE"
#: The client has the first, and the server the last on a veth.
CPUS = sorted(os.sched_getaffinity(0))
CLIENT, SERVER = "10.255.77.1", "10.255.77.2"
IN_C, OURS, SLOW = 7401, 7402, 7403
SAMPLES = 2000
#: On a schedule, for a p50 and for a p99. A sample takes two requests.
PACED, PACED_TAIL = 500, 1000
#: How long the rounds of one comparison may take.
SECONDS = 60.0
INTERVAL = 0.001
#: Long enough for the slow server and the work in the client.
SLOW_INTERVAL = 0.002
BUSY_NS = 200_000
#: What the slow server works: a way that is long beside the noise of two CPUs that wake each other.
WORK_NS = 400_000
#: What is printed as met.
MOST_RATIO = {"loopback": 1.3, "veth": 1.05}
MOST_MOVED, MOST_HOGGED, MOST_OFF = 0.03, 2.0, 0.02
ROW = "{:<9} {:<7} {:>7} {:>7} {:>9} {:>9} {:>9} {:>9} {:>7}  {:<24}  {}"

RESPONDER = """
import os, sys
sys.path.insert(0, {path!r})
if {cpu} >= 0:
    os.sched_setaffinity(0, {{{cpu}}})
from hostproof.controls.latency.measurement import responder as one
wanted = one.Settings({address!r}, {port}, [{network!r}], 900, 4, 1 << 31)
print(one.start(wanted).pid)
"""

#: Never waits, and is like any other process even where the benchmark itself goes first.
HOG = """
import os, sys
os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
os.sched_setaffinity(0, {int(sys.argv[1])})
while True:
    pass
"""

Quantiles = dict[str, tuple[float, float]]


def main() -> int:
    least = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    install({"cc": "build-essential", "ip": "iproute2"}, "the TCP benchmark")
    if INSIDE not in os.environ:
        run_inside()
    score = Score()
    with tempfile.TemporaryDirectory() as folder:
        peer = f"{folder}/latency_peer"
        subprocess.run(["cc", "-O2", "-Wall", "-o", peer, str(SOURCE)], check=True)
        with contextlib.ExitStack() as stack:
            first = go_first()
            paths = {"loopback": stack.enter_context(servers(peer, "127.0.0.1", None))}
            if os.environ[INSIDE] == "own":
                namespace = stack.enter_context(veth())
                paths["veth"] = stack.enter_context(servers(peer, SERVER, namespace))
            else:
                print("SKIPPED no network namespace may be made here, so loopback alone")
            compare(peer, list(paths), least, first, score)
            path = list(paths)[-1]
            busy(path, least, score)
            hogs(path, least, score)
            if "veth" in paths:
                netem(namespace, score)
    return score.exit_code()


def run_inside() -> None:
    """Go on in a network namespace of our own, where this user may make one."""
    ways = [["unshare", "--net"], ["unshare", "--net", "--user", "--map-root-user"]]
    for way in ways:
        if subprocess.run([*way, "true"], capture_output=True).returncode == 0:
            environment = {**os.environ, INSIDE: "own"}
            os.execvpe(way[0], [*way, sys.executable, *sys.argv], environment)
    os.environ[INSIDE] = "none"


@contextlib.contextmanager
def veth() -> Iterator[int]:
    """Another namespace, and a pair of interfaces to it; the process that holds it."""
    ip("link", "set", "lo", "up")
    holder = subprocess.Popen(["unshare", "--net", "sleep", "3600"])
    try:
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{holder.pid}/ns/net") == own:
            time.sleep(0.01)
        ip("link", "add", "hp0", "type", "veth", "peer", "name", "hp1", "netns", str(holder.pid))
        ip("addr", "add", f"{CLIENT}/30", "dev", "hp0")
        ip("link", "set", "hp0", "up")
        ip("addr", "add", f"{SERVER}/30", "dev", "hp1", namespace=holder.pid)
        ip("link", "set", "hp1", "up", namespace=holder.pid)
        yield holder.pid
    finally:
        holder.terminate()
        holder.wait()


def ip(*arguments: str, namespace: int | None = None) -> None:
    subprocess.run([*entering(namespace), "ip", *arguments], check=True)


def entering(namespace: int | None) -> list[str]:
    return [] if namespace is None else ["nsenter", f"--net=/proc/{namespace}/ns/net"]


@contextlib.contextmanager
def servers(peer: str, address: str, namespace: int | None) -> Iterator[None]:
    """The servers in C and our responder."""
    if namespace is None and os.environ[INSIDE] == "own":
        ip("link", "set", "lo", "up")
    inside = entering(namespace)
    cpu = CPUS[0] if namespace is None else CPUS[-1]
    started = []
    for port, delay in ((IN_C, 0), (SLOW, WORK_NS)):
        words = ["server", address, port, cpu, delay]
        server = subprocess.Popen([*inside, peer, *map(str, words)], stdout=subprocess.PIPE)
        started.append(server)
        assert server.stdout is not None
        if server.stdout.readline() != b"ready\n":
            raise Skip("the server in C does not start")
    network = "127.0.0.0/8" if namespace is None else f"{CLIENT}/32"
    text = RESPONDER.format(
        path=str(ROOT / "module_utils"), address=address, port=OURS, network=network, cpu=cpu
    )
    responder = subprocess.run(
        [*inside, sys.executable, "-c", text], capture_output=True, check=True
    )
    try:
        yield
    finally:
        os.kill(int(responder.stdout), 15)
        for server in started:
            server.terminate()
            server.wait()


def address_of(path: str) -> str:
    return SERVER if path == "veth" else "127.0.0.1"


def in_c(peer: str, path: str, port: int) -> tuple[float, float]:
    """p50 and p99 of the client in C, back to back; microseconds."""
    words = [address_of(path), port, CPUS[0], 12, 4, SAMPLES, 0]
    result = subprocess.run(
        [peer, "client", *map(str, words)], capture_output=True, check=True, text=True
    )
    p50, p99 = map(int, result.stdout.split())
    return p50 / 1e3, p99 / 1e3


def probe(
    path: str,
    port: int,
    interval: float = 0.0,
    clock: Callable[[], int] = pacing.now_ns,
    samples: int = SAMPLES,
) -> Quantiles:
    """p50 and p99 of each layer by our probe; microseconds."""
    target = tcp_latency.resolve(address_of(path), port)
    pace = tcp_latency.Pace(samples, interval, 10.0, time.monotonic() + 120)
    series = tcp_latency.request_response(target, 12, 4, pace, CPUS[0], clock)
    return {
        layer: (quantile(times, 0.5), quantile(times, 0.99))
        for layer, times in series.layers.items()
    }


def quantile(samples: list[int], share: float) -> float:
    return sorted(samples)[int(len(samples) * share)] / 1e3


def compare(peer: str, paths: list[str], least: int, first: bool, score: Score) -> None:
    order = "before other processes" if first else "beside other processes"
    print(
        f"{SAMPLES} requests of 12 B, answers of 4 B, back to back, client in C and probe in turn,"
        f" {order}; medians of the rounds in us\n"
        "ratio: user p50 / C p50 of a round, in brackets its 95 % interval; C/C: the client in C "
        "beside itself"
    )
    titles = ("C p50", "C p99", "user p50", "user p99", "kern p50", "host p50", "rounds")
    print(ROW.format("path", "server", *titles, "ratio", "C/C"))
    for path in paths:
        words = [compare_with(peer, path, server, least) for server in (IN_C, OURS)]
        score.together(f"on {path} the user p50 is at most {MOST_RATIO[path]} of C's", words)
    if "veth" in paths:
        score.expect(
            f"across veth, where an answer takes {WORK_NS / 1e6:g} ms, the user p50 is at most "
            f"{MOST_RATIO['veth']} of C's",
            compare_with(peer, "veth", SLOW, least),
        )


def compare_with(peer: str, path: str, server: int, least: int) -> str:
    """Both clients with one server; a row, and the word of its rounds."""
    rows: list[list[float]] = []
    again: list[float] = []

    def one_round() -> float:
        # The client in C before and after the probe, so that a drift is in both.
        before = in_c(peer, path, server)
        ours = probe(path, server)
        after = in_c(peer, path, server)
        limit = (before[0] + after[0]) / 2
        layers = [ours.get(layer, (math.nan,))[0] for layer in ("kernel", "host")]
        rows.append([limit, before[1], *ours["user"], *layers])
        again.append(after[0] / before[0])
        return ours["user"][0] / limit

    judge = functools.partial(at_most, limit=MOST_RATIO[path])
    interval, count, word = rounds(one_round, judge, least, SECONDS)
    numbers = []
    for column in zip(*rows, strict=True):
        # A round in which the kernel took no stamps has no layer of its own.
        known = [number for number in column if not math.isnan(number)]
        numbers.append(f"{statistics.median(known):.1f}" if known else "-")
    name = {IN_C: "C", OURS: "ours", SLOW: "C slow"}[server]
    twice = signed_rank_interval(again)
    print(ROW.format(path, name, *numbers, count, shown(interval), shown(twice)), flush=True)
    return word


def busy(path: str, least: int, score: Score) -> None:
    """200 us of work in the client after each answer must not move the kernel's layer."""

    def slow() -> int:
        end = pacing.now_ns() + BUSY_NS
        while pacing.now_ns() < end:
            pass
        return pacing.now_ns()

    pairs: list[tuple[Quantiles, Quantiles]] = []
    schedule = pacing.Schedule

    def one_round() -> float:
        quiet = probe(path, SLOW, SLOW_INTERVAL, samples=PACED)
        # The schedule keeps the real clock: the work comes between the answer and the last look.
        with unittest.mock.patch.object(pacing, "Schedule", lambda every, _: schedule(every)):
            worked = probe(path, SLOW, SLOW_INTERVAL, slow, PACED)
        pairs.append((quiet, worked))
        if "kernel" not in quiet or "kernel" not in worked:
            raise Skip("this kernel gives no stamps, so there is no kernel layer")
        return worked["kernel"][0] / quiet["kernel"][0]

    try:
        interval, count, word = rounds(
            one_round, functools.partial(within, share=MOST_MOVED), least, SECONDS
        )
    except Skip as reason:
        print(f"SKIPPED {reason}")
        return
    print(
        f"\n200 us of busy waiting in the client ({path}, every {SLOW_INTERVAL * 1e3:g} ms, the "
        f"server works {WORK_NS // 1000} us), {count} rounds; p50 in us"
    )
    for layer in ("user", "kernel", "host"):
        before, after = (
            statistics.median(pair[side][layer][0] for pair in pairs) for side in (0, 1)
        )
        print(f"  {layer:<7} {before:8.1f} -> {after:8.1f}  {after - before:+8.1f} us")
    print(f"  kernel  {shown(interval)}")
    score.expect(f"busy waiting moves the kernel's p50 by less than {MOST_MOVED:.0%}", word)


def hogs(path: str, least: int, score: Score) -> None:
    """Processes that never wait, on the CPU of the client alone; the server has another.

    The quiet one goes before all other processes where it may: others' load is no quiet.
    """
    if len(CPUS) < 2:
        print("SKIPPED hogs: there is one CPU, and the server needs another than the client")
        return
    pairs: list[tuple[Quantiles, Quantiles]] = []

    def one_round() -> float:
        go_first()
        quiet = probe(path, IN_C, INTERVAL, samples=PACED_TAIL)
        # The client must compete with the hogs, as any process.
        go_as_others()
        beside = [subprocess.Popen([sys.executable, "-c", HOG, str(CPUS[0])]) for _ in range(2)]
        try:
            time.sleep(0.3)
            hogged = probe(path, IN_C, INTERVAL, samples=PACED_TAIL)
        finally:
            for hog in beside:
                hog.kill()
                hog.wait()
        if "kernel" not in quiet or "kernel" not in hogged:
            raise Skip("this kernel gives no stamps, so there is no kernel layer")
        pairs.append((quiet, hogged))
        return hogged["kernel"][1] / quiet["kernel"][1]

    try:
        interval, count, word = rounds(
            one_round, functools.partial(at_most, limit=MOST_HOGGED), least, SECONDS
        )
    except Skip as reason:
        print(f"SKIPPED {reason}")
        return
    print(
        f"\nTwo CPU hogs on the client's CPU ({path}, every {INTERVAL * 1e3:g} ms), "
        f"{count} rounds; p99 in us"
    )
    seen = {}
    for layer in ("user", "kernel", "host"):
        before, after = (
            statistics.median(pair[side][layer][1] for pair in pairs) for side in (0, 1)
        )
        seen[layer] = signed_rank_interval(
            [hogged[layer][1] / quiet[layer][1] for quiet, hogged in pairs]
        )
        print(f"  {layer:<7} {before:8.1f} -> {after:8.1f}  {shown(seen[layer])}")
    score.expect(f"beside hogs the kernel's p99 is at most {MOST_HOGGED:g} x the quiet one", word)
    score.expect(
        f"the user p99 shows the hogs (more than {MOST_HOGGED:g} x)",
        at_least(seen["user"], MOST_HOGGED),
    )


def netem(namespace: int, score: Score) -> None:
    """6 ms of the kernel's own making, found by the handshake and by requests.

    They are the server's: what a queue of the client's own host delays comes before the stamp of
    sending, and is no part of the kernel's layer.
    """
    before = probe("veth", IN_C, 0.02), handshakes()
    words = ["tc", "qdisc", "add", "dev", "hp1", "root", "netem", "delay", "6ms"]
    added = subprocess.run([*entering(namespace), *words], capture_output=True)
    if added.returncode:
        print("SKIPPED netem: this kernel has none (sch_netem); ./hostproof test delays has one")
        return
    after = probe("veth", IN_C, 0.02), handshakes()
    print("\nnetem's 6 ms; p50 in us, less that without netem")
    delays = {layer: after[0][layer][0] - before[0][layer][0] for layer in ("user", "kernel")}
    delays["net"] = after[1] - before[1]
    for layer, extra in delays.items():
        print(f"  {layer:<7} {extra:8.1f}  {extra / 6000 - 1:+7.2%}")
    met = all(abs(extra / 6000 - 1) <= MOST_OFF for extra in delays.values())
    score.expect(f"netem's 6 ms are found within {MOST_OFF:.0%}", MET if met else NOT_MET)


def handshakes() -> float:
    """p50 of the handshake, by the kernel."""
    pace = tcp_latency.Pace(30, 0.1, 5.0, time.monotonic() + 60)
    series = tcp_latency.handshake(tcp_latency.resolve(SERVER, IN_C), pace)
    return quantile(series.layers["net"], 0.5)


if __name__ == "__main__":
    finish(main)
