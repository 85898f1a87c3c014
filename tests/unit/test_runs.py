"""What a run writes for its own later tasks."""

import json

import pytest
from ansible.module_utils.hostproof import VERSION
from hostproof_controller import runs


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOSTPROOF_REPORT", str(tmp_path / "run"))
    monkeypatch.setenv("HOSTPROOF_STARTED", "2026-11-21T03:15:00Z")
    return tmp_path / "run"


def test_hosts_with_a_line_of_this_run_are_known_whatever_they_said(folder):
    text = '], "host": "other", "message": null, "outcome": "judged"'
    finding = {"check": "a.b", "values": {"host": 1, "list": [{"a": [1], "host": "nobody"}]}}
    runs.write_result("db01", 9, "judged", None, [finding, finding])
    runs.write_result("db02", 9, "failed", text, [])
    runs.write_result(text, 9, "unreachable", None, [])
    lines = (folder / "findings.jsonl").read_text().splitlines()
    other = json.loads(lines[0].replace("db01", "db04"))
    more = [
        # Of another run, one that was cut, and one that another program wrote.
        lines[0].replace("db01", "db03").replace('"id": "run"', '"id": "another"'),
        lines[0][:-20].replace("db01", "db05"),
        json.dumps(dict(reversed(other.items())), separators=(",", ":")),
    ]
    with (folder / "findings.jsonl").open("a") as stream:
        stream.write("\n".join(more) + "\n")
    assert runs.results_of_this_run() == {"db01", "db02", text, "db04"}


def test_a_line_has_the_version_of_the_checks_that_judged(folder, validate_line):
    runs.write_result("db01", 1, "failed", "no answer", [])
    line = json.loads((folder / "findings.jsonl").read_text())
    validate_line(line)
    assert line["catalogue"] == VERSION
