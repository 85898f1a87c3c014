#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: latency_tcp
short_description: Measure a TCP round trip from this host, network and host separately
description:
  - Measures from the host that it runs on to another one, unprivileged, and returns windows, so
    that measurements before and after a change compare.
  - The network is timed by the kernel, and what this host adds by the process, so that a busy
    client is not taken for a slow network.
  - Sends traffic, bounded by samples, bytes and seconds. It is never part of an audit.
options:
  host:
    description: The other side, by name or address.
    type: str
    required: true
  port:
    description: Its TCP port.
    type: int
    required: true
  mode:
    description:
      - V(handshake) connects and closes. The kernel provides the time between SYN and SYN/ACK. A
        listener may log a connection without data (TNS-12502), so prefer V(tns_ping)
        for a listener.
      - V(tns_ping) connects and pings a listener, which logs it as a ping. With TCPS there is no
        answer.
      - V(request_response) exchanges requests with a responder (M(latency_responder)) on one
        connection. It is the one for many samples.
    type: str
    choices: [handshake, tns_ping, request_response]
    default: handshake
  samples:
    description:
      - Samples in each window. The default is 50, and 2000 with V(request_response). Fewer
        than 1000 do not give a 99th percentile.
      - With V(request_response) a sample takes two requests where request and answer have at most
        4096 bytes together. Of round trips below 0.3 milliseconds one of both is without time
        stamps and tells C(user), for stamps take a part of so short a time; longer ones have up to
        twice as many samples in the same time.
      - All windows together may have 2000 connections, or 1 GiB of requests and responses.
    type: int
  windows:
    description: How many windows to measure.
    type: int
    default: 1
  pause:
    description: Seconds between two windows.
    type: float
    default: 0.0
  interval:
    description:
      - Seconds from the begin of one connection or request to the next. Each is timed from when it
        was to begin. Without O(interval) 0.2, with V(request_response) 0.001, and 0.002
        where a sample takes one request.
      - Connections begin at least 0.1 seconds apart, whatever O(interval) says. For
        V(request_response), 0 means back to back, which under-counts stalls.
      - Compare only windows of the same interval, for a host that sleeps longer wakes up later.
    type: float
  request_size:
    description: Bytes of a request, for V(request_response).
    type: int
    default: 12
  reply_size:
    description: Bytes of an answer, for V(request_response).
    type: int
    default: 4
  payload:
    description:
      - With V(auto), requests and answers have the mean sizes of the live SQL*Net traffic of
        O(payload_port), in place of O(request_size) and O(reply_size). For V(request_response).
      - The kernel's counters of the connections (C(ss -tin)) are read twice within 5 seconds
        before the first window. No packet is captured. It fails where there are fewer than 20
        round trips.
      - Compare only windows of the same sizes, so take V(fixed) before and after a change.
    type: str
    choices: [fixed, auto]
    default: fixed
  payload_port:
    description:
      - The TCP port of the listener whose connections tell the sizes, on this host or on the other
        side of its connections.
    type: int
    default: 1521
  timeout:
    description: Seconds to wait for one answer.
    type: float
    default: 5.0
  cpu:
    description: Bind the probe to this CPU, to compare with the same.
    type: int
  seconds:
    description: Seconds after which everything ends.
    type: float
    default: 120.0
attributes:
  check_mode:
    description: Sends nothing, and says what it would send.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Measure the round trip to the listener, and its response time
  latency_tcp:
    host: db02.example.com
    port: 1521
    mode: tns_ping
  register: listener

- name: Ten windows of 2000 requests, as a log writer's network has them
  latency_tcp:
    host: 192.0.2.12
    port: 7521
    mode: request_response
    request_size: 250
    windows: 10
    pause: 60
    seconds: 900
  register: network

- name: A round trip with the sizes of the requests that sessions make now
  latency_tcp:
    host: 192.0.2.12
    port: 7521
    mode: request_response
    payload: auto
