"""Reading and merging of host results."""

import datetime
import json

import pytest
from ansible.module_utils.hostproof.controls.registry import CONTROLS
from ansible.module_utils.hostproof.errors import HostproofError
from cases import cases
from hostproof_controller.report import renamed, store
from hostproof_controller.report.document import flat_findings
from hostproof_controller.report.render import render_folder
from hostproof_controller.report.store import RUN_HOST, merge, merged_lines, natural
from report_samples import finding, fleet, make_line, pack, write_folder
from whole_reports import read_lines

TODAY = datetime.date(2026, 11, 21)


def at(minute):
    return f"2026-11-21T03:{minute:02d}:00Z"


def run(name, hosts=1):
    return {"id": name, "started": at(0), "hosts": hosts}


def test_a_finding_has_the_version_of_its_catalogue_in_a_list_too(tmp_path, validate):
    """A merge of runs of several releases says which release judged which finding."""
    old, new = make_line("db01", [finding()]), make_line("db02", [finding()])
    new["catalogue"] = "0.2.0"
    assert "catalogue" not in old
    folder = write_folder(tmp_path / "run", [old, new])
    results = merge(store.read_entries([str(folder)]))
    listed = flat_findings(results)
    assert [entry.get("catalogue") for entry in listed] == [None, "0.2.0"]
    for line in (new, *listed):
        validate(line)
    assert [entry.get("catalogue") for entry in merged_lines(results)] == [None, "0.2.0"]


def checks(state):
    return [(f["check"], f["status"]) for f in state.findings]


def test_the_samples_are_valid(validate):
    for line in fleet(8, 30, evidence=True):
        validate(line)


def test_folders_and_files_are_read_in_order(tmp_path):
    first = write_folder(tmp_path / "one", fleet(2))
    two = write_folder(tmp_path / "two", fleet(1))
    lines = read_lines([str(first), str(two / "findings.jsonl")])
    assert [line["host"] for line in lines] == ["db01", "db02", "db01"]


def test_a_cut_last_line_is_left_out_and_said(tmp_path):
    folder = write_folder(tmp_path / "one", fleet(3))
    path = folder / "findings.jsonl"
    path.write_bytes(path.read_bytes()[:-100])
    notes = []
    lines = read_lines([str(folder)], notes)
    assert [line["host"] for line in lines] == ["db01", "db02"]
    assert notes == [f"{path}, line 3 is truncated (the run was killed): one result is missing"]
    assert merge(lines).cut_short


def test_a_last_line_without_newline_counts_if_it_is_whole(tmp_path):
    folder = write_folder(tmp_path / "one", fleet(2))
    path = folder / "findings.jsonl"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert len(read_lines([str(folder)])) == 2


@cases("later", "at", "started")
def test_a_result_of_the_future_wins_nothing(tmp_path, later):
    """A shard says when it judged: one that says 2999 would win every merge until then."""
    now = datetime.datetime.now(datetime.UTC)
    true = make_line("db01", [finding(status="fail")])
    for ahead, is_taken in ((datetime.timedelta(seconds=60), True), (365 * 300, False)):
        then = now + (ahead if is_taken else datetime.timedelta(days=ahead))
        false = make_line("db01", [finding(status="pass")])
        (false if later == "at" else false["run"])[later] = then.strftime("%Y-%m-%dT%H:%M:%SZ")
        name = f"{later}-{is_taken}"
        folder = write_folder(tmp_path / name, [true, false])
        notes = []
        results = merge(store.read_entries([str(folder)], notes), notes)
        (state,) = results.hosts
        about = [item["check"] for item in checks_of(results)]
        assert (notes == []) == is_taken
        if not is_taken:
            assert [item["status"] for item in state.findings] == ["fail"]
            assert "in the future: correct the clock of the machine that wrote it" in notes[0]
            assert "run.results_readable" in about


def checks_of(results):
    return [item for state in results.about for item in state.findings]


def test_a_command_for_the_controller_that_no_run_writes_is_left_out(tmp_path):
    own = "./hostproof apply --tags hugepages --limit db01"
    lines = [
        make_line("db01", [finding(commands=[own])]),
        make_line("db02", [finding(commands=["./hostproof revert --limit all", "umount /u01"])]),
    ]
    folder = write_folder(tmp_path / "run", lines)
    first, two = merge(store.read_entries([str(folder)])).hosts
    assert first.findings[0]["commands"] == [own]
    assert two.findings[0]["commands"] == []
    assert "left out" in two.findings[0]["fix"]


def broken(change):
    line = make_line("db01", [finding()])
    change(line)
    return line


