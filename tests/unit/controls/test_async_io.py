"""What async_io says of an instance: by its parameters, by what it does, by what was said.

Each test changes one thing of a host on which everything that applies passes.
"""

import calendar
import time

import io_packs
import packs
import pytest
from ansible.module_utils.hostproof.controls.async_io.control import CONTROL as async_io
from cases import cases
from io_packs import (
    BARE,
    BUFFERED,
    CONTROL,
    DATA,
    NOW,
    ON_NFS,
    REDO,
    RING,
    asm,
    say,
    silence,
    story,
)
from packs import FIXTURES

CHECKS = [check.id.split(".")[1] for check in async_io.checks]
OF_AIX = ("aix_aio", "aix_cio", "aix_hdisks")


@pytest.fixture
def judge(findings_by_rules):
    """judge(host, **changes of the policy): the finding of each check, for one instance."""

    def judge_host(host, **changes):
        findings = findings_by_rules(async_io, host, io_packs.policy(**changes))
        assert list(findings) == CHECKS
        return {check: only for check, (only,) in findings.items()}

    return judge_host


def statuses(found):
    return {name: finding.status for name, finding in found.items() if name not in OF_AIX}


def ora(code, at, process="orcl_dbw0_4101"):
    """A message as the alert log has it, made up by the form of the fixtures; local time, +0100."""
    local = calendar_text(at + 3600)
    return f"{local}\nErrors in file /t/{process}.trc:\nORA-{code}: made up\n"


def calendar_text(at):
    return time.strftime("%a %b %d %H:%M:%S %Y", time.gmtime(at))


class TestReady:
    def test_everything_passes_that_applies(self, judge):
        findings = judge(story())
        assert statuses(findings) == {
            name: "skip" if name == "nfs_not_responding" else "pass"
            for name in CHECKS
            if name not in OF_AIX
        }
        finding = findings["filesystemio_options"]
        assert finding.in_use == "asynchronous, past the page cache, each write to disk"
        assert findings["contexts"].in_use == "2 contexts of 8316 events at most"
        assert findings["direct_files"].in_use == (
            "2 data, 1 redo and 1 control files open; none through the page cache"
        )
        assert findings["aio_usage"].in_use == (
            "8192: instance ORCL 2 contexts of 8316 events at most"
        )

    def test_a_host_without_an_instance_has_nothing_red(self, judge):
        findings = judge(packs.linux().file("/proc/self/mountinfo", io_packs.MOUNTINFO))
        assert set(statuses(findings).values()) == {"skip"}
        assert "No instance runs here" in findings["aio_max_nr"].why

    def test_who_may_not_look_is_told_so(self, judge):
        findings = judge(story().deny("held:writers"))
        for check in ("contexts", "direct_files", "durable_files", "filesystemio_options"):
            assert findings[check].status == "error" and "--become" in findings[check].fix
        assert findings["aio_usage"].status == "pass"
        assert "the processes that use them are not known" in findings["aio_usage"].in_use

    def test_a_stopped_instance_is_judged_by_its_file(self, judge):
        machine = (
            story().stop_instances().file("/etc/oratab", f"ORCL:{io_packs.oracle_packs.HOME}:N\n")
        )
        machine.command(f"stat -L -c %U {io_packs.oracle_packs.HOME}/bin/sqlplus", "oracle\n")
        findings = judge(machine)
        assert findings["filesystemio_options"].status == "pass"
        assert findings["filesystemio_options"].persisted.startswith(
            "setall (*.filesystemio_options"
        )
        assert findings["contexts"].status == "skip"
        assert findings["disk_asynch_io"].status == findings["io_slaves"].status == "pass"
        # The recording has no answer for its alert log, as those of earlier versions.
        assert findings["io_stalled"].status == "skip"

    def test_the_hour_of_the_crash(self, judge):
        """The instance of the article is down: its logs and parameter file explain the crash."""
        stored = (("*", "disk_asynch_io", "FALSE"), ("*", "dbwr_io_slaves", "4"))
        machine = io_packs.down(mounts=ON_NFS, stored=stored)
        seed = (FIXTURES / "io_messages/seed-ora-27062.txt").read_text()
        log = ora(27062, NOW - 600).replace("ORA-27062: made up\n", seed)
        findings = judge(say(machine, log, kernel=silence(NOW - 900, NOW - 590)))
        stalled = findings["io_stalled"]
        assert stalled.status == "fail" and "ORA-27062 once" in stalled.why
        assert f"while the NFS server {io_packs.SERVER} (/u02) was silent" in stalled.why
        assert findings["disk_asynch_io"].status == "fail"
        assert "ORCL is not running, and its next start disables" in findings["disk_asynch_io"].why
        assert findings["io_slaves"].status == "warn"
        assert "dbwr_io_slaves is 4 and disk_asynch_io FALSE" in findings["io_slaves"].why
        assert findings["aio_refused"].status == "pass" and findings["contexts"].status == "skip"


