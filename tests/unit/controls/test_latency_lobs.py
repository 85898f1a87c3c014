"""LOBs in reports: what of a report is kept, and each check in each status."""

from collections.abc import Callable
from typing import Any

import latency_packs
import pytest
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.controls.latency.measurement import lobs, reports
from ansible.module_utils.hostproof.errors import PolicyError
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from cases import cases
from latency_packs import event, machine
from packs import FIXTURES

CHECKS = ("lob_contention", "lob_direct_io", "lob_reclaim_event", "lob_securefile")
REPORT = {"probe": "report", "path": "/home/oracle/awr.txt"}
NAME = "report /home/oracle/awr.txt"
#: What a whole report of a release gives, to which tests add.
WHOLE: dict[str, Any] = {lobs.WHOLE: 1.0}
SET: dict[str, Any] = {**WHOLE, lobs.PARAMETERS: 1.0}

Judge = Callable[..., dict[str, Finding]]


@pytest.fixture
def read(validate_finding) -> Judge:
    """read(fixture, **changes of the policy): findings on LOBs, by check, on a live host."""

    def judge_file(name: str, **changes: Any) -> dict[str, Finding]:
        probe = {"probe": "report", "path": str(FIXTURES / "latency" / name)}
        policy = {"latency": latency_packs.latency_policy(probes=[probe], **changes)}
        host = LiveHost()
        findings = audit.judge_host(host, policy)
        again = audit.judge_host(RecordedHost(host.evidence), policy)
        assert [finding.as_dict() for finding in again] == [one.as_dict() for one in findings]
        return _of_lobs(findings, validate_finding)

    return judge_file


@pytest.fixture
def told(validate_finding) -> Judge:
    """told(figures, **changes of the policy): findings on LOBs, by check."""

    def judge_figures(figures: dict[str, Any] | None, **changes: Any) -> dict[str, Finding]:
        host = machine("sda").windows_of(NAME, event("log file sync", 5000, 1.0, 0.1))
        if figures is not None:
            host.measured[NAME]["figures"] = figures
        policy = {"latency": latency_packs.latency_policy(probes=[REPORT], **changes)}
        return _of_lobs(audit.judge_host(host, policy), validate_finding)

    return judge_figures


def _of_lobs(findings: list[Finding], validate_finding: Any) -> dict[str, Finding]:
    for finding in findings:
        validate_finding(finding.as_dict())
    by_check = {finding.check.removeprefix("latency."): finding for finding in findings}
    return {check: by_check[check] for check in CHECKS}


def statuses(found: dict[str, Finding]) -> list[str]:
    return [found[check].status for check in CHECKS]


class TestTheSeed:
    """The texts of the article (tests/fixtures/latency/SOURCES.md), without a first page."""

    @cases(
        "name contention direct",
        ("awr-11.2.0.3-top-enq-hw.txt", "fail", "warn"),
        ("awr-11.2.0.3-top-event-not-set.txt", "fail", "warn"),
        ("awr-11.2.0.3-top-event-3.txt", "fail", "warn"),
        # The wait is less, and the work took longer.
        ("awr-11.2.0.3-top-event-16.txt", "warn", "warn"),
        ("awr-11.2.0.3-top-event-32.txt", "warn", "warn"),
        ("awr-11.2.0.3-top-event-512.txt", "pass", "warn"),
        # With CACHE: no direct write is left.
        ("awr-11.2.0.3-top-and-statistics-cache.txt", "warn", "skip"),
        ("awr-11.2.0.3-statistics-nocache.txt", "skip", "skip"),
    )
    def test_each_text(self, read, name, contention, direct):
        assert statuses(read(name)) == [contention, direct, "skip", "skip"]

    def test_32_percent_do_not_pass(self, read):
        finding = read("awr-11.2.0.3-top-enq-hw.txt")["lob_contention"]
        assert finding.why is not None and finding.why.startswith(
            "32.2 % of the database's time went to 'enq: HW - contention'. The report"
        )
        assert finding.in_use is not None and "direct path write 9.7 %" in finding.in_use
        assert finding.values == {"percent": 32.2}

    def test_the_advice_stands_in_the_order_of_its_risk_with_the_times_of_the_test(self, read):
        fix = str(read("awr-11.2.0.3-top-enq-hw.txt")["lob_contention"].fix)
        steps = ["identify the segment", "Set CACHE", "25 to 6 minutes", "hash partitions"]
        steps += ["event 44951"]
        steps += ["22 minutes without it", "18.5 at level 3", "22.5 at 16", "49 at 32", "39 at 512"]
        steps += ["Do not copy 1024"]
        places = [fix.index(step) for step in steps]
        assert places == sorted(places)

    def test_what_the_release_has_fixed_is_said_with_its_source(self, read):
        name = "awr-11.2.0.3-top-enq-hw.txt"
        before = str(read(name, release="11.2.0.2.3")["lob_contention"].why)
        assert "fixed in 11.2.0.3.0 and later (J. Wartak, 2014)" in before
        assert "This is 11.2.0.2.3." in before
        assert "11.2.0.3.0" not in str(read(name, release="11.2.0.3.8")["lob_contention"].why)
        assert "does not contain the release" in str(read(name)["lob_contention"].why)


