"""The figures of the articles' outputs and of real reports, read by hand, are what parsers give."""

from pathlib import Path

import pytest
from ansible.module_utils.hostproof.controls.latency.parsers import (
    apachebench,
    awr,
    awr_global,
    devio_stats,
    iolstats,
    oratcptest,
    orion,
    slob,
    statspack,
    wait_events,
)
from ansible.module_utils.hostproof.errors import ParseError
from cases import cases

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures/latency"


def fixture(name: str) -> str:
    return (FIXTURES / name).read_text()


def rows(report, section=None):
    """Name, waits, seconds of each event, as printed."""
    return [
        (event.name, event.waits, event.seconds)
        for event in report.events
        if section in (None, event.section)
    ]


#: Name, waits, seconds, and the average in ms that follows: seconds / waits, or the column of ms.
TOP_FIVES = {
    "awr-11.2.0.3-top-enq-hw.txt": [
        ("enq: HW - contention", 62717, 918, 14.637),
        ("direct path write", 93156, 277, 2.974),
        ("db file sequential read", 64995, 199, 3.062),
        ("DB CPU", None, 91, None),
        ("buffer busy waits", 26578, 1, 0.038),
    ],
    "awr-11.2.0.3-top-and-statistics-cache.txt": [
        ("log buffer space", 1542, 116, 75.227),
        ("enq: HW - contention", 58609, 110, 1.877),
        ("buffer busy waits", 125436, 99, 0.789),
        ("DB CPU", None, 91, None),
        ("log file switch (checkpoint incomplete)", 6, 10, 1620),
    ],
    "awr-11.2.0.3-top-event-512.txt": [
        ("direct path write", 116908, 1833, 15.679),
        ("db file sequential read", 17262, 354, 20.507),
        ("DB CPU", None, 78, None),
        ("enq: HW - contention", 23, 64, 2802),
        ("log file switch (private strand flush incomplete)", 6, 3, 473),
    ],
    "awr-10.2-slob.txt": [
        ("CPU time", None, 2359, None),
        ("latch: cache buffers chains", 629, 4, 7),
        ("reliable message", 23, 3, 149),
        ("PX Deq: reap credit", 1425, 3, 2.105),
        ("db file sequential read", 514, 3, 6),
    ],
    "awr-10.2-top-rac.txt": [
        ("gc buffer busy", 79083, 73024, 923.384),
        ("enq: TX - row lock contention", 35068, 17123, 488.280),
        ("CPU time", None, 12205, None),
        ("gc current request", 2714, 3315, 1221.444),
        ("gc cr multi block request", 83666, 1008, 12.048),
    ],
    "awr-11.2.0.4-top.txt": [
        ("log file sync", 194357, 1024, 5.269),
        ("DB CPU", None, 558, None),
        ("direct path read", 27988, 272, 9.718),
    ],
    # 1.5 s of 578 waits are 2.595 ms give or take 3 %; the column says more.
    "awr-12.1-top-slob.txt": [
        ("DB CPU", None, 1775.1, None),
        ("db file sequential read", 578, 1.5, 2.640),
        ("latch free", 213, 1, 4.800),
    ],
}


@pytest.mark.parametrize("name", TOP_FIVES)
def test_top_events_of_awr_reports(name):
    events = awr.parse(fixture(name)).events
    expected = TOP_FIVES[name]
    assert [(entry.name, entry.waits, entry.seconds) for entry in events] == [
        row[:3] for row in expected
    ]
    for event, row in zip(events, expected, strict=True):
        if row[3] is None:
            assert event.average is None
        else:
            assert event.average / 1000 == pytest.approx(row[3], abs=0.0006)


def test_other_text_below_a_blank_line_ends_a_table():
    text = fixture("awr-11.2.0.3-top-enq-hw.txt").rstrip("\n")
    other = "The storage team moved the volume at noon."
    assert awr.parse(f"{text}\n\n{other}\n").events == awr.parse(text + "\n").events
    with pytest.raises(ParseError, match="does not match its columns"):
        awr.parse(f"{text}\n{other}\n")


