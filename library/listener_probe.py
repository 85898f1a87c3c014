#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: listener_probe
short_description: Ping a listener and check that it delays a burst instead of rejecting it
version_added: "0.1.0"
description:
  - Sends TNS pings, as C(tnsping) does, and returns the result and the time of each ping.
  - A burst sends pings at the same time. A rate-limited listener answers all of them at its rate.
    The module returns the measured rate.
  - Each ping opens a connection, writes a line to C(listener.log) and counts against the rate
    limit. Therefore an audit never sends pings. The module sends at most O(maximum) pings and
    ends after O(seconds).
  - For a listener that uses TCPS or is behind a firewall, only reports that there is no answer.
options:
  host:
    description: Name or address of the listener, as seen from the host that runs the module.
    type: str
    default: 127.0.0.1
  port:
    description: TCP port of the endpoint.
    type: int
    default: 1521
  pings:
    description: Number of pings to send one after the other, before the burst.
    type: int
    default: 1
  interval:
    description: Seconds between the starts of two pings that are sent one after the other.
    type: float
    default: 1.0
  burst:
    description: Number of pings to send at the same time.
    type: int
    default: 0
  rate:
    description: Expected rate limit in connections per second.
    type: int
  maximum:
    description: Maximum number of pings (up to 200). Fails before sending if more are requested.
    type: int
    default: 100
  timeout:
    description: Seconds to wait for the response to one ping.
    type: float
    default: 30.0
  seconds:
    description: Time limit in seconds. At most 600.
    type: float
    default: 60.0
attributes:
  check_mode:
    description: Sends nothing. Reports what it would send.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Test that the limit of 10 per second is enforced without rejections
  hostproof.hostproof.listener_probe:
    host: "{{ ansible_host }}"
    port: 1521
    burst: 50
    rate: 10
  register: probe

- name: Require a delayed burst at the expected rate
  ansible.builtin.assert:
    that:
      - probe.burst.verdict == 'delayed'
      - probe.burst.as_expected
    fail_msg: "{{ probe.burst.why }}"
  when: not ansible_check_mode
"""

RETURN = r"""
sent:
  description: Number of pings sent.
  returned: success
  type: int
pings:
  description:
    - The pings that were sent one after the other.
    - C(outcome) is C(answered), C(refused) (rejected by the listener, with its C(error)),
      C(closed), C(no_answer), C(no_connection) or C(not_tns).
    - C(began_ms) is the start. C(connected_ms) and C(ended_ms) are the times after the start.
  returned: success
  type: list
  elements: dict
burst:
  description:
    - Result of the concurrent pings, or null without a burst.
    - C(verdict) is C(delayed), C(not_delayed), C(too_small) (the burst does not exceed the limit
      for one second) or C(failed) (not all pings were answered).
    - C(drain_rate) is the number of responses per second. C(as_expected) is true if it differs
      from O(rate) by at most 25%. C(pings) lists the pings.
  returned: success
  type: dict
"""

import time

from ansible.module_utils.hostproof.collect import options
from ansible.module_utils.hostproof.collect.host_module import AnsibleModule
from ansible.module_utils.hostproof.collect.options import decimal, whole
from ansible.module_utils.hostproof.probes.oracle import tns_ping

#: The limits keep the load on the listener small.
OPTIONS = {
    "host": {"type": "str", "default": "127.0.0.1"},
    "port": whole(1, 65535, 1521),
    "pings": whole(0, 200, 1),
    "interval": decimal(0, 60, 1.0),
    "burst": whole(0, 200, 0),
    "rate": whole(1, 100000),
    "maximum": whole(0, 200, 100),
    "timeout": decimal(0.1, 600, 30.0),
    "seconds": decimal(1, 600, 60.0),
}
ARGUMENT_SPEC = options.argument_spec(OPTIONS)


def main():
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params = module.params
    try:
        options.check(OPTIONS, params)
    except ValueError as problem:
        module.fail_json(msg=str(problem))
    total = params["pings"] + params["burst"]
    if total > params["maximum"]:
        module.fail_json(
            msg="{0} pings are more than maximum ({1}); nothing was sent".format(
                total, params["maximum"]
            )
        )
    if module.check_mode:
        msg = "would send {0} pings to {1}:{2}".format(total, params["host"], params["port"])
        module.exit_json(changed=False, sent=0, pings=[], burst=None, msg=msg)
    module.exit_json(changed=False, **probe(params))


def probe(params):
    deadline = time.monotonic() + params["seconds"]
    place = (params["host"], params["port"])
    single = tns_ping.one_by_one(
        *place,
        count=params["pings"],
        timeout=params["timeout"],
        interval=params["interval"],
        deadline=deadline,
    )
    together = []
    if params["burst"] and time.monotonic() < deadline:
        together = tns_ping.at_once(
            *place, count=params["burst"], timeout=params["timeout"], deadline=deadline
        )
    return {
        "sent": len(single) + len(together),
        "pings": [tns_ping.as_result(ping) for ping in single],
        "burst": burst_result(together, params["rate"]) if params["burst"] else None,
    }


def burst_result(together, rate):
    summary = tns_ping.summarize(together, rate)
    result = dict(summary._asdict())
    for name in ("span", "longest", "drain_rate"):
        result[name] = None if result[name] is None else round(result[name], 3)
    result["as_expected"] = None
    if rate and summary.drain_rate is not None:
        result["as_expected"] = 0.75 * rate <= summary.drain_rate <= 1.25 * rate
    result["pings"] = [tns_ping.as_result(ping) for ping in together]
    return result


if __name__ == "__main__":
    main()
