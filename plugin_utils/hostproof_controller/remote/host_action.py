# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks that run on a host: one payload and one request through Ansible's own connection.

If that is not possible (no pipelining, or Ansible must discover the interpreter), Ansible sends the
module of the same name in library/, which returns the same answer.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib.util
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.hostproof.errors import HostproofError

from .. import commands, custom_checks, policies, run_options, runs, selection, variable_names
from ..layout import COLLECTION, LIBRARY, ROOT
from ..report import text
from . import output_limits, payload, response_validation, transport
from .access import no_access


class Failed(Exception):
    """The task fails with this message: one sentence."""


def prepare(module: str = "") -> None:
    """Make what every worker needs, before Ansible forks them: the strategy loads action plugins.

    ``module`` is expected to request all controls.
    """
    runs.name_folders()
    policies.prime()
    variable_names.prime()
    selection.prime(transport.extra_variables())
    run_options.prime()
    own_checks: list[custom_checks.Loaded] = []
    with contextlib.suppress(HostproofError):
        # Each host reports the error.
        own_checks = custom_checks.load(transport.inventory_sources())
    if module:
        # As in _with_own_checks.
        payload.prime(
            module,
            [control for control in policies.controls() if control != "custom" or own_checks],
        )
    else:
        payload.prime()
    transport.freeze_memory()


#: Characters of a traceback that are read: its end has the place of the fault.
MOST_OF_TRACE = 20_000

#: Errors with a message of one sentence.
_SENTENCES = (
    Failed,
    policies.BadPolicy,
    response_validation.Invalid,
    payload.NoAnswer,
    output_limits.LimitExceeded,
)