def test_classes_and_shares_of_a_top_table():
    events = awr.parse(fixture("awr-11.2.0.3-top-enq-hw.txt")).events
    assert [(event.percent, event.wait_class) for event in events] == [
        (32.2, "Configurat"),
        (9.7, "User I/O"),
        (7.0, "User I/O"),
        (3.2, None),
        (0.0, "Concurrenc"),
    ]


@cases(
    "name generation",
    ("awr-10.2-slob.txt", "10g"),
    ("awr-11.2.0.3-top-enq-hw.txt", "11.1-11.2.0.3"),
    ("awr-10.2-made-up.txt", "10g"),
    ("awr-11.2.0.4-top.txt", "11.2.0.4-12.1"),
    ("awr-12.1-top-slob.txt", "12.1"),
    ("awr-19c-pdb-shortened.txt", "12.2-19c"),
)
def test_the_generation_is_told_by_the_headings(name, generation):
    assert awr.parse(fixture(name)).generation == generation


class TestASecondsColumnOfFourCharacters:
    """11.2.0.4 prints 16.8K for 10,000 s and more, and the column cuts the letter off."""

    def rows(self, *lines):
        """Event, waits, time, average in ms and share, below those of the real table."""
        added = ["{:<30} {:>12} {:>4} {:>7} {:>6} Other".format(*line) for line in lines]
        text = fixture("awr-11.2.0.4-top.txt").rstrip("\n")
        return awr.parse("\n".join([text, *added, ""])).events[3:]

    def test_thousands_and_millions_are_told_by_the_average(self):
        events = self.rows(
            ("db file sequential read", "1,121,208", "16.8", "15", "15.0"),
            ("db file scattered read", "1,121,208", "16.8", "15001", "15.0"),
        )
        assert [event.seconds for event in events] == [16800, 16.8e6]
        assert events[0].average == pytest.approx(16800e6 / 1121208)
        assert events[0].uncertainty == pytest.approx(100e6 / 1121208)
        assert (events[1].average, events[1].by) == (15001e3, "column")

    def test_an_average_of_0_tells_with_the_share_only(self):
        # 16.8 s and 16.8K s are both 0 ms; of 1,024 s being 52.6 %, 16.8 s are 0.9 %.
        events = self.rows(
            ("latch: cache buffers chains", "99,121,208", "16.8", "0", ".9"),
            ("buffer busy waits", "99,121,208", "16.8", "0", ".0"),
        )
        assert (events[0].seconds, events[0].problem) == (16.8, None)
        assert (events[1].seconds, events[1].average) == (None, None)
        assert events[1].problem == wait_events.TIME_CUT

    def test_time_on_the_cpu_is_told_by_the_share(self):
        text = fixture("awr-11.2.0.4-top.txt").replace("1024       5   52.6", "16.8      86   52.6")
        text = text.replace("558.           28.7", "9.16           28.7")
        assert [event.seconds for event in awr.parse(text).events] == [16800, 9160, 272]

    def test_what_cannot_be_is_no_number(self):
        (event,) = self.rows(("db file sequential read", "1,121,208", "16.8", "400", "15.0"))
        assert (event.seconds, event.average) == (None, None)
        assert event.problem == wait_events.CONTRADICTORY


def test_a_number_that_does_not_fit_is_left_out_alone():
    text = fixture("awr-11.2.0.1-shortened.txt")
    row = "db file parallel read               545     0        166     304"
    assert row in text
    report = awr.parse(text.replace(row, row.replace("         545", "############")))
    event = next(entry for entry in report.events if entry.problem)
    assert (event.name, event.waits, event.average, event.by) == (
        "db file parallel read",
        None,
        304000,
        "column",
    )
    assert event.problem == wait_events.WAITS_OVERFLOWED
    text = fixture("awr-11.2.0.3-statistics-nocache.txt")
    report = awr.parse(text.replace("           315,000", "##################"))
    assert report.overflowed == ["lob writes"]
    assert "lob writes" not in report.statistics
    assert len(report.statistics) == 22


