"""Pings against servers that say what the test wants, and against the listener's stand-in."""

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.parsers.oracle import tns_packet
from ansible.module_utils.hostproof.probes.oracle import tns_ping
from ansible.module_utils.hostproof.probes.oracle.tns_ping import Ping
from cases import cases
from listener_home import OracleHome, free_port, wait_for_new_second

ANSWER = b"(DESCRIPTION=(TMP=)(VSNNUM=0)(ERR=0)(ALIAS=LISTENER))"


def packet(kind: int, body: bytes) -> bytes:
    return struct.pack(">HHBBH", 8 + len(body), 0, kind, 0, 0) + body


REFUSE_0 = packet(4, b"\x22\0" + struct.pack(">H", len(ANSWER)) + ANSWER)
RESEND = packet(11, b"")
ACCEPT = packet(2, struct.pack(">HHHHHHHBB8x", 314, 0, 2048, 32767, 1, 0, 32, 4, 4))


def redirect_to(port: int) -> bytes:
    text = b"(ADDRESS=(PROTOCOL=tcp)(HOST=127.0.0.1)(PORT=%d))\0(CONNECT_DATA=(X=1))" % port
    return packet(5, struct.pack(">H", len(text)) + text)


@contextlib.contextmanager
def server(*says: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Says one thing after each thing that it hears, then closes; its port and what it heard."""
    heard: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            stream, _ = listener.accept()
            with stream:
                for data in says:
                    piece = stream.recv(4096)
                    if not piece:
                        break
                    heard.append(piece)
                    stream.sendall(data)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1], heard
    finally:
        listener.close()
        thread.join(5)


def ping(port: int, timeout: float = 5.0) -> Ping:
    return tns_ping.ping("127.0.0.1", port, timeout, time.monotonic())


def test_answered() -> None:
    with server(REFUSE_0) as (port, heard):
        result = ping(port)
    assert (result.outcome, result.error, result.alias) == ("answered", 0, "LISTENER")
    assert result.connected is not None
    assert result.connected <= result.seconds
    assert heard == [tns_packet.connect()]


def test_the_answer_may_come_in_pieces() -> None:
    def slowly(listener: socket.socket) -> None:
        stream, _ = listener.accept()
        with stream:
            stream.recv(4096)
            for at in range(0, len(REFUSE_0), 9):
                stream.sendall(REFUSE_0[at : at + 9])
                time.sleep(0.01)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=slowly, args=(listener,))
        thread.start()
        assert ping(listener.getsockname()[1]).outcome == "answered"
        thread.join()


def test_refused_with_another_number() -> None:
    text = b"(DESCRIPTION=(ERR=12528))"
    with server(packet(4, b"\x22\0" + struct.pack(">H", len(text)) + text)) as (port, _):
        result = ping(port)
    assert (result.outcome, result.error) == ("refused", 12528)


def test_accepted_counts_as_an_answer() -> None:
    with server(ACCEPT) as (port, _):
        result = ping(port)
    assert (result.outcome, result.said) == ("answered", "ACCEPT, protocol 314")


def test_asked_to_resend() -> None:
    with server(RESEND, REFUSE_0) as (port, heard):
        result = ping(port)
    assert (result.outcome, result.resends) == ("answered", 1)
    assert heard == [tns_packet.connect()] * 2


def test_asked_to_resend_for_ever() -> None:
    with server(*[RESEND] * 9) as (port, heard):
        result = ping(port)
    assert (result.outcome, result.resends, len(heard)) == ("refused", 2, 3)
    assert "again and again" in result.said


def test_redirected() -> None:
    with server(REFUSE_0) as (second, heard), server(redirect_to(second)) as (first, _):
        result = ping(first)
    assert (result.outcome, result.redirects) == ("answered", 1)
    assert heard == [tns_packet.connect("(CONNECT_DATA=(X=1))", tns_packet.AFTER_REDIRECT)]


def test_redirected_for_ever() -> None:
    port = free_port()
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            port, _ = stack.enter_context(server(redirect_to(port)))
        result = ping(port)
    assert (result.outcome, result.redirects) == ("refused", 2)


def test_redirected_to_where_nobody_listens() -> None:
    with server(redirect_to(free_port())) as (port, _):
        result = ping(port)
    assert (result.outcome, result.redirects) == ("closed", 1)


def test_closed_without_an_answer() -> None:
    with server(b"") as (port, _):
        assert ping(port).outcome == "closed"


def test_no_answer_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        began = time.monotonic()
        result = ping(listener.getsockname()[1], 0.3)
    assert result.outcome == "no_answer"
    assert time.monotonic() - began > 0.2


def test_nobody_listens() -> None:
    result = ping(free_port())
    assert (result.outcome, result.connected) == ("no_connection", None)
    assert result.said == "Connection refused"


@cases("said", b"HTTP/1.0 400 Bad Request\r\n\r\n", packet(12, b"\1\0\1"))
def test_something_else_listens(said: bytes) -> None:
    with server(said) as (port, _):
        assert ping(port).outcome == "not_tns"


def made(times: list[float], outcome: str = "answered") -> list[Ping]:
    return [Ping(outcome, 0.0, 0.001, at, 0, "LISTENER", 0, 0, "") for at in times]


def staircase(count: int, rate: int, jitter: Callable[[int], float] = lambda n: 0.0) -> list[float]:
    return [number // rate + jitter(number) for number in range(count)]


@cases("count", 15, 25, 50, 200)
@cases("rate", 2, 5, 10)
def test_the_drain_rate_of_a_limit_that_counts_by_the_second(count: int, rate: int) -> None:
    assert tns_ping.drain_rate(staircase(count, rate)) == pytest.approx(rate)
    late = staircase(count, rate, lambda number: number % rate * 0.01)
    assert tns_ping.drain_rate(late) == pytest.approx(rate, rel=0.1)


@cases("rate", 3, 10, 40)
def test_the_drain_rate_of_a_limit_that_counts_evenly(rate: int) -> None:
    times = [number / rate for number in range(50)]
    assert tns_ping.drain_rate(times) == pytest.approx(rate)


def test_without_a_delay_there_is_no_drain_rate() -> None:
    assert tns_ping.drain_rate([0.1 + n * 0.001 for n in range(50)]) is None
    assert tns_ping.drain_rate([1.0]) is None
    assert tns_ping.drain_rate([]) is None


def test_a_burst_that_was_delayed() -> None:
    burst = tns_ping.summarize(made(staircase(50, 10)), 10)
    assert (burst.verdict, burst.span, burst.longest) == ("delayed", 4.0, 4.0)
    assert burst.why == "50 pings were answered within 4.0 s, about 10.0 a second"


def test_a_burst_that_was_not_delayed() -> None:
    burst = tns_ping.summarize(made([n * 0.001 for n in range(50)]), 10)
    assert (burst.verdict, burst.drain_rate) == ("not_delayed", None)


def test_a_burst_that_is_too_small_to_tell() -> None:
    assert tns_ping.summarize(made([0.0] * 10), 10).verdict == "too_small"
    assert tns_ping.summarize(made([0.0] * 11), 10).verdict == "not_delayed"


@pytest.mark.parametrize(
    "outcome", [outcome for outcome in tns_ping.OUTCOMES if outcome != "answered"]
)
def test_a_burst_of_which_one_was_not_answered(outcome: str) -> None:
    burst = tns_ping.summarize(made(staircase(49, 10)) + made([0.0], outcome), 10)
    assert burst.verdict == "failed"
    assert burst.why == f"of 50 pings 1 {outcome}"


def test_nothing_was_sent() -> None:
    assert tns_ping.summarize([]).verdict == "failed"


def test_a_limit_delays_a_burst_and_refuses_nobody(tmp_path: Path) -> None:
    home = OracleHome(tmp_path / "home")
    with home.running("(RATE_LIMIT = 5)"):
        wait_for_new_second()
        pings = tns_ping.at_once("127.0.0.1", home.port, 20, 20, time.monotonic() + 60)
    burst = tns_ping.summarize(pings, 5)
    assert burst.verdict == "delayed"
    assert burst.outcomes["answered"] == 20
    assert burst.drain_rate == pytest.approx(5, rel=0.25)
    log = home.log.read_text()
    assert log.count("* ping * 0") == 20
    assert 3 <= log.count("* establish * 1158") <= 4


def test_without_a_limit_nobody_waits(tmp_path: Path) -> None:
    home = OracleHome(tmp_path / "home")
    with home.running():
        pings = tns_ping.at_once("127.0.0.1", home.port, 20, 20, time.monotonic() + 60)
    assert tns_ping.summarize(pings, 5).verdict == "not_delayed"


def test_pings_one_by_one_end_at_the_deadline(tmp_path: Path) -> None:
    home = OracleHome(tmp_path / "home")
    with home.running():
        deadline = time.monotonic() + 2
        pings = tns_ping.one_by_one("127.0.0.1", home.port, 50, 5, 2, deadline)
    assert 1 <= len(pings) <= 11
    # The last one may have met the deadline.
    assert {result.outcome for result in pings[:-1]} <= {"answered"}


def test_a_burst_ends_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        began = time.monotonic()
        port = listener.getsockname()[1]
        pings = tns_ping.at_once("127.0.0.1", port, 5, 60, began + 0.4)
    assert {result.outcome for result in pings} == {"no_answer"}
    assert time.monotonic() - began < 50
