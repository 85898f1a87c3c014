# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Saves the latency measurements of a host as a baseline.

library/latency_baseline.py documents its parameters and return values.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

STAYS = str(Path(__file__).resolve().parents[1] / "plugin_utils")
if STAYS not in sys.path:
    sys.path.append(STAYS)
import_module("hostproof_controller")  # It locates the other modules.

from ansible.module_utils.hostproof.collect.measured import Window
from ansible.module_utils.hostproof.errors import HostproofError
from hostproof_controller.controller_action import ControllerAction, Failed
from hostproof_controller.latency import baseline, comparing

MEASURED = ("probes", "rounds", "seconds", "pause", "windows")


class ActionModule(ControllerAction):
    error_prefix = "latency_baseline"
    required_if = (("state", "present", MEASURED),)

    def answer(self, params: dict[str, Any], *, check_mode: bool) -> dict[str, Any]:
        present = params["state"] == "present"
        try:
            if present:
                kept = taken(params)
                if not check_mode:
                    baseline.save(params["folder"], kept)
            else:
                kept = baseline.load(params["folder"], params["host"])
        except (HostproofError, OSError, ValueError) as problem:
            raise Failed(f"{params['host']}: {problem}") from problem
        return {
            "changed": present,
            "path": baseline.path_of(params["folder"], params["host"]),
            "probes": kept.probes,
            "rounds": kept.rounds,
            "seconds": kept.seconds,
            "pause": kept.pause,
            "lines": described(kept) if present else [],
        }


def taken(params: dict[str, Any]) -> baseline.Baseline:
    return baseline.Baseline(
        host=params["host"],
        taken_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        probes=params["probes"],
        rounds=params["rounds"],
        seconds=params["seconds"],
        pause=params["pause"],
        windows=[Window.from_json(window) for window in params["windows"]],
        remarks=params["remarks"],
    )


def described(kept: baseline.Baseline) -> list[str]:
    """The summary of a baseline for the user, with missing series and unstable values.

    The user must see these before the change, because the baseline cannot be repeated later.
    """
    names = [series.name for series in comparing.series_of(kept.windows)]
    lines = [f"{kept.host}: {kept.rounds} windows of {', '.join(names)}"]
    lines += [f"{kept.host}: {text}" for text in comparing.unmeasured(kept)]
    steady = comparing.stability(kept)
    lines += [f"{kept.host}: the baseline is not stable: {name}" for name in steady.unstable]
    return lines + [f"{kept.host}: {remark}" for remark in kept.remarks]