def test_statistics_beside_the_top_events():
    report = awr.parse(fixture("awr-11.2.0.3-statistics-nocache.txt"))
    assert report.shortened
    assert len(report.statistics) == 23
    assert report.statistics["lob writes"] == (315000, 943.7)
    assert report.statistics["physical writes direct (lob)"] == (125316, 375.5)
    assert report.statistics["physical write total bytes"] == (1339469824, 4013068.1)
    cached = awr.parse(fixture("awr-11.2.0.3-top-and-statistics-cache.txt")).statistics
    assert cached["physical writes direct (lob)"] == (0, 0.0)
    assert cached["physical write bytes"] == (234405888, 1292076.2)


def test_a_load_profile_goes_on_below_a_number_that_does_not_fit():
    text = fixture("awr-10.2-slob.txt").replace("1,845,683.68 ", "############ ")
    load = awr.parse(text).head.load
    assert "Logical reads" not in load
    assert len(load) == 11


def test_load_profile_of_10g():
    load = awr.parse(fixture("awr-10.2-slob.txt")).head.load
    assert load["Logical reads"] == 1845683.68
    assert load["Executes"] == 7161.47
    assert load["Transactions"] == 1.14
    assert len(load) == 12


class TestAWholeReport:
    @pytest.fixture
    def report(self):
        return awr.parse(fixture("awr-11.2.0.1-shortened.txt"))

    def test_its_first_page(self, report):
        head = report.head
        assert (head.database, head.instance, head.host) == ("ORCL", "orcl", "example.net")
        assert (head.release, head.rac, head.multitenant) == ("11.2.0.1.0", False, None)
        assert (head.begin, head.end) == ("12-Feb-17 12:16:04", "12-Feb-17 12:22:06")
        assert (head.seconds, head.db_seconds) == (361.8, 8484.6)
        assert head.load["Redo size"] == 56890.1
        assert len(head.load) == 15

    def test_its_tables(self, report):
        assert report.whole
        assert rows(report, "top_foreground")[1] == ("log file sync", 3825, 1495)
        assert rows(report, "foreground")[-2:] == [
            ("SQL*Net message from client", 6298, 1766),
            ("jobq slave wait", 181, 90),
        ]
        assert rows(report, "background") == [
            ("log file parallel write", 6962, 258),
            ("db file async I/O submit", 1773, 49),
            ("os thread startup", 9, 26),
            ("db file sequential read", 51, 20),
            ("control file parallel write", 170, 12),
            ("rdbms ipc message", 4392, 5463),
        ]

    def test_idle_events_have_no_share(self, report):
        idle = [event.name for event in report.events if event.percent is None and event.waits]
        assert idle == [
            "PL/SQL lock timer",
            "SQL*Net message from client",
            "jobq slave wait",
            "rdbms ipc message",
        ]

    def test_the_average_with_more_digits_counts(self, report):
        by_name = {event.name: event for event in report.events if event.section == "foreground"}
        reads = by_name["db file sequential read"]
        assert (reads.by, reads.average) == ("seconds", pytest.approx(184008.7, abs=0.1))
        assert reads.uncertainty == pytest.approx(0.5 / 35732 * 1e6, abs=0.1)
        # 60 s of 155 waits is 0.8 % wrong at most, 385 ms only 0.13 %.
        resource = by_name["resmgr:cpu quantum"]
        assert (resource.by, resource.average, resource.uncertainty) == (
            "column",
            385000,
            pytest.approx(500),
        )
        # Neither 0 s nor 0 ms is a latency.
        assert by_name["SQL*Net message to client"].average is None

    def test_histograms_are_put_together_from_their_tables(self, report):
        by_name = {histogram.name: histogram for histogram in report.histograms}
        sync = by_name["log file sync"]
        assert sync.waits == 3825
        # <1ms 5.1 %, … <32ms 7.9 %; then the detail: <64ms 5.7 … <2s 10.0; then <4s .2.
        shares = [5.1, 0.9, 0.4, 1.6, 3.6, 7.9, 5.7, 8.9, 17.1, 22.4, 16.3, 10.0, 0.2]
        assert sync.counts == {
            10 + place: round(share * 38.25) for place, share in enumerate(shares)
        }
        assert sync.wide == {10: 0}
        assert sync.open is None
        assert by_name["os thread startup"].counts == {15: 3, 16: 2, 18: 1, 20: 1, 24: 2}
        assert by_name["control file parallel write"].counts[21] == round(1.75 * 1.1)
        # Of an idle event there is no detail: 32 ms to 1 s stay together.
        assert by_name["PL/SQL lock timer"].wide == {10: 0, 20: 16}


