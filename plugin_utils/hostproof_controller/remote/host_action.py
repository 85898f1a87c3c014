# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action plugins' way to a host: one payload and one request through Ansible's own connection.

Where that cannot be done (no pipelining, an interpreter that is still to be discovered) Ansible
sends the module of the same name in library/ as it sends any other, and it answers the same.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import gc
import json
import re
from pathlib import Path
from typing import Any

import ansible.constants as C
from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.plugins.action import ActionBase
from ansible.release import __version__ as CORE
from ansible.utils.unsafe_proxy import wrap_var

from .. import policies, runs
from ..layout import COLLECTION, LIBRARY
from ..report import text
from . import output_limits, payload, response_validation

#: From here on only what is marked as a template is one; before, all that is not marked as unsafe.
TRUST_IS_EXPLICIT = tuple(int(part) for part in CORE.split(".")[:2]) >= (2, 19)

#: How Ansible's ssh begins when what it started took no input.
_NOT_SENT = "Data could not be sent"

DISCOVERED = ("", "auto", "auto_legacy", "auto_silent", "auto_legacy_silent")


class Failed(Exception):
    """The task fails with this message: one sentence."""


def prepare(module: str = "") -> None:
    """What every worker needs, made before they are forked: the strategy loads action plugins.

    Of ``module`` it is taken that all controls are asked for.
    """
    runs.name_folders()
    policies.prime()
    payload.prime(module, policies.controls() if module else ())
    # Looking for garbage writes to all that there is: each worker would have its own inventory.
    gc.freeze()


#: What one sentence tells.
_SAID = (
    Failed,
    policies.BadPolicy,
    response_validation.Invalid,
    payload.NoAnswer,
    output_limits.LimitExceeded,
)


