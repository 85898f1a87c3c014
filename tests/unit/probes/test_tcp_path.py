"""The way of real connections on loopback, and what is left out where it is not certain."""

import os
import socket
import struct
import sys
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.controls.latency.measurement import tcp_latency
from ansible.module_utils.hostproof.controls.latency.parsers import rtnetlink
from ansible.module_utils.hostproof.controls.latency.probes import tcp_path
from cases import cases
from latency_server import SETTINGS, pace, responder
from listener_home import OracleHome

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the path")
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures/rtnetlink"


@pytest.fixture(params=["127.0.0.1", "::1"])
def stream(request):
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    try:
        listener = socket.create_server((request.param, 0), family=family)
    except OSError:
        pytest.skip(f"this machine has no {request.param}")
    with listener, socket.create_connection(listener.getsockname()[:2]) as client:
        yield client


def new_enough() -> bool:
    return tuple(int(part) for part in os.uname().release.split(".")[:2]) >= (4, 13)


@needs_linux
def test_loopback(stream):
    path = tcp_path.of(stream)
    assert path["source_address"] == stream.getsockname()[0]
    # What an IPv4 packet can hold is a byte less than the interface's 65536.
    assert path["mtu"] in (int(Path("/sys/class/net/lo/mtu").read_text()), 65535)
    assert 0 < path["mss"] < path["mtu"]
    if new_enough():
        assert (path["interface"], path["route"]) == ("lo", "this host")


def answers(monkeypatch, name: str) -> None:
    """What the kernel of the recordings said, whatever is asked."""

    def recorded(_kernel, _flow, sequence, as_it_stands):
        text = (FIXTURES / f"{name}-{'entry' if as_it_stands else 'taken'}.hex").read_text()
        return rtnetlink.parse(bytes.fromhex(text), sequence)

    monkeypatch.setattr(tcp_path, "_ask", recorded)
    monkeypatch.setattr(socket, "if_indextoname", {2: "e0", 3: "e1"}.__getitem__)


@needs_linux
@cases(
    "name route",
    ("on-link", "on link"),
    ("gateway", "via 192.0.2.2"),
    ("gateway-ipv6", "via 2001:db8::2"),
)
@pytest.mark.usefixtures("a_new_kernel")
def test_the_way_in_words(stream, monkeypatch, name, route):
    answers(monkeypatch, name)
    path = tcp_path.of(stream)
    assert (path["interface"], path["route"]) == ("e0", route)


def without_route(stream) -> bool:
    path = tcp_path.of(stream)
    assert {"source_address", "mtu", "mss"} <= set(path)
    return not {"interface", "route"} & set(path)


@pytest.fixture
def a_new_kernel(monkeypatch):
    real = os.uname()
    monkeypatch.setattr(os, "uname", lambda: os.uname_result((*real[:2], "6.1.0", *real[3:])))


@needs_linux
@pytest.mark.usefixtures("a_new_kernel")
@cases("name", "several-ways", "several-ways-ipv6")
def test_of_several_ways_none_is_told(stream, monkeypatch, name):
    answers(monkeypatch, name)
    assert without_route(stream)


@needs_linux
def test_a_kernel_that_does_not_tell_all_ways(stream, monkeypatch):
    real = os.uname()
    release = "3.10.0-1160.el7.x86_64"
    monkeypatch.setattr(os, "uname", lambda: os.uname_result((*real[:2], release, *real[3:])))
    monkeypatch.setattr(tcp_path, "_ask", lambda *_: pytest.fail("it was asked"))
    assert without_route(stream)


@needs_linux
@pytest.mark.usefixtures("a_new_kernel")
def test_a_kernel_that_does_not_answer(stream, monkeypatch):
    def refused(*_):
        raise PermissionError

    monkeypatch.setattr(tcp_path, "_ask", refused)
    assert without_route(stream)


class Marked:
    """A connection that the kernel marked as container networks do: with all 32 bits."""

    def __init__(self, stream):
        self._stream = stream

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def getsockopt(self, level, name, *length):
        if (level, name) == (socket.SOL_SOCKET, tcp_path._SO_MARK):
            return -(2**31)
        return self._stream.getsockopt(level, name, *length)


@needs_linux
@pytest.mark.usefixtures("a_new_kernel")
def test_a_mark_of_32_bits(stream, monkeypatch):
    marks = []

    def ask(_kernel, flow, sequence, as_it_stands):
        marks.append(flow.mark)
        rtnetlink.request(flow, sequence, as_it_stands)

    monkeypatch.setattr(tcp_path, "_ask", ask)
    assert without_route(Marked(stream))
    assert marks == [2**31] * 2


@needs_linux
@pytest.mark.usefixtures("a_new_kernel")
def test_what_the_question_can_not_hold_costs_no_measurement(stream, monkeypatch):
    def wrong(*_):
        raise struct.error

    monkeypatch.setattr(tcp_path, "_ask", wrong)
    assert without_route(stream)


def test_another_system(stream, monkeypatch):
    monkeypatch.setattr(sys, "platform", "aix")
    assert tcp_path.of(stream) == {}


@needs_linux
def test_every_mode_keeps_it_in_its_windows(tmp_path):
    runs = []
    with responder(SETTINGS._replace(connections=2)) as server:
        target = tcp_latency.resolve("127.0.0.1", server.port)
        runs.append(tcp_latency.request_response(target, 12, 4, pace(5)))
        runs.append(tcp_latency.handshake(target, pace(2)))
    home = OracleHome(tmp_path / "home")
    with home.running():
        target = tcp_latency.resolve("127.0.0.1", home.port)
        runs.append(tcp_latency.tns_pings(target, pace(2)))
    for series in runs:
        for window in tcp_latency.windows(target, series):
            assert window.conditions["source_address"] == "127.0.0.1"
            assert window.conditions["mtu"] > 0
            assert window.conditions["peer"] == "127.0.0.1"
