#!/usr/bin/env python3
"""Inventory of the lab: the virtual machine that tests/machines/vm.py started, if one runs.

It is a script because the machine's ssh port is another one each time.
"""

import json
import sys
from pathlib import Path

STATE = Path(__file__).resolve().parents[2] / ".cache/machines/lab/vm.json"


def inventory() -> dict[str, object]:
    if not STATE.exists():
        print("The lab is not up; start it with: tests/run_lab --keep", file=sys.stderr)
        return {"lab": {"hosts": []}, "_meta": {"hostvars": {}}}
    machine = json.loads(STATE.read_text())
    variables = {
        "ansible_host": machine["address"],
        "ansible_port": machine["port"],
        "ansible_user": machine["user"],
        "ansible_ssh_private_key_file": machine["key"],
        "ansible_ssh_common_args": machine["ssh_arguments"],
        # Nothing accelerates the machine where KVM is missing: a first command takes seconds.
        "ansible_ssh_timeout": 60,
    }
    return {"lab": {"hosts": ["lab-vm"]}, "_meta": {"hostvars": {"lab-vm": variables}}}


if __name__ == "__main__":
    json.dump(inventory(), sys.stdout, indent=2)