class PayloadAction(ActionBase):
    """Runs the module of the task's name on the host. Subclasses say what it is given, and what
    becomes of its answer."""

    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        self._variables: dict[str, Any] = task_vars or {}
        self._host = str(self._variables.get("inventory_hostname", ""))
        try:
            # It refuses what a task cannot be here, such as async.
            super().run(tmp, self._variables)
            del tmp
            params = self.validated()
            controls = self.complete(params)
            with output_limits.limit_output(self._connection, self._patience(params)):
                answer = self._ask(params, controls)
            result = self.take(params, controls, self._checked(answer))
        except AnsibleConnectionFailure as problem:
            self.lost("unreachable", one_line(problem))
            raise
        except _SAID as problem:
            self.lost("failed", f"{self.module}: {problem}")
            result = {"failed": True, "msg": f"{self.module}: {problem}", "reported": True}
        except BaseException as problem:
            if type(problem).__name__ == "TaskTimeoutError":
                seconds = self._task.timeout
                self.lost("failed", f"the task took longer than its timeout of {seconds} s")
            elif isinstance(problem, Exception):
                self.lost("failed", one_line(problem))
            raise
        # ansible-core 2.16 takes any text of a result for a template that is not marked.
        return result if TRUST_IS_EXPLICIT else wrap_var(result)

    @property
    def module(self) -> str:
        return str(self._task.action).rpartition(".")[2]

    def validated(self) -> dict[str, Any]:
        """The task's arguments as the module's own specification has them."""
        checked = validator(self.module).validate(self.arguments())
        if checked.error_messages:
            raise Failed("; ".join(map(one_line, checked.error_messages)))
        return dict(
            policies.plain("the task's arguments", checked.validated_parameters, _no_template)
        )

    def arguments(self) -> dict[str, Any]:
        """The task's arguments."""
        return dict(self._task.args)

    def complete(self, params: dict[str, Any]) -> list[str]:
        """Add to ``params`` what stands in variables; the controls that the host must know."""
        return []

    def take(
        self, params: dict[str, Any], controls: list[str], answer: dict[str, Any]
    ) -> dict[str, Any]:
        """The task's result from the host's answer."""
        return answer

    def lost(self, outcome: str, message: str) -> None:
        """There is no answer: "unreachable" or "failed", and why."""

    def lasting(self, params: dict[str, Any]) -> float:
        """Seconds that the task itself has its host wait or measure."""
        return 0.0

    def _patience(self, params: dict[str, Any]) -> float:
        """Seconds until an answer must be there."""
        name = "hostproof_answer_seconds"
        value = policies.plain(
            name,
            self._variables.get(name, output_limits.SECONDS),
            lambda found: self._template(found, self._variables),
        )
        try:
            seconds = float(value)
        except (TypeError, ValueError):
            seconds = 0.0
        if isinstance(value, bool) or not 1 <= seconds <= output_limits.MOST_SECONDS:
            raise Failed(f"{name} must be from 1 to {output_limits.MOST_SECONDS}, not {value!r}")
        return seconds + self.lasting(params)

    @property
    def hosts(self) -> int:
        """How many hosts the play set out to judge."""
        return max(1, len(self._variables.get("ansible_play_hosts_all") or ()))

    def policies_of(self, names: list[str]) -> policies.Policies:
        return policies.policies_of(names, self._variables, self._template)

    def _template(self, value: Any, variables: dict[str, Any]) -> Any:
        before = self._templar.available_variables
        self._templar.available_variables = variables
        try:
            return self._templar.template(value)
        finally:
            self._templar.available_variables = before

    def _checked(self, answer: dict[str, Any]) -> dict[str, Any]:
        crash = answer.get("crashed")
        if isinstance(crash, str):
            raise Failed(f"a fault of Hostproof's: {one_line(crash)}; {where_in(answer)}")
        return response_validation.checked(self.module, answer)

    def _ask(self, params: dict[str, Any], controls: list[str]) -> dict[str, Any]:
        interpreter = self._interpreter()
        if interpreter is None or not self._is_pipelining_enabled("new"):
            return self._by_module(params)
        try:
            return self._by_payload(interpreter, params, controls)
        except (AnsibleError, Failed) as problem:
            if not _NEEDS_TERMINAL.search(str(problem)):
                raise
        # With "Defaults requiretty" sudo starts nothing that is fed through a pipe.
        self._connection.has_pipelining = False
        with contextlib.suppress(KeyError):
            # Not every connection has the option; some give a terminal by it alone.
            self._connection.set_option("pipelining", False)
        return self._by_module(params)

    def _by_module(self, params: dict[str, Any]) -> dict[str, Any]:
        return self._execute_module(
            module_name=COLLECTION + self.module, module_args=params, task_vars=self._variables
        )

    def _parse_returned_data(self, res: Any, *profile: Any) -> Any:
        """Of what a module prints, Ansible gets the answer's known keys alone.

        It would show what else a host prints, set facts, and take any number of values.
        """
        try:
            answer = payload.answer_of_module(str(res.get("stdout", "")))
        except payload.NoAnswer as problem:
            raise Failed(f"{problem}: {what_was_said(res)}") from None
        known = json.dumps(response_validation.checked(self.module, answer))
        return super()._parse_returned_data({**res, "stdout": known, "stderr": ""}, *profile)

    def _by_payload(
        self, interpreter: str, params: dict[str, Any], controls: list[str]
    ) -> dict[str, Any]:
        for compression in payload.COMPRESSIONS:
            output, mark = self._send(interpreter, params, controls, compression)
            if output["rc"] != payload.NO_COMPRESSION or mark in output["stdout"]:
                break
        try:
            return payload.answer_in(output["stdout"], mark)
        except payload.NoAnswer as problem:
            raise Failed(f"{problem}: {what_was_said(output)}") from None

    def _send(
        self, interpreter: str, params: dict[str, Any], controls: list[str], compression: str
    ) -> tuple[dict[str, Any], str]:
        code = payload.payload_for(self.module, controls, compression)
        asked, mark = payload.request(
            self.module,
            params,
            check_mode=bool(self._task.check_mode),
            diff=bool(self._task.diff),
            compiled=payload.compiled_for(self.module, controls) if self._is_here else None,
        )
        start = payload.command(interpreter, code, compression)
        command = f"{self._compute_environment_string()} {start}".strip()
        try:
            return self._low_level_execute_command(command, in_data=code + asked), mark
        except AnsibleConnectionFailure as problem:
            # ssh ended before it had taken the payload, and then Ansible tells of a broken pipe
            # alone. A command without input ends with ssh's own sentence.
            if _NOT_SENT in str(problem):
                self._low_level_execute_command("exit 0")
            raise

    @property
    def _is_here(self) -> bool:
        """Whether the host is the controller."""
        return bool(self._connection.transport == "local")

    def _interpreter(self) -> str | None:
        """The host's Python by Ansible's configuration; None where Ansible is to look for it."""
        variables = self._variables
        if self._task.delegate_to:
            variables = variables.get("ansible_delegated_vars", {}).get(self._task.delegate_to, {})
        chosen = C.config.get_config_value("INTERPRETER_PYTHON", variables=variables)
        found = str(self._template(chosen, {**self._variables, **variables})).strip()
        return None if found in DISCOVERED else found


class ModuleAction(PayloadAction):
    """For what needs Ansible's own code on the host, or the collection's user alone calls: the
    module is sent, and what comes back is bounded and known all the same."""

    _supports_async = True

    def validated(self) -> dict[str, Any]:
        """The module checks its arguments itself."""
        return self.arguments()

    def _ask(self, params: dict[str, Any], controls: list[str]) -> dict[str, Any]:
        if self._task.async_val:
            # What comes back is where to look for it: from there Ansible reads it.
            return self._execute_module(
                module_args=params, task_vars=self._variables, wrap_async=True
            )
        return self._by_module(params)

    def _parse_returned_data(self, res: Any, *profile: Any) -> Any:
        plain = super(PayloadAction, self)._parse_returned_data
        return (plain if self._task.async_val else super()._parse_returned_data)(res, *profile)

    def _checked(self, answer: dict[str, Any]) -> dict[str, Any]:
        """It was checked as it came, and has since got what Ansible itself adds."""
        return answer


