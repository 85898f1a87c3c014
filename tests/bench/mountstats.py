#!/usr/bin/env python3
"""What it costs to judge the health of many NFS mounts from two samples of mountstats.

Usage: tests/bench/mountstats.py [MOUNTS [CONNECTIONS]]   (500 mounts, 4 connections unless told)

Half of the mounts are v3 and half v4.1, copied from a recorded host. "recorded" uses the
operations that were in use there, "every operation" gives each of them counters. Parsing and
judging run in a process of their own, whose peak memory includes Python itself.
"""

import os
import re
import resource
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FIXTURE = ROOT / "tests/fixtures/mountstats/linux-6.1-load-{}.txt"
SECONDS = 9.8
#: What the control must keep to at 500 mounts with 4 connections each.
MOST_SECONDS, MOST_MEGABYTES = 0.5, 50
ROW = "{:<16} {:>8} {:>8} {:>8} {:>8} {:>9}"


def main() -> None:
    arguments = [int(argument) for argument in sys.argv[1:3]]
    mounts, connections = arguments + [500, 4][len(arguments) :]
    print(f"{mounts} NFS mounts with {connections} connections each, two samples")
    print(ROW.format("case", "MB text", "wall s", "CPU s", "peak MB", "findings"))
    met = True
    for case in ("recorded", "every operation"):
        size, wall, cpu, memory, findings = measure(mounts, connections, case == "every operation")
        met = met and cpu < MOST_SECONDS and memory < MOST_MEGABYTES
        numbers = (f"{size:.1f}", f"{wall:.2f}", f"{cpu:.2f}", f"{memory:.0f}", int(findings))
        print(ROW.format(case, *numbers))
    word = "met" if met else "NOT MET"
    print(f"Expected: below {MOST_SECONDS} s of CPU and {MOST_MEGABYTES} MB: {word}")


def measure(mounts: int, connections: int, every: bool) -> list[float]:
    """Megabytes of text, wall and CPU seconds, peak megabytes and findings, from a child."""
    ours, childs = os.pipe()
    if os.fork() == 0:
        # The texts are written by another process still, so that making them is not measured.
        texts = [read_from_child(lambda n=n: sample(n, mounts, connections, every)) for n in (1, 2)]
        answer = judge(texts, mounts, connections)
        os.write(childs, " ".join(str(number) for number in answer).encode())
        os._exit(0)
    os.close(childs)
    os.wait()
    with os.fdopen(ours) as pipe:
        return [float(number) for number in pipe.read().split()]


def read_from_child(make: Any) -> str:
    ours, childs = os.pipe()
    if os.fork() == 0:
        with os.fdopen(childs, "w") as pipe:
            pipe.write(make())
        os._exit(0)
    os.close(childs)
    with os.fdopen(ours) as pipe:
        text = pipe.read()
    os.wait()
    return text


def sample(number: int, mounts: int, connections: int, every: bool) -> str:
    """The text of mountstats with as many mounts and connections as asked for."""
    text = Path(str(FIXTURE).format(number)).read_text()
    blocks = ["device" + block for block in text.split("\ndevice") if " fstype nfs" in block]
    three = next(block for block in blocks if "/u01/oradata" in block)
    four = next(block for block in blocks if "/u03/redo" in block)
    made = []
    for index in range(mounts):
        block = (three, four)[index % 2]
        block = re.sub("/vol/.* with", f"/vol/v{index} mounted on {path_of(index)} with", block)
        (line,) = re.findall(r"\txprt:.*\n", block)
        block = block.replace(line, line * connections)
        made.append(block.replace(": 0 0 0 0 0 0 0 0 0", f": {number}07 {number}07 0 9 9 1 3 4 0"))
        if not every:
            made[-1] = block
    return "device proc mounted on /proc with fstype proc\n" + "\n".join(made) + "\n"


def path_of(index: int) -> str:
    return f"/u02/oradata/{index:03}"


def judge(texts: list[str], mounts: int, connections: int) -> list[float]:
    sys.path.insert(0, str(ROOT / "module_utils"))
    from hostproof.collect.host import RecordedHost
    from hostproof.controls.nfs_mounts import facts, policy, rules_wire
    from hostproof.errors import Unanswered
    from hostproof.evaluate.checking import verdict_or_error
    from hostproof.probes.nfs import nfs_mounted, nfs_traffic

    source = "file:" + nfs_traffic.MOUNTSTATS
    host = RecordedHost(
        {
            nfs_traffic.EVIDENCE: {
                "kind": "sample",
                "seconds": SECONDS,
                "first": {source: texts[0]},
                "second": {source: texts[1]},
                "errors": {},
            },
            "file:" + nfs_mounted.MOUNTINFO: {"kind": "file", "text": mountinfo(mounts)},
        }
    )
    rules: Any = (rules_wire.latency, rules_wire.client_queue, rules_wire.retransmissions)
    unread = Unanswered("bench", "not part of the benchmark")
    settings = policy_of(policy)
    started, used = time.perf_counter(), time.process_time()
    traffic = nfs_traffic.read_traffic(host, SECONDS)
    mounted = nfs_mounted.read_mounted(host, nfs_mounted.LINUX)
    known = {"system": nfs_mounted.LINUX, "mounted": mounted, "traffic": traffic}
    rest: dict[str, Any] = dict.fromkeys(facts.Facts._fields, unread)
    seen = facts.Facts(**(rest | known))
    wire = rules_wire.diagnosis.wire_of(traffic)
    verdicts = [
        verdict_or_error(rule, rules_wire.Watched(mount.path, True, wire), seen, settings)
        for mount in mounted
        for rule in rules
    ]
    cpu, wall = time.process_time() - used, time.perf_counter() - started
    assert all(traffic.mounts[path_of(n)].connections == connections for n in range(mounts))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [sum(map(len, texts)) / 1e6, wall, cpu, peak, len(verdicts)]


def mountinfo(mounts: int) -> str:
    lines = ["25 1 253:0 / / rw,relatime shared:1 - xfs /dev/mapper/ol-root rw\n"]
    for index in range(mounts):
        lines.append(
            f"{100 + index} 25 0:{45 + index} / {path_of(index)} rw,relatime shared:2 - nfs "
            f"filer:/vol/v{index} rw,vers=3,hard,proto=tcp,addr=10.9.0.2\n"
        )
    return "".join(lines)


def policy_of(policy: Any) -> Any:
    import yaml

    defaults = yaml.safe_load((ROOT / "roles/nfs_mounts/defaults/main.yml").read_text())
    names = [name for name in policy.Policy._fields if name != "window_seconds"]
    values = {name: defaults["nfs_mounts_" + name] for name in names}
    return policy.policy_from(dict(values, window_seconds=10))


if __name__ == "__main__":
    main()
