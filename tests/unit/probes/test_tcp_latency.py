"""Round trips to servers of the test's own, on loopback. No number of microseconds is judged."""

import socket
import time
from collections.abc import Callable

import pytest
from ansible.module_utils.hostproof.collect.measured import Window
from ansible.module_utils.hostproof.controls.latency.measurement import (
    socket_stamps,
    tcp_latency,
    traffic,
)
from ansible.module_utils.hostproof.controls.latency.measurement.tcp_latency import (
    CannotMeasure,
    Series,
    Target,
)
from ansible.module_utils.hostproof.controls.latency.parsers import tcp_info
from cases import cases
from latency_server import SETTINGS, greet, pace, responder, server
from listener_home import OracleHome, free_port


@pytest.fixture(scope="module")
def target():
    with responder(SETTINGS._replace(connections=8)) as process:
        yield tcp_latency.resolve("127.0.0.1", process.port)


def request_response(target: Target, samples: int = 100, interval: float = 0.0, **more) -> Series:
    return tcp_latency.request_response(target, 12, 4, pace(samples, interval), **more)


def test_three_layers(target):
    series = request_response(target)
    assert {name: len(samples) for name, samples in series.layers.items()} == {
        "kernel": 100,
        "user": 100,
        "host": 100,
    }
    assert min(series.layers["kernel"]) > 0
    assert min(series.layers["host"]) >= 0
    assert series.remarks == []
    conditions = series.conditions
    assert (conditions["reply_size"], conditions["retrans"], conditions["ended"]) == (4, 0, None)
    assert (conditions["stamps_missing"], conditions["clock_steps"]) == (0, 0)
    assert conditions["asked"] == conditions["answered"]
    assert conditions["handshake_us"] > 0


@pytest.fixture
def short(monkeypatch):
    """Whatever this machine does beside, round trips are short."""
    monkeypatch.setattr(tcp_latency, "_SHORT", 60.0)


@pytest.fixture
def long(monkeypatch):
    monkeypatch.setattr(tcp_latency, "_SHORT", 0.0)


@pytest.fixture
def asked(monkeypatch):
    """When stamps were asked for; only after the warm-up."""
    real, calls = socket_stamps.ask, []

    def watched(stream, wanted):
        calls.append(wanted)
        real(stream, wanted)

    def warm(target, exchange, pace, remarks):
        plan = warm_up(target, exchange, pace, remarks)
        calls.clear()
        return plan

    warm_up = tcp_latency._warm_up
    monkeypatch.setattr(socket_stamps, "ask", watched)
    monkeypatch.setattr(tcp_latency, "_warm_up", warm)
    return calls


def test_what_is_short_is_told_to_the_user_without_stamps(target, short, asked):
    """Stamps cost time. Requests with and without take turns, so that both are of one time."""
    series = request_response(target, 40)
    assert asked == [True, False] * 3
    assert {len(samples) for samples in series.layers.values()} == {40}
    assert (series.conditions["asked"], series.conditions["answered"]) == (80, 80)


def test_what_is_long_has_stamps_for_all_layers(target, long, asked):
    series = request_response(target, 40)
    assert asked == [True, False] * 3
    for kernel, user, host in zip(*series.layers.values(), strict=True):
        assert 0 < kernel <= user
        assert host == user - kernel
    assert (series.conditions["asked"], series.conditions["answered"]) == (40, 40)


def test_the_kernel_keeps_few_stamps(target, long):
    series = request_response(target, 600)
    assert {len(samples) for samples in series.layers.values()} == {600}
    assert series.conditions["stamps_missing"] == 0


def test_large_requests_have_stamps(target, short):
    """Twice as many of them would be too much traffic."""
    series = tcp_latency.request_response(target, 4096, 1, pace(20))
    assert (series.conditions["asked"], series.conditions["answered"]) == (20, 20)
    assert {len(samples) for samples in series.layers.values()} == {20}


