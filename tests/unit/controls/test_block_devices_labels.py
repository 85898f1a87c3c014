"""Owner and mode of labels of ASMLIB and of the filter driver, as they are judged.

Owner and mode of ASMLIB are those of a public ORAchk run on Oracle Linux 7 (brw-rw---- oracle
oinstall); those of the filter driver are made up.
"""

import block_packs
import pytest
from block_packs import DBA, ORACLE, recorded
from cases import cases
from default_policies import default_policy

ASMLIB = ("/dev/oracleasm/iid/0000000000000001", "/dev/oracleasm/disks", "block special file fd 0")
ASMFD = ("/dev/oracleafd/admin", "/dev/oracleafd/disks", "regular file 0 0")


@pytest.fixture
def judge(findings_of):
    policy = default_policy("block_devices")
    return lambda machine: findings_of("block_devices", machine, policy)["labels"][0]


def labelled(driver, uid, mode) -> block_packs.BlockMachine:
    opened, folder, kind = driver
    machine = recorded().process("asm_dbw0_+ASM", opened, uid=ORACLE)
    path = f"{folder}/DATA1"
    machine.folder(folder).file(path, "/dev/dm-0\n")
    machine.owners[path] = (uid, DBA, mode)
    machine.command(f"stat -L -c %F %t %T {path}", kind + "\n")
    machine.command("stat -L -c %F %t %T /dev/dm-0", "block special file fd 0\n")
    return machine.link("/sys/dev/block/253:0", "/sys/devices/virtual/block/dm-0")


@cases(
    "driver uid mode status",
    (ASMLIB, ORACLE, 0o660, "pass"),
    (ASMLIB, 0, 0o660, "fail"),
    (ASMLIB, ORACLE, 0o440, "fail"),
    (ASMLIB, ORACLE, 0o664, "fail"),
    (ASMFD, ORACLE, 0o644, "pass"),
    (ASMFD, 0, 0o664, "pass"),
    (ASMFD, ORACLE, 0o666, "fail"),
    (ASMFD, ORACLE + 1, 0o644, "fail"),
)
def test_owner_and_mode(judge, driver, uid, mode, status):
    finding = judge(labelled(driver, uid, mode))
    assert (finding.status, finding.running) == (status, f"{uid}:{DBA} {mode:04o}")
    assert f"uid {ORACLE}" in finding.desired


def test_disks_without_labels(judge):
    assert judge(recorded()).status == "skip"


def test_unknown(judge):
    assert judge(labelled(ASMLIB, ORACLE, 0o660).deny("/dev/oracleasm/disks")).status == "error"
    assert judge(recorded().process("asm_dbw0_+ASM", ASMLIB[0], uid=ORACLE)).status == "error"
