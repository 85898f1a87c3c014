#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: change_journal
short_description: List changes by Hostproof that are not reverted
version_added: "0.1.0"
description:
  - Reads the change journal of the host. Has no effect.
  - The gate compares two of these lists to determine the changes of one apply.
options: {}
attributes:
  check_mode:
    description: Never changes anything.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Read the change journal
  hostproof.hostproof.change_journal:
  register: journal
"""

RETURN = r"""
applies:
  description: Names of the applies that can be reverted, newest first.
  returned: success
  type: list
  elements: str
"""

from ansible.module_utils.hostproof.apply.journal import Journal
from ansible.module_utils.hostproof.apply.writer import Writer
from ansible.module_utils.hostproof.collect.host_module import AnsibleModule
from ansible.module_utils.hostproof.errors import HostproofError

ARGUMENT_SPEC = {}


def main():
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        applies = [transaction.name for transaction in Journal(Writer()).transactions()]
    except (HostproofError, OSError) as problem:
        module.fail_json(msg=f"change journal: {problem}")
    module.exit_json(changed=False, applies=applies)


if __name__ == "__main__":
    main()
