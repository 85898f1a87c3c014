"""Files of other tools: each is named, its figures are printed, and the checks of an audit judge
it."""

import json
import shutil

import packs
import pytest
from ansible.module_utils.hostproof.errors import HostproofError
from cases import cases
from click.testing import CliRunner
from hostproof_controller import measured_file
from hostproof_controller.cli.errors import Refused
from hostproof_controller.cli.read import command
from hostproof_controller.report.role_result import status_of

LATENCY = packs.FIXTURES / "latency"
#: Format, worst status and the check that decides.
JUDGED = {
    "iostat-sysstat-12.6-three.txt": ("iostat", "pass", "latency.tool"),
    "iostat-sysstat-9-el6.txt": ("iostat", "warn", "latency.tool"),
    "iostat-decimal-comma.txt": ("iostat", "warn", "latency.tool"),
    "iostat-smartos.txt": ("iostat", "pass", "latency.tool"),
    "iostat-solaris-mounts.txt": ("iostat", "warn", "latency.tool"),
    "nfsiostat-postgres.txt": ("nfsiostat", "warn", "latency.tool"),
    "iostat-solaris-nfs.txt": ("iostat", "warn", "latency.tool"),
    "hping-seed.txt": ("ping", "pass", "latency.tool"),
    "ping-iputils.txt": ("ping", "pass", "latency.tool"),
    "ping-far.txt": ("ping", "warn", "latency.tool"),
    "sadf-12.6.json": ("sadf", "pass", "latency.tool"),
    "oratcptest-250-bytes.txt": ("oratcptest", "pass", "latency.tool"),
    "oratcptest-cloud.txt": ("oratcptest", "pass", "latency.tool"),
    "orion-11.1-two-disks.txt": ("orion", "pass", "latency.tool"),
    "awr-11.2.0.3.html": ("awr", "warn", "latency.database"),
    "iolstats-seed-long.txt": ("iolstats", "fail", "latency.cell_slow_requests"),
    "../fio/fio-3.33-read-and-write.json": ("fio", "pass", "latency.tool"),
    "nfsstat-linux.txt": ("nfsstat", "pass", "latency.tool_figures"),
    "nfsstat-solaris.txt": ("nfsstat", "fail", "latency.tool_figures"),
    "nfsstat-svr4.txt": ("nfsstat", "pass", "latency.tool_figures"),
    "../mountstats/linux-6.1-slow-2.txt": ("mountstats", "warn", "latency.tool"),
    "../mountstats/linux-6.1-udp-loss-1.txt": ("mountstats", "warn", "latency.tool_figures"),
    "../socket_info/linux-6.1-loss-2.txt": ("ss", "fail", "latency.tool_figures"),
    "../socket_info/linux-6.12-load-1.txt": ("ss", "pass", "latency.tool"),
    "mpstat-seed.txt": ("sysstat", "warn", "latency.tool_figures"),
    "mpstat-solaris.txt": ("sysstat", "pass", "latency.tool_figures"),
    "mpstat-aix.txt": ("sysstat", "pass", "latency.tool_figures"),
    "sar-sysstat-12.6.txt": ("sysstat", "warn", "latency.tool_figures"),
    "sadf-12.6-all.json": ("sadf", "warn", "latency.tool_figures"),
    "vmstat-procps-4.txt": ("vmstat", "warn", "latency.tool_figures"),
    "vmstat-solaris.txt": ("vmstat", "pass", "latency.tool_figures"),
    "charbench-2.8.txt": ("charbench", "pass", "latency.tool_figures"),
    "ifstat-ontap-9.txt": ("ifstat", "pass", "latency.tool_figures"),
    "sysconfig-none.txt": ("sysconfig", "pass", "latency.tool_figures"),
    "switch-catos-made-up.txt": ("switch_counters", "warn", "latency.tool_figures"),
    "pstack-seed.txt": ("stack", "warn", "latency.tool_figures"),
    "nfsiostat-el6-wrapped.txt": ("nfsiostat", "warn", "latency.tool"),
    "vmstat-aix.txt": ("vmstat", "pass", "latency.tool_figures"),
    "sar-decimal-comma.txt": ("sysstat", "pass", "latency.tool_figures"),
    "ss-wrapped.txt": ("ss", "fail", "latency.tool_figures"),
    "ping-seed.txt": ("ping", "pass", "latency.tool"),
    "../ontap_console/7-mode-df-h.txt": ("filer", "warn", "storage_type.space"),
    "../cvu/12.2-node-excluded.txt": ("cvu", "fail", "cvu.user_equivalence"),
}


@pytest.mark.parametrize("name", JUDGED)
def test_a_file_is_judged(name):
    found = measured_file.read(str((LATENCY / name).resolve()))
    status = status_of(found.findings)
    checks = {finding["check"] for finding in found.findings if finding["status"] == status}
    kind, expected, check = JUDGED[name]
    assert (found.format, status) == (kind, expected)
    assert check in checks
    assert found.figures


