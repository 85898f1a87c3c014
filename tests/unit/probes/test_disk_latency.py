"""Reads of a file of the test's own, what the device counted meanwhile, and fio as it is called."""

import itertools
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.collect.measured import Window
from ansible.module_utils.hostproof.controls.latency.measurement import (
    conditions,
    disk_counters,
    disk_latency,
)
from ansible.module_utils.hostproof.controls.latency.measurement import fio_reads as fio
from ansible.module_utils.hostproof.controls.latency.measurement.disk_latency import Counted, Pace
from ansible.module_utils.hostproof.controls.latency.parsers import diskstats
from ansible.module_utils.hostproof.controls.latency.probes import direct_file
from ansible.module_utils.hostproof.controls.latency.probes.direct_file import (
    CannotRead,
    DirectFile,
)
from cases import cases
from test_direct_file import MIB, folder, made

__all__ = ["folder"]

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures/fio"
REAL = (FIXTURES / "fio-3.33-libaio-8k-depth-8.json").read_text()
BLOCK = DirectFile("/u02/users01.dbf", -1, MIB, ((0, MIB),), (8, 0), "xfs", False)


@pytest.fixture
def file(folder):
    opened = direct_file.open_file(str(made(folder / "data")))
    yield opened
    os.close(opened.descriptor)


@pytest.fixture
def counted(monkeypatch):
    """Sets what the device counts while reads are made."""

    def say(answer, pieces=1, ticks=None):
        monkeypatch.setattr(disk_latency, "_difference", lambda *_: answer)
        monkeypatch.setattr(disk_latency, "_pieces", lambda *_: pieces)
        monkeypatch.setattr(disk_latency, "_ticks", lambda *_: ticks or {})

    return say


def pace(reads: int, interval: float = 0.0, seconds: float = 30.0) -> Pace:
    return Pace(reads, interval, time.monotonic() + seconds)


def layers(measured: disk_latency.Measured) -> list[str]:
    return [window.layer for window in measured.windows]


def test_as_many_reads_as_asked_for(file, counted):
    counted(Counted(50, 1.0))
    measured = disk_latency.one_at_a_time(file, 8192, pace(50), seed=1)
    user, device, host = measured.windows
    assert (user.probe, user.subject, user.layer, user.size) == ("disk", file.path, "user", 8192)
    assert (user.n, device.n, host.n) == (50, 50, 50)
    assert 0 < user.minimum <= user.p50 <= user.maximum
    assert device.mean == 1.0
    assert host.mean == pytest.approx(user.mean - 1.0)
    assert (device.p50, device.bins, host.p99) == (None, None, None)
    assert (user.conditions["requests"], user.conditions["requests_expected"]) == (50, 50)
    assert (user.conditions["seed"], user.conditions["queue_depth"]) == (1, 1)
    assert measured.remarks == []


def test_the_device_really_counts_them(file):
    if file.device is None or disk_latency._counters(file) is None:
        pytest.skip("the file is on no block device that the kernel counts")
    measured = disk_latency.one_at_a_time(file, 4096, pace(100), seed=1)
    assert measured.windows[0].conditions["requests"] >= 100


def test_reads_that_a_cache_answered_are_no_disk(file, counted):
    counted(Counted(40, 1.0))
    measured = disk_latency.one_at_a_time(file, 8192, pace(50), seed=1)
    assert layers(measured) == ["user"]
    assert "of 50 reads only 40 reached the device" in measured.remarks[0]
    assert measured.windows[0].conditions["cached"] is True
    counted(Counted(50, 1.0))
    measured = disk_latency.one_at_a_time(file, 8192, pace(50), seed=1)
    assert all("cached" not in window.conditions for window in measured.windows)


def test_others_reads_are_not_taken_for_ours(file, counted):
    counted(Counted(60, 1.0))
    measured = disk_latency.one_at_a_time(file, 8192, pace(50), seed=1)
    assert layers(measured) == ["user", "device"]
    assert "10 of the device's 60 reads were not ours" in measured.remarks[0]


def test_a_device_slower_than_our_own_reads_tells_nothing_of_the_host(file, counted):
    counted(Counted(50, 1e9))
    measured = disk_latency.one_at_a_time(file, 8192, pace(50), seed=1)
    assert layers(measured) == ["user", "device"]
    assert "slow ones of others" in measured.remarks[0]


def reads_of(microseconds: int) -> Callable[[], int]:
    """A clock by which every read takes that long."""
    return itertools.count(0, microseconds * 1000).__next__


def test_a_device_mean_that_is_longer_by_rounding_alone_is_nobody_elses(file, counted):
    """A disk of 5 ms on a quiet machine: 151 whole milliseconds in 30 reads of 5028 us."""
    counted(Counted(30, 1000.0 * 151 / 30))
    measured = disk_latency.one_at_a_time(file, 8192, pace(30), 1, clock=reads_of(5028))
    user, device, host = measured.windows
    assert measured.remarks == []
    assert user.mean == pytest.approx(5028.0)
    assert (host.layer, host.mean) == ("host", 0.0)
    assert device.conditions["resolution_us"] == host.conditions["resolution_us"] == 33.3
    assert "resolution_us" not in user.conditions
    assert Window.from_json(host.to_json()) == host