def test_a_report_in_pages_of_sqlplus():
    report = awr.parse(fixture("awr-19c-pdb-shortened.txt"))
    head = report.head
    assert (head.release, head.rac, head.multitenant) == ("19.0.0.0.0", True, True)
    assert (head.host, head.seconds, head.db_seconds) == ("rac1", 3600.0, 53.4)
    assert head.load["Logical read"] == 2.1
    top = [event for event in report.events if event.section == "top_foreground"]
    assert [(event.name, event.average) for event in top] == [
        ("enq: TX - row lock contention", 52.86e6),
        ("DB CPU", None),
        ("db file sequential read", 3230),
        ("log file sync", 19720),
        ("control file sequential read", 268.69),
        ("PX Deq: Slave Session Stats", 482.88),
        ("IPC send completion sync", 146.07),
        ("enq: PS - contention", 355.73),
        ("PX Deq: Join ACK", 1280),
        ("library cache pin", 564),
    ]
    waits = [event for event in report.events if event.section == "foreground"]
    assert len(waits) == 16
    assert (waits[12].name, waits[12].seconds, waits[12].average) == (
        "SQL*Net message from client",
        3730,
        186.48e6,
    )


def test_names_that_the_column_cuts_off():
    events = awr.parse(fixture("awr-11.2-rac-waits.txt")).events
    by_name = {event.name: event for event in events}
    assert not by_name["enq: TX - row lock contention"].cut
    assert not by_name["cell multiblock physical read"].cut
    # It may be the read from memory or from flash too: the columns do not tell.
    assert by_name["cell single block physical read"].cut
    assert by_name["cell single block physical read"].average == pytest.approx(2069.2, abs=0.1)


def test_histograms_of_microseconds():
    report = awr.parse(fixture("awr-19c-made-up.txt"))
    by_name = {histogram.name: histogram for histogram in report.histograms}
    write = by_name["log file parallel write"]
    assert write.counts == {
        **{6: 842, 7: 7578, 8: 46310, 9: 25260, 10: 3368, 11: 589, 12: 168, 13: 1, 14: 1, 15: 1},
        16: 1,
    }
    assert (write.wide, write.open) == ({}, 16)


def test_the_report_of_a_cluster():
    report = awr_global.parse(fixture("awr-global-11.2-top.txt"))
    assert report.database == "EXA"
    assert [
        (event.name, event.wait_class, event.waits, event.seconds, event.percent)
        for event in report.events
    ] == [
        ("cell list of blocks physical read", "User I/O", 11416579, 35283.85, 43.04),
        ("cell single block physical read", "User I/O", 25295624, 31685.75, 38.65),
        ("DB CPU", None, None, 24707.27, 30.14),
        ("gc cr grant 2-way", "Cluster", 758555, 154.92, 0.19),
        ("log file parallel write", "System I/O", 9559, 46.95, 0.06),
        ("read by other session", "User I/O", 11890, 12.14, 0.01),
        ("control file sequential read", "System I/O", 8279, 9.62, 0.01),
        ("gc buffer busy acquire", "Cluster", 1638, 8.86, 0.01),
        ("CSS operation: data query", "Other", 1600, 7.74, 0.01),
        ("latch: cache buffers chains", "Concurrenc", 49387, 4.55, 0.01),
    ]
    assert {event.instance for event in report.events} == {"*"}
    averages = {event.name: event.average for event in report.events}
    assert averages["cell list of blocks physical read"] == pytest.approx(3090.58, abs=0.01)
    assert averages["cell single block physical read"] == pytest.approx(1252.62, abs=0.01)
    spread = {event.name: event.instances for event in report.events}
    assert spread["gc buffer busy acquire"] == (6770, 3350, 11890, 3360, 8)
    assert spread["DB CPU"] is None


