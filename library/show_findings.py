#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: show_findings
short_description: Print the findings of a control
version_added: "0.1.0"
description:
  - Prints the counts and each finding that is not V(pass) or V(skip), with the required value, the
    actual value and the fix. Prints at most 36 lines for a host.
  - Runs on the controller. The task fails if RV(hostproof.hostproof.verify_controls#module:failing)
    of the result is not empty.
options:
  control:
    description: Name of the control.
    type: str
    required: true
  result:
    description: Registered result of M(hostproof.hostproof.verify_controls).
    type: dict
    required: true
attributes:
  check_mode:
    description: Never changes anything.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Check the huge pages
  hostproof.hostproof.verify_controls:
    controls: [hugepages]
    fail_on: warn
    result: listed
  register: hugepages_result

- name: Print the findings
  hostproof.hostproof.show_findings:
    control: hugepages
    result: "{{ hugepages_result }}"
"""

RETURN = r"""
msg:
  description: The counts and the objects of the worst findings in one line.
  returned: always
  type: str
lines:
  description: The counts, and each finding that is not V(pass) or V(skip) with its fix.
  returned: always
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

ARGUMENT_SPEC = {
    "control": {"type": "str", "required": True},
    "result": {"type": "dict", "required": True},
}


def main():
    """Reached only where Ansible did not find the action plugin of the same name."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    module.fail_json(
        msg="show_findings only runs on the controller: name Hostproof's action_plugins in the "
        "setting action_plugins of your ansible.cfg"
    )


if __name__ == "__main__":
    main()
