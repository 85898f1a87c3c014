"""The NFS mounts that a host has now, whatever system it is."""

from pathlib import Path

import pytest
from ansible.module_utils.hostproof.errors import Absent, Denied, Unanswered
from ansible.module_utils.hostproof.probes.nfs.nfs_mounted import (
    AIX,
    HPUX,
    LINUX,
    SOLARIS,
    read_mounted,
    read_system,
)
from cases import cases
from packs import Machine

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
ROOT = "25 1 253:0 / / rw,relatime shared:1 - xfs /dev/mapper/ol-root rw,seclabel\n"


def linux(*lines: str) -> Machine:
    return Machine().file("/proc/self/mountinfo", ROOT + "".join(f"{line}\n" for line in lines))


def test_linux_is_known_without_a_command():
    machine = linux()
    assert read_system(machine) == LINUX
    assert list(machine.evidence) == ["file:/proc/self/mountinfo"]


@cases("name", AIX, SOLARIS, HPUX, "FreeBSD")
def test_another_system_says_its_name(name):
    assert read_system(Machine().command("uname -s", f"{name}\n")) == name


def test_an_unknown_system_is_no_linux():
    with pytest.raises(Absent):
        read_system(Machine())
    with pytest.raises(Denied):
        read_system(linux().deny("/proc/self/mountinfo"))
    with pytest.raises(Unanswered):
        read_system(Machine().command("uname -s", "", rc=1))


def test_recorded_mounts():
    text = (FIXTURES / "mountinfo/linux-6.1-nfs.txt").read_text()
    mounts = read_mounted(Machine().file("/proc/self/mountinfo", text), LINUX)
    by_path = {mount.path: mount for mount in mounts}
    assert len(mounts) == 9 and by_path["/u10/with space"].fstype == "nfs4"
    entry = by_path["/u01/oradata"]
    assert entry.superblock == by_path["/u02/oradata"].superblock
    assert entry.options.startswith("rw,relatime,vers=3,")
    assert entry.options.split(",").count("rw") == 1
    assert entry.evidence == ("file:/proc/self/mountinfo",)


@cases(
    "mount superblock options",
    ("rw,noatime", "rw,hard", "rw,noatime,hard"),
    ("ro,relatime", "rw,hard", "ro,relatime,hard"),
    ("rw", "ro,hard", "ro,hard"),
)
def test_read_only_is_what_either_layer_says(mount, superblock, options):
    (entry,) = read_mounted(
        linux(f"40 25 0:45 / /u01 {mount} shared:2 - nfs filer:/vol {superblock}"), LINUX
    )
    assert entry.options == options


def test_only_what_a_path_leads_to():
    mounts = read_mounted(
        linux(
            "40 25 0:45 / /u01 rw - nfs old:/vol rw,hard",
            "41 40 0:46 / /u01 rw - nfs new:/vol rw,hard",
            "42 25 0:47 / /u02 rw - nfs filer:/vol rw,hard",
            "43 42 0:48 / /u02 rw - tmpfs tmpfs rw",
            "44 25 0:49 / /u03 rw - autofs systemd-1 rw,fd=5",
            "45 25 0:50 / /proc/fs/nfsd rw - nfsd nfsd rw",
        ),
        LINUX,
    )
    assert [(mount.path, mount.source) for mount in mounts] == [("/u01", "new:/vol")]


@cases(
    "system command fixture paths",
    (AIX, "mount", "aix-mount", ["/stage/middleware", "/u02/oradata"]),
    (SOLARIS, "mount -v", "solaris-mount-v", ["/cartman", "/rms/sunpro", "/u02/oradata"]),
    (HPUX, "mount -v", "hpux-mount-v", ["/u02/oradata"]),
)
def test_other_systems(system, command, fixture, paths):
    machine = Machine().command(command, (FIXTURES / f"mount/{fixture}.txt").read_text())
    mounts = read_mounted(machine, system)
    assert [mount.path for mount in mounts] == paths
    assert {mount.evidence for mount in mounts} == {(f"command:{command}",)}
    assert mounts[-1].superblock is None


def test_a_mount_command_that_fails():
    with pytest.raises(Unanswered, match="ended with 1"):
        read_mounted(Machine().command("mount", "", rc=1), AIX)


def test_a_system_whose_mounts_nobody_knows():
    with pytest.raises(Unanswered, match="not on FreeBSD"):
        read_mounted(Machine(), "FreeBSD")
