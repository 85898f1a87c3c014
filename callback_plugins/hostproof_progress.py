# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shows the progress of an audit, then its summary; other output is that of Ansible's default."""

from __future__ import annotations

DOCUMENTATION = """
name: hostproof_progress
type: stdout
short_description: Progress and summary of an audit
description:
  - During an audit it shows the number of hosts that have answered (on a terminal only).
  - Prints the summary of the report. Other tasks look as with the default callback, and with C(-vv)
    so do these.
extends_documentation_fragment:
  - default_callback
  - result_format_callback
author: Hostproof contributors (!UNKNOWN)
"""

import contextlib
import gc
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ansible import context
from ansible.plugins.callback.default import CallbackModule as DefaultCallback

STAYS = str(Path(__file__).resolve().parents[1] / "plugin_utils")
if STAYS not in sys.path:
    sys.path.append(STAYS)

from hostproof_controller import known_findings, variable_names
from hostproof_controller.cli.hosts import EXIT_UNKNOWN_HOST, unknown_of
from hostproof_controller.policies import BadPolicy, chosen_by_tags, environment_variables
from hostproof_controller.report.terminal import TERMINAL, codes, terminal
from hostproof_controller.report.text import printable, shorten
from hostproof_controller.report.verdict import EXIT_NOT_DATABASE_HOST

JUDGE = "verify_controls"
RECORD = "record_evidence"
APPLY = "apply_control"
REVERT = "revert_control"
REPORT = "render_report"
#: It prints the findings of a role in a play without a report.
SHOW = "show_findings"
#: The task of playbooks/tasks/report.yml that prints the summary where this callback does not.
SUMMARY = "Summary"
#: The task of playbooks/apply.yml that follows a control that was not applied.
AFTER_REFUSAL = "Record the rejected change in the report"
VALIDATE = "ansible.builtin.validate_argument_spec"
SET_STATS = "ansible.builtin.set_stats"
#: Modules that run on the controller and return lines for the terminal.
TELL = ("compare_latency", "latency_baseline", "latency_gate")
#: Tasks whose results are in the report.
QUIET = (JUDGE, RECORD, REPORT, VALIDATE, *TELL, SET_STATS, "meta", "ansible.builtin.meta")


#: Seconds between two lines of progress where no terminal is, and their width.
EVERY = 30
LOG_WIDTH = 120

#: The colour codes of Ansible.
COLOUR = re.compile("(\x1b\\[[0-9;]*m)")


class Shown(str):
    """Text that is printable except for the colour codes of Ansible."""


def shows_printable(display: Callable[..., Any]) -> Callable[..., Any]:
    """Ansible's ``Display.display``, with control characters escaped. All output uses it."""

    def safe(msg: Any, *arguments: Any, **named: Any) -> Any:
        if isinstance(msg, str) and not isinstance(msg, Shown):
            msg = printable(msg)
        try:
            return display(msg, *arguments, **named)
        except BrokenPipeError:
            # The reader (head, less) has seen enough. The run goes on to its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return None

    safe.hostproof = True  # type: ignore[attr-defined]
    return safe


def keeps_colours(display: Callable[..., Any]) -> Callable[..., Any]:
    """The same for lines that contain colour codes."""

    def safe(msg: Any, *arguments: Any, **named: Any) -> Any:
        return display(_coloured(str(msg), COLOUR), *arguments, **named)

    return safe


def _coloured(text: str, kept: re.Pattern[str]) -> Shown:
    """The text with control characters escaped, except for these codes."""
    pieces = enumerate(kept.split(text))
    return Shown("".join(piece if place % 2 else printable(piece) for place, piece in pieces))


