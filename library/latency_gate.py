#!/usr/bin/python
# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: latency_gate
short_description: One step of a gated change, noted in its ledger
description:
  - Runs on the controller. The ledger is written before each step and denies by default, so that a
    gate that ended anywhere is never taken for one that kept its change.
  - It does not fail for what it denies; C(proceed) says whether the next step may be made.
options:
  state:
    description:
      - The step that is to be noted.
      - V(planned) divides the hosts in batches. V(measuring) begins a batch, V(changing) lets it
        change if what was measured before is fit for that, V(decided) compares and keeps or holds.
      - V(reverted) looks whether all that was changed was put back. V(ended) tells of the hosts
        that were never judged.
      - V(open) tells which batches revert is offered for.
    type: str
    choices: [planned, measuring, changing, decided, reverted, ended, open]
    required: true
  folder:
    description: The folder of the gate.
    type: path
    required: true
  batch:
    description: The number of the batch. Needed but for V(planned), V(ended) and V(open).
    type: int
  hosts:
    description: V(planned), the hosts, in the order of the batches.
    type: list
    elements: str
    default: []
  controls:
    description: V(planned), the pattern, or patterns, of hosts that are measured and never changed.
    type: raw
    default: ""
  unchanged:
    description:
      - V(planned), the hosts that O(controls) matches. If there is none, it fails, for they would
        be changed.
    type: list
    elements: str
    default: []
  groups:
    description:
      - V(planned), the groups of the inventory with their hosts, as Ansible's C(groups). It fails
        for a name in O(controls) that is none of theirs.
    type: dict
    default: {}
  serial:
    description:
      - V(planned), how many hosts a batch has, as Ansible's C(serial), a number, a share such as
        V(30%), or a list of these.
    type: raw
    default: [1, "25%"]
  action:
    description: V(planned) and V(decided), what becomes of a change that is not kept.
    type: str
    choices: [hold, revert]
    default: hold
  inconclusive:
    description: V(planned) and V(decided), what becomes of one of which little can be said.
    type: str
    choices: [keep, hold]
    default: keep
  tolerance:
    description:
      - V(planned) and V(decided), the share by which an inconclusive figure may be worse at the far
        end of its interval and still be kept. V(1.0) is twice as slow.
    type: float
    default: 1.0
  release:
    description: V(measuring), names of earlier gates whose held changes are accepted.
    type: list
    elements: str
    default: []
  journal:
    description:
      - For each host the C(applies) of M(change_journal) now. What is no list was not read.
    type: dict
    default: {}
  changed:
    description: V(decided), for each host the result of the last task of the change.
    type: dict
    default: {}
  failed:
    description: V(decided), for each host why its change failed.
    type: dict
    default: {}
attributes:
  check_mode:
    description: V(planned) says what it would do, and writes no ledger. Other steps do nothing.
    support: full
author: Hostproof contributors
"""

EXAMPLES = r"""
- name: Plan the batches
  latency_gate:
    state: planned
    folder: baselines/20261121T180000Z-1a2b
    hosts: "{{ ansible_play_hosts_all }}"
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
proceed:
  description: Whether the next step may be made.
  returned: success
  type: bool
kept:
  description: V(decided), whether the change was kept.
  returned: success
  type: bool
revert:
  description: V(decided), whether it is to be put back.
  returned: success
  type: bool
hosts:
  description: V(ended), the hosts whose change was kept.
  returned: success
  type: list
  elements: str
batches:
  description: V(planned) and V(open), the batches, each with C(number), C(hosts), C(unchanged),
    and by host the applies to C(keep) and those that it C(changed), where it noted them.
  returned: success
  type: list
  elements: dict
judged:
  description: Findings by host, as M(compare_latency) returns them.
  returned: success
  type: list
  elements: dict
lines:
  description: What was decided and why, for people.
  returned: success
  type: list
  elements: str
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.hostproof import evidence
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.latency import gate_steps, gating

ARGUMENT_SPEC = {
    "state": {
        "type": "str",
        "choices": ["planned", "measuring", "changing", "decided", "reverted", "ended", "open"],
        "required": True,
    },
    "folder": {"type": "path", "required": True},
    "batch": {"type": "int"},
    "hosts": {"type": "list", "elements": "str", "default": []},
    "controls": {"type": "raw", "default": ""},
    "unchanged": {"type": "list", "elements": "str", "default": []},
    "groups": {"type": "dict", "default": {}},
    "serial": {"type": "raw", "default": [1, "25%"]},
    "action": {"type": "str", "choices": ["hold", "revert"], "default": "hold"},
    "inconclusive": {"type": "str", "choices": ["keep", "hold"], "default": "keep"},
    "tolerance": {"type": "float", "default": 1.0},
    "release": {"type": "list", "elements": "str", "default": []},
    "journal": {"type": "dict", "default": {}},
    "changed": {"type": "dict", "default": {}},
    "failed": {"type": "dict", "default": {}},
}
OF_A_BATCH = ("measuring", "changing", "decided", "reverted")


