"""Every mount of a host, from the first source that tells it."""

import packs
import pytest
from ansible.module_utils.hostproof.errors import Absent, HostproofError, ParseError
from ansible.module_utils.hostproof.parsers.mounts import mount_command, mountinfo
from ansible.module_utils.hostproof.probes.kernel import mounts
from ansible.module_utils.hostproof.probes.nfs import nfs_mounted
from cases import cases

MOUNTINFO = (
    "25 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
    "40 25 0:50 / /u02/my\\040data rw,relatime - nfs4 filer:/vol rw,vers=4.1,hard\n"
)
PROC_MOUNTS = (
    "/dev/vda / ext4 rw,relatime 0 0\n"
    "filer:/vol /u02/my\\040data nfs4 rw,relatime,vers=4.1,hard 0 0\n"
)
PRINTED = (
    "/dev/vda on / type ext4 (rw,relatime) [root]\n"
    "filer:/vol on /u02/my data type nfs4 (rw,relatime,vers=4.1,hard)\n"
)


def machine() -> packs.Machine:
    return packs.Machine().deny("/proc/self/mountinfo")


def test_mountinfo_is_read_first():
    host = packs.Machine().file("/proc/self/mountinfo", MOUNTINFO).file("/proc/mounts", "garbage")
    assert mounts.read(host).key == "file:/proc/self/mountinfo"


@cases(
    "tell key",
    (lambda host: host.file("/proc/mounts", PROC_MOUNTS), "file:/proc/mounts"),
    (lambda host: host.command("mount", PRINTED), "command:mount"),
)
def test_the_next_source_names_the_same_mounts(tell, key):
    host = tell(machine())
    assert nfs_mounted.read_system(host) == "Linux"
    (mount,) = nfs_mounted.read_mounted(host, "Linux")
    (same,) = nfs_mounted.read_mounted(
        packs.Machine().file("/proc/self/mountinfo", MOUNTINFO), "Linux"
    )
    assert mount == same._replace(superblock=None, evidence=(key,))


def test_the_mount_on_top_counts():
    text = PROC_MOUNTS + "other:/vol /u02/my\\040data nfs rw 0 0\n"
    assert [mount.source for mount in mountinfo.parse_proc_mounts(text)] == [
        "/dev/vda",
        "other:/vol",
    ]


def test_without_any_source_the_first_error_stands():
    with pytest.raises(HostproofError, match="mountinfo"):
        mounts.read(machine())


def test_another_system_has_none():
    with pytest.raises(Absent):
        mounts.read(packs.Machine().command("mount", PRINTED))


@cases("text", "", "one two\n", "/dev/vda / ext4 rw 0\n")
def test_what_is_no_table_of_mounts(text):
    with pytest.raises(ParseError):
        mountinfo.parse_proc_mounts(text)
    with pytest.raises(ParseError):
        mount_command.parse("Linux", text)


@cases("printed code", ("", 0), ("", 1), (PRINTED, 32))
def test_a_mount_command_that_fails_is_no_host_without_mounts(printed, code):
    host = machine().command("mount", printed, rc=code)
    with pytest.raises(HostproofError, match="mountinfo"):
        mounts.read(host)
