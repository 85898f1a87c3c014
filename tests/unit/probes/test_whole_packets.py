"""Echoes of a whole MTU: on a loopback device of their own, and records of them.

What routers and other ends do with them: tests/wire/test_packets_on_cables.py, which needs root.
"""

import json
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.errors import Denied, Unanswered
from ansible.module_utils.hostproof.probes.net import whole_packets
from cases import cases

ROOT = Path(__file__).resolve().parents[3]
HERE = "127.0.0.1"

STORY = """
import json, subprocess, sys
sys.path.insert(0, sys.argv[1])
from hostproof.collect.host import LiveHost
from hostproof.probes.net import whole_packets
subprocess.run(["ip", "link", "set", "lo", "mtu", "9000", "up"], check=True)

def look(size):
    host = LiveHost()
    (way,) = whole_packets.probe_routes(host, {"127.0.0.1": size}).values()
    return str(way) if isinstance(way, Exception) else way._asdict()

told = [look(9000), look(9001)]
with open("/proc/sys/net/ipv4/icmp_echo_ignore_all", "w") as stream:
    stream.write("1")
print(json.dumps([*told, look(9000)]))
"""


def test_a_device_of_9000_bytes_takes_as_many_and_no_more():
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("there is no unshare(1) or no ip(8)")
    spaces = ["unshare", "--user", "--map-root-user", "--net", "--mount"]
    command = [*spaces, sys.executable, "-c", STORY, str(ROOT / "module_utils")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and ("unshare:" in done.stderr or "Permission denied" in done.stderr):
        pytest.skip(f"no such namespaces are to be had here: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    whole, longer, silent = json.loads(done.stdout)
    came = {"size": 9000, "passed": True, "pieces": 0, "hop": "", "limit": 0, "arrives": 9000}
    assert whole == came
    assert longer == {**came, "size": 9001, "passed": False, "arrives": 1500}
    assert "answers no echo" in silent


def test_who_may_send_none_is_denied(monkeypatch):
    def refuse(*_arguments):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(socket, "socket", refuse)
    (way,) = whole_packets.probe_routes(LiveHost(), {HERE: 1500}).values()
    assert isinstance(way, Denied)


def record(**figures):
    values = {f"{HERE} {name}": value for name, value in figures.items()}
    reading = {"kind": "windows", "at": "", "windows": [], "remarks": [], "figures": values}
    return RecordedHost({whole_packets.KEY: reading})


GOOD = {"size": 9000, "passed": 1, "pieces": 0, "hop": "", "limit": 0, "arrives": 9000}


def test_a_record_gives_the_same():
    ways = whole_packets.probe_routes(record(**GOOD), {HERE: 9000})
    assert ways == {HERE: whole_packets.ProbeRoute(9000, True, 0, "", 0, 9000)}


@pytest.mark.parametrize("name", sorted(set(GOOD) - {"hop"}))
def test_a_record_that_lacks_a_number_is_no_answer(name):
    rest = {key: value for key, value in GOOD.items() if key != name}
    (way,) = whole_packets.probe_routes(record(**rest), {HERE: 9000}).values()
    assert isinstance(way, Unanswered)


def error(origin=2, kind=3, code=4, limit=1500, offender="c00002fe"):
    """struct sock_extended_err and a sockaddr_in (include/uapi/linux/errqueue.h)."""
    head = struct.pack("=IBBBxII", 90, origin, kind, code, limit, 0)
    return head + struct.pack("=HH", socket.AF_INET, 0) + bytes.fromhex(offender) + bytes(8)


def test_who_refuses_a_packet_is_read_from_the_error():
    assert whole_packets.refusal(error(), False) == ("192.0.2.254", 1500)
    assert whole_packets.refusal(error(limit=0), False) == ("192.0.2.254", 0)


def test_nobody_takes_more_than_a_packet_can_have():
    assert whole_packets.refusal(error(limit=0xFFFFFFFF), False) == ("192.0.2.254", 65535)


@cases("other", {"origin": 1}, {"kind": 3, "code": 1}, {"kind": 11, "code": 0}, {"origin": 0})
def test_other_errors_are_no_refusals(other):
    assert whole_packets.refusal(error(**other), False) is None


@pytest.mark.parametrize("length", range(24))
def test_an_error_that_was_cut_is_none(length):
    assert whole_packets.refusal(error()[:length], False) is None
    assert whole_packets.refusal(error(kind=2, code=0)[:length], True) is None
