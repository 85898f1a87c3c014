"""Windows of several probes, in rounds."""

import os
import pwd
import re
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.collect.measured import Measured, window_from_samples
from ansible.module_utils.hostproof.controls.latency.measurement import (
    disk_latency,
    measuring,
    tcp_latency,
    traffic,
)
from ansible.module_utils.hostproof.controls.latency.measurement.measuring import measure
from ansible.module_utils.hostproof.controls.latency.probes import direct_file
from ansible.module_utils.hostproof.errors import PolicyError
from ansible.module_utils.hostproof.latency.probe_list import IN_TICKS, check_probes
from cases import cases
from latency_server import responder
from packs import FIXTURES, Machine

BOTH = check_probes([{"probe": "disk"}, {"probe": "nfs"}])
DISKSTATS = "/proc/diskstats"
MOUNTSTATS = "/proc/self/mountstats"
NO_MOUNTS = "device proc mounted on /proc with fstype proc\n"
FIRST, SECOND = [
    (FIXTURES / f"diskstats/linux-6.18-reads-{number}.txt").read_text() for number in (1, 2)
]


def host(rounds: int, mounts: tuple[str, str] = (NO_MOUNTS, NO_MOUNTS)) -> Machine:
    """A host with the disk vda, of which each sample is the same."""
    machine = Machine().folder("/sys/block/vda/slaves", "/sys/block/vda/mq/0")
    machine.file(DISKSTATS, FIRST)
    for number in range(rounds):
        machine.sampled(f"latency_{number}", f"file:{DISKSTATS}", FIRST, SECOND)
        machine.sampled(f"latency_{number}", f"file:{MOUNTSTATS}", *mounts)
    return machine


def mountstats(name: str) -> tuple[str, str]:
    first, second = [
        (FIXTURES / f"mountstats/linux-6.1-{name}-{number}.txt").read_text() for number in (1, 2)
    ]
    return first, second


def test_a_round_has_a_window_of_each_figure():
    measured = measure(host(2), BOTH, 2, 3, 0)
    figures = [(window.subject, window.layer) for window in measured.windows]
    assert figures == [("vda", "read"), ("vda", "write")] * 2
    assert measured.remarks[0] == measuring.NO_NFS


def test_a_disk_without_counters_is_none():
    """As nvme0c0n1, a path of NVMe below the kernel's own multipath."""
    machine = host(1).folder("/sys/block/nvme0c0n1/slaves")
    measured = measure(machine, BOTH, 1, 3, 0)
    assert {window.subject for window in measured.windows} == {"vda"}
    assert not [remark for remark in measured.remarks if "nvme0c0n1" in remark]


def test_devices_that_are_counted_in_ticks_are_said_once(monkeypatch):
    monkeypatch.setattr(measuring.conditions, "tick_us", lambda: 1000.0)
    machine = Machine().folder("/sys/block/dm-1/slaves", "/sys/block/dm-2/slaves")
    texts = [
        text.replace(" vda ", " dm-1 ").replace(" zram0 ", " dm-2 ") for text in (FIRST, SECOND)
    ]
    machine.file(DISKSTATS, texts[0])
    for number in range(2):
        machine.sampled(f"latency_{number}", f"file:{DISKSTATS}", *texts)
    measured = measure(machine, check_probes([{"probe": "disk"}]), 2, 3, 0)
    remarks = [remark for remark in measured.remarks if IN_TICKS in remark]
    (result,) = [remark.split(" in ticks")[0] for remark in remarks]
    assert result == "disk: the kernel counts the time of dm-1, dm-2"
    result = {
        (window.conditions["counted_in"], window.conditions["resolution_us"])
        for window in measured[0]
    }
    assert result == {("ticks", 1000.0)}


def test_a_device_that_was_named_by_a_link_keeps_that_name():
    machine = host(1).file("/dev/vda", "").link("/dev/mapper/data", "/dev/vda")
    probes = check_probes([{"probe": "disk", "devices": ["/dev/mapper/data"]}])
    measured = measure(machine, probes, 1, 3, 0)
    assert [window.subject for window in measured.windows] == ["vda", "vda"]
    assert [window.conditions["named"] for window in measured.windows] == [["/dev/mapper/data"]] * 2


