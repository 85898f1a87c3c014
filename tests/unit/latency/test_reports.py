"""Reports as windows: which kind a text is, what is flagged, and what a damaged one gives."""

import json
import random
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.collect.measured import Window
from ansible.module_utils.hostproof.controls.latency.measurement import (
    database_windows,
    reports,
    work,
)
from ansible.module_utils.hostproof.controls.latency.parsers import (
    awr,
    awr_global,
    dashed_table,
    report_html,
)
from ansible.module_utils.hostproof.errors import ParseError
from cases import cases

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures/latency"
#: Rows of a query are no report: tests/unit/controls/test_latency_instances.py.
ROWS = {"wait-chains-seed.txt"}
NAMES = sorted({path.name for path in FIXTURES.glob("*.txt")} - ROWS)
KINDS = {
    **{"apachebench": "apachebench", "awr-global": "awr_global", "awr": "awr"},
    **{"charbench": "charbench", "ifstat": "ifstat", "mpstat": "sysstat", "nfsstat": "nfsstat"},
    **{"pstack": "stack", "sar": "sysstat", "ss-": "ss", "switch": "switch_counters"},
    **{"sysconfig": "sysconfig", "vmstat": "vmstat", "devio_stats": "devio_stats", "hping": "ping"},
    **{"iolstats": "iolstats", "iostat": "iostat", "nfsiostat": "nfsiostat"},
    **{"oratcptest": "oratcptest", "orion": "orion", "ping": "ping"},
    **{"slob-awr_info": "slob_awr_info", "slob-db_stats": "slob_db_stats"},
    **{"slob-grep": "slob_grep", "statspack": "statspack", "tcpdump": "tcpdump"},
    "tcpstat": "tcpstat",
}


def fixture(name: str) -> str:
    return (FIXTURES / name).read_text()


def window_of(report, subject, size=None):
    (window,) = [
        entry for entry in report.windows if (entry.subject, entry.size) == (subject, size)
    ]
    return window


@pytest.mark.parametrize("name", NAMES)
def test_each_report_is_recognised_and_told_as_json(name):
    report = reports.read(fixture(name))
    assert report.kind == next(kind for sign, kind in KINDS.items() if name.startswith(sign))
    assert report.windows or report.remarks or report.figures
    rows = json.loads(json.dumps([window.to_json() for window in report.windows]))
    assert [Window.from_json(row) for row in rows] == report.windows
    assert json.loads(json.dumps(report.figures)) == report.figures


@pytest.mark.parametrize("name", NAMES)
def test_line_ends_of_windows_and_a_mark_of_utf_8_change_nothing(name):
    text = fixture(name)
    assert reports.read("\ufeff" + text.replace("\n", "\r\n")) == reports.read(text)


CLUSTER = """WORKLOAD REPOSITORY REPORT (RAC)

Database Instances Included In Report

  I# Instance  Begin Snap Time End Snap Time   Release    Elapsed Time(min)
---- --------- --------------- --------------- ---------- -----------------
   1 exa1      19-Feb-14 17:30 19-Feb-14 18:00 11.2.0.3.0             30.00

"""


class TestLogFileParallelWrite:
    def test_is_no_io_latency_on_a_multitenant_database(self):
        report = reports.read(fixture("awr-19c-made-up.txt"))
        write = window_of(report, "log file parallel write")
        assert write.conditions["io_latency"] == "no"
        assert any("is not an I/O latency here" in remark for remark in report.remarks)
        assert "io_latency" not in window_of(report, "db file parallel write").conditions

    def test_is_one_on_a_database_that_is_not_multitenant(self):
        text = fixture("awr-19c-made-up.txt").replace("19.0.0.0.0 NO  YES", "19.0.0.0.0 NO  NO")
        report = reports.read(text)
        write = window_of(report, "log file parallel write")
        assert (write.conditions["io_latency"], report.remarks) == ("yes", [])

    @cases(
        "release multitenant is_io",
        *(("12.1.0.2.0", True, True), ("12.2.0.1.0", True, False), ("12.2.0.1.0", False, True)),
        *(("19.0.0.0.0", None, None), ("11.2.0.4.0", None, True), (None, True, None)),
        *((None, False, True), (None, None, None), ("23.4.0.24.05", True, False)),
        *(("21.3.0.0.0", None, False), ("21.3.0.0.0", False, False)),
        ("23.26.0.0.0", None, False),
    )
    def test_depends_on_release_and_multitenancy(self, release, multitenant, is_io):
        assert database_windows.log_write_is_io(release, multitenant) is is_io

    def test_what_the_report_does_not_tell_can_be_said(self):
        text = fixture("statspack-made-up.txt")
        assert (
            window_of(reports.read(text), "log file parallel write").conditions["io_latency"]
            == "unknown"
        )
        report = reports.read(text, multitenant=False)
        assert window_of(report, "log file parallel write").conditions["io_latency"] == "yes"
        cluster = reports.read(fixture("awr-global-11.2-top.txt"), release="11.2.0.3.0")
        assert window_of(cluster, "log file parallel write").conditions["io_latency"] == "yes"

    def test_what_the_report_tells_counts_more_than_what_is_said(self):
        report = reports.read(fixture("awr-19c-made-up.txt"), multitenant=False)
        write = window_of(report, "log file parallel write")
        assert write.conditions["io_latency"] == "no"

    @cases(
        "piece release",
        ("awr-11.2-rac-waits.txt", "at least 11.1"),
        ("awr-11.2-rac-waits.txt", "11.2.0.3.0"),
    )
    def test_the_release_of_a_piece_is_a_lower_bound_and_says_so(self, piece, release):
        option = None if release.startswith("at least") else release
        report = reports.read(fixture(piece), release=option)
        assert report.figures["release"] == release
        remarks = [remark for remark in report.remarks if "so the release is at least" in remark]
        assert bool(remarks) is (option is None)

    def test_a_piece_of_an_old_layout_is_of_an_old_release(self):
        report = reports.read(fixture("awr-11.2-rac-waits.txt"))
        assert window_of(report, "log file parallel write").conditions["io_latency"] == "yes"