def deep_printable(value: Any) -> Any:
    """The value with every text in it printable, for Ansible's coloured diff."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {deep_printable(key): deep_printable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [deep_printable(item) for item in value]
    return value


def _following(control: str) -> list[str]:
    """The controls of this run that apply.yml runs after this one."""
    text = (Path(__file__).resolve().parents[1] / "playbooks/tasks/controls.yml").read_text("utf-8")
    order = re.findall(r"^  tags: \[(\w+)\]$", text, re.MULTILINE)
    chosen, skipped = (set(context.CLIARGS.get(name) or ()) for name in ("tags", "skip_tags"))
    selected = [tag for tag in order if tag not in skipped and (chosen <= {"all"} or tag in chosen)]
    return selected[selected.index(control) + 1 :] if control in selected else []


#: Hosts whose variables are read before the run. Above this number, one host of each combination of
#: groups is read; the others report an unknown variable in their own result.
HOSTS_READ = 200


def _some_hosts(hosts: list[Any]) -> list[Any]:
    if len(hosts) <= HOSTS_READ:
        return hosts
    by_groups = {tuple(sorted(group.name for group in host.get_groups())): host for host in hosts}
    return list(by_groups.values())[:HOSTS_READ]


def _name(task: Any) -> str:
    """The short name of a task's module: in a checkout and in the collection."""
    return str(task.action).removeprefix("hostproof.hostproof.")