class TestParameters:
    @cases("value", "none", "asynch", "directIO")
    def test_another_value_runs(self, judge, value):
        finding = judge(story(filesystemio_options=value))["filesystemio_options"]
        assert finding.status == "fail"
        assert f"It runs with {value.lower()}; setall is required" in finding.why
        assert "restart the instance" in finding.fix

    def test_the_next_start_takes_another(self, judge):
        finding = judge(
            story(stored=(("*", "filesystemio_options", "none"),), filesystemio_options="setall")
        )["filesystemio_options"]
        assert finding.status == "fail" and "its next start uses none" in finding.why

    def test_what_it_does_not_tell_is_not_guessed(self, judge):
        finding = judge(story(filesystemio_options=None))["filesystemio_options"]
        assert finding.status == "error" and "does not show filesystemio_options" in finding.why

    def test_unmanaged(self, judge):
        machine = story(filesystemio_options="none")
        finding = judge(machine, filesystemio_options="unmanaged")["filesystemio_options"]
        assert finding.status == "skip"

    def test_in_asm_it_has_no_effect(self, judge):
        findings = judge(asm())
        assert findings["filesystemio_options"].status == "skip"
        assert "block devices (ASM or raw), where" in findings["filesystemio_options"].why
        assert findings["direct_files"].status == findings["durable_files"].status == "skip"
        assert findings["contexts"].status == "pass"

    def test_with_asmlib_descriptors_say_nothing(self, judge):
        machine = story(files=("/dev/oracleasm/iid/0001",), redo=("/dev/oracleasm/iid/0001",))
        assert "ASMLIB" in judge(machine)["direct_files"].why
        assert judge(machine)["filesystemio_options"].status == "skip"

    def test_direct_nfs_needs_neither(self, judge):
        machine = story(contexts=False, files=("socket:[777]",), redo=("socket:[778]",))
        row = "   0: 0100090A:03E1 0200090A:0801 01 00000000:00000000 00:00000000 00000000 "
        row += "54321 0 {}\n"
        machine.file("/proc/net/tcp", io_packs.NO_SOCKETS + row.format(777) + row.format(778))
        findings = judge(machine)
        assert findings["filesystemio_options"].status == findings["contexts"].status == "skip"
        assert "Direct NFS" in findings["filesystemio_options"].why

    def test_a_longer_mount_elsewhere_does_not_count(self, judge):
        other = "31 20 0:46 / /backup/elsewhere rw,relatime - nfs filer:/vol/backup rw,vers=3\n"
        findings = judge(story(mounts=io_packs.MOUNTINFO + other))
        assert "NFS" not in findings["filesystemio_options"].why
        local = "31 20 8:33 / /backup/elsewhere rw,relatime - xfs /dev/sdc1 rw\n"
        findings = judge(story(mounts=ON_NFS + local, filesystemio_options="none"))
        assert "an NFS mount of the kernel" in findings["filesystemio_options"].why

    def test_one_writer_with_asmlib_and_one_without(self, judge):
        findings = judge(story(files=("/dev/oracleasm/iid/0001",), redo=("/dev/dm-5",)))
        assert "ASMLIB" in findings["direct_files"].why
        assert "ASMLIB" in findings["filesystemio_options"].why

    def test_on_nfs_of_the_kernel_it_counts(self, judge):
        finding = judge(story(mounts=ON_NFS, filesystemio_options="none"))["filesystemio_options"]
        assert finding.status == "fail" and "an NFS mount of the kernel" in finding.why

    def test_asynchronous_io_is_off(self, judge):
        finding = judge(story(disk_asynch_io="FALSE"))["disk_asynch_io"]
        assert (finding.status, finding.running) == ("fail", "FALSE")
        assert "ORA-27062) is not a reason" in finding.why

    def test_it_will_be_off(self, judge):
        stored = (("*", "disk_asynch_io", "FALSE"),)
        finding = judge(story(stored=stored, disk_asynch_io="TRUE"))["disk_asynch_io"]
        assert finding.status == "fail" and finding.why.startswith("its next start disables it")

    def test_slaves_instead_of_it_are_an_interim(self, judge):
        finding = judge(story(disk_asynch_io="FALSE", dbwr_io_slaves="4"))["io_slaves"]
        assert finding.status == "warn" and "a workaround" in finding.why
        assert finding.fix.endswith(
            "io_stalled); then restart the instance: the parameter is static"
        )

    def test_slaves_of_the_next_start_need_no_restart(self, judge):
        stored = (("*", "dbwr_io_slaves", "4"), ("*", "disk_asynch_io", "FALSE"))
        machine = story(stored=stored, disk_asynch_io="TRUE", dbwr_io_slaves="0")
        finding = judge(machine)["io_slaves"]
        assert finding.failing_layer == "persisted"
        assert "RESET dbwr_io_slaves" in finding.fix and "RESET disk_asynch_io" in finding.fix
        assert "restart" not in finding.fix

    def test_slaves_beside_it(self, judge):
        finding = judge(story(dbwr_io_slaves="2"))["io_slaves"]
        assert finding.status == "warn" and "one DBWR" in finding.why