def test_a_cluster_tells_its_release_and_interval():
    text = CLUSTER + fixture("awr-global-11.2-top.txt") + "\nEnd of Report\n"
    report = reports.read(text)
    write = window_of(report, "log file parallel write")
    assert (write.seconds, write.conditions["io_latency"]) == (1800.0, "yes")
    assert write.conditions["begin"] == "19-Feb-14 17:30"
    assert report.remarks == []
    with pytest.raises(ParseError, match="a second report begins here"):
        reports.read(text + text[:400])
    with pytest.raises(ParseError, match="a second report begins here"):
        reports.read(text + fixture("awr-11.2.0.1-shortened.txt"))
    report = reports.read(text.replace("  11,416,579  ", "############  "))
    lists = window_of(report, "cell list of blocks physical read")
    assert (lists.n, lists.mean, lists.conditions["n_from"]) == (0, 3100, "not told")
    assert report.remarks == [
        "left out, as the number did not fit its column: cell list of blocks physical read"
    ]


def test_the_full_tables_count_and_idle_events_do_not():
    report = reports.read(fixture("awr-11.2.0.1-shortened.txt"))
    assert [window.subject for window in report.windows] == [
        *("db file sequential read", "log file sync", "db file parallel read"),
        *("db file scattered read", "resmgr:cpu quantum", "read by other session"),
        *("control file sequential read", "log file parallel write", "db file async I/O submit"),
        *("os thread startup", "db file sequential read (background)"),
        "control file parallel write",
    ]
    read = window_of(report, "db file sequential read")
    assert (read.n, read.seconds, read.started) == (35732, 361.8, None)
    assert read.mean == pytest.approx(184008.7, abs=0.1)
    assert (read.p50, read.minimum, read.maximum) == (None, None, None)
    # 99.9 % of the reads are of foreground sessions: the histogram of all sessions is theirs.
    assert sum(read.log2_bins().values()) == pytest.approx(35900, rel=0.01)
    assert window_of(report, "db file sequential read (background)").bins is None
    assert report.remarks == [
        "2 events have no window, the time is too short for the digits printed: "
        "SQL*Net message to client, asynch descriptor resize"
    ]


#: Every event but the idle ones, and those of background processes that others wait for too.
OLD = {
    "awr-10.2-made-up.txt": [
        ("db file sequential read", "all", 1402113),
        ("log file sync", "all", 90214),
        ("log file parallel write", "all", 88001),
        ("db file scattered read", "all", 41207),
        ("control file sequential read", "all", 10480),
        ("SQL*Net message to client", "all", 2204117),
        ("latch free", "all", 4),
        ("control file parallel write", "background", 1204),
        ("db file sequential read (background)", "background", 212),
    ],
    "statspack-9.2-made-up.txt": [
        ("db file sequential read", "all", 568948),
        ("log file sync", "all", 70530),
        ("log file parallel write", "all", 68001),
        ("db file scattered read", "all", 12007),
        ("latch free", "all", 52),
        ("control file parallel write", "background", 586),
        ("db file sequential read (background)", "background", 106),
    ],
    "statspack-10.2-made-up.txt": [
        ("db file sequential read", "all", 1402113),
        ("log file sync", "all", 90214),
        ("log file parallel write", "all", 88001),
        ("db file scattered read", "all", 41207),
        ("control file parallel write", "background", 1204),
        ("db file sequential read (background)", "background", 212),
    ],
}


@pytest.mark.parametrize("name", OLD)
def test_a_table_of_all_sessions_counts_beside_that_of_the_background(name):
    report = reports.read(fixture(name))
    told_of = [
        (window.subject, window.conditions["sessions"], window.n) for window in report.windows
    ]
    assert told_of == OLD[name]
    assert window_of(report, "log file parallel write").conditions["io_latency"] == "yes"
    assert report.remarks == []


