"""async_io at its limits, and with answers that say nothing: each is an error, and says why."""

import packs
import pytest
from ansible.module_utils.hostproof.controls.async_io.control import CONTROL as async_io
from cases import cases
from io_packs import JOURNAL, NOW, ON_NFS, policy, say, silence, story
from test_async_io import ora


@pytest.fixture
def judge(findings_by_rules):
    def judge_host(host, **changes):
        findings = findings_by_rules(async_io, host, policy(**changes))
        return {check: only for check, (only,) in findings.items()}

    return judge_host


class TestLimits:
    @cases("used status", (32768, "pass"), (32769, "warn"))
    def test_the_share_of_the_policy(self, judge, used, status):
        finding = judge(story(used=used, limit=65536), used_limit_percent=50)["aio_usage"]
        assert (finding.status, finding.desired) == (status, "at most 50%")

    @cases(
        "release used status",
        ("3.10.0-1160.el7", 65536, "fail"),
        ("3.10.0-1160.el7", 65537, "warn"),
        ("3.9.9", 65537, "fail"),
        ("4.13.9", 65537, "warn"),
        ("4.14.0", 65537, "fail"),
    )
    def test_kernels_that_charge_more(self, judge, release, used, status):
        machine = story(used=used, limit=65536).file("/proc/sys/kernel/osrelease", release + "\n")
        assert judge(machine)["aio_usage"].status == status

    @cases(
        "limit persisted why",
        (1048576, "1048576", None),
        (1048575, "1048576", "It is 1048575; required is 1048576"),
        (1048576, "1048575", "it is 1048575 after reboot; required"),
        (1, "2", "It is 1 and it is 2 after reboot; required"),
    )
    def test_one_event_less_than_required(self, judge, limit, persisted, why):
        finding = judge(story(limit=limit, persisted=persisted))["aio_max_nr"]
        assert finding.status == ("fail" if why else "pass") and finding.why.startswith(why or "")
        layers = [("running", limit < 1048576), ("persisted", int(persisted) < 1048576)]
        assert finding.failing_layer == next((name for name, low in layers if low), None)

    @cases("note applied", ("documented", True), (1048577, False))
    def test_what_kernel_parameters_sets_by_itself(self, judge, note, applied):
        finding = judge(story(limit=65536), aio_max_nr=note)["aio_max_nr"]
        assert bool(finding.commands) is applied
        assert ("list fs.aio-max-nr" in finding.fix) is not applied

    @cases(
        "path text step",
        ("/etc/sysctl.d/zzz.conf", "fs.aio-max-nr = 65536\n", "zzz.conf:1 (fs.aio-max-nr"),
        ("/etc/rc.local", "#!/bin/sh\nsysctl -w fs.aio-max-nr=65536\n", "/etc/rc.local:2"),
        ("/etc/sysctl.d/10-a.conf", "fs.aio-max-nr = 65536\n", None),
    )
    def test_apply_is_not_advised_where_another_place_would_win(self, judge, path, text, step):
        machine = story(limit=65536, persisted=None).file(path, text, mode=0o755)
        finding = judge(machine)["aio_max_nr"]
        assert finding.status == "fail" and bool(finding.commands) is (step is None)
        assert step is None or step in finding.fix

    def test_the_largest_holders_by_name(self, judge):
        machine = story().writer("/u01/oracleDEV (LOCAL=NO)", {}, (1, 399360), pid=80)
        machine.writer("oracle", {}, (2, 12288), pid=81)
        for number in range(3):
            machine.writer(f"/usr/bin/x{number}", {}, (10 + number, 4096), pid=90 + number)
        text = judge(machine)["aio_usage"].in_use
        assert text.startswith(
            "8192: instance ORCL 2 contexts of 8316 events at most, instance DEV"
        )
        assert "oracle 1 contexts" in text and text.endswith(" others")


class TestMessages:
    @cases("seconds words", (0, " at 2026"), (1, " from 2026"))
    def test_one_second_is_a_period(self, judge, seconds, words):
        log = ora(27083, NOW - 600) + ora(27083, NOW - 600 + seconds)
        assert "2 times" + words in judge(say(story(), log))["io_stalled"].why

    @cases("at belongs", (-61, False), (-60, True), (100, True), (160, True), (161, False))
    def test_a_message_within_a_minute_of_a_silence(self, judge, at, belongs):
        began = NOW - 3600
        machine = say(
            story(mounts=ON_NFS), ora(27062, began + at), kernel=silence(began, began + 100)
        )
        assert judge(machine)["io_stalled"].status == ("fail" if belongs else "warn")

    def test_a_message_without_a_time_belongs_to_no_silence(self, judge):
        log = "ORA-27062: made up\n"
        machine = say(story(mounts=ON_NFS), traces=log, kernel=silence(NOW - 60))
        finding = judge(machine)["io_stalled"]
        assert (finding.status, finding.because_of) == ("warn", ())


class TestUnknown:
    @cases(
        "stdout rc",
        (f"{NOW} +0100", 1),
        (f"{NOW}", 0),
        (f"{NOW} +01000", 0),
        (f"{NOW} 01000", 0),
        (f"{NOW} +0100 x", 0),
    )
    def test_a_clock_that_does_not_tell_the_time(self, judge, stdout, rc):
        findings = judge(story(mounts=ON_NFS).command("date +%s %z", stdout + "\n", rc))
        for name in ("io_stalled", "io_errors", "nfs_not_responding"):
            assert findings[name].status == "error" and "date told" in findings[name].why

    @cases(
        "output up why",
        (packs.Output(1, "", "dmesg: klogctl failed: Operation not permitted"), "9 9", "--become"),
        (packs.Output(2, "", "made up"), "9 9", "dmesg ended with 2: made up"),
        (packs.Output(0, "no time\n", ""), "9 9", "no line has the seconds since boot"),
        (packs.Output(0, "", ""), "\n", "uptime: it is empty"),
    )
    def test_no_journal_and_no_answer_of_dmesg(self, judge, output, up, why):
        machine = story(mounts=ON_NFS).file("/proc/uptime", up)
        del machine.commands[JOURNAL]
        machine.commands["dmesg"] = output
        finding = judge(machine)["nfs_not_responding"]
        assert finding.status == "error" and why in f"{finding.why} {finding.fix}"

    def test_a_journal_of_another_form(self, judge):
        finding = judge(say(story(mounts=ON_NFS), kernel="garbage\n"))["nfs_not_responding"]
        assert finding.status == "error" and "journal, line 1" in finding.why

    def test_slaves_with_an_unknown_disk_asynch_io(self, judge):
        finding = judge(story(dbwr_io_slaves="4", disk_asynch_io=None))["io_slaves"]
        assert finding.status == "warn"
        assert (
            finding.why == "dbwr_io_slaves is 4, and whether disk_asynch_io is TRUE is not known."
        )

    def test_a_value_of_another_release(self, judge):
        finding = judge(story(filesystemio_options="magic"))["direct_files"]
        assert finding.status == "error"
        assert "'magic' is not a value of filesystemio_options" in finding.why

    def test_a_find_that_fails(self, judge):
        machine = story()
        machine.command(
            "messages of the traces of ORCL in /u01/app/oracle/diag/rdbms/orcl/ORCL/trace", "", 1
        )
        assert judge(machine)["aio_refused"].status == "error"


def test_a_system_that_is_not_known_has_no_verdict(judge):
    """Its instances were skipped as if none ran."""
    findings = judge(story().deny("/proc/self/mountinfo"))
    for name in ("filesystemio_options", "direct_files", "io_errors"):
        assert findings[name].status == "error", findings[name].why
