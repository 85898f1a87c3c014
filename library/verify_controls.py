#!/usr/bin/python
# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: verify_controls
short_description: Judge the host settings that an Oracle database depends on
description:
  - Reads a host once and judges any number of controls, without changing anything.
  - The findings follow C(docs/finding.schema.json).
options:
  controls:
    description:
      - The controls to judge, each with its policy.
      - A policy holds every variable of the control's role, without the prefix.
    type: dict
    required: true
  evidence:
    description: Which evidence to return.
    type: str
    choices: [none, cited, all]
    default: none
  evidence_pack:
    description:
      - Judge this evidence pack instead of the host that the module runs on.
    type: path
  fail_on:
    description:
      - Fail the task when a finding has this status or a worse one. V(fail) also fails on C(error).
    type: str
    choices: [never, fail, warn]
    default: never
  secrets:
    description:
      - What a policy keeps from sight, by control, as base64 of a JSON dictionary of policy values.
      - The roles make it of their variables.
    type: dict
attributes:
  check_mode:
    description: Never changes anything.
    support: full
author: Hostproof contributors
"""

EXAMPLES = r"""
- name: Judge HugePages on this host
  verify_controls:
    controls:
      hugepages: "{{ __hugepages_policy }}"
    fail_on: fail
"""

RETURN = r"""
findings:
  description: Every finding, as docs/finding.schema.json says.
  returned: always
  type: list
  elements: dict
evidence:
  description: What the findings rest on, base64 of zlib of JSON.
  returned: when O(evidence) is not V(none)
  type: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.hostproof import audit, evidence
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.finding import ERROR, FAIL, WARN
from ansible.module_utils.hostproof.host import LiveHost, RecordedHost

ARGUMENT_SPEC = {
    "controls": {"type": "dict", "required": True},
    "evidence": {"type": "str", "choices": ["none", "cited", "all"], "default": "none"},
    "evidence_pack": {"type": "path"},
    "secrets": {"type": "dict", "no_log": True},
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
        lines = ["{0} {1}: {2}".format(f.status, f.check, f.why) for f in bad]
        module.fail_json(msg="{0} findings: {1}".format(len(bad), " | ".join(lines)), **result)
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
