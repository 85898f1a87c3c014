#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: latency_responder
short_description: Start the other side of a request-response measurement for a bounded time
description:
  - Starts a small server that answers the requests of M(latency_tcp), and returns its port. It
    needs no privilege, writes no file, and runs under the account of the task.
  - It listens on one address, answers only O(clients), moves at most O(most_bytes), and the kernel
    ends it after O(seconds), even without a request.
  - Does not change a firewall. Where logind ends what a session leaves behind
    (C(KillUserProcesses)), it ends with the session.
options:
  state:
    description:
      - V(present) starts one. One that runs on the same O(port) with the same options is kept, and
        its end is moved to O(seconds) from now.
      - V(absent) ends those of this account, on O(port) or all.
    type: str
    choices: [present, absent]
    default: present
  address:
    description:
      - The address of this host to listen on, never a wildcard address. Required to start.
    type: str
  port:
    description: The TCP port; 0 lets the host choose a free one, and starts one each time.
    type: int
    default: 0
  clients:
    description: Addresses or networks that are answered. Needed to start.
    type: list
    elements: str
  seconds:
    description: Seconds after which it ends.
    type: int
    default: 600
  connections:
    description: How many clients it serves at once.
    type: int
    default: 4
  most_bytes:
    description: How many bytes it receives and sends in all, such as V(256M).
    type: str
    default: 256M
attributes:
  check_mode:
    description: Starts and ends nothing, and says whether it would.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Let db02 answer db01 for ten minutes
  latency_responder:
    address: 192.0.2.12
    clients: [192.0.2.11]
    seconds: 600
  delegate_to: db02
  register: responder

- name: Measure
  latency_tcp:
    host: "{{ responder.address }}"
    port: "{{ responder.port }}"
    mode: request_response

- name: End it
  latency_responder:
    state: absent
    port: "{{ responder.port }}"
  delegate_to: db02
"""

RETURN = r"""
address:
  description: The address that it listens on.
  returned: state is present
  type: str
port:
  description: The port that it listens on; 0 in check mode where the host would choose.
  returned: state is present
  type: int
pid:
  description: Its process, null in check mode where none ran.
  returned: state is present
  type: int
ended:
  description:
    - The responders that were ended, or would be, with C(port), C(pid) and the bytes C(moved).
  returned: state is absent
  type: list
  elements: dict
"""

import ipaddress

from ansible.module_utils.hostproof.collect import host_module, options
from ansible.module_utils.hostproof.collect.options import whole
from ansible.module_utils.hostproof.controls.latency.measurement import (
    responder as latency_responder,
)
from ansible.module_utils.hostproof.parsers.size import parse_size

OPTIONS = {
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "address": {"type": "str"},
    "port": whole(0, 65535, 0),
    "clients": {"type": "list", "elements": "str"},
    "seconds": whole(1, 7200, 600),
    "connections": whole(1, 16, 4),
    "most_bytes": {"type": "str", "default": "256M"},
}
ARGUMENT_SPEC = options.argument_spec(OPTIONS)
MOST_BYTES = 4 << 30


def main():
    required_if = [("state", "present", ("address", "clients"))]
    host_module.run("latency_responder", ARGUMENT_SPEC, serve, required_if=required_if)


def serve(given, check_mode):
    options.check(OPTIONS, given)
    act = present if given["state"] == "present" else absent
    return act(given, check_mode)


def settings_of(given):
    """ValueError for what must not be served."""
    address = ipaddress.ip_address(given["address"])
    if address.is_unspecified or address.is_multicast:
        raise ValueError(
            f"address must be one of this host's own, not {address}: the responder listens nowhere "
            "else"
        )
    if not given["clients"]:
        raise ValueError("clients is empty: name the addresses or networks that are answered")
    networks = [ipaddress.ip_network(client) for client in given["clients"]]
    if any(network.prefixlen == 0 for network in networks):
        raise ValueError("clients must not be all addresses")
    most = parse_size(given["most_bytes"])
    if not 1 <= most <= MOST_BYTES:
        raise ValueError(f"most_bytes must be from 1 to {MOST_BYTES}")
    return latency_responder.Settings(
        address=str(address),
        port=given["port"],
        clients=[str(network) for network in networks],
        seconds=given["seconds"],
        connections=given["connections"],
        most_bytes=most,
    )


def present(given, check_mode):
    wanted = settings_of(given)
    for one in latency_responder.running(wanted.port) if wanted.port else []:
        if not is_alike(one, wanted):
            raise ValueError(
                f"the responder on port {wanted.port} has other options: end it first (state: "
                "absent)"
            )
        if not check_mode:
            latency_responder.extend(one.port, wanted.seconds)
        return {"changed": False, "address": one.address, "port": one.port, "pid": one.pid}
    if check_mode:
        return {"changed": True, "address": wanted.address, "port": wanted.port, "pid": None}
    one = latency_responder.start(wanted)
    return {"changed": True, "address": one.address, "port": one.port, "pid": one.pid}


def is_alike(one, wanted):
    names = ("address", "clients", "connections", "most_bytes")
    return all(getattr(one, name) == getattr(wanted, name) for name in names)


def absent(given, check_mode):
    found = latency_responder.running(given["port"] or None)
    if not check_mode:
        for one in found:
            latency_responder.stop(one)
    ended = [{"port": one.port, "pid": one.pid, "moved": one.moved} for one in found]
    return {"changed": bool(found), "ended": ended}


if __name__ == "__main__":
    main()
