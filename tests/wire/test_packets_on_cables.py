"""Packets of a whole MTU on real cables: two nodes and a router between, in network namespaces.

    node 192.0.2.1 ── 192.0.2.254 router 198.51.100.254 ── 198.51.100.2 peer

Each end of each cable has an MTU of its own: a veth loses what is longer, as a switch port does.
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
from ansible.module_utils.hostproof.probes.net.whole_packets import ProbeRoute
from default_policies import changed_policy

ROOT = Path(__file__).resolve().parents[2]
NODE, GATE, FAR_GATE, PEER = "192.0.2.1", "192.0.2.254", "198.51.100.254", "198.51.100.2"
LIMITS = (9000, 9000, 9000, 9000)

LOOK = """
import json, sys
sys.path.insert(0, sys.argv[1])
from hostproof.collect.answer import known
from hostproof.errors import HostproofError
from hostproof.collect.host import LiveHost
from hostproof.probes.net import whole_packets
found = whole_packets.probe_routes(LiveHost(), json.loads(sys.argv[2]))
print(json.dumps({
    address: str(way) if isinstance(way, HostproofError) else way._asdict()
    for address, way in found.items()
}))
"""


JUDGE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from hostproof.evaluate import audit
from hostproof.collect.host import LiveHost
found = audit.judge_host(LiveHost(), {"interconnect": json.loads(sys.argv[2])})
print(json.dumps({one.check.split(".")[1]: [one.status, one.why] for one in found}))
"""

#: Datagrams of 32 KiB, which are many fragments, and small ones to a socket that nobody reads, and
#: some whose sender the node would answer over another device: 50 a second until it is ended.
SEND = """
import socket, sys, time
node, other = sys.argv[1:]
plain, strange = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
strange.bind((other, 0))
print("sending", flush=True)
while True:
    plain.sendto(bytes(32768), (node, 7001))
    plain.sendto(bytes(1024), (node, 7002))
    strange.sendto(b"", (node, 7003))
    time.sleep(0.02)
"""
#: Its buffer is full after a few of them.
IGNORE = """
import socket, sys, time
ignored = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ignored.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2304)
ignored.bind((sys.argv[1], 7002))
print("ignoring", flush=True)
time.sleep(600)
"""


def ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"