class TestUse:
    def test_no_context(self, judge):
        finding = judge(story(contexts=False))["contexts"]
        assert finding.status == "warn"
        assert (
            "dbw0, lgwr of ORCL has no context, although filesystemio_options is setall"
            in finding.why
        )

    def test_none_is_asked_for(self, judge):
        machine = story(contexts=False, filesystemio_options="directio")
        assert judge(machine)["contexts"].status == "skip"

    def test_io_uring_is_one(self, judge):
        machine = story(contexts=False)
        for holder in machine.holders_of_rings:
            holder["urings"] = 1
        finding = judge(machine)["contexts"]
        assert finding.status == "pass"
        assert finding.in_use == "0 contexts of 0 events at most, 2 rings of io_uring"

    def test_the_parameter_says_otherwise(self, judge):
        finding = judge(story(flags=BUFFERED))["direct_files"]
        assert (finding.status, finding.because_of) == ("fail", ())
        assert "although filesystemio_options is setall" in finding.why
        assert "/u02/oradata/ORCL/system01.dbf" in finding.why
        assert "The page cache of the host holds 2.0 GiB" in finding.why
        assert finding.values["data_buffered"] == 2
        assert finding.values["page_cache_bytes"] == 2 << 30

    def test_the_parameter_says_so(self, judge):
        finding = judge(story(flags=BUFFERED, filesystemio_options="asynch"))["direct_files"]
        assert finding.status == "warn" and finding.because_of == ("async_io.filesystemio_options",)

    def test_one_file_of_many(self, judge):
        machine = story()
        machine.holders_of_rings[0]["files"][BUFFERED] = ["/u02/oradata/ORCL/late01.dbf"]
        finding = judge(machine)["direct_files"]
        assert finding.in_use.startswith("3 data, 1 redo and 1 control files open; 1 data files")

    @cases("flags status", (BARE, "fail"), (io_packs.DIRECT_ONLY, "warn"))
    def test_writes_that_may_be_lost(self, judge, flags, status):
        finding = judge(story(flags=flags))["durable_files"]
        assert finding.status == status and "without O_DSYNC and O_SYNC" in finding.why

    def test_of_a_temporary_file_nothing_is_missed(self, judge):
        machine = story()
        machine.holders_of_rings[0]["files"]["0140002"] = ["/u02/oradata/ORCL/temp01.dbf"]
        assert judge(machine)["durable_files"].status == "pass"

    def test_a_temporary_file_alone_proves_nothing(self, judge):
        for path in ("ORCL/temp01.dbf", "ORCL/datafile/o1_mf_temp_k2xq7r9p_.tmp"):
            finding = judge(story(files=(f"/u02/oradata/{path}",), redo=()))["durable_files"]
            assert (finding.status, "Only temporary files" in finding.why) == ("skip", True)

    def test_nothing_is_held(self, judge):
        findings = judge(story(files=(), redo=()))
        assert findings["direct_files"].status == "error"
        assert "hold no file of a database" in findings["direct_files"].why

    def test_a_machine_whose_flags_are_not_known(self, judge):
        findings = judge(story().command("uname -m", "vax\n"))
        assert findings["direct_files"].status == "error"
        assert "flags of this machine are not known" in findings["direct_files"].why

    def test_one_that_only_has_the_name_of_a_writer(self, judge):
        machine = story().writer("ora_dbw1_ORCL", {BARE: ["/tmp/x.dbf"]}, pid=9)
        machine.running[-1]["exe"] = "/tmp/bash"
        assert judge(machine)["direct_files"].status == "pass"

    def test_nobody_was_asked(self, judge):
        findings = judge(story(flags=BUFFERED), query_instances=False)
        assert findings["filesystemio_options"].status == "error"
        assert findings["direct_files"].status == "fail"
        assert "although the policy requires setall" in findings["direct_files"].why


