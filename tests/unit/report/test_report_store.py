"""Reading and merging of host results."""

import json
import re

import pytest
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.report.store import (
    RUN_HOST,
    merge,
    merged_lines,
    natural,
    read_lines,
)
from report_samples import finding, fleet, make_line, pack, write_folder


def at(minute):
    return f"2026-11-21T03:{minute:02d}:00Z"


def run(name, hosts=1):
    return {"id": name, "started": at(0), "hosts": hosts}


def checks(state):
    return [(f["check"], f["status"]) for f in state.findings]


def test_the_samples_are_valid(validate):
    for line in fleet(8, 30, evidence=True):
        validate(line)


def test_folders_and_files_are_read_in_order(tmp_path):
    one = write_folder(tmp_path / "one", fleet(2))
    two = write_folder(tmp_path / "two", fleet(1))
    lines = read_lines([str(one), str(two / "findings.jsonl")])
    assert [line["host"] for line in lines] == ["db01", "db02", "db01"]


def test_a_cut_last_line_is_left_out_and_said(tmp_path):
    folder = write_folder(tmp_path / "one", fleet(3))
    path = folder / "findings.jsonl"
    path.write_bytes(path.read_bytes()[:-100])
    notes = []
    lines = read_lines([str(folder)], notes)
    assert [line["host"] for line in lines] == ["db01", "db02"]
    assert notes == [
        f"{path}, line 3 is cut off (the run was killed while it wrote): one result is lost"
    ]
    assert merge(lines).cut_short


def test_a_last_line_without_newline_counts_if_it_is_whole(tmp_path):
    folder = write_folder(tmp_path / "one", fleet(2))
    path = folder / "findings.jsonl"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert len(read_lines([str(folder)])) == 2


def broken(change):
    line = make_line("db01", [finding()])
    change(line)
    return line


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"", "not JSON"),
        (b"[]", "not a host result: not a JSON object"),
        (broken(lambda r: r.update(schema=2)), "schema 2, this Hostproof reads schema 1"),
        (broken(lambda r: r.pop("outcome")), "missing outcome"),
        (broken(lambda r: r.update(extra=1)), "unknown extra"),
        (broken(lambda r: r.update(run="x")), "run is not {id, started, hosts}"),
        (broken(lambda r: r["run"].update(hosts=-1)), "run.hosts is not a count"),
        (broken(lambda r: r["run"].update(id="")), "run.id is not a text"),
        (broken(lambda r: r.update(host=7)), "host is not a text"),
        (broken(lambda r: r.update(at="")), "at is not a text"),
        (broken(lambda r: r.update(at="yesterday")), "at is not an instant"),
        (broken(lambda r: r.update(outcome="lost")), "unknown outcome 'lost'"),
        (broken(lambda r: r.update(message=1)), "message is not a text"),
        (broken(lambda r: r.update(evidence={})), "evidence is not a text"),
        (broken(lambda r: r.update(findings={})), "findings is not a list"),
        (broken(lambda r: r.update(findings=[1])), "finding 1: not a JSON object"),
        (broken(lambda r: r["findings"][0].pop("fix")), "finding 1: missing fix"),
        (broken(lambda r: r["findings"][0].update(title="")), "finding 1: title is not a text"),
        (broken(lambda r: r["findings"][0].update(check="Pool")), "'Pool' is not a check id"),
        (broken(lambda r: r["findings"][0].update(control="x")), "is not a check of x"),
        (broken(lambda r: r["findings"][0].update(fix=1)), "finding 1: fix is not a text"),
        (broken(lambda r: r["findings"][0].update(status="ok")), "unknown status 'ok'"),
        (broken(lambda r: r["findings"][0].update(severity="x")), "unknown severity 'x'"),
        (broken(lambda r: r["findings"][0].update(takes_effect="x")), "unknown takes_effect"),
        (broken(lambda r: r["findings"][0].update(evidence="x")), "evidence is not a list"),
        (broken(lambda r: r["findings"][0].update(status="waived")), "waiver is not {owner"),
        (broken(lambda r: r["findings"][0].update(waiver={})), "a waiver on a finding that"),
    ],
)
def test_anything_else_is_refused_with_path_and_line(tmp_path, line, message):
    good = json.dumps(make_line("db00", [finding()])).encode()
    bad = line if isinstance(line, bytes) else json.dumps(line).encode()
    path = tmp_path / "findings.jsonl"
    path.write_bytes(good + b"\n" + bad + b"\n")
    with pytest.raises(HostproofError, match=re.escape(message)) as problem:
        read_lines([str(path)])
    assert str(problem.value).startswith(f"{path}, line 2: ")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(HostproofError, match=r"findings.jsonl: No such file or directory"):
        read_lines([str(tmp_path)])


def test_the_latest_wins_by_host_and_control():
    old = make_line(
        "db01",
        [finding(), finding(control="nfs_mounts", check="nfs_mounts.options", status="warn")],
        at=at(1),
        run=run("a"),
    )
    new = make_line("db01", [finding(status="pass")], at=at(2), run=run("b"))
    for lines in ([old, new], [new, old]):
        (state,) = merge(lines).hosts
        assert sorted(checks(state)) == [
            ("hugepages.pool_covers_sga", "pass"),
            ("nfs_mounts.options", "warn"),
        ]
        assert state.at == at(2)


