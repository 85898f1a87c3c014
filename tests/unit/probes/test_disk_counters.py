"""Which devices stand for a host's storage, and what intervals of counters say."""

from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.controls.latency.measurement import disk_counters
from ansible.module_utils.hostproof.controls.latency.measurement.disk_counters import (
    Interval,
    NoSuchDevice,
)
from ansible.module_utils.hostproof.controls.latency.parsers.diskstats import Difference
from ansible.module_utils.hostproof.errors import Unanswered
from cases import cases

ROW = "{major} {minor} {name} {reads} 0 {sectors} {read_ms} {writes} 0 0 {write_ms} 0 {busy} {busy}"

#: Two paths of one LUN under multipath, a volume on it and one on a partition of a local disk.
STACK: dict[str, list[str]] = {
    "sda": [],
    "sdb": [],
    "sdc": [],
    "dm-0": ["sda", "sdb"],
    "dm-1": ["dm-0"],
    "dm-2": ["sdc2"],
    "md0": ["nvme0n1", "nvme1n1"],
    "nvme0n1": [],
    "nvme1n1": [],
    "loop0": [],
    "sr0": [],
    "zram0": [],
}
UUIDS = {"dm-0": "mpath-360a98000", "dm-1": "LVM-x", "dm-2": "LVM-y"}


def row(name: str, **counted: int) -> str:
    zero = dict.fromkeys(["reads", "sectors", "read_ms", "writes", "write_ms", "busy"], 0)
    return ROW.format(major=8, minor=0, name=name, **{**zero, **counted}) + "\n"


#: Those with a request queue of their own: what is made of bios alone has none.
QUEUES = ["sda", "sdb", "sdc", "dm-0", "nvme0n1", "loop0", "sr0"]


def host(links: dict[str, str] | None = None, **evidence: Any) -> RecordedHost:
    known: dict[str, Any] = {"dir:/sys/block": {"kind": "dir", "names": sorted(STACK)}}
    absent = {"kind": "file", "error": "absent", "message": "No such file"}
    for name, parts in STACK.items():
        known[f"dir:/sys/block/{name}/slaves"] = {"kind": "dir", "names": parts}
        known[f"file:/sys/block/{name}/dm/uuid"] = (
            {"kind": "file", "text": UUIDS[name] + "\n"} if name in UUIDS else absent
        )
        queues = (
            {"kind": "dir", "names": ["0", "1"]} if name in QUEUES else {**absent, "kind": "dir"}
        )
        known[f"dir:/sys/block/{name}/mq"] = queues
        known[f"link:/dev/{name}"] = {"kind": "link", "target": f"/dev/{name}"}
    for name, target in (links or {}).items():
        known[f"link:{name}"] = {"kind": "link", "target": target}
    text = "".join(row(name) for name in [*STACK, "sdc1", "sdc2"])
    known["file:/proc/diskstats"] = {"kind": "file", "text": text}
    known["link:/dev/sdx"] = {"kind": "link", "error": "absent", "message": "No such file"}
    return RecordedHost({**known, **evidence})


def test_one_layer_of_each_stack() -> None:
    assert disk_counters.choose(host(), disk_counters.DEVICES) == [
        "dm-0",
        "nvme0n1",
        "nvme1n1",
        "sdc",
    ]
    assert disk_counters.choose(host(), disk_counters.PATHS) == [
        "nvme0n1",
        "nvme1n1",
        "sda",
        "sdb",
        "sdc",
    ]


def test_devices_by_name() -> None:
    links = {"/dev/mapper/redo": "/dev/dm-1", "/dev/sdc2": "/dev/sdc2"}
    given = ["/dev/mapper/redo", "/dev/dm-1", "sdc2", "md0"]
    assert list(disk_counters.names_given(host(links), given)) == ["dm-1", "sdc2", "md0"]


def test_a_device_keeps_the_name_by_which_the_user_called_it() -> None:
    links = {"/dev/mapper/redo": "/dev/dm-1", "/dev/sdc2": "/dev/sdc2"}
    names = ["/dev/mapper/redo", "/dev/dm-1", "/dev/sdc2", "md0"]
    aliases = disk_counters.names_given(host(links), names)
    assert aliases == {
        "dm-1": ["/dev/mapper/redo", "/dev/dm-1"],
        "sdc2": ["/dev/sdc2"],
        "md0": ["md0"],
    }
    seen = [disk_counters.Interval(3.0, dict.fromkeys(aliases, interval(100, 20).devices["sda"]))]
    windows, _ = disk_counters.windows(list(aliases), seen, None, None, aliases)
    assert {window.subject: window.conditions.get("named") for window in windows} == {
        "dm-1": ["/dev/mapper/redo", "/dev/dm-1"],
        "sdc2": ["/dev/sdc2"],
        "md0": None,
    }
    assert all("named" not in window.conditions for window in windows if window.subject == "md0")


