"""The playbooks' own decisions, as ansible-playbook carries them out."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from ansible.module_utils.hostproof.controls.registry import CONTROLS
from cases import cases

ROOT = Path(__file__).resolve().parents[2]


def play(reports: Path, playbook: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = Path(sys.executable).with_name("ansible-playbook")
    settings = {"ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "HOSTPROOF_REPORTS": str(reports)}
    return subprocess.run(
        # An audit watches the disks for nine seconds, which is nothing that these tests are about.
        [
            command,
            "-i",
            ROOT / "inventories/local",
            playbook,
            "-e",
            "hostproof_window_seconds=1",
            *options,
        ],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
    )


def judged(reports: Path) -> set[str]:
    """The controls that the one report has findings of."""
    (lines,) = reports.glob("*/findings.jsonl")
    results = [json.loads(line) for line in lines.read_text().splitlines()]
    return {finding["control"] for result in results for finding in result["findings"]}


#: Without a check of a site there is nothing that custom could judge.
JUDGING = sorted(set(CONTROLS) - {"custom"})
#: Sets of controls, each control in others of them than any other: a tag that chooses another
#: control, none or all of them shows in one of so few runs.
CHOICES = [
    [name for number, name in enumerate(JUDGING, 1) if number >> bit & 1]
    for bit in range(len(JUDGING).bit_length())
]


#: Choices after the first. Both playbooks run the same task.
LATER = [pytest.mark.one_core, pytest.mark.long]


# That tags choose is Ansible's, and the first set shows it; which role has which tag is ours.
@cases(
    "playbook chosen",
    ("audit", CHOICES[0]),
    ("verify", CHOICES[0]),
    *(pytest.param("verify", choice, marks=LATER) for choice in CHOICES[1:]),
    ids=lambda value: value if isinstance(value, str) else str(len(value)),
)
def test_tags_choose_controls(tmp_path, playbook, chosen):
    play(tmp_path, ROOT / "playbooks" / f"{playbook}.yml", "--tags", ",".join(chosen))
    assert judged(tmp_path) == set(chosen)
    assert list(tmp_path.glob("*/report.html"))


def test_tags_that_name_no_control_judge_nothing(tmp_path):
    done = play(tmp_path, ROOT / "playbooks/audit.yml", "--tags", "nosuch")
    assert done.returncode == 2
    (report,) = tmp_path.glob("*/report.json")
    assert json.loads(report.read_text())["exit_code"] == 3


def test_a_control_that_fails_does_not_keep_the_next_from_being_judged(tmp_path):
    failing = json.dumps({"hugepages_instances": [{"sid": "HUGE", "sga": "64T"}]})
    play(tmp_path, ROOT / "playbooks/verify.yml", "-e", failing)
    assert judged(tmp_path) == set(JUDGING)
    (report,) = tmp_path.glob("*/report.json")
    assert json.loads(report.read_text())["exit_code"] == 2


@cases("become escalates", ("true", True), ("false", False), ids=["root", "no root"])
def test_what_was_applied_as_root_is_verified_as_root(tmp_path, become, escalates):
    """Other accounts' memory maps need that. A become method that is not there tells who asks."""
    verify = yaml.safe_load((ROOT / "playbooks/apply.yml").read_text())[1]
    verify["ansible.builtin.import_playbook"] = str(ROOT / "playbooks/verify.yml")
    (tmp_path / "verify.yml").write_text(yaml.safe_dump([verify]))
    options = ("--become-method=nosuch", "-e", f"hostproof_become={become}")
    done = play(tmp_path, tmp_path / "verify.yml", *options)
    assert done.returncode in (0, 2)
    (report,) = tmp_path.glob("*/report.json")
    assert ("host.audited" in report.read_text()) == escalates
    # 2.16 and later name the same fault in other words. The printed commands repeat the option.
    output = (done.stdout + done.stderr).replace("--become-method nosuch", "")
    assert ("become" in output and "nosuch" in output) == escalates


def test_a_value_that_is_none_is_one_sentence_and_no_verdict(tmp_path):
    done = play(tmp_path, ROOT / "playbooks/verify.yml", "-e", "hugepages_activation=someday")
    message = "hugepages_activation must be one of auto, now, reboot, not 'someday'"
    assert message in " ".join(done.stdout.split())
    assert len(done.stdout) < 3000
    (report,) = tmp_path.glob("*/report.json")
    assert json.loads(report.read_text())["exit_code"] == 3
    assert message in report.read_text()
