"""Multicast and broadcast packets between two nodes on a switch, which is a bridge of Linux.

    node1 192.0.2.1 ── switch ── 192.0.2.2 node2

A port of the switch can drop multicast or broadcast packets: a filter of groups does the same.
"""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from default_policies import changed_policy

ROOT = Path(__file__).resolve().parents[2]
ADDRESSES = {"node1": "192.0.2.1", "node2": "192.0.2.2"}
PEERS = [{"address": address} for address in ADDRESSES.values()]

JUDGE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from hostproof.evaluate import audit
from hostproof.collect.host import LiveHost
findings = audit.judge_host(LiveHost(), {"interconnect": json.loads(sys.argv[2])})
print(json.dumps({
    finding.title.partition(":")[0]: [finding.status, finding.why, finding.in_use]
    for finding in findings if finding.check == "interconnect.multicast"
}))
"""


class Switched:
    def __init__(self) -> None:
        self.names = {name: f"hp{os.getpid()}-{name}" for name in ("switch", *ADDRESSES)}

    def ip(self, name: str, *words: str) -> None:
        self.run(["ip", "-n", self.names[name], *words])

    def run(self, command: list[str]) -> None:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"

    def lay(self) -> None:
        self.ip("switch", "link", "add", "br0", "type", "bridge", "mcast_snooping", "0")
        self.ip("switch", "link", "set", "br0", "up")
        for name, address in ADDRESSES.items():
            ends = ("eth1", "type", "veth", "peer", "name", name, "netns", self.names["switch"])
            self.ip(name, "link", "add", *ends)
            self.ip(name, "address", "add", f"{address}/24", "brd", "+", "dev", "eth1")
            self.ip(name, "link", "set", "eth1", "up")
            self.ip("switch", "link", "set", name, "master", "br0", "up")

    def drop(self, kind: str, port: str) -> None:
        """``kind`` is "mcast_flood" or "bcast_flood"."""
        bridge = ["ip", "netns", "exec", self.names["switch"], "bridge", "link", "set"]
        self.run([*bridge, "dev", port, kind, "off"])

    def introduce(self) -> None:
        """The nodes know each other's hardware addresses: ARP requests are broadcasts."""
        link = {name: self.hardware(name) for name in ADDRESSES}
        for name, other in (("node1", "node2"), ("node2", "node1")):
            neighbor = (ADDRESSES[other], "lladdr", link[other], "dev", "eth1")
            self.ip(name, "neigh", "replace", *neighbor, "nud", "permanent")

    def hardware(self, name: str) -> str:
        command = ["ip", "-n", self.names[name], "-j", "link", "show", "eth1"]
        shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        return str(json.loads(shown.stdout)[0]["address"])

    def judge(self, *nodes: str, **changes: Any) -> dict[str, dict[str, list[str]]]:
        """Status, reason and what is in use for each peer, audited on these nodes at one time."""
        values = {"interfaces": ["eth1"], "peers": PEERS, "multicast_seconds": 4, **changes}
        policy = json.dumps({**changed_policy("interconnect", **values), "window_seconds": 0})
        program = [sys.executable, "-c", JUDGE, str(ROOT / "module_utils"), policy]
        audits = {
            name: subprocess.Popen(
                ["ip", "netns", "exec", self.names[name], *program],
                stdout=subprocess.PIPE,
                text=True,
            )
            for name in nodes
        }
        return {
            name: json.loads(audit.communicate(timeout=120)[0]) for name, audit in audits.items()
        }


@contextlib.contextmanager
def switched() -> Iterator[Switched]:
    if os.geteuid() != 0:
        pytest.skip("only root makes network namespaces")
    network = Switched()
    made = []
    try:
        for name in network.names.values():
            network.run(["ip", "netns", "add", name])
            made.append(name)
        network.lay()
        # A port of a bridge forwards when its link is up.
        time.sleep(1)
        yield network
    finally:
        for name in made:
            network.run(["ip", "netns", "del", name])


def test_both_nodes_hear_each_other() -> None:
    with switched() as network:
        results = network.judge("node1", "node2")
    for name, other in (("node1", "192.0.2.2"), ("node2", "192.0.2.1")):
        own = results[name].pop(ADDRESSES[name])
        assert own[:2] == ["skip", "It is an address of this host."]
        assert results[name][other][0] == "pass", results
        assert "224.0.0.251" in results[name][other][2]


@pytest.mark.parametrize(
    ("kind", "what"), [("mcast_flood", "224.0.0.251"), ("bcast_flood", "broadcast")]
)
def test_a_switch_that_drops_one_kind_fails_where_it_does_not_arrive(kind: str, what: str) -> None:
    with switched() as network:
        network.introduce()
        network.drop(kind, "node2")
        results = network.judge("node1", "node2")
    assert results["node1"]["192.0.2.2"][0] == "pass", results
    status, why, _in_use = results["node2"]["192.0.2.1"]
    assert status == "fail", results
    assert f"No packet to {what} came" in why


def test_a_node_that_is_not_audited_is_unknown() -> None:
    with switched() as network:
        status, why, _in_use = network.judge("node1", multicast_seconds=2)["node1"]["192.0.2.2"]
    assert status == "error"
    assert "audit all nodes in one run" in why


def test_nothing_is_sent_without_seconds() -> None:
    with switched() as network:
        results = network.judge("node1", multicast_seconds=0)["node1"]
    assert {status for status, _why, _in_use in results.values()} == {"skip"}
