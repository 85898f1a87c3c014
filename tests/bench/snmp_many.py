#!/usr/bin/env python3
"""What it costs to ask 200 agents from one controller, beside a bare loop of the same requests.

An snmpd on every address of 127.0.1.1 to 127.0.1.200 (one process on one port). The bare loop runs
net-snmp's tool with the same requests, the same options and as many at a time. Both take turns with
20 agents each, so that other work on this machine disturbs them alike, until each has asked the 200
ROUNDS times; the ratio is of their sums. In the same turns a loop asks for each object of the first
question by a snmpget of its own, as people write it: storage_type, which asks for them together,
has half of its time at most. Then all 200 are asked at once, and once more with SILENT addresses
among them that never answer. Fails above these ratios, where the silent ones cost more than one of
them alone and the 200 together, and where one of ten took longer by itself than one alone: a second
round of timeouts. All that in version 2c, and in version 3 with SHA and AES, where each run of the
tool looks for the engine and makes its keys.
"""

import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ansible.module_utils

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/snmp"))
ansible.module_utils.__path__.append(str(ROOT / "module_utils"))

import agents  # noqa: E402
from ansible.module_utils.hostproof.collect.host import LiveHost  # noqa: E402
from ansible.module_utils.hostproof.controls.storage_type.snmp import storage_agent  # noqa: E402
from ansible.module_utils.hostproof.snmp import tools as snmp  # noqa: E402

AGENTS = 200
AT_ONCE = 32
SILENT = 10
SLICE = 20
ROUNDS = 5
LIMIT, OF_ONE_BY_ONE = 1.3, 0.5
ADDRESSES = [f"127.0.1.{number}" for number in range(1, AGENTS + 1)]
COMMUNITY = snmp.Credentials("2c", "public")
USER = snmp.Credentials(
    "3", "", "usual", "authPriv", "SHA", agents.AUTH, "AES", agents.PRIV
)  # fmt: skip
#: The same for the bare loop: what people write behind snmpget.
WORDS = {
    COMMUNITY: ["-c", "public"],
    USER: ["-u", "usual", "-l", "authPriv", "-a", "SHA", "-A", agents.AUTH]
    + ["-x", "AES", "-X", agents.PRIV],
}


def targets(port: int, credentials: snmp.Credentials) -> list[snmp.Target]:
    return [snmp.Target(address, port, credentials, 1, 1) for address in ADDRESSES]


def ask(asked: list[snmp.Target]) -> tuple[float, int]:
    """Seconds, and how many agents answered, as the module does it."""
    host = LiveHost()
    began = time.monotonic()
    results = storage_agent.in_parallel(
        lambda target: storage_agent.identify_agent(host, target), asked, AT_ONCE
    )
    seconds = time.monotonic() - began
    return seconds, sum(storage.outcome != storage_agent.NO_ANSWER for storage in results)


def requests_of_one(target: snmp.Target) -> list[list[str]]:
    """The argvs with which one agent is asked."""
    host = LiveHost()
    storage_agent.identify_agent(host, target)
    return [reading["argv"] for reading in host.evidence.values()]


def one_by_one(requests: list[list[str]]) -> list[list[str]]:
    """The same with each GET of several objects as several of one."""
    commands = []
    for argv in requests:
        objects = next(at for at, word in enumerate(argv) if word.startswith("udp:")) + 1
        alone = argv[0] == "snmpget"
        parts = [[oid] for oid in argv[objects:]] if alone else [argv[objects:]]
        commands += [[*argv[:objects], *part] for part in parts]
    return commands


def bare_loop(asked: list[snmp.Target], requests: list[list[str]]) -> float:
    """Seconds for the same requests, by nothing but the tool."""
    began = time.monotonic()

    def run(target: snmp.Target) -> None:
        for argv in requests:
            place = f"udp:{target.address}:{target.port}"
            own = [place if word.startswith("udp:") else word for word in argv[1:]]
            command = [argv[0], *WORDS[target.credentials], *own]
            subprocess.run(command, capture_output=True, check=True)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(run, asked))
    return time.monotonic() - began


