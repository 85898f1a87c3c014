#!/usr/bin/env python3
"""What it costs to ask 200 agents from one controller, beside a bare loop of the same requests.

An snmpd on every address of 127.0.1.1 to 127.0.1.200 (one process on one port). The bare loop
runs net-snmp's tool with the same requests, the same options and as many at a time; both
alternate, and a ratio compares the two of one round. Then one of the addresses is taken by
something that never answers. Fails above a ratio of 1.3, the median of the rounds.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ansible.module_utils

ROOT = Path(__file__).resolve().parents[2]
ansible.module_utils.__path__.append(str(ROOT / "module_utils"))

import agents  # noqa: E402
from ansible.module_utils.hostproof.host import LiveHost  # noqa: E402
from ansible.module_utils.hostproof.probes import snmp, storage_agent  # noqa: E402

AGENTS = 200
AT_ONCE = 8
ROUNDS = 5
LIMIT = 1.3
ADDRESSES = [f"127.0.1.{number}" for number in range(1, AGENTS + 1)]
CREDENTIALS = snmp.Credentials("2c", "public")


def targets(port: int) -> list[snmp.Target]:
    return [snmp.Target(address, port, CREDENTIALS, 1, 1) for address in ADDRESSES]


def ask_all(port: int) -> tuple[float, int]:
    """Seconds, and how many agents answered, as the module does it."""
    host = LiveHost()
    began = time.monotonic()
    found = storage_agent.in_parallel(
        lambda target: storage_agent.look_at(host, target), targets(port), AT_ONCE
    )
    seconds = time.monotonic() - began
    return seconds, sum(one.outcome != storage_agent.NO_ANSWER for one in found)


def requests_of_one(port: int) -> list[list[str]]:
    """The argvs with which one agent is asked."""
    host = LiveHost()
    storage_agent.look_at(host, targets(port)[0])
    return [reading["argv"] for reading in host.evidence.values()]


def bare_loop(port: int, requests: list[list[str]]) -> float:
    first = f"udp:{ADDRESSES[0]}:{port}"
    began = time.monotonic()

    def ask(address: str) -> None:
        for argv in requests:
            own = [f"udp:{address}:{port}" if word == first else word for word in argv]
            with_community = [*own[:1], "-c", CREDENTIALS.community, *own[1:]]
            subprocess.run(with_community, capture_output=True, check=True)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(ask, ADDRESSES))
    return time.monotonic() - began


def with_a_dead_one(port: int) -> tuple[list[float], float]:
    """When each of the others had answered, and when the dead one was given up (seconds)."""
    host = LiveHost()
    done = {}
    with agents.relay(change=lambda _reply: None) as dead:
        asked = targets(port)
        asked[AGENTS // 2] = asked[0]._replace(port=dead.port, address="127.0.0.1")
        began = time.monotonic()

        def look(number: int) -> bool:
            storage = storage_agent.look_at(host, asked[number])
            done[number] = time.monotonic() - began
            return storage.outcome != storage_agent.NO_ANSWER

        answered = storage_agent.in_parallel(look, range(AGENTS), AT_ONCE)
    given_up = done.pop(AGENTS // 2)
    if sum(answered) != AGENTS - 1:
        raise SystemExit(f"{sum(answered)} of {AGENTS - 1} answered beside a dead one")
    return sorted(done.values()), given_up


def measure(port: int) -> int:
    requests = requests_of_one(port)
    names = ", ".join(argv[0] for argv in requests)
    ratios = []
    print(f"{AGENTS} agents, {AT_ONCE} at a time, for each: {names}")
    for number in range(1, ROUNDS + 1):
        bare = bare_loop(port, requests)
        ours, answered = ask_all(port)
        ratios.append(ours / bare)
        print(
            f"round {number}: bare loop {bare:5.2f} s, storage_type {ours:5.2f} s, "
            f"ratio {ratios[-1]:4.2f}, answered {answered} of {AGENTS}"
        )
        if answered != AGENTS:
            return 1
    median = statistics.median(ratios)
    print(f"ratio, median of {ROUNDS} rounds: {median:4.2f} (at most {LIMIT})")
    others, given_up = with_a_dead_one(port)
    print(
        f"one dead agent among them: the {len(others)} others had answered after "
        f"{others[-1]:4.2f} s, the dead one was given up after {given_up:4.2f} s"
    )
    return 0 if median <= LIMIT else 1


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        try:
            with agents.snmpd(Path(folder), address="0.0.0.0") as port:
                return measure(port)
        except agents.Unavailable as reason:
            print(f"SKIPPED {reason}")
            print("many: 0 passed, 0 failed, 1 skipped")
            return 0


if __name__ == "__main__":
    sys.exit(main())