def test_seconds_are_divided_into_intervals():
    measured = measure(host(3), BOTH, 1, 9, 0)
    assert {window.conditions["intervals"] for window in measured.windows} == {3}
    measured = measure(host(3), BOTH, 3, 5, 0)
    assert {window.conditions["intervals"] for window in measured.windows} == {1}


def test_one_sample_serves_disks_and_mounts():
    machine = host(1, mountstats("slow"))
    measured = measure(machine, BOTH, 1, 3, 0)
    assert {window.probe for window in measured.windows} == {"disk", "nfs"}
    assert [key for key in machine.evidence if key.startswith("sample:")] == ["sample:latency_0"]


def test_a_slow_filer_is_seen_in_its_own_layer():
    """60 ms a write were put in front of this filer's disks (tests/fixtures/mountstats)."""
    measured = measure(host(1, mountstats("slow")), check_probes([{"probe": "nfs"}]), 1, 3, 0)
    server = [w for w in measured.windows if w.layer == "server" and w.subject.endswith("WRITE")]
    assert server
    assert all(window.p50 > 60_000 for window in server if window.p50 is not None)
    assert any(window.p50 is not None for window in server)


def test_named_mounts_alone():
    probes = check_probes([{"probe": "nfs", "mounts": ["/u01/oradata", "/nowhere"]}])
    measured = measure(host(1, mountstats("load")), probes, 1, 3, 0)
    assert {window.subject.split()[0] for window in measured.windows} == {"/u01/oradata"}
    assert any(remark.startswith("nfs /nowhere: is not mounted") for remark in measured.remarks)


def test_a_probe_that_cannot_be_measured_is_a_remark_and_the_others_go_on(tmp_path):
    probes = check_probes(
        [
            {"probe": "disk", "devices": ["sdq"]},
            {"probe": "disk_read", "path": str(tmp_path / "none")},
            {"probe": "report", "path": "/x"},
            {"probe": "nfs"},
            {"probe": "tcp", "host": "127.0.0.1", "port": 1, "samples": 2},
        ]
    )
    measured = measure(host(2, mountstats("load")), probes, 2, 1, 0)
    assert {window.probe for window in measured.windows} == {"nfs"}
    text = "\n".join(measured.remarks)
    for message in (
        "sdq is not a block device",
        f"{tmp_path}/none: No such file",
        "a report is of the",
    ):
        assert text.count(message) == 1, text
    assert text.count("tcp: no answer from 127.0.0.1:1") == 1


def test_remarks_that_differ_in_numbers_alone_are_one():
    remarks = []
    for text in (
        "/u02/a1: 3 of 40 reads",
        "/u02/a1: 4 of 41 reads",
        "/u02/a2: 3 of 40 reads",
        "10.0.0.1:80: 3 of 40",
        "10.0.0.2:80: 3 of 40",
    ):
        measuring._remark(remarks, text)
    assert [remark.split(": ")[0] for remark in remarks] == [
        "/u02/a1",
        "/u02/a2",
        "10.0.0.1:80",
        "10.0.0.2:80",
    ]


def test_what_is_idle_is_said_once_with_its_numbers():
    measured = measure(host(2), check_probes([{"probe": "disk"}]), 2, 3, 0)
    idle = [remark for remark in measured.remarks if measuring.TOO_FEW in remark]
    counts = {window.layer: window.n for window in measured.windows if window.p50 is None}
    assert len(idle) == len(counts)
    for layer, number in counts.items():
        assert any(f"vda {layer}: too few to tell in 2 of 2" in remark for remark in idle), idle
        assert any(f"at most {number};" in remark for remark in idle)


def test_what_no_cache_has_yet_is_read_once_before_the_first_window(tmp_path, monkeypatch):
    path = tmp_path / "data"
    path.write_bytes(bytes(64 << 10))
    series = []

    def read(file, size, *_):
        series.append(size)
        window = window_from_samples("disk", file.path, "user", size, 1.0, 1.0, [len(series)], {})
        return disk_latency.Measured([window], [])

    monkeypatch.setattr(disk_latency, "one_at_a_time", read)
    monkeypatch.setattr(direct_file, "_open", lambda name: os.open(name, os.O_RDONLY))
    probe = {"probe": "disk_read", "path": str(path), "sizes": [4096, 8192]}
    measured = measure(Machine(), check_probes([probe]), 2, 1, 0)
    assert series == [4096, 4096, 8192, 8192, 4096, 8192]
    assert [window.minimum for window in measured.windows] == [0.002, 0.004, 0.005, 0.006]


