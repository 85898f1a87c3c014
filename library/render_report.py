#!/usr/bin/python
# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: render_report
short_description: Make the report of a run from its findings
description:
  - Reads C(findings.jsonl) of a report folder and writes C(report.json), C(report.xml) (JUnit),
    C(report.prom) (Prometheus) and C(report.html) beside it.
  - Runs on the controller. Fails when the run did, so that a playbook ends with an error.
options:
  folder:
    description: The report folder.
    type: path
    required: true
  waivers:
    description: A YAML file of waivers to apply.
    type: path
  strict:
    description: Whether a warning counts like a failure.
    type: bool
    default: false
attributes:
  check_mode:
    description: Writes the report in check mode too; it is no change to a host.
    support: full
author: Hostproof contributors
"""

EXAMPLES = r"""
- name: Render the report
  render_report:
    folder: reports/20261121T031500Z-1a2b
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
exit_code:
  description: The exit code of the run, as C(./hostproof --help) lists them.
  returned: when the report could be rendered
  type: int
summary:
  description: What the run found, for people.
  returned: when the report could be rendered
  type: str
report:
  description: The path of C(report.html).
  returned: when the report could be rendered
  type: str
"""

import datetime
import os

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.hostproof.controls import check_ids
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.report.render import render_folder
from ansible.module_utils.hostproof.report.waiver_file import load_waivers

ARGUMENT_SPEC = {
    "folder": {"type": "path", "required": True},
    "waivers": {"type": "path"},
    "strict": {"type": "bool", "default": False},
}


def main():
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    waivers = module.params["waivers"]
    folder = module.params["folder"]
    if not folder or not os.path.isdir(folder):
        module.fail_json(msg="there is no report folder {0!r}: no host was judged".format(folder))
    try:
        rendered = render_folder(
            os.path.abspath(folder),
            today=datetime.date.today(),
            known_checks=check_ids,
            waivers=None if waivers is None else load_waivers(waivers),
            strict=module.params["strict"],
        )
    except (HostproofError, OSError) as problem:
        module.fail_json(msg="the report could not be rendered: {0}".format(problem))
    result = {
        "exit_code": rendered.exit_code,
        "summary": rendered.summary,
        "report": rendered.paths["report.html"],
    }
    if rendered.exit_code:
        module.fail_json(msg="the run ends with exit code {0}".format(rendered.exit_code), **result)
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
