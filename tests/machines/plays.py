"""Runs Hostproof's playbooks against a machine, as a user does, and reads what they answered."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from .needs import ROOT

Finding = dict[str, Any]


class Run(NamedTuple):
    """What one ansible-playbook did. ``findings`` is what it judged, empty if it judged nothing."""

    rc: int
    output: str
    findings: list[Finding]

    @property
    def changed(self) -> int:
        """How many tasks changed something, as Ansible's recap counts."""
        return sum(map(int, re.findall(r"\bchanged=(\d+)", self.output)))

    def statuses(self) -> dict[str, str]:
        """Finding to status. A finding of one of several instances begins with its SID."""
        return {name_of(finding): finding["status"] for finding in self.findings}

    def finding(self, name: str) -> Finding:
        """The finding of that name, as ``statuses`` names it."""
        return next(finding for finding in self.findings if name_of(finding) == name)

    def worse_than_pass(self) -> dict[str, str]:
        """What an operator would have to look at."""
        return {
            name: status
            for name, status in self.statuses().items()
            if status not in ("pass", "skip")
        }


def name_of(finding: Finding) -> str:
    """The check, after the SID or account where there is one finding for each."""
    who, colon, _title = finding["title"].partition(": ")
    return f"{who} {finding['check']}" if colon else str(finding["check"])


def play(inventory: Path, playbook: str, *options: str, **variables: Any) -> Run:
    """Run ``playbooks/<playbook>.yml``; ``variables`` are extra variables."""
    command = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", str(inventory)]
    command += [str(ROOT / "playbooks" / f"{playbook}.yml"), *options, "-e", json.dumps(variables)]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report")
        environment = {
            **{name: value for name, value in os.environ.items() if "ANSIBLE_" not in name},
            # The product's own settings, not those that molecule wrote for its scenario.
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_NOCOLOR": "1",
            "HOSTPROOF_REPORT": str(report),
        }
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        lines = report / "findings.jsonl"
        text = lines.read_text() if lines.exists() else ""
    print(done.stdout)
    results = [json.loads(line) for line in text.splitlines()]
    return Run(done.returncode, done.stdout, [f for one in results for f in one["findings"]])