@pytest.mark.parametrize("name", OLD)
def test_so_it_does_in_a_piece(name):
    text = fixture(name)
    report = reports.read(text[text.index("\fWait Events") :].replace("End of Report", ""))
    assert [(window.subject, window.n) for window in report.windows] == [
        (subject, count) for subject, _, count in OLD[name]
    ]


def test_top_events_stay_beside_a_background_table():
    text = fixture("awr-11.2.0.1-shortened.txt")
    top = text[text.index("Top 5 Timed") : text.index("Host CPU")]
    background = text[text.index("Background Wait Events") : text.index("Wait Event Histogram")]
    report = reports.read(top + "\n" + background)
    assert [(window.subject, window.conditions["sessions"]) for window in report.windows] == [
        ("db file sequential read", "foreground"),
        ("log file sync", "foreground"),
        ("db file parallel read", "foreground"),
        ("db file scattered read", "foreground"),
        ("resmgr:cpu quantum", "foreground"),
        ("log file parallel write", "background"),
        ("db file async I/O submit", "background"),
        ("os thread startup", "background"),
        ("db file sequential read (background)", "background"),
        ("control file parallel write", "background"),
    ]


def test_a_piece_without_its_background_table_has_the_events_of_all_sessions():
    text = fixture("statspack-made-up.txt")
    report = reports.read(text[text.index("Top 5 Timed") : text.index("Background Wait")])
    assert [(window.subject, window.conditions["sessions"]) for window in report.windows] == [
        ("db file sequential read", "foreground"),
        ("log file sync", "foreground"),
        ("direct path read", "foreground"),
        ("log file parallel write", "all"),
    ]


def test_a_histogram_of_all_is_not_that_of_few():
    """Of a piece with one table the histogram alone tells how many waits there were."""
    text = fixture("awr-11.2.0.1-shortened.txt")
    piece = text[text.index("Background Wait Events") :].replace("End of Report", "")
    assert window_of(reports.read(piece), "db file sequential read").bins is None


HASH = "############"


def test_figures_that_did_not_fit_are_left_out_with_a_remark():
    text = fixture("awr-11.2.0.1-shortened.txt")
    text = text.replace(
        "db file parallel read               545  ", "db file parallel read      " + HASH + "  "
    )
    report = reports.read(
        text.replace(
            "log file sync                     3,825     0      1,495",
            "log file sync                     3,825     0 ##########",
        )
    )
    read = window_of(report, "db file parallel read")
    assert (read.n, read.mean, read.conditions["n_from"]) == (0, 304000, "not told")
    assert (window_of(report, "log file sync").mean, len(report.windows)) == (391000, 12)
    assert report.remarks[1:] == [
        "the time did not fit its column and is left out: log file sync",
        "the number of waits did not fit its column and is left out: db file parallel read",
    ]
    text = fixture("awr-11.2.0.3-statistics-nocache.txt").replace("           315,000", "#" * 18)
    assert (
        "left out, as the number did not fit its column: lob writes" in reports.read(text).remarks
    )


def test_a_time_that_contradicts_its_average_is_no_window():
    text = fixture("awr-11.2.0.1-shortened.txt").replace(
        "3,825     0      1,495     391", "3,825     0      1,495     931"
    )
    report = reports.read(text)
    assert "log file sync" not in [window.subject for window in report.windows]
    assert report.remarks[0] == (
        "1 event has no window, the time, divided by the waits, is not the printed average: "
        "log file sync"
    )


def test_events_cut_off_alike_have_no_window():
    text = fixture("awr-11.2.0.1-shortened.txt")
    row = "log file sync                     3,825     0      1,495     391      0.4   17.6"
    cut_off = row.replace("log file sync             ", "cell single block physical")
    report = reports.read(text.replace(row, row + "\n" + cut_off + "\n" + cut_off))
    assert len(report.windows) == 12
    assert report.remarks[0].startswith("1 event has no window, a table has the name more than")
    assert report.remarks[0].endswith(": cell single block physical read")


def test_markup_in_sql_does_not_make_a_report_html():
    text = fixture("awr-11.2.0.1-shortened.txt")
    sql = "select '<html><head></head>' || name || '<header>' from t\n\nEnd of Report"
    assert reports.read(text.replace("End of Report", sql)) == reports.read(text)


def second_hour(text):
    return text.replace("       37 12-Feb-17 12:16:04", "       38 12-Feb-17 12:22:06")


