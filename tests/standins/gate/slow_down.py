#!/usr/bin/python
"""Stands in for a role: writes a file through the change journal, as apply_control does.

``journal`` is the root of the journal. ``then``: fail, or vanish (a file ``gone`` is made, by which
the inventory takes the host off the network).
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.hostproof.apply import transaction as apply
from ansible.module_utils.hostproof.apply.change import FileChange, Plan
from ansible.module_utils.hostproof.apply.journal import Journal
from ansible.module_utils.hostproof.apply.writer import Writer


def main():
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "content": {"type": "str", "required": True},
            "journal": {"type": "path", "required": True},
            "gone": {"type": "path", "required": True},
            "then": {"type": "str", "default": "end", "choices": ["end", "fail", "vanish"]},
        },
        supports_check_mode=True,
    )
    params = module.params
    with open(params["path"]) as stream:
        before = stream.read()
    changes = []
    if before != params["content"]:
        changes = [FileChange(params["path"], params["content"], before)]
    if not module.check_mode:
        writer = Writer()
        plan = Plan(changes, [], [], [])
        apply.apply_plan(plan, "standin", Journal(writer, params["journal"]), writer)
        if params["then"] == "vanish":
            os.close(os.open(params["gone"], os.O_CREAT | os.O_WRONLY, 0o600))
    if params["then"] == "fail":
        module.fail_json(msg="the second half was refused")
    module.exit_json(changed=bool(changes))


if __name__ == "__main__":
    main()
