# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The checkout, its virtualenv, and the environment variables of the programs that are started."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def environment_folder() -> Path:
    """The virtualenv that the wrapper made, or the one that this Python runs in."""
    return Path(os.environ.get("HOSTPROOF_ENVIRONMENT") or sys.prefix)


def default_inventories(variables: Mapping[str, str]) -> list[str]:
    """The inventories of a run without -i: those of ANSIBLE_INVENTORY, or this machine."""
    return named_inventories(variables) or [str(ROOT / "inventories/local")]


def named_inventories(variables: Mapping[str, str]) -> list[str]:
    """Those of ANSIBLE_INVENTORY."""
    return [source for source in variables.get("ANSIBLE_INVENTORY", "").split(",") if source]


def child_environment() -> dict[str, str]:
    """The caller's variables, without those that the wrapper set for this process."""
    variables = {name: text for name, text in os.environ.items() if name != "HOSTPROOF_ENVIRONMENT"}
    own = str(ROOT / "plugin_utils")
    path = [
        folder
        for folder in variables.pop("PYTHONPATH", "").split(os.pathsep)
        if folder and folder != own
    ]
    return {**variables, "PYTHONPATH": os.pathsep.join(path)} if path else variables
