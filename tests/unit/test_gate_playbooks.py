"""The gate from its playbooks to its ledger and report.

The hosts are this machine under other names; gate_runs.py says what is real. A run takes some
seconds, so that several tests look at the same one.
"""

import json
from pathlib import Path

import pytest
from cases import cases
from gate_runs import Fleet, Played

GATE_CHECK = "latency.gate"


@pytest.fixture(scope="module")
def kept_run(tmp_path_factory) -> tuple[Fleet, Played]:
    fleet = Fleet(tmp_path_factory.mktemp("kept"), hosts=3, controls=1)
    for name in fleet.names[1:]:
        fleet.set(name, new_delay="0.0001")  # a change that costs nothing
    # One of them is a change of the MTU.
    Path(fleet.variables["db03"]["delay_file"]).write_text("0 1500")
    fleet.set("db03", new_delay="0.0001 9000")
    options = (
        "-e",
        "latency_gate_unchanged_hosts=controls",
        "-e",
        '{"latency_gate_serial": [1, 2]}',
    )
    return fleet, fleet.play("run", "gate", *options)


@pytest.mark.two_cores
class TestKept:
    def test_every_batch_is_kept_and_nothing_failed(self, kept_run):
        _, played = kept_run
        assert played.states() == ["kept", "kept"], played.output
        assert (played.code, played.exit_code) == (0, 0), played.output
        assert played.statuses(GATE_CHECK) == dict.fromkeys(kept_run[0].names, "pass")

    def test_another_path_is_said_before_the_verdict_and_keeps_nothing_from_being_kept(
        self, kept_run
    ):
        _, played = kept_run
        remark = "another path than before (MTU: 1500 before, 9000 after)"
        lines = played.output.splitlines()
        at = lines.index(f"db03: tcp 198.51.100.1:7003: {remark}")
        assert lines[at + 1] == "batch 2 was kept"
        remarks = [
            (line["host"], finding["running"])
            for line in played.lines()
            for finding in line["findings"]
            if "another path" in (finding["running"] or "")
        ]
        assert [host for host, _ in remarks] == ["db03"]
        assert remarks[0][1].startswith(f"{remark}; p50 ")

    def test_controls_are_measured_and_never_changed(self, kept_run):
        fleet, played = kept_run
        assert not fleet.open_applies("ctl01")
        for batch in (1, 2):
            for side in ("before", "after"):
                assert (played.folder / f"batch-{batch}/{side}/ctl01.json").exists()
        assert played.statuses("latency.change")["ctl01"] == "pass"

    def test_hosts_of_other_batches_serve_where_controls_are_few(self, kept_run):
        _, played = kept_run
        before = {path.stem for path in (played.folder / "batch-1/before").iterdir()}
        assert before == {"db01", "ctl01", "db02", "db03"}

    def test_what_was_changed_is_verified_and_controls_are_not(self, kept_run):
        fleet, played = kept_run
        for name in fleet.names:
            assert f"verified {name}" in played.output
        assert "verified ctl01" not in played.output

    def test_a_host_on_which_nothing_was_changed_is_said_to_be_one(self, kept_run):
        _, played = kept_run
        texts = {
            line["host"]: finding["running"]
            for line in played.lines()
            for finding in line["findings"]
            if finding["check"] == GATE_CHECK
        }
        assert "nothing was changed on this host" in texts["db01"]
        assert "nothing was changed" not in texts["db02"]

    def test_a_host_that_stands_beside_a_batch_keeps_what_its_own_said(self, kept_run):
        _, played = kept_run
        assert (played.folder / "batch-2/after/db01.json").exists()
        assert played.statuses("latency.change")["db01"] == "pass"

    def test_lines_are_as_the_schema_says(self, kept_run, validate_line):
        for line in kept_run[1].lines():
            validate_line(line)


@pytest.fixture(scope="module")
def held_run(tmp_path_factory) -> tuple[Fleet, Played]:
    fleet = Fleet(tmp_path_factory.mktemp("held"), hosts=3)
    for name in fleet.names:
        fleet.set(name, new_delay="5")
    return fleet, fleet.play("run", "gate")


