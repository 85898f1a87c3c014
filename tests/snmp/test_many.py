"""Many agents at once, without times: who is asked, how often, and in how many requests.

tests/bench/snmp_many.py measures the same with its time limits.
"""

import threading
from collections.abc import Iterator

import agents
import pytest
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.controls.storage_type.snmp import storage_agent
from ansible.module_utils.hostproof.snmp import tools as snmp

AGENTS, SILENT, AT_ONCE = 200, 10, 32
ADDRESSES = [f"127.0.1.{number}" for number in range(1, AGENTS + 1)]
CREDENTIALS = [
    snmp.Credentials("2c", "public"),
    snmp.Credentials("3", "", "usual", "authPriv", "SHA", agents.AUTH, "AES", agents.PRIV),
]


@pytest.fixture(scope="module")
def every_address(tmp_path_factory) -> Iterator[int]:
    """The port of an agent that answers on each address of ADDRESSES."""
    with agents.snmpd(tmp_path_factory.mktemp("many"), address="0.0.0.0") as port:
        yield port


def ask(asked: list[snmp.Target]) -> list[storage_agent.Storage]:
    host = LiveHost()
    return storage_agent.in_parallel(
        lambda target: storage_agent.identify_agent(host, target), asked, AT_ONCE
    )


@pytest.mark.parametrize("credentials", CREDENTIALS, ids=["v2c", "v3"])
def test_all_answer_beside_silent_agents(every_address, credentials):
    """A silent agent gets no more requests than one that is asked alone, and holds up nobody."""
    targets = [snmp.Target(address, every_address, credentials, 2, 1) for address in ADDRESSES]
    with agents.relay(change=lambda _reply: None) as alone:
        ask([targets[0]._replace(port=alone.port, address="127.0.0.1")])
    silent = range(0, AGENTS, AGENTS // SILENT)
    with agents.relay(change=lambda _reply: None) as dead:
        for number in silent:
            targets[number] = targets[number]._replace(port=dead.port, address="127.0.0.1")
        results = ask(targets)
    answered = [number for number, storage in enumerate(results) if storage.outcome == "other"]
    assert answered == [number for number in range(AGENTS) if number not in silent]
    assert {results[number].reason for number in silent} == {"timeout"}
    assert SILENT <= len(dead.requests) <= SILENT * len(alone.requests)


@pytest.mark.parametrize("credentials", CREDENTIALS, ids=["v2c", "v3"])
def test_objects_are_asked_for_together(snmpd, credentials):
    """Less than half of the runs of the tool that one snmpget for each object needs."""
    host = LiveHost()
    storage_agent.identify_agent(host, snmp.Target("127.0.0.1", snmpd, credentials, 2, 1))
    runs = [reading["argv"] for reading in host.evidence.values()]
    objects = [
        len(argv) - next(at for at, word in enumerate(argv) if word.startswith("udp:")) - 1
        for argv in runs
        if argv[0] == snmp.GET
    ]
    others = len(runs) - len(objects)
    assert 0 < 2 * len(runs) < sum(objects) + others


def test_no_more_than_the_limit_at_a_time():
    """Every request waits until the limit is reached: a larger number would be seen."""
    count, reached = threading.Lock(), threading.Barrier(4)
    now, most = 0, 0

    def look(number: int) -> int:
        nonlocal now, most
        with count:
            now += 1
            most = max(most, now)
        reached.wait(timeout=60)
        with count:
            now -= 1
        return number

    assert storage_agent.in_parallel(look, list(range(12)), 4) == list(range(12))
    assert most == 4