def test_secure_files_of_19c_have_no_finding(read):
    findings = read("awr-19c-securefiles-made-up.txt")
    assert statuses(findings) == ["pass", "pass", "pass", "pass"]
    assert findings["lob_securefile"].in_use == "PREFERRED (the default, COMPATIBLE 19.0.0)"


def test_statspack_with_everything(read):
    findings = read("statspack-11.2-lobs-made-up.txt")
    assert statuses(findings) == ["fail", "pass", "warn", "skip"]
    assert "bitmap blocks (ASSM)" in str(findings["lob_contention"].in_use)
    assert findings["lob_reclaim_event"].in_use == "level 1024"


def test_a_tool_s_report_says_nothing_of_lobs(read):
    assert statuses(read("orion-19.3.txt")) == ["skip"] * 4


def test_a_recording_without_figures_is_an_error(told):
    assert statuses(told(None)) == ["error"] * 4


@cases("figures", [], {"share of x": None}, {"release": ["19"]}, "x")
def test_figures_of_another_shape_are_no_answer(told, figures):
    assert statuses(told(figures)) == ["error"] * 4


class TestShares:
    HW = lobs.SHARE + lobs.HW

    @cases("share status", (4.9, "pass"), (5, "warn"), (19.9, "warn"), (20, "fail"))
    def test_each_status_of_contention(self, told, share, status):
        assert told({**WHOLE, self.HW: share})["lob_contention"].status == status

    def test_limits_of_one_s_own(self, told):
        figures = {**WHOLE, self.HW: 12.0}
        changes = {"lob_warn_percent": 15, "lob_fail_percent": 30}
        assert told(figures, **changes)["lob_contention"].status == "pass"
        changes = {"lob_warn_percent": 1, "lob_fail_percent": 12}
        assert told(figures, **changes)["lob_contention"].status == "fail"

    def test_limits_that_contradict_each_other(self):
        values = latency_packs.latency_policy(lob_warn_percent=30, lob_fail_percent=20)
        with pytest.raises(PolicyError, match="latency_lob_fail_percent must not be below"):
            audit.judge_host(machine("sda"), {"latency": values})

    @cases(
        "statistics said",
        ({lobs.LOB_WRITES: 0.0, lobs.DIRECT_LOB_WRITES: 0.0, lobs.DIRECT_WRITES: 9.0}, "tables"),
        ({lobs.LOB_WRITES: 9.0, lobs.DIRECT_LOB_WRITES: 9.0, lobs.DIRECT_WRITES: 9.0}, "NOCACHE"),
        ({lobs.LOB_WRITES: 9.0, lobs.DIRECT_LOB_WRITES: 0.0, lobs.DIRECT_WRITES: 9.0}, "through"),
    )
    def test_what_is_behind_it(self, told, statistics, said):
        totals = {lobs.TOTAL + name: value for name, value in statistics.items()}
        assert said in str(told({**WHOLE, self.HW: 30.0, **totals})["lob_contention"].why)

    @cases(
        "share lob status",
        (40.0, 100.0, "fail"),
        (40.0, 30.0, "warn"),
        (40.0, 10.0, "pass"),
        (40.0, 0.0, "pass"),
    )
    def test_of_direct_writes_the_part_of_lobs_counts(self, told, share, lob, status):
        figures = {
            **WHOLE,
            lobs.SHARE + lobs.DIRECT[0]: share,
            lobs.TOTAL + lobs.DIRECT_LOB_WRITES: lob,
            lobs.TOTAL + lobs.DIRECT_WRITES: 100.0,
        }
        assert told(figures)["lob_direct_io"].status == status

    def test_events_of_10g_that_are_of_lobs_need_no_statistics(self, told):
        findings = told(
            {**WHOLE, lobs.SHARE + lobs.DIRECT[1]: 15.0, lobs.SHARE + lobs.DIRECT[2]: 6.0}
        )
        assert findings["lob_direct_io"].status == "fail"
        assert findings["lob_direct_io"].values == {"percent": 21.0}

    def test_a_whole_report_without_statistics_cannot_tell_whose_writes_they_are(self, told):
        assert told({**WHOLE, lobs.SHARE + lobs.DIRECT[0]: 60.0})["lob_direct_io"].status == "skip"

    def test_seconds_stand_for_a_share_that_10g_does_not_print(self):
        text = (FIXTURES / "latency/awr-10.2-made-up.txt").read_text()
        head = "control file parallel write"
        assert head in text
        report = reports.read(text)
        for wait_event in report.figures["events"]:
            if wait_event["name"] == head:
                wait_event.update(
                    name=lobs.HW, percent_of_db_time=None, seconds=30.0, sessions="all"
                )
        report.figures["db_seconds"] = 300.0
        assert lobs.figures(report, text)[self.HW] == 10.0

    def test_waits_of_the_background_are_nobody_s(self):
        text = (FIXTURES / "latency/awr-11.2.0.3-top-enq-hw.txt").read_text()
        report = reports.read(text)
        for wait_event in report.figures["events"]:
            wait_event["sessions"] = "background"
        assert self.HW not in lobs.figures(report, text)


