#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: latency_gate
short_description: Run one step of a gated change
version_added: "0.1.0"
description:
  - Runs on the controller. The ledger is written before each step and denies by default, so an
    interrupted gate never counts as passed.
  - The task does not fail if the step is denied; check RV(proceed).
options:
  state:
    description:
      - The step to record.
      - V(planned) divides the hosts into batches. V(measuring) begins a batch. V(changing) allows
        the change if the earlier measurement is sufficient. V(decided) compares the measurements
        and keeps or holds the change.
      - V(reverted) checks that all changes were reverted. V(ended) reports the hosts
        that were never evaluated.
      - V(open) lists the batches that can be reverted.
    type: str
    choices: [planned, measuring, changing, decided, reverted, ended, open]
    required: true
  folder:
    description: Directory of the gate.
    type: path
    required: true
  batch:
    description: Number of the batch. Required except for V(planned), V(ended) and V(open).
    type: int
  hosts:
    description: V(planned), the hosts, in the order of the batches.
    type: list
    elements: str
    default: []
  controls:
    description: V(planned), host patterns of hosts that are measured but never changed.
    type: raw
    default: ""
  unchanged:
    description:
      - V(planned), the hosts that O(controls) matches. Fails if there is none, because the gate
        would change them.
    type: list
    elements: str
    default: []
  groups:
    description:
      - V(planned), the groups of the inventory with their hosts, as in Ansible's C(groups). Fails
        if a name in O(controls) is not one of them.
    type: dict
    default: {}
  serial:
    description:
      - V(planned), number of hosts in a batch, as C(serial) of Ansible. A number, a percentage
        such as V(30%), or a list of these.
    type: raw
    default: [1, "25%"]
  action:
    description: V(planned) and V(decided), what to do with a change that is not kept.
    type: str
    choices: [hold, revert]
    default: hold
  inconclusive:
    description: V(planned) and V(decided), what to do if the result is inconclusive.
    type: str
    choices: [keep, hold]
    default: keep
  tolerance:
    description:
      - V(planned) and V(decided), largest accepted slowdown at the upper end of the interval of an
        inconclusive figure. V(1.0) means twice as slow.
    type: float
    default: 1.0
  release:
    description: V(measuring), names of earlier gates whose held changes are accepted.
    type: list
    elements: str
    default: []
  journal:
    description:
      - Current C(applies) of M(hostproof.hostproof.change_journal) for each host. A value that is
        not a list means
        that the journal was not read.
    type: dict
    default: {}
  changed:
    description: V(decided), the result of the last task of the change, by host.
    type: dict
    default: {}
  failed:
    description: V(decided), the reason why the change failed, by host.
    type: dict
    default: {}
attributes:
  check_mode:
    description: V(planned) shows the plan without writing a ledger. Other steps have no effect.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Plan the batches
  hostproof.hostproof.latency_gate:
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
  description: V(decided), whether the change must be reverted.
  returned: success
  type: bool
hosts:
  description: V(ended), the hosts whose change was kept.
  returned: success
  type: list
  elements: str
batches:
  description: V(planned) and V(open), the batches, each with C(number), C(hosts), C(unchanged),
    and by host the applies to C(keep) and the applies that C(changed) the host, if recorded.
  returned: success
  type: list
  elements: dict
judged:
  description: Findings by host, as M(hostproof.hostproof.compare_latency) returns them.
  returned: success
  type: list
  elements: dict
lines:
  description: The decisions and their reasons as text.
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
