"""Single paths of multipath maps: what Oracle must not use, and what multipath.conf excludes."""

from typing import Any

import pytest
from ansible.module_utils.hostproof.controls.block_devices.parsers import multipath_conf
from ansible.module_utils.hostproof.evaluate import audit
from block_packs import NAMED, ORACLE, BlockMachine, recorded
from cases import cases
from default_policies import default_policy
from packs import FIXTURES
from test_block_devices import partition
from test_block_devices_labels import ASMFD, ASMLIB, labelled

CONF = "/etc/multipath.conf"


def judged(machine: BlockMachine, check: str, *entries: dict[str, Any]) -> dict[str, Any]:
    devices = {"devices": list(entries)} if entries else {}
    policy = {**default_policy("block_devices"), **devices}
    found = audit.judge_host(machine, {"block_devices": policy})
    return {
        one.title.partition(":")[0]: one for one in found if one.check == f"block_devices.{check}"
    }


def held(path: str, machine: BlockMachine | None = None) -> BlockMachine:
    return (machine or recorded()).process("asm_rbal_+ASM1", path, uid=ORACLE)


class TestSinglePath:
    def test_asm_on_a_path(self):
        (finding,) = judged(held("/dev/sda"), "single_path").values()
        assert (finding.status, finding.failing_layer) == ("fail", "in_use")
        assert "sda is a path for udev (DM_MULTIPATH_DEVICE_PATH=1)" in finding.why
        assert "asm_diskstring" in finding.fix and finding.commands == ("multipath -ll",)

    def test_a_partition_of_a_path(self):
        machine = partition(recorded(), 2048)
        (finding,) = judged(machine, "single_path", {"name": "/dev/sda1"}).values()
        assert finding.status == "fail"

    @cases("path", "/dev/dm-0", "/dev/mapper/mpatha")
    def test_the_map(self, path):
        (finding,) = judged(held(path), "single_path").values()
        assert finding.status == "pass"

    @cases(
        "marks status",
        ("E:ID_FS_TYPE=mpath_member\n", "fail"),
        ("E:DM_MULTIPATH_DEVICE_PATH=0\n", "pass"),
        ("E:ID_FS_TYPE=xfs\n", "pass"),
        ("", "pass"),
    )
    def test_what_udev_says(self, marks, status):
        machine = recorded()
        record = machine.files["/run/udev/data/b8:0"]
        kept = [line for line in record.splitlines(True) if "MULTIPATH" not in line]
        text = "".join(line for line in kept if "ID_FS_TYPE" not in line)
        machine.file("/run/udev/data/b8:0", text.replace("V:1\n", marks + "V:1\n"))
        (finding,) = judged(held("/dev/sda", machine), "single_path").values()
        assert finding.status == status

    @cases("driver", ASMLIB, ASMFD)
    def test_a_label_on_a_path(self, driver):
        """The driver has scanned a path before the map: device 8:0 is sda."""
        on_path = (*driver[:2], driver[2].replace("fd 0", "8 0"))
        machine = labelled(on_path, ORACLE, 0o660).file(f"{driver[1]}/DATA1", "/dev/sda\n")
        machine.command("stat -L -c %F %t %T /dev/sda", "block special file 8 0\n")
        machine.link("/sys/dev/block/8:0", machine._resolve("/sys/class/block/sda"))
        machine.file("/etc/sysconfig/oracleasm", 'PASS=1\nORACLEASM_SCANORDER=""\n')
        (finding,) = judged(machine, "single_path").values()
        assert finding.status == "fail"
        assert ("ORACLEASM_SCANEXCLUDE" in finding.fix) == (driver == ASMLIB)
        assert ("afd_dsset" in finding.fix) == (driver == ASMFD)
        assert finding.persisted == ('ORACLEASM_SCANORDER=""' if driver == ASMLIB else None)

    def test_a_label_on_the_map(self):
        (finding,) = judged(labelled(ASMLIB, ORACLE, 0o660), "single_path").values()
        assert finding.status == "pass"

    @cases(
        "lines status",
        ('ORACLEASM_SCANORDER=""\nORACLEASM_SCANEXCLUDE=""\n', "warn"),
        ('ORACLEASM_SCANORDER="sd dm"\n', "warn"),
        ('ORACLEASM_SCANORDER="dm"\nORACLEASM_SCANEXCLUDE="sd"\n', "pass"),
        ("ORACLEASM_SCANORDER='mpath sd'\n", "pass"),
        ('ORACLEASM_SCANEXCLUDE="sda sdb"\n', "pass"),
        ('ORACLEASM_SCANEXCLUDE="sda"\n', "warn"),
        ('ORACLEASM_SCANORDER="dm"\nORACLEASM_SCANEXCLUDE="dm"\n', "fail"),
        ('ORACLEASM_SCANORDER=""\nORACLEASM_SCAN_DIRECTORIES="/dev/mapper"\n', "pass"),
        ('ORACLEASM_SCAN_DIRECTORIES="/dev/mapper /dev/"\n', "warn"),
        # The map is mpatha: a prefix of other names lets the paths be scanned first.
        ('ORACLEASM_SCANORDER="multipath sd"\n', "warn"),
        ('ORACLEASM_SCANORDER="dm-1 sd"\n', "warn"),
        ('ORACLEASM_SCANORDER="emcpower sd"\n', "warn"),
        ('ORACLEASM_SCANORDER="data mapper/mpath sd"\n', "pass"),
        ('ORACLEASM_SCANORDER="/dev/mapper/mpath sd"\n', "pass"),
        ('ORACLEASM_SCANORDER="nvme dm"\n', "pass"),
        ('ORACLEASM_SCANEXCLUDE="mpath"\n', "fail"),
        ('ORACLEASM_SCANORDER="sda dm"\nORACLEASM_SCANEXCLUDE="sda"\n', "pass"),
        ("# ORACLEASM_SCANORDER=dm\n", "pass"),
    )
    def test_the_next_scan_of_asmlib(self, lines, status):
        machine = labelled(ASMLIB, ORACLE, 0o660).file("/etc/sysconfig/oracleasm", lines)
        (finding,) = judged(machine, "single_path").values()
        assert finding.status == status
        assert finding.failing_layer == (None if status == "pass" else "persisted")