@cases("size requests", (12, 20), (4096, 10))
def test_one_kind_of_requests_takes_as_long_as_both(target, long, size, requests):
    """The interval does not hang on the kinds: a host that sleeps longer wakes up later."""
    series = tcp_latency.request_response(target, size, 4, pace(10, 0.02))
    assert series.conditions["interval_us"] == 20_000
    assert len(series.layers["user"]) == series.conditions["answered"] == requests
    assert series.seconds >= 0.02 * (requests - 1)


def test_both_kinds_share_the_interval(target, short):
    series = request_response(target, 10, 0.02)
    assert series.conditions["interval_us"] == 20_000
    assert series.seconds >= 0.38
    assert len(series.layers["user"]) == 10


@cases("samples", 1, 2, 17)
def test_few_samples(target, short, samples):
    series = request_response(target, samples)
    assert {layer: len(times) for layer, times in series.layers.items()} == {
        "kernel": samples,
        "user": samples,
        "host": samples,
    }


def test_the_host_is_what_is_left_of_the_same_request(target, monkeypatch):
    real, whole = tcp_latency._apart, []

    def watched(stamped):
        whole.extend(stamped)
        return real(stamped)

    monkeypatch.setattr(tcp_latency, "_apart", watched)
    layers = request_response(target).layers
    assert [user - kernel for user, kernel in whole] == layers["host"]
    assert [kernel for _, kernel in whole] == layers["kernel"]


def test_windows(target):
    windows = tcp_latency.windows(target, request_response(target))
    assert [(entry.probe, entry.layer, entry.size, entry.n) for entry in windows] == [
        ("tcp", "kernel", 12, 100),
        ("tcp", "user", 12, 100),
        ("tcp", "host", 12, 100),
    ]
    for window in windows:
        assert window.subject == target.name
        assert window.minimum <= window.p50 <= window.p90 <= window.maximum
        assert window.p99 is None
        assert Window.from_json(window.to_json()) == window


@cases("request_size reply_size", (1, 1), (250, 4), (65536, 65536))
def test_any_payload(target, request_size, reply_size):
    series = tcp_latency.request_response(target, request_size, reply_size, pace(20))
    assert series.size == request_size
    assert {layer: len(samples) for layer, samples in series.layers.items()} == {
        "user": 20,
        "kernel": 20,
        "host": 20,
    }


def test_busy_waiting_in_the_client_is_the_hosts(target):
    """Each check the clock takes 3 ms more: one after the answer, which the kernel never sees."""

    def slow():
        end = time.perf_counter_ns() + 3_000_000
        while time.perf_counter_ns() < end:
            pass
        return end

    series = request_response(target, 20, clock=slow)
    assert min(series.layers["user"]) >= 3_000_000
    assert min(series.layers["host"]) >= 2_000_000
    assert min(series.layers["kernel"]) < 1_000_000


def test_a_slow_server_is_not_the_hosts():
    def serve(stream):
        greet(stream)
        while stream.recv(12):
            time.sleep(0.02)
            stream.sendall(b"xxxx")

    with server(serve) as target:
        series = request_response(target, 5)
    assert min(series.layers["kernel"]) >= 19_000_000


def test_without_stamps_there_are_user_times_and_a_remark(target, monkeypatch):
    monkeypatch.setattr(socket_stamps, "prepare", lambda _: False)
    series = request_response(target)
    assert set(series.layers) == {"user"}
    assert len(series.layers["user"]) == 100
    assert "took stamps of only 0 of 100 requests" in series.remarks[0]


def test_a_driver_that_stamps_nothing_is_not_asked_again(target, monkeypatch):
    calls = []
    monkeypatch.setattr(socket_stamps, "sent", lambda _: calls.append(1) or {})
    series = request_response(target)
    assert set(series.layers) == {"user"}
    assert len(series.layers["user"]) == 100
    assert len(calls) <= traffic.WARM_UP
    assert "user times alone" in series.remarks[0]


