# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs on the controller as a task: in the worker's own process, with nothing packed or sent.

The module of the same name in library/ holds the documentation and says which arguments there are.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from ansible.module_utils.hostproof.errors import HostproofError
from ansible.plugins.action import ActionBase
from ansible.utils.unsafe_proxy import wrap_var

from . import runs
from .remote.host_action import argument_spec


class Failed(HostproofError):
    """The task fails with this message, and with what it has to answer all the same."""

    def __init__(self, message: str, **answer: Any) -> None:
        super().__init__(message)
        self.answer = answer


runs.name_folders()


class ControllerAction(ActionBase):
    """One task. ``said`` begins what goes wrong; ``required_if`` is as for a module."""

    said: ClassVar[str]
    required_if: ClassVar[Sequence[tuple[str, str, Sequence[str]]]] = ()
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """The answer of the task. Texts from hosts are in it, and none is ever a template."""
        super().run(tmp, task_vars)
        self._variables = task_vars or {}
        self.hosts = len(self._variables.get("ansible_play_hosts_all") or ())
        try:
            answer = self.answer(self.arguments(), check_mode=self._task.check_mode)
            runs.write_judged(answer.get("judged", []), self.hosts)
        except Failed as problem:
            answer = {**problem.answer, "failed": True, "msg": str(problem)}
        except (HostproofError, OSError, ValueError) as problem:
            answer = {"failed": True, "msg": f"{self.said}: {problem}"}
        return wrap_var({"changed": False, **answer})

    def answer(self, given: dict[str, Any], *, check_mode: bool) -> dict[str, Any]:
        """What the task answers to these arguments; its keys are fixed, whatever a host said."""
        raise NotImplementedError

    def of_user(self, variable: str, value: Any) -> Any:
        """``value``, which an argument took from a variable, unless a host said it: then -e counts.

        Facts are what a host answered, and where Ansible makes variables of them (which is its
        default) they come before those of the inventory.
        """
        if variable not in (self._variables.get("ansible_facts") or {}):
            return value
        given = self._task.get_variable_manager().extra_vars
        return self._templar.template(given[variable]) if variable in given else None

    def arguments(self) -> dict[str, Any]:
        """The arguments of the task, checked and completed as for a module."""
        _, given = self.validate_argument_spec(
            argument_spec=argument_spec(str(self._task.action).rpartition(".")[2]),
            required_if=list(self.required_if),
        )
        return given
