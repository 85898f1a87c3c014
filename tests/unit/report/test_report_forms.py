"""report.json, report.xml and report.prom."""

import json
from xml.etree import ElementTree

from cases import cases
from hostproof_controller.report import text
from hostproof_controller.report.document import flat_findings
from hostproof_controller.report.prometheus import MOST_CHECKS, seconds
from hostproof_controller.report.store import merge
from prometheus_client.parser import text_string_to_metric_families
from report_samples import finding, fleet, make_line
from whole_reports import render_document, render_junit, render_prometheus

NOW = "2026-11-21T04:00:00Z"
NASTY = "\x00\x1b[31m <script>alert('\"&')</script> ]]> \udcff \ufffe \\n \n line"


def nasty_results():
    texts = dict.fromkeys(("title", "desired", "persisted", "running", "why", "fix"), NASTY)
    lines = [
        make_line(NASTY, [finding(status=status, reference=NASTY, in_use=None, **texts)])
        for status in ("fail", "error", "warn", "skip", "pass")
    ]
    waiver = {"owner": NASTY, "reason": NASTY, "expires": "2027-01-01", "was": "fail"}
    lines.append(make_line("waived", [finding(status="waived", waiver=waiver, **texts)]))
    return merge([dict(line, host=line["host"] + str(number)) for number, line in enumerate(lines)])


# report.json


def test_the_findings_of_the_document_are_those_of_the_run(validate):
    results = merge(fleet(12, 11))
    document = json.loads(render_document(results, NOW))
    for record in document["findings"]:
        validate(record)
    assert document["findings"] == json.loads(json.dumps(flat_findings(results)))
    assert len(document["hosts"]) == sum(document["totals"]["hosts"].values()) == 12
    assert len(document["findings"]) == sum(document["totals"]["findings"].values()) == 122


def test_the_document_is_ascii_whatever_a_host_answers():
    text = render_document(nasty_results(), NOW)
    assert text.isascii()
    assert json.loads(text)["findings"][0]["why"] == NASTY


# report.xml: the elements and attributes that the usual JUnit 10 schema allows

ALLOWED = {
    "testsuites": ({"testsuite"}, {"name", "tests", "failures", "errors", "time"}),
    "testsuite": (
        {"testcase"},
        {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname"},
    ),
    "testcase": ({"skipped", "error", "failure", "system-out"}, {"name", "classname", "time"}),
    "failure": (set(), {"type", "message"}),
    "error": (set(), {"type", "message"}),
    "skipped": (set(), {"message"}),
    "system-out": (set(), set()),
}


def assert_shape(element):
    children, attributes = ALLOWED[element.tag]
    assert set(element.attrib) <= attributes
    for child in element:
        assert child.tag in children
        assert_shape(child)


@cases("results", merge(fleet(12, 11)), nasty_results(), ids=("fleet", "nasty"))
def test_junit_has_the_shape_that_readers_expect(results):
    root = ElementTree.fromstring(render_junit(results).encode("utf-8"))
    assert_shape(root)
    assert len(root) == len(results.states)
    for suite, state in zip(root, results.states, strict=True):
        assert int(suite.get("tests")) == len(suite) == len(state.findings)
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(name)) == len(suite.findall(f"testcase/{tag}"))
    assert int(root.get("failures")) == len(root.findall(".//failure"))


# report.prom


def families(results, **options):
    text = render_prometheus(results, NOW, **options)
    return {family.name: family for family in text_string_to_metric_families(text)}


@cases("results", merge(fleet(12, 11)), nasty_results(), ids=("fleet", "nasty"))
def test_prometheus_counts_everything_once(results):
    metrics = families(results)
    for family in metrics.values():
        assert family.documentation
        assert family.type == "gauge"
        series = [(s.name, tuple(sorted(s.labels.items()))) for s in family.samples]
        assert len(series) == len(set(series))
    findings = [item for state in results.states for item in state.findings]
    total = sum(sample.value for sample in metrics["hostproof_findings"].samples)
    assert total == len([item for item in findings if item["status"] not in ("pass", "skip")])
    total = sum(sample.value for sample in metrics["hostproof_host_findings"].samples)
    assert total == sum(len(state.findings) for state in results.hosts)


def test_prometheus_has_no_series_for_what_is_well():
    lines = [make_line("db01", [finding(status="pass"), finding(status="skip")])]
    metrics = families(merge(lines))
    assert "hostproof_findings" not in metrics
    counts = {s.labels["status"]: s.value for s in metrics["hostproof_host_findings"].samples}
    assert counts == {"fail": 0, "error": 0, "warn": 0, "waived": 0, "skip": 1, "pass": 1}


def test_prometheus_bounds_what_one_host_can_say():
    bad = [finding(check=f"hugepages.x{n}", severity="low") for n in range(500)]
    worst = finding(check="hugepages.zz", severity="critical")
    samples = families(merge([make_line("db01", [*bad, worst])]))["hostproof_findings"].samples
    assert len(samples) == MOST_CHECKS + 1
    assert sum(sample.value for sample in samples) == 501
    assert samples[0].labels["check"] == "hugepages.zz"
    assert [s.value for s in samples if s.labels["check"] == "(more)"] == [501 - MOST_CHECKS]


def test_when_evidence_was_recorded_is_told_of_each_host():
    line = make_line("db01", [finding()], recorded_at="2026-11-20T09:30:00Z")
    samples = families(merge([line]))["hostproof_host_recorded_timestamp_seconds"].samples
    assert [sample.value for sample in samples] == [seconds("2026-11-20T09:30:00Z")]
    assert json.loads(render_document(merge([line]), NOW))["hosts"][0]["recorded_at"] == (
        "2026-11-20T09:30:00Z"
    )


def test_equal_findings_are_one_series():
    metrics = families(merge([make_line("db01", [finding(), finding()])]))
    assert [sample.value for sample in metrics["hostproof_findings"].samples] == [2]


def test_prometheus_labels_are_escaped():
    metrics = families(merge([make_line('a"b\\c\nd\x1b', [finding()])]))
    host = metrics["hostproof_findings"].samples[0].labels["host"]
    assert host == 'a"b\\c\nd\\x1b'


def test_seconds_of_no_instant_is_zero():
    assert seconds("yesterday") == 0


@cases(
    "advice typed",
    (
        "./hostproof apply --tags hugepages --limit db1",
        "ansible-playbook hostproof.hostproof.apply --tags hugepages --limit db1",
    ),
    (
        "see why: ./hostproof audit -vvv, or\n./hostproof revert",
        "see why: ansible-playbook hostproof.hostproof.audit -vvv, or\n"
        "ansible-playbook hostproof.hostproof.revert",
    ),
    (
        "./hostproof latency compare --limit db1",
        "ansible-playbook hostproof.hostproof.compare --limit db1",
    ),
    (
        "./hostproof detect-storage -i x",
        "ansible-playbook hostproof.hostproof.detect_storage -i x",
    ),
    ("./hostproof revert --gate /a", "./hostproof revert --gate /a"),
    ("./hostproof explain a.b", "./hostproof explain a.b"),
    ("umount /u01", "umount /u01"),
)
def test_who_has_the_collection_alone_is_told_its_playbooks(monkeypatch, advice, typed):
    assert text.as_typed(advice) == advice
    monkeypatch.setattr(text, "IS_CHECKOUT", False)
    monkeypatch.setattr(text, "IS_COLLECTION", True)
    monkeypatch.setattr(text, "COLLECTION", "hostproof.hostproof.")
    assert text.as_typed(advice) == typed
