#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: apply_control
short_description: Change a host so that it complies with the policy of a control
description:
  - Derives a plan from the host and the policy, rejects a plan that would harm the
    host, and records every previous state in the change journal before it writes.
  - Every change is read back. If one has no effect, all changes of this plan are restored and the
    task fails with the requested and the granted value.
  - What only a command can change (an initialisation parameter, the start of a listener) is made by
    that command, as the owner of what it changes, and read back by another one.
  - A mount that changes is unmounted, never by force, and mounted. systemd, where it runs, reads
    its units again after a change of fstab.
options:
  control:
    description: The control to apply.
    type: str
    required: true
  policy:
    description:
      - Every variable of the control's role, without the prefix; taken from the variables
        C(CONTROL_*) if it is not given.
    type: dict
  secrets:
    description:
      - What the policy keeps from sight. For each control a dictionary of policy values, as base64
        of JSON.
    type: dict
attributes:
  async:
    description: Does not support async, since the host answers once.
    support: none
  check_mode:
    description: Returns the plan and has no effect.
    support: full
  diff_mode:
    description: Shows each file, value, mount and command before and after, in check mode too.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Set the huge page pool of the policy
  apply_control:
    control: hugepages
"""

RETURN = r"""
pending:
  description: Changes that wait for a restart, a login or a reboot, as sentences.
  returned: always
  type: list
  elements: str
reboot_pending:
  description: Whether the running kernel keeps an old value until the next boot.
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
        pending=plan.pending,
        reboot_pending=bool(plan.at_boot),
    )


if __name__ == "__main__":
    main()
