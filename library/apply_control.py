#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: apply_control
short_description: Apply the policy of one control to a host
version_added: "0.1.0"
description:
  - Creates a plan from the host state and the policy, rejects a plan that would harm the host, and
    records the previous state in the change journal before writing.
  - Reads each change back. If a change does not take effect, restores all changes of this plan and
    fails with the requested and the granted value.
  - Settings that only a command can change (an initialization parameter, the start of a listener)
    are changed by that command as their owner and read back by another command.
  - Changes a mount by unmounting it, never by force, and mounting it again. After a change of
    fstab, reloads the units of systemd if it is running.
options:
  control:
    description: Control to apply.
    type: str
    required: true
  policy:
    description:
      - Variables of the role without their prefix. Default, the variables C(CONTROL_*).
    type: dict
  secrets:
    description:
      - Secret policy values for each control, as a base64-encoded JSON dictionary.
    type: dict
attributes:
  async:
    description: Does not support async, because the host responds only once.
    support: none
  check_mode:
    description: Returns the plan. Has no effect.
    support: full
  diff_mode:
    description: Shows each file, value, mount and command before and after, in check mode too.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Set the huge page pool of the policy
  hostproof.hostproof.apply_control:
    control: hugepages
"""

RETURN = r"""
pending:
  description: Changes that require a restart, a login or a reboot, as sentences.
  returned: always
  type: list
  elements: str
idle:
  description: Whether the policy requires nothing on this host; V(pending) has the reason.
  returned: always
  type: bool
reboot_pending:
  description: Whether the running kernel keeps an old value until reboot.
  returned: always
  type: bool
"""

from ansible.module_utils.hostproof.apply import difference
from ansible.module_utils.hostproof.apply import transaction as apply
from ansible.module_utils.hostproof.apply.journal import Journal
from ansible.module_utils.hostproof.apply.writer import Writer
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.collect.host_module import AnsibleModule
from ansible.module_utils.hostproof.controls.registry import CONTROLS, planner
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate.audit import policies_from

ARGUMENT_SPEC = {
    "control": {"type": "str", "required": True},
    "policy": {"type": "dict"},
    "secrets": {"type": "dict", "no_log": True},
}


def main():
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    name = module.params["control"]
    diff = []
    writer = Writer()
    journal = Journal(writer)
    try:
        policy = policies_from({name: module.params["policy"]}, module.params["secrets"])[name]
        plan = apply.plan_of(CONTROLS[name].read, planner(name), LiveHost(), policy)
        diff = difference.of_plan(plan)
        apply.refuse(plan, name, journal)
        if not module.check_mode:
            apply.apply_plan(plan, name, journal, writer)
    except (HostproofError, OSError) as problem:
        module.fail_json(msg=f"{name}: {problem}", diff=diff)
    module.exit_json(
        changed=bool(plan.changes),
        diff=diff,
        pending=plan.pending + apply.left_out(plan, name),
        reboot_pending=bool(plan.at_boot),
        idle=plan.idle,
    )


if __name__ == "__main__":
    main()