#: The first page of a cluster's report, as its headings are known; made up.
CLUSTER = """WORKLOAD REPOSITORY REPORT (RAC)

Database Summary
~~~~~~~~~~~~~~~~
Database Instances Included In Report
-> Listed in order of instance number, I#

                                                                                     Elapsed
  I# Instance  Host       Startup         Begin Snap Time End Snap Time   Release    Time(min) DB
---- --------- ---------- --------------- --------------- --------------- ---------- --------- ----
   1 exa1      example1   16-Feb-14 17:08 19-Feb-14 17:30 19-Feb-14 18:00 11.2.0.3.0     30.03 0.15
   2 exa2      example2   16-Feb-14 17:08 19-Feb-14 17:30 19-Feb-14 18:00 11.2.0.3.0     30.05 0.25

"""


def test_the_first_page_of_a_cluster():
    report = awr_global.parse(CLUSTER + fixture("awr-global-11.2-top.txt") + "\nEnd of Report\n")
    assert [
        (instance.number, instance.name, instance.seconds) for instance in report.instances
    ] == [("1", "exa1", 1801.8), ("2", "exa2", 1803.0)]
    assert (report.release, report.seconds) == ("11.2.0.3.0", 1802.4)
    assert report.instances[0].begin == "19-Feb-14 17:30"
    assert len(report.events) == 10
    one_line = CLUSTER.replace("    Elapsed\n", "\n").replace(
        "Release    Time(min) DB", "Release    Elapsed T DB"
    )
    text = one_line + fixture("awr-global-11.2-top.txt") + "\nEnd of Report\n"
    assert awr_global.parse(text).seconds == 1802.4


def test_instances_that_differ_have_no_one_release():
    text = CLUSTER.replace("11.2.0.3.0     30.05", "12.1.0.2.0     12.00")
    report = awr_global.parse(text + fixture("awr-global-11.2-top.txt") + "\nEnd of Report\n")
    assert (report.release, report.seconds, len(report.instances)) == (None, None, 2)


def test_time_on_the_cpu_of_a_cluster_has_no_waits():
    text = fixture("awr-global-11.2-top.txt")
    row = "DB CPU                                              N/A "
    assert row in text
    report = awr_global.parse(
        text.replace(row, row.replace("DB CPU" + " " * 13, "background cpu time"))
    )
    event = report.events[2]
    assert (event.name, event.waits, event.seconds, event.average) == (
        "background cpu time",
        None,
        24707.27,
        None,
    )


def test_numbers_of_a_cluster_that_do_not_fit():
    text = fixture("awr-global-11.2-top.txt")
    report = awr_global.parse(
        text.replace("  11,416,579  ", "############  ").replace(
            "     4.9     0.06", " #######     0.06"
        )
    )
    lists = report.events[0]
    assert (lists.waits, lists.average, lists.by) == (None, 3100, "column")
    assert report.events[4].average == pytest.approx(46.95e6 / 9559)
    assert report.overflowed == ["cell list of blocks physical read", "log file parallel write"]


