#!/usr/bin/env python3
# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inventory of `./hostproof audit --evidence PATH`: the hosts of which there is an evidence pack.

PATH is a directory with packs, or one pack.
"""

import importlib.util
import json
import os
import re
import sys
from pathlib import Path
from types import ModuleType

RULE = Path(__file__).resolve().parents[1] / "plugin_utils/hostproof_controller/host_names.py"


def rule() -> ModuleType:
    """The rule for names of hosts, by its path: the Python that runs this may lack Ansible."""
    spec = importlib.util.spec_from_file_location("host_names", RULE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def inventory(source: Path) -> dict:
    """The packs as hosts. A host has the name of its pack's file."""
    names = rule()
    files = [source] if source.is_file() else source.glob("*.json")
    packs = sorted(path.stem for path in files if path.suffix == ".json")
    hosts = [name for name in packs if names.is_host_name(name)]
    for name in packs:
        if not names.is_host_name(name):
            print(
                f"hostproof: the pack {name[:80]!a}.json is not evaluated: the name of a "
                "pack is its "
                f"host's, of {names.RULE}",
                file=sys.stderr,
            )
    # Each of these packs is a missing result. The report lists it under a safe name.
    wrong = [name for name in packs if not names.is_host_name(name)]
    safe = [re.sub(r"[^A-Za-z0-9._-]", "_", name)[:60] for name in wrong]
    skipped = [f"pack{number}_{name}" for number, name in enumerate(safe, 1)]
    return {
        "hostproof_evidence": {"hosts": hosts, "vars": {"hostproof_packs_skipped": skipped}},
        "_meta": {"hostvars": {}},
    }


if __name__ == "__main__":
    print(json.dumps(inventory(Path(os.environ.get("HOSTPROOF_EVIDENCE", "/nonexistent")))))
