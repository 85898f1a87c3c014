# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks that run on the controller, in the worker's own process: nothing is packed or sent.

The module of the same name in library/ holds the documentation and the arguments.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from ansible.module_utils.hostproof.errors import HostproofError

from . import runs
from .remote.host_action import argument_spec
from .remote.transport import Task, as_data


class Failed(HostproofError):
    """The task fails with this message, and with what it has to answer anyway."""

    def __init__(self, message: str, **answer: Any) -> None:
        super().__init__(message)
        self.answer = answer


runs.name_folders()


class ControllerAction(Task):
    """One task. ``error_prefix`` begins an error message; ``required_if`` is as for a module."""

    error_prefix: ClassVar[str]
    required_if: ClassVar[Sequence[tuple[str, str, Sequence[str]]]] = ()
    requires_connection = False

    def perform(self) -> dict[str, Any]:
        self.hosts = len(self.variables.get("ansible_play_hosts_all") or ())
        try:
            arguments = self.arguments_of(argument_spec(self.task_name), self.required_if)
            answer = self.answer(arguments, check_mode=self.check_mode)
            runs.write_judged(answer.get("judged", []), self.hosts)
        except Failed as problem:
            answer = {**problem.answer, "failed": True, "msg": str(problem)}
        except (HostproofError, OSError, ValueError) as problem:
            answer = {"failed": True, "msg": f"{self.error_prefix}: {problem}"}
        # An argument of the task may be marked as a template, and come back in the answer.
        return dict(as_data({"changed": False, **answer}))

    def answer(self, arguments: dict[str, Any], *, check_mode: bool) -> dict[str, Any]:
        """What the task answers to these arguments; its keys are fixed, whatever a host stated."""
        raise NotImplementedError

    def of_user(self, variable: str, value: object) -> Any:
        """``value``, which an argument took from a variable, unless a host stated it: then -e
        counts.

        Facts are what a host answered, and where Ansible makes variables of them (which is its
        default) they come before those of the inventory.
        """
        if variable not in (self.variables.get("ansible_facts") or {}):
            return value
        return self.extra_variable(variable)
