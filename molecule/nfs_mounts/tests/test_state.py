"""What the container is like after apply: fstab has the options, and every other line as it was."""

import pytest


def fields(host, path):
    """The line of fstab for a mount point, split."""
    lines = host.file("/etc/fstab").content_string.splitlines()
    (entry,) = [line.split() for line in lines if line.split()[1:2] == [path]]
    return entry


@pytest.mark.parametrize(
    ("path", "source"),
    [("/u02/oradata", "filer1:/vol/oradata"), ("/backup", "filer2:/vol/backup")],
)
def test_the_mount_is_hard_and_over_tcp(host, path, source):
    entry = fields(host, path)
    options = entry[3].split(",")
    assert entry[0] == source
    assert "hard" in options
    assert "soft" not in options
    assert "udp" not in options


def test_datafiles_are_mounted_without_caches_of_attributes(host):
    assert "actimeo=0" in fields(host, "/u02/oradata")[3].split(",")


def test_other_lines_and_the_mode_are_as_they_were(host):
    fstab = host.file("/etc/fstab")
    lines = fstab.content_string.splitlines()
    assert lines[0] == "# /etc/fstab: what hosts mount"
    assert "UUID=0f1e  /  ext4   errors=remount-ro  0  1" in lines
    assert "  # the backup: ask Dana" in lines
    assert lines[-1] == "tmpfs  /scratch  tmpfs  size=64m  0  0"
    assert fstab.mode == 0o640


def test_systemd_was_told(host):
    assert host.file("/run/systemctl.log").contains("daemon-reload")