@cases(
    "name second",
    ("awr-11.2.0.1-shortened.txt", lambda text: text),
    ("awr-11.2.0.1-shortened.txt", lambda text: text[:3500]),
    ("awr-11.2.0.1-shortened.txt", lambda text: second_hour(text)[text.index("DB Name") :]),
    ("statspack-9.2-made-up.txt", lambda text: text),
    ("statspack-9.2-made-up.txt", lambda text: text[:900]),
)
def test_two_reports_in_one_text_are_one_clear_error(name, second):
    text = fixture(name)
    with pytest.raises(ParseError, match="a second report begins here: use a separate file"):
        reports.read(text + second(text))
    with pytest.raises(ParseError, match="a second report begins here: use a separate file"):
        reports.read(text[:-20] + "\n" + text)


def test_two_whole_reports_of_different_hours_are_two_runs():
    text = fixture("awr-11.2.0.1-shortened.txt")
    first, both = reports.read(text), reports.read(text + second_hour(text))
    assert len(both.windows) == 2 * len(first.windows)
    assert {window.conditions["run"] for window in both.windows} == {1, 2}
    figures, single = work.figures(both), work.figures(first)["run 1 logical"]
    assert figures["run 1 logical"] == figures["run 2 logical"] == single


SLOB_RUN = """\
32_awr.txt:  Logical reads:          {logical}       59,670,688.0
32_awr.txt:  Physical reads:         {reads}       59,670,688.0
"""


def test_slob_reports_of_two_directories_with_the_same_file_name_are_two_runs():
    first = SLOB_RUN.format(logical="200,000.0", reads="0.0")
    second = SLOB_RUN.format(logical="250,000.0", reads="0.0")
    figures = work.figures(reports.read(first + second))
    assert [figures[f"run {number} logical"] for number in (1, 2)] == [200000.0, 250000.0]
    assert [figures[f"run {number} reads"] for number in (1, 2)] == [0.0, 0.0]
    assert work.figures(reports.read(first + first)) == work.figures(reports.read(first))


def test_idle_events_that_statspack_does_not_know_are_idle():
    report = reports.read(fixture("statspack-12.1-top-idle.txt"))
    assert [window.subject for window in report.windows] == [
        "heartbeat redo informer",
        "direct path read",
    ]


def test_windows_of_a_cell():
    report = reports.read(fixture("iolstats-seed-smartscan.txt"))
    read = window_of(report, "CD_02_enkcel01", 1048576)
    assert (read.probe, read.layer, read.n, read.mean) == ("disk", "read", 208, None)
    assert report.remarks == ["CD_02_enkcel01: the latencies of 24 writes are not in the text"]
    report = reports.read(fixture("devio_stats-seed.txt"))
    disk = window_of(report, "/dev/sda")
    # 5 ms of 45 I/Os and 1 ms of 17, none in the others: 6 ms of 104. One interval has 30.
    assert (disk.n, disk.seconds) == (104, 18)
    assert disk.mean == pytest.approx(6000 / 104, rel=1e-4)
    assert (disk.p50, disk.conditions["intervals_told"]) == (pytest.approx(111.111), 1)


def test_too_few_ios_are_no_mean():
    text = fixture("devio_stats-seed.txt").replace("15 7 38 0", "15 7 8 0")
    report = reports.read(text)
    (disk,) = report.windows
    assert (disk.mean, disk.p50) == (None, None)
    assert report.remarks[0] == "/dev/sda: too few I/Os, no interval has 30"


def test_a_dump_with_fewer_intervals_than_it_says():
    text = fixture("devio_stats-seed.txt").replace("etc.\n", "")
    sda = text[text.index("[IOSTAT] Device") :]
    report = reports.read(text + sda.replace("sda", "sdb"))
    assert report.remarks[-1] == (
        "only 6 of 599 intervals are there, the dump was cut off or the cell had just begun: "
        "/dev/sda, /dev/sdb"
    )
    whole = text.replace("last 1800 seconds", "last 21 seconds")
    assert reports.read(whole).remarks == []


def test_a_run_of_orion_that_was_cut_off_says_so():
    text = fixture("orion-11.1-two-disks.txt")
    whole = reports.read(text)
    assert (len(whole.windows), whole.remarks) == (2, [])
    second = text.index("ORION VERSION", 10)
    for end, missing in (
        (second + 40, "Maximum Large MBPS=', 'Maximum Small IOPS=', 'Minimum Small Latency="),
        (text.index("Maximum", second), None),
        (text.index("Maximum Small", second), "Maximum Small IOPS=', 'Minimum Small Latency="),
        (text.index("Minimum", second), "Minimum Small Latency="),
    ):
        report = reports.read(text[:end])
        assert len(report.windows) == 1
        (remark,) = report.remarks
        assert remark.startswith("orion run 2 was cut off, it has no line '")
        assert missing is None or missing in remark
    text = fixture("orion-19.3.txt")
    assert reports.read(text[: text.index("Minimum")]).remarks == [
        "orion was cut off, it has no line 'Minimum Small Latency='"
    ]
    text = fixture("orion-11.1-two-disks.txt")
    # The head of such a run names both types of I/O, and only one is done.
    small = text[: text.index("Maximum Large")].replace("-run simple", "-run oltp")
    assert reports.read(small + text[text.index("Maximum Small") : second]).remarks == []