@cases("ms said", (150, False), (151, False), (152, True), (200, True))
def test_more_than_the_rounding_is_somebody_elses(file, counted, ms, said):
    counted(Counted(30, 1000.0 * ms / 30))
    measured = disk_latency.one_at_a_time(file, 8192, pace(30), 1, clock=reads_of(5028))
    assert any("slow ones of others" in remark for remark in measured.remarks) is said


@cases("mean", 12000.0, 10050.0, 8000.0)
def test_a_device_that_is_counted_in_ticks_has_no_host_part(file, counted, monkeypatch, mean):
    """dm-delay at HZ 250: reads of 10 ms, counted as 12, and nobody else read."""
    counted(Counted(30, mean), ticks={"dm-0": disk_counters.NO_QUEUE})
    monkeypatch.setattr(disk_latency.conditions, "tick_us", lambda: 4000.0)
    measured = disk_latency.one_at_a_time(file, 8192, pace(30), 1, clock=reads_of(10050))
    user, device = measured.windows
    assert (device.layer, device.mean) == ("device", mean)
    assert (device.conditions["counted_in"], device.conditions["resolution_us"]) == ("ticks", 4000)
    assert "counted_in" not in user.conditions
    assert measured.remarks == [
        f"{file.path}: the kernel counts the time of dm-0 in ticks of 4 ms, for want of a request "
        "queue: the device's mean can be up to 4 ms too long or too short, and the host's part is "
        "not told"
    ]


def test_the_device_is_asked_how_it_is_counted(file, monkeypatch):
    calls = []
    row = diskstats.Counters(253, 0, "dm-7", *[0] * 11)
    monkeypatch.setattr(disk_latency, "_counters", lambda _: row)
    monkeypatch.setattr(
        disk_counters, "in_ticks", lambda _, names: calls.append(names) or {names[0]: "{0} {1}"}
    )
    monkeypatch.setattr(disk_latency, "_difference", lambda *_: Counted(40, 1.0))
    assert layers(disk_latency.one_at_a_time(file, 8192, pace(40), seed=1)) == ["user", "device"]
    assert calls == [["dm-7"]]
    assert disk_latency._ticks(None) == {}


def test_a_tick_is_what_the_kernel_says(monkeypatch):
    assert 500 <= conditions.tick_us() <= 10000
    for seconds, tick in ((0.004, 4000.0), (1 / 300, 3333.3), (1e-9, 10000.0)):
        monkeypatch.setattr(conditions.time, "clock_getres", lambda _, answer=seconds: answer)
        assert conditions.tick_us() == tick


def test_a_read_in_pieces_has_no_host_part(file, counted):
    counted(Counted(100, 1.0), pieces=2)
    measured = disk_latency.one_at_a_time(file, 8192, pace(50), seed=1)
    assert layers(measured) == ["user", "device"]
    assert "2 requests of each read" in measured.remarks[0]


@cases(
    "size counted pieces",
    (8192, 1.0, 1),
    # 254 pieces of memory do not hold the 256 pages of a read, unless some lie side by side.
    (1 << 20, 2.0, 2),
    (1 << 20, 2.3, 2),
    (1 << 20, 1.0, 1),
    # 4 MiB at most in one request.
    (8 << 20, 2.0, 2),
    (8 << 20, 9.0, 9),
)
def test_the_count_tells_how_many_requests_a_read_is(monkeypatch, size, counted, pieces):
    limits = {"max_sectors_kb": 4 << 20, "max_segments": 254 * 4096}
    monkeypatch.setattr(disk_latency, "_queue_limit", lambda _, name, __: limits[name])
    assert disk_latency._pieces(BLOCK, size, counted) == pieces


def test_a_queue_that_tells_nothing_makes_one_request(monkeypatch):
    monkeypatch.setattr(disk_latency, "_queue_limit", lambda *_: 0)
    assert disk_latency._pieces(BLOCK, 1 << 20, 2.0) == 1


def test_too_few_reads_for_a_device(file, counted):
    counted(Counted(29, 1.0))
    measured = disk_latency.one_at_a_time(file, 8192, pace(29), seed=1)
    assert layers(measured) == ["user"]
    assert "too few" in measured.remarks[0]


def test_a_file_on_no_device(file, counted):
    counted(None)
    nfs = file._replace(device=None, fstype="nfs4")
    measured = disk_latency.one_at_a_time(nfs, 8192, pace(50), seed=1)
    assert [(window.probe, window.layer) for window in measured.windows] == [("nfs", "user")]
    assert "on no block device" in measured.remarks[0]


