"""The responder as the module starts it: whom it answers, how much, and that it ends."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.controls.latency.measurement import (
    responder as latency_responder,
)
from ansible.module_utils.hostproof.controls.latency.measurement.responder import (
    CannotRespond,
    Responder,
)
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.latency import hello as latency_hello
from cases import cases
from latency_server import SETTINGS, responder

HELLO = latency_hello.hello(12, 4)
MODULE_UTILS = Path(__file__).resolve().parents[3] / "module_utils"


def connect(one: Responder, source: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection((one.address, one.port), 5, (source, 0))


def everything(stream: socket.socket) -> bytes:
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := stream.recv(4096):
            data += piece
    return data


def test_answers_each_request() -> None:
    with responder() as server, connect(server) as stream:
        stream.sendall(HELLO)
        assert stream.recv(64) == latency_hello.WELCOME
        for pieces in ([b"x" * 12], [b"x" * 5, b"x" * 7]):
            for piece in pieces:
                stream.sendall(piece)
                time.sleep(0.01)
            assert len(stream.recv(64)) == 4


def test_outlives_the_process_that_started_it_in_a_session_of_its_own() -> None:
    with responder() as server:
        stat = Path(f"/proc/{server.pid}/stat").read_text().rsplit(")", 1)[1].split()
        assert int(stat[1]) != os.getpid()
        assert int(stat[3]) != os.getsid(0)
        names = {os.readlink(f"/proc/{server.pid}/fd/{n}") for n in ("0", "1", "2")}
        assert names == {"/dev/null"}
        assert os.readlink(f"/proc/{server.pid}/cwd") == "/"


def test_answers_nobody_else() -> None:
    with responder(SETTINGS._replace(clients=["127.0.0.9/32"])) as server:
        with connect(server) as stream:
            with contextlib.suppress(OSError):
                stream.sendall(HELLO)
            assert everything(stream) == b""
        with connect(server, "127.0.0.9") as stream:
            stream.sendall(HELLO)
            assert stream.recv(64) == latency_hello.WELCOME


@cases(
    "said",
    b"GET / HTTP/1.0\r\n\r\n",
    latency_hello.hello(latency_hello.LONGEST + 1, 4),
    latency_hello.hello(0, 4),
    latency_hello.hello(4, 0),
    HELLO[:7],
)
def test_answers_nothing_else(said: bytes) -> None:
    with responder() as server, connect(server) as stream:
        # It may have hung up at the first bytes.
        with contextlib.suppress(OSError):
            stream.sendall(said)
            stream.shutdown(socket.SHUT_WR)
        assert everything(stream) == b""
        with connect(server) as another:
            another.sendall(HELLO)
            assert another.recv(64) == latency_hello.WELCOME


def test_moves_no_more_bytes_than_it_may() -> None:
    with responder(SETTINGS._replace(most_bytes=40)) as server:
        with connect(server) as stream:
            stream.sendall(HELLO + b"x" * 12 * 9)
            assert everything(stream) == latency_hello.WELCOME + b"\xaa" * 8
        assert latency_responder.running(server.port)[0].moved == 32


def test_serves_no_more_clients_than_it_may() -> None:
    with responder(SETTINGS._replace(connections=1)) as server, connect(server) as first:
        first.sendall(HELLO)
        assert first.recv(64) == latency_hello.WELCOME
        with connect(server) as second:
            assert everything(second) == b""
        first.close()
        for _ in range(100):
            with connect(server) as third, contextlib.suppress(OSError):
                third.sendall(HELLO)
                if third.recv(64) == latency_hello.WELCOME:
                    return
            time.sleep(0.02)
        pytest.fail("the place of a client that left stays taken")


def test_ends_by_itself_even_with_a_client() -> None:
    server = latency_responder.start(SETTINGS._replace(seconds=1))
    with connect(server) as stream:
        stream.sendall(HELLO)
        assert stream.recv(64) == latency_hello.WELCOME
        # The kernel closes the connection with the process.
        assert everything(stream) == b""
    assert latency_responder.running(server.port) == []


def test_its_end_can_be_moved() -> None:
    with responder(SETTINGS._replace(seconds=30)) as server:
        assert 25 < server.ends_in <= 30
        assert 80 < latency_responder.extend(server.port, 90).ends_in <= 90


def test_is_found_and_ended() -> None:
    with responder() as server, responder() as another:
        servers = latency_responder.running()
        assert {server.port, another.port} <= {each.port for each in servers}
        latency_responder.stop(server)
        assert not latency_responder._runs(server.pid)
        assert latency_responder.running(server.port) == []
        assert latency_responder.running(another.port) != []


ORPHANED = """
import ctypes, os, sys
sys.path.insert(0, sys.argv[1])
from hostproof.controls.latency.measurement import responder as latency_responder
# PR_SET_CHILD_SUBREAPER: orphans come to this process, which waits for none of them, as the first
# process of a container that is no init.
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0
one = latency_responder.start(
    latency_responder.Settings("127.0.0.1", 0, ["127.0.0.1/32"], 20, 2, 1000000)
)
latency_responder.stop(one)
with open("/proc/{0}/status".format(one.pid)) as stream:
    print([line.split()[1] for line in stream if line.startswith("State:")][0])
"""


def test_one_that_nobody_waits_for_has_ended_too() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", ORPHANED, str(MODULE_UTILS)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (ran.stdout, ran.stderr) == ("Z\n", "")


def test_a_process_that_is_gone_or_not() -> None:
    assert latency_responder._runs(os.getpid())
    with subprocess.Popen(["true"]) as gone:
        pass
    assert not latency_responder._runs(gone.pid)


def test_a_port_in_use() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(CannotRespond, match="cannot listen on 127.0.0.1 port"),
    ):
        latency_responder.start(SETTINGS._replace(port=taken.getsockname()[1]))


def test_an_address_of_another_host() -> None:
    with pytest.raises(CannotRespond, match="cannot listen on 192.0.2.1 port 0"):
        latency_responder.start(SETTINGS._replace(address="192.0.2.1"))


def test_the_greeting_has_one_length() -> None:
    assert latency_hello.parse(latency_hello.hello(250, 4)) == (250, 4)
    with pytest.raises(ParseError, match="15 bytes, not 16"):
        latency_hello.parse(HELLO[:15])
