"""Sizes of requests and responses, from the counters of live connections between two namespaces."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.controls.latency.measurement import sqlnet_sizes
from ansible.module_utils.hostproof.parsers.net import socket_info
from cases import cases
from packs import FIXTURES

ROOT = Path(__file__).resolve().parents[3]
PORT = 1521

#: A server here and a client in a network namespace of its own, with a cable of 1500 bytes between
#: them. The client sends requests of known sizes while this end, or that of the client, is read.
STORY = r"""
import json, os, socket, subprocess, sys, threading, time
sys.path.insert(0, sys.argv[1])
from hostproof.collect.host import LiveHost
from hostproof.controls.latency.measurement import sqlnet_sizes
request, response, seconds = [int(one) for one in sys.argv[2:5]]
CLIENT = '''
import socket, sys, time
request, response = int(sys.argv[1]), int(sys.argv[2])
stream = socket.create_connection(("10.77.0.1", 1521))
stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
def exchange():
    stream.sendall(b"q" * request)
    left = response
    while left:
        left -= len(stream.recv(left))
exchange()
print("ready", flush=True)
end = time.time() + float(sys.argv[3])
while time.time() < end:
    exchange()
    time.sleep(0.001)
'''

def serve(stream):
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    left = request
    while True:
        piece = stream.recv(left)
        if not piece:
            return
        left -= len(piece)
        if not left:
            stream.sendall(b"r" * response)
            left = request

def ip(*words):
    subprocess.run(["ip", *words], check=True)

