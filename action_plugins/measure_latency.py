# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""measure_latency: the module of that name, sent as one payload."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

STAYS = str(Path(__file__).resolve().parents[1] / "plugin_utils")
if STAYS not in sys.path:
    sys.path.append(STAYS)
import_module("hostproof_controller")  # It locates the other modules.

from hostproof_controller import runs
from hostproof_controller.remote import host_action

host_action.prepare()


class ActionModule(host_action.PayloadAction):
    def take(
        self, params: dict[str, Any], controls: list[str], answer: dict[str, Any]
    ) -> dict[str, Any]:
        runs.note_lost(self.host, None)
        return answer

    def timeout_seconds(self, params: dict[str, Any]) -> float:
        # A measurement that takes three times as long as planned still returns a result.
        return float(params["windows"] * (3 * params["seconds"] + 30 + params["pause"]))

    def lost(self, outcome: str, message: str) -> None:
        # The comparison reports a host without a response as unreachable.
        runs.note_lost(self.host, message if outcome == "unreachable" else None)
