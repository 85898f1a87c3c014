#!/usr/bin/env python3
"""Inventory of the container scenario: the container that tests/machines/container.py started."""

import json
import sys
from pathlib import Path

STATE = Path(__file__).resolve().parents[3] / ".cache/machines/container/container.json"


def inventory() -> dict[str, object]:
    if not STATE.exists():
        return {"container": {"hosts": []}, "_meta": {"hostvars": {}}}
    container = json.loads(STATE.read_text())
    variables = {
        "ansible_connection": container["connection"],
        "ansible_host": container["name"],
        # Docker's connection needs none: only Podman's defaults are ever overridden.
        "ansible_podman_executable": container["executable"],
        # It is root in there, and has no sudo.
        "hostproof_become": False,
    }
    return {"container": {"hosts": ["box"]}, "_meta": {"hostvars": {"box": variables}}}


if __name__ == "__main__":
    json.dump(inventory(), sys.stdout, indent=2)