def test_a_trace_with_two_dumps_says_so():
    text = fixture("iolstats-seed-smartscan.txt") + "\n\n" + fixture("devio_stats-seed.txt")
    report = reports.read(text)
    assert (report.kind, len(report.windows)) == ("iolstats", 2)
    assert report.remarks[-1] == "the text also holds devio_stats: select it with kind"
    assert reports.read(text, kind="devio_stats").windows[0].n == 104


def test_round_trips_of_oratcptest():
    (window,) = reports.read(fixture("oratcptest-250-bytes.txt")).windows
    assert (window.probe, window.subject, window.size, window.mean) == (
        "tcp",
        "db01:1521",
        250,
        685,
    )
    assert window.n == 1459
    assert window.conditions["uncertainty_us"] == 0.5


def test_without_answers_there_is_no_round_trip():
    text = fixture("oratcptest-250-bytes.txt").replace("= SYNC", "= ASYNC")
    report = reports.read(text)
    assert report.windows == []
    assert "run it with -mode=sync" in report.remarks[0]


#: Milliseconds of each device, mount or target: its median, or its mean if it has no median.
HOST_TOOLS = {
    "iostat-sysstat-12.6-three.txt": {"vda device": 0.438},
    "iostat-sysstat-9-el6.txt": {
        "sda device": 19.13,
        "dm-0 device": 209.01,
        "dm-1 device": 74.33,
        "dm-2 device": 5.41,
    },
    "iostat-sysstat-10-el7.txt": {"sda device": 0.933, "dm-0 device": 0.953},
    "iostat-decimal-comma.txt": {"sdb device": 12.1},
    "iostat-wrapped.txt": {"sda device": 6.39},
    "iostat-smartos.txt": {
        "c2d0 device": 0.8,
        "c0t16d0 device": 4.1,
        "c0t17d0 device": 4.3,
        "c0t18d0 device": 4.8,
    },
    "iostat-solaris-mounts.txt": {
        "d0 device": 13.3,
        "d1 device": 16.4,
        "c6t101d0 device": 7.7,
        "c6t101d0s0 device": 7.7,
    },
    "nfsiostat-postgres.txt": {
        "/db/nfspostgres_data read server": 1.351,
        "/db/nfspostgres_data read host": 0.069,
        "/db/nfspostgres_data write server": 2.991,
        "/db/nfspostgres_data write host": 17.802,
        "/db/nfspostgres_wal read server": 0.464,
        "/db/nfspostgres_wal read host": 0.025,
        "/db/nfspostgres_wal write server": 0.815,
        "/db/nfspostgres_wal write host": 0.066,
    },
    "iostat-solaris-nfs.txt": {
        "filer1:/vol/oradata server": 66.5,
        "filer1:/vol/oradata host": 21.4,
    },
    "ping-iputils.txt": {"127.0.0.1 net": 0.043},
    "ping-far.txt": {"db02 net": 141.5},
    "hping-seed.txt": {"db01-vip net": 1.2},
    "sadf-12.6.json": {"vda device": 0.11},
    "../fio/fio-3.33-read-and-write.json": {"fio w read user": 0.056, "fio w write user": 0.04736},
}


@pytest.mark.parametrize("name", HOST_TOOLS)
def test_latency_that_a_tool_of_the_host_prints(name):
    report = reports.read(fixture(name))
    found = {
        f"{window.subject} {window.layer}": (window.p50 or window.mean) / 1000
        for window in report.windows
    }
    assert found == pytest.approx(HOST_TOOLS[name], rel=0.002)


def test_ping_without_answers():
    text = "--- db02 ping statistics ---\n4 packets transmitted, 0 received, 100% packet loss\n"
    (window,) = reports.read(text).windows
    assert (window.n, window.mean, window.conditions["lost"]) == (0, None, 4)
    aix = (
        "----db02 PING Statistics----\n5 packets transmitted, 4 packets received, 20% packet loss\n"
        "round-trip min/avg/max = 0/1/3 ms\n"
    )
    solaris = aix.replace("min/avg/max =", "(ms)  min/avg/max/stddev =").replace(
        "0/1/3 ms", "0.2/1/3.0/0.1"
    )
    hping = aix.replace("PING Statistics", "hping statistic").replace("transmitted", "tramitted")
    for text in (aix, solaris, hping):
        (window,) = reports.read(text).windows
        assert (window.n, window.mean, window.conditions["lost"]) == (4, 1000.0, 1)


