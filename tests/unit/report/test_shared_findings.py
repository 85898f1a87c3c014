"""Equal findings of several hosts are one object, and every form of the report is the same."""

import json

from cases import cases
from hostproof_controller.report import store
from hostproof_controller.report.shared_findings import SharedFinding, SharedFindings, once
from hostproof_controller.report.store import merge
from report_samples import finding, fleet, make_line, write_folder
from whole_reports import (
    read_lines,
    render_document,
    render_html,
    render_junit,
    render_prometheus,
    render_summary,
)

NOW = "2026-11-21T04:00:00Z"


def as_read(folder, lines):
    return merge(store.read_entries([str(write_folder(folder, lines))]))


def as_written(lines):
    return json.loads(json.dumps(lines, sort_keys=True))


def hosts_with_equal_findings():
    """Three copies of a fleet, and a host with two equal findings."""
    lines = fleet(12, 30, evidence=True)
    for copied in (1, 2):
        for line in fleet(12, 30, evidence=True):
            lines.append({**line, "host": f"{line['host']}-{copied}"})
    lines.append(make_line("twice", [finding(), finding(), finding(status="warn")]))
    lines.append(make_line("again", [finding(), finding()]))
    for line in lines:
        line["run"] = {**line["run"], "hosts": len(lines)}
    return lines


@cases("held", True, False)
def test_every_form_is_the_same_as_without_sharing(tmp_path, monkeypatch, held):
    lines = hosts_with_equal_findings()
    if not held:
        monkeypatch.setattr(store.reading, "HELD_BYTES", 0)
    shared, plain = as_read(tmp_path / "run", lines), merge(as_written(lines))
    findings = [entry for state in shared.hosts for entry in state.findings]
    kinds = [isinstance(entry, SharedFinding) for entry in findings]
    assert sum(kinds) > 0.9 * len(kinds)
    assert not any(isinstance(entry, SharedFinding) for s in plain.hosts for entry in s.findings)
    assert render_document(shared, NOW) == render_document(plain, NOW)
    assert render_junit(shared) == render_junit(plain)
    assert render_prometheus(shared, NOW) == render_prometheus(plain, NOW)
    assert render_summary(shared) == render_summary(plain)
    assert render_html(shared, NOW) == render_html(plain, NOW)


def test_hosts_share_equal_findings_and_one_host_has_none_twice(tmp_path):
    twice = [finding(), finding()]
    read = read_lines([str(write_folder(tmp_path / "run", [*lines_of(twice, 3)]))])
    firsts = [line["findings"][0] for line in read]
    assert firsts[0] is firsts[1] is firsts[2]
    for line in read:
        assert line["findings"][0] is not line["findings"][1]
        assert line["findings"] == twice


def lines_of(findings, count):
    return [make_line(f"db{number}", findings) for number in range(count)]


@cases("others", ({"n": 1}, {"n": 1.0}), ({"n": 1}, {"n": True}), ({"n": 0.0}, {"n": -0.0}))
def test_numbers_that_are_written_in_another_way_are_not_shared(tmp_path, others):
    lines = [
        make_line(f"db{number}", [finding(values=values)]) for number, values in enumerate(others)
    ]
    read = read_lines([str(write_folder(tmp_path / "run", lines))])
    assert [json.dumps(line["findings"][0]["values"]) for line in read] == [
        *map(json.dumps, others)
    ]


def test_a_finding_that_is_no_finding_is_refused_beside_known_ones(tmp_path):
    lines = [
        make_line("db1", [finding()]),
        make_line("db2", [finding(), finding(status="good")]),
        # The finding is known, but not one of schema 1.
        make_line("db3", [finding()], schema=1),
    ]
    del lines[2]["recorded_at"]
    notes = []
    read = read_lines([str(write_folder(tmp_path / "run", lines))], notes)
    assert [line["outcome"] for line in read] == ["judged", "failed", "failed"]
    assert "finding 2: unknown status 'good'" in notes[0]
    assert "finding 1: unknown" in notes[1]


