#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: sga_cost
short_description: Measure attach time and page tables of an SGA with 4 KiB and huge pages
version_added: "0.1.0"
description:
  - Creates a System V segment of the size of an SGA, limited by the free memory, and touches each
    page. Then 1, 2, 4 ... processes attach it and write to each page, as logins with pre_page_sga
    do up to 11.2. Reports the attach time and the page tables for both page sizes.
  - Measures real kernel segments on this host. Does not use Oracle software.
  - Rejected while an instance runs, unless O(allow_beside_instances) accepts the risk. Never
    enlarges the huge page pool and removes its segments at the end.
options:
  size:
    description: Size of the SGA, in bytes or with a unit, such as V(60G).
    type: str
    required: true
  processes:
    description: Maximum number of processes that attach at the same time.
    type: int
    default: 32
  memory_share:
    description: Maximum share of available memory, in percent.
    type: int
    default: 40
  allow_beside_instances:
    description:
      - Measure while instances run. Instances that start or grow meanwhile may lack memory or huge
        pages.
    type: bool
    default: false
attributes:
  check_mode:
    description: Measures nothing.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Measure an SGA of 60 GiB
  hostproof.hostproof.sga_cost:
    size: 60G
  register: cost

- name: Show it
  ansible.builtin.debug:
    var: cost.table
"""

RETURN = r"""
table:
  description: The measurements as a text table.
  returned: success
  type: list
  elements: str
rows:
  description:
    - One dictionary for each page size and number of processes. C(attach_median) and C(attach_max)
      are seconds per process. C(page_tables) is the size of the page tables of all processes in
      bytes. C(expected) is the size with an entry of 8 bytes for each page and process.
  returned: success
  type: list
  elements: dict
size:
  description: Measured size in bytes.
  returned: success
  type: int
reasons:
  description: Reasons why the measured size differs from the requested size.
  returned: success
  type: list
  elements: str
first_touch:
  description: Seconds until the kernel had allocated every page, by page size.
  returned: success
  type: dict
ratios:
  description: Cost of 4 KiB pages divided by the cost of huge pages, with the most processes.
  returned: success, with huge pages
  type: dict
"""

from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.collect.host_module import AnsibleModule
from ansible.module_utils.hostproof.controls.latency.probes import sga_cost
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.parsers.size import parse_size
from ansible.module_utils.hostproof.probes.oracle import instances

ARGUMENT_SPEC = {
    "size": {"type": "str", "required": True},
    "processes": {"type": "int", "default": 32},
    "memory_share": {"type": "int", "default": 40},
    "allow_beside_instances": {"type": "bool", "default": False},
}


def check(params):
    """The size in bytes; ValueError for what is out of range."""
    if not 1 <= params["processes"] <= sga_cost.MOST_PROCESSES:
        raise ValueError(f"processes must be 1 to {sga_cost.MOST_PROCESSES}")
    if not 1 <= params["memory_share"] <= 80:
        raise ValueError("memory_share must be 1 to 80")
    return parse_size(params["size"])


def refuse_beside_instances():
    running = instances.find_instances(LiveHost())
    if running:
        raise HostproofError(
            "{0} runs here, and this would take its memory: measure before the database comes, or "
            "accept the risk with allow_beside_instances".format(
                ", ".join(instance.sid for instance in running)
            )
        )


def main():
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params = module.params
    try:
        size = check(params)
        if not params["allow_beside_instances"]:
            refuse_beside_instances()
        if module.check_mode:
            module.exit_json(changed=False, skipped=True, msg="check mode: nothing is measured")
        cost = sga_cost.measure(size, params["processes"], params["memory_share"])
    except (HostproofError, OSError, ValueError) as problem:
        module.fail_json(msg=f"sga_cost: {problem}")
    ratios = sga_cost.ratios(cost)
    result = {"ratios": ratios} if ratios is not None else {}
    module.exit_json(
        changed=False,
        table=sga_cost.table(cost),
        rows=[dict(row._asdict()) for row in cost.rows],
        size=cost.size,
        reasons=cost.reasons,
        first_touch=cost.first_touch,
        **result,
    )


if __name__ == "__main__":
    main()