FOREIGN = {
    "": "it is empty",
    " \n\n": "it is empty",
    "Begin Snap\0": "it is not text",
    "PING lsh1 (10.0.0.1) 56(84) bytes of data.\n": "it has no summary",
    "2 packets transmitted, 2 received, 0% packet loss\n": "it has no summary",
    "--- a ping statistics ---\n2 packets transmitted, 3 received\n": "more packets received",
    "--- a ping statistics ---\n2 packets transmitted, 2 received\n": "the times are missing",
    "Device  r/s  w/s\n": "it has no table of devices with r/s",
    "Device  r/s  w/s\nsda 1.00 2.00\n": "has no time of requests: run iostat -x",
    "Device  r/s  r_await\nsda 1.00 2.00\n": "has no r/s and w/s",
    "read: ops/s kB/s avg RTT (ms)  avg exe (ms)\n": "it has no mount with reads or writes",
    '{"sysstat": {"hosts": [{"statistics": [{"cpu-load": []}]}]}}': "it has no CPUs, disks",
    '{"sysstat": {"hosts": 3}}': "lacks or mistakes",
    '{\n "fio version" : "fio-3.33", "jobs": []}': "there is no job",
    "total 4\n-rw-r--r-- 1 root root 0 x\n": "it is none of AWR",
    "<html><head><title>AWR Report for DB: X</title></head></html>": "it is HTML without a",
    "WORKLOAD REPOSITORY COMPARE PERIOD REPORT\n": "it compares two periods",
    "WORKLOAD REPOSITORY SQL Report\n": "it is the report of one SQL statement",
    "WORKLOAD REPOSITORY report for\n": "it has no line 'End of Report': it is cut off",
    "WORKLOAD REPOSITORY REPORT (RAC)\n": "it has no line 'End of Report': it is cut off",
    "STATSPACK report for\n": "it has no line 'End of Report': it is cut off",
    "STATSPACK report for\nEnd of Report\n": "it has no table of wait events",
    "Top 5 Timed Events\n": "there is no table below this heading",
    "[Requesting a test]\n": "the output is cut off",
    "Maximum Small IOPS=many\n": "it is not a line of figures",
    "[IOSTAT] Device - /dev/sda\n": "it has no line '[IOSTAT] Dump IO device stats'",
    "[IOSTAT] Dump IO device stats for the last 1800 seconds\n": "the dump has no device",
    "Time per request: 1 [ms] (mean)\n": "it is cut off",
    "FILE|SESSIONS|A|TOP WAIT|\n": "it has headings and no line",
    "Event   Waits   Time (s)  Blocks  Time\n----- ------- --------- ------- ----\n": "no table",
}


@pytest.mark.parametrize("text", FOREIGN, ids=lambda text: repr(text[:40]))
def test_a_foreign_text_is_one_clear_error(text):
    with pytest.raises(ParseError) as caught:
        reports.read(text)
    assert FOREIGN[text].lower() in str(caught.value).lower()
    assert "\n" not in str(caught.value)


def test_headings_of_a_release_that_is_not_known_are_an_error():
    text = fixture("awr-11.2.0.3-top-enq-hw.txt").replace("  (ms)", "  (us)")
    with pytest.raises(ParseError, match=r"line 5: no release is known to print these headings"):
        reports.read(text)


def told(report):
    """What each window says, without what a longer text can add to it."""
    return {
        (window.probe, window.subject, window.layer, window.size, window.mean)
        for window in report.windows
    }


@pytest.mark.parametrize("name", NAMES)
def test_cut_off_at_any_line_it_is_an_error_or_tells_nothing_wrong(name):
    """A whole report never passes; a piece tells fewer windows, and the same of each."""
    text = fixture(name)
    whole = told(reports.read(text))
    lines = text.split("\n")
    errors = 0
    for count in range(len(lines) - 1):
        try:
            part = reports.read("\n".join(lines[:count]))
        except ParseError as problem:
            errors += 1
            assert "\n" not in str(problem)
            continue
        assert "End of Report" not in text
        if not name.startswith(
            (
                *("devio_stats", "iostat-sysstat-12.6-three", "iostat-solaris-nfs", "tcpdump"),
                *("ping", "sar"),
            )
        ):
            # The mean of a device is that of the intervals there are, that of traffic of packets,
            # that of ping of the answers.
            assert told(part) <= whole
    assert errors


@pytest.mark.parametrize("name", NAMES)
def test_a_character_lost_from_the_end_never_passes_as_another_number(name):
    text = fixture(name).rstrip("\n")
    whole = told(reports.read(text))
    for cut in range(1, 40):
        try:
            part = reports.read(text[:-cut])
        except ParseError:
            continue
        if name.startswith(
            (
                *("awr-global-11.2-system", "slob", "devio_stats", "oratcptest", "orion"),
                *("iostat", "nfsiostat", "hping", "ping-seed"),
            )
        ):
            # A number at the very end may lose digits where nothing follows it.
            continue
        assert told(part) <= whole