@cases(
    "line message",
    (b"{", "not JSON"),
    (b"\xff\xfe", "not JSON"),
    (b"", "not JSON"),
    (b"[]", "not a host result: not a JSON object"),
    (broken(lambda r: r.update(schema=4)), "schema 4, this Hostproof reads schemas 1, 2 and 3"),
    (broken(lambda r: r.pop("outcome")), "missing outcome"),
    (broken(lambda r: r.update(extra=1)), "unknown extra"),
    (broken(lambda r: r.update(catalogue=None)), "catalogue is not a version"),
    (broken(lambda r: r.update(catalogue="0.2.0\n")), "catalogue is not a version"),
    (broken(lambda r: r.update(catalogue="1" * 65)), "catalogue is not a version"),
    (broken(lambda r: r.update(run="x")), "run is not {id, started, hosts}"),
    (broken(lambda r: r["run"].update(hosts=-1)), "run.hosts is not a count"),
    (broken(lambda r: r["run"].update(id="")), "run.id is not a text"),
    (broken(lambda r: r.update(host=7)), "host 7 is not the name of a host: letters, digits"),
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
    (broken(lambda r: r["findings"][0].update(status=[])), "unknown status []"),
    (broken(lambda r: r["findings"][0].update(severity={})), "unknown severity {}"),
    (broken(lambda r: r["findings"][0].update(takes_effect=[1])), "unknown takes_effect [1]"),
    (broken(lambda r: r["findings"][0].update(values=[])), "values is neither null nor"),
    (broken(lambda r: r["findings"][0].update(values={"a": [1]})), "values is neither null"),
    (broken(lambda r: r["findings"][0].update(evidence=[[]])), "evidence is not a list"),
    (broken(lambda r: r["findings"][0].update(running=7)), "finding 1: running is not a text"),
    (broken(lambda r: r.update(findings={"a": finding()})), "findings is not a list"),
    (broken(lambda r: r.update(evidence=7)), "evidence is not a text"),
    (broken(lambda r: r.update(outcome=[])), "unknown outcome []"),
    (broken(lambda r: r.update(schema=[])), "schema [], this Hostproof reads"),
    (broken(lambda r: r.update(schema=True)), "schema True, this Hostproof reads"),
    (broken(lambda r: r.update(at="2026-13-41T99:99:99Z")), "at is not an instant"),
    (broken(lambda r: r.update(recorded_at=7)), "recorded_at is not a text"),
    (broken(lambda r: r["run"].update(hosts=True)), "run.hosts is not a count"),
    (broken(lambda r: r["run"].update(hosts=10**30)), "run.hosts is not a count"),
    (broken(lambda r: r["run"].update(started="2026")), "run.started is not an instant"),
    (
        broken(lambda r: r.update(ansible_facts={"hostproof_strict": 1})),
        "unknown ansible_facts",
    ),
    (b'{"host": "db01", "findings": ' + b"[" * 100_000, "nested deeper than any result"),
    (b'{"findings": ' + b'{"host":' * 100_000 + b"1", "nested deeper than any result"),
    (b'{"findings": ' + b"[" * 300 + b"]" * 300 + b', "host": "db01"}', "schema None"),
    (b'{"host": "db01", "findings": ' + b"9" * 5000 + b"}", "not JSON"),
    (b'{"host": "db01", "at": NaN}', "NaN is not a JSON number"),
)
def test_anything_else_is_the_error_of_its_host_or_of_the_run(
    tmp_path, validate_line, line, message
):
    good = [json.dumps(make_line(f"db{number:02}", [finding()])).encode() for number in (0, 2)]
    bad = line if isinstance(line, bytes) else json.dumps(line).encode()
    path = tmp_path / "findings.jsonl"
    path.write_bytes(b"\n".join((good[0], bad, good[1], b"")))
    notes = []
    lines = read_lines([str(path)], notes)
    for entry in lines:
        validate_line(entry)
    assert [row["host"] for row in lines if row["host"] not in ("db01", RUN_HOST)] == [
        "db00",
        "db02",
    ]
    assert lines[1]["host"] == ("db01" if b'"host": "db01"' in bad else RUN_HOST)
    assert message in lines[1]["message"]
    assert lines[1]["message"].startswith(f"{path}, line 2: ")
    (note,) = notes
    assert note.startswith(f"{path}, line 2: unreadable result")
    assert message in note
    results = merge(lines, notes)
    states = {state.name: state for state in results.states}
    findings = states[lines[1]["host"]].findings
    assert {item["status"] for item in findings} == {"error"}
    assert (
        checks(states["db00"]) == checks(states["db02"]) == [("hugepages.pool_covers_sga", "fail")]
    )
    # Every form of the report can be made of it.
    rendered = render_folder(str(tmp_path), today=TODAY, known_checks=frozenset)
    assert rendered.exit_code == 2
    assert set(rendered.paths) == {"report.json", "report.xml", "report.prom", "report.html"}


