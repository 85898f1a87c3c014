"""Support archives as evidence packs: small ones that are made here."""

import json
import tarfile

import host_archives
import packs as packages
import pytest
from ansible.module_utils.hostproof.collect.answer import known
from ansible.module_utils.hostproof.collect.host import Process, RecordedHost
from ansible.module_utils.hostproof.controls.time_sync import facts
from ansible.module_utils.hostproof.errors import Absent, Unanswered
from ansible.module_utils.hostproof.probes.oracle import listeners
from ansible.module_utils.hostproof.probes.systemd import boot
from cases import cases
from hostproof_controller.archives import packs
from hostproof_controller.archives.content import ArchiveError
from hostproof_controller.cli import command

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

SHARED = packages.ROOT / "../shared/data/preinstall"

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
        lambda: host.list_dir("/usr/local/lib/sysctl.d"),
        lambda: host.run(["systemctl", "get-default"]),
    ):
        with pytest.raises(Unanswered, match="the archive .Red Hat Insights. does not hold it"):
            ask()


def test_a_filtered_list_of_processes_does_not_show_that_one_is_absent(pack):
    reading = pack["readings"]["processes:pmon"]
    assert reading["error"] == "unanswered"
    assert "does not list all processes" in reading["message"]


def test_a_file_that_was_left_out_makes_its_directory_unknown(tmp_path):
    """A file with a NUL is not kept; it exists on the host and may override the others."""
    files = {**INSIGHTS, "etc/sysctl.d/zz.conf": "vm.swappiness = 60\0\n"}
    with pytest.raises(Unanswered):
        RecordedHost(packs.pack_of(made(tmp_path, files))["readings"]).list_dir("/etc/sysctl.d")