class TestParameters:
    @cases(
        "level release status said",
        (3.0, "11.2.0.3.8", "pass", None),
        (15.0, "11.2.0.3.8", "pass", None),
        (16.0, "11.2.0.3.8", "warn", "at 16, 32 and 512 the test took longer"),
        (32.0, "11.2.0.3.8", "warn", "longer than without it"),
        (2000.0, "11.2.0.3.8", "warn", "above 1024 it is 1024"),
        (3.0, "19.0.0.0.0", "warn", "SecureFiles"),
        (lobs.NOT_SHOWN, "11.2.0.3.8", "warn", "its level is not shown"),
    )
    def test_the_event(self, told, level, release, status, said):
        finding = told({**SET, lobs.EVENT: level, lobs.RELEASE: release})["lob_reclaim_event"]
        assert finding.status == status
        if said:
            assert said in str(finding.why)

    def test_that_it_is_not_set(self, told):
        assert told(SET)["lob_reclaim_event"].status == "pass"
        assert told(WHOLE)["lob_reclaim_event"].status == "skip"

    @cases(
        "release compatible value status in_use",
        ("19.0.0.0.0", "19.0.0", None, "pass", "PREFERRED (the default, COMPATIBLE 19.0.0)"),
        ("19.0.0.0.0", "11.2.0.4.0", None, "warn", "PERMITTED (the default, COMPATIBLE 11"),
        ("19.0.0.0.0", None, None, "pass", "PREFERRED (the default)"),
        ("at least 12.2", None, None, "pass", "PREFERRED (the default)"),
        ("19.0.0.0.0", "19.0.0", "always", "pass", "ALWAYS (set"),
        ("19.0.0.0.0", "19.0.0", "never", "warn", "NEVER (set"),
        ("19.0.0.0.0", "19.0.0", "ignore", "warn", "IGNORE (set"),
        ("19.0.0.0.0", "19.0.0", "force", "warn", "FORCE (set"),
        ("23.26.0.0.0", "23.6.0", "force", "warn", "FORCE (set"),
        ("11.2.0.2.3", "11.2.0.2.0", "always", "warn", "ALWAYS (set"),
        ("11.1.0.7.0", "11.1.0.7.0", "force", "warn", "FORCE (set"),
        ("11.2.0.3.8", "11.2.0.3.0", "always", "warn", "ALWAYS (set"),
        ("11.2.0.4.0", "11.2.0.4.0", "always", "pass", "ALWAYS (set"),
        ("at least 11.1", None, "always", "skip", None),
        ("11.2.0.3.8", "11.2.0.3.0", "permitted", "skip", None),
        (None, None, "always", "skip", None),
        ("11.2.0.4.0", "11.2.0.4.0", "never", "skip", None),
        ("at least 11.1", None, None, "skip", None),
        (None, None, "never", "skip", None),
    )
    def test_secure_files(self, told, release, compatible, value, status, in_use):
        names = {lobs.RELEASE: release, lobs.COMPATIBLE: compatible, lobs.SECUREFILE: value}
        figures = {**SET, **{name: value for name, value in names.items() if value is not None}}
        finding = told(figures)["lob_securefile"]
        assert finding.status == status
        if in_use:
            assert str(finding.in_use).startswith(in_use)