class TestLimit:
    def test_too_low_now(self, judge):
        finding = judge(story(limit=65536))["aio_max_nr"]
        assert finding.status == "fail"
        assert finding.why.startswith("It is 65536; required is 1048576")
        assert finding.commands == ("./hostproof apply --tags kernel_parameters",)

    def test_too_low_at_the_next_boot(self, judge):
        finding = judge(story(persisted=None))["aio_max_nr"]
        assert finding.status == "fail" and finding.why.startswith("it is 65536 after reboot")
        assert finding.persisted == "65536 (kernel default, nothing sets it)"

    def test_by_the_note(self, judge):
        finding = judge(story(), aio_max_nr="mos_579108")["aio_max_nr"]
        assert (finding.status, finding.desired) == ("fail", "at least 3145728")

    def test_room_to_grow(self, judge):
        finding = judge(story(used=600000))["aio_max_nr"]
        assert (finding.status, finding.desired) == ("warn", "at least 1200000")
        assert finding.commands == ()
        assert "list fs.aio-max-nr with 1200000 in kernel_parameters_values" in finding.fix

    @cases("used left", (0, 16), (15 * 4096, 1), (65536, 0), (61441, 0))
    def test_how_many_more_fit(self, judge, used, left):
        """Measured on a real kernel too: molecule/lab/tests/test_async_io.py."""
        finding = judge(story(used=used, limit=65536))["aio_usage"]
        assert finding.values["contexts_left"] == left
        assert finding.status == ("fail" if not left else "warn" if left < 4 else "pass")

    def test_old_kernels_charge_more(self, judge):
        machine = story(used=70000, limit=65536)
        machine.file("/proc/sys/kernel/osrelease", "3.10.0-1160.el7.x86_64\n")
        finding = judge(machine)["aio_usage"]
        assert finding.status == "warn" and "twice its limit" in finding.why

    def test_a_child_shows_the_ring_of_its_parent(self, judge):
        machine = story().writer("oracleORCL", {}, (101, RING), pid=77)
        machine.holders_of_rings[-1]["files"] = None
        machine.writer("/usr/sbin/mysqld", {}, (900, 12288), pid=78)
        machine.holders_of_rings[-1]["files"] = None
        assert judge(machine)["aio_usage"].in_use == (
            "8192: instance ORCL 2 contexts of 8316 events at most, mysqld 1 contexts of 190 "
            "events at most"
        )