def test_a_missing_stamp_is_no_sample(target, monkeypatch):
    real, calls = socket_stamps.received, []

    def sometimes(ancillary):
        calls.append(1)
        return None if len(calls) % 4 == 0 else real(ancillary)

    monkeypatch.setattr(socket_stamps, "received", sometimes)
    series = request_response(target)
    assert len(series.layers["user"]) == 100
    assert len(series.layers["kernel"]) == 100 - series.conditions["stamps_missing"] == 75


@cases("step", -3_600_000_000_000, 3_600_000_000_000)
def test_a_clock_that_is_set_meanwhile_gives_no_sample(target, monkeypatch, step):
    real, calls = socket_stamps.received, []

    def stepped(ancillary):
        calls.append(1)
        return real(ancillary) + (step if len(calls) % 10 == 0 else 0)

    monkeypatch.setattr(socket_stamps, "received", stepped)
    series = request_response(target)
    assert series.conditions["clock_steps"] == 10
    assert len(series.layers["kernel"]) == len(series.layers["host"]) == 90
    assert len(series.layers["user"]) == 100


def test_the_interval_is_stretched_for_a_long_way():
    def serve(stream):
        greet(stream)
        while stream.recv(12):
            time.sleep(0.01)
            stream.sendall(b"xxxx")

    with server(serve) as target:
        series = request_response(target, 5, 0.001)
    assert series.conditions["interval_us"] >= 20_000
    assert "a request began every" in series.remarks[0]


def test_a_sample_of_a_long_way_takes_one_request_in_the_same_time():
    """As long as that does, nothing is amiss; what a busy host makes longer is said."""

    def serve(stream):
        greet(stream)
        while stream.recv(12):
            time.sleep(0.05)
            stream.sendall(b"xxxx")

    with server(serve) as target:
        series = request_response(target, 5, 0.08)
    assert all("a round trip takes" in remark for remark in series.remarks)
    assert series.conditions["interval_us"] >= 100_000
    assert series.remarks or series.conditions["interval_us"] < 160_000
    assert 5 <= len(series.layers["user"]) < 10


def test_the_interval_is_kept(target):
    series = request_response(target, 5, 0.2)
    assert series.conditions["interval_us"] == 200_000
    assert series.seconds >= 1.8


def test_no_request_begins_after_the_deadline(target):
    pacing = pace(1000, 0.05, seconds=1.5)
    series = tcp_latency.request_response(target, 12, 4, pacing)
    answered = series.conditions["answered"]
    assert 1 <= answered <= 30
    assert f"allowed {answered} of 2000 requests" in series.remarks[0]


def test_the_deadline_is_one_for_both_kinds(target, short):
    """The second request would begin too late, and nobody waits for a third."""
    series = tcp_latency.request_response(target, 12, 4, pace(20, 1.0, seconds=1.9))
    assert series.conditions["answered"] == 1


def leaving_after(requests: int) -> Callable[[socket.socket], None]:
    def serve(stream: socket.socket) -> None:
        greet(stream)
        for _ in range(requests):
            stream.recv(12)
            stream.sendall(b"xxxx")

    return serve


def test_a_server_that_leaves():
    with server(leaving_after(traffic.WARM_UP + 20)) as target:
        series = request_response(target)
    known = series.conditions
    assert 20 <= known["answered"] < known["asked"]
    assert f"the window ended after {known['answered']} of" in series.remarks[0]
    assert known["ended"]


def test_a_server_that_leaves_at_once(short):
    """Before any request had stamps, the driver is not to blame for there being none."""
    with server(leaving_after(traffic.WARM_UP + 5)) as target:
        series = request_response(target)
    assert set(series.layers) == {"user"}
    assert ["the window ended after" in remark for remark in series.remarks] == [True]


def test_a_server_that_falls_silent():
    def serve(stream):
        greet(stream)
        stream.recv(12)
        time.sleep(0.6)

    with server(serve) as target, pytest.raises(CannotMeasure, match=r"nothing within 0\.2 s"):
        tcp_latency.request_response(target, 12, 4, pace(5)._replace(timeout=0.2))


