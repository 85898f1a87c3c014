"""Waivers: what is accepted from a file, what they cover, and what is said about them."""

import datetime
import re

import pytest
import yaml
from ansible.module_utils.hostproof.errors import PolicyError
from ansible.module_utils.hostproof.evaluate.finding import Check, make_finding
from cases import cases
from hostproof_controller.cli import command
from hostproof_controller.report.waivers import WAIVERS_HOST, Applied, parse_waivers

TODAY = datetime.date(2026, 11, 21)
KNOWN = {"hugepages.pool_covers_sga", "hugepages.shm_group"}

FILE = """
- check: hugepages.pool_covers_sga
  hosts: db*
  owner: dba-team@example.com
  reason: Memory is extended in January, CHG0041
  expires: 2027-01-31
"""


def apply_waivers(findings_by_host, *arguments, **named):
    """The findings with waivers applied, and the findings about the waivers, both by host."""
    applied = Applied(*arguments, **named)
    for host, findings in findings_by_host.items():
        applied.see(host, findings)
    waived = {host: applied.waived(host, current) for host, current in findings_by_host.items()}
    return waived, applied.about()


def entry(**changes):
    waiver = yaml.safe_load(FILE)[0]
    waiver.update(changes)
    return {key: value for key, value in waiver.items() if value is not ...}


def a_finding(status="fail", check="hugepages.pool_covers_sga"):
    about = Check(
        check, "Huge page pool covers every SGA", "critical", "now", "It hurts.", "The book"
    )
    return make_finding(about, status, desired="1000", running="447").as_dict()


def apply(findings, *entries, today=TODAY):
    return apply_waivers(findings, parse_waivers(list(entries)), today, KNOWN)


def test_a_file_is_parsed():
    (waiver,) = parse_waivers(yaml.safe_load(FILE))
    assert waiver.check == "hugepages.pool_covers_sga"
    assert waiver.hosts == ("db*",)
    assert waiver.owner == "dba-team@example.com"
    assert waiver.expires == datetime.date(2027, 1, 31)


def test_a_date_may_be_quoted_and_hosts_may_be_a_list():
    (waiver,) = parse_waivers([entry(expires="2027-01-31", hosts=["db01", "db02"])])
    assert waiver.expires == datetime.date(2027, 1, 31)
    assert waiver.hosts == ("db01", "db02")


def test_a_waiver_with_an_old_id_covers_the_check_of_today():
    entry = {
        "check": "names.order",
        "hosts": "*",
        "owner": "dba",
        "reason": "mDNS is wanted",
        "expires": "2027-01-01",
    }
    assert parse_waivers([entry])[0].check == "name_resolution.search_order"


def test_an_empty_file_waives_nothing():
    assert parse_waivers(None) == []
    assert parse_waivers([]) == []


@cases(
    "data message",
    ({"waivers": []}, "waivers: must be a list of entries with check, hosts, owner"),
    (["hugepages"], "waivers, entry 1: must be a mapping with check"),
    ([entry(), entry(hosts="web*", until="x")], "waivers, entry 2: unknown key 'until'; known"),
    ([entry(host="db01")], "waivers, entry 1: unknown key 'host'; did you mean hosts?"),
    ([entry(subjects="/u01")], "unknown key 'subjects'; did you mean subject?"),
    ([entry(expire="x")], "unknown key 'expire'; did you mean expires?"),
    ([entry(subject=[])], "waivers, entry 1: subject is empty"),
    ([entry(subject="")], "waivers, entry 1: subject must be a text, not ''"),
    (
        [entry(subject="/u01"), entry(subject=["/u02", "/u01"])],
        "waivers, entry 2: hugepages.pool_covers_sga of /u01 on db* is waived by",
    ),
    ([entry(owner=...)], "waivers, entry 1: owner is missing"),
    ([entry(owner=" ")], "waivers, entry 1: owner must be a text, not ' '"),
    ([entry(reason=7)], "waivers, entry 1: reason must be a text, not 7"),
    ([entry(hosts=[])], "waivers, entry 1: hosts is empty"),
    ([entry(hosts=["a", "a"])], "waivers, entry 1: hosts names a host twice"),
    ([entry(hosts=[1])], "waivers, entry 1: hosts must be a text, not 1"),
    ([entry(expires="soon")], "waivers, entry 1: expires must be a day, YYYY-MM-DD"),
    ([entry(expires="2027-02-30")], "waivers, entry 1: expires must be a day"),
    ([entry(expires="2027-1-3")], "waivers, entry 1: expires must be a day"),
    ([entry(expires=20270131)], "waivers, entry 1: expires must be a day"),
    ([entry(expires=datetime.datetime(2027, 1, 31))], "expires must be a day"),
    ([entry(), entry()], "waivers, entry 2: hugepages.pool_covers_sga on db* is waived by"),
    ([entry(), entry(hosts=["x", "db*"])], "waivers, entry 2: hugepages.pool_covers_sga on"),
)
def test_what_is_not_understood_is_refused(data, message):
    with pytest.raises(PolicyError, match=re.escape(message)):
        parse_waivers(data)


@cases("verb", "audit", "verify", "apply")
def test_a_mistake_is_reported_before_the_run(verb, tmp_path, capsys):
    file = tmp_path / "waivers.yml"
    file.write_text(FILE.replace("owner:", "owners:"))
    assert command.main([verb, "--waivers", str(file), "-i", "localhost,"]) == 1
    error = capsys.readouterr().err
    assert f"{file}: waivers, entry 1: unknown key 'owners'; did you mean owner?" in error


