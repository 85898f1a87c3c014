#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: record_evidence
short_description: Record the data that the checks read
version_added: "0.1.0"
description:
  - Returns everything that the checks read on a host, verbatim, with time and command.
  - M(hostproof.hostproof.verify_controls) can check the record later, with the policy that is set
    then.
options:
  controls:
    description: Controls whose data is recorded, as in M(hostproof.hostproof.verify_controls).
    type: raw
  secrets:
    description:
      - Secret policy values for each control, as a base64-encoded JSON dictionary.
      - Built from the variables if O(controls) are names.
    type: dict
attributes:
  async:
    description: Does not support async, because the host responds only once.
    support: none
  check_mode:
    description: Never changes anything.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Record the data of the control hugepages
  hostproof.hostproof.record_evidence:
    controls: [hugepages]
"""

RETURN = r"""
path:
  description: Path of the evidence pack on the controller, readable by its owner only.
  returned: success
  type: str
readings:
  description: Number of readings in the record.
  returned: success
  type: int
remarks:
  description: Data that was not read because a policy entry is invalid.
  returned: success
  type: list
  elements: str
"""

from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.collect.host_module import AnsibleModule
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate import audit

ARGUMENT_SPEC = {
    "controls": {"type": "raw"},
    "secrets": {"type": "dict", "no_log": True},
}


def main():
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    host = LiveHost()
    try:
        remarks = audit.read_host(host, module.params["controls"], module.params["secrets"])
    except HostproofError as problem:
        module.fail_json(msg=str(problem))
    module.exit_json(
        changed=False,
        evidence=evidence.encode(host.evidence),
        readings=len(host.evidence),
        hostproof=VERSION,
        remarks=remarks,
    )


if __name__ == "__main__":
    main()
