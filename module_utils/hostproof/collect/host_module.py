# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The AnsibleModule of our modules: what it says of a failure holds no secret of the host."""

from typing import Any, NoReturn

from ansible.module_utils.basic import AnsibleModule as PlainModule

from .masking import masked


class AnsibleModule(PlainModule):
    """As Ansible's. A failure can quote what a host said, and goes to screens and logs."""

    def fail_json(self, msg: str, **result: Any) -> NoReturn:
        super().fail_json(msg=masked("", msg), **result)
        raise AssertionError("fail_json ends the module")