@cases("status", "warn", "fail")
def test_a_valid_waiver_covers(status):
    findings, about = apply({"db01": [a_finding(status)]}, entry())
    assert findings["db01"][0]["status"] == "waived"
    assert findings["db01"][0]["waiver"] == {
        "owner": "dba-team@example.com",
        "reason": "Memory is extended in January, CHG0041",
        "expires": "2027-01-31",
        "was": status,
    }
    assert about == {}


@cases("status", "error", "skip", "pass")
def test_only_warn_and_fail_are_covered(status):
    findings, about = apply({"db01": [a_finding(status)]}, entry())
    assert findings["db01"] == [a_finding(status)]
    assert [f["check"] for f in about[WAIVERS_HOST]] == ["waiver.matches_nothing"]


@cases(
    "subject covered",
    ("/u02", ["/u02"]),
    ("/u0*", ["/u01", "/u02"]),
    (["/u01", "LAB?"], ["/u01", "LAB1"]),
)
def test_a_waiver_of_a_subject_covers_no_other(subject, covered):
    before = [
        {**a_finding(), "title": f"{name}: Hard mount"} for name in ("/u01", "/u02", "LAB1", "/u1")
    ]
    findings, about = apply({"db01": before}, entry(subject=subject))
    waived = [f["title"].partition(":")[0] for f in findings["db01"] if f["status"] == "waived"]
    assert waived == covered
    assert about == {}


def test_a_waiver_of_a_subject_that_no_host_has():
    before = {"db01": [{**a_finding(), "title": "/u01: Hard mount"}]}
    findings, about = apply(before, entry(subject="/u09"))
    assert findings == before
    (finding,) = about[WAIVERS_HOST]
    assert finding["running"] == "the check has no such subject on 1 host"
    assert finding["fix"].endswith("of /u09 on db*, or correct its hosts or subject")


def test_other_hosts_and_other_checks_are_not_covered():
    before = {"web01": [a_finding()], "db01": [a_finding(check="hugepages.shm_group")]}
    findings, _ = apply(before, entry())
    assert findings == before


def test_the_last_day_counts():
    findings, _ = apply({"db01": [a_finding()]}, entry(expires=TODAY))
    assert findings["db01"][0]["status"] == "waived"


def test_an_expired_waiver_covers_nothing_and_is_said_on_the_hosts_that_it_covered():
    day_before = TODAY - datetime.timedelta(days=1)
    before = {"db01": [a_finding()], "db02": [a_finding("pass")]}
    findings, about = apply(before, entry(expires=day_before))
    assert findings == before
    assert list(about) == ["db01"]
    assert about["db01"][0]["check"] == "waiver.expired"
    assert about["db01"][0]["status"] == "warn"
    assert about["db01"][0]["running"] == "expired 2026-11-20, 1 day ago"


def test_an_expired_waiver_that_covers_nothing_is_said_all_the_same():
    _, about = apply({"db01": [a_finding("pass")]}, entry(expires="2026-01-01"))
    assert [f["check"] for f in about[WAIVERS_HOST]] == ["waiver.expired"]


@cases("days said", (0, True), (30, True), (31, False))
def test_a_waiver_that_expires_soon_is_said(days, said):
    _, about = apply({"db01": [a_finding()]}, entry(expires=TODAY + datetime.timedelta(days=days)))
    assert [f["check"] for f in about.get(WAIVERS_HOST, [])] == ["waiver.expires_soon"] * said


def test_it_is_said_on_the_host_where_the_waiver_names_hosts():
    soon = entry(hosts=["db01", "db09"], expires=TODAY)
    _, about = apply({"db01": [a_finding()], "db02": [a_finding()]}, soon)
    assert list(about) == ["db01"]


def test_an_unknown_check_is_an_error():
    _, about = apply({"db01": [a_finding()]}, entry(check="hugepages.pool_covers_sgas"))
    (finding,) = about[WAIVERS_HOST]
    assert (finding["check"], finding["status"]) == ("waiver.unknown_check", "error")
    assert finding["running"] == "hugepages.pool_covers_sgas"


@cases(
    "hosts check actual",
    ("web*", "hugepages.pool_covers_sga", "no host of this run is named so"),
    ("db*", "hugepages.shm_group", "the check was not evaluated on 2 hosts"),
    ("db02", "hugepages.pool_covers_sga", "the check neither warned nor failed on 1 host"),
)
def test_a_waiver_that_matches_nothing_says_why(hosts, check, actual):
    findings = {"db01": [a_finding()], "db02": [a_finding("pass")]}
    _, about = apply(findings, entry(hosts=hosts, check=check))
    (finding,) = about[WAIVERS_HOST]
    assert (finding["check"], finding["status"]) == ("waiver.matches_nothing", "warn")
    assert finding["running"] == actual


def test_applying_again_is_applying_once():
    before = {"db01": [a_finding(), a_finding("warn", "hugepages.shm_group")]}
    waivers = [entry(), entry(check="hugepages.shm_group", hosts="db01", expires="2026-01-01")]
    once, about = apply(before, *waivers)
    once["db01"].extend(about["db01"])
    twice, again = apply(once, *waivers)
    twice["db01"].extend(again["db01"])
    assert twice == once


def test_without_the_waiver_the_finding_counts_again():
    before = {"db01": [a_finding()]}
    waived, _ = apply(before, entry())
    bare, about = apply(waived)
    assert (bare, about) == (before, {})


def test_the_first_of_two_waivers_counts():
    findings, about = apply({"db01": [a_finding()]}, entry(owner="a"), entry(hosts="*", owner="b"))
    assert findings["db01"][0]["waiver"]["owner"] == "a"
    assert about == {}
