"""The disk string of ASM: whether the next discovery finds paths of maps that ASM uses."""

from typing import Any

import pytest
from ansible.module_utils.hostproof.controls.block_devices.parsers import gpnp_profile
from ansible.module_utils.hostproof.errors import ParseError
from block_packs import DBA, ORACLE, BlockMachine, recorded
from cases import cases
from packs import FIXTURES
from test_block_devices_paths import held, judged

HOME = "/u01/app/19.0.0/grid"
PROFILE = f"{HOME}/gpnp/db1/profiles/peer/profile.xml"
TEXT = (FIXTURES / "gpnp_profile" / "20c-afd.xml").read_text()
OF_ASM, OF_ROOT, OF_GROUP = (ORACLE, DBA, 0o660), (0, 6, 0o660), (0, DBA, 0o660)


def node(string: str | None, sda: tuple[int, int, int] = OF_ROOT, path="/dev/dm-0") -> BlockMachine:
    """A node of a cluster whose profile has this disk string; ASM holds the path open."""
    machine = held(path).file("/etc/oracle/olr.loc", f"crs_home={HOME}\n")
    machine.file("/proc/sys/kernel/hostname", "DB1.example.com\n")
    machine.command(f"getent passwd {ORACLE}", f"grid:x:{ORACLE}:{DBA}::/home/grid:/bin/bash\n")
    machine.command("id -G grid", f"{DBA} 54329\n")
    if string is not None:
        machine.command(f"cat {PROFILE}", TEXT.replace("/dev/fdisk/,AFD:*", string))
    for name in ("/dev/sda", "/dev/sdb"):
        machine.file(name, "")
        machine.owners[name] = sda
    return machine


def one(machine: BlockMachine) -> Any:
    (finding,) = judged(machine, "single_path").values()
    return finding


@cases(
    "string owner status words",
    ("/dev/mapper/*", OF_ASM, "pass", "'/dev/mapper/*'"),
    ("/dev/mapper/mpath?,/dev/nothing*", OF_ROOT, "pass", ""),
    ("/dev/dm-*", OF_ASM, "pass", ""),
    ("/dev/*", OF_ROOT, "pass", ""),
    ("/dev/*", OF_ASM, "fail", "ASM can open /dev/sda, /dev/sdb"),
    ("/dev/*", OF_GROUP, "fail", "ASM can open /dev/sda, /dev/sdb"),
    ("/dev/*", (0, 6, 0o666), "fail", "/dev/sda"),
    ("/dev/*", (ORACLE, DBA, 0o440), "pass", ""),
    ("/dev/mapper/mpath*, /dev/sd[a-z]", OF_ASM, "fail", "/dev/sda, /dev/sdb"),
    ("/dev/sdb,/dev/mapper/*", OF_ASM, "fail", "/dev/sdb"),
    ("/dev/sd*", OF_ROOT, "warn", "matches no name of /dev/dm-0"),
    # A link of a path; the link that the map has with the same name is of the map.
    ("/dev/disk/by-diskseq/10,/dev/dm-0", OF_ASM, "fail", "/dev/disk/by-diskseq/10"),
    ("/dev/disk/by-id/scsi-1Linux*", OF_ASM, "pass", ""),
    # Names of libraries say nothing about nodes.
    ("AFD:*", OF_ASM, "pass", ""),
    ("ORCL:*", OF_ROOT, "pass", ""),
    ("/dev/sd*,AFD:*", OF_ROOT, "pass", ""),
    ("/*", OF_ASM, "pass", ""),
    # The default of the platform is not documented: only the access counts.
    ("", OF_ROOT, "pass", ""),
    ("", OF_ASM, "warn", "is ''"),
    ("++no-value-at-profile-creation--never-updated-through-ASM++", OF_ASM, "warn", "is ''"),
    ("/dev/&#1;", OF_ASM, "error", ""),
    ("/dev/$(id)", OF_ASM, "error", ""),
    ("/dev/$(id)", OF_ROOT, "pass", ""),
)
def test_the_next_discovery(string, owner, status, words):
    finding = one(node(string, owner))
    assert (finding.status, words in (finding.persisted or "")) == (status, True), finding
    if status in ("fail", "warn"):
        assert finding.failing_layer == "persisted"
        assert "asm_diskstring with asmcmd dsset" in finding.fix
        assert "(/dev/mapper/mpatha)" in finding.fix


@cases(
    "string persisted named",
    ("/dev/sd*", "fail", True),
    ("", "fail", True),
    ("/dev/mapper/*", "pass", False),
)
def test_asm_on_a_path(string, persisted, named):
    finding = one(node(string, OF_ASM, "/dev/sda"))
    assert (finding.status, finding.failing_layer) == ("fail", "in_use")
    assert ("let asm_diskstring find only such devices" in finding.fix) == named
    assert (f"is '{string}'" in finding.fix) == named


@cases(
    "lines status",
    ("*.asm_diskstring='/dev/mapper/*'\n", "pass"),
    ("asm_diskstring='/dev/sd*','/dev/mapper/*'\n", "fail"),
    ('asm_diskstring=("/dev/sd*", "/dev/mapper/*")\n', "fail"),
    ("+ASM1.asm_diskstring='/dev/mapper/*'\n*.asm_diskstring='/dev/*'\n", "pass"),
    ("+ASM2.asm_diskstring='/dev/*'\nasm_power_limit=1\n", "warn"),
    ("SPFILE='+DATA/asm/registry.253.1'\n", "error"),
    (None, "error"),
)
def test_the_parameter_file_of_a_host_without_a_profile(lines, status):
    machine = node(None, OF_ASM).command(f"stat -L -c %U {HOME}/bin/sqlplus", "grid\n")
    if lines is not None:
        machine.command(f"cat {HOME}/dbs/init+ASM1.ora", lines)
    finding = one(machine)
    assert finding.status == status, finding.why
    assert status != "fail" or f"asm_diskstring in {HOME}/dbs/init+ASM1.ora" in finding.fix


def test_what_was_not_read_or_not_found():
    assert one(recorded().process("asm_rbal_+ASM1", "/dev/dm-0", uid=ORACLE)).persisted is None
    machine = node("/dev/*", OF_ASM).command("id -G grid", "", 1)
    assert one(machine).status == "fail", "its owner is enough"
    machine = node("/dev/*", OF_GROUP).command("id -G grid", "", 1)
    assert one(machine).status == "error"


def test_a_profile():
    assert gpnp_profile.disk_string(TEXT) == "/dev/fdisk/,AFD:*"
    assert gpnp_profile.disk_string("<gpnp:GPnP-Profile/>") is None
    for text in (TEXT[:-9], "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", "<a>" * 99, ""):
        with pytest.raises(ParseError):
            gpnp_profile.disk_string(text)