@pytest.mark.parametrize(
    "name", [name for name in NAMES if name.startswith(("awr", "statspack", "slob-grep-single"))]
)
def test_scrambled_columns_are_an_error_or_the_same_numbers(name):
    """Blanks put in or taken out of a row move its cells: out of their columns, or not at all."""
    text = fixture(name)
    whole = told(reports.read(text))
    lines = text.split("\n")
    chance = random.Random(20240303)
    wide = [at for at, line in enumerate(lines) if "  " in line.strip()]
    refused = 0
    for at in [chance.choice(wide) for _ in range(120)]:
        line = lines[at]
        gaps = [place for place in range(len(line) - 1) if line[place : place + 2] == "  "]
        place = chance.choice(gaps)
        moved = (
            line[:place] + " " * chance.randint(1, 12) + line[place:]
            if chance.random() < 0.5
            else line[:place] + line[place + 1 :]
        )
        try:
            part = reports.read("\n".join([*lines[:at], moved, *lines[at + 1 :]]))
        except ParseError:
            refused += 1
            continue
        assert told(part) <= whole, line
    assert refused


def html_of(*tables: tuple[str, str, str]) -> str:
    """A whole report; a table is its title, its headings and its rows, with | between the cells."""
    parts = ["<html><head><title>AWR Report</title></head><body class='awr'>"]
    parts.append("<h1 class='awr'>WORKLOAD REPOSITORY report for</h1>")
    for title, headings, rows in tables:
        parts.append(f"<h3 class='awr'>{title}</h3><table border='1'><tr>")
        parts += [f"<th class='awrbg'>{cell.strip()}</th>" for cell in headings.split("|")]
        for row in rows.strip().split("\n"):
            cells = "".join(f"<td class='awrc'>{cell.strip()}</td>" for cell in row.split("|"))
            parts.append(f"</tr>\n<tr>{cells}")
        parts.append("</tr>\n</table><p />")
    return "".join([*parts, "<p />\nEnd of Report\n</body></html>"])


#: Rows of the text fixtures, under the headings that the HTML of the release has.
AS_HTML = {
    "awr-19c-pdb-shortened.txt": html_of(
        (
            "Report Summary",
            "Event|Waits|Total Wait Time (sec)|Avg Wait|% DB time|Wait Class",
            """enq: TX - row lock contention|1|52.9|52.86 s|98.9|Application
            DB CPU||.4||.8|
            db file sequential read|13|0|3.23ms|.1|User I/O""",
        ),
        (
            "Foreground Wait Events",
            "Event|Waits|%Time -outs|Total Wait Time (s)|Avg wait|Waits /txn|% DB time",
            """db file sequential read|13||0|3.23ms|6.5|.1
            control file sequential read|48||0|268.69us|24.0|.0
            SQL*Net message from client|20||3,730|186.48 s|10.0|""",
        ),
    ),
    "awr-10.2-made-up.txt": html_of(
        (
            "Top 5 Timed Events",
            "Event|Waits|Time(s)|Avg Wait(ms)|% Total Call Time|Wait Class",
            """db file sequential read|1,402,113|9,815|7|61.6|User I/O
            CPU time||3,207||20.1|
            log file sync|90,214|1,221|14|7.7|Commit""",
        ),
        (
            "Wait Events",
            "Event|Waits|%Time -outs|Total Wait Time (s)|Avg wait (ms)|Waits /txn",
            """db file sequential read|1,402,113|.0|9,815|7|15.5
            log file sync|90,214|.0|1,221|14|1.0
            SQL*Net message to client|2,204,117|.0|2|0|24.4""",
        ),
    ),
}


def figures_of(event):
    return event._replace(line=0, wait_class=None, cut=False)


@pytest.mark.parametrize("name", AS_HTML)
def test_html_has_the_values_of_the_text(name):
    text = awr.parse(fixture(name))
    html = awr.parse(report_html.as_text(AS_HTML[name]))
    assert html.generation == text.generation
    ours = {(event.section, event.name): figures_of(event) for event in text.events}
    assert len(html.events) == 6
    for event in html.events:
        assert figures_of(event) == ours[event.section, event.name]


@cases(
    "name release events histograms top",
    ("awr-11.2.0.3.html", "11.2.0.3.0", 21, 13, ("direct path read", 332492, 6911)),
    ("awr-12.1.html", "12.1.0.2.0", 26, 22, ("library cache: mutex X", 17795, 100500)),
)
def test_html_of_real_reports(name, release, events, histograms, top):
    text = fixture(name)
    report = awr.parse(report_html.as_text(text))
    assert report.whole
    assert (report.head.release, report.head.database) == (release, "ORCL")
    assert (len(report.events), len(report.histograms)) == (events, histograms)
    assert report.parameters is not None
    first = report.events[0]
    assert (first.name, first.waits, first.seconds) == top
    assert reports.read(text).kind == "awr"
    with pytest.raises(ParseError, match="it is cut off"):
        reports.read(text.partition("End of Report")[0])


#: Titles of tables of a cluster's report, and the notes that follow them.
OF_CLUSTER = {
    "Database Instances Included In Report": "Listed in order of instance number, I#",
    "Top Timed Events": "Instance '*' - cluster wide summary",
    "System Statistics - Per Second": "",
}


