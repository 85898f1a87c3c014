"""Names of packs come from whoever made them: none is a template, a range or a path."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
PACK = ROOT / "docs/examples/evidence/db01.example.com.json"

HOSTILE = [
    "{{ lookup('pipe', 'touch pwned') }}",
    "{% for a in range(9) %}x{% endfor %}",
    "db[01:99999]",
    "a b",
    "-e",
    "ä",
    "\x1b[31mred",
    "a\nb",
    "localhost,",
    "x" * 250,
]


@pytest.fixture
def packs(tmp_path):
    folder = tmp_path / "packs"
    folder.mkdir()
    for name in ["db01.example.com", *HOSTILE[:-1]]:
        (folder / f"{name}.json").write_bytes(PACK.read_bytes())
    return folder


def environment(folder: Path, tmp_path: Path) -> dict[str, str]:
    return {
        **os.environ,
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "HOSTPROOF_EVIDENCE": str(folder),
        "HOSTPROOF_REPORTS": str(tmp_path / "reports"),
    }


def test_only_what_names_a_host_is_one(packs, tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "inventories/evidence.py"],
        env=environment(packs, tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    group = json.loads(done.stdout)["hostproof_evidence"]
    assert group["hosts"] == ["db01.example.com"]
    assert len(group["vars"]["hostproof_packs_skipped"]) == len(HOSTILE) - 1
    assert "\x1b" not in done.stderr
    assert len(done.stderr.splitlines()) == len(HOSTILE) - 1


def test_an_audit_runs_no_name_and_reports_each_as_not_judged(packs, tmp_path):
    folder = {"hostproof_evidence_folder": str(packs)}
    done = subprocess.run(
        [
            *(Path(sys.executable).with_name("ansible-playbook"), ROOT / "playbooks/audit.yml"),
            *("-i", ROOT / "inventories/evidence.py", "-e", json.dumps(folder)),
            *(
                "-e",
                "ansible_connection=local",
                "-e",
                "ansible_python_interpreter=" + sys.executable,
            ),
        ],
        env=environment(packs, tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    (report,) = (tmp_path / "reports").glob("*/report.json")
    verdicts = {host["host"]: host["outcome"] for host in json.loads(report.read_text())["hosts"]}
    assert verdicts.pop("db01.example.com") == "judged"
    assert len(verdicts) == len(HOSTILE) - 1, done.stdout + done.stderr
    assert set(verdicts.values()) == {"failed"}
    assert json.loads(report.read_text())["exit_code"] == 3
    assert not list(tmp_path.rglob("pwned"))
    assert not (ROOT / "playbooks/pwned").exists()