def test_findings_that_are_nested_too_deeply_are_refused(tmp_path):
    deep = "[" * 3000 + "]" * 3000
    lines = [json.dumps(make_line(f"db{n}", [finding()])) for n in (1, 2)]
    lines[1] = lines[1].replace('"values": null', f'"values": {deep}')
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "findings.jsonl").write_text("\n".join(lines) + "\n")
    notes = []
    read = read_lines([str(folder)], notes)
    assert [line["outcome"] for line in read] == ["judged", "failed"] and len(notes) == 1


CUT = '}, {"because_of": '


@cases(
    "old new",
    ('"why": "', '"why": "' + json.dumps(CUT)[1:-1]),
    ('"why": "', '"why": "' + CUT),
    ('"values": null', '"values": [{"because_of": 1}, {"because_of": 2}]'),
    ('"values": null', '"values": {"a": [{"because_of": []}], "b": 1}'),
    ('"evidence": null', '"evidence": "}], "'),
    ('"evidence": null', '"evidence": "}], \\"", "findings\\"": []'),
    ('"findings": ', '"x\\"findings": '),
    ('"findings": ', '"findings":'),
    ('"findings": ', '"findings": [], "findings": '),
    ('"findings": [', '"run": {"findings": ['),
    ('"schema": 3', '"findings": [], "schema": 3'),
    ('"schema": 3', '"schema": 2'),
    ('"host": ', '"zone": [{"a": [{}], "host": '),
    ('], "host"', ', {"because_of": []}], "host"'),
    ('], "host"', ', {}], "host"'),
    ('], "host"', ', NaN], "host"'),
    ('{"at"', '[{"at"'),
    ('{"at"', ' {"at"'),
)
def test_a_line_of_any_layout_is_read_as_json_has_it(old, new):
    """The first line makes the findings known; the second is hostile."""
    line = make_line("db1", [finding(), finding(why="other"), finding()])
    good = json.dumps(line, sort_keys=True)
    changed = good.replace(old, new, 1)
    assert changed != good
    pool = SharedFindings()
    known, texts = pool.loads(good.encode())
    assert known == line and pool.add(known["findings"], texts)[0] == line["findings"][0]
    for raw in (good, changed, changed + "}", changed + "]}]"):
        try:
            expected = json.loads(raw)
        except ValueError:
            expected = None
        try:
            decoded = pool.loads(raw.encode())[0]
        except ValueError:
            decoded = None
        # NaN is no JSON.
        assert decoded == (None if "NaN" in raw else expected)


@cases("end", "", "\n")
def test_a_bad_finding_before_a_deep_rest_is_told_as_before(tmp_path, end):
    line = '{"findings": [{"because_of": [broken}], "host": "db01", "x": ' + "[" * 100_000 + end
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "findings.jsonl").write_text(line)
    notes = []
    read_lines([str(folder)], notes)
    assert ("not JSON (Expecting value" in notes[0]) == bool(end)
    assert ("is truncated" in notes[0]) != bool(end)


def test_only_so_many_findings_are_kept(monkeypatch):
    monkeypatch.setattr("hostproof_controller.report.shared_findings._MOST_SHARED", 2)
    pool = SharedFindings()
    kept = pool.add([finding(why=f"reason {number}") for number in range(3)], [b"1", b"2", b"3"])
    assert [isinstance(entry, SharedFinding) for entry in kept] == [True, True, False]
    long = finding(why="x" * 10_000)
    assert not isinstance(SharedFindings().add([long], [b"x" * 10_000])[0], SharedFinding)


def test_an_answer_about_a_shared_finding_is_computed_once():
    seen = []

    @once
    def check_of(entry):
        seen.append(entry)
        return entry["check"]

    shared, plain = SharedFinding(finding()), finding()
    assert {check_of(shared), check_of(shared), check_of(plain), check_of(plain)} == {
        plain["check"]
    }
    assert len(seen) == 3