class PayloadAction(transport.Task):
    """Runs the module of the task's name on the host. Subclasses say which parameters it gets, and
    what the result is."""

    def perform(self) -> dict[str, Any]:
        try:
            params = self.validated()
            controls = self.complete(params)
            with output_limits.limit_output(self.connection, self._patience(params)):
                answer = self.ask(params, controls)
            return self.take(params, controls, self.checked(answer))
        except _SENTENCES as problem:
            return self.without_answer(str(problem), no_access(str(problem)))
        except transport.TransportError as problem:
            sentence = no_access(str(problem))
            if sentence is None:
                raise
            return self.without_answer(str(problem), sentence)

    def without_answer(self, problem: str, sentence: str | None) -> dict[str, Any]:
        """The result of a task that failed; ``sentence`` if its host gives no access."""
        message = f"{self.task_name}: {problem}"
        if sentence is not None:
            message = f"{sentence} ({one_line(problem)})"
        self.lost("failed" if sentence is None else "unreachable", message)
        return {"failed": True, "msg": message, "reported": True}

    def ended(self, outcome: str, reason: object) -> None:
        self.lost(outcome, one_line(reason))

    @property
    def host(self) -> str:
        return str(self.variables.get("inventory_hostname", ""))

    def validated(self) -> dict[str, Any]:
        """The task's arguments as the module's own specification has them."""
        checked = validator(self.task_name).validate(self.arguments())
        if checked.error_messages:
            raise Failed("; ".join(map(one_line, checked.error_messages)))
        return dict(
            policies.plain("the task's arguments", checked.validated_parameters, _no_template)
        )

    def arguments(self) -> dict[str, Any]:
        """The task's arguments."""
        return self.task_arguments

    def complete(self, params: dict[str, Any]) -> list[str]:
        """Add to ``params`` what is in variables; the controls that the host must know."""
        return []

    def take(
        self, params: dict[str, Any], controls: list[str], answer: dict[str, Any]
    ) -> dict[str, Any]:
        """The task's result from the host's answer."""
        return answer

    def lost(self, outcome: str, message: str) -> None:
        """There is no answer: "unreachable" or "failed", and why."""

    def timeout_seconds(self, params: dict[str, Any]) -> float:
        """Seconds that the task itself has its host wait or measure."""
        return 0.0

    def _patience(self, params: dict[str, Any]) -> float:
        """Seconds until an answer must be there."""
        name = "hostproof_host_timeout"
        value = policies.plain(name, self.variables.get(name, output_limits.SECONDS), self.template)
        try:
            seconds = float(value)
        except (TypeError, ValueError):
            seconds = 0.0
        if isinstance(value, bool) or not 1 <= seconds <= output_limits.MOST_SECONDS:
            raise Failed(f"{name} must be from 1 to {output_limits.MOST_SECONDS}, not {value!r}")
        return seconds + self.timeout_seconds(params)

    @property
    def hosts(self) -> int:
        """The number of hosts the play set out to check."""
        return max(1, len(self.variables.get("ansible_play_hosts_all") or ()))

    def require_own_host(self) -> None:
        """Failed if another host would answer than the one whose variables contain the policy, or
        if Ansible would register the result for other hosts too."""
        other = self.delegated_to
        if other is not None and other != self.host:
            raise Failed(
                f"delegate_to would run this on {other} with the policy of {self.host}: remove "
                f"delegate_to, and use the role in a play for {other}"
            )
        playing = self.variables.get("ansible_play_hosts") or ()
        if self.runs_once and len(playing) > 1:
            raise Failed(
                f"run_once would register the result of {self.host} for {len(playing)} hosts: "
                "remove run_once"
            )

    def policies_of(self, names: list[str]) -> policies.Policies:
        variable_names.check(self.variables, names, self.template)
        return policies.policies_of(names, self.variables, self.template)

    def checked(self, answer: dict[str, Any]) -> dict[str, Any]:
        crash = answer.get("crashed")
        if isinstance(crash, str):
            raise Failed(f"a fault of Hostproof's: {one_line(crash)}; {where_in(answer)}")
        return response_validation.checked(self.task_name, answer)

    def ask(self, params: dict[str, Any], controls: list[str]) -> dict[str, Any]:
        """What the host answers."""
        if not self.can_pipe():
            return self.ask_module(params)
        try:
            return self._ask_payload(self.interpreter(), params, controls)
        except (transport.TransportError, Failed) as problem:
            if not _NEEDS_TERMINAL.search(str(problem)):
                raise
        # With "Defaults requiretty" sudo starts nothing that gets its input through a pipe.
        self.stop_piping()
        return self.ask_module(params)

    def ask_module(self, params: dict[str, Any]) -> dict[str, Any]:
        transport.send_also(str(ROOT / "module_utils"))
        return self.run_module(COLLECTION + self.task_name, params)

    def module_output(self, output: dict[str, Any]) -> str:
        """Only the known keys of the answer.

        Ansible would show what else a host prints, set facts, and take any number of values.
        """
        try:
            answer = payload.answer_of_module(super().module_output(output))
        except payload.NoAnswer as problem:
            raise Failed(f"{problem}: {what_was_said(output)}") from None
        return json.dumps(response_validation.checked(self.task_name, answer))

    def _ask_payload(
        self, interpreter: str | None, params: dict[str, Any], controls: list[str]
    ) -> dict[str, Any]:
        compiled = payload.compiled_for(self.task_name, controls) if self.runs_here else None
        forms: tuple[str, ...] = payload.COMPRESSIONS
        if compiled is not None and _has_this_bytecode(interpreter or payload.PYTHONS[0]):
            forms = (payload.COMPILED, *forms)
        for form in forms:
            output, mark = self._send(interpreter, params, controls, form, compiled)
            if output["rc"] != payload.UNUSABLE or mark in output["stdout"]:
                break
        try:
            answer = payload.answer_in(output["stdout"], mark)
        except payload.NoAnswer as problem:
            raise Failed(f"{problem}: {what_was_said(output)}") from None
        if isinstance(trace := answer.get("exception"), str):
            answer["exception"] = payload.with_lines_of_source(
                trace[-MOST_OF_TRACE:], self.task_name, controls
            )
        return answer

    def _send(
        self,
        interpreter: str | None,
        params: dict[str, Any],
        controls: list[str],
        form: str,
        compiled: tuple[str, str, str] | None,
    ) -> tuple[dict[str, Any], str]:
        code = payload.payload_for(self.task_name, controls, form)
        request, mark = payload.request(
            self.task_name,
            params,
            check_mode=self.check_mode,
            diff=self.diff_mode,
            compiled=compiled,
        )
        command = payload.command(interpreter, code, form)
        return self.pipe(command, code + request), mark


