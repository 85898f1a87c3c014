#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: verify_controls
short_description: Judge the host settings that an Oracle database depends on
description:
  - Reads a host once and evaluates any number of controls, without changing anything.
  - The findings follow C(docs/finding.schema.json).
options:
  controls:
    description:
      - The names of the controls to evaluate; all of them, as C(--tags) and C(--skip-tags) select,
        if it is not given.
      - Their policies are taken from the variables of their roles, C(CONTROL_*), whether a role was
        imported or not.
      - Or a dictionary of controls, each with its policy, every variable of the role without the
        prefix.
    type: raw
  evidence:
    description:
      - Which evidence to return.
    type: str
    choices: [none, cited, all]
    default: none
  evidence_pack:
    description:
      - Judge this evidence pack instead of the host that the module runs on.
    type: path
  by_variables:
    description:
      - Without O(evidence), use the variable C(hostproof_evidence) of a host,
        or V(cited).
      - Without O(evidence_pack), evaluate the pack of the host in the directory that the variable
        C(hostproof_evidence_folder) names, if it is set.
      - The audit playbook uses this. Other tasks do so only with this option.
    type: bool
    default: false
  fail_on:
    description:
      - Fail the task when a finding has this status or a worse one. V(fail) also fails on C(error).
    type: str
    choices: [never, fail, warn]
    default: never
  result:
    description:
      - What the task returns; V(counts) keeps findings and evidence out of Ansible's memory.
      - All findings are written to C(findings.jsonl) of the report either way.
    type: str
    choices: [findings, counts]
    default: findings
  secrets:
    description:
      - Secrets of the policy, by control, as base64 of a JSON dictionary of policy values.
      - It is built from the variables if O(controls) are names.
    type: dict
attributes:
  async:
    description: Does not support async, since the host answers once.
    support: none
  check_mode:
    description: Never changes anything.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Judge HugePages on this host
  verify_controls:
    controls: [hugepages]
    fail_on: fail
"""

RETURN = r"""
findings:
  description: Every finding, in the form of docs/finding.schema.json.
  returned: unless O(result) is V(counts)
  type: list
  elements: dict
evidence:
  description: What the findings rest on, base64 of zlib of JSON.
  returned: when O(evidence) is not V(none) and O(result) not V(counts)
  type: str
counts:
  description: How many findings have each status.
  returned: always
  type: dict
"""

from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.collect.host_module import AnsibleModule
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, WARN

ARGUMENT_SPEC = {
    "controls": {"type": "raw"},
    "evidence": {"type": "str", "choices": ["none", "cited", "all"], "default": "none"},
    "evidence_pack": {"type": "path"},
    "by_variables": {"type": "bool", "default": False},
    "secrets": {"type": "dict", "no_log": True},
    "result": {"type": "str", "choices": ["findings", "counts"], "default": "findings"},
    "fail_on": {"type": "str", "choices": ["never", "fail", "warn"], "default": "never"},
}

FAILING = {"never": (), "fail": (FAIL, ERROR), "warn": (FAIL, ERROR, WARN)}


def evidence_to_return(choice, host, findings):
    readings = host.evidence if choice == "all" else evidence.cited(host.evidence, findings)
    return {} if choice == "none" else {"evidence": evidence.encode(readings)}


def main():
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    pack = module.params["evidence_pack"]
    try:
        host = LiveHost() if pack is None else RecordedHost(evidence.load_pack(pack))
        findings = audit.judge_host(host, module.params["controls"], module.params["secrets"])
    except HostproofError as problem:
        module.fail_json(msg=str(problem))
    result = evidence_to_return(module.params["evidence"], host, findings)
    result["findings"] = [finding.as_dict() for finding in findings]
    bad = [f for f in findings if f.status in FAILING[module.params["fail_on"]]]
    if bad:
        lines = [f"{f.status} {f.check}: {f.why}" for f in bad]
        module.fail_json(msg="{0} findings: {1}".format(len(bad), " | ".join(lines)), **result)
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
