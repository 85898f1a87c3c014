"""Pools of many hosts against the database that they share, from findings alone."""

import datetime
import json

import listener_packs
import pytest
from ansible.module_utils.hostproof.controls.registry import check_ids
from ansible.module_utils.hostproof.evaluate import audit
from cases import cases
from default_policies import default_policy
from hostproof_controller.report.render import render_folder
from packs import FIXTURES, Machine
from report.report_samples import make_line

SERVER = {"name": "shop", "home": "/opt/wildfly", "user": "wildfly"}
DATABASE = {
    "name": "SALES",
    "hosts": ["db1", "db2"],
    "clients": ["app1", "app2"],
    "pools": ["shop FG"],
    "processes": 130,
}
TODAY = datetime.date(2026, 11, 22)


def app(host, maximum=10, minimum=0, answer=None, **changes):
    """A line of an application host whose pool FG is so large, and that is told of a database."""
    sizes = f'"max-pool-size" : {maximum}, "min-pool-size" : {minimum}, "jndi-name" : "java:/FG",'
    answers = (FIXTURES / "pool_validation/answers.json").read_text()
    answers = answers.replace('"jndi-name" : "java:/FG",', sizes)
    java = "/usr/lib/jvm/java-17/bin/java"
    machine = Machine().link("/usr/bin/java", java).file(java, "")
    machine.command("jboss-cli shop: data sources", answers if answer is None else answer)
    settings = {"servers": [SERVER], "databases": [DATABASE | changes]}
    return judged(host, machine, pool_validation=default_policy("pool_validation") | settings)


def database(host, text=listener_packs.LIMITED):
    """A line of a database host whose listener has this file: 10 a second, or no limit."""
    machine = listener_packs.linux().listener(text).socket(1521, 512)
    return judged(host, machine, listener_rate_limit=listener_packs.listener_policy())


def judged(host, machine, **policies):
    return make_line(host, [finding.as_dict() for finding in audit.judge_host(machine, policies)])


def compared(tmp_path, *lines):
    """The findings on the database, by check."""
    path = tmp_path / "findings.jsonl"
    path.write_text("".join(json.dumps(dict(line)) + "\n" for line in lines))
    render_folder(str(tmp_path), today=TODAY, known_checks=check_ids)
    written = [json.loads(text) for text in path.read_text().splitlines()]
    (findings,) = [
        line["findings"] for line in written if line["host"] == "(cluster pools of SALES)"
    ]
    return {finding["check"].removeprefix("pool_validation."): finding for finding in findings}


def both(**sizes):
    return app("app1", **sizes), app("app2", **sizes), database("db1"), database("db2")


@pytest.fixture
def told(tmp_path, validate_finding):
    def look(*lines):
        findings = compared(tmp_path, *lines)
        for finding in findings.values():
            validate_finding(finding)
        return findings

    return look


@cases("maximum status", (15, "pass"), (16, "warn"), (30, "warn"), (130, "warn"), (131, "fail"))
def test_sums_against_what_instances_have_room_for(told, maximum, status):
    """Two pools; two instances with room for 30 each, and for 30 when one of them is lost. What
    the database needs of its 130 processes is an assumption."""
    finding = told(*both(maximum=maximum))["sessions"]
    assert finding["status"] == status
    assert finding["values"] == {"connections": 2 * maximum, "room": 60}
    assert "2 pools of 2 hosts may have" in finding["running"]
    assert ("has 260 processes on all hosts." in finding["why"]) == (status == "fail")


@cases(
    "minimum maximum status",
    (0, 299, "pass"),
    (0, 300, "warn"),
    (299, 299, "pass"),
    (300, 300, "fail"),
)
def test_a_storm_against_the_rate_and_what_requests_wait(told, minimum, maximum, status):
    """Each of two listeners lets in 10 a second, and a request waits 30 s."""
    finding = told(*both(minimum=minimum, maximum=maximum))["logon_storm"]
    assert finding["status"] == status
    assert finding["values"] == {"least_s": minimum / 10, "most_s": maximum / 10, "wait_s": 30}


def test_a_default_that_is_not_set_counts(told):
    lines = [app("app1"), app("app2"), database("db1"), database("db2")]
    for line in lines[:2]:
        for finding in line["findings"]:
            assert finding["values"] is None or finding["values"]["wait_ms"] == 30000
    plain = {"pools": ["shop BG"]}
    lines[:2] = [app("app1", **plain), app("app2", **plain)]
    assert told(*lines)["sessions"]["values"]["connections"] == 40