def test_a_slow_round_trip_and_lost_packets(tmp_path):
    """6.85 ms is above the limit of 5 ms, that of our own probe."""
    slow = tmp_path / "oratcptest.txt"
    text = (LATENCY / "oratcptest-250-bytes.txt").read_text()
    slow.write_text(text.replace("0.685 ms", "6.850 ms"))
    (finding,) = measured_file.read(str(slow)).findings
    assert (finding["status"], finding["check"]) == ("warn", "latency.tool")
    assert "6.85 ms" in finding["why"]
    lost = tmp_path / "ping.txt"
    lost.write_text("--- db02 ping statistics ---\n4 packets transmitted, 0 received, 100% loss\n")
    (finding,) = measured_file.read(str(lost)).findings
    assert finding["status"] == "fail"
    assert "4 of 4 packets without an answer" in finding["why"]


def test_orion_is_judged_by_its_least_load(tmp_path):
    """Under load the latency of Orion shows its own queue."""
    (finding,) = measured_file.read(str(LATENCY / "orion-12.2-read-write.txt")).findings
    assert finding["status"] == "pass"


def test_two_files_of_a_kind_are_before_and_after():
    before, after = (
        str(LATENCY / f"apachebench-{name}-check.txt") for name in ("foreground", "background")
    )
    assert measured_file.read(after).findings == []
    (better,) = measured_file.read(after, before).findings
    (worse,) = measured_file.read(before, after).findings
    assert (better["check"], better["status"], worse["status"]) == (
        "latency.tool_change",
        "pass",
        "fail",
    )


def counted(name, tmp_path, **changes):
    """A file with other numbers: ``changes`` are of text to text."""
    text = (LATENCY / name).read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / f"{len(list(tmp_path.iterdir()))}.txt"
    path.write_text(text)
    return str(path)


@cases(
    "name changes status words",
    # 16,000 of 1,600,000 calls were sent again before, and none of the 100,000 since.
    (
        "nfsstat-solaris.txt",
        {"80785 ": "180785", "25029": "25030"},
        "pass",
        "0.001 % (1 of 100,000 calls)",
    ),
    ("nfsstat-linux.txt", {"3883106": "3893106", "225 ": "525 "}, "fail", "3 % (300 of 10,000"),
    ("switch-ios-errors.txt", {"434": "500"}, "warn", "OutDiscards, 66"),
    ("switch-catos-made-up.txt", {"41337": "41337", "20771649": "20999649"}, "pass", "lost 0"),
    ("ifstat-ontap-9.txt", {"64177": "90000"}, "pass", "transmit: frames lost 0"),
    (
        "../flow_control/statistics-mlx5.txt",
        {"tx_pause_ctrl_phy: 1266552": "tx_pause_ctrl_phy: 1266553"},
        "warn",
        "tx_pause_ctrl_phy, 1",
    ),
)
def test_counters_of_two_files_are_what_happened_between(name, changes, status, words, tmp_path):
    before, after = counted(name, tmp_path), counted(name, tmp_path, **changes)
    found = measured_file.read(after, before)
    (finding,) = [each for each in found.findings if each["check"] == "latency.tool_figures"]
    assert (finding["status"], words in finding["in_use"]) == (status, True), finding["in_use"]


def test_mount_statistics_of_two_files():
    """The second half is slower than the time since the mount shows."""
    first, second = (
        str(packs.FIXTURES / f"mountstats/linux-6.1-slow-{number}.txt") for number in (1, 2)
    )
    (finding,) = measured_file.read(second, first).findings
    assert "/u01/oradata WRITE mean 270 ms of 31" in finding["why"]
    with pytest.raises(HostproofError) as caught:
        measured_file.read(first, second)
    assert "none goes on from the output before" in str(caught.value)


@cases(
    "name changes words",
    (
        "sysconfig-none.txt",
        {"There are no configuration errors.": "slot 3 is unsupported"},
        "1",
    ),
    ("vmstat-procps-4.txt", {"   0    0 ": "  12   40 "}, "swapped out 40"),
    (
        "charbench-2.8.txt",
        {"|                             0|": "| 7|"},
        "failed transactions 7",
    ),
    ("ifstat-ontap-9.txt", {"Total discards:      0": "Total discards:    99"}, "0.0673 %"),
    (
        "../flow_control/statistics-e1000.txt",
        {"rx_missed_errors: 0": "rx_missed_errors: 500\n     rx_packets: 1000000"},
        "rx_missed_errors, 0.05 % (500 of 1,000,000 frames)",
    ),
    ("ping-seed.txt", {"icmp_seq=3": "icmp_seq=9"}, "6 of 9 packets without an answer"),
)
def test_what_a_tool_counts_is_judged(name, changes, words, tmp_path):
    findings = measured_file.read(counted(name, tmp_path, **changes)).findings
    bad = [finding for finding in findings if finding["status"] == "warn"]
    assert any(words in finding["why"] for finding in bad), [each["in_use"] for each in findings]