@cases("said", b"", b"HTTP/1.0 400 Bad Request\r\n")
def test_something_else_listens(said):
    def serve(stream):
        stream.recv(64)
        stream.sendall(said)

    with server(serve) as target, pytest.raises(CannotMeasure, match="not a responder of Hostp"):
        request_response(target)


def test_nobody_listens():
    target = tcp_latency.resolve("127.0.0.1", free_port())
    with pytest.raises(CannotMeasure, match="is the responder running"):
        request_response(target)
    with pytest.raises(CannotMeasure, match="1 Connection refused"):
        tcp_latency.handshake(target, pace(1))
    with pytest.raises(CannotMeasure, match="no_connection"):
        tcp_latency.tns_pings(target, pace(1))


def test_a_name_that_is_none():
    with pytest.raises(CannotMeasure, match="no-such-host.invalid has no address"):
        tcp_latency.resolve("no-such-host.invalid", 1521)


def test_names_of_targets():
    assert tcp_latency.resolve("127.0.0.1", 1521).name == "127.0.0.1:1521"
    assert tcp_latency.resolve("::1", 1521).name == "[::1]:1521"


def test_handshakes(target):
    series = tcp_latency.handshake(target, pace(3))
    assert {name: len(samples) for name, samples in series.layers.items()} == {"net": 3, "user": 3}
    # Connections to a listener have a rate, whatever the interval asked for.
    assert series.conditions["interval_us"] == 100_000
    assert series.seconds >= 0.2
    assert series.size is None
    assert series.remarks == []


def test_without_tcp_info_there_is_connect_alone(target, monkeypatch):
    monkeypatch.setattr(tcp_latency, "_tcp_info", lambda _: None)
    series = tcp_latency.handshake(target, pace(2))
    assert [window.layer for window in tcp_latency.windows(target, series)] == ["user"]
    assert "no figure for the network alone" in series.remarks[0]


def test_a_syn_that_was_sent_again_is_no_sample(target, monkeypatch):
    answers = [tcp_info.TcpInfo(200, 0, None), tcp_info.TcpInfo(1000200, 1, None)]
    monkeypatch.setattr(tcp_latency, "_tcp_info", lambda _: answers.pop(0))
    series = tcp_latency.handshake(target, pace(2))
    assert series.layers["net"] == [200_000]
    assert len(series.layers["user"]) == 2
    assert series.conditions["retrans"] == 1


def test_a_kernel_that_counts_milliseconds_gives_no_network_figure(target, monkeypatch):
    monkeypatch.setattr(tcp_latency, "LEAST_CONNECT_INTERVAL", 0.001)
    monkeypatch.setattr(tcp_latency, "_tcp_info", lambda _: tcp_info.TcpInfo(1000, 0, None))
    series = tcp_latency.handshake(target, pace(30))
    assert series.layers["net"] == []
    assert "whole milliseconds" in series.remarks[0]


def test_failures_are_counted(target, monkeypatch):
    real, calls = tcp_latency._connected, []

    def sometimes(*given):
        calls.append(1)
        if len(calls) == 2:
            raise TimeoutError
        return real(*given)

    monkeypatch.setattr(tcp_latency, "_connected", sometimes)
    series = tcp_latency.handshake(target, pace(3))
    assert len(series.layers["user"]) == 2
    assert series.conditions["failures"] == {"nothing within 5 s": 1}
    assert series.conditions["asked"] == 3
    assert "1 of 3 connections do not count" in series.remarks[0]


def test_pings_of_a_listener(tmp_path):
    home = OracleHome(tmp_path / "home")
    with home.running():
        target = tcp_latency.resolve("127.0.0.1", home.port)
        series = tcp_latency.tns_pings(target, pace(3))
    assert {name: len(samples) for name, samples in series.layers.items()} == {
        "net": 3,
        "server": 3,
    }
    assert home.log.read_text().count("* ping * 0") == 3
    assert (series.conditions["asked"], series.conditions["failures"]) == (3, {})


def test_pings_of_what_is_no_listener(target):
    with pytest.raises(CannotMeasure, match="closed|not_tns|no_answer"):
        tcp_latency.tns_pings(target, pace(2))
