# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one step of a gated change and records it in the ledger of the gate.

library/latency_gate.py documents its parameters and return values.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

STAYS = str(Path(__file__).resolve().parents[1] / "plugin_utils")
if STAYS not in sys.path:
    sys.path.append(STAYS)
import_module("hostproof_controller")  # It locates the other modules.

from hostproof_controller.controller_action import ControllerAction
from hostproof_controller.gate import gate_steps, gating
from hostproof_controller.latency.change_findings import Judged
from hostproof_controller.runs import now

OF_A_BATCH = ("measuring", "changing", "decided", "reverted")


class ActionModule(ControllerAction):
    error_prefix = "gate"
    required_if = tuple(("state", state, ("batch",)) for state in OF_A_BATCH)

    def answer(self, params: dict[str, Any], *, check_mode: bool) -> dict[str, Any]:
        answer: dict[str, Any] = {
            "changed": params["state"] != "open" and not check_mode,
            "proceed": False,
            "kept": False,
            "revert": False,
            "judged": [],
            "hosts": [],
            "batches": [],
            "lines": [],
        }
        if params["state"] == "planned":
            planned(params, check_mode, answer)
        elif not check_mode:
            STEPS[params["state"]](params, gating.load(params["folder"]), answer)
        return answer


def planned(params: dict[str, Any], check_mode: bool, answer: dict[str, Any]) -> None:
    if params["tolerance"] < 0:
        raise ValueError("latency_gate_tolerance must not be below 0")
    gating.check_controls(params["controls"], params["unchanged"], params["groups"])
    batches = gating.plan(params["hosts"], params["unchanged"], params["serial"])
    if not check_mode:
        gating.create(params["folder"], batches, now())
    answer["proceed"] = True
    answer["batches"] = [shown(batch) for batch in batches]
    for batch in batches:
        hosts, unchanged = ", ".join(batch["hosts"]), ", ".join(batch["unchanged"]) or "none"
        number = f"batch {batch['number']} of {len(batches)}"
        answer["lines"].append(f"{number}: {hosts}; unchanged hosts: {unchanged}")
    outcome = "reverted" if params["action"] == gating.REVERT else "put on hold"
    answer["lines"].append(
        f"if a batch is slower or its result is unknown, it is {outcome} and the run stops"
    )


def shown(batch: dict[str, Any]) -> dict[str, Any]:
    return {
        "number": batch["number"],
        "hosts": batch["hosts"],
        "unchanged": batch["unchanged"],
        "keep": batch["journal"],
        "changed": batch["changed"],
    }


def measuring(params: dict[str, Any], ledger: gating.Ledger, answer: dict[str, Any]) -> None:
    parent = os.path.dirname(os.path.abspath(params["folder"]))
    reasons = gate_steps.begin(ledger, params["batch"], parent, journals(params), params["release"])
    say_stopped(params, answer, reasons)


def changing(params: dict[str, Any], ledger: gating.Ledger, answer: dict[str, Any]) -> None:
    say_stopped(params, answer, gate_steps.allow_change(ledger, params["batch"]))


def say_stopped(params: dict[str, Any], answer: dict[str, Any], reasons: list[str]) -> None:
    answer["proceed"] = not reasons
    if reasons:
        answer["lines"] = [
            f"batch {params['batch']} was not started, no changes were made",
            *reasons,
        ]


def decided(params: dict[str, Any], ledger: gating.Ledger, answer: dict[str, Any]) -> None:
    limits = gating.Limits(params["inconclusive"], params["tolerance"])
    number = params["batch"]
    applied = {host: went(params, host) for host in ledger.batch(number)["hosts"]}
    decision, judged = gate_steps.decide(ledger, number, applied, journals(params), limits)
    answer["proceed"] = answer["kept"] = decision.keep
    answer["revert"] = not decision.keep and params["action"] == gating.REVERT
    answer["judged"] = packed(judged)
    # A changed network path comes first: it can explain the whole difference in latency.
    answer["lines"] = gate_steps.lines_by_host(decision.other_paths)
    answer["lines"].append(f"batch {number} was {'kept' if decision.keep else 'put on hold'}")
    answer["lines"] += ledger.batch(number)["reasons"]
    if not decision.keep and not answer["revert"]:
        directory = params["folder"]
        answer["lines"].append(f"to revert it: ./hostproof revert --gate {directory}")


def went(params: dict[str, Any], host: str) -> str:
    """ "ok" only if the last task of the change succeeded on this host, otherwise the error."""
    if (params["changed"].get(host) or {}).get("ping") == "pong":
        return "ok"
    message = (params["failed"].get(host) or {}).get("msg")
    return " ".join(str(message or "the host did not complete the change").split())[:500]


def reverted(params: dict[str, Any], ledger: gating.Ledger, answer: dict[str, Any]) -> None:
    left, judged = gate_steps.after_revert(ledger, params["batch"], journals(params))
    answer["proceed"] = not left
    answer["judged"] = packed(judged)
    answer["lines"] = left or [f"batch {params['batch']} was reverted"]


def ended(_given: dict[str, Any], ledger: gating.Ledger, answer: dict[str, Any]) -> None:
    answer["hosts"] = gate_steps.kept_hosts(ledger)
    answer["judged"] = packed(gate_steps.leave_unjudged(ledger))


def still_open(_given: dict[str, Any], ledger: gating.Ledger, answer: dict[str, Any]) -> None:
    answer["batches"] = [shown(batch) for batch in gate_steps.open_batches(ledger)]
    answer["proceed"] = bool(answer["batches"])
    if not answer["batches"]:
        answer["lines"] = ["this gate has nothing to revert"]


def journals(params: dict[str, Any]) -> dict[str, list[str]]:
    """The change journals that could be read, by host."""
    return {host: lines for host, lines in params["journal"].items() if isinstance(lines, list)}


def packed(judged: list[Judged]) -> list[dict[str, Any]]:
    return [verdict.answer() for verdict in judged]


STEPS: dict[str, Callable[[dict[str, Any], gating.Ledger, dict[str, Any]], None]] = {
    "measuring": measuring,
    "changing": changing,
    "decided": decided,
    "reverted": reverted,
    "ended": ended,
    "open": still_open,
}
