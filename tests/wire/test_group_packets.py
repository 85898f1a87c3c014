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
#: The same list on all nodes, with their addresses in a second network.
BOTH = [*PEERS, {"address": "198.51.100.1"}, {"address": "198.51.100.2"}]

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
            self.connect(name, "eth1", f"{address}/24")

    def connect(self, name: str, device: str, address: str) -> None:
        """The port of the switch is named for the node and its device."""
        port = f"{name}-{device}"
        ends = (device, "type", "veth", "peer", "name", port, "netns", self.names["switch"])
        self.ip(name, "link", "add", *ends)
        self.ip(name, "address", "add", address, "brd", "+", "dev", device)
        self.ip(name, "link", "set", device, "up")
        self.ip("switch", "link", "set", port, "master", "br0", "up")

    def drop(self, kind: str, port: str) -> None:
        """``kind`` is "mcast_flood" or "bcast_flood"."""
        bridge = ["ip", "netns", "exec", self.names["switch"], "bridge", "link", "set"]
        self.run([*bridge, "dev", port, kind, "off"])

    def introduce(self, device: str = "eth1", network: str = "192.0.2.") -> None:
        """The nodes know each other's hardware addresses: ARP requests are broadcasts."""
        link = {name: self.hardware(name, device) for name in ADDRESSES}
        for name, other in (("node1", "node2"), ("node2", "node1")):
            neighbor = (network + other[-1], "lladdr", link[other], "dev", device)
            self.ip(name, "neigh", "replace", *neighbor, "nud", "permanent")

    def hardware(self, name: str, device: str) -> str:
        command = ["ip", "-n", self.names[name], "-j", "link", "show", device]
        shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        return str(json.loads(shown.stdout)[0]["address"])

    def start(self, node: str, **changes: Any) -> subprocess.Popen[str]:
        """An audit of the node that has begun."""
        values = {"interfaces": ["eth1"], "peers": PEERS, "multicast_seconds": 4, **changes}
        policy = json.dumps({**changed_policy("interconnect", **values), "window_seconds": 0})
        program = [sys.executable, "-c", JUDGE, str(ROOT / "module_utils"), policy]
        command = ["ip", "netns", "exec", self.names[node], *program]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def result(self, audit: subprocess.Popen[str]) -> dict[str, list[str]]:
        """Status, reason and what is in use for each peer."""
        results: dict[str, list[str]] = json.loads(audit.communicate(timeout=120)[0])
        return results

    def judge(self, *nodes: str, **changes: Any) -> dict[str, dict[str, list[str]]]:
        """The results of these nodes, audited at one time."""
        audits = {name: self.start(name, **changes) for name in nodes}
        return {name: self.result(audit) for name, audit in audits.items()}


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
    ("kind", "what"), [("mcast_flood", "224.0.0.251"), ("bcast_flood", "the broadcast address")]
)
def test_a_switch_that_drops_one_kind_fails_where_it_does_not_arrive(kind: str, what: str) -> None:
    with switched() as network:
        network.introduce()
        network.drop(kind, "node2-eth1")
        results = network.judge("node1", "node2")
    assert results["node1"]["192.0.2.2"][0] == "pass", results
    status, why, _in_use = results["node2"]["192.0.2.1"]
    assert status == "fail", results
    assert f"0 packets to {what} arrived" in why


def test_a_node_that_is_not_audited_is_unknown() -> None:
    with switched() as network:
        status, why, _in_use = network.judge("node1", multicast_seconds=2)["node1"]["192.0.2.2"]
    assert status == "error"
    assert "audit all nodes in one run" in why


def test_nothing_is_sent_without_seconds() -> None:
    """A node that listens hears nothing of one that does not send."""
    with switched() as network:
        silent = network.start("node2", multicast_seconds=0)
        status, why, _in_use = network.judge("node1")["node1"]["192.0.2.2"]
        results = network.result(silent)
    assert (status, "only 0 packets" in why) == ("error", True)
    assert {status for status, _why, _in_use in results.values()} == {"skip"}


def test_two_addresses_of_an_interface_are_two_networks() -> None:
    with switched() as network:
        for name, number in (("node1", 1), ("node2", 2)):
            network.ip(name, "address", "add", f"198.51.100.{number}/24", "dev", "eth1")
        results = network.judge("node1", "node2", peers=BOTH)["node1"]
    assert {results["192.0.2.2"][0], results["198.51.100.2"][0]} == {"pass"}, results


def test_a_packet_on_another_interface_does_not_count() -> None:
    """Both private networks of a node are on one switch, and one of them gets no groups."""
    with switched() as network:
        for name, number in (("node1", 1), ("node2", 2)):
            network.connect(name, "eth2", f"198.51.100.{number}/24")
        network.introduce()
        network.introduce("eth2", "198.51.100.")
        network.drop("mcast_flood", "node2-eth2")
        two = ["eth1", "eth2"]
        results = network.judge("node1", "node2", interfaces=two, peers=BOTH)["node2"]
    assert results["192.0.2.1"][0] == "pass", results
    assert results["198.51.100.1"][0] == "fail", results


def test_a_second_network_that_is_down_on_the_other_node_is_unknown() -> None:
    with switched() as network:
        for name, number in (("node1", 1), ("node2", 2)):
            network.connect(name, "eth2", f"198.51.100.{number}/24")
        network.ip("switch", "link", "set", "node2-eth2", "down")
        two = ["eth1", "eth2"]
        results = network.judge("node1", "node2", interfaces=two, peers=BOTH)["node1"]
    assert results["192.0.2.2"][0] == "pass", results
    assert results["198.51.100.2"][0] == "error", results
