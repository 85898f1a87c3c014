#!/usr/bin/env python3
"""Requests to your application server with foreground and background validation, side by side.

Two applications on one server, one with a pool that validates at each checkout and one with a pool
that validates in the background, take turns, so that other load disturbs both alike:

    tests/bench/pool_requests.py foreground=http://app01:8080/a background=http://app01:8080/b

With one application, measure it, change its pool (./hostproof apply --tags pool_validation),
measure it again, and compare both files:

    tests/bench/pool_requests.py foreground=http://app01:8080/shop --save foreground.json
    tests/bench/pool_requests.py background=http://app01:8080/shop --save background.json
    tests/bench/pool_requests.py --compare foreground.json background.json

The URL must take a connection from the pool and run a short query. It is requested with GET:
--requests / 10 times to warm up, then --requests times (default 200). Expected: the p50 with
background validation is lower by one round trip to the database, which ./hostproof audit --tags
latency measures (latency_probes, tcp or pool). tests/bench/pool_validation.py runs the same test
with WildFly, PostgreSQL and a proxy that adds a delay. ./hostproof read compares outputs of ab.
"""

import argparse
import json
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

TIMEOUT = 60.0
SHARES = (50, 90, 95, 99)

Times = dict[str, list[float]]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*", metavar="NAME=URL")
    parser.add_argument("--requests", type=int, default=200, metavar="N")
    parser.add_argument("--save", type=Path, metavar="FILE")
    parser.add_argument("--compare", type=Path, nargs="+", metavar="FILE")
    chosen = parser.parse_args(arguments)
    targets = dict(target.partition("=")[::2] for target in chosen.targets)
    if chosen.compare:
        times: Times = {}
        for path in chosen.compare:
            times.update(json.loads(path.read_text()))
    elif not targets or not all(url.startswith("http") for url in targets.values()):
        parser.error("name one or more NAME=URL, or files after --compare")
    else:
        try:
            times = measured(targets, chosen.requests)
        except OSError as problem:
            print(f"a request failed: {problem}", file=sys.stderr)
            return 1
    print(table(times))
    if chosen.save:
        chosen.save.write_text(json.dumps(times) + "\n")
    return 0


def measured(targets: dict[str, str], number: int) -> Times:
    """Milliseconds of each request by name; the targets take turns."""
    times: Times = {name: [] for name in targets}
    warm = max(1, number // 10)
    for turn in range(number + warm):
        for name, url in targets.items():
            began = time.perf_counter()
            with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
                answer.read()
            if turn >= warm:
                times[name].append(round(1000 * (time.perf_counter() - began), 3))
    return times


def table(times: Times) -> str:
    """A column for each name, then the time that the fastest saves per request."""
    names = list(times)
    rows = [("", *names), ("requests", *(str(len(times[name])) for name in names))]
    rows.append(("requests/s", *(f"{1000 / mean(times[name]):.1f}" for name in names)))
    rows += [
        (f"p{share} ms", *(f"{of(times[name], share):.2f}" for name in names)) for share in SHARES
    ]
    rows.append(("most ms", *(f"{max(times[name]):.2f}" for name in names)))
    lines = ["".join(f"{cell:<14}" for cell in row).rstrip() for row in rows]
    if len(names) > 1:
        p50 = {name: of(times[name], 50) for name in names}
        slow, fast = max(p50, key=p50.__getitem__), min(p50, key=p50.__getitem__)
        lines.append(f"{fast} saves {p50[slow] - p50[fast]:.2f} ms of a request (p50)")
    return "\n".join(lines)


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def of(values: list[float], share: int) -> float:
    """The percentile."""
    return sorted(values)[min(len(values) - 1, len(values) * share // 100)]


if __name__ == "__main__":
    sys.exit(main())