@cases(
    "names words",
    (["dm-0", "sdb"], "dm-0 is on sdb"),
    (["sdb", "dm-0"], "dm-0 is on sdb"),
    (["sda", "dm-1"], "dm-1 is on sda"),
    (["dm-2", "sdc"], "dm-2 is on sdc"),
    (["sdc1", "sdc"], "sdc1 is on sdc"),
    (["md0", "nvme1n1"], "md0 is on nvme1n1"),
    (["sdx"], "sdx is not a block device of this host"),
)
def test_each_io_counts_once(names: list[str], words: str) -> None:
    links = {"/dev/sdc1": "/dev/sdc1"}
    with pytest.raises(NoSuchDevice, match=words):
        disk_counters.names_given(host(links), names)


def test_intervals_are_differences() -> None:
    texts = [row("sda", reads=n * 100, read_ms=n * 50, sectors=n * 1600) for n in range(3)]
    evidence = {
        f"sample:diskstats_{n}": {
            "kind": "sample",
            "seconds": 3.0,
            "first": {"file:/proc/diskstats": texts[n]},
            "second": {"file:/proc/diskstats": texts[n + 1]},
            "errors": {},
        }
        for n in range(2)
    }
    intervals = disk_counters.read_intervals(RecordedHost(evidence), 2, 3.0)
    assert [reading.devices["sda"].reads for reading in intervals] == [100, 100]
    windows, remarks = disk_counters.windows(["sda"], intervals, None)
    assert windows[0].p50 == 500.0
    assert windows[0].conditions["request_bytes"] == 8192
    assert "too few" in remarks[0]


def test_counters_that_cannot_be_read_are_unknown() -> None:
    evidence = {
        "sample:diskstats_0": {
            "kind": "sample",
            "seconds": 3.0,
            "first": {},
            "second": {},
            "errors": {"file:/proc/diskstats": "Permission denied"},
        }
    }
    with pytest.raises(Unanswered, match="Permission denied"):
        disk_counters.read_intervals(RecordedHost(evidence), 1, 3.0)


def test_this_host() -> None:
    (reading,) = disk_counters.read_intervals(LiveHost(), 1, 0.01)
    assert reading.seconds >= 0.01
    assert all(moved.reads >= 0 for moved in reading.devices.values())


def interval(reads: int, read_ms: int, writes: int = 0, write_ms: int = 0) -> Interval:
    moved = Difference(reads, 0, reads * 16, read_ms, writes, 0, 0, write_ms, 300, 1500)
    return Interval(3.0, {"sda": moved})


def test_the_median_of_intervals_not_the_quotient_of_all() -> None:
    quiet = [interval(100, 20) for _ in range(4)]
    windows, _ = disk_counters.windows(["sda"], [*quiet, interval(1000, 20000)], 1700000000.0)
    read, write = windows
    assert (read.layer, read.subject, read.size, read.n) == ("read", "sda", None, 1400)
    assert (read.minimum, read.p50, read.maximum) == (200.0, 200.0, 20000.0)
    assert read.mean == pytest.approx(1e6 * 20080 / 1e3 / 1400)
    assert (read.p90, read.p99, read.bins) == (None, None, None)
    assert (read.started, read.seconds) == (1700000000.0, 15.0)
    conditions = read.conditions
    assert (conditions["queue"], conditions["busy_percent"]) == (0.5, 10.0)
    assert (conditions["intervals"], conditions["intervals_told"]) == (5, 5)
    assert (write.layer, write.n, write.p50) == ("write", 0, None)


def test_too_few_ios_tell_nothing() -> None:
    windows, remarks = disk_counters.windows(["sda"], [interval(29, 290)] * 3, None)
    assert (windows[0].n, windows[0].p50, windows[0].mean) == (87, None, None)
    assert remarks[0] == ("sda: too few I/Os to tell (87 reads in 9 s, and no interval with 30)")
    windows, _ = disk_counters.windows(["sda"], [interval(29, 290), interval(30, 60)], None)
    assert (windows[0].p50, windows[0].conditions["intervals_told"]) == (2000.0, 1)


def test_a_device_that_was_made_anew() -> None:
    gone = Interval(3.0, {})
    windows, remarks = disk_counters.windows(["sda"], [interval(100, 10, 100, 10), gone], None)
    assert len(windows) == 2
    assert remarks == ["sda: was replaced in that time, so 1 of 2 intervals count"]
    windows, remarks = disk_counters.windows(["sda"], [gone], None)
    assert windows == []
    assert "has no counters" in remarks[0]


