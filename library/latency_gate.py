#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: latency_gate
short_description: One step of a gated change, noted in its ledger
description:
  - Runs on the controller. The ledger is written before each step and denies by default, so that a
    gate that ended anywhere is never taken for one that kept its change.
  - It does not fail for what it denies; C(proceed) says whether the next step may be made.
options:
  state:
    description:
      - The step to record.
      - V(planned) divides the hosts in batches. V(measuring) begins a batch, V(changing) allows
        the change if the earlier measurement is sufficient, V(decided) compares and keeps or holds.
      - V(reverted) checks that all changes were reverted. V(ended) reports the hosts
        that were never evaluated.
      - V(open) lists the batches that can be reverted.
    type: str
    choices: [planned, measuring, changing, decided, reverted, ended, open]
    required: true
  folder:
    description: The folder of the gate.
    type: path
    required: true
  batch:
    description: The number of the batch. Needed but for V(planned), V(ended) and V(open).
    type: int
  hosts:
    description: V(planned), the hosts, in the order of the batches.
    type: list
    elements: str
    default: []
  controls:
    description: V(planned), the pattern, or patterns, of hosts that are measured and never changed.
    type: raw
    default: ""
  unchanged:
    description:
      - V(planned), the hosts that O(controls) matches. If there is none, it fails, for they would
        be changed.
    type: list
    elements: str
    default: []
  groups:
    description:
      - V(planned), the groups of the inventory with their hosts, as Ansible's C(groups). It fails
        for a name in O(controls) that is none of theirs.
    type: dict
    default: {}
  serial:
    description:
      - V(planned), number of hosts in a batch, as C(serial) of Ansible, a number, a share such as
        V(30%), or a list of these.
    type: raw
    default: [1, "25%"]
  action:
    description: V(planned) and V(decided), what becomes of a change that is not kept.
    type: str
    choices: [hold, revert]
    default: hold
  inconclusive:
    description: V(planned) and V(decided), what becomes of one of which little can be said.
    type: str
    choices: [keep, hold]
    default: keep
  tolerance:
    description:
      - V(planned) and V(decided), the share by which an inconclusive figure may be worse at the far
        end of its interval and still be kept. V(1.0) is twice as slow.
    type: float
    default: 1.0
  release:
    description: V(measuring), names of earlier gates whose held changes are accepted.
    type: list
    elements: str
    default: []
  journal:
    description:
      - For each host the C(applies) of M(change_journal) now. Only a list was read.
    type: dict
    default: {}
  changed:
    description: V(decided), for each host the result of the last task of the change.
    type: dict
    default: {}
  failed:
    description: V(decided), for each host why its change failed.
    type: dict
    default: {}
attributes:
  check_mode:
    description: V(planned) says what it would do, and writes no ledger. Other steps do nothing.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Plan the batches
  latency_gate:
    state: planned
    folder: baselines/20261121T180000Z-1a2b
    hosts: "{{ ansible_play_hosts_all }}"
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
proceed:
  description: Whether the next step may run.
  returned: success
  type: bool
kept:
  description: V(decided), whether the change was kept.
  returned: success
  type: bool
revert:
  description: V(decided), whether it is to be put back.
  returned: success
  type: bool
hosts:
  description: V(ended), the hosts whose change was kept.
  returned: success
  type: list
  elements: str
batches:
  description: V(planned) and V(open), the batches, each with C(number), C(hosts), C(unchanged),
    and by host the applies to C(keep) and those that it C(changed), where it noted them.
  returned: success
  type: list
  elements: dict
judged:
  description: Findings by host, as M(compare_latency) returns them.
  returned: success
  type: list
  elements: dict
lines:
  description: What was decided and why, for people.
  returned: success
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

ARGUMENT_SPEC = {
    "state": {
        "type": "str",
        "choices": ["planned", "measuring", "changing", "decided", "reverted", "ended", "open"],
        "required": True,
    },
    "folder": {"type": "path", "required": True},
    "batch": {"type": "int"},
    "hosts": {"type": "list", "elements": "str", "default": []},
    "controls": {"type": "raw", "default": ""},
    "unchanged": {"type": "list", "elements": "str", "default": []},
    "groups": {"type": "dict", "default": {}},
    "serial": {"type": "raw", "default": [1, "25%"]},
    "action": {"type": "str", "choices": ["hold", "revert"], "default": "hold"},
    "inconclusive": {"type": "str", "choices": ["keep", "hold"], "default": "keep"},
    "tolerance": {"type": "float", "default": 1.0},
    "release": {"type": "list", "elements": "str", "default": []},
    "journal": {"type": "dict", "default": {}},
    "changed": {"type": "dict", "default": {}},
    "failed": {"type": "dict", "default": {}},
}


def main():
    """Reached only where Ansible did not find the action plugin of the same name."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    module.fail_json(
        msg="latency_gate only runs on the controller: name Hostproof's action_plugins in the "
        "setting action_plugins of your ansible.cfg"
    )


if __name__ == "__main__":
    main()
