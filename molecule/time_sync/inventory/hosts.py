#!/usr/bin/env python3
"""Inventory of the scenario: the container that tests/machines/container.py started for it."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from machines import container  # noqa: E402

if __name__ == "__main__":
    json.dump(container.inventory(Path(__file__).resolve().parents[1].name), sys.stdout, indent=2)
