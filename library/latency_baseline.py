#!/usr/bin/python
# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: latency_baseline
short_description: Keep what was measured on a host, or tell how it was measured
description:
  - Runs on the controller. Writes one JSON file a host, for its owner alone.
  - What was kept tells how it was measured, so that the same can be measured again.
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
author: Hostproof contributors
"""

EXAMPLES = r"""
- name: Keep what was measured
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

import time

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.latency import baseline, comparing
from ansible.module_utils.hostproof.latency.window import Window

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
MEASURED = ("probes", "rounds", "seconds", "pause", "windows")


def main():
    module = AnsibleModule(
        argument_spec=ARGUMENT_SPEC,
        required_if=[("state", "present", MEASURED)],
        supports_check_mode=True,
    )
    given = module.params
    present = given["state"] == "present"
    try:
        if present:
            kept = taken(given)
            if not module.check_mode:
                baseline.save(given["folder"], kept)
        else:
            kept = baseline.load(given["folder"], given["host"])
    except (HostproofError, OSError, ValueError) as problem:
        module.fail_json(msg="{0}: {1}".format(given["host"], problem))
    module.exit_json(
        changed=present,
        path=baseline.path_of(given["folder"], given["host"]),
        probes=kept.probes,
        rounds=kept.rounds,
        seconds=kept.seconds,
        pause=kept.pause,
        lines=said(kept) if present else [],
    )


def taken(given):
    return baseline.Baseline(
        host=given["host"],
        taken_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        probes=given["probes"],
        rounds=given["rounds"],
        seconds=given["seconds"],
        pause=given["pause"],
        windows=[Window.from_json(one) for one in given["windows"]],
        remarks=given["remarks"],
    )


def said(kept):
    """What a person should know of a baseline before the change: what it lacks is said now."""
    names = [series.name for series in comparing.series_of(kept.windows)]
    lines = ["{0}: {1} windows of {2}".format(kept.host, kept.rounds, ", ".join(names))]
    lines += ["{0}: {1}".format(kept.host, text) for text in comparing.unmeasured(kept)]
    steady = comparing.stability(kept)
    lines += ["{0}: the baseline is not stable: {1}".format(kept.host, n) for n in steady.unstable]
    return lines + ["{0}: {1}".format(kept.host, remark) for remark in kept.remarks]


if __name__ == "__main__":
    main()
