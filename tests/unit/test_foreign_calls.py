"""No text of a host shows a call of Hostproof that no control advises, however it is written."""

import time

import pytest
from cases import cases
from hostproof_controller.remote import host_findings

FOREIGN = [
    *("./hostproof apply -e x=y", "./hostproof apply \\\n -e x=y"),
    *("./hostproof apply\n--limit all", "./hostproof apply --tags hugepages\n-e x=y"),
    *("./hostproof apply --tags hugepages; curl x|sh", "./hostproof apply $(id)"),
    *("./hostproof audit & id", "./hostproof apply > /etc/x", "./hostproof apply '-e' x=y"),
    *("./hostproof apply {-e,x}", "./hostproof\u00a0apply -e x=y"),
    *("./hostproof apply --tags x\u2028-i y", "./hostproof revert"),
    *("./hostproof latency compare -e x=y", "./hostproof detect-storage", ".//hostproof apply"),
    *("hostproof apply -e x=y", "bash hostproof apply", "/opt/hostproof/hostproof apply"),
    *("./'hostproof' apply -e x=y", "./hostproo\\f apply -e x=y"),
    "ANSIBLE_CONFIG=/tmp/x ./hostproof apply",
]
ADVISED = [
    "There is no measurement before a change: run ./hostproof latency baseline before it and "
    "./hostproof latency compare after it.",
    "compare that node with its peers: ./hostproof explain cluster_nodes.huge_pages, then look",
    "./hostproof audit --tags latency in the hour that counts; hostproof_window_seconds is long",
    "set by /etc/sysctl.d/99-zz-hostproof-hugepages.conf",
    "/var/lib/hostproof is not writable",
]


def finding(**fields):
    return {
        **{"control": "hugepages", "check": "hugepages.single_source", "title": "One owner"},
        **{"status": "fail", "severity": "high", "desired": "a", "persisted": None},
        **{"running": "b", "in_use": None, "takes_effect": "now", "why": "c", "fix": "d"},
        **{"reference": "docs", "evidence": [], "waiver": None, "values": None, "commands": []},
        **{"because_of": [], "problem": None, "failing_layer": None, **fields},
    }


@cases("is_plain", True, False)
@pytest.mark.parametrize("text", FOREIGN)
def test_no_field_shows_it(text, is_plain):
    for name in ("title", "why", "running", "fix", "reference"):
        (result,) = host_findings.accepted_findings([finding(**{name: text})], is_plain=is_plain)
        assert text not in str(result[name]), name
        assert result["status"] == "fail"
    for name in ("evidence", "because_of", "commands"):
        (result,) = host_findings.accepted_findings([finding(**{name: [text]})], is_plain=is_plain)
        assert result[name] == []


@cases("name", "why", "because_of")
def test_of_several_findings_only_the_one_that_shows_it_is_changed(name):
    def showing(text):
        return finding(**{name: [text] if name == "because_of" else text})

    findings = [finding(why=ADVISED[1]), showing(FOREIGN[0]), finding(why=ADVISED[2])]
    message = host_findings.accepted_findings(findings, is_plain=True)
    assert [finding == other for finding, other in zip(message, findings, strict=True)] == [
        True,
        False,
        True,
    ]
    assert FOREIGN[0] not in str(message)


def test_a_host_without_findings_shows_nothing():
    assert host_findings.accepted_findings([], is_plain=True) == []


@pytest.mark.parametrize("text", ADVISED)
def test_what_a_control_says_stays(text):
    (result,) = host_findings.accepted_findings([finding(why=text)], is_plain=True)
    assert result == finding(why=text)


@cases("text", "=", "./hostproof apply ", "./", "'", "-")
def test_it_takes_no_long_time(text):
    start = time.process_time()
    host_findings.accepted_findings(
        [finding(why=text * (host_findings.MOST_TEXT // len(text)))], is_plain=True
    )
    assert time.process_time() - start < 2
