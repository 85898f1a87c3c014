# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shows how far an audit is, then its summary; everything else as Ansible's default does."""

from __future__ import annotations

import sys
import time

from ansible.plugins.callback.default import CallbackModule as DefaultCallback

DOCUMENTATION = """
name: hostproof_progress
type: stdout
short_description: Progress and summary of an audit
description:
  - While hosts are judged it shows how many of them have answered (on a terminal only).
  - Prints the summary of the report. Other tasks look as with the default callback, and with C(-v)
    so do these.
extends_documentation_fragment:
  - default_callback
  - result_format_callback
author: Hostproof contributors
"""

JUDGE = "verify_controls"
RECORD = "record_evidence"
APPLY = "apply_control"
REPORT = "render_report"
VALIDATE = "ansible.builtin.validate_argument_spec"
#: Run on the controller, and tell what they found in lines for people.
TELL = ("compare_latency", "latency_baseline", "latency_gate")
#: Tasks whose results are the report's to tell.
QUIET = (JUDGE, RECORD, REPORT, VALIDATE, *TELL, "meta", "ansible.builtin.meta")


class CallbackModule(DefaultCallback):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "hostproof_progress"

    def __init__(self) -> None:
        super().__init__()
        self._hosts = 0
        self._answered = 0
        self._began = 0.0
        self._waiting_play = None
        self._shown = False

    def v2_playbook_on_play_start(self, play) -> None:
        self._play = play  # the default callback reads it
        self._waiting_play = play
        hosts = play.get_variable_manager().get_vars(play=play).get("ansible_play_hosts_all", [])
        self._hosts = len(hosts)

    def v2_playbook_on_task_start(self, task, is_conditional) -> None:
        if self._is_quiet(task):
            if task.action in (JUDGE, RECORD):
                self._answered, self._began = 0, time.monotonic()
                self._show_progress()
            return
        if self._waiting_play is not None:
            super().v2_playbook_on_play_start(self._waiting_play)
            self._waiting_play = None
        self._shown = True
        super().v2_playbook_on_task_start(task, is_conditional)

    def v2_runner_on_ok(self, result) -> None:
        if not self._take(result):
            super().v2_runner_on_ok(result)
        if result._task.action == APPLY:
            for text in result._result.get("pending", []):
                self._display.display(f"pending: [{result._host}]: {text}")

    def v2_runner_on_failed(self, result, ignore_errors=False) -> None:
        if result._task.action == VALIDATE and not self._display.verbosity:
            # The whole argument specification comes with it: one sentence says what is wrong.
            said = " ".join(str(result._result.get("msg")).split())
            self._display.display(f"fatal: [{result._host}]: {said}", color="red", stderr=True)
        elif not self._take(result, failed=True):
            super().v2_runner_on_failed(result, ignore_errors)

    def v2_runner_on_unreachable(self, result) -> None:
        if not self._take(result, failed=True):
            super().v2_runner_on_unreachable(result)

    def v2_runner_on_skipped(self, result) -> None:
        if not self._is_quiet(result._task):
            super().v2_runner_on_skipped(result)

    def v2_playbook_on_stats(self, stats) -> None:
        if self._shown:
            super().v2_playbook_on_stats(stats)

    def _is_quiet(self, task) -> bool:
        return task.action in QUIET and not self._display.verbosity

    def _take(self, result, *, failed: bool = False) -> bool:
        """Whether the result was shown here: as progress, as the summary, or rightly not at all."""
        task, answer = result._task, result._result
        if task.action in (JUDGE, RECORD):
            self._answered += 1
            self._show_progress()
        if task.action == REPORT and "summary" in answer:
            self._display.display(f"{answer['summary']}\n\nReport: {answer['report']}")
            return True
        if task.action in TELL and not failed:
            for line in answer.get("lines", []):
                self._display.display(line)
            return not self._display.verbosity
        # A judged host's failure is in the report; any other failure must be seen here.
        return self._is_quiet(task) and (not failed or task.action == JUDGE)

    def _show_progress(self) -> None:
        """Rewrite one line of the terminal; end it when the last host has answered."""
        if not sys.stderr.isatty() or self._display.verbosity:
            return
        elapsed = int(time.monotonic() - self._began)
        done = self._answered >= self._hosts
        sys.stderr.write(
            f"\r{self._answered} of {self._hosts} hosts, {elapsed // 60}:{elapsed % 60:02d}"
            + ("\r\033[K" if done else "")
        )
        sys.stderr.flush()
