"""Printed outputs of the seed articles that latency judges: cells, SLOB, Orion, ab, LOBs, redo."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import latency_packs
import pytest
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.controls.latency import rules_reports, rules_work
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding, keep_failed_causes
from cases import cases
from packs import FIXTURES

Judge = Callable[..., dict[str, list[Finding]]]


def article(name: str) -> str:
    return (FIXTURES / "latency" / name).read_text()


@pytest.fixture
def judge(tmp_path, validate_finding) -> Judge:
    """judge(text, ..., before=, cores=): findings by check, live and recorded; a report each."""

    def judge_texts(*texts: str, before: str | None = None, **options: Any) -> Any:
        probes = []
        for number, text in enumerate(texts):
            path = tmp_path / f"report-{number}.txt"
            path.write_text(text)
            probes.append({"probe": "report", "path": str(path), **options})
            if before is not None:
                earlier: Path = tmp_path / "before.txt"
                earlier.write_text(before)
                probes[-1]["before"] = str(earlier)
        policy = {"latency": latency_packs.latency_policy(probes=probes)}
        host = LiveHost()
        findings = audit.judge_host(host, policy)
        again = audit.judge_host(RecordedHost(host.evidence), policy)
        assert [finding.as_dict() for finding in again] == [one.as_dict() for one in findings]
        by_check: dict[str, list[Finding]] = {}
        for finding in findings:
            validate_finding(finding.as_dict())
            by_check.setdefault(finding.check.removeprefix("latency."), []).append(finding)
        return by_check

    return judge_texts


#: What a sqlnet probe measures in 10 seconds.
LIVE = {
    "traffic seconds": 10.0,
    "traffic connections": 12,
    "traffic requests": 10000,
    "traffic request_bytes": 80.4,
    "traffic response_bytes": 109.8,
    "traffic rtt_ms": 0.5,
    "traffic least_rtt_ms": 0.1,
    "traffic retransmitted": 3,
    "traffic changed": 2,
    "traffic large": 0,
}


@pytest.fixture
def live(findings_of) -> Callable[..., Finding]:
    """live(figures, remarks=, probes=): payload_sizes of a sqlnet probe; None measured nothing."""

    def judge(
        figures: dict[str, Any] | None, remarks: Any = (), probes: Any = (), **policy: Any
    ) -> Finding:
        host = latency_packs.machine("sda")
        if figures is not None:
            host.windows_of("sqlnet port 1521", remarks=remarks)
            host.measured["sqlnet port 1521"]["figures"] = figures
        host_policy = latency_packs.latency_policy(probes=[{"probe": "sqlnet"}, *probes], **policy)
        (finding,) = findings_of("latency", host, host_policy)["payload_sizes"]
        return finding

    return judge


class TestExadataCells:
    def test_slow_single_block_reads_of_cd_02_enkcel01(self, judge):
        findings = judge(article("iolstats-seed-long.txt"))
        (finding,) = findings["cell_slow_requests"]
        assert finding.status == "fail"
        # 8 KiB: 18,508 + 12,778 + 526 + 1 reads from 65.5 ms on; 512 bytes: 3,492; 16 KiB: 15.
        assert "CD_02_enkcel01 reads: at least 5 % of" in finding.why
        assert "8192 bytes: p50 8.19 ms to 16.4 ms, p99 131 ms to 262 ms" in finding.why
        assert finding.values["CD_02_enkcel01 reads 8192 p99_below_ms"] == 262.144
        assert [finding.status for finding in findings["cell_confined"]] == ["skip"]

    def test_another_report_is_no_dump(self, judge):
        (finding,) = judge(article("orion-11.1-grep-default.txt"))["cell_slow_requests"]
        assert (finding.status, finding.why) == ("skip", "It is not a dump iolstats.")

    def test_a_dump_of_scans_alone_is_not_judged_by_single_reads(self, judge):
        (finding,) = judge(article("iolstats-seed-smartscan.txt"))["cell_slow_requests"]
        assert finding.status == "skip"
        assert finding.why == "All requests are of 64 KiB and more: scans."

    @cases("fast slow status", (200, 0, "pass"), (20, 0, "error"), (100, 100, "fail"))
    def test_a_table_of_one_size(self, judge, fast, slow, status):
        """As the article prints it, with other numbers."""
        text = (
            "IO length (bytes):          Num read IOs:       Num write IOs:\n"
            f"[   8192 -   16383)  {fast + slow:>20}  {0:>20}\n\n"
            "Average IO-latency distribution stats for CDisk CD_02_enkcel01\n\n"
            "Number of Reads iosize-latency distribution\n"
            "IO len(B)\\IO lat(us) || [       64 | [   131072 |\n"
            "                     ||       127) |    262143) |\n"
            "---------------------||------------|------------|\n"
            f"[    8192,    16383) ||{fast:>11} |{slow:>11} |\n"
        )
        (finding,) = judge(text)["cell_slow_requests"]
        assert finding.status == status

    @cases(
        "disk low_us status",
        ("CD_00_cel01", 8192, "pass"),
        ("CD_00_cel01", 65536, "fail"),
        ("FD_00_cel01", 8192, "fail"),
        ("FD_15_cel01", 16384, "fail"),
        ("FD_00_cel01", 4096, "warn"),
        ("FD_00_cel01", 1024, "pass"),
        ("PM_00_cel01", 8192, "fail"),
        ("PM_00_cel01", 32, "pass"),
        # The name tells no kind.
        ("disk7", 8192, "error"),
        ("disk7", 65536, "fail"),
        ("disk7", 1024, "pass"),
    )
    def test_the_limit_follows_the_kind_of_device(self, judge, disk, low_us, status):
        text = (
            "IO length (bytes):          Num read IOs:       Num write IOs:\n"
            f"[   8192 -   16383)  {900:>20}  {0:>20}\n\n"
            f"Average IO-latency distribution stats for CDisk {disk}\n\n"
            "Number of Reads iosize-latency distribution\n"
            f"IO len(B)\\IO lat(us) || [{low_us:>9} |\n"
            f"                     ||{2 * low_us - 1:>10}) |\n"
            "---------------------||------------|\n"
            f"[    8192,    16383) ||{900:>11} |\n"
        )
        (finding,) = judge(text)["cell_slow_requests"]
        assert finding.status == status
        assert "5 ms or longer" in finding.desired or not disk.startswith(("FD", "PM"))

    def test_sda_of_the_article_lacks_most_lines(self, judge):
        findings = judge(article("devio_stats-seed.txt"))
        for check in ("cell_confined", "cell_queues"):
            (finding,) = findings[check]
            assert finding.status == "error"
            assert (
                "the text was shortened, and the lines that are missing are unknown" in finding.why
            )

    def test_a_confined_disk_and_a_queue(self, judge):
        text = article("devio_stats-seed.txt")
        text = text.replace(
            "0.111111 0.111111 15 7 38 0 0 0 0", "0.111111 9.500000 15 7 38 0 0 0 1"
        )
        findings = judge(text)
        (confined,) = findings["cell_confined"]
        assert confined.status == "fail"
        assert confined.why == "/dev/sda: trigerConfine in 1 of 6 intervals of 3 s."
        (queued,) = findings["cell_queues"]
        assert queued.status == "warn"
        assert queued.why == "/dev/sda: latency 4.12 ms, service time 0.0577 ms."
        assert queued.values["/dev/sda latency_ms"] == pytest.approx(4.1202)

    def test_a_whole_dump_without_trouble_passes(self, judge):
        text = article("devio_stats-seed.txt").replace("last 1800 seconds", "last 21 seconds")
        findings = judge(text.replace("etc.\n", ""))
        statuses = [findings[check][0].status for check in ("cell_confined", "cell_queues")]
        assert statuses == ["pass", "pass"]

    def test_balance_of_cells(self, judge):
        first = article("iolstats-seed-smartscan.txt")
        second = first.replace("enkcel01", "enkcel02")
        (even,) = judge(first, second)["cell_balance"]
        assert even.status == "pass"
        less = second.replace("                   208 ", "                   100 ")
        less = less.replace("89 |         59 |         19", " 0 |         40 |         19")
        (uneven,) = judge(first, less)["cell_balance"]
        assert uneven.status == "warn"
        assert uneven.why.startswith("enkcel02 (CD) did 45.0 % less than the middle")
        assert judge(first)["cell_balance"][0].status == "skip"
        assert judge(first, second, "no dump")["cell_balance"][0].status == "error"


class TestSlob:
    def test_more_sessions_than_64_add_nothing(self, judge):
        text = article("slob-grep-physical-reads.txt") + article("slob-grep-single-block.txt")
        (finding,) = judge(text)["saturation"]
        assert finding.status == "warn"
        assert finding.why == (
            "From 64 sessions on, more sessions add less than 5 % read requests. It is unknown "
            "whether host CPUs or storage are saturated (a read takes 0.548 ms with 64 sessions "
            "and 0.924 ms with 128): use awr_info.sh of SLOB and set cores of the probe."
        )

    @cases(
        "cpus says",
        (14.4, "The host CPUs are full first: the database uses 90 % of 16 cores."),
        (5.9, "The storage is full first: the database uses 37 % of 16 cores, and a read"),
    )
    def test_which_side_is_full_first(self, judge, cpus, says):
        head = article("slob-awr_info-made-up.txt").split("\n")[0]
        row = "{0}_awr.txt|{0}|300|{1}|7|9|{2}|{3}|0|0|0|0|{4}|0|0|0|0|DB CPU 9|"
        lines = [
            row.format(8, cpus / 2, 2000, 1000, 300),
            row.format(16, cpus, 4000, 2000, 400),
            row.format(32, cpus, 4000, 2010, 800),
        ]
        (finding,) = judge("\n".join([head, *lines]), cores=16)["saturation"]
        assert finding.status == "warn" and says in finding.why
        rising = [row.format(n, n / 8, 400 * n, 200 * n, 300) for n in (8, 16, 32)]
        assert judge("\n".join([head, *rising]), cores=16)["saturation"][0].status == "pass"

    def test_the_hidden_parameters_of_the_article(self, judge):
        text = article("awr-19c-securefiles-made-up.txt")
        assert judge(text)["prefetch"][0].status == "pass"
        heading = "Parameter Name                Begin value                       (if different)\n"
        before, _, after = text.partition(heading)
        rule, _, rows = after.partition("\n")
        added = "".join(
            f"{name:<29} {value}\n"
            for name, value in (
                ("_db_block_prefetch_limit", 0),
                ("_db_block_prefetch_quota", 0),
                ("_db_file_noncontig_mblock_rea", 0),
            )
        )
        assert heading in text
        findings = judge(f"{before}{heading}{rule}\n{added}{rows}")["prefetch"]
        # The machine may run an instance, whose parameters are checked too.
        (result,) = [finding for finding in findings if "report" in finding.title]
        assert result.status == "warn"
        assert result.why == (
            "_db_block_prefetch_limit, _db_block_prefetch_quota, "
            "_db_file_noncontig_mblock_read_count are 0."
        )
        assert judge(article("slob-grep-physical-reads.txt"))["prefetch"][0].status == "skip"

    def test_flash_cache_hits_against_reads(self, judge):
        text = article("awr-11.2.0.3-statistics-nocache.txt")
        row = "physical read total IO requests              65,656          196.7           1.0\n"
        assert row in text
        for hits, status in (("64,000", "pass"), ("12,000", "warn")):
            added = f"cell flash cache read hits       {hits:>18}          196.7           1.0\n"
            (finding,) = judge(text.replace(row, added + row))["flash_cache"]
            assert finding.status == status
            assert f"{hits} hits of 65,656 read requests" in finding.in_use
        assert judge(text)["flash_cache"][0].status == "skip"

    def test_the_node_that_differs_is_named_in_the_title(self, judge):
        (finding,) = judge(article("awr-global-11.2-system.txt"))["instances"]
        assert finding.status == "warn" and "instance 2: " in finding.title
        assert "cluster_nodes.huge_pages" in rule_of("latency.instances").check.because_of


class TestBeforeAndAfter:
    def test_orion_with_the_marks_of_old_hacmp(self, judge):
        before = article("orion-11.1-grep-default.txt")
        after = article("orion-11.1-grep-old-hacmp.txt")
        (finding,) = judge(after, before=before)["tool_change"]
        assert finding.status == "fail"
        assert finding.why == "Got worse by more than 10 %: large MB/s."
        assert finding.in_use == (
            "large MB/s 213.55 to 109.64 (-48.7 %); small IOPS 32,323 to 31,203 (-3.5 %)"
        )
        assert judge(before, before=after)["tool_change"][0].status == "pass"

    def test_apachebench_with_checks_in_the_background(self, judge):
        before = article("apachebench-foreground-check.txt")
        after = article("apachebench-background-check.txt")
        (finding,) = judge(after, before=before)["tool_change"]
        assert finding.status == "pass" and "requests/s 55.97 to 100.74 (+80.0 %)" in finding.in_use
        (worse,) = judge(before, before=after)["tool_change"]
        assert worse.status == "fail"
        assert worse.why.startswith(
            "Got worse by more than 10 %: requests/s, time per request ms, "
        )

    def test_results_of_different_tools_are_no_pass(self, judge):
        before = article("orion-11.1-grep-default.txt")
        (finding,) = judge(article("apachebench-background-check.txt"), before=before)[
            "tool_change"
        ]
        assert finding.status == "error"


class TestLobsAndRedo:
    def test_unaligned_writes(self, judge):
        (finding,) = judge(article("awr-11.2.0.3-statistics-nocache.txt"))["lob_unaligned_writes"]
        assert finding.status == "warn"
        assert finding.why == "314,990 of 315,000 LOB writes (100.0 %) are unaligned."

    def test_redo_is_the_next_bottleneck_with_cache(self, judge):
        findings = judge(article("awr-11.2.0.3-top-and-statistics-cache.txt"))
        (finding,) = findings["redo_waits"]
        assert finding.status == "warn"
        assert finding.why == (
            "16.9 % of the database's time went to the redo log (log buffer space 15.6 %; log "
            "file switch (checkpoint incomplete) 1.3 %). It is more than 'enq: HW - contention': "
            "the bottleneck is now redo, not LOB space."
        )
        (database,) = findings["database"]
        assert database.status == "fail" and "log buffer space mean 75" in database.why
        assert "log file switch (checkpoint incomplete) mean 16" in database.why

    @cases(
        "log_write fix",
        (None, "compare with 'log file parallel write'"),
        (("1,000", "0"), "a log write takes only 0.4 ms, so faster storage does not help"),
        (("1,000", "12"), "a log write takes 12 ms: latency.redo_members names the slowest"),
    )
    def test_storage_is_blamed_for_slow_log_writes_only(self, judge, log_write, fix):
        text = article("awr-11.2.0.3-top-and-statistics-cache.txt")
        if log_write is not None:
            waits, average = log_write
            seconds = {"0": "0.4", "12": "12"}[average]
            text += (
                "\nBackground Wait Events\n\n"
                "                                             Total\n"
                "                                 %Time Wait  Avg\n"
                "Event                            Waits -outs Time (s) (ms)    /txn     time\n"
                "-------------------------- ----------- ----- -------- ------- -------- ------\n"
                f"log file parallel write    {waits:>11}     0 {seconds:>8} {average:>7}      1.0"
                "   50.0\n\n"
            )
        findings = judge(text)
        for check in ("redo_waits", "database"):
            (finding,) = findings[check]
            assert str(finding.fix).startswith(fix)
            assert "make the online logs larger" in str(finding.fix)

    def test_no_redo_wait_in_the_first_test(self, judge):
        (finding,) = judge(article("awr-11.2.0.3-top-enq-hw.txt"))["redo_waits"]
        assert finding.status == "skip"


class TestTraffic:
    def test_sizes_that_tcpdump_saw(self, judge):
        findings = judge(article("tcpdump-seed.txt"))
        (finding,) = findings["payload_sizes"]
        assert (finding.status, finding.in_use) == ("skip", "request_size: 80, reply_size: 110")
        assert finding.values == {"request_size bytes": 80.0, "reply_size bytes": 109.8}
        assert "db01-vip.ncube-lm" in str(findings["database"][0].in_use)

    def test_sizes_that_tcpstat_saw(self, judge):
        (finding,) = judge(article("tcpstat-seed.txt"))["payload_sizes"]
        # 230.7 bytes of a frame without 54 bytes of headers.
        assert finding.in_use == "request_size: 177, reply_size: 177"

    @cases(
        "sizes status",
        ((80, 110), "pass"),
        ((12, 12), "warn"),
        ((100, 60), "pass"),
        ((80, 400), "warn"),
    )
    def test_a_probe_of_other_sizes(self, tmp_path, sizes, status):
        path = tmp_path / "tcpdump.txt"
        path.write_text(article("tcpdump-seed.txt"))
        tcp = dict(latency_packs.RESPONDER, request_size=sizes[0], reply_size=sizes[1])
        probes = [{"probe": "report", "path": str(path)}, tcp]
        policy = latency_packs.latency_policy(probes=probes, window_seconds=0)
        findings = audit.judge_host(LiveHost(), {"latency": policy})
        (finding,) = [finding for finding in findings if finding.check == "latency.payload_sizes"]
        assert finding.status == status
        if status == "warn":
            assert "the traffic has request_size: 80, reply_size: 110." in finding.why

    @cases(
        "sizes status",
        ({}, "warn"),
        ({"request_size": 80, "reply_size": 110}, "pass"),
        (None, "skip"),
    )
    def test_sizes_of_live_connections(self, live, sizes, status):
        probes = [] if sizes is None else [{**latency_packs.RESPONDER, **sizes}]
        finding = live(LIVE, probes=probes)
        assert (finding.status, finding.title[:11]) == (status, "port 1521: ")
        assert finding.in_use == (
            "request_size: 80, reply_size: 110; 1000 round trips per second on 12 connections, rtt "
            "0.5 ms, minimum 0.1 ms, 3 segments retransmitted; 2 connections do not count: they "
            "began or ended meanwhile"
        )

    def test_a_probe_that_takes_the_sizes_itself(self, live):
        assert live(LIVE, probes=[{**latency_packs.RESPONDER, "payload": "auto"}]).status == "pass"

    def test_a_port_without_traffic(self, live):
        finding = live({}, remarks=["no connection uses port 1521"])
        assert (finding.status, finding.why) == ("skip", "No connection uses port 1521.")

    def test_sizes_that_were_not_measured_are_unknown(self, live):
        assert live(None).status == "error" and live(LIVE, window_seconds=0).status == "skip"

    @cases(
        "text",
        article("tcpdump-seed.txt") + "cut\n",
        article("tcpdump-seed.txt").split("\n")[0] + "\n",
        article("tcpdump-seed.txt").replace("oid1.50553", "oid1.http"),
        article("tcpdump-seed.txt") + article("tcpdump-seed.txt").replace("db01-vip", "db02-vip"),
    )
    def test_what_is_not_understood_is_an_error(self, judge, text):
        assert judge(text)["payload_sizes"][0].status == "error"


def test_reads_may_come_from_the_page_cache(judge):
    """A finding of read events names async_io.direct_files if that does not pass on the host."""
    (good,) = judge(article("slob-grep-single-block.txt"))["database"]
    assert (good.status, good.because_of) == ("pass", ())
    finding = good._replace(because_of=rule_of("latency.database").check.because_of)
    cached = good._replace(check="async_io.direct_files", status="warn", because_of=())
    assert keep_failed_causes([finding, cached])[0].because_of == ("async_io.direct_files",)
    assert keep_failed_causes([finding, cached._replace(status="pass")])[0].because_of == ()


def rule_of(check: str) -> Any:
    rules = [*rules_work.rules.rules, *rules_reports.rules.rules]
    return next(rule for rule in rules if rule.check.id == check)


class TestOratcptest:
    TEXT = article("oratcptest-250-bytes.txt")

    @cases(
        "latency status",
        ("0.685", "pass"),
        ("5.000", "pass"),
        ("5.010", "warn"),
        ("6.850", "warn"),
        ("85", "warn"),
    )
    def test_round_trips_have_the_limit_of_our_probe(self, judge, latency, status):
        text = self.TEXT.replace("Avg. latency = 0.685 ms", f"Avg. latency = {latency} ms")
        (finding,) = judge(text)["tool"]
        assert finding.status == status
        assert finding.desired == "db01:1521 250 bytes mean at most 5 ms"

    def test_another_report_has_none(self, judge):
        (finding,) = judge(article("apachebench-background-check.txt"))["tool"]
        assert finding.status == "skip"

    def test_before_and_after(self, judge):
        local = article("oratcptest-250-bytes-local.txt")
        (slower,) = judge(self.TEXT, before=local)["tool_change"]
        assert (slower.status, "0.021 to 0.685 (+3161.9 %)" in slower.in_use) == ("fail", True)
        assert [one.status for one in judge(local, before=self.TEXT)["tool_change"]] == ["pass"]
        other = article("oratcptest-0-bytes.txt")
        assert [one.status for one in judge(self.TEXT, before=other)["tool_change"]] == ["error"]


class TestApacheBench:
    SLOW = article("apachebench-foreground-check.txt")
    FAST = article("apachebench-background-check.txt")

    def test_percentiles_are_compared(self, judge):
        (finding,) = judge(self.SLOW, before=self.FAST)["tool_change"]
        assert finding.status == "fail"
        assert "99 % served within ms 26 to 71 (+173.1 %)" in finding.in_use

    @pytest.mark.parametrize(
        ("share", "now", "status"),
        [("99", 26, "pass"), ("99", 27, "pass"), ("90", 12, "pass"), ("90", 13, "fail")]
        + [("99", 28, "pass"), ("99", 29, "fail"), ("95", 40, "fail")],
    )
    def test_a_percentile_alone(self, judge, share, now, status):
        text, number = re.subn(rf"(?m)^(\s+{share}%\s+)\d+$", rf"\g<1>{now}", self.FAST)
        assert number == 1
        (finding,) = judge(text, before=self.FAST)["tool_change"]
        assert finding.status == status