def test_a_file_of_which_insights_keeps_some_lines_is_unknown(tmp_path):
    files = {**INSIGHTS, "etc/nsswitch.conf": "passwd: files\n"}
    with pytest.raises((Absent, Unanswered)):
        RecordedHost(packs.pack_of(made(tmp_path, files))["readings"]).read_text(
            "/etc/nsswitch.conf"
        )


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
    assert "not a directory, an evidence pack (.json) or an archive" in capsys.readouterr().err
    (tmp_path / "half.tar.gz").write_bytes(b"\x1f\x8b\x08")
    assert command.main(["audit", "--evidence", str(tmp_path / "half.tar.gz")]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "half.tar.gz: the archive cannot be read" in error


def test_an_archive_of_another_kind_is_refused(tmp_path):
    made(tmp_path, {"etc/hosts": "127.0.0.1 localhost\n"})
    with pytest.raises(ArchiveError, match="not an archive of Red Hat Insights"):
        packs.pack_of(tmp_path)


def test_packs_and_archives_in_one_directory_are_refused(tmp_path):
    made(tmp_path / "top", INSIGHTS)
    (tmp_path / "db2.json").write_text("{}")
    with pytest.raises(ArchiveError, match="separate them"):
        packs.archives_in(tmp_path)


# -- sosreport ------------------------------------------------------------------------------------

PS = """\
USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
root           1  0.0  0.1 171560 11012 ?        Ss   Mar11   0:02 /usr/lib/systemd/systemd
root           2  0.0  0.0      0     0 ?        S    Mar11   0:00 [kthreadd]
chrony       811  0.0  0.0  84472  3540 ?        S    Mar11   0:00 /usr/sbin/chronyd -F 2
"""

SOS = {
    "sos_commands/process/ps_auxwww": PS,
    "sos_commands/kernel/sysctl_-a": "fs.aio-max-nr = 65536\n",
    "sos_commands/kernel/uname_-a": "Linux db2 5.14.0-427.el9.x86_64 #1 SMP x86_64 GNU/Linux\n",
    "usr/lib/sysctl.d/50-default.conf": "kernel.sysrq = 16\n",
    "usr/local/lib/sysctl.d/20-local.conf": "",
    "run/sysctl.d/30-run.conf": "",
    "etc/sysctl.d/10-own.conf": "vm.swappiness = 1\n",
    "etc/sysctl.conf": "# none\n",
}


@pytest.fixture(scope="module")
def sosreport(tmp_path_factory):
    folder = made(tmp_path_factory.mktemp("sos"), SOS)
    (folder / "lib").symlink_to("usr/lib")
    (folder / "etc/sysctl.d/99-sysctl.conf").symlink_to("../sysctl.conf")
    return packs.pack_of(folder)


def test_links_of_a_sosreport_are_links_of_the_host(sosreport):
    host = RecordedHost(sosreport["readings"])
    assert host.list_dir("/etc/sysctl.d") == ["10-own.conf", "99-sysctl.conf"]
    assert host.real_path("/etc/sysctl.d/99-sysctl.conf") == "/etc/sysctl.conf"
    assert host.read_text("/etc/sysctl.d/99-sysctl.conf") == "# none\n"
    assert host.real_path("/lib/sysctl.d") == "/usr/lib/sysctl.d"


def test_uname_names_the_host(sosreport):
    assert sosreport["host"] == "db2"
    assert RecordedHost(sosreport["readings"]).run(["uname", "-m"]).stdout == "x86_64\n"


def test_a_text_that_is_no_uname_ends_nothing(tmp_path):
    made(tmp_path, {**SOS, "sos_commands/kernel/uname_-a": "a a a a a a GNU/Linux\n"})
    assert packs.pack_of(tmp_path)["readings"]


def test_all_processes_show_that_no_instance_runs(sosreport):
    assert sosreport["readings"]["processes:pmon"]["processes"] == []


PMON = "oracle      4711  0.0  0.1 171560 11012 ?        Ss   Mar11   0:02 ora_pmon_ORCL\n"
STATUS = "Name:\tora_pmon_orcl\nUid:\t54321\t54321\t54321\t54321\nGid:\t54321\t54322\t0\t0\n"


def pmon_of(folder, files):
    reading: dict = packs.pack_of(made(folder, SOS | files))["readings"]["processes:pmon"]
    return reading


def test_an_instance_has_the_ids_of_its_status(tmp_path):
    files = {"sos_commands/process/ps_auxwww": PS + PMON, "proc/4711/status": STATUS}
    (process,) = pmon_of(tmp_path, files)["processes"]
    assert (process["pid"], process["uid"], process["gid"]) == (4711, 54321, 54322)
    assert (process["argv0"], process["started"], process["exe"]) == ("ora_pmon_ORCL", None, None)


def test_an_instance_without_status_is_unknown(tmp_path):
    reading = pmon_of(tmp_path, {"sos_commands/process/ps_auxwww": PS + PMON})
    assert "does not hold /proc/4711/status" in reading["message"]


def test_a_process_of_another_account_with_the_name_is_unknown(tmp_path):
    ps = PS + PMON.replace("oracle", "mallet")
    files = {"sos_commands/process/ps_auxwww": ps, "proc/4711/status": STATUS}
    assert "mallet runs ora_pmon_ORCL" in pmon_of(tmp_path, files)["message"]


def test_a_start_that_is_unknown_is_no_number():
    """A start at 0 would be older than every file."""
    process = Process(4712, 54321, 54321, None, "/u01/app/19c/bin/tnslsnr")
    with pytest.raises(Unanswered, match="when the listener started"):
        listeners._started(RecordedHost({}), process)
    with pytest.raises(Unanswered, match="when /usr/sbin/chronyd started"):
        known(facts._started(process._replace(argv0="/usr/sbin/chronyd")))


def test_a_list_without_the_first_process_is_not_whole(tmp_path):
    rows = [row for row in PS.splitlines(keepends=True) if " 1 " not in row]
    made(tmp_path, SOS | {"sos_commands/process/ps_auxwww": "".join(rows)})
    assert packs.pack_of(tmp_path)["readings"]["processes:pmon"]["error"] == "unanswered"


@pytest.fixture(scope="module")
def real_sosreport(tmp_path_factory):
    """Of a Red Hat CoreOS host of 2019 (sos 3.6), with the links that its copy lists in a table."""
    source = SHARED / "06-archives/sosreport-rhcos-2019"
    if not source.is_dir():
        pytest.skip("the sosreport of ../shared is not on this machine")
    folder = tmp_path_factory.mktemp("real")
    archive = folder / "sosreport.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(source, "sosreport-master1")
        for line in source.with_name(source.name + ".symlinks.tsv").read_text().splitlines():
            path, _, target = line.partition("\t-> ")
            link = tarfile.TarInfo(f"sosreport-master1/{path}")
            link.type, link.linkname = tarfile.SYMTYPE, target
            tar.addfile(link)
    return packs.pack_of(archive)


def test_a_real_sosreport(real_sosreport):
    host = RecordedHost(real_sosreport["readings"])
    assert real_sosreport["recorded_at"].startswith("2019-10-02T")
    assert host.list_dir("/etc/sysctl.d") == ["99-sysctl.conf", "forward.conf", "inotify.conf"]
    findings = host_archives.judge(real_sosreport["readings"])
    statuses = host_archives.statuses(findings)
    assert statuses["kernel_parameters.asynchronous_io"] == ["fail"]
    assert statuses["hugepages.pool_persisted"] == ["error"]
    known_ones = [check for check, some in statuses.items() if not host_archives.is_error(some)]
    assert len(known_ones) > 60


# -- supportconfig --------------------------------------------------------------------------------


def section(kind, name, text=""):
    return f"#==[ {kind} ]{'=' * 30}#\n# {name}\n{text}\n"


SUPPORTCONFIG = {
    "basic-environment.txt": section("Command", "/bin/date", "Tue Mar 12 10:11:12 UTC 2024\n")
    + section("Command", "/bin/uname -a", "Linux db3 5.14.21 #1 SMP x86_64 x86_64 GNU/Linux\n"),
    "env.txt": section("Configuration File", "/etc/sysctl.conf", "vm.swappiness = 10\n")
    + section("Configuration File", "/usr/lib/sysctl.d/50-default.conf", "kernel.sysrq = 184\n")
    + section("Configuration File", "/run/sysctl.d/*.conf - File not found")
    + section("Command", "/sbin/sysctl -a", "fs.aio-max-nr = 1048576\n"),
    "pam.txt": section("Command", "getent passwd", "oracle:x:54321:54321::/home/oracle:/bin/sh\n"),
    "fs-diskio.txt": section("Configuration File", "/etc/shadow", "root:secret\n"),
    "modules.txt": section("Configuration File", "/etc/sysctl.d/50-fake.conf", "vm.x = 1\n"),
}


@pytest.fixture(scope="module")
def supportconfig(tmp_path_factory):
    """Written after bin/supportconfig: no recorded archive is at hand."""
    return packs.pack_of(made(tmp_path_factory.mktemp("supportconfig"), SUPPORTCONFIG))


def test_sections_of_supportconfig(supportconfig):
    host = RecordedHost(supportconfig["readings"])
    assert supportconfig["host"] == "db3"
    assert supportconfig["recorded_at"] == "2024-03-12T10:11:12Z"
    assert host.read_number("/proc/sys/fs/aio-max-nr") == 1048576
    assert host.read_text("/etc/sysctl.conf") == "vm.swappiness = 10\n"
    assert host.list_dir("/usr/lib/sysctl.d") == ["50-default.conf"]


def test_accounts_of_supportconfig(supportconfig):
    """An account that is not in the list may still exist: sssd does not list its accounts."""
    host = RecordedHost(supportconfig["readings"])
    assert host.run(["getent", "passwd", "oracle"]).stdout.startswith("oracle:x:54321:")
    with pytest.raises(Unanswered):
        host.run(["getent", "passwd", "grid"])


@cases("text unread", ("vm.swappiness = 10", []), ("kernel.sysrq = 184", ["10"]))
def test_a_file_that_may_be_a_link_to_sysctl_conf(tmp_path, text, unread):
    """An archive that copies the text of a link does not tell that it is one."""
    env = SUPPORTCONFIG["env.txt"].replace("kernel.sysrq = 184", text)
    pack = packs.pack_of(made(tmp_path, SUPPORTCONFIG | {"env.txt": env}))
    systemd = {"dir:/run/systemd/system": {"kind": "dir", "names": []}}
    tree = known(boot.read_boot(RecordedHost(pack["readings"] | systemd)).sysctl)
    assert [assignment.value for assignment in tree.assignments] == [text.split()[-1]]
    assert [entry.value for entry in tree.unread] == unread


def test_sections_count_in_their_own_file_only(supportconfig):
    """Output of one command must not pass for a section of another file."""
    assert "50-fake" not in json.dumps(supportconfig)
    assert "root:secret" not in json.dumps(supportconfig)