def with_silent_ones(everybody: list[snmp.Target], silent: int) -> tuple[list[float], float, float]:
    """When each of the others had answered, when the last silent one was given up, and how long
    the slowest of the silent ones took by itself (seconds)."""
    host = LiveHost()
    done, took = {}, {}
    with agents.relay(change=lambda _reply: None) as dead:
        queried = list(everybody)
        places = range(0, AGENTS, AGENTS // silent)[:silent]
        for place in places:
            queried[place] = queried[place]._replace(port=dead.port, address="127.0.0.1")
        began = time.monotonic()

        def look(number: int) -> bool:
            started = time.monotonic()
            storage = storage_agent.identify_agent(host, queried[number])
            done[number] = time.monotonic() - began
            took[number] = time.monotonic() - started
            return storage.outcome != storage_agent.NO_ANSWER

        answered = storage_agent.in_parallel(look, range(AGENTS), AT_ONCE)
    given_up = max(done.pop(place) for place in places)
    if sum(answered) != AGENTS - silent:
        raise SystemExit(f"{sum(answered)} of {AGENTS - silent} answered beside silent ones")
    return sorted(done.values()), given_up, max(took[place] for place in places)


def measure(everybody: list[snmp.Target]) -> int:
    requests = requests_of_one(everybody[0])
    names = ", ".join(argv[0] for argv in requests)
    version = everybody[0].credentials.version
    print(f"SNMP {version}: {AGENTS} agents, {AT_ONCE} at a time, for each: {names}")
    bare = ours = single = 0.0
    for number in range(ROUNDS):
        for at in range(0, AGENTS, SLICE):
            part = everybody[at : at + SLICE]
            if number % 2:
                bare += bare_loop(part, requests)
            ours += ask(part)[0]
            if not number % 2:
                bare += bare_loop(part, requests)
            single += bare_loop(part, one_by_one(requests))
    ratio, of_single = ours / bare, ours / single
    print(
        f"taking turns: bare loop {bare / ROUNDS:5.2f} s for {AGENTS}, storage_type "
        f"{ours / ROUNDS:5.2f} s, ratio {ratio:4.2f} (at most {LIMIT}), {ROUNDS} rounds"
    )
    print(
        f"a loop of one snmpget an object: {single / ROUNDS:5.2f} s, ratio {of_single:4.2f} "
        f"(at most {OF_ONE_BY_ONE})"
    )
    seconds, answered = ask(everybody)
    print(f"all at once: {answered} of {AGENTS} answered, {seconds:5.2f} s")
    _others, delay, alone = with_silent_ones(everybody, 1)
    others, all_of_them, slowest = with_silent_ones(everybody, SILENT)
    print(
        f"{SILENT} silent ones among them: the {len(others)} others had answered after "
        f"{others[-1]:4.2f} s, the last silent one was given up after {all_of_them:4.2f} s; where "
        f"one is silent it was after {delay:4.2f} s. By itself the slowest took {slowest:4.2f} s, "
        f"one alone {alone:4.2f} s: the rest is its turn in the queue"
    )
    # A try is a second long: half of one is what a loaded machine may add.
    beside = all_of_them <= delay + seconds and slowest <= alone + 0.5
    ahead = ratio <= LIMIT and of_single <= OF_ONE_BY_ONE
    return 0 if ahead and answered == AGENTS and beside else 1


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        try:
            with agents.snmpd(Path(folder), address="0.0.0.0") as port:
                return max([measure(targets(port, how)) for how in WORDS])
        except agents.Unavailable as reason:
            print(f"SKIPPED {reason}")
            print("snmp_agents: 0 passed, 0 failed, 1 skipped")
            return 0


if __name__ == "__main__":
    sys.exit(main())
