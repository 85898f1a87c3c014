"""What every unit test may use: the helpers beside this file, and the published schema."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hostproof_controller.commands import is_from_host, is_own

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).resolve().parent
SCHEMA = json.loads((ROOT / "docs/finding.schema.json").read_text())


#: Files, classes and tests that only --all runs, with their CPU seconds. They are marked "long". A
#: shorter test of the same kind stays: of the gate, of a play, of a fork at each step.
LONG = {
    "controls/test_hugepages_unknowns.py": 40,
    "controls/test_lost_answers.py": 30,
    "controls/test_nfs_mounts_unknowns.py": 33,
    "controls/test_thresholds.py": 53,
    "latency/test_altered_reports.py": 12,
    "probes/test_storage_agent.py::TestHostNames": 8,
    "test_aix_attributes.py::TestBoth": 15,
    "test_apply_refused.py": 39,
    "test_audit_run.py::TestHostsThatDoNotAnswer": 5,
    "test_audit_run.py::TestLimit": 5,
    "test_audit_run.py::TestRecord": 7,
    "test_audit_run.py::TestThisMachine::test_its_evidence_judged_again_gives_the_same_findings": 5,
    "test_audit_run.py::TestWrongUse": 9,
    "test_bad_policies.py::test_a_sound_one_is_judged_beside_them": 8,
    "test_cache.py": 8,
    "test_completion.py": 13,
    "test_fuzz.py::test_what_was_found_stays_repaired": 8,
    "test_gate_playbooks.py::TestKept": 17,
    "test_journal_and_apply.py::TestCrash": 5,
    "test_knowing_less.py::test_no_check_improves_by_knowing_less[db02": 6,
    "test_knowing_less.py::test_no_check_improves_by_knowing_less[db03": 4,
    "test_knowing_less.py::test_no_check_improves_by_knowing_less[db04": 4,
    "test_knowing_less.py::test_no_check_improves_by_knowing_less[db05": 5,
    "test_kept_lines.py::test_the_parser_returns_the_same_for_any_text": 9,
    "test_latency_modules.py": 13,
    "test_latency_report.py": 10,
    "test_lines.py": 4,
    "test_listener_standin.py": 10,
    "test_matrix_touching.py": 5,
    "test_modules_page.py": 7,
    "test_mount_changes.py::TestCrash": 22,
    "test_payload.py::test_every_python_answers_the_same": 9,
    "test_payload.py::test_stripped_is_the_same_program_on_the_same_lines": 16,
    "test_payload.py::test_what_a_module_uses_of_another_is_still_there": 13,
    "test_payload_tasks.py": 11,
    "test_playbooks.py::test_tags_choose_controls": 6,
    "test_policy_entries.py": 13,
    "test_progress.py::test_nothing_that_a_terminal_obeys_is_shown": 11,
    "test_slices.py": 12,
    "test_starting.py::test_an_audit_accepts_it": 4,
    "test_targets.py::test_an_evidence_pack_is_judged_for_the_target": 4,
}


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The children that os.fork makes in the test: other tests of this process leave theirs, which
    live as long as a host that nobody has collected yet."""
    children: list[int] = []
    fork = os.fork

    def noted() -> int:
        child = fork()
        if child:
            children.append(child)
        return child

    monkeypatch.setattr(os, "fork", noted)
    return children


def validate_by(definition: str) -> Callable[[Any], None]:
    """A function that raises unless a value is as the definition of the schema says.

    Many tests get the same finding. A value that passed is not validated again: that took half of
    the time of tests that judge a host.
    """
    validator = jsonschema.Draft202012Validator(
        {"$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{definition}"}
    )
    valid: set[str] = set()

    def validate(value: Any) -> None:
        # repr tells a tuple from a list and 1 from "1"; JSON does not.
        text = repr(value)
        if text not in valid:
            validator.validate(value)
            valid.add(text)

    return validate


@pytest.fixture(scope="session")
def validate_finding() -> Callable[[Any], None]:
    """Raises unless a finding (as a dictionary) is what docs/finding.schema.json says."""
    validate = validate_by("finding")

    def validate_with_commands(value: Any) -> None:
        validate(value)
        # The controller drops a command that it does not know. Checks of users have their own.
        if value["control"] != "custom":
            for line in value["commands"]:
                assert is_from_host(line) or is_own(line), f"no form of commands.py is {line}"

    return validate_with_commands


@pytest.fixture(scope="session")
def validate_line() -> Callable[[Any], None]:
    """Raises unless a line of findings.jsonl (as a dictionary) is what the schema says."""
    return validate_by("host_result")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file of which no test would run is not read: to read all of them takes half a minute."""
    whole = collection_path.is_relative_to(FOLDER) and (
        collection_path.relative_to(FOLDER).as_posix() in LONG
    )
    return True if whole and config.getoption("markexpr") == "not long" else None


# Before pytest's own, which selects by marks.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files of this folder come first: their plays wait, and at the end nothing else would
    run meanwhile."""
    for item in items:
        if item.path.is_relative_to(FOLDER):
            _, _, inside = item.nodeid.partition("::")
            name = f"{item.path.relative_to(FOLDER).as_posix()}::{inside}"
            if any(name.startswith(start) for start in LONG):
                item.add_marker(pytest.mark.long)
    items.sort(key=lambda item: item.path.parent != FOLDER)