class ModuleAction(PayloadAction):
    """For the modules that users call in their own tasks. An asynchronous task sends the module,
    because Ansible's own code watches it on the host."""

    supports_async = True

    def validated(self) -> dict[str, Any]:
        checked = validator_of_user_module(self.task_name).validate(self.arguments())
        if checked.error_messages:
            raise Failed("; ".join(map(one_line, checked.error_messages)))
        # Ansible has answered every template of the task.
        return dict(policies.plain("the task's arguments", checked.validated_parameters, str))

    def ask(self, params: dict[str, Any], controls: list[str]) -> dict[str, Any]:
        return self.ask_module(params) if self.is_async else super().ask(params, controls)

    def ask_module(self, params: dict[str, Any]) -> dict[str, Any]:
        """The module validates the arguments of the task itself, and rejects what is null."""
        return super().ask_module(self.arguments())

    def checked(self, answer: dict[str, Any]) -> dict[str, Any]:
        """The answer of an asynchronous task is Ansible's: where it will be."""
        return answer if self.is_async else super().checked(answer)


class JudgingAction(PayloadAction):
    """For what checks or reads any number of controls."""

    #: The checks of this run; None for all of them.
    selected: selection.Selection | None = None

    def complete(self, params: dict[str, Any]) -> list[str]:
        if params.get("evidence_pack") is None:
            self.require_own_host()
        chosen = params["controls"]
        if isinstance(chosen, dict):
            # The task contains the policies; nothing would read a misspelled variable.
            names = list(chosen)
            variable_names.check(self.variables, names, self.template)
        else:
            names = self._chosen(chosen)
            selected = selection.selection_of(self.variables, self.template)
            if selected is not None:
                names = selection.controls_of(selected, names)
                if not names:
                    raise Failed("no check is selected: see ./hostproof checks")
            policy_set = self.policies_of(names)
            names = _with_own_checks(policy_set, names, selected)
            self.selected = selected
            params["controls"], params["secrets"] = policy_set.shown, policy_set.secret
            commands.allow(policy_set.shown)
        return names

    def _chosen(self, chosen: object) -> list[str]:
        """The named controls; without names all of them, as --tags and --skip-tags choose."""
        known = list(policies.controls())
        if chosen is not None:
            names = [chosen] if isinstance(chosen, str) else chosen
            if not isinstance(names, list) or not all(isinstance(item, str) for item in names):
                raise Failed("controls must be a list of names")
            for name in names:
                policies.control_named(name)
        else:
            tags = (self.variables.get(f"ansible_{name}_tags") or () for name in ("run", "skip"))
            names = policies.chosen_by_tags(*tags)
        if not names:
            raise Failed(f"no control is named: name at least one of {', '.join(known)}")
        return list(names)

    def lost(self, outcome: str, message: str) -> None:
        runs.write_result(self.host, self.hosts, outcome, message, [])

    def recorded_at(self, params: dict[str, Any]) -> str | None:
        """When the evidence was read: now, or when the pack states."""
        pack = params.get("evidence_pack")
        return runs.now() if pack is None else runs.recorded_at(Path(pack))


def _with_own_checks(
    policy_set: policies.Policies, names: list[str], selected: selection.Selection | None
) -> list[str]:
    """Add the checks of checks.d. Without any check the control is not sent."""
    if "custom" not in policy_set.shown:
        return names
    try:
        loaded = custom_checks.load(transport.inventory_sources())
    except HostproofError as problem:
        raise Failed(str(problem)) from None
    policy = policy_set.shown["custom"]
    if loaded and isinstance(policy["checks"], list):
        policy["checks"] = [*(check.values for check in loaded), *policy["checks"]]
    if selected is not None and isinstance(policy["checks"], list):
        policy["checks"] = [check for check in policy["checks"] if _is_selected(selected, check)]
    if policy["checks"]:
        return names
    if names == ["custom"]:
        raise Failed(f"there is no check of your own: write one in {custom_checks.FOLDER}/*.yml")
    del policy_set.shown["custom"]
    return [name for name in names if name != "custom"]


def _is_selected(selected: selection.Selection, entry: object) -> bool:
    """An entry that is no check stays: the host reports it."""
    return not isinstance(entry, dict) or selected.has(f"custom.{entry.get('id')}")