class TestFilterDriver:
    @cases(
        "line status words",
        ("afd_diskstring='/dev/mapper/mpath*'\n", "pass", ""),
        ("afd_diskstring='/dev/dm-*','/dev/mapper/*'\n", "pass", ""),
        ("afd_diskstring='/dev/sd*'\n", "fail", "finds sda, sdb, and not the map"),
        ("afd_diskstring='/dev/sd*1'\n", "fail", "finds sda, sdb, and not the map"),
        ("afd_diskstring='/dev/*'\n", "warn", "also finds sda, sdb"),
        ("afd_diskstring='/dev/mapper/*','/dev/sdb'\n", "warn", "also finds sdb"),
        ("afd_filtering=enable\n", "pass", ""),
        (None, "pass", ""),
    )
    def test_where_it_scans(self, line, status, words):
        machine = labelled(ASMFD, ORACLE, 0o664)
        if line is not None:
            machine.file("/etc/oracleafd.conf", line)
        (finding,) = judged(machine, "single_path").values()
        assert (finding.status, words in (finding.why or "")) == (status, True), finding
        assert status == "pass" or (finding.failing_layer, "afd_dsset" in finding.fix) == (
            "persisted",
            True,
        )


class TestVolumes:
    """A logical volume on the map and on a disk beside it."""

    @cases("mark status", ("DM_MULTIPATH_DEVICE_PATH=1", "fail"), ("ID_BUS=scsi", "pass"))
    def test_on_a_map_and_on_a_path(self, mark, status):
        machine = pseudo_device(recorded(), "dm-7")
        folder = "/sys/devices/virtual/block/dm-7"
        machine.file(f"{folder}/dm/name", "vg-data\n").file(f"{folder}/dm/uuid", "LVM-x\n")
        machine.folder(f"{folder}/slaves", f"{folder}/slaves/dm-0", f"{folder}/slaves/sdq")
        pseudo_device(machine, "sdq").file("/sys/devices/virtual/block/sdq/dev", "65:0\n")
        machine.file("/run/udev/data/b65:0", f"E:{mark}\n")
        (finding,) = judged(held("/dev/dm-7", machine), "single_path").values()
        assert finding.status == status, finding.why
        assert status == "pass" or finding.why.startswith("sdq is a path for udev")