def test_what_has_no_request_queue_is_counted_in_ticks() -> None:
    """Volumes, md and NVMe's own multipath; multipath of requests (dm-0) has a queue."""
    named = ["sdc", "sdc2", "dm-0", "dm-1", "md0", "md0p1", "nvme0n1", "nvme1n1"]
    ticks = disk_counters.in_ticks(host(), named)
    assert list(ticks) == ["dm-1", "md0", "md0p1", "nvme1n1"]
    assert disk_counters.tick_remarks(ticks, 4000.0) == [
        "the kernel counts the time of dm-1, md0, md0p1, nvme1n1 in ticks of 4 ms, for want of a "
        "request queue: a mean can be up to 4 ms too long or too short"
    ]
    many = {f"dm-{number}": disk_counters.NO_QUEUE for number in range(200)}
    assert " dm-19 and 180 more in ticks of " in disk_counters.tick_remarks(many, 4000.0)[0]


def test_an_old_kernel_counts_all_in_ticks() -> None:
    def by(release: str) -> dict[str, str]:
        readings = {"file:/proc/sys/kernel/osrelease": {"kind": "file", "text": release + "\n"}}
        return disk_counters.in_ticks(host(**readings), ["sda", "sdb", "dm-1"])

    for release in ("3.10.0-1160.el7.x86_64", "4.14.35-2047.el7uek.x86_64"):
        assert list(by(release)) == ["sda", "sdb", "dm-1"]
    (remark,) = disk_counters.tick_remarks(by("3.10.0-1160.el7.x86_64"), 1000.0)
    assert remark.startswith("a Linux before 4.18 counts the time of every device in ticks of 1 ms")
    for release in ("4.18.0-553.el8_10.x86_64", "6.1.0-18-amd64"):
        assert list(by(release)) == ["dm-1"]


@cases("error", "absent", "denied", "unanswered", None)
def test_what_the_host_does_not_tell_is_not_said(error: str | None) -> None:
    """A record from before this was read has no such reading, and keeps its answer."""
    evidence = dict(host().evidence)
    for key in ("dir:/sys/block", "dir:/sys/block/dm-1/mq"):
        changed = {key: {"kind": "dir", "error": error, "message": "x"}} if error else {}
        known = {name: reading for name, reading in evidence.items() if name != key}
        ticks = disk_counters.in_ticks(RecordedHost({**known, **changed}), ["sda", "dm-1"])
        assert list(ticks) == (["dm-1"] if error == "absent" and key.endswith("mq") else [])


def test_this_host_tells_which_devices_have_a_queue() -> None:
    names = [path.name for path in Path("/sys/block").iterdir()]
    if not names:
        pytest.skip("no block device here")
    ticks = disk_counters.in_ticks(LiveHost(), names)
    if disk_counters.OLD_KERNEL not in ticks.values():
        assert sorted(ticks) == sorted(
            name for name in names if not Path("/sys/block", name, "mq").is_dir()
        )


def test_windows_of_a_device_that_is_counted_in_ticks() -> None:
    windows, remarks = disk_counters.windows(["sda"], [interval(100, 20)], None, {"sda": 4000.0})
    resolutions = [
        (window.conditions["counted_in"], window.conditions["resolution_us"]) for window in windows
    ]
    assert resolutions == [("ticks", 4000.0)] * 2
    windows, _ = disk_counters.windows(["sda"], [interval(100, 20)], None, {"dm-1": 4000.0})
    assert "counted_in" not in windows[0].conditions
    assert windows[0].conditions["resolution_us"] == 10.0


def special(path: str, told: str, rc: int = 0) -> dict[str, Any]:
    """A special file that is no link, and what stat says of it."""
    key = f"command:stat -L -c %t:%T:%F {path}"
    argv = key.split(":", 1)[1].split(" ")
    return {
        f"link:{path}": {"kind": "link", "target": path},
        key: {"kind": "command", "argv": argv, "rc": rc, "stdout": told, "stderr": ""},
        "file:/proc/diskstats": {
            "kind": "file",
            "text": row("sda") + row("dm-1").replace("8 0", "253 17", 1),
        },
    }


@cases("path", "/dev/mapper/redo", "/dev/mapper/sda", "/tmp/disk")
def test_a_special_file_that_is_no_link(path: str) -> None:
    """Made by mknod, or by a device mapper without udev: 253 is fd, 17 is 11 to stat."""
    made = host(**special(path, "fd:11:block special file\n"))
    assert disk_counters.names_given(made, [path]) == {"dm-1": [path]}


@cases(
    "told rc",
    ("fd:12:block special file\n", 0),
    ("fd:11:character special file\n", 0),
    ("0:0:regular file\n", 0),
    ("zz:11:block special file\n", 0),
    ("fd:11:block special file\n", 1),
    ("", 0),
)
def test_a_file_that_is_no_device_of_this_host(told: str, rc: int) -> None:
    path = "/tmp/sda"
    with pytest.raises(NoSuchDevice, match=f"{path} is not a block device"):
        disk_counters.names_given(host(**special(path, told, rc)), [path])