def test_a_line_that_is_too_long_is_not_held_and_names_its_host(tmp_path, monkeypatch):
    monkeypatch.setattr(store.reading, "MOST_LINE", 10_000)
    long = make_line("db01", [finding(why='\\"host": "db02", [[{{' * 3000)])
    nameless = {"findings": "x" * 20_000, "host": ["db02"]}
    last = make_line("db03", [finding()], evidence="x" * 20_000)
    path = tmp_path / "findings.jsonl"
    lines = [make_line("db00", [finding()]), long, nameless, make_line("db02", []), last]
    path.write_text("\n".join(json.dumps(line, sort_keys=True) for line in lines))
    read = read_lines([str(path)])
    assert [line["host"] for line in read] == ["db00", "db01", RUN_HOST, "db02", "db03"]
    assert [line["outcome"] for line in read] == ["judged", "failed", "judged", "judged", "failed"]
    assert "bytes, and more than 10000 are not read" in read[1]["message"]
    assert checks(merge(read).hosts[1]) == [("host.audited", "error")]


def test_a_bad_line_replaces_what_was_known_and_a_later_judgement_replaces_it(tmp_path):
    bad = broken(lambda r: r.update(findings={}, at=at(2)))
    path = tmp_path / "findings.jsonl"
    before = make_line("db01", [finding(status="pass")], at=at(1))
    after = make_line("db01", [finding(status="warn")], at=at(3))
    for lines, status in (
        ([before, bad], "error"),
        ([bad, before], "error"),
        ([bad, after], "warn"),
    ):
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        (state,) = merge(read_lines([str(path)])).hosts
        assert {item["status"] for item in state.findings} == {status}