def test_what_a_host_did_under_a_change_stands_beside_how_it_is():
    """An audit says of a change that it has no before, and replaces no comparison by that."""
    looked = finding(control="latency", check="latency.disk", status="pass")
    no_before = finding(control="latency", check="latency.change", status="skip")
    slower = finding(control="latency", check="latency.change", status="fail")
    held = finding(control="latency", check="latency.gate", status="fail")
    compared = make_line("db01", [held, slower], at=at(1))
    audited = make_line("db01", [looked, no_before], at=at(2))
    for lines in ([compared, audited], [audited, compared]):
        (state,) = merge(lines).hosts
        told = sorted((one["check"], one["status"]) for one in state.findings)
        assert told == [
            ("latency.change", "fail"),
            ("latency.disk", "pass"),
            ("latency.gate", "fail"),
        ]
    better = finding(control="latency", check="latency.change", status="pass")
    again = make_line("db01", [better], at=at(3))
    (state,) = merge([compared, audited, again]).hosts
    assert {one["check"]: one["status"] for one in state.findings} == {
        "latency.disk": "pass",
        "latency.change": "pass",
    }


def test_at_equal_times_the_later_line_wins():
    lines = [make_line("db01", [finding(status=status)]) for status in ("fail", "pass")]
    assert checks(merge(lines).hosts[0]) == [("hugepages.pool_covers_sga", "pass")]


def test_a_later_unreachable_replaces_what_was_known(validate):
    judged = make_line("db01", [finding(status="pass")], at=at(1))
    lost = make_line("db01", [], outcome="unreachable", message="No route to host", at=at(2))
    (state,) = merge([judged, lost]).hosts
    assert checks(state) == [("host.reachable", "error")]
    (only,) = state.findings
    assert only["why"] == "No route to host"
    assert (only["control"], only["severity"], only["takes_effect"]) == ("host", "critical", None)
    assert only["fix"]
    validate(only)


def test_a_later_judgement_replaces_unreachable():
    lost = make_line("db01", [], outcome="unreachable", at=at(1))
    judged = make_line("db01", [finding(status="pass")], at=at(2))
    (state,) = merge([lost, judged]).hosts
    assert checks(state) == [("hugepages.pool_covers_sga", "pass")]
    assert state.outcome == "judged"


@pytest.mark.parametrize("outcome", ["failed", "judged"])
def test_a_result_without_findings_is_an_error(outcome):
    (state,) = merge([make_line("db01", [], outcome=outcome)]).hosts
    assert checks(state) == [("host.judged", "error")]


def test_a_failed_result_with_findings_keeps_them():
    line = make_line("db01", [finding(status="error")], outcome="failed")
    assert checks(merge([line]).hosts[0]) == [("hugepages.pool_covers_sga", "error")]


def test_hosts_are_sorted_as_people_count():
    lines = [make_line(host, [finding()]) for host in ("db10", "db9", "a²", "10", "db9a")]
    names = [state.name for state in merge(lines).hosts]
    assert names == ["10", "a²", "db9", "db9a", "db10"]
    assert natural("db2") < natural("db10")


def test_a_run_that_was_cut_short_is_said(validate):
    results = merge([make_line("db01", [finding(status="pass")], run=run("a", hosts=3))])
    assert results.cut_short
    assert (results.expected, results.runs[0].answered) == (3, 1)
    (about,) = results.about
    assert (about.name, checks(about)) == (RUN_HOST, [("run.finished", "error")])
    validate(about.findings[0])


def test_shards_are_counted_by_run():
    lines = [make_line("db01", [finding()], run=run("a")), make_line("db02", [], run=run("b"))]
    results = merge(lines)
    assert not results.cut_short
    assert results.expected == 2


def test_two_runs_over_the_same_host_are_not_cut_short():
    lines = [make_line("db01", [finding()], run=run(name)) for name in "ab"]
    assert not merge(lines).cut_short


def test_no_line_at_all_is_an_error():
    results = merge([])
    assert results.hosts == []
    assert checks(results.about[0]) == [("run.hosts_matched", "error")]


def test_a_pseudo_host_of_the_run_gets_no_verdict_and_is_not_counted():
    said = finding(control="run", check="run.hosts_matched", status="error")
    results = merge([make_line(RUN_HOST, [said], run=run("a", hosts=0))])
    assert results.hosts == []
    assert [state.name for state in results.about] == [RUN_HOST]
    assert not results.cut_short


def test_merged_lines_hold_each_finding_once_and_merge_to_the_same(validate):
    old = make_line("db01", [finding()], at=at(1), run=run("a", hosts=2), evidence=pack({}))
    new = make_line("db01", [finding(status="pass")], at=at(2), run=run("b"))
    lost = make_line("db02", [], outcome="unreachable", at=at(1), run=run("a", hosts=2))
    results = merge([old, new, lost])
    lines = list(merged_lines(results))
    for line in lines:
        validate(line)
    assert [len(line["findings"]) for line in lines] == [0, 1, 1]
    assert lines[0]["evidence"] is None
    again = merge(lines)
    assert [(s.name, s.outcome, s.findings) for s in again.hosts] == [
        (s.name, s.outcome, s.findings) for s in results.hosts
    ]
    assert again.runs == results.runs
    assert list(merged_lines(again)) == lines


def test_findings_about_waivers_of_an_older_line_are_history():
    old = make_line("db01", [finding(), finding(control="waiver", check="waiver.expired")])
    new = make_line("db01", [finding(status="pass")], at=at(59))
    assert checks(merge([old, new]).hosts[0]) == [("hugepages.pool_covers_sga", "pass")]