class TestMessages:
    def test_the_limit_was_reached(self, judge):
        log = (FIXTURES / "io_messages/11.2-ora-27090-exadata.txt").read_text()
        finding = judge(say(story(), log), message_days=365)["aio_refused"]
        assert finding.status == "pass"  # 2012 is long ago
        recent = ora(27090, NOW - 600) + ora(27090, NOW - 300)
        finding = judge(say(story(), recent))["aio_refused"]
        assert finding.status == "fail"
        assert finding.why.startswith(
            "ORA-27090 2 times from 2026-11-21 03:05:00 UTC to 2026-11-21 03:10:00 UTC "
            "(orcl_dbw0_4101)"
        )
        assert finding.values == {"ORA-27090": 2}

    def test_what_has_no_time_counts(self, judge):
        log = (FIXTURES / "io_messages/10.2.0.5-maxaio.txt").read_text()
        finding = judge(say(story(), traces=log))["aio_refused"]
        assert finding.status == "fail" and "MAXAIO 4 times at an unknown time" in finding.why

    def test_a_stall_without_a_silent_server(self, judge):
        finding = judge(say(story(), ora(27083, NOW - 600)))["io_stalled"]
        assert (finding.status, finding.because_of) == ("warn", ())
        assert "the kernel's log has no silent NFS server then" in finding.why
        assert "not the parameter" in finding.fix
        assert finding.commands == ("./hostproof audit --tags nfs_mounts,async_io",)

    def test_the_story_of_seed_001_in_one_line(self, judge):
        began = NOW - 3600
        machine = say(
            story(mounts=ON_NFS),
            ora(27062, began + 200) + ora(27062, began + 210),
            kernel=silence(began, began + 198),
        )
        findings = judge(machine)
        stalled, silent = findings["io_stalled"], findings["nfs_not_responding"]
        assert (stalled.status, stalled.because_of) == ("fail", ("async_io.nfs_not_responding",))
        assert "while the NFS server 10.9.0.2 (/u02) was silent" in stalled.why
        assert silent.status == "fail"
        assert silent.why == (
            "The NFS server 10.9.0.2 (/u02) was silent from 2026-11-21 02:15:00 UTC to 2026-11-21 "
            "02:18:18 UTC, 198 s; ORCL said ORA-27062 2 times from 2026-11-21 02:18:20 UTC to "
            "2026-11-21 02:18:30 UTC (orcl_dbw0_4101). Files there are held open by dbw0 of ORCL "
            "(pid 4101), lgwr of ORCL (pid 4102)."
        )
        assert "disk_asynch_io" not in stalled.fix + silent.fix

    def test_a_server_that_is_still_silent(self, judge):
        finding = judge(say(story(mounts=ON_NFS), kernel=silence(NOW - 60)))["nfs_not_responding"]
        assert finding.status == "fail" and "has not answered since, 60 s" in finding.why

    def test_a_server_of_no_database(self, judge):
        machine = say(story(mounts=ON_NFS), kernel=silence(NOW - 60, NOW - 50, server="10.1.1.1"))
        finding = judge(machine)["nfs_not_responding"]
        assert (finding.status, finding.title.partition(":")[0]) == ("warn", "10.1.1.1")
        assert "mounted at no path now" in finding.in_use

    def test_an_old_silence_does_not_count(self, judge):
        old = NOW - 8 * 86400
        machine = say(story(mounts=ON_NFS), kernel=silence(old, old + 60))
        assert judge(machine)["nfs_not_responding"].status == "pass"

    def test_an_nfs_host_whose_log_may_not_be_read(self, judge):
        machine = story(mounts=ON_NFS)
        machine.commands[io_packs.JOURNAL] = packs.Output(
            1, "", "Hint: You are currently not seeing messages from other users and the system.\n"
        )
        finding = judge(machine)["nfs_not_responding"]
        assert finding.status == "error" and "--become" in finding.fix

    def test_without_a_journal_dmesg_tells(self, judge):
        machine = story(mounts=ON_NFS)
        del machine.commands[io_packs.JOURNAL]
        lines = "[ 100.000000] nfs: server 10.9.0.2 not responding, still trying\n"
        machine.command("dmesg", lines + "[ 130.500000] nfs: server 10.9.0.2 OK\n")
        machine.file("/proc/uptime", "1000.00 1.00\n")
        finding = judge(machine)["nfs_not_responding"]
        assert "from 2026-11-21 03:00:00 UTC to 2026-11-21 03:00:30 UTC" in finding.why

    def test_input_and_output_failed(self, judge):
        finding = judge(say(story(), ora(27063, NOW - 60)))["io_errors"]
        assert finding.status == "fail" and "ORA-27063 once" in finding.why

    def test_a_listed_alert_log_needs_no_home(self, judge):
        """As in the lab, where it was an error: the account that runs the instance is enough."""
        machine = say(story(), ora(27083, NOW - 600)).remove("/proc/2101/exe")
        machine.command("messages of /logs/alert_ORCL.log", ora(27083, NOW - 600))
        machine.command("messages of the traces of ORCL in /logs", "")
        findings = judge(machine, instances=[{"sid": "ORCL", "alert_log": "/logs/alert_ORCL.log"}])
        assert findings["disk_asynch_io"].status == "error"
        assert findings["io_stalled"].status == "warn"

    def test_an_alert_log_that_is_not_to_be_read(self, judge):
        findings = judge(story().command(io_packs.MESSAGES, "", 2))
        for check in ("aio_refused", "io_stalled", "io_errors"):
            assert findings[check].status == "error"


def test_every_check_of_a_file_class_is_told_of_each(judge):
    """Data, redo and control files are counted apart."""
    finding = judge(story(files=DATA, redo=(*REDO, *CONTROL)))["direct_files"]
    found = {name: finding.values[name] for name in ("data_open", "redo_open", "control_open")}
    assert found == {"data_open": 2, "redo_open": 1, "control_open": 1}


def test_the_moment_of_the_packs():
    assert calendar.timegm((2026, 11, 21, 3, 15, 0)) == NOW
