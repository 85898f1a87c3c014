#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: revert_control
short_description: Put back what Hostproof changed on a host
description:
  - Restores exactly what the change journal holds, newest first, and reads each state back.
  - Works after a crash in the middle of an apply, and after a reboot.
  - Commands are undone last, when every file is as it was, so that a listener reads its old file.
  - A mount in use is not changed, which fails the task; everything else is restored.
  - A file that was changed after Hostproof is not overwritten unless O(overwrite) is true,
    nor is another export unmounted that was mounted there.
  - A mount that a database uses by Direct NFS, which umount does not detect, stops it.
options:
  control:
    description: The control to revert; all of them if it is not given.
    type: str
  overwrite:
    description: Put files back even if somebody changed them after Hostproof did.
    type: bool
    default: false
  keep:
    description:
      - Applies to keep, by the names that M(change_journal) returns. Rejected if one
        of them is newer than an apply that is reverted.
    type: list
    elements: str
    default: []
  only:
    description:
      - The only applies to revert, by the names that M(change_journal) returns. Rejected
        if a later one would remain.
    type: list
    elements: str
attributes:
  check_mode:
    description: Returns what would be put back and has no effect.
    support: full
  diff_mode:
    description: Shows each file, value, mount and command before and after, in check mode too.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Put back what the hugepages role changed
  revert_control:
    control: hugepages
"""

RETURN = r"""
reverted:
  description: The names of the applies that were reverted, newest first.
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
        transactions = apply.without(
            journal.transactions(module.params["control"]),
            module.params["keep"],
            module.params["only"],
        )
        diff = [as_diff(one.path, one.now, one.before) for one in apply.restorations(transactions)]
        apply.refuse_lost_edits(transactions, module.params["overwrite"])
        apply.refuse_in_use(transactions)
        if not module.check_mode:
            apply.revert(transactions, journal, writer)
    except (HostproofError, OSError) as problem:
        module.fail_json(msg=f"revert: {problem}", diff=diff)
    module.exit_json(
        changed=bool(transactions), diff=diff, reverted=[one.name for one in transactions]
    )


if __name__ == "__main__":
    main()
