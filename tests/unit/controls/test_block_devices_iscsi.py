"""iSCSI sessions of disks in use: the login at boot, and the time until a path fails.

The record is one of a public initiator on EL 7; names and addresses are replaced.
"""

from typing import Any

from block_packs import NAMED, BlockMachine, recorded
from cases import cases
from packs import FIXTURES
from test_block_devices_paths import judged

TARGET = "iqn.2003-01.com.example:san.a5cb3c86aadd"
RECORD = (FIXTURES / "iscsi" / "node-record.txt").read_text()
RED_HAT, SUSE = "/var/lib/iscsi/nodes", "/etc/iscsi/nodes"
LONG = "node.session.timeo.replacement_timeout = "


def machine_of(
    folder: str = RED_HAT,
    text: str = RECORD,
    running: str = "5",
    place: str = "192.0.2.239,3260,1/default",
    services: tuple[str, str] = ("enabled", ""),
) -> BlockMachine:
    """The two paths are sessions 1 and 2 of one target; both have a record."""
    machine = recorded()
    for number, disk in ((1, "sda"), (2, "sdb")):
        device = f"/sys/devices/platform/host{number}/session{number}/target0:0:0/{number}:0:0:0"
        machine.link(f"/sys/block/{disk}/device", device).folder(device)
        session = f"/sys/class/iscsi_session/session{number}"
        connection = f"/sys/class/iscsi_connection/connection{number}:0"
        machine.file(f"{session}/targetname", TARGET + "\n")
        machine.file(f"{session}/recovery_tmo", running + "\n")
        machine.file(f"{connection}/persistent_address", f"192.0.2.{238 + number}\n")
        machine.file(f"{connection}/persistent_port", "3260\n")
        if text:
            other = place.replace("239", str(238 + number))
            machine.file(f"{folder}/{TARGET}/{other}", text)
    for unit, word in zip(("iscsi.service", "open-iscsi.service"), services, strict=True):
        machine.command(f"systemctl is-enabled {unit}", word + "\n", 0 if word else 1)
    return machine


def findings(machine: BlockMachine, check: str) -> list[Any]:
    return list(judged(machine, check, NAMED).values())


@cases(
    "changes status says",
    ({}, "pass", ""),
    ({"folder": SUSE}, "pass", ""),
    ({"place": "192.0.2.239,3260,1"}, "pass", ""),
    ({"services": ("", "enabled")}, "pass", ""),
    ({"text": RECORD.replace("startup = automatic", "startup = onboot")}, "pass", ""),
    ({"text": RECORD.replace("node.startup = automatic", "node.startup = manual")}, "fail", ""),
    ({"text": "node.name = x\n"}, "fail", "node.startup manual"),
    ({"services": ("disabled", "")}, "fail", "iscsi.service is disabled"),
    ({"services": ("", "masked")}, "fail", "open-iscsi.service is masked"),
    ({"services": ("", "")}, "fail", "not known to systemd"),
)
def test_login_at_boot(changes, status, says):
    for finding in findings(machine_of(**changes), "iscsi_login"):
        assert finding.status == status, finding.why
        assert says in finding.why or status == "pass"


def test_one_record_is_manual():
    machine = machine_of()
    manual = RECORD.replace("node.startup = automatic", "node.startup = manual")
    machine.file(f"{RED_HAT}/{TARGET}/192.0.2.240,3260,1/default", manual)
    first, second = findings(machine, "iscsi_login")
    assert (first.status, second.status, second.failing_layer) == ("pass", "fail", "persisted")
    assert second.commands == (
        f"iscsiadm -m node -T {TARGET} -p 192.0.2.240:3260 -o update -n node.startup -v automatic",
    )
    assert "sdb is missing" in second.why


def test_no_record_of_the_target():
    machine = machine_of(text="").folder(RED_HAT)
    assert {one.status for one in findings(machine, "iscsi_login")} == {"fail"}
    machine = machine_of(text="")
    assert {one.status for one in findings(machine, "iscsi_login")} == {"error"}, "no directory"
    machine = machine_of(place="192.0.2.77,3260,1/default")
    statuses = {one.status for one in findings(machine, "iscsi_login")}
    assert statuses == {"error"}, "records of another portal"


@cases(
    "parameter text status",
    (f"netroot=iscsi:@192.0.2.239::3260::{TARGET}", "", "skip"),
    (f"rd.iscsi.target.name={TARGET}", "", "skip"),
    (f"netroot=iscsi:@192.0.2.239::3260::{TARGET}2", "", "fail"),
    # The firmware logs in to its disk; whether this is the one is not known.
    ("rd.iscsi.firmware=1", "", "error"),
    ("rd.iscsi.firmware=1", RECORD, "pass"),
    ("netroot=nfs", "", "fail"),
)
def test_the_initramfs_logs_in(parameter, text, status):
    machine = machine_of(text=text).file("/proc/cmdline", f"root=UUID=1 {parameter} ro\n")
    machine.folder(RED_HAT)
    assert {one.status for one in findings(machine, "iscsi_login")} == {status}


@cases("path", f"{RED_HAT}/{TARGET}", "/sys/class/iscsi_session/session1/targetname")
def test_unknown_is_an_error(path):
    assert findings(machine_of().deny(path), "iscsi_login")[0].status == "error"


@cases("name", "../../../etc", "iqn.x/../../y", ".hidden", "")
def test_a_hostile_name_of_a_target_is_never_a_path(name):
    machine = machine_of().file("/sys/class/iscsi_session/session1/targetname", name + "\n")
    assert findings(machine, "iscsi_login")[0].status == "error"
    assert not [key for key in machine.evidence if "nodes/" in key and TARGET not in key]


def test_passwords_of_a_record_are_not_read():
    machine = machine_of(text=RECORD.replace("auth.password = <empty>", "auth.password = geheim"))
    findings(machine, "iscsi_login")
    assert "geheim" not in str(machine.evidence)


@cases(
    "running record status layer",
    ("5", "5", "pass", None),
    ("5", "120", "pass", None),  # multipathd sets fast_io_fail_tmo
    ("20", "20", "pass", None),
    ("120", "120", "warn", "running"),
    ("120", "15", "warn", "running"),
    ("15", "120", "warn", "persisted"),
    ("200", "5", "fail", "running"),
    ("86400", "86400", "fail", "running"),
    ("-1", "-1", "fail", "running"),
    ("off", "5", "fail", "running"),
)
def test_replacement_timeout(running, record, status, layer):
    machine = machine_of(text=RECORD.replace(LONG + "120", LONG + record), running=running)
    for finding in findings(machine, "iscsi_timeout"):
        assert (finding.status, finding.failing_layer) == (status, layer), finding.why


def test_replacement_timeout_without_multipath():
    (finding,) = judged(machine_of(running="86400"), "iscsi_timeout", {"name": "/dev/sda"}).values()
    assert finding.status == "skip"


def test_without_iscsi():
    assert [one.status for one in findings(recorded(), "iscsi_login")] == ["skip"]
