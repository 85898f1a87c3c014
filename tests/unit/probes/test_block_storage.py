"""What kind of disk a device or a file stands on."""

import pytest
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.errors import HostproofError, Unanswered
from ansible.module_utils.hostproof.probes.kernel import block_storage
from cases import cases
from packs import Machine

MOUNTS = """\
25 1 8:2 / / rw - xfs /dev/sda2 rw
30 25 253:3 / /u02 rw - xfs /dev/mapper/vg-u02 rw
40 25 0:45 / /u03 rw - nfs4 filer:/vol rw
41 25 0:46 / /btrfs rw - btrfs /dev/nvme0n1p1 rw
42 25 0:47 / /tmp rw - tmpfs tmpfs rw
"""


DEVICE = "/sys/devices/pci0000:00/ata1/host0/0:0:0:0"


def host() -> Machine:
    """A hard disk, a flash disk, NVMe, and a volume on two paths of a LUN."""
    machine = Machine().file("/proc/self/mountinfo", MOUNTS)
    below = {"dm-3": ["dm-0"], "dm-0": ["sdb", "sdc"]}
    for name, rotates in (("sda", 1), ("sdb", 0), ("sdc", 0), ("nvme0n1", 0), ("vda", 1)):
        machine.file(f"/sys/block/{name}/queue/rotational", f"{rotates}\n")
        machine.folder(f"/sys/block/{name}/slaves")
    for name in ("sda", "sdb", "sdc"):
        machine.link(f"/sys/block/{name}/device", DEVICE)
    machine.file(f"{DEVICE}/vendor", "HP      \n")
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


@cases(
    "name kind",
    *(("sda", "hdd"), ("sda2", "hdd"), ("sdb", "ssd"), ("dm-3", "ssd"), ("nvme0n1p1", "nvme")),
    ("vda", "virtual"),
)
def test_a_device(name, kind):
    assert block_storage.of_device(host(), name).kind == kind


@cases(
    "path kind",
    *(("/etc/x", "hdd"), ("/u02/x.dbf", "ssd"), ("/u03/x.dbf", "nfs"), ("/btrfs/x", "nvme")),
    *(("/tmp/x", "other"), ("/dev/mapper/redo", "ssd")),
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


@cases(
    "vendor model rotates place kind",
    ("VMware  ", "Virtual disk", 1, "ata1", "virtual"),
    ("ATA     ", "QEMU HARDDISK   ", 1, "ata1", "virtual"),
    ("Msft    ", "Virtual Disk    ", 1, "ata1", "virtual"),
    ("", "Amazon Elastic Block Store", 0, None, "virtual"),
    ("", "nvme_card-pd", 0, None, "virtual"),
    ("", "Alibaba Cloud Elastic Block Storage", 0, None, "virtual"),
    ("", "MSFT NVMe Accelerator v1.0", 0, None, "virtual"),
    ("ORACLE  ", "BlockVolume", 1, "session1/target2:0:0", "virtual"),
    ("AIX     ", "VDASD", 1, "vio", "virtual"),
    ("HP", "LOGICAL VOLUME", 0, "ata1", "ssd"),
    ("NETAPP", "LUN C-Mode", 0, "rport-7:0-0/target7:0:0", "ssd"),
    # The kernel's default: the array, the controller or the driver reported nothing.
    ("NETAPP", "LUN C-Mode", 1, "rport-7:0-0/target7:0:0", "other"),
    ("EMC", "SYMMETRIX", 1, "session1/target2:0:0", "other"),
    ("DELL", "PERC H730 Mini", 1, "ata1", "other"),
    ("HPE", "LOGICAL VOLUME", 1, "ata1", "other"),
    ("AVAGO", "MR9361-8i", 1, "ata1", "other"),
    ("", "", 1, None, "other"),
    ("ATA     ", "ST4000NM0035", 1, "ata1", "hdd"),
    ("SEAGATE", "ST1200MM0099", 1, "port-0:0/end_device-0:0", "hdd"),
    ("ATA     ", "INTEL SSDSC2KB96", 0, "ata1", "ssd"),
)
def test_the_kind_of_a_disk(vendor, model, rotates, place, kind):
    machine = host().file("/sys/block/sdb/queue/rotational", f"{rotates}\n")
    machine.links.pop("/sys/block/sdb/device")
    target = "/sys/block/sdb/device"
    if place is not None:
        target = f"/sys/devices/pci0000:00/host7/{place}/7:0:0:0"
        machine.link("/sys/block/sdb/device", target)
    if vendor or model:
        machine.file(f"{target}/vendor", vendor + "\n").file(f"{target}/model", model + "\n")
    assert block_storage.of_device(machine, "sdb").kind == kind
    # A volume on a multipath map of it and of a flash disk.
    assert block_storage.of_device(machine, "dm-3").kind == kind


def test_the_place_of_a_disk_may_be_unknown():
    """It is not taken as a hard disk, except in a recording that lacks the reading."""
    machine = host()
    assert block_storage.of_device(machine, "sda").kind == "hdd"
    link = "link:/sys/block/sda/device"
    older = {key: one for key, one in machine.evidence.items() if key != link}
    assert block_storage.of_device(RecordedHost(older), "sda").kind == "hdd"
    machine.refused[link] = "denied"
    machine.evidence.clear()
    assert block_storage.of_device(machine, "sda").kind == "other"


def test_what_is_not_told_is_unknown():
    with pytest.raises(HostproofError):
        block_storage.of_device(host().remove("/sys/block/sda/queue/rotational"), "sda")
    with pytest.raises(Unanswered, match="does not know the disk"):
        block_storage.of_device(host(), "sdz")
    with pytest.raises(HostproofError):
        block_storage.of_device(host().deny(f"{DEVICE}/vendor"), "sda")