def test_the_rates_of_a_cluster():
    rates = awr_global.parse(fixture("awr-global-11.2-system.txt")).rates
    assert list(rates) == ["1", "2", "3", "4", "5", "6", "7", "8", "Sum", "Avg", "Std"]
    assert rates["Sum"]["Physical Reads/s"] == 1357207.1
    assert rates["4"]["Redo Size (k)/s"] == 5130.8
    each = sum(rates[str(number)]["Logical Reads/s"] for number in range(1, 9))
    assert each == pytest.approx(rates["Sum"]["Logical Reads/s"], abs=0.05)


def test_statspack():
    report = statspack.parse(fixture("statspack-made-up.txt"))
    assert (report.head.instance, report.head.host) == ("sales", "db01")
    assert (report.head.release, report.head.multitenant) == ("19.0.0.0.0", None)
    assert (report.head.seconds, report.head.db_seconds) == (1800, 2892)
    assert rows(report, "top")[1] == ("db file sequential read", 1402113, 913)
    assert rows(report, "background") == [("log file parallel write", 88001, 61)]
    assert report.histograms[1].counts == {10: 80080, 11: 5280, 12: 1760, 13: 792, 14: 88}


@cases(
    "name generation release seconds read",
    ("statspack-9.2-made-up.txt", "9i", "9.2.0.6.0", 1800, (568948, 4375)),
    ("statspack-10.2-made-up.txt", "10g", "10.2.0.4.0", 3600, (1402113, 9815)),
)
def test_statspack_of_old_releases(name, generation, release, seconds, read):
    report = statspack.parse(fixture(name))
    assert (report.generation, report.head.release) == (generation, release)
    assert (report.head.seconds, report.head.rac) == (seconds, False)
    assert rows(report, "top")[0] == ("db file sequential read", *read)
    assert rows(report, "all")[0] == ("db file sequential read", *read)
    assert rows(report, "background")[1][0] == "control file parallel write"
    named = {event.name for event in report.events if event.idle}
    assert {"SQL*Net message from client", "rdbms ipc message", "smon timer"} <= named
    assert not {event.name for event in report.events if not event.idle} & {
        "jobq slave wait",
        "pmon timer",
    }


def test_events_of_10g_are_idle_by_their_names():
    report = awr.parse(fixture("awr-10.2-made-up.txt"))
    # The column cuts names off at 28 characters.
    assert [event.name for event in report.events if event.idle] == [
        *("SQL*Net message from client", "Streams AQ: qmn slave idle w"),
        *("Streams AQ: qmn coordinator", "PL/SQL lock timer", "wait for unread message on b"),
        *("class slave wait", "rdbms ipc message", "pmon timer", "smon timer"),
    ]


def test_an_average_that_does_not_fit_its_column():
    report = statspack.parse(fixture("statspack-12.1-top-idle.txt"))
    assert rows(report)[0] == ("LGWR worker group idle", 6, 22049)
    assert report.events[0].average == pytest.approx(22049e6 / 6)
    assert report.events[4].average == pytest.approx(14925.9, abs=0.1)


def test_lines_of_slobs_reports():
    events, _ = slob.parse_grep(fixture("slob-grep-single-block.txt"))
    assert [(event.sessions, event.waits, event.seconds, event.percent) for event in events] == [
        (32, 9257339, 3778, 39.3),
        (64, 15161265, 8301, 43.2),
        (96, 19802040, 13751, 47.6),
        (128, 17269328, 15964, 41.4),
    ]
    # The column of averages says 0, 1, 1 and 1 ms.
    assert [round(event.average.value, 1) for event in events] == [408.1, 547.5, 694.4, 924.4]
    assert {event.name for event in events} == {"cell single block physical read"}
    _, rates = slob.parse_grep(fixture("slob-grep-physical-reads.txt"))
    assert [
        (rate.sessions, rate.name, rate.per_second, rate.per_transaction) for rate in rates
    ] == [
        (32, "Physical reads", 197068.2, 59670688.0),
        (64, "Physical reads", 249996.2, 3594314.9),
        (96, "Physical reads", 253909.9, 3669155.5),
        (128, "Physical reads", 255982.8, 3733850.4),
    ]


