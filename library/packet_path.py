#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: packet_path
short_description: Verify that packets of full MTU reach other hosts and return
version_added: "0.1.0"
description:
  - Sends ICMP echo requests of O(mtu) bytes to each peer with fragmentation disabled. Accepts only
    identical replies.
  - Reports a router that rejects the packets, with its MTU. A switch drops them silently.
  - Requires root or a group in C(net.ipv4.ping_group_range), but not the program C(ping).
  - The control C(interconnect) checks the same for the nodes in its policy.
options:
  peers:
    description: IP addresses of the other hosts, at most 64.
    type: list
    elements: str
    required: true
  mtu:
    description: Size of a packet in bytes with its headers, from 576 to 65535.
    type: int
    default: 9000
attributes:
  check_mode:
    description: Sends nothing.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Send packets of 9000 bytes to the other nodes
  hostproof.hostproof.packet_path:
    peers: [192.168.10.2, 192.168.10.3]
    mtu: 9000
  register: sent

- name: Require that all packets arrive
  ansible.builtin.assert:
    that: sent.passed
    fail_msg: "{{ sent.ways }}"
  when: not ansible_check_mode
"""

RETURN = r"""
passed:
  description: Whether packets reach every peer and the responses are not fragmented.
  returned: success
  type: bool
ways:
  description:
    - Result for each peer. C(passed) is true if the packets returned.
    - C(pieces) is the largest fragment of a response (0 without fragmentation, null if the kernel
      does not report it).
    - C(hop) is the router that rejected the packets and C(limit) its MTU. C(arrives) is a size
      that does return.
    - A peer that does not respond, or to which no packet could be sent, has C(error) instead.
  returned: success
  type: list
  elements: dict
"""

from ansible.module_utils.hostproof.collect import options
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.collect.host_module import AnsibleModule
from ansible.module_utils.hostproof.collect.options import whole
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.probes.net import whole_packets

MOST = 64
OPTIONS = {
    "peers": {"type": "list", "elements": "str", "required": True},
    "mtu": whole(576, 65535, 9000),
}
ARGUMENT_SPEC = options.argument_spec(OPTIONS)


def check(params):
    """The peers' addresses; ValueError for what is out of range."""
    options.check(OPTIONS, params)
    if not 1 <= len(params["peers"]) <= MOST:
        raise ValueError(f"peers must be 1 to {MOST} addresses")
    return [whole_packets.address_of_another(peer) for peer in params["peers"]]


def path_to_json(address, way):
    if isinstance(way, HostproofError):
        return {"address": address, "error": str(way)}
    return dict(way._asdict(), address=address)


def main():
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        peers = check(module.params)
    except ValueError as problem:
        module.fail_json(msg=f"packet_path: {problem}")
    if module.check_mode:
        module.exit_json(changed=False, skipped=True, msg="check mode: nothing is sent")
    results = whole_packets.probe_routes(LiveHost(), dict.fromkeys(peers, module.params["mtu"]))
    ways = [path_to_json(address, way) for address, way in results.items()]
    passed = all(way.get("passed") and way["pieces"] == 0 for way in ways)
    module.exit_json(changed=False, passed=passed, ways=ways)


if __name__ == "__main__":
    main()