class JudgingAction(PayloadAction):
    """For what judges or reads any number of controls."""

    def complete(self, params: dict[str, Any]) -> list[str]:
        chosen = params["controls"]
        if isinstance(chosen, dict):
            # The task holds the policies; a misspelt variable would be read by nobody all the same.
            policies.refuse_unknown(self._variables)
            names = list(chosen)
        else:
            names = self._chosen(chosen)
            found = self.policies_of(names)
            params["controls"], params["secrets"] = found.shown, found.secret
        self._wanted = names
        return names

    def _chosen(self, chosen: Any) -> list[str]:
        """The named controls; without names all of them, as --tags and --skip-tags choose."""
        known = list(policies.controls())
        if chosen is not None:
            names = [chosen] if isinstance(chosen, str) else chosen
            if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
                raise Failed("controls must be a list of names")
            for name in names:
                policies.control_named(name)
        else:
            tags = set(self._variables.get("ansible_run_tags") or ["all"])
            skipped = set(self._variables.get("ansible_skip_tags") or [])
            names = [one for one in known if ("all" in tags or one in tags) and one not in skipped]
        if not names:
            raise Failed(f"no control is named: name at least one of {', '.join(known)}")
        return list(names)

    def lost(self, outcome: str, message: str) -> None:
        runs.write_result(self._host, self.hosts, outcome, message, [])

    def recorded_at(self, params: dict[str, Any]) -> str | None:
        """When the evidence was read: now, or when the pack says."""
        pack = params.get("evidence_pack")
        return runs.now() if pack is None else runs.recorded_at(Path(pack))


@functools.cache
def validator(module: str) -> ArgumentSpecValidator:
    return ArgumentSpecValidator(argument_spec(module))


@functools.cache
def argument_spec(module: str) -> dict[str, Any]:
    """ARGUMENT_SPEC of a module in library/: a literal, so that the module need not be imported."""
    tree = ast.parse((LIBRARY / f"{module}.py").read_text(encoding="utf-8"))
    for node in tree.body:
        names = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(one, ast.Name) and one.id == "ARGUMENT_SPEC" for one in names):
            assert isinstance(node, ast.Assign)
            found: dict[str, Any] = ast.literal_eval(node.value)
            return found
    raise LookupError(f"library/{module}.py has no ARGUMENT_SPEC")


def one_line(problem: Any) -> str:
    return text.one_line(str(problem))[:1000]


#: What ssh says by itself: not why there is no answer.
_OF_SSH = re.compile(r"debug[1-3]:|(Shared c|C)onnection to .* closed|OpenSSH_|mux_client_")

#: What sudo says where sudoers wants a terminal (requiretty).
_NEEDS_TERMINAL = re.compile(r"sudo: sorry, you must have a tty to run sudo")

#: What a shell, env, sudo or su say of a program that is not there or cannot be started.
_NO_PROGRAM = re.compile(r"not found|No such file|annot execute|Permission denied|Exec format")


def what_was_said(output: dict[str, Any]) -> str:
    """The last line that a host printed instead of an answer: sudo's or the shell's sentence."""
    code = output.get("rc")
    for stream in ("stderr", "stdout"):
        # The last lines: a host may print without end.
        lines = [one_line(line) for line in str(output.get(stream, ""))[-20_000:].splitlines()]
        lines = [line for line in lines if line and not _OF_SSH.match(line)]
        if lines:
            said = f"{lines[-1][:500]} (exit code {code})"
            if code in (126, 127) or (code and _NO_PROGRAM.search(lines[-1])):
                said += "; is ansible_python_interpreter a Python 3.6 or newer there?"
            if _NEEDS_TERMINAL.search(lines[-1]):
                said += "; its sudoers have requiretty, and this connection gives no terminal"
            return said
    return f"exit code {code}, and nothing was printed"


def where_in(answer: dict[str, Any]) -> str:
    """The last place in our own code that a traceback names."""
    trace = str(answer.get("exception"))[-20_000:]
    places = [one_line(line) for line in trace.splitlines() if line.strip().startswith("File ")]
    ours = [place for place in places if "module_utils/" in place or "library/" in place]
    return (ours or places or ["no traceback"])[-1][:300]


def _no_template(value: Any) -> Any:
    raise Failed(f"an argument holds {type(value).__name__}, which is no text, number, list or map")