holder = subprocess.Popen(["unshare", "--net", "sleep", "60"])
while os.readlink(f"/proc/{holder.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
    time.sleep(0.01)
inside = ["nsenter", f"--net=/proc/{holder.pid}/ns/net"]
ip("link", "set", "lo", "up")
ip("link", "add", "here", "type", "veth", "peer", "name", "there")
ip("link", "set", "there", "netns", str(holder.pid))
ip("addr", "add", "10.77.0.1/24", "dev", "here")
ip("link", "set", "here", "up")
subprocess.run([*inside, "ip", "addr", "add", "10.77.0.2/24", "dev", "there"], check=True)
subprocess.run([*inside, "ip", "link", "set", "there", "up"], check=True)
listener = socket.create_server(("10.77.0.1", 1521))
threading.Thread(target=lambda: [threading.Thread(target=serve, args=listener.accept()[:1],
    daemon=True).start() for _ in iter(int, 1)], daemon=True).start()
command = [sys.executable, "-c", CLIENT, str(request), str(response), str(seconds + 20)]
clients = [subprocess.Popen(inside + command, stdout=subprocess.PIPE) for _ in range(2)]
for client in clients:
    client.stdout.readline()
try:
    told = sqlnet_sizes.measure(LiveHost(), 1521, seconds)._asdict()
except Exception as problem:
    told = str(problem)
from hostproof.controls.latency.measurement import measuring, responder
from hostproof.latency.probe_list import check_probes
other = responder.start(responder.Settings("10.77.0.1", 0, ["10.77.0.1/32"], 20, 2, 10000000))
item = {"probe": "tcp", "host": "10.77.0.1", "port": other.port, "mode": "request_response"}
probed = measuring.measure_here(check_probes([dict(item, payload="auto")]), 2)
responder.stop(other)
script = "import json, sys; sys.path.insert(0, sys.argv[1])\n" \
    "from hostproof.collect.host import LiveHost\n" \
    "from hostproof.controls.latency.measurement import sqlnet_sizes\n" \
    "print(json.dumps(sqlnet_sizes.measure(LiveHost(), 1521, 1)._asdict()))"
there = subprocess.run(inside + [sys.executable, "-c", script, sys.argv[1]], capture_output=True)
print(json.dumps({"server": told, "client": json.loads(there.stdout or "null"),
    "probed": [[one.size, one.conditions["reply_size"], one.conditions["payload_port"]]
        for one in probed.windows], "remarks": probed.remarks}))
for one in [*clients, holder]:
    one.kill()
"""


def exchange(request, response, seconds=1):
    """What both ends tell of a traffic of these sizes."""
    for tool in ("unshare", "ip", "ss", "nsenter"):
        if shutil.which(tool) is None:
            pytest.skip(f"there is no {tool}(8)")
    spaces = ["unshare", "--user", "--map-root-user", "--net"]
    arguments = [str(ROOT / "module_utils"), str(request), str(response), str(seconds)]
    command = [*spaces, sys.executable, "-c", STORY, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode and ("unshare:" in done.stderr or "Operation not permitted" in done.stderr):
        pytest.skip(f"no such namespaces are to be had here: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.long
@cases("request_size response_size", (80, 110), (80, 20000), (30000, 90), (700, 1400))
def test_both_ends_tell_what_was_sent(request_size, response_size):
    """Within 5 % of what was sent, with a response or a request of many segments too."""
    report = exchange(request_size, response_size)
    for end in ("server", "client"):
        sizes = report[end]
        assert sizes["request_bytes"] == pytest.approx(request_size, rel=0.05), end
        assert sizes["response_bytes"] == pytest.approx(response_size, rel=0.05), end
        assert sizes["connections"] == 2
        assert sizes["requests"] >= sqlnet_sizes.FEWEST
        assert 0 < sizes["least_rtt_ms"] <= sizes["rtt_ms"]
    # payload: auto exchanges what it sees with a responder.
    assert report["probed"], report["remarks"]
    for request, response, port in report["probed"]:
        assert request == pytest.approx(request_size, rel=0.05)
        assert response == pytest.approx(response_size, rel=0.05)
        assert port == PORT


@pytest.mark.long
def test_long_requests_with_long_responses_are_unknown():
    report = exchange(9000, 9000)
    assert "2 connections have requests and responses of several segments" in report["server"]
    assert not report["probed"]
    assert "requests and responses of several segments" in report["remarks"][0]


def connection(**counters):
    """A connection of a server whose requests are counted; the session has port 50000."""
    made = socket_info.Connection(
        "ESTAB", "10.0.0.1", PORT, "10.0.0.2", 50000, 0, 0.5, 0.2, 0, None, 0, None, 0, 0, 0, 1448
    )
    return made._replace(**counters)


START = connection(bytes_acked=1000, bytes_received=2000, data_sent=10, data_received=10)
DONE = connection(bytes_acked=12000, bytes_received=10000, data_sent=110, data_received=110)


def between(first, second):
    return sqlnet_sizes.between(first, second, PORT, 2.0)


def test_the_server_receives_requests_and_the_client_sends_them():
    served = between([START], [DONE])
    assert (served.requests, served.request_bytes, served.response_bytes) == (100, 80.0, 110.0)
    ends = {"local_port": 50000, "peer_port": PORT}
    sent = between([START._replace(**ends)], [DONE._replace(**ends)])
    assert (sent.requests, sent.request_bytes, sent.response_bytes) == (100, 110.0, 80.0)


def test_a_connection_within_the_host_counts_once():
    other = {"local": "10.0.0.2", "peer": "10.0.0.1", "local_port": 50000, "peer_port": PORT}
    both = [[snapshot, snapshot._replace(**other)] for snapshot in (START, DONE)]
    assert between(*both) == between([START], [DONE])


def test_segments_that_were_sent_again_are_no_responses():
    again = between([START], [DONE._replace(data_sent=115, retransmitted=5, data_received=115)])
    assert (again.requests, again.response_bytes, again.retransmitted) == (100, 110.0, 5)


def test_what_began_or_ended_does_not_count():
    gone, new = START._replace(peer_port=50001), DONE._replace(peer_port=50002)
    sizes = between([START, gone], [DONE, new])
    assert (sizes.connections, sizes.changed, sizes.requests) == (1, 2, 100)


@cases("second", [], [START], [connection(data_sent=1, bytes_acked=1)])
def test_too_little_traffic_tells_no_size(second):
    with pytest.raises(sqlnet_sizes.TooFew, match="20 are needed"):
        between([START], second)


def test_no_connection_is_too_little():
    with pytest.raises(sqlnet_sizes.TooFew, match="no connection uses port 1521"):
        between([], [])


def test_a_kernel_that_does_not_count_is_unknown():
    silent = START._replace(bytes_acked=None, data_sent=None, data_received=None)
    with pytest.raises(ValueError, match="does not show segments") as problem:
        between([silent], [silent])
    assert not isinstance(problem.value, sqlnet_sizes.TooFew)


def test_reads_and_writes_of_real_mounts_are_not_told_apart():
    """NFS mixes long requests with long responses on its connections."""
    first, second = [
        socket_info.parse((FIXTURES / f"socket_info/linux-6.1-load-{number}.txt").read_text())
        for number in (1, 2)
    ]
    with pytest.raises(ValueError, match="6 connections have requests and responses of several"):
        sqlnet_sizes.between(first, second, 2049, 9.8)
