#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: aix_attributes
short_description: Read or change attributes of an AIX device
version_added: "0.1.0"
description:
  - Changes any attribute that C(chdev) can change. Uses one C(chdev) call for each device, so that
    all changes take effect or none.
  - Compares complete values, never parts of a line of C(lsattr).
  - Values that C(lsattr -R) does not list are rejected before any change. C(chdev) must exit
    with 0 and report the change. Then the configuration database (ODM) must contain the new
    values, and the kernel must report the new C(maxpout) and C(minpout) of C(sys0). Otherwise the
    old values are restored and the task fails.
  - C(maxpout) and C(minpout) of C(sys0) must be a valid pair in each layer; an invalid pair, in the
    database or in the kernel, is rejected before any change.
  - Each change is recorded in the change journal first. M(hostproof.hostproof.revert_control)
    restores it with the
    control C(aix_attributes). RV(prior) has the old values, so a task can do that, too.
options:
  device:
    description: Logical name of the device, such as C(sys0), C(ent0) or C(hdisk4).
    type: str
    required: true
  attributes:
    description:
      - Attributes and their new values. Quote AIX keywords such as C("yes"), because YAML reads
        them as truth values.
      - A value may contain spaces, but not a space followed by C(name=), which C(chdev) parses as
        another attribute.
    type: dict
  names:
    description: Attributes to read, if O(attributes) is not given.
    type: list
    elements: str
  when:
    description:
      - V(both) changes the device and the database. A device in use may reject it (0514-062).
      - V(next_boot) changes only the database (C(chdev -P)), for a device in use.
      - V(now) changes only the device, until the next reboot (C(chdev -T)). C(lsattr) does not show
        the value of a device, so only C(maxpout) and C(minpout) of C(sys0) are read back; any other
        attribute is changed again by each run.
      - Not every device supports all values. If not, the task fails with the message of C(chdev).
    type: str
    choices: [now, next_boot, both]
    default: both
attributes:
  check_mode:
    description: Reads and checks the legal values. Reports what it would change.
    support: full
  diff_mode:
    description: Shows the rows of C(lsattr) before and after.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Read the I/O pacing of this host
  hostproof.hostproof.aix_attributes:
    device: sys0
    names: [maxpout, minpout]
  register: pacing

- name: Increase the number of processes per user, now and after reboot
  hostproof.hostproof.aix_attributes:
    device: sys0
    attributes:
      maxuproc: 16384
      ncargs: 256
  register: changed

- name: Restore the previous values
  hostproof.hostproof.aix_attributes:
    device: sys0
    attributes: "{{ changed.prior }}"

- name: Enable flow control of an adapter in use after reboot
  hostproof.hostproof.aix_attributes:
    device: ent0
    attributes:
      flow_ctrl: "yes"
    when: next_boot
"""

RETURN = r"""
configured:
  description: Attributes in the configuration database after the task.
  returned: always
  type: dict
  sample: {maxpout: "8193", minpout: "4096"}
prior:
  description:
    - Attributes before the task. With O(when=now), the value of the device if it is known,
      otherwise the value in the database.
  returned: always
  type: dict
  sample: {maxpout: "33", minpout: "24"}
running:
  description:
    - Kernel values after the task, for attributes that the kernel reports
      (C(maxpout) and C(minpout) of C(sys0)).
  returned: always
  type: dict
  sample: {maxpout: "8193", minpout: "4096"}
legal:
  description: Legal values of each attribute as listed by C(lsattr -R), null if it lists none.
  returned: always
  type: dict
  sample: {maxpout: 0 to 32769 in steps of 1}
"""

from ansible.module_utils.hostproof.apply import aix_attributes, aix_device, difference
from ansible.module_utils.hostproof.apply import transaction as apply
from ansible.module_utils.hostproof.apply.change import Plan
from ansible.module_utils.hostproof.apply.journal import Journal
from ansible.module_utils.hostproof.apply.writer import Writer
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.collect.host_module import AnsibleModule
from ansible.module_utils.hostproof.errors import HostproofError

ARGUMENT_SPEC = {
    "device": {"type": "str", "required": True},
    "attributes": {"type": "dict"},
    "names": {"type": "list", "elements": "str"},
    "when": {
        "type": "str",
        "choices": [aix_attributes.NOW, aix_attributes.NEXT_BOOT, aix_attributes.BOTH],
        "default": aix_attributes.BOTH,
    },
}
RULES = {
    "mutually_exclusive": [("attributes", "names")],
    "required_one_of": [("attributes", "names")],
}

#: Name of this module's changes in the journal.
JOURNAL = "aix_attributes"


def main():
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True, **RULES)
    params = module.params
    device, diff = params["device"], []
    try:
        required = aix_attributes.texts(params["attributes"] or {})
        names = tuple(required) or tuple(params["names"] or ())
        aix_attributes.check_names(device, dict.fromkeys(names, ""), required)
        read = aix_device.with_partners(device, names)
        before = aix_device.read_device(LiveHost(), device, read)
        change = aix_device.wanted_change(before, required, params["when"])
        after = before
        if change is not None:
            plan = Plan([change], [], [], [])
            diff = difference.of_plan(plan)
            if not module.check_mode:
                writer = Writer()
                apply.apply_plan(plan, JOURNAL, Journal(writer), writer)
                after = aix_device.read_device(LiveHost(), device, read)
    except (HostproofError, OSError, ValueError) as problem:
        module.fail_json(msg=f"aix_attributes: {problem}", diff=diff)
    module.exit_json(
        changed=change is not None,
        diff=diff,
        prior=aix_device.prior(aix_device.only(before, names), params["when"]),
        **aix_device.shown(aix_device.only(after, names)),
    )


if __name__ == "__main__":
    main()
