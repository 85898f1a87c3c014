# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares latency before and after a change.

library/compare_latency.py documents its parameters and return values.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

STAYS = str(Path(__file__).resolve().parents[1] / "plugin_utils")
if STAYS not in sys.path:
    sys.path.append(STAYS)
import_module("hostproof_controller")  # It locates the other modules.

from hostproof_controller.controller_action import ControllerAction
from hostproof_controller.gate import gate_steps, gating


class ActionModule(ControllerAction):
    error_prefix = "compare_latency"

    def answer(self, params: dict[str, Any], *, check_mode: bool) -> dict[str, Any]:
        changed = [host for host in params["hosts"] if host not in params["unchanged"]]
        gating.check_controls(params["controls"], params["unchanged"], params["groups"])
        if not changed:
            raise ValueError(
                "every host is one of latency_gate_unchanged_hosts, so none was changed"
            )
        if params["state"] == "planned":
            return {"judged": [], "lines": []}
        compared = gate_steps.compare(
            params["before"], params["after"], changed, params["unchanged"]
        )
        judged = compared.with_gate({})
        return {
            "judged": [verdict.answer() for verdict in judged],
            "lines": gate_steps.lines_of(judged),
        }