def main():
    module = AnsibleModule(
        argument_spec=ARGUMENT_SPEC,
        required_if=[("state", state, ("batch",)) for state in OF_A_BATCH],
        supports_check_mode=True,
    )
    given = module.params
    answer = {"proceed": False, "kept": False, "revert": False, "judged": []}
    answer.update(hosts=[], batches=[], lines=[])
    try:
        if given["state"] == "planned":
            planned(given, module.check_mode, answer)
        elif not module.check_mode:
            STEPS[given["state"]](given, gating.load(given["folder"]), answer)
    except (HostproofError, OSError, ValueError) as problem:
        module.fail_json(msg="gate: {0}".format(problem))
    module.exit_json(changed=given["state"] != "open" and not module.check_mode, **answer)


def planned(given, check_mode, answer):
    if given["tolerance"] < 0:
        raise ValueError("latency_gate_tolerance must not be below 0")
    gating.check_controls(given["controls"], given["unchanged"], given["groups"])
    batches = gating.plan(given["hosts"], given["unchanged"], given["serial"])
    if not check_mode:
        gating.create(given["folder"], batches, gate_steps.now())
    answer["proceed"] = True
    answer["batches"] = [shown(batch) for batch in batches]
    for batch in batches:
        answer["lines"].append(
            "batch {0} of {1}: {2}; unchanged beside it: {3}".format(
                batch["number"],
                len(batches),
                ", ".join(batch["hosts"]),
                ", ".join(batch["unchanged"]) or "none",
            )
        )
    answer["lines"].append(
        "a batch that got worse, or of which that cannot be told, is {0}, and none follows".format(
            "put back" if given["action"] == gating.REVERT else "held as it is"
        )
    )


def shown(batch):
    return {
        "number": batch["number"],
        "hosts": batch["hosts"],
        "unchanged": batch["unchanged"],
        "keep": batch["journal"],
        "changed": batch["changed"],
    }


def measuring(given, ledger, answer):
    parent = os.path.dirname(os.path.abspath(given["folder"]))
    reasons = gate_steps.begin(ledger, given["batch"], parent, journals(given), given["release"])
    say_stopped(given, answer, reasons)


def changing(given, ledger, answer):
    say_stopped(given, answer, gate_steps.allow_change(ledger, given["batch"]))


def say_stopped(given, answer, reasons):
    answer["proceed"] = not reasons
    if reasons:
        answer["lines"] = ["batch {0} was stopped, nothing was changed".format(given["batch"])]
        answer["lines"] += reasons


def decided(given, ledger, answer):
    limits = gating.Limits(given["inconclusive"], given["tolerance"])
    number = given["batch"]
    hosts = ledger.batch(number)["hosts"]
    applied = {host: went(given, host) for host in hosts}
    decision, judged = gate_steps.decide(ledger, number, applied, journals(given), limits)
    answer["proceed"] = answer["kept"] = decision.keep
    answer["revert"] = not decision.keep and given["action"] == gating.REVERT
    answer["judged"] = packed(judged)
    # Said first: another path may be all of the difference, or the very change that is tested.
    answer["lines"] = gate_steps.lines_by_host(decision.other_paths)
    answer["lines"].append("batch {0} is {1}".format(number, "kept" if decision.keep else "held"))
    answer["lines"] += ledger.batch(number)["reasons"]
    if not decision.keep and not answer["revert"]:
        answer["lines"].append(
            "to put it back: ./hostproof revert --gate {0}".format(given["folder"])
        )


def went(given, host):
    """ "ok" only where the last task of the change answered on that host."""
    if (given["changed"].get(host) or {}).get("ping") == "pong":
        return "ok"
    told = (given["failed"].get(host) or {}).get("msg")
    return " ".join(str(told or "the host did not answer to the end").split())[:500]


def reverted(given, ledger, answer):
    left, judged = gate_steps.after_revert(ledger, given["batch"], journals(given))
    answer["proceed"] = not left
    answer["judged"] = packed(judged)
    answer["lines"] = left or ["batch {0} was put back".format(given["batch"])]


def ended(_given, ledger, answer):
    answer["hosts"] = gate_steps.kept_hosts(ledger)
    answer["judged"] = packed(gate_steps.leave_unjudged(ledger))


def still_open(_given, ledger, answer):
    answer["batches"] = [shown(batch) for batch in gate_steps.open_batches(ledger)]
    answer["proceed"] = bool(answer["batches"])
    if not answer["batches"]:
        answer["lines"] = ["this gate left nothing to put back"]


def journals(given):
    """Those that were read; of the others nothing is known."""
    return {host: one for host, one in given["journal"].items() if isinstance(one, list)}


def packed(judged):
    return [
        {
            "host": one.host,
            "findings": [finding.as_dict() for finding in one.findings],
            "evidence": evidence.encode(one.evidence),
        }
        for one in judged
    ]


STEPS = {
    "measuring": measuring,
    "changing": changing,
    "decided": decided,
    "reverted": reverted,
    "ended": ended,
    "open": still_open,
}


if __name__ == "__main__":
    main()
