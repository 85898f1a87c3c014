"""The formats of asynchronous I/O: flags of open files, the kernel's log, a database's messages."""

import calendar

import pytest
from ansible.module_utils.hostproof.controls.async_io.parsers import (
    io_messages,
    kernel_log,
    nfs_silence,
)
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.kernel import open_flags
from ansible.module_utils.hostproof.parsers.oracle import alert_log
from cases import cases
from packs import FIXTURES

MESSAGES = FIXTURES / "io_messages"


class TestFlags:
    """Measured on x86-64 (proc_pid_fdinfo): what open(2) was asked, and what the kernel shows."""

    @cases(
        "flags direct sync",
        *(("0100002", False, False), ("0140002", True, False), ("04110002", False, True)),
        *(("0110002", False, True), ("04150002", True, True), ("0150002", True, True)),
        ("02150002", True, True),
    )
    def test_of_x86(self, flags, direct, sync):
        assert open_flags.parse(flags, "x86_64") == (True, direct, sync)

    def test_the_same_bit_is_another_flag_elsewhere(self):
        # 040000 is O_DIRECT on x86 and O_DIRECTORY on ARM and POWER.
        assert not open_flags.parse("040000", "aarch64").direct
        assert not open_flags.parse("040000", "ppc64le").direct
        assert open_flags.parse("0200002", "aarch64").direct
        assert open_flags.parse("0400002", "ppc64le").direct

    @cases("flags", "0100000", "0100001")
    def test_to_read_or_to_append(self, flags):
        assert not open_flags.parse(flags, "x86_64").updates

    def test_a_machine_that_is_not_known(self):
        with pytest.raises(ParseError, match="machine are not known: a word of 3"):
            open_flags.parse("02", "vax")


class TestKernelLog:
    JOURNAL = (
        "1795231561.123456 db1 kernel: nfs: server 10.9.0.2 not responding, still trying\n"
        "-- Boot 0123456789abcdef0123456789abcdef --\n"
        "1795231759.000001 db1 kernel: nfs: server 10.9.0.2 OK\n"
    )

    def test_journal(self):
        entries = kernel_log.of_journal(self.JOURNAL)
        assert entries[0] == (
            1795231561.123456,
            "nfs: server 10.9.0.2 not responding, still trying",
        )
        assert [round(entry.at) for entry in entries] == [1795231561, 1795231759]

    def test_the_newest_first(self):
        """As the lab's journalctl printed them: the silence had no end, and then a negative one."""
        lines = self.JOURNAL.splitlines(keepends=True)
        entries = kernel_log.of_journal("".join(reversed(lines)))
        assert entries == kernel_log.of_journal(self.JOURNAL)

    @cases("text", "", "-- No entries --\n")
    def test_no_entry(self, text):
        assert kernel_log.of_journal(text) == []

    def test_what_is_no_journal(self):
        with pytest.raises(ParseError):
            kernel_log.of_journal("Failed to do something\n")

    def test_dmesg(self):
        entries = kernel_log.of_dmesg((FIXTURES / "kernel_log/dmesg-nfs.txt").read_text(), 1000.0)
        assert entries[0].at == 1207.955868
        (silence,) = nfs_silence.silences(entries)
        assert (silence.server, silence.lines) == ("10.100.0.60", 2)
        assert silence.ended == pytest.approx(1311.000124)

    def test_dmesg_without_times(self):
        with pytest.raises(ParseError):
            kernel_log.of_dmesg("nfs: server 10.9.0.2 OK\n", 0.0)


class TestSilence:
    def test_one_that_has_not_ended(self):
        (silence,) = nfs_silence.silences([(5.0, "nfs: server a not responding, timed out")])
        assert silence == ("a", 5.0, None, 1, True)

    def test_two_servers_at_a_time(self):
        message = "nfs: server {0} not responding, still trying"
        silences = nfs_silence.silences(
            [(1.0, message.format("a")), (2.0, message.format("b")), (3.0, "nfs: server a OK")]
        )
        assert [(silence.server, silence.began, silence.ended) for silence in silences] == [
            ("a", 1.0, 3.0),
            ("b", 2.0, None),
        ]

    def test_solaris(self):
        """Its words as the article has them (seed 001), and those of its manual."""
        lines = ["NFS server filer still not responding", "NFS server filer ok"]
        (silence,) = nfs_silence.silences(enumerate(map(str, lines)))
        assert (silence.server, silence.began, silence.ended) == ("filer", 0, 1)

    def test_an_ok_without_a_beginning_is_nothing(self):
        assert nfs_silence.silences([(1.0, "nfs: server a OK")]) == []