def test_slobs_other_files():
    assert slob.parse_db_stats(fixture("slob-db_stats.txt")) == [
        *((1, 30000, 29462, 98.207), (3, 30000, 29675, 98.917), (8, 30000, 29468, 98.227)),
        *((7, 30000, 29562, 98.54), (2, 30000, 29353, 97.843), (6, 30000, 29304, 97.68)),
        (5, 30000, 28902, 96.34),
    ]
    info = slob.parse_info(fixture("slob-awr_info-made-up.txt"))
    assert [(entry.sessions, entry.latencies["log file parallel write"]) for entry in info] == [
        (8, 1210),
        (16, 1630),
    ]
    # It did not occur.
    assert "direct path read" not in info[0].latencies
    assert info[1].figures["LIO"] == 251812


@cases(
    "name mbps iops",
    ("orion-11.1-grep-default.txt", (213.55, 0, 6), (32323, 2, 0)),
    ("orion-11.1-grep-old-hacmp.txt", (109.64, 0, 10), (31203, 5, 0)),
    ("orion-19.3.txt", (1571.33, 0, 5), (58778, 10, 0)),
)
def test_orion(name, mbps, iops):
    (run,) = orion.parse(fixture(name))
    assert (run.large_mbps, run.small_iops) == (mbps, iops)


@cases("edges", "48 - 96", "128 - 64", "64 - 64", "0 - 33")
def test_a_bin_of_orion_that_is_no_power_of_2(edges):
    low, high = edges.split(" - ")
    line = "       64 - 128        us:"
    other = f"{low:>9} - {high:<10} us:"
    text = fixture("orion-19.3.txt")
    assert line in text
    with pytest.raises(ParseError, match=f"the histogram has the bin {edges}"):
        orion.parse(text.replace(line, other))


def test_output_of_orion_without_a_figure():
    text = fixture("orion-19.3.txt")
    with pytest.raises(ParseError, match="it has no line 'Maximum Large MBPS='"):
        orion.parse(text[: text.index("Maximum Large")])


def test_latencies_of_orion_have_one_unit():
    first, second = orion.parse(fixture("orion-11.1-two-disks.txt"))
    # 11.1 prints milliseconds without saying so: 5 in flight at 19,019 a second are 263 us each.
    assert first.small_latency == (260, 5, 0)
    assert first.small_latency.value == pytest.approx(5e6 / first.small_iops.value, rel=0.02)
    assert second.small_latency == (330, 4, 0)
    assert (first.small_size, first.large_size) == (8192, 1048576)
    (run,) = orion.parse(fixture("orion-19.3.txt"))
    assert run.small_latency == (97.677, 2, 0)
    assert run.latencies[1][:6] == ("small", "read", 97.677, 63.652, 2133.198, 47.348)
    assert run.latencies[1].bins == {6: 1, 7: 1112243, 8: 102320, 9: 5434, 10: 405, 11: 259, 12: 2}
    (both,) = orion.parse(fixture("orion-12.2-read-write.txt"))
    assert [(latency.direction, latency.small, latency.average) for latency in both.latencies] == [
        ("read", 68, 74069.66),
        ("write", 68, 73935.104),
        ("read", 4, 4455.933),
        ("write", 4, 4363.848),
    ]


@cases(
    "name payload throughput latency interval",
    ("oratcptest-0-bytes.txt", 0, 0.017, 670, ("07:34:43", 0.017, 670)),
    ("oratcptest-250-bytes.txt", 250, 0.365, 685, ("09:39:48", 0.365, 685)),
    ("oratcptest-250-bytes-local.txt", 250, 11.970, 21, ("14:49:30", 12.221, 20)),
    ("oratcptest-cloud.txt", 0, 0.046, 250, ("12:07:44", 0.046, 250)),
)
def test_oratcptest(name, payload, throughput, latency, interval):
    (test,) = oratcptest.parse(fixture(name))
    assert (test.mode, test.connections, test.duration) == ("SYNC", 1, 1)
    assert (test.payload, test.latency, test.port) == (payload, latency, 1521)
    assert test.throughput == pytest.approx(throughput * 2**20)
    (row,) = test.intervals
    assert (row.at, row.latency) == (interval[0], interval[2])
    assert row.throughput == pytest.approx(interval[1] * 2**20)


