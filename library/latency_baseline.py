#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: latency_baseline
short_description: Keep what was measured on a host, or tell how it was measured
description:
  - Runs on the controller. Writes one JSON file per host, readable by its owner only.
  - The file describes the measurement, so that it can be repeated.
options:
  folder:
    description: The folder of the baseline.
    type: path
    required: true
  host:
    description: The host's name in the inventory.
    type: str
    required: true
  state:
    description: V(present) keeps what was measured, V(read) tells how it was.
    type: str
    choices: [present, read]
    default: present
  probes:
    description: What was asked of M(measure_latency). Needed with V(present).
    type: list
    elements: dict
  rounds:
    description: Its C(windows). Needed with V(present).
    type: int
  seconds:
    description: Its C(seconds). Needed with V(present).
    type: float
  pause:
    description: Its C(pause). Needed with V(present).
    type: float
  windows:
    description: The windows that M(measure_latency) returned. Needed with V(present).
    type: list
    elements: dict
  remarks:
    description: The remarks that it returned.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    description: Says what it would keep.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Save the measurement
  latency_baseline:
    folder: baselines/before
    host: "{{ inventory_hostname }}"
    probes: [{probe: disk}]
    rounds: 10
    seconds: 3
    pause: 20
    windows: "{{ measured.windows }}"
    remarks: "{{ measured.remarks }}"
  delegate_to: localhost
"""

RETURN = r"""
path:
  description: The file of this host.
  returned: success
  type: str
probes:
  description: How it was measured, with C(rounds), C(seconds) and C(pause).
  returned: success
  type: list
  elements: dict
lines:
  description: What was kept and what is missing, for people.
  returned: success
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

ARGUMENT_SPEC = {
    "folder": {"type": "path", "required": True},
    "host": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "read"], "default": "present"},
    "probes": {"type": "list", "elements": "dict"},
    "rounds": {"type": "int"},
    "seconds": {"type": "float"},
    "pause": {"type": "float"},
    "windows": {"type": "list", "elements": "dict"},
    "remarks": {"type": "list", "elements": "str", "default": []},
}


def main():
    """Reached only where Ansible did not find the action plugin of the same name."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    module.fail_json(
        msg="latency_baseline only runs on the controller: name Hostproof's action_plugins in the"
        " setting action_plugins of your ansible.cfg"
    )


if __name__ == "__main__":
    main()
