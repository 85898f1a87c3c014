#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: compare_latency
short_description: Compare latency before and after a change, per host and for all hosts
version_added: "0.1.0"
description:
  - Runs on the controller, on two directories that M(hostproof.hostproof.latency_baseline) wrote.
  - Rates each figure as slower, faster, unchanged or inconclusive. A figure that is missing on one
    side is an error.
options:
  state:
    description:
      - V(compared) compares. V(planned) only checks, before measuring, that the comparison is
        possible, and fails otherwise.
    type: str
    choices: [compared, planned]
    default: compared
  before:
    description: Directory of the measurements before the change.
    type: path
    required: true
  after:
    description: Directory of the measurements after the change.
    type: path
    required: true
  hosts:
    description: Hosts that were changed.
    type: list
    elements: str
    required: true
  unchanged:
    description: Measured hosts without the change. Their difference is subtracted.
    type: list
    elements: str
    default: []
  controls:
    description:
      - V(planned), host patterns of O(unchanged). Fails if a pattern or a name matches no host,
        because such hosts would count as changed.
    type: raw
    default: ""
  groups:
    description: V(planned), groups of the inventory with their hosts, as in Ansible's C(groups).
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
  hostproof.hostproof.compare_latency:
    before: baselines/before
    after: baselines/after
    hosts: "{{ ansible_play_hosts_all }}"
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
judged:
  description:
    - One dictionary for each host, with C(host), its C(findings) in the form of
      docs/finding.schema.json, and the C(evidence) that they cite (base64 of zlib of JSON). The
      host V((run)) has the findings for all hosts together.
  returned: success
  type: list
  elements: dict
lines:
  description: The verdicts as text.
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
