"""The latency modules as Ansible runs them: one play on this host, and what each refuses."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.module_utils.hostproof.collect.measured import Window, window_from_samples
from ansible.module_utils.hostproof.controls.latency.measurement import (
    disk_latency,
    series,
    tcp_latency,
)
from ansible.module_utils.hostproof.controls.latency.measurement import (
    responder as latency_responder_probe,
)
from ansible.module_utils.hostproof.controls.latency.probes import direct_file
from ansible.modules import latency_disk, latency_responder, latency_tcp
from listener_home import free_port
from packs import Machine

ROOT = Path(__file__).resolve().parents[2]
TCP = {"host": "127.0.0.1", "mode": "request_response", "samples": 50, "interval": 0}


def cases(folder: Path) -> dict[str, dict[str, Any]]:
    """Name to module and arguments; those that end in _check run in check mode."""
    port = free_port()
    own = {"address": "127.0.0.1", "clients": ["127.0.0.1"], "seconds": 120, "port": port}
    data = str(folder / "data")
    read = {"probe": "disk_read", "path": data, "sizes": [8192], "reads": 20}
    pings = {"probe": "tcp", "host": "db02", "port": 1521, "mode": "tns_ping", "samples": 20000}
    gone = {"probe": "disk_read", "path": data + "x"}
    rounds = {"probes": [{"probe": "disk"}, read, gone], "windows": 1, "seconds": 1}
    return {
        "present_check": {"latency_responder": own},
        "present": {"latency_responder": own},
        "again": {"latency_responder": own},
        "other": {"latency_responder": {**own, "connections": 1}},
        "measured": {"latency_tcp": {**TCP, "port": port, "windows": 2}},
        "measured_check": {"latency_tcp": {**TCP, "port": port}},
        "handshake": {"latency_tcp": {"host": "127.0.0.1", "port": port, "samples": 2}},
        "out_of_time": {
            "latency_tcp": {**TCP, "port": port, "windows": 3, "pause": 9, "seconds": 3}
        },
        "too_much": {"latency_tcp": {**TCP, "port": port, "windows": 101}},
        "absent_check": {"latency_responder": {"state": "absent", "port": port}},
        "absent": {"latency_responder": {"state": "absent", "port": port}},
        "absent_again": {"latency_responder": {"state": "absent", "port": port}},
        "nobody": {"latency_tcp": {**TCP, "port": port}},
        "rounds": {"measure_latency": {**rounds, "windows": 2}},
        "rounds_check": {"measure_latency": rounds},
        "no_probe": {"measure_latency": {"probes": []}},
        "no_such_probe": {"measure_latency": {"probes": [{"probe": "ping"}]}},
        "too_many_pings_check": {"measure_latency": {**rounds, "probes": [pings]}},
        "too_many_rounds": {"measure_latency": {"windows": 101}},
        "nothing_told": {"measure_latency": {"probes": [{"probe": "disk_read", "path": "/none"}]}},
        "passive": {"latency_disk": {"intervals": 2, "interval_seconds": 0.5}},
        "active": {"latency_disk": {"mode": "active", "path": data, "windows": 2, "reads": 40}},
        "active_check": {"latency_disk": {"mode": "active", "path": data}},
        "no_path": {"latency_disk": {"mode": "active"}},
        "no_file": {"latency_disk": {"mode": "active", "path": data + "x"}},
        "no_device": {"latency_disk": {"devices": ["sdnone"]}},
    }


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("latency")
    (folder / "data").write_bytes(os.urandom(4 << 20))
    names = cases(folder)
    tasks: list[dict[str, Any]] = [
        {"register": name, "ignore_errors": True, "check_mode": name.endswith("_check"), **task}
        for name, task in names.items()
    ]
    answers = ", ".join(f"'{name}': {name}" for name in names)
    keep = {"content": f"{{{{ {{{answers}}} | to_json }}}}", "dest": str(folder / "answers.json")}
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "connection": "local",
        "vars": {"ansible_python_interpreter": sys.executable},
        "tasks": [*tasks, {"ansible.builtin.copy": keep}],
    }
    (folder / "play.yml").write_text(yaml.safe_dump([play], sort_keys=False))
    ran = subprocess.run(
        [
            Path(sys.executable).with_name("ansible-playbook"),
            *("-i", "localhost,", str(folder / "play.yml")),
        ],
        env={
            **os.environ,
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_STDOUT_CALLBACK": "default",
            "ANSIBLE_HOME": str(folder / "home"),
        },
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (folder / "answers.json").exists(), ran.stdout + ran.stderr
    return json.loads((folder / "answers.json").read_text())


def test_a_responder_is_started_once(answers):
    assert answers["present_check"]["changed"]
    assert answers["present_check"]["pid"] is None
    assert answers["present"]["changed"]
    assert not answers["again"]["changed"]
    assert answers["again"]["pid"] == answers["present"]["pid"]
    assert "has other options" in answers["other"]["msg"]


def test_a_responder_is_ended(answers):
    ended = answers["absent"]["ended"]
    assert answers["absent"]["changed"]
    assert [responder["pid"] for responder in ended] == [answers["present"]["pid"]]
    # The check before found it running.
    assert answers["absent_check"]["changed"]
    assert not answers["absent_again"]["changed"]
    assert not latency_responder_probe._runs(ended[0]["pid"])
    assert ended[0]["moved"] >= 5 * 50 * 16


def test_windows_come_back(answers):
    windows = [Window.from_json(window) for window in answers["measured"]["windows"]]
    assert [window.n for window in windows] == [50] * 6
    assert all(window.p50 > 0 for window in windows)
    assert len(answers["measured"]["table"]) == 1 + len(windows)
    assert {window["layer"] for window in answers["handshake"]["windows"]} >= {"user"}


def test_what_there_was_no_time_for_is_said(answers):
    answer = answers["out_of_time"]
    assert not answer["failed"]
    assert "there was time for 1 of 3 windows" in answer["remarks"][-1]


def test_check_mode_measures_nothing(answers):
    assert answers["measured_check"]["windows"] == []
    assert "would measure 1 windows of 50 samples" in answers["measured_check"]["msg"]
    assert answers["active_check"]["windows"] == []


def test_disks(answers):
    passive = answers["passive"]
    if not passive.get("failed"):
        assert {window["layer"] for window in passive["windows"]} == {"read", "write"}
    active = answers["active"]
    if active.get("failed"):
        assert "without direct I/O" in active["msg"]
        pytest.skip("the test's folder takes no direct I/O")
    users = [window for window in active["windows"] if window["layer"] == "user"]
    assert [(window["size"], window["n"]) for window in users] == [(8192, 40), (1048576, 40)] * 2
    assert {window["size"] for window in active["first_pass"]} == {8192, 1048576}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("too_much", "latency_tcp: windows must be from 1 to 100"),
        ("nobody", "is the responder running"),
        ("no_path", "path"),
        ("no_file", "No such file"),
        ("no_device", "sdnone is not a block device of this host"),
    ],
)
def test_failures_say_what_is_wrong(answers, name, words):
    assert answers[name]["failed"]
    assert words in answers[name]["msg"]


def given(module: Any, **options: Any) -> dict[str, Any]:
    values = {name: option.get("default") for name, option in module.ARGUMENT_SPEC.items()}
    values.update(getattr(module, "DEFAULTS", {}).get(options.get("mode"), {}))
    return {**values, **options}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"port": 0}, "port must be"),
        ({"samples": 0}, "samples must be"),
        ({"request_size": 65537}, "request_size must be"),
        ({"interval": -1}, "interval must be"),
        ({"mode": "tns_ping", "samples": 50, "interval": 1, "windows": 41}, "or request_resp"),
        ({"windows": 100, "reply_size": 60000}, "bytes would be sent"),
        ({"cpu": 100000}, "none that this process may use"),
    ],
)
def test_a_tcp_probe_stays_a_probe(options, words):
    params = {"host": "127.0.0.1", "port": 1521, "mode": "request_response", **options}
    with pytest.raises(ValueError, match=words):
        latency_tcp.check(given(latency_tcp, **params) | options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mode": "handshake"}, "payload: auto needs mode: request_response"),
        ({"payload_port": 0}, "payload_port must be"),
    ],
)
def test_sizes_of_live_connections_need_an_exchange(options, words):
    params = {"host": "127.0.0.1", "port": 1, "mode": "request_response", "payload": "auto"}
    with pytest.raises(ValueError, match=words):
        latency_tcp.measure(given(latency_tcp, **{**params, **options}), True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sizes": [4097]}, "multiples of 4096"),
        ({"sizes": [0]}, "multiples of 4096"),
        ({"sizes": [32 << 20]}, "at most 16777216"),
        ({"sizes": []}, "one or more different"),
        ({"sizes": [8192, 8192]}, "one or more different"),
        ({"most_bytes": "5G"}, "most_bytes must be"),
        ({"most_bytes": "4K"}, "most_bytes must be"),
        ({"most_bytes": "some"}, "is not a size"),
        ({"path": "data"}, "path must begin with /"),
        ({"queue_depth": 65}, "queue_depth must be"),
        ({"interval_seconds": 0.1}, "interval_seconds must be"),
    ],
)
def test_a_disk_probe_stays_a_probe(options, words):
    with pytest.raises(ValueError, match=words):
        latency_disk.check(given(latency_disk, mode="active", **{"path": "/x", **options}))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"address": "0.0.0.0"}, "must be one of this host's own"),
        ({"address": "::"}, "must be one of this host's own"),
        ({"address": "db01"}, "does not appear to be"),
        ({"clients": []}, "clients is empty"),
        ({"clients": ["0.0.0.0/0"]}, "must not be all addresses"),
        ({"clients": ["192.0.2.1/24"]}, "has host bits set"),
        ({"most_bytes": "9G"}, "most_bytes must be"),
    ],
)
def test_a_responder_serves_few(options, words):
    params = {"address": "127.0.0.1", "clients": ["127.0.0.1"], **options}
    with pytest.raises(ValueError, match=words):
        latency_responder.settings_of(given(latency_responder, **params))


def test_a_deep_queue_needs_fio(monkeypatch):
    monkeypatch.setattr(series.shutil, "which", lambda _: None)
    params = given(latency_disk, mode="active", path="/nowhere", queue_depth=8, seconds=9)
    with pytest.raises(ValueError, match="needs fio, which is not on this host"):
        series.of_reads(params)


class TestRounds:
    def test_windows_of_each_probe_come_back(self, answers):
        answer = answers["rounds"]
        windows = [Window.from_json(window) for window in answer["windows"]]
        reads = [window.n for window in windows if window.layer == "user"]
        assert reads == [20, 20] or any("O_DIRECT" in remark for remark in answer["remarks"])
        assert {window.conditions["mode"] for window in windows} <= {"passive", "active"}
        assert len(answer["table"]) == len(windows) + 1
        assert not answer["changed"]

    def test_what_could_not_be_measured_is_said_once(self, answers):
        remarks = [
            remark for remark in answers["rounds"]["remarks"] if "datax: No such file" in remark
        ]
        assert len(remarks) == 1

    def test_check_mode_measures_nothing_and_says_so(self, answers):
        answer = answers["rounds_check"]
        assert (answer["windows"], answer["changed"]) == ([], False)
        assert answer["msg"].startswith(
            "would measure 1 windows of 1 s, 0 s apart, of disk, disk_read /"
        )

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("no_probe", "probes names none"),
            ("no_such_probe", "probes, item 1: must be a dictionary with probe, one of disk"),
            ("too_many_pings_check", "probes, tcp db02:1521 tns_ping: 20000 connections take 20"),
            ("too_many_rounds", "windows must be from 1 to 100"),
            ("nothing_told", "nothing could be measured: disk_read: /none: No such file"),
        ],
    )
    def test_what_is_refused(self, answers, name, said):
        assert answers[name]["failed"]
        assert answers[name]["msg"].startswith("measure_latency: " + said)


def test_a_passive_probe_says_which_device_is_counted_in_ticks(monkeypatch):
    """One remark for the device, however many windows there are."""
    row = "253 0 dm-0 {0} 0 0 {1} 0 0 0 0 0 0 0\n8 0 sda {0} 0 0 {1} 0 0 0 0 0 0 0\n"
    machine = Machine().folder("/sys/block/dm-0/slaves", "/sys/block/sda/mq/0")
    machine.file("/proc/diskstats", row.format(0, 0))
    machine.link("/dev/mapper/slow", "/dev/dm-0").file("/dev/dm-0", "").file("/dev/sda", "")
    for number in range(2):
        texts = [row.format(100 * count, 1200 * count) for count in (number, number + 1)]
        machine.sampled(f"diskstats_{number}", "file:/proc/diskstats", *texts)
    monkeypatch.setattr(series.conditions, "tick_us", lambda: 4000.0)
    params = {"devices": ["/dev/mapper/slow", "sda"], "windows": 2, "intervals": 1, "seconds": 9}
    measured = series.of_counters(machine, given(latency_disk, **params))
    reads = [window for window in measured.windows if window.layer == "read"]
    assert [(window.subject, window.p50) for window in reads] == [
        ("dm-0", 12000.0),
        ("sda", 12000.0),
    ] * 2
    units = {(window.subject, window.conditions.get("counted_in")) for window in measured.windows}
    assert units == {("dm-0", "ticks"), ("sda", None)}
    assert [remark for remark in measured.remarks if "ticks" in remark] == [
        "the kernel counts the time of dm-0 in ticks of 4 ms, for want of a request queue: a mean "
        "can be up to 4 ms too long or too short"
    ]


@pytest.fixture
def clock(monkeypatch):
    """time.monotonic() and time.sleep() of a clock that only sleeping moves."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    return now


