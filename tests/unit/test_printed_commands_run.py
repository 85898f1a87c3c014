"""Run each command that a finding of an example prints.

The command must change the finding, or be rejected with a reason. A plan is applied to the recorded
readings, because a test must not change its host.
"""

import copy
import shlex
from typing import Any

import example_packs
import pytest
from ansible.module_utils.hostproof.apply.change import CommandChange, FileChange, ValueChange
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.registry import CONTROLS
from ansible.module_utils.hostproof.evaluate.advice import apply_line
from hostproof_controller.cli import command
from hostproof_controller.report.store import merge, read_entries

PACKS = sorted(example_packs.FOLDER.glob("*.json"))


def write(readings: dict[str, Any], path: str, text: str | None) -> None:
    """A file of the host, and its name in its directory."""
    at = "2026-11-21T03:40:00Z"
    key = f"file:{path}"
    if text is None:
        readings[key] = {"at": at, "kind": "file", "error": "absent", "message": f"{key}: absent"}
    else:
        readings[key] = {"at": at, "kind": "file", "text": text}
    parent, _, name = path.rpartition("/")
    folder = readings.get(f"dir:{parent}", {})
    if "names" in folder:
        names = {*folder["names"], name} if text is not None else {*folder["names"]} - {name}
        folder["names"] = sorted(names)
        readings[f"link:{path}"] = {"at": at, "kind": "link", "target": path}
    readings.setdefault(
        f"stat:{path}",
        {
            "at": at,
            "kind": "stat",
            "stat": {"gid": 0, "mode": 420, "mtime": 0.0, "size": 0, "uid": 0},
        },
    )


def judged(control: str, readings: dict[str, Any], recorded_at: Any) -> Any:
    definition = CONTROLS[control]
    policy = definition.policy_from(example_packs.policies()[control])
    facts = definition.read(RecordedHost(readings, recorded_at), policy)
    return definition.judge(facts, policy), definition.plan, (facts, policy)


@pytest.mark.parametrize("path", PACKS, ids=lambda path: path.stem)
def test_a_printed_apply_changes_what_the_finding_says(path):
    original, recorded_at = evidence.open_pack(str(path))
    for control in example_packs.policies():
        findings, plan, arguments = judged(control, original, recorded_at)
        advised = [finding for finding in findings if apply_line(control) in finding.commands]
        if not advised:
            continue
        changes = plan(*arguments).changes
        assert changes, (control, "the printed command would change nothing")
        readings = copy.deepcopy(original)
        for change in changes:
            if isinstance(change, FileChange):
                write(readings, change.path, change.content)
            elif isinstance(change, ValueChange):
                write(readings, change.path, change.value + "\n")
        if all(isinstance(change, CommandChange) for change in changes):
            # The state is behind a program, which the plan runs: "before" is what it replaces.
            assert all(change.make and change.before != change.after for change in changes)
            continue
        after, _plan, _arguments = judged(control, readings, recorded_at)
        for finding in advised:
            assert finding not in after, (control, finding.title)


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Commands of ./hostproof in the report of the examples."""
    reports = tmp_path_factory.mktemp("printed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOSTPROOF_REPORTS", str(reports))
        evidence_of = ["--evidence", str(example_packs.FOLDER), "--quiet"]
        command.main(["audit", *evidence_of, "--tags", "hugepages,time_sync"])
    (folder,) = reports.iterdir()
    results = merge(read_entries([str(folder)], []), [])
    return {
        line
        for state in results.hosts
        for finding in state.findings
        for line in finding["commands"]
        if line.startswith("./hostproof ")
    }


def test_a_printed_command_for_a_host_that_is_not_in_the_inventory_is_rejected(printed, capfd):
    """Each names its host, so that it never acts on another one."""
    assert {line.split()[1] for line in printed} >= {"apply"}
    assert all(" --limit " in line for line in printed)
    by_verb = {line.split()[1]: line for line in sorted(printed)}
    for line in by_verb.values():
        words = shlex.split(line)[1:]
        assert command.main([*words, "-i", "localhost,"]) == 1
        assert f"no host or group of the inventory is {words[-1]!r}" in capfd.readouterr().err
