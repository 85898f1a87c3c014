"""What a gate that was cut short says of the hosts that it never judged."""

import datetime
import json
from pathlib import Path

import pytest
from hostproof_controller.gate import gating, unjudged
from hostproof_controller.report.render import render_folder


@pytest.fixture
def gate(tmp_path) -> gating.Ledger:
    planned = gating.plan(["db01", "db02", "db03"], [], 1)
    return gating.create(str(tmp_path / "gate"), planned, "2026-11-21T18:00:00Z")


def told(gate: gating.Ledger, report: Path) -> dict[str, dict]:
    assert unjudged.main([gate.folder, str(report)]) == 0
    lines = [json.loads(line) for line in (report / "findings.jsonl").read_text().splitlines()]
    return {line["host"]: line for line in lines}


def test_a_batch_in_the_middle_of_its_change_fails_and_those_after_it_are_not_known(
    gate, tmp_path, validate_line
):
    gate.batch(1)["state"] = gating.KEPT
    gate.move(2, gating.CHANGING)
    lines = told(gate, tmp_path / "report")
    assert {host: line["findings"][0]["status"] for host, line in lines.items()} == {
        "db02": "fail",
        "db03": "error",
    }
    for line in lines.values():
        validate_line(line)
    assert "./hostproof revert --gate" in lines["db02"]["findings"][0]["fix"]


def test_a_gate_that_never_began_is_no_pass(gate, tmp_path):
    told(gate, tmp_path / "report")
    rendered = render_folder(
        str(tmp_path / "report"), today=datetime.date(2026, 11, 21), known_checks=frozenset
    )
    assert rendered.exit_code == 3


def test_what_was_judged_already_is_not_told_again(gate, tmp_path):
    for number, state in ((1, gating.KEPT), (2, gating.HELD), (3, gating.REVERTED)):
        gate.move(number, state)
    assert told(gate, tmp_path / "report") == {}


def test_a_ledger_that_cannot_be_read_is_said(gate, tmp_path, capsys):
    (Path(gate.folder) / gating.LEDGER).write_text("{")
    assert unjudged.main([gate.folder, str(tmp_path / "report")]) == 1
    assert "gate.json" in capsys.readouterr().err
