"""A play with a host for each bad policy of bad_policies.py, and what the report says of each."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import bad_policies
import yaml

ROOT = Path(__file__).resolve().parents[2]
PACK = ROOT / "docs/examples/evidence/db01.example.com.json"

#: A million values of a few lines; a thousand million fill the memory of ansible-core 2.19 itself.
BOMB = "x: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"x{number}: &{name} [{', '.join(['*' + above] * 10)}]\n"
    for number, (above, name) in enumerate(zip("abcde", "bcdef", strict=True))
)
PLAY = {
    "hosts": "all",
    "gather_facts": False,
    "strategy": "free",
    "tasks": [
        {
            "verify_controls": {"controls": "{{ [control] }}", "evidence_pack": str(PACK)},
            "ignore_errors": True,
        }
    ],
}


def run(
    folder: Path, names: Collection[str] = bad_policies.CASES
) -> dict[str, list[dict[str, Any]]]:
    """The lines of the report by host, in the order of the plays; ``names``: the cases."""
    cases = {name: bad_policies.CASES[name] for name in names}
    hosts = {name: {"control": case.control, **case.variables} for name, case in cases.items()}
    hosts["sound"] = {"control": "hugepages"}
    common = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    (folder / "hosts.yml").write_text(yaml.safe_dump({"all": {"hosts": hosts, "vars": common}}))
    bomb = "".join(f"          {line}\n" for line in BOMB.splitlines())
    (folder / "bomb.yml").write_text(
        "all:\n  hosts:\n    bomb:\n      control: hugepages\n      hugepages_users:\n"
        "        - 'a'\n        -\n" + bomb
    )
    facts = {"cacheable": True, "hugepages_users": ["evil"]}
    play = {**PLAY, "hosts": "sound", "tasks": [{"set_fact": facts}, *PLAY["tasks"]]}
    (folder / "play.yml").write_text(yaml.safe_dump([PLAY, play], sort_keys=False))
    ran = subprocess.run(
        [
            *(Path(sys.executable).with_name("ansible-playbook"), folder / "play.yml"),
            *("-i", folder / "hosts.yml", "-i", folder / "bomb.yml"),
        ],
        env={
            **{name: value for name, value in os.environ.items() if "HOSTPROOF" not in name},
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_FORKS": "4",
            "HOSTPROOF_REPORTS": str(folder / "reports"),
        },
        capture_output=True,
        text=True,
        timeout=600,
    )
    reports = list(folder.glob("reports/*/findings.jsonl"))
    assert reports, ran.stdout + ran.stderr
    by_host: dict[str, list[dict]] = {}
    for line in map(json.loads, reports[0].read_text().splitlines()):
        by_host.setdefault(line["host"], []).append(line)
    return by_host


def problem_of(case: bad_policies.Bad, line: dict[str, Any]) -> str:
    """Why the report's line is not one clear sentence on the policy; "" where it is."""
    if case.entry:
        findings = [
            finding for finding in line["findings"] if finding["check"].endswith(".policy_entry")
        ]
        if line["outcome"] != "judged" or len(line["findings"]) < 2:
            return f"nothing was judged: {line['outcome']} {line['message']}"
        if [(finding["status"], finding["control"]) for finding in findings] != [
            ("error", case.control)
        ]:
            return f"the entry is not one error: {findings}"
        message = findings[0]["why"]
    else:
        if (line["outcome"], line["findings"], line["evidence"]) != ("failed", [], None):
            return f"it was judged: {line['outcome']}"
        message = line["message"]
    if not all(piece in message for piece in case.says):
        return f"it does not say {case.says}: {message}"
    # It names the variable; is a sentence, not a trace; and can be read.
    of_all = ("hostproof_", *(f"{entry.control}_" for entry in bad_policies.CASES.values()))
    if not any(prefix in message for prefix in of_all) or len(message) >= 1000:
        return f"it is too long, or names no variable: {message}"
    if re.search(r"Traceback|a fault of Hostproof|File \"|object at 0x|\n", message):
        return f"it is a trace: {message}"
    return ""
