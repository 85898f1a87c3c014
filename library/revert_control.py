#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: revert_control
short_description: Revert changes by Hostproof
version_added: "0.1.0"
description:
  - Restores the state in the change journal, newest change first, and reads each state back.
  - Also works after a crash during apply and after a reboot.
  - Commands are reverted last, after all files are restored, so that a listener reads its old file.
  - A mount that is in use stays mounted and the task fails; all other changes are restored.
  - A file that was edited after Hostproof changed it is only overwritten if O(overwrite) is true.
    Another export that was mounted there later stays mounted.
  - The task fails if a database uses a mount through Direct NFS, which umount does not detect.
options:
  control:
    description: Control to revert. Default, all controls.
    type: str
  overwrite:
    description: Restore files even if they were edited after Hostproof changed them.
    type: bool
    default: false
  keep:
    description:
      - Applies to keep, by their names in M(hostproof.hostproof.change_journal). Rejected if one of
        them is newer than
        an apply to revert.
    type: list
    elements: str
    default: []
  only:
    description:
      - The only applies to revert, by their names in M(hostproof.hostproof.change_journal).
        Rejected if a later apply
        would remain.
    type: list
    elements: str
attributes:
  check_mode:
    description: Returns what would be restored. Has no effect.
    support: full
  diff_mode:
    description: Shows each file, value, mount and command before and after, in check mode too.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Revert the changes of the hugepages role
  hostproof.hostproof.revert_control:
    control: hugepages
"""

RETURN = r"""
reverted:
  description: Names of the reverted applies, newest first.
  returned: success
  type: list
  elements: str
"""

from ansible.module_utils.hostproof.apply import transaction as apply
from ansible.module_utils.hostproof.apply.difference import as_diff
from ansible.module_utils.hostproof.apply.journal import Journal
from ansible.module_utils.hostproof.apply.writer import Writer
from ansible.module_utils.hostproof.collect.host_module import AnsibleModule
from ansible.module_utils.hostproof.errors import HostproofError

ARGUMENT_SPEC = {
    "control": {"type": "str"},
    "overwrite": {"type": "bool", "default": False},
    "keep": {"type": "list", "elements": "str", "default": []},
    "only": {"type": "list", "elements": "str"},
}


def main():
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    writer = Writer()
    journal = Journal(writer)
    diff = []
    try:
        transactions = apply.transactions_to_revert(
            journal.transactions(module.params["control"]),
            module.params["keep"],
            module.params["only"],
        )
        diff = [
            as_diff(restoration.path, restoration.now, restoration.before)
            for restoration in apply.restorations(transactions)
        ]
        apply.refuse_if_edited_since(transactions, module.params["overwrite"])
        apply.refuse_in_use(transactions)
        if not module.check_mode:
            apply.revert(transactions, journal, writer)
    except (HostproofError, OSError) as problem:
        module.fail_json(msg=f"revert: {problem}", diff=diff)
    module.exit_json(
        changed=bool(transactions),
        diff=diff,
        reverted=[transaction.name for transaction in transactions],
    )


if __name__ == "__main__":
    main()
