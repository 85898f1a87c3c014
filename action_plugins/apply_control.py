# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""apply_control: the policy from variables, one remote execution; a rejection is a finding."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

STAYS = str(Path(__file__).resolve().parents[1] / "plugin_utils")
if STAYS not in sys.path:
    sys.path.append(STAYS)
import_module("hostproof_controller")  # It locates the other modules.

from hostproof_controller import policies, runs, variable_names
from hostproof_controller.remote import host_action, response_validation

host_action.prepare()


class ActionModule(host_action.PayloadAction):
    def complete(self, params: dict[str, Any]) -> list[str]:
        self.require_own_host()
        name = params["control"]
        if params["policy"] is None:
            host_policies = self.policies_of([name])
            params["policy"], params["secrets"] = host_policies.shown[name], host_policies.secret
        else:
            variable_names.check(self.variables, [name], self.template)
        return [name]

    def take(
        self, params: dict[str, Any], controls: list[str], answer: dict[str, Any]
    ) -> dict[str, Any]:
        if answer.get("failed"):
            self._refused(params["control"], answer.get("msg", "no reason"))
        return answer

    def lost(self, outcome: str, message: str) -> None:
        control = self.task_arguments.get("control")
        # A finding needs a valid control name.
        if outcome == "unreachable" or control not in list(policies.controls()):
            runs.write_result(self.host, self.hosts, outcome, message, [])
        else:
            self._refused(control, message)

    def _refused(self, control: str, message: str) -> None:
        if self.check_mode:
            return
        finding = response_validation.not_applied(control, message)
        inventories = runs.inventories(self.variables.get("ansible_inventory_sources"))
        findings = response_validation.completed([finding], self.host, inventories)
        runs.write_result(self.host, self.hosts, "judged", None, findings)
