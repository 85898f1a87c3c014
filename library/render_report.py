#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: render_report
short_description: Create the report of a run
version_added: "0.1.0"
description:
  - Reads C(findings.jsonl) of a report directory and writes C(report.json), C(report.xml) (JUnit),
    C(report.prom) (Prometheus) and C(report.html) there.
  - Runs on the controller. The task does not fail because of a finding. RV(failing) names the hosts
    that a later task must fail. It fails if one of them is not a host of the play.
options:
  folder:
    description: Report directory. Default, the directory of this run.
    type: path
  hosts:
    description:
      - Expected hosts. Each host without a result in C(findings.jsonl) is reported as an error.
    type: list
    elements: str
    default: []
  waivers:
    description: YAML file with the waivers to apply.
    type: path
  waits:
    description:
      - Whether failures that only wait for an event, such as a reboot, do not decide the exit code.
    type: bool
    default: false
  strict:
    description: Treat warnings as failures.
    type: bool
    default: false
attributes:
  check_mode:
    description: Writes the report in check mode too, because it does not change a host.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Render the report
  hostproof.hostproof.render_report:
    folder: reports/20261121T031500Z-1a2b
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
exit_code:
  description: Exit code of the run. C(./hostproof --help) lists the exit codes.
  returned: when the report could be rendered
  type: int
summary:
  description: Summary of the run as text.
  returned: when the report could be rendered
  type: str
failing:
  description: The hosts that give the run its exit code, with their verdicts.
  returned: when the report could be rendered
  type: dict
report:
  description: Path of the page to open (C(index.html) if there are more than 100 hosts).
  returned: when the report could be rendered
  type: str
"""

from ansible.module_utils.basic import AnsibleModule

ARGUMENT_SPEC = {
    "folder": {"type": "path"},
    "hosts": {"type": "list", "elements": "str", "default": []},
    "waivers": {"type": "path"},
    "strict": {"type": "bool", "default": False},
    "waits": {"type": "bool", "default": False},
}


def main():
    """Reached only where Ansible did not find the action plugin of the same name."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    module.fail_json(
        msg="render_report only runs on the controller: name Hostproof's action_plugins in the "
        "setting action_plugins of your ansible.cfg"
    )


if __name__ == "__main__":
    main()
