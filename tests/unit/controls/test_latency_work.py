"""What databases did, in reports: for each core, before and after, by instance; and slob.conf."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import latency_packs
import pytest
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.controls.latency.measurement import work
from ansible.module_utils.hostproof.controls.latency.parsers import slob_conf
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from cases import cases
from packs import FIXTURES

Judge = Callable[..., dict[str, Finding]]

HEAD = (
    "FILE|SESSIONS|ELAPSED|DB CPU|DB Tm|EXECUTES|LIO|PREADS|READ_MBS|PWRITES|WRITE_MBS|REDO_MBS|"
    "DFSR_LAT|DPR_LAT|DFPR_LAT|DFPW_LAT|LFPW_LAT|TOP WAIT|"
)
CONF = (FIXTURES / "latency/slob-made-up.conf").read_text()


def info(*logical: float, sessions: int = 64, reads: float = 0) -> str:
    """What awr_info.sh prints of runs, a line each."""
    row = "awr.txt.{0}|{0}|300|8|8|900|{1:.0f}|{2:g}|0|0|0|0|0|0|0|0|0|DB CPU 99 |"
    return "\n".join([HEAD, *(row.format(sessions, rate, reads) for rate in logical), ""])


def runs(mean: float, spread: float, count: int = 8, seed: int = 1) -> list[float]:
    chance = random.Random(seed)
    return [chance.gauss(mean, spread * mean) for _ in range(count)]


@pytest.fixture
def judge(tmp_path, validate_finding) -> Judge:
    """judge(text or fixture, before=, slob_conf=, ...): findings by check, live and recorded."""

    def judge_files(report: str | Path, **options: Any) -> dict[str, Finding]:
        policy = options.pop("policy", {})
        probe: dict[str, Any] = {"probe": "report"}
        for name, value in {"path": report, **options}.items():
            if isinstance(value, str):
                path = tmp_path / name
                path.write_text(value)
                probe[name] = str(path)
            else:
                probe[name] = str(value) if isinstance(value, Path) else value
        changed = {"latency": latency_packs.latency_policy(probes=[probe], **policy)}
        host = LiveHost()
        findings = audit.judge_host(host, changed)
        assert "very-secret" not in str(host.evidence)
        again = audit.judge_host(RecordedHost(host.evidence), changed)
        assert [finding.as_dict() for finding in again] == [one.as_dict() for one in findings]
        for finding in findings:
            validate_finding(finding.as_dict())
        return {finding.check.removeprefix("latency."): finding for finding in findings}

    return judge_files


def fixture(name: str) -> Path:
    return FIXTURES / "latency" / name


class TestACore:
    def test_the_seed_s_230_000(self, judge):
        finding = judge(fixture("awr-10.2-slob.txt"), cores=8)["logical_reads"]
        # Told, and held against nothing.
        assert finding.status == "skip"
        assert finding.in_use == "1,845,684 logical reads a second, 230,710 a core"
        assert finding.values == {
            "logical_reads": 1845683.7,
            "logical_reads_a_core": 230710.5,
            "unit": "per second",
        }

    @cases("least status", (230000, "pass"), (231000, "fail"))
    def test_a_limit(self, judge, least, status):
        limit = {"logical_reads_per_core": least}
        finding = judge(fixture("awr-10.2-slob.txt"), cores=8, policy=limit)["logical_reads"]
        assert finding.status == status
        assert finding.desired == f"{least:,} logical reads per second and core, or more"

    def test_a_limit_without_cores_is_not_judged(self, judge):
        limit = {"logical_reads_per_core": 100}
        finding = judge(fixture("awr-10.2-slob.txt"), policy=limit)["logical_reads"]
        assert finding.status == "error" and "set cores of the probe" in finding.why

    def test_a_run_that_reads_disks_tells_nothing_of_processors(self, judge):
        limit = {"logical_reads_per_core": 100}
        finding = judge(fixture("slob-awr_info-made-up.txt"), cores=4, policy=limit)[
            "logical_reads"
        ]
        assert finding.status == "error" and "a buffer cache that holds all" in finding.why

    def test_requests_to_the_disks(self, judge):
        finding = judge(fixture("slob-awr_info-made-up.txt"), cores=4)["logical_reads"]
        assert finding.in_use == (
            "8 sessions: 20,114 read requests a second, 5,028 a core; "
            "16 sessions: 37,206 read requests a second, 9,302 a core"
        )

    def test_lines_of_grep_statspack_and_a_report_of_waits(self, judge):
        grep = judge(fixture("slob-grep-physical-reads.txt"))["logical_reads"]
        assert grep.in_use.startswith("32 sessions: 197,068 read requests a second; 64 sessions")
        statspack = judge(fixture("statspack-made-up.txt"))["logical_reads"]
        assert statspack.in_use == "41,003 logical reads a second"
        assert judge(fixture("awr-11.2.0.3-top-enq-hw.txt"))["logical_reads"].status == "skip"

    def test_many_runs_are_told_shortly(self, judge):
        assert judge(info(*range(1000, 1020)))["logical_reads"].in_use.endswith("; and 14 more")


class TestAChange:
    def test_what_huge_pages_are_worth_is_seen_with_eight_runs(self, judge):
        after, before = info(*runs(8_105_724, 0.02)), info(*runs(8_700_000, 0.02, seed=2))
        finding = judge(after, before=before)["throughput_change"]
        assert finding.status == "fail"
        percent = finding.values["64 sessions change"]
        assert -12 < percent < -3 and finding.in_use.startswith(f"64 sessions: {percent:+.1f} % (")

    def test_the_same_and_more_pass(self, judge):
        before = info(*runs(8_000_000, 0.02, seed=2))
        finding = judge(info(*runs(8_000_000, 0.02)), before=before)["throughput_change"]
        assert finding.status == "pass"
        assert (
            judge(info(*runs(9_000_000, 0.02)), before=before)["throughput_change"].status == "pass"
        )

    def test_the_same_run_again_and_again(self, judge):
        finding = judge(info(*[100] * 5), before=info(*[100] * 5))["throughput_change"]
        assert (finding.status, finding.in_use) == ("pass", "64 sessions: +0.0 % (+0.0 to +0.0 %)")

    @cases(
        "after before says",
        (info(*[100] * 4), info(*[90] * 9), "64 sessions: 9 before, 4 after"),
        (info(*[9] * 5), info(*[9] * 5, sessions=8), "8 sessions: 5 before, 0 after"),
        (info(*[9] * 5), info(*[0] * 5), "64 sessions: 5 before, 5 after"),
        (info(*[9] * 5), "1|30000|29462|98.207|\n", "the earlier result has no reads"),
        (info(*[9] * 5), "no report", "it is none of AWR"),
    )
    def test_too_few_runs_are_no_pass(self, judge, after, before, says):
        finding = judge(after, before=before)["throughput_change"]
        assert finding.status == "error" and says in finding.why

    def test_one_number_of_sessions_of_two_is_no_pass(self, judge):
        both = info(*[9] * 5) + info(9, sessions=8).partition("\n")[2]
        finding = judge(both, before=both)["throughput_change"]
        assert finding.status == "error"
        assert (
            "64 sessions: +0.0 % (+0.0 to +0.0 %), and 8 sessions: 1 before, 1 after" in finding.why
        )
        less = info(*[5] * 5) + info(9, sessions=8).partition("\n")[2]
        assert judge(less, before=both)["throughput_change"].status == "fail"

    def test_other_work_is_not_compared(self, judge):
        confs = {"slob_conf": CONF, "slob_conf_before": CONF.replace("SCALE=80M", "SCALE=8G")}
        findings = judge(info(*[9] * 5), before=info(*[9] * 5), **confs)
        assert findings["throughput_change"].status == "error"
        assert "SCALE was 8G and is 80M" in findings["throughput_change"].why
        assert findings["slob_settings"].status == "fail"

    def test_without_a_before(self, judge):
        assert judge(info(9))["throughput_change"].status == "skip"


class TestTheSettings:
    def test_sound_ones(self, judge):
        finding = judge(info(9), slob_conf=CONF)["slob_settings"]
        assert finding.status == "pass" and "SCALE=80M" in finding.in_use
        assert "PASSWD" not in finding.in_use

    @cases(
        "line says",
        ("WORK_LOOP=1000", "WORK_LOOP=1000 ends each session by itself"),
        ("THINK_TM_FREQUENCY=5", "THINK_TM_FREQUENCY=5 has sessions sleep"),
        ("DO_HOTSPOT=TRUE", "DO_HOTSPOT=TRUE has sessions wait"),
        ("export DO_UPDATE_HOTSPOT='true'", "DO_UPDATE_HOTSPOT=true has"),
        ("HOT_SCHEMA_FREQUENCY=3", "HOT_SCHEMA_FREQUENCY=3 has"),
    )
    def test_what_spoils_a_run(self, judge, line, says):
        finding = judge(info(9), slob_conf=CONF + line + "\n")["slob_settings"]
        assert finding.status == "warn" and says in finding.why

    @cases("text", "", "SYSDBA_PASSWD=very-secret\n", "SCALE=$(touch /tmp/x)\n")
    def test_no_slob_conf(self, judge, text):
        with pytest.raises(ParseError) as problem:
            slob_conf.parse(text)
        assert "very-secret" not in str(problem.value)
        finding = judge(info(9), slob_conf=text)["slob_settings"]
        assert finding.status == "error" and "slob.conf" in finding.why

    def test_a_file_that_is_not_there(self, judge):
        finding = judge(info(9), slob_conf=Path("/nonexistent/slob.conf"))["slob_settings"]
        assert finding.status == "error"


class TestInstances:
    def test_the_seed_s_second_node(self, judge):
        """The deviations of eight never reach three; held against the others it stands out."""
        finding = judge(fixture("awr-global-11.2-system.txt"))["instances"]
        assert finding.status == "warn"
        assert finding.why == "Compared with the median of the others: instance 2 6.1 % less."
        assert finding.values["instance 2"] == 160987.67

    def test_a_wider_limit(self, judge):
        wide = {"instance_percent": 7}
        finding = judge(fixture("awr-global-11.2-system.txt"), policy=wide)["instances"]
        assert finding.status == "pass"

    def test_a_report_of_one(self, judge):
        assert judge(fixture("awr-10.2-slob.txt"))["instances"].status == "skip"


def test_no_more_runs_than_a_report_may_have():
    figures = {f"run {number} logical": 1.0 for number in range(1, 4)}
    assert [run.name for run in work.runs_of(figures, work.RUN)] == ["run 1", "run 2", "run 3"]
    assert work.runs_of({"run x logical": 1.0, "run 1 logical": "a"}, work.RUN) == []