def same_disk(machine: BlockMachine, **wwids: str) -> BlockMachine:
    """Disks without marks of udev, with these values of wwid."""
    for name, number in (("sda", "8:0"), ("sdb", "8:16")):
        machine.file(f"/run/udev/data/b{number}", "E:ID_SERIAL=1Linux\n")
        if name in wwids:
            machine.file(machine._resolve(f"/sys/block/{name}/device/wwid"), wwids[name] + "\n")
    return machine


def pseudo_device(machine: BlockMachine, name: str) -> BlockMachine:
    folder = f"/sys/devices/virtual/block/{name}"
    machine.link(f"/sys/class/block/{name}", folder).link(f"/sys/block/{name}", folder)
    machine.file(f"{folder}/dev", "120:0\n").file(f"{folder}/uevent", f"DEVNAME={name}\n")
    machine.folder(f"{folder}/slaves").file(f"/dev/{name}", "")
    machine.owners[f"/dev/{name}"] = (ORACLE, 54322, 0o660)
    return machine


POWERMT = (FIXTURES / "powermt" / "display-all.txt").read_text()


class TestWithoutDeviceMapper:
    """PowerPath, native NVMe multipath, and paths that nothing joins."""

    @cases(
        "sda sdb status",
        ("naa.60060160d3403c00a4a63855", "naa.60060160d3403c00a4a63855", "fail"),
        ("naa.60060160d3403c00a4a63855", "naa.60060160d3403c00a4a63856", "pass"),
        # A name without a serial number says nothing.
        ("t10.QEMU    QEMU HARDDISK", "t10.QEMU    QEMU HARDDISK", "pass"),
        ("", "naa.60060160d3403c00a4a63855", "pass"),
    )
    def test_two_names_of_one_disk(self, sda, sdb, status):
        (finding,) = judged(
            held("/dev/sda", same_disk(recorded(), sda=sda, sdb=sdb)), "single_path"
        ).values()
        assert finding.status == status
        assert status == "pass" or f"sda is the same disk as sdb ({sda})" in finding.why

    @cases("uuid status", ("mpath-1x", "fail"), ("LVM-x", "pass"))
    def test_a_map_that_udev_does_not_know(self, uuid, status):
        """An administrator created the map. Only the kernel knows that the disk is its path."""
        machine = same_disk(recorded())
        place = machine._resolve("/sys/block/sda/holders")
        machine.folder(place, f"{place}/dm-0")
        machine.file(machine._resolve("/sys/block/dm-0/dm/uuid"), uuid + "\n")
        (finding,) = judged(held("/dev/sda", machine), "single_path").values()
        assert finding.status == status
        assert status == "pass" or "sda is a path of mpatha (dm-0) for the kernel" in finding.why

    @cases("order status", ("emcpower sd", "pass"), ("sd emcpower", "warn"), ("dm", "warn"))
    def test_asmlib_on_a_pseudo_device(self, order, status):
        machine = labelled(ASMLIB, ORACLE, 0o660)
        pseudo_device(same_disk(machine), "emcpowerh").command("powermt display dev=all", POWERMT)
        machine.link("/sys/dev/block/253:0", "/sys/devices/virtual/block/emcpowerh")
        machine.file("/etc/sysconfig/oracleasm", f'ORACLEASM_SCANORDER="{order}"\n')
        (finding,) = judged(machine, "single_path").values()
        assert finding.status == status
        assert status == "pass" or "the names of the maps (emcpower)" in finding.fix

    def test_nvme_without_native_multipath(self):
        machine = recorded()
        for number in (0, 1):
            name = f"nvme{number}n1"
            pseudo_device(machine, name)
            machine.file(f"/sys/devices/virtual/block/{name}/wwid", "eui.0025385b71b0a2f1\n")
        (finding,) = judged(held("/dev/nvme0n1", machine), "single_path").values()
        assert (finding.status, "nvme_core.multipath=Y" in finding.fix) == ("fail", True)
        machine.file("/sys/devices/virtual/block/nvme1n1/wwid", "eui.0025385b71b0a2f2\n")
        machine.evidence.clear()
        (finding,) = judged(machine, "single_path").values()
        assert finding.status == "pass"

    @cases("name status", ("nvme0c1n1", "fail"), ("nvme0n1", "pass"))
    def test_native_nvme_multipath(self, name, status):
        machine = pseudo_device(pseudo_device(recorded(), "nvme0n1"), "nvme0c1n1")
        (finding,) = judged(held(f"/dev/{name}", machine), "single_path").values()
        assert finding.status == status
        assert status == "pass" or "nvme0c1n1 is a path of nvme0n1" in finding.why

    @cases(
        "opened text code status",
        ("sda", POWERMT, 0, "fail"),
        ("emcpowerh", POWERMT, 0, "pass"),
        ("sda", POWERMT.replace("sda ", "sdx "), 0, "pass"),
        ("sda", "", 1, "error"),
        ("emcpowerh", "", 1, "pass"),
    )
    def test_powerpath(self, opened, text, code, status):
        machine = pseudo_device(same_disk(recorded()), "emcpowerh")
        machine.command("powermt display dev=all", text, code)
        (finding,) = judged(held(f"/dev/{opened}", machine), "single_path").values()
        assert finding.status == status
        if status == "fail":
            assert "sda is a path of emcpowerh of PowerPath" in finding.why
            assert "emcpower*" in finding.fix


