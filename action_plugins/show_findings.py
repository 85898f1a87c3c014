# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the findings of a role, and fails if one of them has a failing status.

library/show_findings.py documents its parameters and return values.
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

from hostproof_controller.controller_action import ControllerAction, Failed
from hostproof_controller.report.role_result import lines_of, sentence_of


class ActionModule(ControllerAction):
    error_prefix = "the findings could not be shown"

    def answer(self, params: dict[str, Any], *, check_mode: bool) -> dict[str, Any]:
        result = params["result"]
        findings = result.get("findings")
        if not isinstance(findings, list):
            raise Failed("show_findings needs the result of verify_controls with its findings")
        name = params["control"]
        return {
            # The callback prints the result also without -v, each line on a line.
            "_ansible_verbose_always": True,
            "failed": bool(result.get("failing")),
            "msg": sentence_of(name, findings),
            "lines": lines_of(name, findings),
        }
