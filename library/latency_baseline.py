#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: latency_baseline
short_description: Store or read a latency baseline of a host
version_added: "0.1.0"
description:
  - Runs on the controller. Writes one JSON file per host, readable by its owner only.
  - The file contains the measurement settings, so that the measurement can be repeated.
options:
  folder:
    description: Directory of the baseline.
    type: path
    required: true
  host:
    description: Name of the host in the inventory.
    type: str
    required: true
  state:
    description: V(present) stores the measurement, V(read) returns its settings.
    type: str
    choices: [present, read]
    default: present
  probes:
    description: Probes passed to M(hostproof.hostproof.measure_latency). Required with V(present).
    type: list
    elements: dict
  rounds:
    description: C(windows) passed to M(hostproof.hostproof.measure_latency). Required with
      V(present).
    type: int
  seconds:
    description: C(seconds) passed to M(hostproof.hostproof.measure_latency). Required with
      V(present).
    type: float
  pause:
    description: C(pause) passed to M(hostproof.hostproof.measure_latency). Required with
      V(present).
    type: float
  windows:
    description: Windows that M(hostproof.hostproof.measure_latency) returned. Required with
      V(present).
    type: list
    elements: dict
  remarks:
    description: Remarks that M(hostproof.hostproof.measure_latency) returned.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    description: Reports what it would store.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Measure the current disk load in ten windows
  hostproof.hostproof.measure_latency:
    probes: [{probe: disk}]
    windows: 10
    seconds: 3
    pause: 20
  register: measured

- name: Save the measurement
  hostproof.hostproof.latency_baseline:
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
  description: Path of the file of this host.
  returned: success
  type: str
probes:
  description: Probes of the measurement.
  returned: success
  type: list
  elements: dict
rounds:
  description: Number of windows of each probe.
  returned: success
  type: int
seconds:
  description: Length of a window in seconds.
  returned: success
  type: float
pause:
  description: Seconds between two windows.
  returned: success
  type: float
lines:
  description: Stored and missing measurements as text.
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
