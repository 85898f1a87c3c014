# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The only module that uses interfaces which ansible-core does not promise to keep.

Tasks, connections, templates, the alarm and the memory of workers are used here, and everything
else calls the public names below. tests/unit/test_transport.py holds what each supported
ansible-core must do for this module.
"""

from __future__ import annotations

import contextlib
import gc
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any, ClassVar

import ansible.constants
from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase
from ansible.release import __version__ as CORE
from ansible.utils.unsafe_proxy import wrap_var

#: The host cannot be reached.
Unreachable = AnsibleConnectionFailure
#: Any error of Ansible, with a message for the user.
TransportError = AnsibleError

#: ansible-core 2.16 takes every text of a result for a template, unless it is marked as unsafe.
#: Since 2.19 only a text that is marked as a template is one.
TRUST_IS_EXPLICIT = tuple(int(part) for part in CORE.split(".")[:2]) >= (2, 19)

#: Values of ansible_python_interpreter with which Ansible searches for a Python.
DISCOVERED = ("", "auto", "auto_legacy", "auto_silent", "auto_legacy_silent")

#: How the message of Ansible's ssh begins if the program that it started took no input.
_NOT_SENT = "Data could not be sent"

#: The exception of a task that took longer than its ``timeout``. Its module has moved between
#: releases, and it is no ``Exception`` in 2.16.
_TASK_TIMEOUT = "TaskTimeoutError"


def inventory_sources() -> tuple[str, ...]:
    """The inventories of this run: paths and host lists; () outside of a run."""
    # Ansible replaces the object when it has read its command line.
    from ansible.context import CLIARGS

    return tuple(map(str, CLIARGS.get("inventory") or ()))


def extra_variables() -> tuple[str, ...]:
    """The values of -e, as they were given."""
    from ansible.context import CLIARGS

    return tuple(map(str, CLIARGS.get("extra_vars") or ()))


def verbosity() -> int:
    """The number of -v."""
    from ansible.utils.display import Display

    return int(Display().verbosity)


def send_also(module_utils: str) -> None:
    """Let modules import what is in this directory, as the ``module_utils`` of ansible.cfg does."""
    from ansible.plugins.loader import module_utils_loader

    module_utils_loader.add_directory(module_utils)


def warn(text: str) -> None:
    """Print a warning, also from a worker."""
    from ansible.utils.display import Display

    Display().warning(text)


class Task(ActionBase):
    """A task of a play. A subclass sets the class variables and implements ``perform``."""

    supports_async: ClassVar[bool] = False
    requires_connection: ClassVar[bool] = True

    _supports_check_mode = True

    def __init_subclass__(cls) -> None:
        cls._supports_async = cls.supports_async
        cls._requires_connection = cls.requires_connection

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Called by Ansible. The result is data: no text of it is ever a template."""
        del tmp
        self.variables: dict[str, Any] = task_vars or {}
        try:
            # Ansible rejects what the task does not support, such as async.
            super().run(None, self.variables)
            result = self.perform()
        except Unreachable as problem:
            self.ended("unreachable", problem)
            raise
        except BaseException as problem:
            if type(problem).__name__ == _TASK_TIMEOUT:
                seconds = self._task.timeout
                self.ended("failed", f"the task took longer than its timeout of {seconds} s")
            elif isinstance(problem, Exception):
                self.ended("failed", problem)
            raise
        return result if TRUST_IS_EXPLICIT else as_data(result)

    def perform(self) -> dict[str, Any]:
        """The result of the task."""
        raise NotImplementedError

    def ended(self, outcome: str, reason: Any) -> None:
        """Ansible ends the task without a result: "unreachable" or "failed", and why."""

    @property
    def task_name(self) -> str:
        """The name of the module, without a collection."""
        return str(self._task.action).rpartition(".")[2]

    @property
    def task_arguments(self) -> dict[str, Any]:
        return dict(self._task.args)

    @property
    def check_mode(self) -> bool:
        return bool(self._task.check_mode)

    @property
    def diff_mode(self) -> bool:
        return bool(self._task.diff)

    @property
    def is_async(self) -> bool:
        return bool(self._task.async_val)

    @property
    def delegated_to(self) -> str | None:
        """The host that ``delegate_to`` names."""
        return self._task.delegate_to or None

    @property
    def runs_once(self) -> bool:
        """Whether one host runs the task, and all hosts of the play get its result."""
        return bool(self._task.run_once)

    @property
    def connection(self) -> Any:
        """For output_limits.py, which hands it back to ``watched_output``."""
        return self._connection

    @property
    def runs_here(self) -> bool:
        """Whether the host is the controller."""
        return bool(self._connection.transport == "local")

    def template(self, value: Any, variables: dict[str, Any] | None = None) -> Any:
        """``value`` with its templates filled in from ``variables``, or from those of the task."""
        before = self._templar.available_variables
        self._templar.available_variables = self.variables if variables is None else variables
        try:
            return self._templar.template(value)
        finally:
            self._templar.available_variables = before

    def extra_variable(self, name: str) -> Any:
        """The value of -e, its templates filled in; None if the user gave none."""
        variables = self._task.get_variable_manager().extra_vars
        return self._templar.template(variables[name]) if name in variables else None

    def arguments_of(
        self, specification: dict[str, Any], required_if: Sequence[Any]
    ) -> dict[str, Any]:
        """The arguments of the task, checked and completed as for a module."""
        _, arguments = self.validate_argument_spec(
            argument_spec=specification, required_if=list(required_if)
        )
        return dict(arguments)

    def interpreter(self) -> str | None:
        """The Python of the host by Ansible's configuration; None if Ansible must search for it."""
        variables = self.variables
        if self._task.delegate_to:
            variables = variables.get("ansible_delegated_vars", {}).get(self._task.delegate_to, {})
        configured = ansible.constants.config.get_config_value(
            "INTERPRETER_PYTHON", variables=variables
        )
        path = str(self.template(configured, {**self.variables, **variables})).strip()
        return None if path in DISCOVERED else path

    def can_pipe(self) -> bool:
        """Whether a command gets its input through the connection."""
        return bool(self._is_pipelining_enabled("new"))

    def stop_piping(self) -> None:
        """From now on Ansible copies modules to the host, and starts them with a terminal."""
        self._connection.has_pipelining = False
        with contextlib.suppress(KeyError):
            # Not every connection has the option.
            self._connection.set_option("pipelining", False)

    def pipe(self, command: str, data: bytes) -> dict[str, Any]:
        """Run a command of the shell with this input: ``rc``, ``stdout`` and ``stderr``.

        The command gets the environment of the task. Raises Unreachable or TransportError.
        """
        command = f"{self._compute_environment_string()} {command}".strip()
        try:
            return dict(self._low_level_execute_command(command, in_data=data))
        except Unreachable as problem:
            # ssh ended before it had taken the input, and Ansible reports a broken pipe only.
            # A command without input ends with the message of ssh.
            if _NOT_SENT in str(problem):
                self._low_level_execute_command("exit 0")
            raise

    def run_module(self, name: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Send a module through Ansible and run it.

        ``module_output`` gets its output. For an asynchronous task, the result contains the place
        of the answer instead.
        """
        return dict(
            self._execute_module(
                module_name=name,
                module_args=parameters,
                task_vars=self.variables,
                wrap_async=self.is_async,
            )
        )

    def module_output(self, output: dict[str, Any]) -> str:
        """The JSON text that Ansible may see of what a module printed."""
        return str(output.get("stdout", ""))

    def _parse_returned_data(self, res: Any, *profile: object) -> Any:
        """Called by Ansible with ``rc``, ``stdout`` and ``stderr``. 2.19 added ``profile``."""
        if not self.is_async:
            res = {**res, "stdout": self.module_output(res), "stderr": ""}
        return super()._parse_returned_data(res, *profile)


def as_data(value: Any) -> Any:
    """``value`` with every text marked: none is a template."""
    return wrap_var(value)


def freeze_memory() -> None:
    """Exempt all objects from garbage collection, before Ansible forks workers.

    The collector writes to each object, so every worker would get a copy of the inventory.
    """
    gc.freeze()


@contextlib.contextmanager
def watched_output(
    connection: Any, begin: Callable[[], None], check: Callable[[int], None]
) -> Iterator[None]:
    """Call ``begin`` before each command of the connection, and ``check`` with the bytes that it
    has printed."""
    plain = connection.exec_command

    def counted(*arguments: Any, **named: object) -> Any:
        begin()
        answer = plain(*arguments, **named)
        check(sum(len(stream) for stream in answer[1:]))
        return answer

    connection.exec_command = counted
    try:
        yield
    finally:
        connection.exec_command = plain


#: Seconds for the exception of a check to end the wait, before the next check.
_ENDING = 10.0


@contextlib.contextmanager
def shared_alarm(check: Callable[[float], None], tick: float) -> Iterator[None]:
    """Call ``check`` with the seconds that have passed, every ``tick`` seconds.

    Ansible uses the same timer for the ``timeout`` of a task: its alarm rings at its own time.
    In a thread nothing is called, because signals arrive in the main thread only.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    began = time.monotonic()
    theirs = signal.getitimer(signal.ITIMER_REAL)[0]
    handler: Callable[[int, FrameType | None], object] | object = signal.SIG_DFL
    rung = False

    def ring(number: int, frame: FrameType | None) -> None:
        nonlocal rung
        # While an exception of this alarm ends the wait, the next alarm would take its place, and
        # the timer would go on after that.
        signal.setitimer(signal.ITIMER_REAL, _ENDING)
        passed = time.monotonic() - began
        if theirs and passed >= theirs and callable(handler) and not rung:
            rung = True
            handler(number, frame)
        check(passed)
        signal.setitimer(signal.ITIMER_REAL, tick, tick)

    handler = signal.signal(signal.SIGALRM, ring)
    # It repeats: a read of much output in one call notices only an alarm that interrupts it.
    signal.setitimer(signal.ITIMER_REAL, min(tick, theirs or tick), tick)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        # It rings once: a second alarm would interrupt the handling of the first.
        if theirs and not rung:
            left = theirs - (time.monotonic() - began)
            signal.setitimer(signal.ITIMER_REAL, max(0.001, left))