def test_an_application_host_that_nobody_judged_is_never_a_pass(told):
    findings = told(app("app1", maximum=1), database("db1"), database("db2"))
    assert {name: finding["status"] for name, finding in findings.items()} == {
        "sessions": "error",
        "logon_storm": "error",
    }
    assert "The pools of app2 are not all known" in findings["sessions"]["why"]


def test_too_many_are_too_many_whoever_is_not_known(told):
    findings = told(app("app1", maximum=800, minimum=700), database("db1"), database("db2"))
    assert {finding["status"] for finding in findings.values()} == {"fail"}


def test_an_application_host_whose_server_did_not_answer_is_not_known(told):
    lost = app("app2", answer="no JSON")
    findings = told(app("app1", maximum=1), lost, database("db1"), database("db2"))
    assert {finding["status"] for finding in findings.values()} == {"error"}


def test_a_pool_of_a_host_that_is_not_known_beside_one_that_is(told):
    lines = list(both(maximum=1))
    other = [dict(finding) for finding in app("x", answer="no JSON")["findings"]]
    other = [finding for finding in other if finding["check"] == "pool_validation.sessions"]
    lines[1] = {**lines[1], "findings": [*lines[1]["findings"], *other]}
    assert told(*lines)["sessions"]["status"] == "error"


def test_a_pool_of_an_unrelated_host_that_is_not_known(told):
    """A host of another database, one of whose pools is not known."""
    other = app("app3", name="PAYROLL", clients=["app3"])
    lost = app("app3", answer="no JSON")["findings"]
    lost = [finding for finding in lost if finding["check"] == "pool_validation.sessions"]
    assert [finding["status"] for finding in lost] == ["error"]
    other = {**other, "findings": [*other["findings"], *lost]}
    findings = told(*both(maximum=1), other)
    assert {finding["status"] for finding in findings.values()} == {"pass"}


@cases("waits status", ((30000, 4000), "fail"), ((30000, 6000), "pass"))
@cases("first", 0, 1)
def test_the_shortest_wait_of_the_pools_counts(told, waits, first, status):
    """Two pools of 50 log on in 5 s."""
    lines = list(both(minimum=50, maximum=50))
    for line, wait in zip(lines, (waits[first], waits[1 - first]), strict=False):
        for finding in line["findings"]:
            if finding["check"] == "pool_validation.sessions" and finding["values"]:
                finding["values"] = {**finding["values"], "wait_ms": wait}
    result = told(*lines)["logon_storm"]
    assert (result["status"], result["values"]["wait_s"]) == (status, min(waits) / 1000)


def test_processes_or_hosts_that_nobody_said(told):
    findings = told(*(app(name, processes=None, hosts=[]) for name in ("app1", "app2")))
    assert {finding["status"] for finding in findings.values()} == {"error"}


def test_a_listener_that_nobody_judged(told):
    findings = told(app("app1"), app("app2"), database("db1"))
    assert (findings["logon_storm"]["status"], findings["sessions"]["status"]) == ("error", "pass")
    assert "listeners of db2" in findings["logon_storm"]["why"]


def test_no_limit_anywhere_is_no_wait(told):
    lines = [database(name, listener_packs.OPEN) for name in ("db1", "db2")]
    assert told(app("app1"), app("app2"), *lines)["logon_storm"]["status"] == "skip"


def test_application_hosts_that_were_told_different_things(told):
    findings = told(app("app1"), app("app2", processes=900), database("db1"), database("db2"))
    assert {finding["status"] for finding in findings.values()} == {"error"}
    assert "differ in what pool_validation_databases says" in findings["logon_storm"]["why"]


@cases("name", "maximum", "hosts", "reserve", "wait_ms", "processes")
@cases("value", True, "a", -1, 1e300, None)
def test_values_that_no_pool_says_are_not_known(told, name, value):
    """A line that another wrote, or a host that lies."""
    lines = list(both(maximum=1))
    for finding in lines[1]["findings"]:
        if finding["check"] == "pool_validation.sessions" and finding["values"]:
            finding["values"] = {**finding["values"], name: value}
    assert told(*lines)["sessions"]["status"] == "error"


def test_a_host_without_its_domain_is_the_one_with_it(told):
    hosts = [database("db1.example.com"), database("db2.example.com")]
    assert told(app("app1.example.com"), app("app2"), *hosts)["logon_storm"]["status"] == "pass"


def test_a_pool_of_no_listed_database_adds_nothing(told):
    lines = both(maximum=1)
    skipped = [
        finding
        for finding in lines[0]["findings"]
        if finding["check"] == "pool_validation.sessions"
    ]
    assert sum(finding["values"] is not None for finding in skipped) == 1
    assert "no database for it" in skipped[0]["why"]
