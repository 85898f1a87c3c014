# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""record_evidence: one remote execution; the worker unpacks and saves the pack, with limits."""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

STAYS = str(Path(__file__).resolve().parents[1] / "plugin_utils")
if STAYS not in sys.path:
    sys.path.append(STAYS)
import_module("hostproof_controller")  # It locates the other modules.

from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.errors import HostproofError
from hostproof_controller import runs
from hostproof_controller.host_names import is_host_name
from hostproof_controller.remote import host_action

host_action.prepare()

#: Limits of the printed remarks of a host: their number (as audit.py for a control) and length.
MOST_REMARKS, MOST_TEXT = 100, 1000


class ActionModule(host_action.JudgingAction):
    def take(
        self, params: dict[str, Any], controls: list[str], answer: dict[str, Any]
    ) -> dict[str, Any]:
        if answer.get("failed"):
            return answer
        try:
            readings = evidence.decode(answer.get("evidence", ""))
        except HostproofError as problem:
            raise host_action.Failed(f"the pack of this host is lost: {problem}") from None
        pack = {
            "schema": evidence.PACK_SCHEMA,
            "host": self.host,
            "recorded_at": runs.now(),
            "hostproof": str(answer.get("hostproof", "unknown"))[:40],
            "readings": readings,
        }
        path = runs.record_folder() / f"{safe_name(self.host)}.json"
        runs.write_file(path, json.dumps(pack, indent=1, sort_keys=True) + "\n")
        remarks = [remark[:MOST_TEXT] for remark in answer.get("remarks", [])[:MOST_REMARKS]]
        result = {"changed": False, "readings": len(readings), "path": str(path)}
        return {
            **result,
            "remarks": remarks,
            "warnings": [f"{self.host}: {remark}" for remark in remarks],
        }


def safe_name(host: str) -> str:
    """A file name that an audit of the packs accepts (inventories/evidence.py)."""
    if is_host_name(host):
        return host
    return "_" + re.sub(r"[^A-Za-z0-9._-]", "_", host)[:200]
