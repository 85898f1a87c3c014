# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of our modules. A message of failure holds no secret of the host."""

from typing import Any, Callable, Dict, NoReturn

from ansible.module_utils.basic import AnsibleModule as PlainModule

from ..errors import HostproofError
from .masking import masked


class AnsibleModule(PlainModule):
    """As Ansible's. A failure can quote what a host stated, and goes to screens and logs."""

    def fail_json(self, msg: str, **result: object) -> NoReturn:
        super().fail_json(msg=masked("", msg), **result)
        raise AssertionError("fail_json ends the module")


def run(
    name: str,
    argument_spec: Dict[str, Any],
    answer: Callable[[Dict[str, Any], bool], Dict[str, Any]],
    **options: object,
) -> None:
    """Run a module. ``answer`` gets the parameters and whether this is check mode, and returns the
    result. A HostproofError, an OSError or a ValueError fails the module with its message."""
    module = AnsibleModule(argument_spec=argument_spec, supports_check_mode=True, **options)
    try:
        result = answer(dict(module.params), module.check_mode)
    except (HostproofError, OSError, ValueError) as problem:
        remarks = getattr(problem, "remarks", [])
        module.fail_json(msg=f"{name}: {problem}", remarks=remarks)
    module.exit_json(**result)
