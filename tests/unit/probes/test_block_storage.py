"""What kind of disk a device or a file stands on."""

import pytest
from ansible.module_utils.hostproof.errors import HostproofError, Unanswered
from ansible.module_utils.hostproof.probes.kernel import block_storage
from packs import Machine

MOUNTS = """\
25 1 8:2 / / rw - xfs /dev/sda2 rw
30 25 253:3 / /u02 rw - xfs /dev/mapper/vg-u02 rw
40 25 0:45 / /u03 rw - nfs4 filer:/vol rw
41 25 0:46 / /btrfs rw - btrfs /dev/nvme0n1p1 rw
42 25 0:47 / /tmp rw - tmpfs tmpfs rw
"""


def host() -> Machine:
    """A hard disk, a flash disk, NVMe, and a volume on two paths of a LUN."""
    machine = Machine().file("/proc/self/mountinfo", MOUNTS)
    below = {"dm-3": ["dm-0"], "dm-0": ["sdb", "sdc"]}
    for name, rotates in (("sda", 1), ("sdb", 0), ("sdc", 0), ("nvme0n1", 0), ("vda", 1)):
        machine.file(f"/sys/block/{name}/queue/rotational", f"{rotates}\n")
        machine.folder(f"/sys/block/{name}/slaves")
        machine.file(f"/sys/block/{name}/device/vendor", "HP      \n")
    for name, parts in below.items():
        machine.folder(
            f"/sys/block/{name}/slaves", *[f"/sys/block/{name}/slaves/{p}" for p in parts]
        )
        machine.file(f"/sys/block/{name}/queue/rotational", "0\n")
    machine.link("/sys/dev/block/8:2", "/sys/block/sda/sda2").folder("/sys/block/sda/sda2")
    machine.link("/sys/dev/block/253:3", "/sys/block/dm-3")
    for path in ("/u02/x.dbf", "/etc/x", "/u03/x.dbf", "/btrfs/x", "/tmp/x", "/dev/nvme0n1p1"):
        machine.file(path, "")
    machine.link("/dev/mapper/redo", "/dev/dm-0").file("/dev/dm-0", "")
    return machine


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("sda", "hdd"),
        ("sda2", "hdd"),
        ("sdb", "ssd"),
        ("dm-3", "ssd"),
        ("nvme0n1p1", "nvme"),
        ("vda", "virtual"),
    ],
)
def test_a_device(name, kind):
    assert block_storage.of_device(host(), name).kind == kind


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/etc/x", "hdd"),
        ("/u02/x.dbf", "ssd"),
        ("/u03/x.dbf", "nfs"),
        ("/btrfs/x", "nvme"),
        ("/tmp/x", "other"),
        ("/dev/mapper/redo", "ssd"),
    ],
)
def test_a_path(path, kind):
    assert block_storage.of_path(host(), path).kind == kind


def test_a_file_on_nfs_is_not_touched():
    machine = host()
    assert block_storage.of_path(machine, "/u03/gone/x.dbf").name == "filer:/vol"
    assert list(machine.evidence) == ["file:/proc/self/mountinfo"]


def test_the_slowest_disk_below_counts():
    machine = host().file("/sys/block/sdc/queue/rotational", "1\n")
    assert block_storage.of_device(machine, "dm-3").kind == "hdd"


@pytest.mark.parametrize(
    ("vendor", "model", "kind"),
    [
        ("VMware  ", "Virtual disk", "virtual"),
        ("ATA     ", "QEMU HARDDISK   ", "virtual"),
        ("Msft    ", "Virtual Disk    ", "virtual"),
        ("", "Amazon Elastic Block Store", "virtual"),
        ("HP", "LOGICAL VOLUME", "ssd"),
        ("NETAPP", "LUN C-Mode", "ssd"),
    ],
)
def test_disks_that_a_hypervisor_lends(vendor, model, kind):
    machine = host().file("/sys/block/sdb/device/vendor", vendor + "\n")
    machine.file("/sys/block/sdb/device/model", model + "\n")
    assert block_storage.of_device(machine, "sdb").kind == kind


def test_what_is_not_told_is_unknown():
    with pytest.raises(HostproofError):
        block_storage.of_device(host().remove("/sys/block/sda/queue/rotational"), "sda")
    with pytest.raises(Unanswered, match="does not know the disk"):
        block_storage.of_device(host(), "sdz")
    with pytest.raises(HostproofError):
        block_storage.of_device(host().deny("/sys/block/sda/device/vendor"), "sda")
