#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: compare_latency
short_description: Compare latency before and after a change, host by host and all together
description:
  - Runs on the controller, on two directories that M(latency_baseline) wrote.
  - Each figure gets one of four verdicts, worse, better, no different or inconclusive, from windows
    and with a margin. A figure that is missing on one side is an error, never "no different".
options:
  state:
    description:
      - V(compared) compares. V(planned) checks that the comparison is possible, before
        any measurement, and fails if it is not.
    type: str
    choices: [compared, planned]
    default: compared
  before:
    description: The folder of what was measured before the change.
    type: path
    required: true
  after:
    description: The folder of what was measured after it.
    type: path
    required: true
  hosts:
    description: The hosts that were changed.
    type: list
    elements: str
    required: true
  unchanged:
    description: Hosts that were measured and not changed. What happened to them is taken off.
    type: list
    elements: str
    default: []
  controls:
    description:
      - V(planned), the pattern, or patterns, that O(unchanged) are the hosts of. If it, or a name
        in it, matches none, it fails, for they would count as changed.
    type: raw
    default: ""
  groups:
    description: V(planned), the groups of the inventory with their hosts, as Ansible's C(groups).
    type: dict
    default: {}
attributes:
  check_mode:
    description: Never changes anything.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Compare
  compare_latency:
    before: baselines/before
    after: baselines/after
    hosts: "{{ ansible_play_hosts_all }}"
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
judged:
  description:
    - For each host C(host), its C(findings) as docs/finding.schema.json says, and the C(evidence)
      they cite, base64 of zlib of JSON. The host V((run)) is all of them together.
  returned: success
  type: list
  elements: dict
lines:
  description: The verdicts for people.
  returned: success
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

ARGUMENT_SPEC = {
    "state": {"type": "str", "choices": ["compared", "planned"], "default": "compared"},
    "before": {"type": "path", "required": True},
    "after": {"type": "path", "required": True},
    "hosts": {"type": "list", "elements": "str", "required": True},
    "unchanged": {"type": "list", "elements": "str", "default": []},
    "controls": {"type": "raw", "default": ""},
    "groups": {"type": "dict", "default": {}},
}


def main():
    """Reached only where Ansible did not find the action plugin of the same name."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    module.fail_json(
        msg="compare_latency only runs on the controller: name Hostproof's action_plugins in the "
        "setting action_plugins of your ansible.cfg"
    )


if __name__ == "__main__":
    main()
