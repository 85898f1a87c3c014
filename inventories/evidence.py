#!/usr/bin/env python3
# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inventory of `./hostproof audit --evidence DIR`: the hosts of which there is an evidence pack."""

import json
import os
from pathlib import Path


def inventory(folder: Path) -> dict:
    hosts = sorted(path.stem for path in folder.glob("*.json"))
    return {"hostproof_evidence": {"hosts": hosts}, "_meta": {"hostvars": {}}}


if __name__ == "__main__":
    print(json.dumps(inventory(Path(os.environ.get("HOSTPROOF_EVIDENCE", "/nonexistent")))))