BLACKLISTS = {
    'blacklist {\n devnode "^sd[a-z]"\n}\n': "devnode ^sd[a-z] excludes sda",
    "blacklist {\n\tdevnode .*\n}\n": "devnode .* excludes sda",
    'blacklist {\n devnode "*"\n}\n': "devnode * excludes sda",
    'blacklist\n{\n  wwid "1Linux_scsi_debug_2000"\n}\n': "wwid 1Linux_scsi_debug_2000",
    'blacklist {\n device\t{\n vendor "Linux"\n product "scsi_.*"\n }\n}\n': "device vendor Linux",
    'blacklist {\n device {\n  vendor "(LIO|Linux)"\n }\n}\n': "device vendor (LIO|Linux)",
    'blacklist {\n property "SCSI_IDENT"\n}\n': "property SCSI_IDENT",
    # The first property by name decides: ID_SERIAL is before ID_WWN.
    'blacklist {\n property "ID_SERIAL"\n}\nblacklist_exceptions {\n property "ID_WWN"\n}\n': (
        "property ID_SERIAL excludes sda"
    ),
    'blacklist {\n devnode "!^vd"\n}\n': "devnode !^vd excludes sda",
    # An exception of another kind does not help.
    'blacklist {\n devnode "^sd"\n}\nblacklist_exceptions {\n wwid ".*"\n}\n': "devnode ^sd",
    # Behind the keyword of a section the line is ignored: no exception, and no end.
    'blacklist {\n devnode "^sd"\n}\nblacklist_exceptions { devnode "^sd" }\n': "devnode ^sd",
    'blacklist { # all\n devnode "^sd"\n': "devnode ^sd",
    'devices {\n device {\n vendor "Linux"\n product_blacklist "scsi_debug"\n }\n}\n': (
        "device vendor Linux, product scsi_debug excludes sda"
    ),
}
ALLOWED = [
    "",
    'blacklist {\n devnode "^vd"\n}\n',
    '# blacklist {\n# devnode ".*"\n# }\n',
    'blacklist {\n# devnode "^sd"\n! wwid ".*"\n}\n',
    'blacklist {\n devnode "^sd"\n}\nblacklist_exceptions {\n devnode "^sd[ab]$"\n}\n',
    'blacklist {\n wwid ".*"\n}\nblacklist_exceptions {\n wwid "1Linux_scsi_debug_2000"\n}\n',
    'blacklist {\n device {\n vendor "IBM"\n product ".*"\n }\n}\n',
    'blacklist {\n device {\n vendor "Linux"\n product "Other"\n }\n}\n',
    'defaults {\n find_multipaths yes\n}\ndevices {\n device {\n vendor "Linux"\n }\n}\n',
    'blacklist_exceptions {\n property "(SCSI_IDENT_|ID_WWN)"\n}\n',
    'blacklist {\n property "SCSI_IDENT"\n}\nblacklist_exceptions {\n property "ID_WWN"\n}\n',
    # A section on one line has no content, and an unknown section opens none.
    'blacklist { devnode "^sd" }\n',
    'blacklist {\n devnode "^vd"\n foo {\n}\n devnode "^sd"\n}\n',
    'blacklist {\n devnode "^hd[a-z][[0-9]*]"\n}\n',
    'devices {\n device {\n vendor "Linux"\n product_blacklist "LUNZ"\n }\n}\n',
]