@pytest.mark.long
class TestHeld:
    def test_the_first_batch_is_held_and_no_other_ever_began(self, held_run):
        fleet, played = held_run
        assert played.states() == ["held", "planned", "planned"], played.output
        assert [fleet.delay(name) for name in fleet.names] == ["5", "0", "0"]
        assert not (played.folder / "batch-2").exists()

    def test_the_report_fails_and_offers_revert(self, held_run):
        _, played = held_run
        assert played.exit_code == 2
        statuses = played.statuses(GATE_CHECK)
        assert statuses == {"db01": "fail", "db02": "error", "db03": "error"}
        assert f"./hostproof revert --gate {played.folder}" in played.output

    def test_nothing_is_verified(self, held_run):
        assert "verified" not in held_run[1].output

    @pytest.mark.two_cores
    def test_a_new_gate_refuses_what_is_held(self, held_run):
        """It would take its baseline of the change that was held, and find it no worse."""
        fleet, _ = held_run
        again = fleet.play("second", "gate", "--limit", "db01")
        assert again.states() == ["stopped"]
        assert "still has what gate run changed" in again.reasons()
        assert again.exit_code != 0

    @pytest.mark.two_cores
    def test_it_is_accepted_by_name(self, held_run):
        fleet, _ = held_run
        again = fleet.play(
            "third", "gate", "--limit", "db01", "-e", "latency_gate_accept=run,second"
        )
        assert again.states() == ["kept"], again.output

    @pytest.mark.two_cores
    def test_a_later_apply_does_not_go_unasked(self, held_run):
        fleet, played = held_run
        fleet.applied_before("db01", "7")
        undo = ("revert_gate", "-e", f"hostproof_gate={played.folder}")
        refused = fleet.play("refused", *undo)
        assert refused.code != 0
        assert "came after" in refused.output
        assert (fleet.delay("db01"), played.states()[0]) == ("7", "held")
        assert len(fleet.open_applies("db01")) == 2

    def test_revert_puts_it_back_and_notes_that(self, held_run):
        fleet, played = held_run
        options = ("-e", f"hostproof_gate={played.folder}", "-e", "latency_gate_revert_later=true")
        done = fleet.play("undo", "revert_gate", *options)
        assert done.code == 0, done.output
        assert "not reverted" not in played.reasons()
        assert fleet.delay("db01") == "0"
        assert not fleet.open_applies("db01")
        assert played.states()[0] == "reverted"


@pytest.fixture(scope="module")
def reverted_run(tmp_path_factory) -> tuple[Fleet, Played]:
    fleet = Fleet(tmp_path_factory.mktemp("reverted"), hosts=4)
    # An apply of last month, which is none of the gate's business.
    fleet.applied_before("db01", "0.0002")
    fleet.set("db01", new_delay="5")
    fleet.set("db02", new_delay="0.0002")
    options = ("-e", "latency_gate_action=revert", "-e", "latency_gate_serial=2")
    return fleet, fleet.play("run", "gate", *options)


@pytest.mark.long
@pytest.mark.two_cores
class TestPutBack:
    def test_the_whole_batch_is_put_back_as_it_was_before_the_gate(self, reverted_run):
        fleet, played = reverted_run
        assert played.states() == ["reverted", "planned"], played.output
        assert [fleet.delay(name) for name in fleet.names] == ["0.0002", "0", "0", "0"]

    def test_what_was_applied_before_stays_in_the_journal(self, reverted_run):
        fleet, _ = reverted_run
        assert len(fleet.open_applies("db01")) == 1
        assert not fleet.open_applies("db02")

    def test_it_is_measured_once_more_and_told(self, reverted_run):
        _, played = reverted_run
        assert (played.folder / "batch-1/reverted/db01.json").exists()
        assert played.exit_code == 2
        text = (played.report / "findings.jsonl").read_text()
        assert "reverted, and its change journal shows nothing of it any more" in text
        assert played.statuses(GATE_CHECK)["db02"] == "fail"

    def test_the_reports_tell_the_end_alone(self, reverted_run):
        """findings.jsonl is a log and keeps that it was held; a reader of the reports sees a host
        once, as it is in the end."""
        _, played = reverted_run
        held, put_back = "held: changed, and not kept", "reverted, and its change journal"
        assert (played.report / "findings.jsonl").read_text().count(held) == 2
        for name in ("report.json", "report.xml", "report.html"):
            text = (played.report / name).read_text()
            assert held not in text, name
            assert put_back in text, name
        document = json.loads((played.report / "report.json").read_text())
        gates = [
            finding["host"] for finding in document["findings"] if finding["check"] == GATE_CHECK
        ]
        assert sorted(gates) == ["db01", "db02", "db03", "db04"]
        metrics = (played.report / "report.prom").read_text().splitlines()
        mine = [line for line in metrics if 'host="db01"' in line and f'"{GATE_CHECK}"' in line]
        assert len(mine) == 1
        assert mine[0].endswith(" 1")


class TestCheckMode:
    @pytest.mark.long
    @pytest.mark.two_cores
    def test_it_tells_the_batches_and_the_plan_and_measures_nothing(self, tmp_path):
        fleet = Fleet(tmp_path, 3, 2)
        fleet.set("db01", new_delay="5")
        # Each pattern is split by itself, which one pattern of them all would not be.
        patterns = json.dumps({"latency_gate_unchanged_hosts": ["db03", "controls:!ctl02"]})
        played = fleet.play("run", "gate", "--check", "-e", patterns)
        assert played.code == 0, played.output
        assert "unchanged hosts: db03, ctl01" in played.output
        assert "batch 3 of 3: db02" in played.output
        assert "changed: [db01]" in played.output
        assert not played.folder.exists()
        assert not played.report.exists()
        assert fleet.delay("db01") == "0"

    @pytest.mark.one_core
    @cases("pattern", "ctl01,contorls", ["ctl01", "contorls"])
    def test_a_pattern_of_controls_that_matches_none_is_refused(self, tmp_path, pattern):
        """Whoever mistypes it must not see the hosts changed that shall never be."""
        fleet = Fleet(tmp_path, 2, 1)
        played = fleet.play(
            "run", "gate", "-e", json.dumps({"latency_gate_unchanged_hosts": pattern})
        )
        assert "latency_gate_unchanged_hosts matches no host of the inventory" in played.output
        assert played.code != 0
        assert not played.folder.exists()
        assert not fleet.open_applies("ctl01")
