"""pre_page_sga: the duration of the logon that an audit makes."""

from typing import Any

import oracle_packs
import pytest
from ansible.module_utils.hostproof.collect.command import Command
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from packs import Machine

#: Article 003: `time sqlplus -s / as sysdba`.
WITHOUT_HUGE_PAGES, WITH_HUGE_PAGES = 9.645, 0.437


@pytest.fixture
def judge(findings_of):
    def judge_host(machine: Machine, seconds: float | None) -> Any:
        machine.logon_seconds = seconds
        (finding,) = findings_of("pre_page_sga", machine, oracle_packs.policy())["logon_time"]
        return finding

    return judge_host


def test_the_two_logons_of_the_article(judge):
    finding = judge(oracle_packs.story("11.2.0.2.0", pages="small"), WITHOUT_HUGE_PAGES)
    assert finding.status == "warn"
    assert finding.why == (
        "The logon and the queries of the audit took 9.64 s; SGA 16.0 GiB, all in pages of 4 KiB."
    )
    finding = judge(oracle_packs.story("11.2.0.2.0"), WITH_HUGE_PAGES)
    assert finding.status == "pass"
    assert finding.in_use == "0.437 s; SGA 16.0 GiB, all in pages of 2.0 MiB"
    assert finding.values == {"logon_seconds": 0.437}


def test_down_and_not_recorded(judge):
    assert judge(oracle_packs.down(), 1.0).status == "skip"
    finding = judge(oracle_packs.story(), None)
    assert finding.status == "error" and "its duration was not recorded" in finding.why


def test_a_live_host_measures_it():
    command = Command(name="a pause", argv=("/bin/sleep", "0.2"))
    host = LiveHost()
    host.ask(command)
    seconds = host.seconds_of(command)
    assert seconds >= 0.2 and RecordedHost(host.evidence).seconds_of(command) == seconds
    del host.evidence["command:a pause"]["seconds"]
    assert RecordedHost(host.evidence).seconds_of(command) is None