def html_of_cluster(text: str, as_headings: bool) -> str:
    """The tables of a text report of a cluster as HTML: titles as headings or in the summary."""
    lines = text.splitlines()
    parts = ["<html><head><title>AWR RAC Report for DB: EXA, Snaps: 994-995</title></head><body>"]
    parts.append("<h1 class='awr'>\nWORKLOAD REPOSITORY REPORT (RAC)\n</h1>")
    tables = [("Database Summary", "", ["Id", "Name", "Unique Name"], [["1", "EXA", "EXA"]])]
    for at, line in enumerate(lines):
        title = next((name for name in OF_CLUSTER if line.startswith(name)), None)
        if title is None:
            continue
        rule = next(n for n in range(at, at + 20) if lines[n - 1].split()[:1] == ["I#"])
        spans = dashed_table.columns(lines[rule])
        end = next((n for n in range(rule, len(lines)) if not lines[n].strip()), len(lines))
        rows = [dashed_table.cells(row, spans) for row in lines[rule + 1 : end]]
        upper = dashed_table.cells(lines[rule - 2], spans) or [""] * len(spans)
        lower = dashed_table.cells(lines[rule - 1], spans)
        head = [" ".join(pair).strip() for pair in zip(upper, lower, strict=True)]
        tables.append((title, OF_CLUSTER[title], head, [row for row in rows if "~" not in row[0]]))
    tables.insert(1, ("Top Timed Foreground Events", "", tables[-1][2], [["9"] * 13]))
    for title, note, head, rows in tables:
        if as_headings:
            parts.append(f"<h3>{title}</h3>")
        summary = "This table" if as_headings else f"{title}. . {note}".rstrip(". ")
        parts.append(f'<table border="1" class="tdiff" summary="{summary}"><tr>')
        parts.append(f'<th colspan="{len(head)}">&#160;</th></tr>\n<tr>')
        parts += [f"<th class='awrbg'>{cell}</th>" for cell in head]
        for row in rows:
            cells = "".join(f"<td align='right'>{cell or '&#160;'}</td>" for cell in row)
            parts.append(f"</tr>\n<tr>{cells}")
        parts.append("</tr></table><p />")
    return "".join([*parts, "<p />\nEnd of Report\n</body></html>"])


@cases("as_headings", True, False)
@cases("name", "awr-global-11.2-top.txt", "awr-global-11.2-system.txt")
def test_html_of_a_cluster_has_the_values_of_the_text(name, as_headings):
    first = """Database Instances Included In Report

                                                                  Elapsed
  I# Instance  Begin Snap Time End Snap Time   Release      Time(min)
---- --------- --------------- --------------- ---------- -----------
   1 exa1      19-Feb-14 17:30 19-Feb-14 18:00 11.2.0.3.0       30.03
   2 exa2      19-Feb-14 17:30 19-Feb-14 18:00 11.2.0.3.0       30.05

"""
    text = awr_global.parse(first + fixture(name))
    page = html_of_cluster(first + fixture(name), as_headings)
    html = awr_global.parse(report_html.as_text(page))
    assert html.whole
    assert html.database == "EXA"
    assert (html.instances, html.rates) == (text.instances, text.rates)
    assert [event._replace(line=0, cut=False) for event in html.events] == [
        event._replace(line=0, cut=False) for event in text.events
    ]
    report = reports.read(page)
    assert report.kind == "awr_global"
    assert awr_values(report) == awr_values(reports.read(first + fixture(name)))
    with pytest.raises(ParseError, match="it is cut off"):
        reports.read(page.partition("End of Report")[0])


def test_averages_of_a_cluster_with_their_unit():
    page = html_of_cluster(fixture("awr-global-11.2-top.txt"), True)
    head = "<th class='awrbg'>Avg(ms)</th>"
    later = page.replace(head, head.replace("Avg(ms)", "Avg Wait"))
    for old, new in (("3.1", "3.09ms"), ("0.1", "92.13us"), ("4.8", "4.84ms")):
        later = later.replace(f"<td align='right'>{old}</td>", f"<td align='right'>{new}</td>")
    assert later.count("us</td>") == 1
    text = report_html.as_text(later)
    assert {"3.09", "0.09213", "4.84"} <= {*text.split()}
    averages = [event.average or 0 for event in awr_global.parse(text).events]
    before = awr_global.parse(report_html.as_text(page)).events
    assert averages == pytest.approx([event.average or 0 for event in before], rel=0.02)


def test_statspack_in_html_is_the_text_in_it():
    text = fixture("statspack-11.2-lobs-made-up.txt")
    page = f"<html><body><pre>{text.replace('<', '&lt;')}</pre></body></html>"
    assert awr_values(reports.read(page)) == awr_values(reports.read(text))


def awr_values(report):
    return [(window.subject, window.n, window.mean) for window in report.windows]
