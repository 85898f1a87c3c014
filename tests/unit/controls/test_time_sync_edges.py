"""time_sync at its limits, and with answers that say nothing: each is an error, and says why."""

from typing import Any

import pytest
from ansible.module_utils.hostproof.controls.time_sync.facts import (
    NTPQ,
    SHOW,
    SOURCES,
    TIMEDATECTL,
    TRACKING,
)
from cases import cases
from clock_packs import FIXTURES, bare, daemon, shown, with_chrony
from default_policies import changed_policy
from packs import Machine
from test_time_sync import RAC, SINGLE, plan_of, with_ntpd


@pytest.fixture
def judge(findings_of):
    def judge_host(host: Machine, **changes: Any) -> Any:
        findings = findings_of("time_sync", host, changed_policy("time_sync", **changes))
        return {check: some[-1] for check, some in findings.items()}

    return judge_host


def with_timesyncd(said: str = "NTPSynchronized=yes\n", rc: int = 0) -> Machine:
    machine = daemon(bare(), "/usr/lib/systemd/systemd-timesyncd")
    machine.command(" ".join(SHOW), shown(systemd_timesyncd="enabled /x"))
    return machine.command(" ".join(TIMEDATECTL), said, rc)


CHRONY = {
    " ".join(SOURCES): (FIXTURES / "chrony-4.3-sources.csv").read_text(),
    " ".join(TRACKING): (FIXTURES / "chrony-4.3-tracking.csv").read_text(),
}


@pytest.mark.parametrize("command", CHRONY)
def test_a_chronyc_that_fails_with_an_answer(judge, command):
    finding = judge(with_chrony().command(command, CHRONY[command], rc=1), **SINGLE)["sources"]
    assert finding.status == "error" and f"{command} ended with 1" in finding.why


def test_other_daemons_that_fail_with_an_answer(judge):
    ntpd = with_ntpd("/usr/sbin/ntpd -x", "-x")
    ntpd.command(" ".join(NTPQ), (FIXTURES / "ntpq-made-up.txt").read_text(), rc=1)
    for machine, argv in ((ntpd, NTPQ), (with_timesyncd(rc=1), TIMEDATECTL)):
        finding = judge(machine, **SINGLE)["sources"]
        assert (finding.status, " ".join(argv) + " ended with 1" in finding.why) == ("error", True)


def test_timesyncd_without_a_server(judge):
    assert judge(with_timesyncd("NTPSynchronized=no\n"), **SINGLE)["sources"].status == "fail"


@cases("sources status", (2, "pass"), (3, "warn"))
def test_as_many_sources_as_required(judge, sources, status):
    finding = judge(with_ntpd("/usr/sbin/ntpd -x", "-x"), min_sources=sources, **SINGLE)["sources"]
    assert (finding.status, finding.values["answering"]) == (status, 2)


@cases(
    "line words",
    ("^,*,192.0.2.1,2,6,377,33,0.1,0.1", "has 9 fields, not 10"),
    ("^,*,192.0.2.1,2,6,399,33,0.1,0.1,0.1", "is not octal"),
    ("^,*,192.0.2.1,2,6,377,33,x,x,0.1", "is not a number"),
    ("^,*,,2,6,377,33,0.1,0.1,0.1", "no name of a source"),
)
def test_a_source_that_is_none(judge, line, words):
    finding = judge(with_chrony().command(" ".join(SOURCES), line + "\n"), **SINGLE)["sources"]
    assert (finding.status, words in finding.why) == ("error", True)


def test_tracking_with_another_number_of_fields(judge):
    text = CHRONY[" ".join(TRACKING)].strip()
    for changed in (text + ",x", text.rpartition(",")[0]):
        machine = with_chrony().command(" ".join(TRACKING), changed + "\n")
        assert "fields, not 14" in judge(machine, **SINGLE)["offset"].why


def test_a_kernel_that_does_not_say_when_it_started(judge):
    finding = judge(with_chrony().file("/proc/stat", "cpu 1 2 3\n"), **RAC)["never_steps"]
    assert (finding.status, "when the host was booted" in finding.why) == ("error", True)


def test_a_threshold_that_is_no_number(judge):
    machine = daemon(bare(), "/usr/sbin/phc2sys -a -r -S x")
    machine.command(" ".join(SHOW), shown(phc2sys="enabled /usr/sbin/phc2sys"))
    assert judge(machine, **RAC)["never_steps"].status == "fail"


def test_a_unit_list_that_fails(judge):
    machine = with_chrony().command(" ".join(SHOW), shown(chrony="enabled /usr/sbin/chronyd"), 1)
    finding = judge(machine, **SINGLE)["one_daemon"]
    assert (finding.status, "systemctl ended with" in finding.why) == ("error", True)


@cases("updates refusals", (3, 0), (4, 0), (2, 1))
def test_a_plan_only_where_it_steps_too_long(updates, refusals):
    plan = plan_of(with_chrony(), max_step_updates=updates, **RAC)
    assert (plan.changes, len(plan.refusals)) == ([], refusals)
