"""What is mounted, as four systems tell it."""

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.mounts import mount_command, mountinfo
from ansible.module_utils.hostproof.parsers.nfs.nfs_options import AIX, HPUX, SOLARIS
from cases import cases

ROOT = "25 1 253:0 / / rw,relatime shared:1 - xfs /dev/mapper/ol-root rw,seclabel\n"


def line(number, parent, path, fstype="nfs", source="filer:/vol", options="rw,relatime"):
    return f"{number} {parent} 0:{number} / {path} {options} shared:2 - {fstype} {source} rw,hard\n"


def seen(text):
    return [mount.id for mount in mountinfo.visible(mountinfo.parse(text))]


class TestMountinfo:
    def test_a_recorded_table(self, fixture_text):
        mounts = mountinfo.parse(fixture_text("mountinfo/linux-6.1-nfs.txt"))
        nfs = {mount.path: mount for mount in mounts if mount.fstype in ("nfs", "nfs4")}
        assert nfs["/u01/oradata"].source == "filer:/vol/oradata"
        assert nfs["/u01/oradata"].device == nfs["/u02/oradata"].device
        assert nfs["/u06/backup"].device != nfs["/u03/redo"].device
        assert "timeo=600" in nfs["/u02/oradata"].super_options
        assert "/u10/with space" in nfs

    def test_fields(self):
        fields = "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 propagate_from:2"
        assert mountinfo.parse(f"{fields} - ext3 /dev/root rw,errors=continue\n") == [
            mountinfo.Mount(
                36,
                35,
                "98:0",
                "/mnt1",
                "/mnt2",
                "rw,noatime",
                "ext3",
                "/dev/root",
                "rw,errors=continue",
            )
        ]

    def test_a_source_may_be_empty_and_optional_fields_missing(self):
        (mount,) = mountinfo.parse("36 35 0:5 / /mnt rw - tmpfs  rw\n")
        assert (mount.source, mount.super_options) == ("", "rw")

    def test_escapes_are_bytes(self):
        (mount,) = mountinfo.parse(line(40, 25, r"/a\040b\134c\303\274"))
        assert mount.path == "/a b\\cü"

    @cases("text", "", "\n", "36 35 98:0 / /mnt rw ext3 x rw\n", "a 35 98:0 / /m rw - x y rw\n")
    def test_not_mountinfo(self, text):
        with pytest.raises(ParseError):
            mountinfo.parse(text)


class TestVisible:
    def test_everything_side_by_side(self):
        assert seen(ROOT + line(40, 25, "/u01") + line(41, 25, "/u02")) == [25, 40, 41]

    def test_the_mount_on_top_counts(self):
        assert seen(ROOT + line(40, 25, "/u01") + line(41, 40, "/u01")) == [25, 41]

    def test_the_placeholder_of_autofs_is_covered(self):
        text = ROOT + line(40, 25, "/u01", "autofs", "systemd-1") + line(41, 40, "/u01")
        assert seen(text) == [25, 41]

    def test_a_mount_over_a_folder_above_hides(self):
        text = ROOT + line(40, 25, "/u/a/b") + line(41, 25, "/u", "tmpfs", "tmpfs")
        assert seen(text) == [25, 41]

    def test_what_is_mounted_inside_the_upper_mount_is_seen(self):
        text = ROOT + line(40, 25, "/u") + line(41, 40, "/u/a") + line(42, 41, "/u/a/b")
        assert seen(text) == [25, 40, 41, 42]

    def test_what_hangs_below_a_hidden_mount_is_hidden(self):
        text = ROOT + line(40, 25, "/u/a") + line(41, 40, "/u/a/b") + line(42, 25, "/u")
        assert seen(text) == [25, 42]

    def test_a_name_that_only_begins_alike_hides_nothing(self):
        assert seen(ROOT + line(40, 25, "/u0") + line(41, 25, "/u01")) == [25, 40, 41]

    def test_a_removed_folder(self):
        assert seen(ROOT + line(40, 25, r"/u01\040(deleted)") + line(41, 25, "/x//deleted")) == [25]

    def test_a_circle_ends(self):
        assert seen(line(40, 41, "/a") + line(41, 40, "/b")) == [40, 41]


class TestAix:
    def test_documented_table(self, fixture_text):
        mounts = mount_command.parse(AIX, fixture_text("mount/aix-mount.txt"))
        by_path = {mount.path: mount for mount in mounts}
        assert by_path["/"] == mount_command.Mount("/", "/dev/hd4", "jfs2", "rw,log=/dev/hd8")
        assert by_path["/var/adm/ras/livedump"].fstype == "jfs2"
        assert by_path["/stage/middleware"] == mount_command.Mount(
            "/stage/middleware", "192.168.1.11:/stage/middleware", "nfs3", "ro,bg,hard,intr,sec=sys"
        )
        assert by_path["/u02/oradata"].source == "filer1:/vol/oradata"
        assert "noac" in by_path["/u02/oradata"].options.split(",")

    @cases(
        "text",
        "",
        "no table\n",
        "node mounted mounted over vfs\n---- ----\nfiler1 /a nfs3 Jul 7 13:24\n",
        "node mounted mounted over vfs\n---- ----\n /dev/a /a jfs2 yesterday rw\n",
    )
    def test_not_the_table(self, text):
        with pytest.raises(ParseError):
            mount_command.parse(AIX, text)


class TestSolaris:
    def test_public_lines(self, fixture_text):
        mounts = mount_command.parse(SOLARIS, fixture_text("mount/solaris-mount-v.txt"))
        by_path = {mount.path: mount for mount in mounts}
        assert by_path["/"].options.startswith("rw,suid,intr,")
        assert by_path["/rms/sunpro"].source == "fr1svmnas13-nfs:/vol1/sunpro"
        assert by_path["/rms/sunpro"].options.startswith("remote,rw,suid,devices,intr,soft,")
        words = by_path["/u02/oradata"].options.split(",")
        assert {"ro", "nosuid", "hard", "noac", "forcedirectio", "rsize=32768"} <= set(words)

    def test_options_with_commas(self, fixture_text):
        mounts = mount_command.parse(SOLARIS, fixture_text("mount/solaris-mount-v.txt"))
        (options,) = [mount.options for mount in mounts if mount.path == "/cartman"]
        assert options == "rsize=32768,wsize=32768,vers=4,dev=4000004"

    @cases("text", "", "/ on /dev/dsk/c0 read/write on Tue Jul 31 2012\n")
    def test_plain_mount_is_not_it(self, text):
        with pytest.raises(ParseError):
            mount_command.parse(SOLARIS, text)


class TestHpux:
    def test_lines(self, fixture_text):
        mounts = mount_command.parse(HPUX, fixture_text("mount/hpux-mount-v.txt"))
        assert [mount.path for mount in mounts] == ["/", "/stand", "/u02/oradata"]
        assert mounts[0].options == "ioerror=nodisable,log,dev=40000003"
        assert mounts[2].source == "filer1:/vol/oradata"
        assert {"forcedirectio", "vers=3", "rsize=32768"} <= set(mounts[2].options.split(","))

    @cases("text", "", "/dev/vg00/lvol3 on / vxfs\n")
    def test_something_else(self, text):
        with pytest.raises(ParseError):
            mount_command.parse(HPUX, text)