@cases(
    "rounds said",
    ((0, 3, 0), "windows must be from 1 to 100"),
    ((101, 3, 0), "windows must be from 1 to 100"),
    ((1, 0.5, 0), "seconds must be from 1 to 600"),
    ((1, 601, 0), "seconds must be from 1 to 600"),
    ((1, 3, -1), "pause must be from 0 to 3600"),
    ((1, float("nan"), 0), "seconds must be from 1 to 600"),
)
def test_numbers_out_of_range(rounds, said):
    with pytest.raises(PolicyError, match=said):
        measure(host(1), BOTH, *rounds)


@cases(
    "options windows seconds said",
    ({"mode": "tns_ping", "samples": 20000}, 10, 3, "at most 30 samples"),
    ({"samples": 30}, 67, 3, "2010 connections are more than 2000: take at most 29 samples"),
    (
        {"mode": "request_response", "samples": 1500, "request_size": 65536}
        | {"reply_size": 65536},
        10,
        3,
        "bytes would be sent and received, more than 1073741824: take fewer samples",
    ),
)
def test_a_list_that_asks_for_too_much_traffic(options, windows, seconds, said):
    """As latency_tcp refuses it: a listener logs each connection."""
    probes = check_probes([{"probe": "tcp", "host": "127.0.0.1", "port": 9, **options}])
    with pytest.raises(PolicyError, match="^probes, tcp 127.0.0.1:9 ") as caught:
        measure(Machine(), probes, windows, seconds, 0)
    assert said in str(caught.value)


def test_windows_that_compare_have_sizes_that_stay():
    item = {"probe": "tcp", "host": "127.0.0.1", "port": 9, "mode": "request_response"}
    probes = check_probes([{**item, "payload": "auto"}])
    with pytest.raises(PolicyError, match="set request_size and reply_size instead"):
        measure(Machine(), probes, 1, 3, 0)


def test_sizes_of_live_connections_are_no_durations():
    measured = measure(Machine(), check_probes([{"probe": "sqlnet"}]), 1, 3, 0)
    assert measured.windows == []
    assert "it has sizes and no durations" in measured.remarks[0]


@cases(
    "options windows seconds samples",
    ({}, 10, 3, 15),
    ({"mode": "tns_ping"}, 60, 10, 33),
    ({"mode": "tns_ping"}, 10, 60, 200),
    ({"mode": "request_response"}, 10, 3, 1500),
    ({"mode": "request_response", "request_size": 65536, "reply_size": 65536}, 10, 3, 811),
    ({"samples": 7}, 10, 3, 7),
)
def test_what_a_list_leaves_open_is_never_too_much(options, windows, seconds, samples):
    probes = check_probes([{"probe": "tcp", "host": "127.0.0.1", "port": 9, **options}])
    assert traffic.samples_of(probes[0].options, windows, seconds) == samples
    traffic.check_probes(probes, windows, seconds)


def test_the_machine_that_runs_this(tmp_path, monkeypatch):
    """Every probe for real, in one round: counters, reads of a file, and a responder.

    On a busy machine a window has fewer samples; then a remark says how many of how many.
    """
    # A slow round trip stretches the interval, and the round trips of a busy machine are slow.
    monkeypatch.setattr(tcp_latency, "_ROUND_TRIPS_PER_INTERVAL", 0)
    path = tmp_path / "data"
    path.write_bytes(os.urandom(4 << 20))
    with responder() as server:
        target = {"probe": "tcp", "host": "127.0.0.1", "port": server.port}
        probes = check_probes(
            [
                {"probe": "disk"},
                {"probe": "nfs"},
                {"probe": "disk_read", "path": str(path), "sizes": [8192], "reads": 40},
                {**target, "mode": "request_response", "samples": 60},
                {**target, "samples": 3},
            ]
        )
        live = LiveHost()
        measured = measure(live, probes, 2, 1, 0)
    assert isinstance(measured, Measured)

    def short(of: str, n: int, wanted: str) -> bool:
        text = f"{of}the time that was given allowed {n} of {wanted}"
        return any(text in remark for remark in measured.remarks)

    reads = [window for window in measured.windows if window.subject == str(path)]
    exchanges = [w for w in measured.windows if w.conditions.get("mode") == "request_response"]
    connects = [w for w in measured.windows if w.conditions.get("mode") == "handshake"]
    if not any("O_DIRECT" in remark for remark in measured.remarks):
        assert len(reads) >= 2
        for window in reads:
            if window.layer == "user":
                assert window.n == 40 or short(f"{path}: ", window.n, "40 reads")
    answered = [window.conditions["answered"] for window in exchanges if window.layer == "user"]
    assert len(answered) == 2
    name = f"127.0.0.1:{server.port}: "
    assert all(n >= 60 or short(name, n, "120 requests") for n in answered)
    # Two requests a sample, in a second.
    assert {window.conditions["interval_us"] for window in exchanges} == {8333}
    assert {window.conditions["interval_us"] for window in connects} == {333333}
    assert [window.started for window in measured.windows if window.started is None] == []