class Cables:
    """Three namespaces, by the names of what stands in them."""

    def __init__(self) -> None:
        self.names = {name: f"hp{os.getpid()}-{name}" for name in ("node", "router", "peer")}

    def within(self, name: str, *command: str) -> str:
        whole = ["ip", "netns", "exec", self.names[name], *command]
        done = subprocess.run(whole, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ip(self, name: str, *words: str) -> None:
        ip("-n", self.names[name], *words)

    def lay(self, limits: tuple[int, int, int, int]) -> None:
        """``limits`` are the MTUs of node, router, router and peer."""
        ends = (
            ("node", "eth1", f"{NODE}/24"),
            ("router", "near", f"{GATE}/24"),
            ("router", "far", f"{FAR_GATE}/24"),
            ("peer", "eth1", f"{PEER}/24"),
        )
        router = self.names["router"]
        for name, other in (("node", "near"), ("peer", "far")):
            cable = ("eth1", "type", "veth", "peer", "name", other, "netns", router)
            self.ip(name, "link", "add", *cable)
        for (name, device, address), limit in zip(ends, limits, strict=True):
            self.ip(name, "address", "add", address, "dev", device)
            self.ip(name, "link", "set", device, "mtu", str(limit), "up")
        self.ip("node", "route", "add", "default", "via", GATE)
        self.ip("peer", "route", "add", "default", "via", FAR_GATE)
        self.within("router", "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")

    @contextlib.contextmanager
    def beside(self, name: str, *program: str) -> Iterator[None]:
        """A program of Python that runs meanwhile; it says a word when it has begun."""
        command = ["ip", "netns", "exec", self.names[name], sys.executable, "-c", *program]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert running.stdout is not None
            assert running.stdout.readline()
            yield
        finally:
            running.kill()
            running.communicate(timeout=60)

    def judge(self, window: float, **changes: Any) -> dict[str, list[str]]:
        """Status and reason of each check, on the node, whose eth1 is the interconnect."""
        policy = changed_policy("interconnect", **{"interfaces": ["eth1"], **changes})
        policy_text = json.dumps({**policy, "window_seconds": window})
        output = self.within(
            "node", sys.executable, "-c", JUDGE, str(ROOT / "module_utils"), policy_text
        )
        verdicts: dict[str, list[str]] = json.loads(output)
        return verdicts

    def wait_for_addresses(self, name: str) -> None:
        """Until the kernel has seen that nobody else has them."""
        until = time.monotonic() + 60
        while self.within(name, "ip", "-6", "address", "show", "tentative"):
            assert time.monotonic() < until
            time.sleep(0.1)

    def look(self, name: str, sizes: dict[str, int]) -> dict[str, Any]:
        output = self.within(
            name, sys.executable, "-c", LOOK, str(ROOT / "module_utils"), json.dumps(sizes)
        )
        ways: dict[str, Any] = json.loads(output)
        return {
            address: way if isinstance(way, str) else ProbeRoute(**way)
            for address, way in ways.items()
        }


@contextlib.contextmanager
def laid(limits: tuple[int, int, int, int] = LIMITS) -> Iterator[Cables]:
    cables = Cables()
    if os.geteuid() != 0:
        pytest.skip("only root makes network namespaces")
    made = []
    try:
        for name in cables.names.values():
            ip("netns", "add", name)
            made.append(name)
        cables.lay(limits)
        yield cables
    finally:
        for name in made:
            ip("netns", "del", name)


def test_9000_bytes_end_to_end_arrive_and_so_do_their_answers() -> None:
    with laid() as cables:
        assert cables.look("node", {PEER: 9000}) == {PEER: ProbeRoute(9000, True, 0, "", 0, 9000)}
        assert cables.look("peer", {NODE: 9000}) == {NODE: ProbeRoute(9000, True, 0, "", 0, 9000)}


def test_one_side_of_1500_loses_them_without_a_word() -> None:
    with laid((9000, 9000, 9000, 1500)) as cables:
        assert cables.look("node", {PEER: 9000}) == {PEER: ProbeRoute(9000, False, 0, "", 0, 1500)}
        # Its own device takes no more, so that 1500 is all that it can prove.
        assert cables.look("peer", {NODE: 1500}) == {NODE: ProbeRoute(1500, True, 0, "", 0, 1500)}


def test_a_router_with_1500_on_its_far_side_is_named() -> None:
    with laid((9000, 9000, 1500, 9000)) as cables:
        assert cables.look("node", {PEER: 9000}) == {
            PEER: ProbeRoute(9000, False, 0, GATE, 1500, 1500)
        }
        # From the peer the same cable loses them before anybody could refuse them.
        assert cables.look("peer", {NODE: 9000}) == {NODE: ProbeRoute(9000, False, 0, "", 0, 1500)}


def test_a_learned_mtu_hides_nothing() -> None:
    """The kernel knows of the smaller way from the first run, and the second one says so again."""
    with laid((9000, 9000, 1500, 9000)) as cables:
        first = cables.look("node", {PEER: 9000})
        assert cables.look("node", {PEER: 9000}) == first


def test_an_answer_that_comes_in_pieces_is_told() -> None:
    with laid() as cables:
        cables.ip("peer", "route", "replace", "default", "via", FAR_GATE, "mtu", "1500")
        (way,) = cables.look("node", {PEER: 9000}).values()
        assert way.passed
        assert 1400 < way.pieces <= 1500


def test_silence_is_told_beside_the_others() -> None:
    with laid() as cables:
        results = cables.look("node", {PEER: 9000, "198.51.100.77": 9000, "203.0.113.1": 9000})
        assert results.pop(PEER) == ProbeRoute(9000, True, 0, "", 0, 9000)
        assert all("answers no echo" in text for text in results.values())


def test_a_peer_that_ignores_echoes_is_silent() -> None:
    with laid() as cables:
        cables.within("peer", "sh", "-c", "echo 1 > /proc/sys/net/ipv4/icmp_echo_ignore_all")
        assert "answers no echo" in cables.look("node", {PEER: 9000})[PEER]


@pytest.mark.parametrize("limit", [9000, 1500])
def test_ipv6(limit: int) -> None:
    with laid((9000, 9000, limit, 9000)) as cables:
        cables.within("router", "sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/all/forwarding")
        for name, device, address in (
            ("node", "eth1", "2001:db8:1::1/64"),
            ("router", "near", "2001:db8:1::fe/64"),
            ("router", "far", "2001:db8:2::fe/64"),
            ("peer", "eth1", "2001:db8:2::2/64"),
        ):
            cables.ip(name, "address", "add", address, "dev", device, "nodad")
            cables.wait_for_addresses(name)
        cables.ip("node", "route", "add", "default", "via", "2001:db8:1::fe")
        cables.ip("peer", "route", "add", "default", "via", "2001:db8:2::fe")
        whole = ProbeRoute(9000, True, 0, "", 0, 9000)
        refused = ProbeRoute(9000, False, 0, "2001:db8:1::fe", 1500, 1500)
        expected = whole if limit == 9000 else refused
        assert cables.look("node", {"2001:db8:2::2": 9000}) == {"2001:db8:2::2": expected}


@pytest.mark.parametrize(
    ("limits", "status", "said"),
    [
        (LIMITS, "pass", ""),
        ((9000, 9000, 1500, 9000), "fail", f"rejected by {GATE} (MTU 1500)"),
        ((9000, 9000, 9000, 1500), "fail", "lost silently, those of 1500 arrive"),
        ((1500, 9000, 9000, 9000), "fail", "eth1 of this host has MTU 1500, required is 9000"),
    ],
)
def test_the_control_says_the_same(
    limits: tuple[int, int, int, int], status: str, said: str
) -> None:
    with laid(limits) as cables:
        verdicts = cables.judge(0, mtu=9000, peers=[{"address": PEER}])
    assert verdicts["end_to_end"][0] == status
    assert said.lower() in verdicts["end_to_end"][1].lower()


def test_what_is_lost_in_the_window_is_counted() -> None:
    """Fragments without memory, datagrams without a buffer, and what a strict filter drops."""
    stranger = "203.0.113.9"
    with laid() as cables:
        cables.ip("peer", "address", "add", f"{stranger}/32", "dev", "eth1")
        before = cables.judge(1)
        cables.ip("node", "link", "add", "else0", "type", "veth", "peer", "name", "else1")
        for device in ("else0", "else1"):
            cables.ip("node", "link", "set", device, "up")
        cables.ip("node", "route", "add", f"{stranger}/32", "dev", "else0")
        for key, value in (
            ("conf/eth1/rp_filter", 1),
            ("ipfrag_low_thresh", 4096),
            ("ipfrag_high_thresh", 8192),
        ):
            cables.within("node", "sh", "-c", f"echo {value} > /proc/sys/net/ipv4/{key}")
        with cables.beside("node", IGNORE, NODE), cables.beside("peer", SEND, NODE, stranger):
            verdicts = cables.judge(2)
            two = cables.judge(2, interfaces=["eth1", "else0"])
    checks = ("reassembly", "udp_buffers", "reverse_path")
    assert [before[name][0] for name in checks] == ["pass"] * 3
    # One interface may have a strict filter; with two of them it is a fault.
    assert [verdicts[name][0] for name in checks] == ["fail", "fail", "warn"]
    assert two["reverse_path"][0] == "fail"
    assert "packets were dropped" in two["reverse_path"][1]


CASES: dict[str, dict[str, Any]] = {
    "refused": {"packet_path": {"peers": [PEER], "mtu": 9000}},
    "passed": {"packet_path": {"peers": [PEER, GATE], "mtu": 1500}},
    "silent": {"packet_path": {"peers": ["198.51.100.77"]}},
    "not_sent": {"packet_path": {"peers": [PEER]}, "check_mode": True},
    "no_address": {"packet_path": {"peers": ["db2"]}},
    "too_small": {"packet_path": {"peers": [PEER], "mtu": 1}},
}


def test_the_module_says_the_same(tmp_path: Path) -> None:
    tasks = [
        {**task, "register": name, "ignore_errors": True, "name": name}
        for name, task in CASES.items()
    ]
    content = "{{ {" + ", ".join(f"'{name}': {name}" for name in CASES) + "} | to_json }}"
    kept = {"copy": {"content": content, "dest": str(tmp_path / "told"), "mode": "0600"}}
    play = {"hosts": "localhost", "connection": "local", "gather_facts": False}
    (tmp_path / "play.yml").write_text(json.dumps([{**play, "tasks": [*tasks, kept]}]))
    command = [str(Path(sys.executable).with_name("ansible-playbook")), str(tmp_path / "play.yml")]
    with laid((9000, 9000, 1500, 9000)) as cables:
        cables.within("node", "env", "-C", str(ROOT), "ANSIBLE_CONFIG=ansible.cfg", *command)
    answers = json.loads((tmp_path / "told").read_text())
    way = {"address": PEER, **ProbeRoute(9000, False, 0, GATE, 1500, 1500)._asdict()}
    assert (answers["refused"]["passed"], answers["refused"]["ways"]) == (False, [way])
    assert answers["passed"]["passed"]
    assert not answers["silent"]["passed"]
    assert "answers no echo" in answers["silent"]["ways"][0]["error"]
    assert answers["not_sent"]["skipped"]
    assert "'db2' must be an IP address" in answers["no_address"]["msg"]
    assert "mtu must be from 576" in answers["too_small"]["msg"]
