#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: pool_latency
short_description: Measure connection pool checkout time
version_added: "0.1.0"
description:
  - Measures the checkout time of a data source of a standalone WildFly or JBoss EAP on the host.
    Uses the management interface with the account of the server. A validation at checkout is
    included.
  - A session of C(jboss-cli) alternately tests a connection of the pool
    (C(test-connection-in-pool)) and reads an attribute. It uses one connection at a time and
    returns it. It does not query a full pool. Changes nothing.
  - Returns windows, so that measurements before and after a change can be compared.
options:
  home:
    description: Installation directory of the server.
    type: path
    required: true
  user:
    description: Account that runs the server.
    type: str
    required: true
  data_source:
    description: Name of the data source.
    type: str
    required: true
  xa:
    description: Whether the data source is an XA data source.
    type: bool
    default: false
  controller:
    description: Address and port of the management interface.
    type: str
    default: 127.0.0.1:9990
  java:
    description: Java program that runs the classes of C(jboss-cli).
    type: path
    default: /usr/bin/java
  samples:
    description: Number of checkouts in each window. The 99th percentile requires at least 1000.
    type: int
    default: 1000
  windows:
    description: Number of windows to measure.
    type: int
    default: 1
  seconds:
    description: Time limit of a window in seconds. A window ends earlier if it has its samples.
    type: float
    default: 60.0
  pause:
    description: Seconds between two windows.
    type: float
    default: 0.0
attributes:
  check_mode:
    description: Sends no query. Reports what it would measure.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Measure the wait of a request for a connection
  hostproof.hostproof.pool_latency:
    home: /opt/wildfly
    user: wildfly
    data_source: SALES
    windows: 5
  become: true
  register: before
"""

RETURN = r"""
windows:
  description:
    - One dictionary for each round. C(minimum), C(mean), C(p50), C(p90), C(p99) and C(maximum) are
      the duration of the operation in microseconds. C(conditions.trivial_p50_us) is the duration
      of an operation that does not use the pool.
  returned: success
  type: list
  elements: dict
remarks:
  description: Failed measurements and their reasons.
  returned: always
  type: list
  elements: str
table:
  description: The windows as a text table.
  returned: success
  type: list
  elements: str
"""

from ansible.module_utils.hostproof.collect import host_module
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.controls.latency.measurement import (
    measuring,
    window_table,
)
from ansible.module_utils.hostproof.latency import probe_list

POOL = {
    "home": {"type": "path", "required": True},
    "user": {"type": "str", "required": True},
    "data_source": {"type": "str", "required": True},
    "xa": {"type": "bool", "default": False},
    "controller": {"type": "str", "default": "127.0.0.1:9990"},
    "java": {"type": "path", "default": "/usr/bin/java"},
    "samples": {"type": "int", "default": 1000},
}
ARGUMENT_SPEC = dict(
    POOL,
    windows={"type": "int", "default": 1},
    seconds={"type": "float", "default": 60.0},
    pause={"type": "float", "default": 0.0},
)


def main():
    host_module.run("pool_latency", ARGUMENT_SPEC, measure)


def measure(params, check_mode):
    rounds = (params["windows"], params["seconds"], params["pause"])
    probes = probe_list.check_probes([dict({key: params[key] for key in POOL}, probe="pool")])
    measuring.check_rounds(*rounds)
    if check_mode:
        return window_table.result([], [], msg=check_mode_text(params))
    return window_table.windows_of(measuring.measure(LiveHost(), probes, *rounds))


def check_mode_text(params):
    return "would measure {windows} windows of {samples} checkouts of {data_source}".format(
        **params
    )


if __name__ == "__main__":
    main()
