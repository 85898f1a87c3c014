"""The playbooks' own decisions, as ansible-playbook carries them out."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


def play(reports: Path, playbook: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = Path(sys.executable).with_name("ansible-playbook")
    settings = {"ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "HOSTPROOF_REPORTS": str(reports)}
    return subprocess.run(
        [command, "-i", ROOT / "inventories/local", playbook, *options],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("become", "escalates"), [("true", True), ("false", False)], ids=["root", "no root"]
)
def test_what_was_applied_as_root_is_verified_as_root(tmp_path, become, escalates):
    """Other accounts' memory maps need that. A become method that is not there tells who asks."""
    verify = yaml.safe_load((ROOT / "playbooks/apply.yml").read_text())[1]
    verify["ansible.builtin.import_playbook"] = str(ROOT / "playbooks/verify.yml")
    (tmp_path / "verify.yml").write_text(yaml.safe_dump([verify]))
    options = ("--become-method=nosuch", "-e", f"hostproof_become={become}")
    done = play(tmp_path, tmp_path / "verify.yml", *options)
    assert ("Invalid become method" in done.stdout + done.stderr) == escalates
    (report,) = tmp_path.glob("*/report.json")
    assert ("host.judged" in report.read_text()) == escalates


def test_a_value_that_is_none_is_one_sentence_and_no_verdict(tmp_path):
    done = subprocess.run(
        [
            Path(sys.executable).with_name("ansible-playbook"),
            *("-i", ROOT / "inventories/local", "-e", "hugepages_activation=someday"),
            ROOT / "playbooks/verify.yml",
        ],
        env=dict(
            os.environ, ANSIBLE_CONFIG=str(ROOT / "ansible.cfg"), HOSTPROOF_REPORTS=str(tmp_path)
        ),
        capture_output=True,
        text=True,
    )
    said = "hugepages_activation must be one of: now, reboot, got: someday"
    assert f"fatal: [localhost]: Validation of arguments failed: value of {said}" in done.stderr
    assert len(done.stderr) < 1000
    (report,) = tmp_path.glob("*/report.json")
    assert json.loads(report.read_text())["exit_code"] == 3
    assert said in report.read_text()