# -- checkouts of a pool --------------------------------------------------------------------------
# A stand-in for Java, which answers as jboss-cli does; tests/pools asks a real server.

CLI = """#!/usr/bin/python3
import sys
commands = sys.argv[-1].split("=", 1)[1].split(",:")
if "statistics=pool" in commands[0]:
    print('{{"outcome" : "success", "result" : {{{room}}}\\n}}', flush=True)
    sys.exit(0)
for number, one in enumerate(commands[1:]):
    print('{{\\n    "outcome" : "{outcome}",\\n    "result" : true\\n}}', flush=True)
    if number == {most}:
        break
sys.exit({code})
"""
STATISTICS = '"statistics-enabled" : true, "AvailableCount" : {0}, "InUseCount" : 5'


def pool(tmp_path: Path, samples: int = 10, **more: Any) -> Measured:
    """One window of a pool whose server answers so."""
    values = {"room": STATISTICS.format(3), "outcome": "success", "most": -1, "code": 0, **more}
    java = tmp_path / "java"
    java.write_text(CLI.format(**values))
    java.chmod(0o755)
    user = pwd.getpwuid(os.geteuid()).pw_name
    options = {"home": "/opt/wildfly", "user": user, "data_source": "SALES", "java": str(java)}
    probes = check_probes([{"probe": "pool", **options, "samples": samples}])
    return measure(LiveHost(), probes, 1, 1, 0)


def test_checkouts_are_timed_between_answers(tmp_path):
    measured = pool(tmp_path)
    (window,) = measured.windows
    assert (window.probe, window.subject) == ("pool", "127.0.0.1:9990 SALES")
    assert (window.layer, window.n, measured.remarks) == ("checkout", 10, [])
    assert window.minimum is not None and window.minimum >= 0
    assert window.conditions["trivial_p50_us"] >= 0


@cases(
    "told said",
    ({"room": STATISTICS.format(0)}, "no place of the pool is free (5 are in use)"),
    ({"room": STATISTICS.format("null")}, "the number of its free places is unknown"),
    ({"room": STATISTICS.format('"-1"')}, "the number of its free places is unknown"),
    ({"room": STATISTICS.format('"undefined"')}, "the number of its free places is unknown"),
    ({"outcome": "failed"}, "an operation failed"),
    ({"most": 7}, "operations of 120 were answered"),
    ({"code": 1}, "jboss-cli ended with 1"),
)
def test_a_pool_that_gives_nothing_is_a_remark(tmp_path, told, said):
    measured = pool(tmp_path, **told)
    assert measured.windows == []
    assert said in measured.remarks[0] and measured.remarks[0].startswith("pool: ")


def test_a_server_without_statistics_is_asked_all_the_same(tmp_path):
    measured = pool(tmp_path, room='"statistics-enabled" : false')
    assert len(measured.windows) == 1 and "its statistics are off" in measured.remarks[0]


@cases(
    "changes said",
    ({"data_source": 'S"'}, "the name of a pool"),
    ({"data_source": "S\n"}, "the name of a pool"),
    ({"user": "a b"}, "the name of an account"),
    ({"controller": "db1"}, "an address and a port"),
    ({"home": "opt"}, "must begin with /"),
    ({"xa": "yes"}, "true or false"),
    ({"samples": 2001}, "from 1 to 2000"),
)
def test_options_of_a_pool(changes, said):
    options = {"probe": "pool", "home": "/opt/wildfly", "user": "wildfly", "data_source": "S"}
    with pytest.raises(PolicyError, match=re.escape(said)):
        check_probes([options | changes])
