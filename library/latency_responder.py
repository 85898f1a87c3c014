#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: latency_responder
short_description: Start a responder for request-response measurements with a time limit
version_added: "0.1.0"
description:
  - Starts a small server that answers the requests of M(hostproof.hostproof.latency_tcp), and
    returns its port. The
    responder needs no privilege, writes no file, and runs under the account of the task.
  - The responder listens on one address, answers only O(clients) and transfers at most
    O(most_bytes). The kernel ends it after O(seconds), even without a request.
  - Does not change a firewall. If logind ends the processes of closed sessions
    (C(KillUserProcesses)), the responder ends with the session.
options:
  state:
    description:
      - V(present) starts a responder. A responder that runs on the same O(port) with the same
        options is kept, and its time limit is set to O(seconds) from now.
      - V(absent) ends the responders of this account, on O(port) or on all ports.
    type: str
    choices: [present, absent]
    default: present
  address:
    description:
      - Listen address of this host. Wildcard addresses are rejected. Required with V(present).
    type: str
  port:
    description: TCP port. With V(0) the host selects a free port and each run starts a responder.
    type: int
    default: 0
  clients:
    description: Addresses or networks of accepted clients. Required with V(present).
    type: list
    elements: str
  seconds:
    description: Time limit of the responder in seconds.
    type: int
    default: 600
  connections:
    description: Maximum number of concurrent clients.
    type: int
    default: 4
  most_bytes:
    description: Maximum number of bytes to receive and send in total, such as V(256M).
    type: str
    default: 256M
attributes:
  check_mode:
    description: Starts and ends nothing. Reports whether it would.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Start a responder on db02 for db01 for ten minutes
  hostproof.hostproof.latency_responder:
    address: 192.0.2.12
    clients: [192.0.2.11]
    seconds: 600
  delegate_to: db02
  register: responder

- name: Measure round trips to the responder
  hostproof.hostproof.latency_tcp:
    host: "{{ responder.address }}"
    port: "{{ responder.port }}"
    mode: request_response
  when: not ansible_check_mode

- name: End the responder
  hostproof.hostproof.latency_responder:
    state: absent
    port: "{{ responder.port }}"
  delegate_to: db02
"""

RETURN = r"""
address:
  description: Listen address of the responder.
  returned: state is present
  type: str
port:
  description: Port of the responder, 0 in check mode if the host would select it.
  returned: state is present
  type: int
pid:
  description: Process id of the responder, null in check mode if none is running.
  returned: state is present
  type: int
ended:
  description:
    - Responders that were ended, or would be ended in check mode, with C(port), C(pid) and the
      transferred bytes (C(moved)).
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
RULES = {"required_if": [("state", "present", ("address", "clients"))]}
MOST_BYTES = 4 << 30


def main():
    host_module.run("latency_responder", ARGUMENT_SPEC, serve, **RULES)


def serve(params, check_mode):
    options.check(OPTIONS, params)
    act = present if params["state"] == "present" else absent
    return act(params, check_mode)


def settings_of(params):
    """ValueError for what must not be served."""
    address = ipaddress.ip_address(params["address"])
    if address.is_unspecified or address.is_multicast:
        raise ValueError(
            f"address must be one of this host's own, not {address}: the responder listens nowhere "
            "else"
        )
    if not params["clients"]:
        raise ValueError("clients is empty: name the addresses or networks that are answered")
    networks = [ipaddress.ip_network(client) for client in params["clients"]]
    if any(network.prefixlen == 0 for network in networks):
        raise ValueError("clients must not be all addresses")
    most = parse_size(params["most_bytes"])
    if not 1 <= most <= MOST_BYTES:
        raise ValueError(f"most_bytes must be from 1 to {MOST_BYTES}")
    return latency_responder.Settings(
        address=str(address),
        port=params["port"],
        clients=[str(network) for network in networks],
        seconds=params["seconds"],
        connections=params["connections"],
        most_bytes=most,
    )


def present(params, check_mode):
    settings = settings_of(params)
    for responder in latency_responder.running(settings.port) if settings.port else []:
        if not is_alike(responder, settings):
            raise ValueError(
                f"the responder on port {settings.port} has other options: end it first (state: "
                "absent)"
            )
        if not check_mode:
            latency_responder.extend(responder.port, settings.seconds)
        return {
            "changed": False,
            "address": responder.address,
            "port": responder.port,
            "pid": responder.pid,
        }
    if check_mode:
        return {"changed": True, "address": settings.address, "port": settings.port, "pid": None}
    responder = latency_responder.start(settings)
    return {
        "changed": True,
        "address": responder.address,
        "port": responder.port,
        "pid": responder.pid,
    }


def is_alike(responder, settings):
    names = ("address", "clients", "connections", "most_bytes")
    return all(getattr(responder, name) == getattr(settings, name) for name in names)


def absent(params, check_mode):
    responders = latency_responder.running(params["port"] or None)
    if not check_mode:
        for responder in responders:
            latency_responder.stop(responder)
    ended = [
        {"port": responder.port, "pid": responder.pid, "moved": responder.moved}
        for responder in responders
    ]
    return {"changed": bool(responders), "ended": ended}


if __name__ == "__main__":
    main()