"""

RETURN = r"""
windows:
  description:
    - One for each window and layer. C(layer) is C(net) (SYN to SYN/ACK), C(kernel) (from the
      timestamp of sending to that of receiving), C(user) (this process), C(host) (C(user) less
      C(kernel) of one request, time of the scheduler of this host). Or C(server) (from the CONNECT
      packet to the listener's answer).
    - C(minimum), C(mean), C(p50), C(p90), C(p99), C(maximum) are microseconds; C(bins) is the
      histogram; C(conditions) what else was true, with C(retrans) segments that were sent again.
    - C(conditions.asked) is the number of attempted connections or intended requests;
      C(conditions.answered) the number of requests with a response; C(conditions.failures) that of
      failed connections, by reason; C(conditions.ended) why a connection to a responder ended
      before the window, or null.
    - On Linux C(conditions) has the path of the connection as far as it is certain, C(interface),
      C(route) (on link, via a gateway, this host), C(source_address), C(mtu) and C(mss), the
      largest segment (bytes).
    - With O(payload=auto) C(conditions) has C(payload_port); C(size) is the size of a request and
      C(conditions.reply_size) that of a response.
  returned: success
  type: list
  elements: dict
remarks:
  description: What could not be measured, and why.
  returned: success
  type: list
  elements: str
table:
  description: The windows for people.
  returned: success
  type: list
  elements: str
"""

from ansible.module_utils.hostproof.collect import host_module, options
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.collect.options import decimal, whole
from ansible.module_utils.hostproof.controls.latency.measurement import (
    series,
    sqlnet_sizes,
    traffic,
    window_table,
)
from ansible.module_utils.hostproof.latency import hello as latency_hello
from ansible.module_utils.hostproof.latency.probe_list import AUTO, FIXED

#: Seconds between the two readings of the counters of connections.
LOOK = 5.0

#: A probe must stay a probe.
OPTIONS = dict(
    series.OPTIONS,
    host={"type": "str", "required": True},
    port=dict(whole(1, 65535), required=True),
    mode={
        "type": "str",
        "choices": ["handshake", "tns_ping", "request_response"],
        "default": "handshake",
    },
    samples=whole(1, 20000),
    interval=decimal(0, 30),
    request_size=whole(1, latency_hello.LONGEST, 12),
    reply_size=whole(1, latency_hello.LONGEST, 4),
    payload={"type": "str", "choices": [FIXED, AUTO], "default": FIXED},
    payload_port=whole(1, 65535, 1521),
    timeout=decimal(0.1, 60, 5.0),
    seconds=decimal(1, 7200, 120.0),
)
ARGUMENT_SPEC = options.argument_spec(OPTIONS)
DEFAULTS = {
    "handshake": {"samples": 50, "interval": 0.2},
    "tns_ping": {"samples": 50, "interval": 0.2},
    # Requests with or without time stamps share it: traffic.requests_a_sample().
    "request_response": {"samples": 2000, "interval": 0.002},
}


def main():
    host_module.run("latency_tcp", ARGUMENT_SPEC, measure)


def measure(given, check_mode):
    options.check({"payload_port": OPTIONS["payload_port"]}, given)
    if given["payload"] == AUTO and given["mode"] != "request_response":
        raise ValueError("payload: auto needs mode: request_response")
    if given["payload"] == AUTO and not check_mode:
        sizes = sqlnet_sizes.payload(LiveHost(), given["payload_port"], LOOK)
        given["request_size"], given["reply_size"] = sizes
    if given["mode"] == "request_response" and given["interval"] is None:
        each = traffic.requests_a_sample(given["request_size"], given["reply_size"])
        given["interval"] = DEFAULTS["request_response"]["interval"] / each
    for name, value in DEFAULTS[given["mode"]].items():
        given[name] = value if given[name] is None else given[name]
    check(given)
    if check_mode:
        would = "would measure {windows} windows of {samples} samples to {host} port {port}"
        return window_table.result([], [], msg=would.format(**given))
    measured = series.of_round_trips(given)
    if given["payload"] == AUTO:
        for window in measured.windows:
            window.conditions["payload_port"] = given["payload_port"]
    return window_table.result(measured.windows, measured.remarks)


def check(given):
    """ValueError for what is out of range."""
    options.check(OPTIONS, given)
    options.check_cpu(given["cpu"])
    sizes = (given["request_size"], given["reply_size"])
    traffic.check(given["mode"], given["windows"], given["samples"], *sizes)


if __name__ == "__main__":
    main()
