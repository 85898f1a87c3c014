"""Disks on a real dm-multipath: two SCSI hosts that show one unit of scsi_debug.

A path is down, a map queues for ever, the daemon is away: each is found. Rules of udev are written,
taken by udev, and put back. Every test goes on where the one before it ended; the story leaves the
machine as it found it.
"""

import pytest
from lab_machine import LabMachine

ENTRY = {"name": "mpath*", "owner": "oracle", "group": "dba", "mode": "0660"}
MIRRORED = {"block_devices_devices": [{**ENTRY, "redundancy": "normal"}]}
QUEUES = {
    "block_devices_devices": [
        {**ENTRY, "redundancy": "normal", "scheduler": ["none"], "nr_requests": 64}
    ]
}
CONF = """defaults {{
\tuser_friendly_names yes
\tfind_multipaths no
\tpolling_interval 2
\tno_path_retry {}
}}
blacklist {{
\tdevnode "^vd"
}}
"""


class DiskLab(LabMachine):
    control = "block_devices"

    @property
    def node(self) -> str:
        """The kernel's name of the map: other stories may have maps too."""
        return self.run("basename $(readlink -f /dev/mapper/mpatha)").strip()

    @property
    def map(self) -> str:
        return f"mpatha ({self.node})"

    def configure(self, retry: str) -> None:
        """How long the map queues; the kernel's table shows when the daemon has read it."""
        self.run(f"cat > /etc/multipath.conf <<'X'\n{CONF.format(retry)}X")
        self.run("systemctl is-active -q multipathd || systemctl start multipathd")
        queueing = {"fail": "off", "queue": "on"}.get(retry, f"{retry} chk")
        self.run("multipathd reconfigure")
        self.until(f"multipathd show maps format '%w %Q' | grep -q ' {queueing} *$'")

    def until(self, command: str) -> None:
        self.run(f"for i in $(seq 120); do {command} && exit; sleep 0.5; done; exit 1")

    def path(self, disk: str, state: str, kernel: str) -> None:
        """Take a path away or bring it back, and wait until the kernel's map knows."""
        self.run(f"echo {state} > /sys/block/{disk}/device/state")
        number = self.run(f"cat /sys/block/{disk}/dev").strip()
        self.until(f"dmsetup status --target multipath | grep -q ' {number} {kernel} '")

    def values(self) -> dict[str, str]:
        disks = (self.node, "sda", "sdb")
        files = " ".join(f"/sys/block/{disk}/queue/{{scheduler,nr_requests}}" for disk in disks)
        lines = self.run(f"bash -c 'grep -H . {files}'").splitlines()
        node = self.run("stat -L -c '%U:%G %a' /dev/mapper/mpatha").strip()
        return {**dict(line.split(":", 1) for line in lines), "node": node}


@pytest.fixture(scope="module")
def machine(tools):
    lab = DiskLab()
    lab.run("modprobe dm-multipath")
    lab.run(f"cat > /etc/multipath.conf <<'X'\n{CONF.format('fail')}X")
    lab.run("systemctl enable -q --now multipathd")
    lab.run("modprobe scsi_debug vpd_use_hostno=0 add_host=2 dev_size_mb=32")
    lab.until("test $(multipathd show maps format '%N' | tail -n 1) = 2")
    lab.run("udevadm settle")
    yield lab
    lab.run(
        "multipath -f mpatha; systemctl disable -q --now multipathd multipathd.socket; "
        "rmmod scsi_debug; rm -f /etc/multipath.conf /etc/multipath/wwids /etc/multipath/bindings"
    )


@pytest.fixture(scope="module")
def untouched(machine):
    return machine.values(), machine.files()


def test_two_paths_of_one_unit_are_well(machine, untouched):
    with machine.own_python():
        statuses = machine.verify(**MIRRORED).statuses()
    assert statuses["block_devices.multipathd"] == "pass"
    for check in ("paths", "paths_alike", "multipath_queueing"):
        assert statuses[f"{machine.map} block_devices.{check}"] == "pass"
    assert statuses[f"/dev/{machine.node} block_devices.ownership"] == "fail"


def test_a_path_that_is_down_is_found(machine):
    machine.path("sdb", "offline", "F")
    finding = machine.verify(**MIRRORED).finding(f"{machine.map} block_devices.paths")
    assert finding["status"] == "fail"
    assert finding["values"] == {"paths": 2, "working": 1}
    assert "sda works (running), sdb failed (offline)" in finding["running"]
    machine.path("sdb", "running", "A")
    assert machine.verify(**MIRRORED).statuses()[f"{machine.map} block_devices.paths"] == "pass"


@pytest.mark.parametrize(
    ("retry", "normal", "external"),
    [
        ("queue", "fail", "pass"),
        ("24", "pass", "pass"),
        ("120", "fail", "pass"),
        ("fail", "pass", "warn"),
    ],
)
def test_how_long_a_map_waits_is_judged_by_redundancy(machine, retry, normal, external):
    machine.configure(retry)
    outside = {"block_devices_devices": [{**ENTRY, "redundancy": "external"}]}
    name = f"{machine.map} block_devices.multipath_queueing"
    assert machine.verify(**MIRRORED).statuses()[name] == normal
    assert machine.verify(**outside).statuses()[name] == external


def test_a_daemon_that_is_away_is_found_and_not_started(machine):
    machine.run("systemctl stop multipathd.socket multipathd")
    finding = machine.verify(**MIRRORED).finding("block_devices.multipathd")
    assert (finding["status"], finding["running"]) == ("fail", "inactive")
    assert machine.run("systemctl is-active multipathd || true").strip() == "inactive"
    machine.configure("24")


def test_apply_has_udev_set_owners_and_queues(machine, untouched):
    before = machine.values()
    checked = machine.apply(check=True, **QUEUES)
    assert checked.rc == 0
    assert "99-zz-hostproof-block_devices.rules" in checked.output
    assert machine.values() == before
    statuses = machine.apply(**QUEUES).statuses()
    assert set(statuses.values()) <= {"pass", "skip"}
    assert machine.values()["node"] == "oracle:dba 660"
    assert machine.apply(**QUEUES).changed == 0


def test_a_new_event_and_a_new_disk_keep_it(machine):
    """What a boot does: the map is made anew, and udev hears of disks that are added."""
    expected = machine.values()
    machine.run(f"udevadm trigger --action=change /sys/block/{machine.node} && udevadm settle")
    assert machine.values() == expected
    machine.run("multipath -f mpatha && rmmod scsi_debug")
    machine.run("modprobe scsi_debug vpd_use_hostno=0 add_host=2 dev_size_mb=32")
    machine.until("test $(multipathd show maps format '%N' | tail -n 1) = 2")
    machine.run("udevadm settle")
    machine.until("test \"$(stat -L -c '%U:%G' /dev/mapper/mpatha)\" = oracle:dba")
    assert machine.values() == expected
    assert set(machine.verify(**QUEUES).statuses().values()) <= {"pass", "skip"}


def test_revert_puts_back_the_file_the_values_and_the_owner(machine, untouched):
    assert machine.revert().rc == 0
    values, files = untouched
    assert machine.values() == values
    changed = {path for path, content in machine.files().items() if files.get(path) != content}
    # multipathd's own, and what the story wrote for it.
    assert {path for path in changed if "multipath" not in path} == set()