def test_a_fio_that_prints_without_end_is_ended(monkeypatch, tmp_path):
    (tmp_path / "fio").write_text("#!/bin/sh\nexec yes\n")
    (tmp_path / "fio").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(direct_file, "_open", lambda name: os.open(name, os.O_RDONLY))
    (tmp_path / "data").write_bytes(bytes(1 << 16))
    options = {"mode": "active", "path": str(tmp_path / "data"), "queue_depth": 2}
    params = given(latency_disk, **options, seconds=20.0)
    params["most_bytes"] = latency_disk.check(params)
    with pytest.raises(ValueError, match="printed more than 8388608 bytes"):
        series.of_reads(params)


class TestTheEndOfTheTime:
    """Windows that were measured in time are worth the same without the rest."""

    def tcp(self, monkeypatch, clock, mode: str, took: float, **options: Any) -> Any:
        def once(_given, target, pace):
            if clock[0] + took > pace.deadline:
                raise tcp_latency.NoTime("no answer: there was no time for one")
            clock[0] += took
            return tcp_latency.Series(None, 1.0, took, {"user": [1000] * 9}, {"mode": mode}, [])

        monkeypatch.setattr(series, "_round_trips", once)
        params = given(latency_tcp, host="127.0.0.1", port=9, mode=mode, **options)
        return series.of_round_trips(params)

    @pytest.mark.parametrize("mode", ["handshake", "tns_ping", "request_response"])
    def test_the_next_window_has_none_left(self, monkeypatch, clock, mode):
        options = {"windows": 3, "seconds": 1.0, "pause": 0.0}
        windows, _, remarks = self.tcp(monkeypatch, clock, mode, 0.4, **options)
        assert len(windows) == 2
        assert remarks == ["127.0.0.1:9: there was time for 2 of 3 windows"]

    def test_no_window_at_all(self, monkeypatch, clock):
        with pytest.raises(tcp_latency.NoTime, match="no time for one"):
            self.tcp(monkeypatch, clock, "handshake", 2.0, windows=3, seconds=1.0)

    def test_connections_for_real(self):
        """The second window has room for some samples, the third for none."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            params = {"port": listener.getsockname()[1], "samples": 7, "interval": 0.1}
            params.update(host="127.0.0.1", mode="handshake", windows=3, seconds=1.0)
            windows, _, remarks = series.of_round_trips(given(latency_tcp, **params))
        assert {window.n for window in windows if window.layer == "user"} < set(range(1, 8))
        assert "there was time for 2 of 3 windows" in remarks[-1]

    def disk(self, monkeypatch, tmp_path, clock, took: float, **options: Any) -> series.Measured:
        def read(file, size, pace, _seed, _cpu):
            if clock[0] + took > pace.deadline:
                raise disk_latency.NoTime(f"{file.path}: there was no time for one read")
            clock[0] += took
            window = window_from_samples("disk", file.path, "user", size, 1.0, 1.0, [1000], {})
            return disk_latency.Measured([window], [])

        monkeypatch.setattr(disk_latency, "one_at_a_time", read)
        monkeypatch.setattr(direct_file, "_open", lambda name: os.open(name, os.O_RDONLY))
        (tmp_path / "data").write_bytes(bytes(1 << 16))
        params = given(latency_disk, mode="active", path=str(tmp_path / "data"), **options)
        params["most_bytes"] = latency_disk.check(params)
        return series.of_reads(params)

    @pytest.mark.parametrize(
        ("seconds", "sizes", "remark"),
        [
            (4.0, [8192], "there was time for 0 of 3 windows of 1048576 bytes"),
            (6.5, [8192, 1048576, 8192], "there was time for 1 of 3 windows of 1048576 bytes"),
            (5.0, [8192, 1048576], "there was time for 1 of 3 windows of 8192 bytes"),
        ],
    )
    def test_the_next_reads_have_none_left(
        self, monkeypatch, tmp_path, clock, seconds, sizes, remark
    ):
        """Each series takes 1.1 s: the first pass has two."""
        measured = self.disk(monkeypatch, tmp_path, clock, 1.1, windows=3, seconds=seconds)
        assert [window.size for window in measured.windows] == sizes
        assert len(measured.first_pass) == 2
        assert measured.remarks == [remark]

    def test_the_first_pass_alone(self, monkeypatch, tmp_path, clock):
        with pytest.raises(ValueError, match="the first pass took all of the time"):
            self.disk(monkeypatch, tmp_path, clock, 1.1, windows=3, seconds=3)
