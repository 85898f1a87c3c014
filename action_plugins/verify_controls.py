# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""verify_controls: policies from variables, one remote execution, findings written by workers."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

STAYS = str(Path(__file__).resolve().parents[1] / "plugin_utils")
if STAYS not in sys.path:
    sys.path.append(STAYS)
import_module("hostproof_controller")  # It locates the other modules.

from ansible.module_utils.parsing.convert_bool import boolean
from hostproof_controller import policies, profile_controls, runs, selection, targets
from hostproof_controller.remote import host_action, response_validation
from hostproof_controller.report.role_result import lines_of, sentence_of, status_of
from hostproof_controller.report.verdict import count_statuses

host_action.prepare("verify_controls")
host_action.validator("verify_controls")

#: Statuses that fail the task, by O(fail_on).
FAILING = {"never": (), "fail": ("fail", "error"), "warn": ("fail", "error", "warn")}


class ActionModule(host_action.JudgingAction):
    def arguments(self) -> dict[str, Any]:
        """The arguments of the task, with values from variables if it sets ``by_variables``.

        With a template in the task, each worker would load every filter.
        """
        params = super().arguments()
        if boolean(params.get("by_variables", False), strict=False):
            evidence = self._plain_variable("hostproof_evidence")
            folder = self._plain_variable("hostproof_evidence_folder")
            params.setdefault("evidence", "cited" if evidence is None else evidence)
            if folder is not None:
                params.setdefault("evidence_pack", f"{folder}/{self.host}.json")
        return params

    def _plain_variable(self, name: str) -> Any:
        value = self.variables.get(name)
        return policies.plain(name, value, self.template)

    def without_answer(self, problem: str, sentence: str | None) -> dict[str, Any]:
        result = super().without_answer(problem, sentence)
        return {**result, **self._unknown(result["msg"])}

    def _unknown(self, why: str) -> dict[str, Any]:
        """The result without an answer of the host: an error for each control, so that a task
        that searches the findings cannot take the host for a ready one."""
        named = self.task_arguments.get("controls")
        known = policies.controls()
        names = [name for name in named if name in known] if isinstance(named, list) else []
        findings = [
            response_validation.error_of(name, f"{name}.audited", "Control was audited", why)
            for name in names or known
        ]
        inventories = runs.inventories(self.variables.get("ansible_inventory_sources"))
        findings = response_validation.completed(findings, self.host, inventories)
        result: dict[str, Any] = {
            "status": status_of(findings),
            "counts": {"error": len(findings)},
            "failing": [finding["check"] for finding in findings],
        }
        if self.task_arguments.get("result") != "counts":
            result["findings"] = findings
        return result

    def take(
        self, params: dict[str, Any], controls: list[str], answer: dict[str, Any]
    ) -> dict[str, Any]:
        findings = answer.get("findings")
        if findings is None:
            # The host rejected the policies, or could not read the pack.
            message = answer.get("msg") or "the host answered no findings"
            self.lost("failed", message)
            unknown = self._unknown(message)
            return {"failed": True, "msg": message, "reported": True, **unknown}
        inventories = runs.inventories(self.variables.get("ansible_inventory_sources"))
        findings = response_validation.with_all_controls(findings, controls)
        if self.selected is not None:
            findings = selection.selected_findings(self.selected, findings)
            findings.append(selection.notice(self.selected))
        elif (unchecked := profile_controls.notice(params["controls"], findings)) is not None:
            findings.append(unchecked)
        target = targets.notice(*map(self._plain_variable, (targets.RELEASE, targets.SYSTEM)))
        if target is not None:
            findings.append(target)
        findings = response_validation.completed(findings, self.host, inventories)
        evidence = answer.get("evidence")
        runs.write_result(
            self.host, self.hosts, "judged", None, findings, evidence, self.recorded_at(params)
        )
        failing = FAILING[params["fail_on"]]
        result: dict[str, Any] = {
            "changed": False,
            "reported": True,
            "status": status_of(findings),
            "counts": {name: count for name, count in count_statuses(findings).items() if count},
            "failing": sorted({item["check"] for item in findings if item["status"] in failing}),
        }
        if params["result"] != "counts":
            # Ansible takes no subclass of a dictionary.
            result["findings"] = [dict(finding) for finding in findings]
        if params["result"] == "findings" and evidence is not None:
            result["evidence"] = evidence
        if params["result"] != "listed" and result["failing"]:
            name = controls[0] if len(controls) == 1 else "Findings"
            result.update(
                failed=True, msg=sentence_of(name, findings), lines=lines_of(name, findings)
            )
        return result