@cases(
    "printed payload",
    ("1 byte", 1),
    ("1 Kbyte", 1024),
    ("1 Mbyte", 2**20),
    ("2 Mbytes", 2**21),
    ("8,192 bytes", 8192),
)
def test_a_payload_of_one(printed, payload):
    text = fixture("oratcptest-250-bytes.txt").replace("= 250 bytes", "= " + printed)
    (test,) = oratcptest.parse(text)
    assert test.payload == payload


def test_several_runs_of_oratcptest():
    text = fixture("oratcptest-0-bytes.txt") + fixture("oratcptest-250-bytes.txt")
    assert [(test.server, test.latency) for test in oratcptest.parse(text)] == [
        ("db01", 670),
        ("db01", 685),
    ]


def test_latencies_of_a_cell():
    (disk,) = iolstats.parse(fixture("iolstats-seed-long.txt"))
    assert (disk.name, disk.shortened) == ("CD_02_enkcel01", True)
    assert disk.counts[8192] == (498831, 466674)
    assert len(disk.counts) == 12
    (table,) = disk.latencies
    assert list(table.bins) == [512, 4096, 8192, 16384]
    # [32, 63) us is the sixth octave, [524288, 1048575) the twentieth.
    assert table.bins[8192][6] == 66
    assert table.bins[8192][13] == 124246
    assert table.bins[8192][20] == 1
    assert sum(table.bins[512].values()) == 212184


def test_columns_without_an_io_are_not_in_the_dump():
    (disk,) = iolstats.parse(fixture("iolstats-seed-smartscan.txt"))
    assert not disk.shortened
    assert disk.counts == {4096: (0, 24), 524288: (8, 0), 1048576: (208, 0)}
    (table,) = disk.latencies
    assert table.bins == {
        524288: {15: 3, 16: 1, 18: 2, 19: 2},
        1048576: {13: 1, 14: 3, 15: 15, 16: 22, 17: 89, 18: 59, 19: 19},
    }


def test_a_dump_whose_tables_disagree():
    text = fixture("iolstats-seed-smartscan.txt").replace("         89 |", "         88 |")
    with pytest.raises(ParseError, match="207 in the latencies of CD_02_enkcel01 and 208"):
        iolstats.parse(text)


def test_counters_of_a_cells_disks():
    (device,) = devio_stats.parse(fixture("devio_stats-seed.txt"))
    assert (device.name, device.shortened) == ("/dev/sda", True)
    # The dump has the newest first.
    assert device.intervals[0] == (
        pytest.approx(58.824),
        pytest.approx(58.824),
        25 * 512,
        0,
        17,
        False,
    )
    assert device.intervals[4] == (
        pytest.approx(111.111),
        pytest.approx(111.111),
        15 * 512,
        7,
        38,
        False,
    )
    assert [interval.reads + interval.writes for interval in device.intervals] == [
        *(17, 1, 23, 12, 45, 6),
    ]


@cases(
    "name mean ends served",
    ("apachebench-foreground-check.txt", 17867, (13000, 218000), {50: 17000, 99: 71000}),
    ("apachebench-background-check.txt", 9927, (7000, 42000), {50: 9000, 99: 26000}),
)
def test_apachebench(name, mean, ends, served):
    report = apachebench.parse(fixture(name))
    assert report.mean == pytest.approx(mean)
    assert (report.minimum, report.maximum) == ends
    assert served.items() <= report.served.items()
    assert len(report.served) == 9