FOUND = "no path is excluded, and multipathd creates the map"
WWIDS = "/etc/multipath/wwids"
SHOW = "multipathd show config local"


class TestMapsAtBoot:
    @pytest.mark.parametrize("text", BLACKLISTS)
    def test_a_blacklist_that_covers_the_paths(self, text):
        (finding,) = judged(recorded().file(CONF, text), "maps_at_boot", NAMED).values()
        assert (finding.status, finding.failing_layer) == ("fail", "persisted")
        assert BLACKLISTS[text] in finding.persisted and "blacklist_exceptions" in finding.fix

    @pytest.mark.parametrize("text", ALLOWED)
    def test_one_that_does_not(self, text):
        (finding,) = judged(recorded().file(CONF, text), "maps_at_boot", NAMED).values()
        assert finding.status == "pass"

    @cases(
        "name line",
        ("equallogic.conf", "devnode ^sda excludes sda"),
        ("longhorn.conf", "devnode ^sda[0-9]* excludes sda; devnode ^sd[a-z] excludes sdb"),
        ("netapp-el6.conf", None),
        ("gfs2.conf", None),
    )
    def test_real_files(self, name, line):
        text = (FIXTURES / "multipath_conf" / name).read_text()
        (finding,) = judged(recorded().file(CONF, text), "maps_at_boot", NAMED).values()
        assert finding.status == ("pass" if line is None else "fail"), finding.why
        assert finding.persisted == (line or FOUND)

    def test_without_a_file_and_with_a_file_of_the_directory(self):
        (finding,) = judged(recorded(), "maps_at_boot", NAMED).values()
        assert finding.status == "pass"
        machine = recorded().folder("/etc/multipath/conf.d", "/etc/multipath/conf.d/a.conf")
        machine.file("/etc/multipath/conf.d/a.conf", "blacklist {\n devnode sd\n}\n")
        (finding,) = judged(machine, "maps_at_boot", NAMED).values()
        assert finding.status == "fail"

    @cases("word", "multipath=off", "nompath", "systemd.mask=multipathd.service")
    def test_the_kernel_parameter(self, word):
        machine = recorded().file("/proc/cmdline", f"root=/dev/vda1 ro {word} quiet\n")
        (finding,) = judged(machine, "maps_at_boot", NAMED).values()
        assert finding.status == "fail"
        assert f"remove {word} from the kernel command line" in finding.fix

    @cases(
        "text",
        'blacklist {\n devnode "(s+)+d"\n}\n',
        'blacklist {\n devnode "[[:alpha:]]"\n}\n',
        # Each of them takes hours on a name that does not match.
        'blacklist {\n wwid "' + ".*" * 20 + 'x"\n}\n',
        'blacklist {\n wwid "' + "1?" * 60 + "1" * 60 + '"\n}\n',
        'blacklist {\n wwid "' + "[a-z_]+" * 12 + '!"\n}\n',
        'blacklist {\n wwid ".{0,99}.{0,99}.{0,99}x"\n}\n',
        'blacklist {\n protocol "scsi:fcp"\n}\n',
        'blacklist {\n devnode "' + "x" * 300 + '"\n}\n',
    )
    def test_what_cannot_be_evaluated_is_unknown(self, text):
        (finding,) = judged(recorded().file(CONF, text), "maps_at_boot", NAMED).values()
        assert finding.status == "error"

    @cases("path", "/proc/cmdline", CONF)
    def test_what_cannot_be_read_is_unknown(self, path):
        (finding,) = judged(recorded().deny(path), "maps_at_boot", NAMED).values()
        assert finding.status == "error"

    @cases(
        "mode listed paths status",
        ("strict", False, 2, "fail"),
        ("strict", True, 2, "pass"),
        ("yes", False, 2, "pass"),
        ('"on"', False, 1, "fail"),
        ("yes", True, 1, "pass"),
        ("smart", False, 1, "fail"),
        ("smart", False, 2, "pass"),
        ("no", False, 1, "pass"),
        ("off", False, 1, "pass"),
        ("greedy", False, 1, "pass"),
        ("maybe", False, 2, "error"),
    )
    def test_find_multipaths(self, mode, listed, paths, status):
        machine = recorded().file(CONF, f"defaults {{\n  find_multipaths {mode}\n}}\n")
        text = "# Valid WWIDs:\n/360014050c1/\n" + "/1Linux_scsi_debug_2000/\n" * listed
        machine.file(WWIDS, text)
        if paths == 1:
            machine.folder("/sys/block/dm-0/slaves").remove("/sys/block/dm-0/slaves/sdb")
        (finding,) = judged(machine, "maps_at_boot", NAMED).values()
        assert finding.status == status, finding.why
        if status == "fail":
            assert f"{WWIDS} does not contain 1Linux_scsi_debug_2000" in finding.persisted
            assert finding.commands == ("multipath -a /dev/sda",)

    @cases("shown status", ("strict", "fail"), ("yes", "pass"), ("off", "pass"), ("", "error"))
    def test_find_multipaths_that_multipathd_shows(self, shown, status):
        machine = recorded().file(CONF, "defaults {\n user_friendly_names yes\n}\n")
        line = f'\tfind_multipaths "{shown}"\n' if shown else ""
        machine.command(SHOW, f"defaults {{\n\tpolling_interval 5\n{line}}}\n")
        (finding,) = judged(machine, "maps_at_boot", NAMED).values()
        assert finding.status == status, finding.why

    @cases(
        "system status",
        ("debian\nVERSION_ID=12", "fail"),
        ("debian\nVERSION_ID=9", "error"),
        ('ubuntu\nVERSION_ID="22.04"', "fail"),
        ("sles\nVERSION_ID=15.5", "pass"),
        ("opensuse-leap\nID_LIKE='suse opensuse'", "pass"),
        ("rocky\nID_LIKE='rhel centos fedora'", "pass"),
        ("arch", "error"),
    )
    def test_find_multipaths_of_the_distribution(self, system, status):
        """Without a line in the file and without a daemon that shows its value."""
        machine = recorded("no-daemon").file(CONF, "defaults {\n}\n")
        machine.file("/etc/os-release", f"ID={system}\n")
        (finding,) = judged(machine, "maps_at_boot", NAMED).values()
        assert finding.status == status, finding.why

    def test_what_adds_a_map_to_the_known_ones(self):
        machine = recorded().file(CONF, "defaults {\n find_multipaths strict\n}\n")
        machine.file("/proc/cmdline", "ro mpath.wwid=1Linux_scsi_debug_2000\n")
        (finding,) = judged(machine, "maps_at_boot", NAMED).values()
        assert finding.status == "pass"
        machine.file(CONF, "defaults {\n find_multipaths strict\n wwids_file /srv/wwids\n}\n")
        machine.file("/proc/cmdline", "ro\n")
        machine.evidence.clear()
        (finding,) = judged(machine, "maps_at_boot", NAMED).values()
        assert finding.status == "error"

    @cases("system status", ("ol\nID_LIKE=fedora", "fail"), ("rhel", "fail"), ("sles", "pass"))
    def test_without_the_file_multipathd_of_red_hat_does_not_start(self, system, status):
        machine = recorded().file("/etc/os-release", f"ID={system}\n")
        machine.file("/etc/multipath/conf.d/a.conf", "defaults {\n find_multipaths no\n}\n")
        (finding,) = judged(machine, "maps_at_boot", NAMED).values()
        assert finding.status == status
        assert status == "pass" or finding.fix.startswith("restore /etc/multipath.conf")

    @cases(
        "model pattern status",
        (("MODEL", "LUN_C-Mode"), "LUN C-Mode", "error"),
        (("MODEL_ENC", "LUN\\x20C-Mode\\x20\\x20"), "LUN C-Mode", "fail"),
        (("MODEL_ENC", "LUN\\x20C-Mode\\x20\\x20"), "LUN_C-Mode", "pass"),
        (("MODEL_ENC", "LUN\\x20C-Mode\\x20\\x20"), "Mode$", "fail"),
        (("MODEL", "LUN_C-Mode"), ".*", "fail"),
    )
    def test_a_product_with_a_blank(self, model, pattern, status):
        """udev writes "_" for a blank; multipath compares the name of the disk."""
        machine = recorded()
        for number in ("8:0", "8:16"):
            lines = machine.files[f"/run/udev/data/b{number}"].splitlines(True)
            kept = [line for line in lines if "_MODEL" not in line]
            text = "".join(kept).replace("V:1\n", f"E:ID_{model[0]}={model[1]}\nV:1\n")
            machine.file(f"/run/udev/data/b{number}", text)
        conf = f'blacklist {{\n device {{\n vendor "Linux"\n product "{pattern}"\n }}\n}}\n'
        (finding,) = judged(machine.file(CONF, conf), "maps_at_boot", NAMED).values()
        assert finding.status == status, finding.why

    @cases(
        "system exceptions status words",
        ("rhel", "ID_WWN", "fail", "sda has no property that the exception property ID_WWN"),
        ("debian", "ID_WWN", "pass", ""),
        ("debian", "ID_ATA", "pass", ""),
        ("rhel", "ID_ATA", "fail", "requires"),
        ("rhel", "ID_ATA|ID_BUS", "pass", ""),
    )
    def test_a_property_that_the_exceptions_require(self, system, exceptions, status, words):
        machine = recorded().file("/etc/os-release", f"ID={system}\n")
        for number in ("8:0", "8:16"):
            lines = machine.files[f"/run/udev/data/b{number}"].splitlines(True)
            kept = [line for line in lines if "WWN" not in line]
            machine.file(f"/run/udev/data/b{number}", "".join(kept))
        conf = f'blacklist_exceptions {{\n property "{exceptions}"\n}}\n'
        (finding,) = judged(machine.file(CONF, conf), "maps_at_boot", NAMED).values()
        assert (finding.status, words in finding.persisted) == (status, True), finding.why
        assert status == "pass" or "from blacklist_exceptions" in finding.fix

    @cases(
        "place pattern status",
        ("rport-7:0-0/target7:0:0/7:0:0:1", "scsi:fcp", "fail"),
        ("rport-7:0-0/target7:0:0/7:0:0:1", "scsi:(iscsi|ata)", "pass"),
        ("session1/target7:0:0/7:0:0:1", "scsi:iscsi", "fail"),
        ("end_device-7:0/target7:0:0/7:0:0:1", "scsi:sas", "fail"),
    )
    def test_a_protocol(self, place, pattern, status):
        machine = recorded()
        for name in ("sda", "sdb"):
            device = f"/sys/devices/pci0/host7/{place}"
            machine.link(f"/sys/block/{name}/device", device).folder(device)
        conf = f'blacklist {{\n protocol "{pattern}"\n}}\n'
        (finding,) = judged(machine.file(CONF, conf), "maps_at_boot", NAMED).values()
        assert finding.status == status, finding.why

    @cases("line why", ("", "built in"), ('devnode "^vd"', None))
    def test_virtual_disks_need_an_exception(self, line, why):
        conf = multipath_conf.parse(f"blacklist_exceptions {{\n {line}\n}}\n")
        found = multipath_conf.excluded_by(multipath_conf.Path("vda", "0x1", {}, None, None), conf)
        assert (found and found[0]) == why

    def test_only_the_lines_of_blacklists_are_recorded(self):
        text = "defaults {\n reservation_key 0x123abc\n find_multipaths yes\n}\n"
        text += 'blacklist {\n devnode "^sd"\n}\n'
        kept = multipath_conf.kept(text)
        assert "0x123abc" not in kept and multipath_conf.parse(kept) == multipath_conf.parse(text)