@cases("forged", "db00", "(run)", "", "x" * 2000, 7, None, ["db00"])
def test_a_bad_line_cannot_speak_for_the_run_or_for_nobody(tmp_path, forged):
    bad = broken(lambda r: r.update(findings={}, host=forged))
    path = tmp_path / "findings.jsonl"
    path.write_text(json.dumps(bad) + "\n")
    (line,) = read_lines([str(path)])
    assert line["host"] == ("db00" if forged == "db00" else RUN_HOST)
    assert checks(merge([line]).states[0])[0][1] == "error"


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
        statuses = sorted((item["check"], item["status"]) for item in state.findings)
        assert statuses == [
            ("latency.change", "fail"),
            ("latency.disk", "pass"),
            ("latency.gate", "fail"),
        ]
    better = finding(control="latency", check="latency.change", status="pass")
    again = make_line("db01", [better], at=at(3))
    (state,) = merge([compared, audited, again]).hosts
    assert {item["check"]: item["status"] for item in state.findings} == {
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


@cases("outcome", "failed", "judged")
def test_a_result_without_findings_is_an_error(outcome):
    (state,) = merge([make_line("db01", [], outcome=outcome)]).hosts
    assert checks(state) == [("host.audited", "error")]


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
    assert list(results.hosts) == []
    assert checks(results.about[0]) == [("run.hosts_matched", "error")]


def test_a_pseudo_host_of_the_run_gets_no_verdict_and_is_not_counted():
    item = finding(control="run", check="run.hosts_matched", status="error")
    results = merge([make_line(RUN_HOST, [item], run=run("a", hosts=0))])
    assert list(results.hosts) == []
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


def test_a_finding_about_a_waiver_that_is_history_does_not_stand_in_the_way():
    """What beside it still counts does."""
    about = finding(control="waiver", check="waiver.expired", status="warn")
    line = make_line("db01", [finding(), about], at=at(1))
    other = finding(control="latency", check="latency.disk", status="pass")
    (state,) = merge([line, make_line("db01", [other], at=at(2))]).hosts
    assert checks(state) == [("hugepages.pool_covers_sga", "fail"), ("latency.disk", "pass")]


def test_hosts_of_a_large_file_are_held_by_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr(store.reading, "HELD_BYTES", 0)
    folder = write_folder(tmp_path / "run", fleet(30))
    results = merge(store.read_entries([str(folder)]))
    assert results.hosts[3].findings == results.hosts[3].findings
    assert results.hosts[3].findings is not results.hosts[3].findings
    assert [entry._line for entry in results.entries] == [None] * 30


def test_hosts_of_a_small_file_are_decoded_once(tmp_path):
    folder = write_folder(tmp_path / "run", fleet(3))
    results = merge(store.read_entries([str(folder)]))
    assert results.hosts[1].findings[0] is results.hosts[1].findings[0]


def test_a_report_that_is_replaced_while_it_is_read_is_read_as_it_was(tmp_path):
    folder = write_folder(tmp_path / "run", fleet(5))
    results = merge(store.read_entries([str(folder)]))
    other = write_folder(tmp_path / "other", fleet(1))
    (other / "findings.jsonl").replace(folder / "findings.jsonl")
    assert [state.name for state in results.hosts] == [f"db{n:02d}" for n in range(1, 6)]


def test_a_report_that_is_written_over_while_it_is_read_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(store.reading, "HELD_BYTES", 0)
    folder = write_folder(tmp_path / "run", fleet(5))
    results = merge(store.read_entries([str(folder)]))
    (folder / "findings.jsonl").write_text("")
    with pytest.raises(HostproofError, match="was written over while it was read"):
        list(results.hosts)


def test_findings_about_waivers_of_an_older_line_are_history():
    old = make_line("db01", [finding(), finding(control="waiver", check="waiver.expired")])
    new = make_line("db01", [finding(status="pass")], at=at(59))
    assert checks(merge([old, new]).hosts[0]) == [("hugepages.pool_covers_sga", "pass")]


def test_a_line_of_schema_1_is_read_as_schema_3(tmp_path):
    old = make_line("db00", [finding()], schema=1)
    old.pop("recorded_at")
    for name in ("values", "commands", "because_of", "problem", "failing_layer"):
        old["findings"][0].pop(name)
    path = tmp_path / "findings.jsonl"
    path.write_text(json.dumps(old) + "\n")
    (line,) = read_lines([str(path)])
    assert line == make_line("db00", [finding()])


def test_a_line_of_schema_3_without_a_failing_layer_is_read(tmp_path):
    old = make_line("db00", [finding()])
    del old["findings"][0]["failing_layer"]
    wrong = make_line("db01", [finding(failing_layer="desired")])
    path = tmp_path / "findings.jsonl"
    path.write_text(json.dumps(old) + "\n" + json.dumps(wrong) + "\n")
    first, second = read_lines([str(path)])
    assert first == old
    assert "unknown failing_layer 'desired'" in json.dumps(second)


def test_old_ids_of_checks_and_controls_become_those_of_today(tmp_path):
    old = make_line(
        "db01",
        [
            finding(control="names", check="names.order", because_of=["names.own_name"]),
            finding(control="names", check="names.judged", status="error"),
            finding(because_of=["hugepages.one_owner"]),
        ],
    )
    path = tmp_path / "findings.jsonl"
    path.write_text(json.dumps(old) + "\n")
    (line,) = read_lines([str(path)])
    assert [(item["control"], item["check"], item["because_of"]) for item in line["findings"]] == [
        ("name_resolution", "name_resolution.search_order", ["name_resolution.hostname"]),
        ("name_resolution", "name_resolution.audited", []),
        ("hugepages", "hugepages.pool_covers_sga", ["hugepages.single_source"]),
    ]


def test_every_id_of_the_table_leads_to_a_check():
    ids = {check.id for control in CONTROLS.values() for check in control.checks}
    assert set(renamed.CHECKS.values()) - {"host.audited"} <= ids
    assert not set(renamed.CHECKS) & ids


def refused(**changes):
    item = finding(control="hugepages", check="hugepages.applied", status="fail")
    return make_line("db01", [item], run=run("apply"), **changes)


def test_what_an_apply_refused_stays_beside_what_the_same_run_verified():
    verified = make_line("db01", [finding(status="pass")], run=run("apply"), at=at(2))
    (state,) = merge([refused(at=at(1)), verified]).hosts
    assert checks(state) == [("hugepages.applied", "fail"), ("hugepages.pool_covers_sga", "pass")]


def test_what_an_apply_refused_is_history_when_another_run_judges_the_control():
    judged = make_line("db01", [finding(status="pass")], run=run("audit"), at=at(2))
    (state,) = merge([refused(at=at(1)), judged]).hosts
    assert checks(state) == [("hugepages.pool_covers_sga", "pass")]


def test_what_an_apply_refused_stays_when_another_run_judges_another_control():
    other = finding(control="latency", check="latency.disk", status="pass")
    judged = make_line("db01", [other], run=run("audit"), at=at(2))
    (state,) = merge([refused(at=at(1)), judged]).hosts
    assert checks(state) == [("hugepages.applied", "fail"), ("latency.disk", "pass")]


def test_the_same_refusal_again_stands_once():
    again = refused(at=at(2))
    again["run"] = run("later")
    (state,) = merge([refused(at=at(1)), again]).hosts
    assert checks(state) == [("hugepages.applied", "fail")]
    assert state.parts[0].line["run"]["id"] == "later"
