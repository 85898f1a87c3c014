#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: verify_controls
short_description: Run checks on a host
version_added: "0.1.0"
description:
  - Reads a host once and runs the checks of any number of controls, without changing anything.
  - The findings have the form of C(docs/finding.schema.json).
  - If the host could not be checked, for example because it has no Python, the task fails, and the
    result has one finding with the status V(error) for each control.
  - Rejects C(delegate_to) and C(run_once), because the result of one host would be registered for
    others. With O(evidence_pack) both are permitted.
options:
  controls:
    description:
      - Names of the controls to check. Default, all controls that C(--tags) and C(--skip-tags)
        select.
      - The policies come from the role variables C(CONTROL_*), even if the role is not imported.
      - Alternatively a dictionary of controls. The value is the policy, that is every variable of
        the role without its prefix.
    type: raw
  evidence:
    description:
      - Evidence to return.
    type: str
    choices: [none, cited, all]
    default: none
  evidence_pack:
    description:
      - Audit this evidence pack instead of the host.
    type: path
  by_variables:
    description:
      - Without O(evidence), use the variable C(hostproof_evidence) of a host. Its default is
        V(cited).
      - Without O(evidence_pack), audit the evidence pack of the host in the directory
        C(hostproof_evidence_folder), if this variable is set.
      - The audit playbook sets this option. Other tasks ignore the two variables by default.
    type: bool
    default: false
  fail_on:
    description:
      - Fail the task if a finding has this or a worse status. V(fail) also fails on C(error).
    type: str
    choices: [never, fail, warn]
    default: never
  result:
    description:
      - Result of the task. V(counts) returns no findings and no evidence, which saves memory.
      - V(listed) returns the findings without evidence, and does not fail because of a finding.
        M(hostproof.hostproof.show_findings) prints such a result, and fails if RV(failing) is not
        empty.
      - All of them write all findings to C(findings.jsonl) of the report.
    type: str
    choices: [findings, listed, counts]
    default: findings
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
- name: Check the huge pages of this host
  hostproof.hostproof.verify_controls:
    controls: [hugepages]
    fail_on: fail
"""

RETURN = r"""
findings:
  description: All findings, in the form of docs/finding.schema.json.
  returned: unless O(result) is V(counts)
  type: list
  elements: dict
evidence:
  description: Evidence of the findings (base64 of zlib of JSON).
  returned: when O(evidence) is not V(none) and O(result) is V(findings)
  type: str
status:
  description: The worst status. V(skip) only if every finding is skipped.
  returned: always
  type: str
counts:
  description: Number of findings by status.
  returned: always
  type: dict
failing:
  description: Ids of the checks with a finding that O(fail_on) counts as a failure.
  returned: always
  type: list
  elements: str
"""

from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.collect.host_module import AnsibleModule
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate import audit

ARGUMENT_SPEC = {
    "controls": {"type": "raw"},
    "evidence": {"type": "str", "choices": ["none", "cited", "all"], "default": "none"},
    "evidence_pack": {"type": "path"},
    "by_variables": {"type": "bool", "default": False},
    "secrets": {"type": "dict", "no_log": True},
    "result": {"type": "str", "choices": ["findings", "listed", "counts"], "default": "findings"},
    "fail_on": {"type": "str", "choices": ["never", "fail", "warn"], "default": "never"},
}


def evidence_to_return(choice, host, findings):
    readings = host.evidence if choice == "all" else evidence.cited(host.evidence, findings)
    return {} if choice == "none" else {"evidence": evidence.encode(readings)}


def main():
    """The action plugin of the same name makes the result of the task from this answer."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    pack = module.params["evidence_pack"]
    try:
        host = LiveHost() if pack is None else RecordedHost(*evidence.open_pack(pack))
        findings = audit.judge_host(host, module.params["controls"], module.params["secrets"])
    except HostproofError as problem:
        module.fail_json(msg=str(problem))
    result = evidence_to_return(module.params["evidence"], host, findings)
    result["findings"] = [finding.as_dict() for finding in findings]
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