def test_names_of_ports_and_states_that_ss_leaves_out(tmp_path):
    """ss -ti without -n, with a filter by state, and with Netid."""
    details = (
        "\t cubic rto:204 rtt:7.5/1.2 mss:1448 cwnd:10 segs_out:1000 segs_in:900 retrans:0/30\n"
    )
    for head, row in (
        (
            "State Recv-Q Send-Q Local Address:Port Peer Address:Port Process",
            "ESTAB 0 0 db01:47112 db02:ncube-lm",
        ),
        ("Recv-Q Send-Q Local Address:Port Peer Address:Port", "0 0 db01:47112 db02:1521"),
        (
            "Netid State Recv-Q Send-Q Local Address:Port Peer Address:Port",
            "tcp ESTAB 0 0 db01:47112 db02:1521",
        ),
    ):
        path = tmp_path / "ss.txt"
        path.write_text(f"{head}\n{row}\n{details}")
        found = {
            finding["check"]: finding["why"] for finding in measured_file.read(str(path)).findings
        }
        assert "db02 p50 7.5 ms of 1" in found["latency.tool"]
        assert (
            "db02 segments sent again 3 % (30 of 1,000 segments)" in found["latency.tool_figures"]
        )


def test_two_files_of_the_command_are_before_and_after(tmp_path):
    """Two of one kind only: others are read one by one."""

    def checks(*names):
        shown = CliRunner().invoke(
            command, ["--json", *(str(LATENCY / name) for name in names)], standalone_mode=False
        )
        return [{each["check"] for each in found["findings"]} for found in json.loads(shown.output)]

    assert checks("ping-iputils.txt", "ping-far.txt") == [
        {"latency.tool"},
        {"latency.tool", "latency.tool_change"},
    ]
    assert checks("ping-iputils.txt", "mpstat-seed.txt")[1] == {"latency.tool_figures"}
    assert len(checks("ping-iputils.txt", "ping-far.txt", "ping-far.txt")[2]) == 1
    with pytest.raises(HostproofError) as caught:
        measured_file.read(str(LATENCY / "ping-far.txt"), str(LATENCY / "mpstat-seed.txt"))
    assert "the file before is another kind: it is output of mpstat or sar" in str(caught.value)


@cases(
    "name",
    "charbench-seed.txt",
    "tcpstat-default.txt",
    "switch-ios-errors.txt",
    "slob-db_stats.txt",
)
def test_a_file_without_a_limit_shows_its_figures_and_asks_for_another(name):
    shown = CliRunner().invoke(command, [str(LATENCY / name)], standalone_mode=False)
    assert "no check has a limit for these figures; compare two files with --before" in shown.output
    assert len(shown.output.split("\n")) > 3


@cases(
    "text message",
    ("total 4\n", "its format is not known; known are AWR"),
    ("", "it is empty"),
    ("Device  r/s  w/s\n", "it has no table of devices"),
    ("Binary\0file", "it is not text"),
    ("fio-3.33\nread: IOPS=1\n", "run fio with --output-format=json"),
    ("Device tps kB_read/s\nsda 1 2\n", "run iostat -x"),
    ("State Recv-Q Send-Q Local Address:Port\nESTAB 0 0 10.0.0.1:22\n", "run ss -tin"),
    ("15:29:21 tps rtps wtps bread/s\n15:29:22 1 0 1 0\n", "run sar -d"),
    ("#0  0x0000000000401136 in main ()\n", "none of an Oracle process"),
    ("Client rpc stats:\ncalls retrans authrefrsh\n12 1\n", "3 names have 2 numbers"),
)
def test_an_unknown_or_damaged_file_is_one_sentence(tmp_path, text, message):
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(HostproofError) as caught:
        measured_file.read(str(path))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_command_prints_text_or_json(tmp_path):
    path = tmp_path / "ping.txt"
    shutil.copy(LATENCY / "ping-far.txt", path)
    shown = CliRunner().invoke(command, [str(path)], standalone_mode=False)
    assert shown.return_value == 0
    assert "output of ping" in shown.output
    assert "db02, net, p50 142 ms, mean 141 ms, of 4" in shown.output
    printed = CliRunner().invoke(command, ["--json", str(path)], standalone_mode=False)
    (found,) = json.loads(printed.output)
    assert (found["format"], found["findings"][0]["status"]) == ("ping", "warn")
    odd = shutil.copy(path, tmp_path / "ping\x1b[31m.txt")
    with pytest.raises(Refused) as caught:
        CliRunner().invoke(command, [str(odd)], standalone_mode=False, catch_exceptions=False)
    assert "control characters" in str(caught.value)
    assert str(caught.value).isprintable()
    failed = str(packs.FIXTURES / "cvu/12.2-node-excluded.txt")
    assert CliRunner().invoke(command, [failed], standalone_mode=False).return_value == 2