class CallbackModule(DefaultCallback):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "hostproof_progress"

    def __init__(self) -> None:
        super().__init__()
        self._hosts = 0
        self._waiting: dict[str, None] = {}
        self._limit_is_known = False
        self._answered = 0
        self._began = 0.0
        self._told = 0.0
        self._waiting_play = None
        self._shown = False
        #: Whether no control has anything to apply on any host; None before the first.
        self._are_idle: bool | None = None
        # Warnings, errors and banners use it, too.
        if not hasattr(self._display.display, "hostproof"):
            self._display.display = shows_printable(self._display.display)

    def _get_diff(self, difflist) -> str:
        return Shown(super()._get_diff(deep_printable(difflist)))

    def v2_playbook_on_play_start(self, play) -> None:
        self._play = play  # the default callback reads it
        self._waiting_play = play
        hosts = play.get_variable_manager().get_vars(play=play).get("ansible_play_hosts_all", [])
        self._hosts = len(hosts)
        if not self._limit_is_known:
            self._limit_is_known = True
            self._refuse_unknown_hosts(play)
            if TERMINAL in os.environ:
                self._refuse_bad_variables(play)

    def _refuse_unknown_hosts(self, play) -> None:
        """End a run whose --limit names an unknown host, before any host is contacted.

        Ansible would warn and continue with the others, and a skipped host looks like a checked
        one.
        """
        limit = context.CLIARGS.get("subset")
        inventory = getattr(play.get_variable_manager(), "_inventory", None)
        sentences = unknown_of(inventory, limit) if limit and inventory is not None else []
        for sentence in sentences:
            self._display.display(f"hostproof: {sentence}", color="red", stderr=True)
        if sentences:
            raise SystemExit(EXIT_UNKNOWN_HOST)

    def _refuse_bad_variables(self, play) -> None:
        """End a run of the command before it contacts a host if a variable cannot be used."""
        manager = play.get_variable_manager()
        inventory = getattr(manager, "_inventory", None)
        tags = (context.CLIARGS.get(name) or () for name in ("tags", "skip_tags"))
        run = variable_names.Run(chosen_by_tags(*tags))
        place = "environment: "
        try:
            run.check(environment_variables())
            place = "-e: "
            run.check(manager.extra_vars)
            for host in _some_hosts(inventory.get_hosts() if inventory else []):
                place = f"{host.get_name()}: "
                run.check_host(manager.get_vars(play=play, host=host, include_hostvars=False))
            run.warn()
        except BadPolicy as problem:
            text = f"hostproof: {place}{problem}; no host was contacted"
            self._display.display(text, color="red", stderr=True)
            raise SystemExit(EXIT_UNKNOWN_HOST) from None

    def v2_playbook_on_task_start(self, task, is_conditional) -> None:
        if self._is_quiet(task):
            if _name(task) in (JUDGE, RECORD):
                self._begin()
                if self._hosts > 1:
                    known_findings.prime()
                # A garbage collection writes to every object, so each worker would copy the memory
                # pages: with thousands of hosts, a third of the memory of the workers.
                gc.freeze()
                self._show_progress()
            return
        if self._waiting_play is not None:
            super().v2_playbook_on_play_start(self._waiting_play)
            self._waiting_play = None
        self._shown = True
        super().v2_playbook_on_task_start(task, is_conditional)
        if _name(task) == APPLY:
            self._begin()

    def _begin(self) -> None:
        """Count the hosts of a task that takes long."""
        self._answered, self._began = 0, time.monotonic()
        self._told = self._began
        self._waiting.clear()

    def v2_runner_on_start(self, host, task) -> None:
        if _name(task) in (JUDGE, RECORD, APPLY):
            self._waiting[host.get_name()] = None
            self._show_progress()
        super().v2_runner_on_start(host, task)

    @contextlib.contextmanager
    def _counted(self, result) -> Iterator[None]:
        """Print the result of an apply in place of the line of progress, and count its host."""
        is_apply = _name(result._task) == APPLY
        if is_apply and sys.stderr.isatty() and not self._display.verbosity:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
        yield
        if is_apply:
            self._answered += 1
            self._waiting.pop(str(result._host), None)
            self._show_progress()

    def v2_runner_on_ok(self, result) -> None:
        with self._counted(result):
            self._on_ok(result)

    def _on_ok(self, result) -> None:
        if _name(result._task) == SHOW and self._is_short:
            self._show_findings(result)
        elif not self._take(result):
            super().v2_runner_on_ok(result)
        if _name(result._task) == REVERT and not result._result.get("skipped"):
            self._show_restored(result)
        if _name(result._task) == APPLY:
            idle = bool(result._result.get("idle"))
            self._are_idle = self._are_idle is not False and idle
            begin = "nothing to do" if idle else "waiting"
            for text in result._result.get("pending", []):
                self._display.display(f"{begin}: [{result._host}]: {text}")

    def v2_runner_on_failed(self, result, ignore_errors=False) -> None:
        with self._counted(result):
            self._on_failed(result, ignore_errors)

    def _on_failed(self, result, ignore_errors) -> None:
        if result._task.action == VALIDATE and self._is_short:
            # The whole argument specification comes with it: one sentence says what is wrong.
            message = " ".join(str(result._result.get("msg")).split())
            self._display.display(f"fatal: [{result._host}]: {message}", color="red", stderr=True)
        elif _name(result._task) == SHOW and self._is_short:
            self._show_findings(result, color="red")
        elif _name(result._task) == APPLY and self._is_short:
            self._are_idle = False
            self._display.display(self._not_applied(result), color="red", stderr=True)
        elif str(result._task.name).endswith(AFTER_REFUSAL) and self._is_short:
            # The reason was printed with the control.
            return
        elif not self._take(result, failed=True):
            super().v2_runner_on_failed(result, ignore_errors)

    def _not_applied(self, result) -> str:
        """Why a control was not applied, and the controls that were not applied because of it."""
        message = " ".join(str(result._result.get("msg")).split()).rstrip(".")
        control = str(result._task.args.get("control"))
        # The answer of the module names the control as well.
        message = message.removeprefix(f"{control}: ")
        text = f"not applied: [{result._host}]: {control}: {message}"
        following = _following(control)
        return f"{text}; not applied because of it: {', '.join(following)}" if following else text

    def v2_runner_on_unreachable(self, result) -> None:
        self._are_idle = False
        with self._counted(result):
            if not self._take(result, failed=True):
                super().v2_runner_on_unreachable(result)

    def v2_runner_on_skipped(self, result) -> None:
        with self._counted(result):
            if not self._is_quiet(result._task):
                super().v2_runner_on_skipped(result)

    def v2_playbook_on_stats(self, stats) -> None:
        if self._shown:
            # The names in its lines are the inventory's, and what modules gave is JSON.
            shown, self._display.display = (
                self._display.display,
                keeps_colours(self._display.display),
            )
            try:
                super().v2_playbook_on_stats(stats)
            finally:
                self._display.display = shown
        if self._are_idle and TERMINAL in os.environ:
            # The command ends with this exit code: an apply without effect does not succeed.
            raise SystemExit(EXIT_NOT_DATABASE_HOST)

    @property
    def _is_short(self) -> bool:
        """Whether tasks of Hostproof are printed by their summary only. -v is for the summary."""
        return self._display.verbosity < 2

    def _is_quiet(self, task) -> bool:
        is_ours = bool({task.action, _name(task)} & {*QUIET}) or task.name == SUMMARY
        return is_ours and self._is_short

    def _take(self, result, *, failed: bool = False) -> bool:
        """Whether the result was shown here: as progress, as the summary, or rightly not at all."""
        task = result._task
        name = _name(task)
        if self._is_quiet(task) and not failed:
            self._show_warnings(result)
        if name in (JUDGE, RECORD):
            self._answered += 1
            self._waiting.pop(result._host.get_name(), None)
            self._show_progress()
            if known_findings.learn():
                # As in v2_playbook_on_task_start.
                gc.freeze()
        if name == REPORT and "summary" in result._result:
            answer = result._result
            # With --quiet there is no summary.
            if answer["summary"]:
                text = f"{answer['summary']}\n\nReport: {answer['report']}"
                if terminal().color:
                    ours = "|".join(map(re.escape, sorted(filter(None, codes()))))
                    text = _coloured(text, re.compile(f"({ours})"))
                self._display.display(text)
            return True
        if name in TELL and not failed:
            for line in result._result.get("lines", []):
                self._display.display(line)
            return self._is_short
        if not failed:
            return self._is_quiet(task)
        # The report shows these failures; any other failure must be printed here. No report follows
        # the verify entry point of a role.
        if name != JUDGE or task.args.get("result") != "counts" or not self._is_quiet(task):
            return False
        answer = result._result
        return bool(answer.get("reported") or answer.get("unreachable"))

    def _show_restored(self, result) -> None:
        """What a revert restored: files, values, mounts and commands."""
        begin = "would restore" if context.CLIARGS.get("check") else "restored"
        shown = result._result.get("diff")
        for entry in shown if isinstance(shown, list) else ():
            header = entry.get("before_header") if isinstance(entry, dict) else None
            if isinstance(header, str) and header:
                self._display.display(f"{begin}: [{result._host}]: {header}")

    def _show_findings(self, result, color: str | None = None) -> None:
        for line in result._result.get("lines") or [str(result._result.get("msg"))]:
            self._display.display(f"[{result._host}]: {line}", color=color)

    def _show_warnings(self, result) -> None:
        """Print the warnings of a task that is not printed. ansible-core 2.19 returns them."""
        if hasattr(self, "_handle_warnings_and_exception"):
            # _result is a copy of the result, made for each host.
            if result.warnings or result.deprecations or result.exception:
                self._handle_warnings_and_exception(result)
        else:
            self._handle_warnings(result._result)

    def _show_progress(self) -> None:
        """Rewrite one line of the terminal; end it when the last host has answered.

        Elsewhere, such as in a log, it is one line for every EVERY seconds.
        """
        if self._display.verbosity:
            return
        if not sys.stderr.isatty():
            now = time.monotonic()
            if now - self._told >= EVERY and self._answered < self._hosts:
                self._told = now
                sys.stderr.write(self._progress(LOG_WIDTH) + "\n")
                sys.stderr.flush()
            return
        sys.stderr.write("\r" + self._progress(shutil.get_terminal_size().columns) + "\033[K")
        if self._answered >= self._hosts:
            sys.stderr.write("\r\033[K")
        sys.stderr.flush()

    def _progress(self, width: int) -> str:
        """Number of hosts that have answered, elapsed time and hosts that were started, in a
        line."""
        elapsed = int(time.monotonic() - self._began)
        line = f"{self._answered} of {self._hosts} hosts, {elapsed // 60}:{elapsed % 60:02d}"
        if self._waiting:
            names = [printable(name) for name in self._waiting]
            line += f", waiting for {', '.join(names[:3])}"
            if len(names) > 3:
                line += f" and {len(names) - 3} more"
        # A carriage return cannot rewrite a line that the terminal wrapped.
        return shorten(line, max(width - 1, 10))
