"""What the kernel tells of a connection, by how much it tells."""

import socket
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.controls.latency.parsers import tcp_info
from ansible.module_utils.hostproof.errors import ParseError
from cases import cases

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures/tcp_info"
REAL = bytes.fromhex((FIXTURES / "linux-6.18-loopback.hex").read_text())


def test_a_real_one() -> None:
    # What ss printed of the same connection: rtt:0.03/0.017 ... minrtt:0.009
    assert tcp_info.parse(REAL) == tcp_info.TcpInfo(rtt=30, retransmissions=0, min_rtt=9)


def test_kernels_before_the_least_round_trip() -> None:
    assert tcp_info.parse(REAL[:104]).min_rtt is None
    assert tcp_info.parse(REAL[:148]).min_rtt is None


def test_nothing_measured_yet() -> None:
    data = REAL[:148] + b"\xff" * 4 + REAL[152:]
    assert tcp_info.parse(data).min_rtt is None


@cases("length", 0, 68, 103)
def test_too_short(length: int) -> None:
    with pytest.raises(ParseError, match="not 104"):
        tcp_info.parse(REAL[:length])


def test_the_kernel_of_this_host() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as stream,
    ):
        if not hasattr(socket, "TCP_INFO"):
            pytest.skip("this system has no TCP_INFO")
        info = tcp_info.parse(stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, tcp_info.ROOM))
    assert 0 < info.rtt < 1000000
    assert info.retransmissions == 0
