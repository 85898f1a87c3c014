"""Support archives as evidence packs: small ones that are made here."""

import json
import tarfile

import pytest
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.errors import Absent, Unanswered
from hostproof_controller.archives import packs
from hostproof_controller.archives.content import ArchiveError
from hostproof_controller.cli import command

LISTING = """\
/:
total 8
dr-xr-xr-x.  17 0 0  224 Mar 12  2024 .
dr-xr-xr-x.  17 0 0  224 Mar 12  2024 ..
drwxr-xr-x.  99 0 0 8192 Mar 12 10:00 etc
lrwxrwxrwx.   1 0 0    7 Mar 12  2024 lib -> usr/lib
dr-xr-xr-x. 200 0 0    0 Mar 12 10:00 proc
drwxr-xr-x.  40 0 0 1000 Mar 12 10:00 run
drwxr-xr-x.  12 0 0  144 Mar 12  2024 usr

/etc:
total 4
drwxr-xr-x.  99 0 0 8192 Mar 12 10:00 .
-rw-r--r--.   1 0 0  449 Mar 12 10:00 sysctl.conf
lrwxrwxrwx.   1 0 0   13 Mar 12  2024 rc.local -> rc.d/rc.local
drwxr-xr-x.   2 0 0   28 Mar 12  2024 sysctl.d
/bin/ls: cannot access '/etc/tmpfiles.d': No such file or directory
"""

INSIGHTS = {
    "insights_commands/sysctl_-a": "fs.aio-max-nr = 65536\nnet.ipv4.conf.eth0/1.rp_filter = 1\n",
    "insights_commands/ls_-lan_._.etc": LISTING,
    "insights_commands/hostname_-f": "db1.example.com\n",
    "insights_commands/date_--utc": "Tue Mar 12 10:11:12 UTC 2024\n",
    "insights_commands/ps_auxww": "USER PID COMMAND\n",
    "etc/sysctl.conf": "vm.swappiness = 10\n",
    "etc/sysctl.d/99-sysctl.conf": "vm.swappiness = 10\n",
    "etc/fstab": "//server/share /mnt cifs username=app,password=hunter2 0 0\n",
}


def made(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    return packs.pack_of(made(tmp_path_factory.mktemp("insights"), INSIGHTS))


@pytest.fixture
def host(pack):
    return RecordedHost(pack["readings"])


def test_a_pack_has_the_name_and_the_date_of_its_host(pack):
    assert pack["host"] == "db1.example.com"
    assert pack["recorded_at"] == "2024-03-12T10:11:12Z"


def test_sysctl_gives_running_values(host):
    assert host.read_number("/proc/sys/fs/aio-max-nr") == 65536


def test_a_directory_has_the_copied_files(host):
    assert host.list_dir("/etc/sysctl.d") == ["99-sysctl.conf"]


def test_a_listing_shows_what_is_not_there(host):
    with pytest.raises(Absent):
        host.read_text("/etc/oratab")
    with pytest.raises(Absent):
        host.list_dir("/etc/tmpfiles.d")


def test_what_the_archive_does_not_hold_is_unknown(host):
    for ask in (
        lambda: host.read_text("/proc/self/mountinfo"),
        lambda: host.list_dir("/run/sysctl.d"),
        lambda: host.run(["systemctl", "get-default"]),
    ):
        with pytest.raises(Unanswered, match="the archive .Red Hat Insights. does not hold it"):
            ask()


def test_a_filtered_list_of_processes_does_not_show_that_one_is_absent(pack):
    reading = pack["readings"]["processes:pmon"]
    assert reading["error"] == "unanswered"
    assert "does not list all processes" in reading["message"]


def test_passwords_are_masked_and_filtered(pack):
    assert pack["readings"]["file:/etc/fstab"]["text"]
    assert "hunter2" not in json.dumps(pack)


def test_an_archive_by_command(tmp_path, monkeypatch, capsys):
    """The conversion only: Play.run is what a run of packs is."""
    from hostproof_controller.cli import play

    folder = made(tmp_path / "top", INSIGHTS)
    archive = tmp_path / "top.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        tar.add(folder, "insights-db1")
    monkeypatch.setenv("HOSTPROOF_RECORDS", str(tmp_path / "evidence"))
    monkeypatch.setattr(play.Play, "run", lambda self: print(sorted(self.evidence.iterdir())) or 0)
    for named in (archive, folder, tmp_path):
        assert command.main(["audit", "--evidence", str(named)]) == 0
        out = capsys.readouterr().out
        assert out.startswith(f"Evidence: {tmp_path / 'evidence'}/")
        assert "db1.example.com.json" in out
    assert "db1.example.com_2.json" in out, "both archives of the directory"


def test_what_is_no_archive_is_one_sentence(tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("x")
    assert command.main(["audit", "--evidence", str(tmp_path / "notes.txt")]) == 1
    assert "neither a directory nor an archive" in capsys.readouterr().err
    (tmp_path / "half.tar.gz").write_bytes(b"\x1f\x8b\x08")
    assert command.main(["audit", "--evidence", str(tmp_path / "half.tar.gz")]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "half.tar.gz: the archive cannot be read" in said


def test_an_archive_of_another_kind_is_refused(tmp_path):
    made(tmp_path, {"etc/hosts": "127.0.0.1 localhost\n"})
    with pytest.raises(ArchiveError, match="not an archive of Red Hat Insights"):
        packs.pack_of(tmp_path)


def test_packs_and_archives_in_one_directory_are_refused(tmp_path):
    made(tmp_path / "top", INSIGHTS)
    (tmp_path / "db2.json").write_text("{}")
    with pytest.raises(ArchiveError, match="separate them"):
        packs.archives_in(tmp_path)