def _has_this_bytecode(interpreter: str) -> bool:
    """Whether it is this Python, or one of this version by its name: /usr/bin/python3.11.

    Another Python has other bytecode, and would need a second execution for the sources.
    """
    started = os.path.realpath(interpreter)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return started == os.path.realpath(sys.executable) or os.path.basename(started) == version


@functools.cache
def validator(module: str) -> ArgumentSpecValidator:
    return ArgumentSpecValidator(argument_spec(module))


@functools.cache
def validator_of_user_module(module: str) -> ArgumentSpecValidator:
    """By ARGUMENT_SPEC and RULES of the module, which is imported: its options may be computed.

    Paths stay as they are: the host completes them.
    """
    found = importlib.util.spec_from_file_location(f"_module_{module}", LIBRARY / f"{module}.py")
    if found is None or found.loader is None:
        raise AssertionError
    imported = importlib.util.module_from_spec(found)
    found.loader.exec_module(imported)
    options = {
        name: {**option, "type": "str"} if option.get("type") == "path" else option
        for name, option in imported.ARGUMENT_SPEC.items()
    }
    return ArgumentSpecValidator(options, **getattr(imported, "RULES", {}))


@functools.cache
def argument_spec(module: str) -> dict[str, Any]:
    """ARGUMENT_SPEC of a module in library/: a literal, so that the module need not be imported."""
    tree = ast.parse((LIBRARY / f"{module}.py").read_text(encoding="utf-8"))
    for node in tree.body:
        names = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == "ARGUMENT_SPEC" for target in names):
            if not isinstance(node, ast.Assign):
                raise AssertionError
            spec: dict[str, Any] = ast.literal_eval(node.value)
            return spec
    raise LookupError(f"library/{module}.py has no ARGUMENT_SPEC")


def one_line(problem: object) -> str:
    return text.one_line(str(problem))[:1000]


#: What ssh says by itself: not why there is no answer.
_OF_SSH = re.compile(r"debug[1-3]:|(Shared c|C)onnection to .* closed|OpenSSH_|mux_client_")

#: What sudo says where sudoers wants a terminal (requiretty).
_NEEDS_TERMINAL = re.compile(r"sudo: sorry, you must have a tty to run sudo")

#: How a module of ansible-core 2.17 or newer ends with a Python older than 3.7 or 3.8.
_TOO_OLD_FOR_MODULES = re.compile(r"future feature annotations|minimum of Python version")

#: Messages of a shell, env, sudo or su for a program that is missing or cannot be started.
_NO_PROGRAM = re.compile(r"not found|No such file|annot execute|Permission denied|Exec format")


def what_was_said(output: dict[str, Any]) -> str:
    """The last line that a host printed instead of an answer: sudo's or the shell's sentence."""
    code = output.get("rc")
    for stream in ("stderr", "stdout"):
        # The last lines: a host may print without end.
        lines = [one_line(line) for line in str(output.get(stream, ""))[-20_000:].splitlines()]
        lines = [line for line in lines if line and not _OF_SSH.match(line)]
        if lines:
            message = f"{lines[-1][:500]} (exit code {code})"
            if code in (126, 127) or (code and _NO_PROGRAM.search(lines[-1])):
                message += "; is ansible_python_interpreter a Python 3.6 or newer there?"
            if _TOO_OLD_FOR_MODULES.search(lines[-1]):
                message += (
                    f"; ansible-core {transport.CORE} sends no modules to this Python: set "
                    "pipelining = True in ansible.cfg and remove requiretty from sudoers of the "
                    "host, or use ansible-core 2.16"
                )
            if _NEEDS_TERMINAL.search(lines[-1]):
                message += "; its sudoers have requiretty, and this connection gives no terminal"
            return message
    return f"exit code {code}, and nothing was printed"


def where_in(answer: dict[str, Any]) -> str:
    """The last place in our own code that a traceback names."""
    trace = str(answer.get("exception"))[-MOST_OF_TRACE:]
    places = [one_line(line) for line in trace.splitlines() if line.strip().startswith("File ")]
    ours = [place for place in places if "module_utils/" in place or "library/" in place]
    return (ours or places or ["no traceback"])[-1][:300]


def _no_template(value: object) -> Any:
    raise Failed(
        f"an argument holds {type(value).__name__}, which is not a text, number, list or map"
    )