class TestTimes:
    UTC = float(calendar.timegm((2014, 9, 10, 9, 58, 17)))

    @cases("line", "Wed Sep 10 09:58:17 2014", "Wed Sep 10 09:58:17 CST 2014")
    def test_of_the_host(self, line):
        assert alert_log.moment(line, 8 * 3600) == self.UTC - 8 * 3600

    @cases(
        "line",
        "2014-09-10T09:58:17.159123+00:00",
        "2014-09-10T11:58:17.159123+02:00",
        "2014-09-10T04:28:17.159123-05:30",
        "*** 2014-09-10T09:58:17.159123+00:00",
    )
    def test_with_its_zone(self, line):
        assert alert_log.moment(line, 12345) == self.UTC

    def test_of_a_trace(self):
        line = "*** SERVICE NAME:() 2014-09-10 09:58:17.159"
        assert alert_log.moment(line, 0) == self.UTC

    @cases(
        "line",
        "Wed Sep 10 09:58:17 2014 x",
        "2014-13-10T09:58:17.1+00:00",
        "Wed Foo 10 09:58:17 2014",
    )
    def test_no_time(self, line):
        assert alert_log.moment(line, 0) is None


def read(name: str) -> list[io_messages.Message]:
    return io_messages.parse((MESSAGES / name).read_text(), 0)


class TestMessages:
    def test_the_limit_10_2(self):
        messages = read("10.2.0.5-ora-27090.txt")
        assert [(message.code, message.kind, message.process) for message in messages] == [
            ("ORA-27090", "limit", "orclls_p000_47020"),
            ("ORA-27090", "limit", "orclls_p002_47024"),
        ]
        assert messages[0].errno == "2: No such file or directory"
        assert messages[0].at == TestTimes.UTC

    def test_the_limit_11_2(self):
        messages = read("11.2-ora-27090-exadata.txt")
        assert [message.errno for message in messages] == [
            "11: Resource temporarily unavailable"
        ] * 2
        assert {message.process for message in messages} == {"dbm1_j001_126103"}

    def test_the_limit_without_a_time(self):
        (message,) = read("10.2.0.4-ora-27090.txt")
        assert (message.at, message.process, message.errno) == (None, "test_dbw0_4400", None)

    def test_maxaio(self):
        assert [message.code for message in read("10.2.0.5-maxaio.txt")] == ["MAXAIO"] * 4

    def test_stalled_on_solaris(self):
        (message,) = read("solaris-aiowait.txt")
        assert (message.code, message.kind) == ("aiowait", "stalled")
        assert message.at == float(calendar.timegm((2015, 10, 21, 3, 17, 10)))

    def test_stalled_in_the_article(self):
        (message,) = read("seed-ora-27062.txt")
        assert (message.code, message.kind) == ("ORA-27062", "stalled")

    def test_stalled_in_data_pump(self):
        (message,) = read("datapump-ora-27061.txt")
        assert (message.kind, message.errno) == ("stalled", "95: Operation not supported")

    def test_failed(self):
        messages = read("solaris-ora-27063.txt")
        assert [entry.code for entry in messages] == ["ORA-27063"] * 3
        assert (messages[2].process, messages[2].errno) == ("repdb01_dbw2_540", "5: I/O error")
        (message,) = read("windows-ora-27070.txt")
        assert (message.code, message.kind, message.process) == (
            "ORA-27070",
            "failed",
            "orcl_dbw0_4928",
        )

    @cases("code", "27083", "27103")
    def test_made_up_by_the_form_of_the_others(self, code):
        text = f"Wed Sep 10 09:58:17 2014\nErrors in file /t/a_lgwr_7.trc:\nORA-{code}: made up\n"
        (message,) = io_messages.parse(text, 0)
        assert (message.code, message.process, message.at) == (
            f"ORA-{code}",
            "a_lgwr_7",
            TestTimes.UTC,
        )

    def test_what_is_none(self):
        assert io_messages.parse("ORA-01555: snapshot too old\nORA-27037: unable\n", 0) == []