@cases(
    "interval typical expected",
    (0.001, 0.0001, 0.001),
    (0.001, 0.0005, 0.001),
    (0.001, 0.0011, 0.004),
    (0.001, 0.0019, 0.004),
    # A disk that turns.
    (0.001, 0.008, 0.016),
)
def test_reads_never_wait_for_each_other(interval, typical, expected):
    assert disk_latency._stretched(interval, typical) == pytest.approx(expected)


def test_a_slow_disk_is_read_less_often_and_not_in_a_queue(file, counted, monkeypatch):
    """1 MiB every millisecond of a disk that takes longer: p50 was the queue of all before."""
    counted(None)
    monkeypatch.setattr(disk_latency, "_typical", lambda *_: 0.0015)
    measured = disk_latency.one_at_a_time(file, 8192, pace(5, 0.001), seed=1)
    assert measured.windows[0].conditions["interval_us"] == 4000
    assert "takes 1.5 ms, so one began every 4 ms instead of every 1 ms" in measured.remarks[0]


def test_how_long_a_read_takes_is_the_median_of_a_few(file):
    ticks = iter([0, 10, 0, 30, 0, 20, 0, 1000, 0, 20])
    duration = disk_latency._typical(file, lambda _: 8192, 8192, 1, pace(5), lambda: next(ticks))
    assert duration == pytest.approx(20e-9)


def test_no_read_begins_after_the_deadline(file, counted):
    counted(None)
    measured = disk_latency.one_at_a_time(file, 8192, pace(1000, 0.05, 0.4), seed=1)
    assert 1 <= measured.windows[0].n <= 8
    assert "allowed" in measured.remarks[0]
    with pytest.raises(CannotRead, match="no time for one read"):
        disk_latency.one_at_a_time(file, 8192, pace(1000, 0.05, -1.0), seed=1)


def test_a_file_that_became_shorter(file, counted):
    counted(None)
    os.truncate(file.path, 0)
    with pytest.raises(CannotRead, match="is it shorter now"):
        disk_latency.one_at_a_time(file, 8192, pace(5), seed=1)


def answering(rc: int, out: str, err: str = "") -> tuple[fio.Run, list[list[str]]]:
    commands: list[list[str]] = []

    def run(argv: list[str]) -> tuple[int, str, str]:
        commands.append(argv)
        return rc, out, err

    return run, commands


def test_many_reads_by_fio(counted):
    counted(Counted(1000, 100.0))
    run, commands = answering(0, REAL)
    measured = disk_latency.many_at_a_time(run, BLOCK, 8192, 8, pace(1000), seed=1)
    user, device, host = measured.windows
    assert (user.subject, user.n, user.size) == ("/u02/users01.dbf (depth 8)", 1000, 8192)
    assert user.p50 == pytest.approx(146.4, rel=0.01)
    assert user.p99 == pytest.approx(199.7, rel=0.01)
    assert user.minimum == pytest.approx(79.4, rel=0.01)
    assert (device.mean, host.n) == (100.0, 1000)
    assert user.conditions["tool"] == "fio-3.33"
    (argv,) = commands
    assert argv[0] == "fio"
    assert {"--readonly", "--rw=randread", "--allow_file_create=0", "--direct=1"} <= set(argv)
    assert {"--iodepth=8", "--bs=8192", "--io_size=8192000", "--randseed=1"} <= set(argv)
    assert "--filename=/u02/users01.dbf" in argv


def test_fio_is_told_one_file_whatever_its_name():
    argv = fio.command(BLOCK._replace(path="/u02/a:b c"), 8192, 2, 1, 1, 1)
    assert "--filename=/u02/a\\:b c" in argv


def without_bins() -> str:
    tree = json.loads(REAL)
    del tree["jobs"][0]["read"]["clat_ns"]["bins"]
    return json.dumps(tree)


@cases(
    "answer words",
    ((1, "", "fio: engine libaio not loadable\n"), "ended with 1: fio: engine libaio"),
    ((2, "", ""), "ended with 2: nothing"),
    ((0, "", ""), "cannot be read"),
    ((0, REAL.replace('"error" : 0', '"error" : 5'), ""), "1000 reads, with 5 errors"),
    ((0, REAL.replace('"total_ios" : 1000', '"total_ios" : 0'), ""), "made 0 reads"),
    ((0, without_bins(), ""), "gives no histogram"),
)
def test_fio_that_fails(answer, words):
    run, _ = answering(*answer)
    with pytest.raises(fio.FioFailed, match=words):
        fio.read(run, BLOCK, 8192, 8, 1000, 10, 1)


def test_fio_would_read_holes():
    run, commands = answering(0, REAL)
    with pytest.raises(fio.FioFailed, match="has holes"):
        fio.read(run, BLOCK._replace(sparse=True), 8192, 8, 1000, 10, 1)
    assert commands == []
