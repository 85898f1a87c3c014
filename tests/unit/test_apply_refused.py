"""A host that refuses the change of one control is still verified, and its refusal stays told."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import hostile_python
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]

#: One before and one after what a host refuses; each of all would take seconds more.
APPLIED = ("hugepages", "io_pacing", "process_limits")

#: The "interpreter" of a host: it changes nothing, refuses what its first word names, and finds
#: every control as it should be.
HOST = """
import json, re, sys, zlib
sys.path.insert(0, {folder!r})
from hostile_python import FINDING, packed, say
sys.stdin.buffer.read(int(re.search(r"read\\((\\d+)\\)", sys.argv[-1])[1]))
mark, asked = json.loads(sys.stdin.buffer.readline())
params = json.loads(zlib.decompress(sys.stdin.buffer.read()))
answer = {{"changed": False, "diff": [], "pending": [], "reboot_pending": False}}
if asked["module"] == "verify_controls":
    names = list(params["controls"])
    fine = [dict(FINDING, control=one, check=one + ".fine", status="pass") for one in names]
    answer = {{"findings": fine}}
elif params["control"] == sys.argv[1]:
    answer = {{"failed": True, "msg": "rejected, nothing was changed: " + sys.argv[1]}}
say(mark.encode(), packed(answer), mark.encode())
"""


def play(folder: Path, hosts: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    """Apply to hosts by name to the control that each refuses."""
    program = folder / "host.py"
    program.write_text(HOST.format(folder=str(Path(hostile_python.__file__).parent)))
    interpreters: dict[str, Any] = {
        name: {"ansible_python_interpreter": f"{sys.executable} {program} {refused}"}
        for name, refused in hosts.items()
    }
    inventory = {"all": {"hosts": interpreters, "vars": {"ansible_connection": "local"}}}
    (folder / "hosts.yml").write_text(yaml.safe_dump(inventory))
    return subprocess.run(
        [
            *(Path(sys.executable).with_name("ansible-playbook"), ROOT / "playbooks/apply.yml"),
            *("-i", folder / "hosts.yml", "-e", "hostproof_become=false", *options),
            *("--tags", ",".join(APPLIED)),
        ],
        env={
            **{name: value for name, value in os.environ.items() if "HOSTPROOF" not in name},
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "HOSTPROOF_REPORTS": str(folder / "reports"),
        },
        capture_output=True,
        text=True,
        timeout=300,
    )


def statuses(folder: Path) -> dict[str, dict[str, str]]:
    """Host to check to status, as the one report says."""
    (report,) = folder.glob("reports/*/report.json")
    by_host: dict[str, dict[str, str]] = {}
    for finding in json.loads(report.read_text())["findings"]:
        by_host.setdefault(finding["host"], {})[finding["check"]] = finding["status"]
    return by_host


@pytest.mark.long
def test_other_controls_are_verified_and_the_refusal_stays(tmp_path):
    done = play(tmp_path, {"unwilling": "io_pacing", "willing": "none"})
    assert done.returncode == 2, done.stdout + done.stderr
    fine = {f"{name}.fine": "pass" for name in APPLIED}
    assert statuses(tmp_path) == {
        "unwilling": {**fine, "io_pacing.applied": "fail"},
        "willing": fine,
    }


def test_a_refused_plan_fails_and_judges_nothing(tmp_path):
    done = play(tmp_path, {"unwilling": "io_pacing"}, "--check")
    assert done.returncode == 2, done.stdout + done.stderr
    assert not list(tmp_path.glob("reports/*"))


@pytest.mark.long
def test_any_other_failure_ends_the_host_s_run(tmp_path):
    """Nothing would tell of it in a report where everything is as it should be."""
    done = play(tmp_path, {"willing": "none"}, "-e", "hugepages_activation=someday")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "hugepages_activation" in done.stdout + done.stderr
    assert not list(tmp_path.glob("reports/*/report.json"))
