# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Creates the report of a run from its findings.

library/render_report.py documents its parameters and return values.
"""

from __future__ import annotations

import datetime
import gc
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

STAYS = str(Path(__file__).resolve().parents[1] / "plugin_utils")
if STAYS not in sys.path:
    sys.path.append(STAYS)
import_module("hostproof_controller")  # It locates the other modules.

from ansible.module_utils.hostproof.controls.registry import check_ids
from ansible.module_utils.parsing.convert_bool import boolean
from hostproof_controller import runs
from hostproof_controller.controller_action import ControllerAction, Failed
from hostproof_controller.remote import transport
from hostproof_controller.report.render import render_folder
from hostproof_controller.report.terminal import terminal
from hostproof_controller.report.waiver_file import load_waivers

#: Names in the message of a failure.
_NAMED = 5


class ActionModule(ControllerAction):
    error_prefix = "the report could not be rendered"

    def answer(self, params: dict[str, Any], *, check_mode: bool) -> dict[str, Any]:
        directory = params["folder"] or str(runs.report_folder())
        waivers = self.of_user("hostproof_waivers", params["waivers"])
        if params["hosts"]:
            name_missing(params["hosts"])
        if not directory or not os.path.isdir(directory):
            raise Failed(f"there is no report directory {directory!r}: no host was audited")
        # The data of a report has no reference cycles, and the search for them takes a tenth of
        # the time. This process ends with the task.
        gc.disable()
        shown = terminal()
        rendered = render_folder(
            os.path.abspath(directory),
            today=datetime.date.today(),
            known_checks=check_ids,
            waivers=None if waivers is None else load_waivers(waivers),
            color=shown.color,
            width=shown.width,
            verbose=shown.verbose or transport.verbosity() > 0,
            severity=shown.severity,
            fail_on=shown.fail_on,
            waits=params["waits"],
            strict=boolean(self.of_user("hostproof_strict", params["strict"]) or False),
        )
        answer = {
            "exit_code": rendered.exit_code,
            "summary": "" if shown.quiet else rendered.summary,
            "report": rendered.page,
            "failing": {host: rendered.verdicts[host] for host in rendered.failing},
        }
        of_play = self.variables.get("ansible_play_hosts_all") or ()
        others = [host for host in rendered.failing if host not in of_play]
        if others:
            # Such as an evidence pack that is not evaluated: no task can fail it.
            names = ", ".join(others[:_NAMED])
            raise Failed(f"the run has exit code {rendered.exit_code} because of {names}", **answer)
        return answer


def name_missing(hosts: list[str]) -> None:
    """Write a result "not contacted" for each selected host that has no result."""
    for host in sorted(set(hosts) - runs.results_of_this_run()):
        runs.write_result(
            host,
            len(hosts),
            "failed",
            "This host was not contacted: see the messages of Ansible above.",
            [],
        )
