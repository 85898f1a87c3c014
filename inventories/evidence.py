#!/usr/bin/env python3
# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inventory of `./hostproof audit --evidence DIR`: the hosts of which there is an evidence pack."""

import json
import os
import re
import sys
from pathlib import Path

#: A host is named after its pack's file. No other name is one: Ansible would take braces for a
#: template and brackets for a range, and a report would show what else stands in it.
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:-]{0,252}")


def inventory(folder: Path) -> dict:
    packs = sorted(path.stem for path in folder.glob("*.json"))
    hosts = [name for name in packs if NAME.fullmatch(name)]
    for name in packs:
        if not NAME.fullmatch(name):
            print(
                f"hostproof: the pack {name[:80]!a}.json is not judged: a pack's name is its "
                "host's, of letters, digits and . _ : - only",
                file=sys.stderr,
            )
    # Each is a result that is missing: the report says so under a name that is safe to show.
    wrong = [name for name in packs if name not in hosts]
    safe = [re.sub(r"[^A-Za-z0-9._-]", "_", name)[:60] for name in wrong]
    skipped = [f"pack{number}_{name}" for number, name in enumerate(safe, 1)]
    return {
        "hostproof_evidence": {"hosts": hosts, "vars": {"hostproof_packs_skipped": skipped}},
        "_meta": {"hostvars": {}},
    }


if __name__ == "__main__":
    print(json.dumps(inventory(Path(os.environ.get("HOSTPROOF_EVIDENCE", "/nonexistent")))))
