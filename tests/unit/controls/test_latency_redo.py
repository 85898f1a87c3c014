"""latency.redo_members: from LGWR's open files to the slowest member by name."""

import latency_packs
import pytest
from cases import cases
from latency_packs import disk, machine
from nfs_packs import shown
from packs import Machine

#: O_RDWR, O_DSYNC, O_DIRECT and O_LARGEFILE on x86-64.
FLAGS = "0150002"
#: Writes of each of three intervals: 300 in 150 ms, or in 3 s.
FAST = ((300, 150),) * 3
SLOW = ((300, 3000),) * 3
IDLE = ((0, 0),) * 3
MOUNTS = (
    "25 1 8:0 / / rw - xfs /dev/sda rw\n"
    "26 25 8:1 / /u01 rw - xfs /dev/sda1 rw\n"
    "27 25 253:3 / /u02 rw - xfs /dev/mapper/vg-redo rw\n"
    f"28 25 0:50 / /u03 rw - nfs filer1:/redo {shown()}\n"
)
FIRST, SECOND, THIRD = (f"/u0{number}/oradata/redo01.log" for number in (1, 2, 3))


def host(*files: str, one=FAST, other=FAST, sid: str = "SALES") -> Machine:
    """LGWR holds these files and control files; /u01 is on sda, /u02 on a volume of sdb."""
    server = machine("sda", "sdb").file("/proc/self/mountinfo", MOUNTS)
    server.folder("/sys/block").folder("/sys/block/dm-3/slaves").folder("/sys/block/sdb/slaves")
    server.file("/sys/block/dm-3/slaves/sdb", "")
    server.folder("/sys/block/sda/sda1").link("/sys/dev/block/8:1", "/sys/block/sda/sda1")
    server.link("/sys/dev/block/253:3", "/sys/block/dm-3")
    for path in files:
        server.file(path, "")
    server.command("uname -m", "x86_64\n")
    control = "/u01/oradata/control01.ctl"
    server.writer(f"ora_dbw0_{sid}", {FLAGS: ["/u01/oradata/system01.dbf"]}, pid=4100)
    server.writer(f"ora_lgwr_{sid}", {FLAGS: [*files, control]}, pid=4101)
    windows = disk("sda", *IDLE, write=one) + disk("sdb", *IDLE, write=other)
    return server.windows_of("passive", *windows, remarks=[latency_packs.NO_NFS])


@pytest.fixture
def judge(findings_of):
    def look(told, **changes):
        policy = latency_packs.latency_policy(**{"probes": latency_packs.PASSIVE, **changes})
        return findings_of("latency", told, policy)["redo_members"]

    return look


def test_the_slowest_member_has_a_name(judge):
    (finding,) = judge(host(FIRST, SECOND, other=SLOW))
    assert (finding.status, finding.title[:7]) == ("warn", "SALES: "), finding.why
    assert finding.why == (
        f"The slowest member is {SECOND} on sdb: 10 ms. The fastest is {FIRST} on sda: 0.5 ms."
    )
    assert finding.values == {f"{SECOND} write_ms": 10.0, f"{FIRST} write_ms": 0.5}


@cases("other", FAST, ((300, 290),) * 3)
def test_members_of_similar_devices(judge, other):
    (finding,) = judge(host(FIRST, SECOND, other=other))
    assert finding.status == "pass" and f"{SECOND} on sdb" in finding.in_use


def test_data_files_and_control_files_are_no_members(judge):
    (finding,) = judge(host(SECOND, other=SLOW))
    assert finding.status == "pass" and list(finding.values) == [f"{SECOND} write_ms"]


def test_an_idle_device_has_no_latency(judge):
    (finding,) = judge(host(FIRST, SECOND, other=IDLE))
    assert finding.status == "pass"
    assert finding.in_use == f"{FIRST} on sda: 0.5 ms; no write latency: 1 members"
    (none,) = judge(host(FIRST, SECOND, one=IDLE, other=IDLE))
    assert none.status == "skip"
    assert "No write latency was measured for 2 redo log members." in none.why


def test_a_member_on_a_mount(judge):
    server = host(FIRST, THIRD)
    windows = [
        latency_packs.samples("user", *[12.0] * 300, probe="nfs", subject="/u03 WRITE"),
        *disk("sda", *IDLE, write=FAST),
    ]
    server.windows_of("passive", *windows)
    (finding,) = judge(server)
    assert finding.status == "warn"
    assert f"The slowest member is {THIRD} on /u03: 12 ms." in finding.why


def test_no_instance_and_no_window(judge):
    (none,) = judge(machine("sda").windows_of("passive", remarks=[latency_packs.NO_NFS]))
    assert (none.status, "No LGWR writes to redo log files." in none.why) == ("skip", True)
    (none,) = judge(host(FIRST), window_seconds=0)
    assert none.status == "skip"
    (none,) = judge(host(FIRST), probes=[])
    assert none.status == "skip"


def test_who_may_not_look_does_not_know(judge):
    (finding,) = judge(host(FIRST, SECOND).deny("held:writers"))
    assert finding.status == "error"
